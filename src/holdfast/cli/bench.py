"""How fast this machine is with this Holdfast: a short table, on a temporary store."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli import say
from holdfast.cli.app import app, command
from holdfast.cli.options import At, option
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast import Memory

SINGLE = 200  # calls measured one by one
BATCH = 100  # memories in one transaction
NAMES = "Ada Grace Edsger Barbara Donald Leslie Tony Frances Alan Margaret".split()
THINGS = "tea coffee Python Lisp chess rowing Bach jazz trains gardens maps opera".split()


@command(app, "bench", "Try it", example="holdfast bench --memories 10000")
def bench(
    at: At,
    memories: Annotated[
        int, typer.Option("--memories", "-m", min=1, max=1_000_000, help="How many there are.")
    ] = 1000,
    folder: Annotated[
        Path | None,
        option("--folder", help="On which disk; else where temporary files go."),
    ] = None,
) -> None:
    """Measure remember, recall and state on a temporary store of this machine.

    Durable writes are as fast as the disk: choose the folder your store will be in.
    """
    if folder is not None and not folder.is_dir():
        raise Invalid(f"{folder} is not a folder.", "Choose one that exists.")
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-", dir=folder) as temporary:
        rows = _measure(Path(temporary), memories)
    if at.json:
        say.json(
            {"memories": memories, "folder": str(folder or tempfile.gettempdir()), "rows": rows}
        )
    else:
        shown = [
            [str(row["what"]), f"{row['p50_ms']:.3f}", f"{row['per_second']:,}"] for row in rows
        ]
        title = f"{memories:,} memories in {folder or tempfile.gettempdir()}"
        say.table(title, ["", "p50 ms", "per second"], shown)


def _measure(folder: Path, memories: int) -> list[dict[str, str | float | int]]:
    """Each row: what, the median time of one call, and things done in a second."""
    from holdfast import Memory

    with Memory("bench", f"sqlite:///{folder / 'bench.db'}") as memory:
        with say.progress("Measuring", memories) as shown:
            batches = _fill(memory, memories, shown)
        return [
            _row("remember, one at a time", _timed(SINGLE, lambda n: _tell(memory, n))),
            _row(f"remember, {BATCH} together", batches, BATCH),
            _row("recall", _timed(SINGLE, lambda n: memory.recall(_question(n)))),
            _row("state set", _timed(SINGLE, lambda n: memory.set("cursor", {"row": n}))),
            _row("state get", _timed(SINGLE, lambda n: memory.get("cursor"))),
        ]


def _fill(memory: Memory, memories: int, shown: Callable[..., None]) -> list[float]:
    """Fills a store in batches; gives the seconds of each full one."""
    times = []
    for start in range(0, memories, BATCH):
        batch = [_sentence(n) for n in range(start, min(start + BATCH, memories))]
        times += _timed(1, lambda _, batch=batch: memory.remember_many(batch))  # type: ignore[misc]
        shown(start)
    return times


def _timed(times: int, call: Callable[[int], object]) -> list[float]:
    return list(_seconds(times, call))


def _seconds(times: int, call: Callable[[int], object]) -> Iterator[float]:
    for number in range(times):
        start = time.perf_counter()
        call(number)
        yield time.perf_counter() - start


def _row(what: str, seconds: list[float], things: int = 1) -> dict[str, str | float | int]:
    per_second = round(things * len(seconds) / sum(seconds))
    return {"what": what, "p50_ms": round(median(seconds) * 1000, 3), "per_second": per_second}


def _tell(memory: Memory, number: int) -> None:
    memory.remember(_sentence(number + 10_000_000))


def _sentence(number: int) -> str:
    name, thing = NAMES[number % len(NAMES)], THINGS[number % len(THINGS)]
    return f"{name} spoke of {thing} in meeting {number} and wants a note of it"


def _question(number: int) -> str:
    return f"what did {NAMES[number % len(NAMES)]} say in meeting {number * 7}?"
