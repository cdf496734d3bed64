"""The contradiction suite: does a new statement end an old one? With every miss."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.options import Options
from holdfast import Memory, Source
from holdfast.backend import open_backend
from holdfast.extract import taught
from holdfast.testing import FakeClock

FILE = Path(__file__).with_name("contradictions.txt")  # met once, when all was settled: expect this
# Those that were met before: not taught either, but `SURE` was chosen by them.
BEFORE = Path(__file__).parents[1] / "tools" / "lessons" / "held_out" / "changes"
PLAIN = "plain"  # the category of what anybody would say first


@dataclass(frozen=True)
class Case:
    """Two statements, and whether the second ends the first."""

    category: str
    first: str
    second: str
    ends: bool


def files() -> list[Path]:
    """The batches of the suite, the one that was met last in front."""
    return [FILE, *sorted(BEFORE.glob("*.txt"))]


def batch(file: Path) -> str:
    """What a batch is called in tables."""
    return "met once" if file == FILE else f"met before: {file.stem.replace('_', ' ')}"


def cases(file: Path = FILE) -> Iterator[Case]:
    """Every case of a file, in order."""
    category = PLAIN
    for line in file.read_text().splitlines():
        if line.startswith("["):
            category = line.strip("[]")
        elif line and not line.startswith("#"):
            first, second, ends = (part.strip() for part in line.split("|"))
            yield Case(category, first, second, ends == "yes")


def ended(case: Case, folder: Path, number: int) -> bool:
    """Whether the library ends the first statement on hearing the second."""
    clock = FakeClock(datetime(2026, 5, 3, tzinfo=timezone.utc))
    url = f"sqlite:///{folder / 'suite.db'}"
    with Memory(f"case-{number}", backend=open_backend(url, "hashing", clock)) as memory:
        first = told(memory, case.first)
        clock.advance(days=30)
        told(memory, case.second)
        return any(version.superseded_by for version in memory.history(first))


def told(memory: Memory, said: str) -> str:
    """Remembers what one said, reconciled; gives its id."""
    speaker, colon, rest = said.partition(": ")
    named = bool(colon) and speaker in ("Ann", "Bob", "Carl")
    source = Source(speaker if named else "user", "user")
    return memory.remember(rest if named else said, source=source, reconcile=True).id


def ended_by_chat(case: Case, folder: Path, number: int) -> bool:
    """Whether it ends what it learned of the first on learning from the second: each is a chat."""
    clock = FakeClock(datetime(2026, 5, 3, tzinfo=timezone.utc))
    url = f"sqlite:///{folder / 'suite.db'}"
    with Memory(f"case-{number}", backend=open_backend(url, "hashing", clock)) as memory:
        known = memory.extract([message(case.first)], session="first").learned
        clock.advance(days=30)
        memory.extract([message(case.second)], session="second")
        return any(it.superseded_by for one in known for it in memory.history(one.id))


def message(said: str) -> dict[str, str]:
    """What one said, as a message of a chat."""
    whole = said if said[-1] in ".!?\"'" else f"{said}."
    speaker, _, rest = whole.partition(": ")
    if rest and speaker in ("Ann", "Bob", "Carl"):
        return {"role": "user", "name": speaker, "content": rest}
    return {"role": "user", "content": whole}


def run(options: Options) -> dict[str, Any]:
    """The figures of the suite, by category and by batch, and its misses.

    Also as they come out of chats, where what was said is first to be learned at all, and without
    the model that reads two statements.
    """
    found = tried()
    chats = tried(ended_by_chat)["rows"]
    for row in ("met once", "over all"):
        found["rows"][f"{row}, in chats"] = chats[row]
    with slots_alone():
        found["rows"]["over all, by slots alone"] = tried()["rows"]["over all"]
    return found


@contextmanager
def slots_alone() -> Iterator[None]:
    """As it is where the model is not installed."""
    with patch.object(taught, "opened", lambda: None):
        yield


def tried(way: Callable[[Case, Path, int], bool] = ended) -> dict[str, Any]:
    """The figures of the cases, by category and by batch, and the misses."""
    found: dict[str, dict[str, int]] = {}
    misses: list[dict[str, str]] = []
    every = [(batch(file), case) for file in files() for case in cases(file)]
    with tempfile.TemporaryDirectory(prefix="holdfast-suite-") as folder:
        for number, (met, case) in enumerate(every):
            got = way(case, Path(folder), number)
            outcome = {(1, 1): "hit", (0, 0): "rest", (1, 0): "missed", (0, 1): "wrong"}
            name = outcome[case.ends, got]
            for row in (case.category, met, "over all"):
                counts = found.setdefault(row, dict.fromkeys(outcome.values(), 0))
                counts[name] += 1
            if name in ("missed", "wrong"):
                said = {"category": case.category, "first": case.first, "second": case.second}
                misses.append({**said, "what": name})
    return {"rows": {name: figures(counts) for name, counts in found.items()}, "misses": misses}


def figures(counts: dict[str, int]) -> dict[str, Any]:
    """Counts, with precision and recall of superseding."""
    said, due = counts["hit"] + counts["wrong"], counts["hit"] + counts["missed"]
    return {
        "cases": sum(counts.values()),
        **counts,
        "precision": counts["hit"] / said if said else None,
        "recall": counts["hit"] / due if due else None,
    }
