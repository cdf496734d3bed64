"""How fast over HTTP: verbs at 1, 8 and 64 clients, beside the bare framework in the same run.

Everything is measured in turn, several times over, and the round with the most requests counts:
on a shared machine that is the one least disturbed. Beside it is Chroma's server, if there is
one, with vectors ready made; and each verb in this process, to see what the server adds.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks import load, page, results, timing
from benchmarks.corpora import ROOT
from benchmarks.load import QUERIES
from benchmarks.options import Options
from holdfast import Memory

TEXT = "the green tea of shop {n} costs {n} euros"
KINDS = ("state get", "state set", "remember", "recall", "context")
CLIENTS = (1, 8, 64)
PAIRS, PAIR_SECONDS = 15, 0.4
TURNS, TURN_SECONDS = 60, 0.05
RESULTS = ROOT / "benchmarks" / "results" / "served.json"
ECHO = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def echo(request): return JSONResponse(await request.json())
app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning", date_header=False)
"""
SERVE = """
import sys, logging
from holdfast.server import logs
from holdfast.server.run import server
from holdfast.server.settings import Settings
logs.begin(logging.WARNING)
server(Settings(url=sys.argv[2], embedder=sys.argv[3], port=int(sys.argv[1]))).run()
"""


@contextmanager
def process(words: list[str], port: int, path: str = "/health") -> Iterator[str]:
    """A server in a process of its own."""
    url = f"http://127.0.0.1:{port}"
    runs = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        _wait(f"{url}{path}")
        yield url
    finally:
        runs.terminate()
        runs.wait(30)


def _wait(url: str) -> None:
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        try:
            urlopen(url).close()
            return
        except OSError as error:
            if getattr(error, "code", 0):
                return  # it answers, if not here
            time.sleep(0.05)
    raise RuntimeError(f"nobody answers at {url}")


def measured(url: str, kind: str, clients: int, seconds: float) -> dict[str, Any]:
    """What the load generator finds, in a process of its own."""
    task = {"url": url, "kind": kind, "clients": clients, "seconds": seconds}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", json.dumps(task)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(seconds: float, size: int, embedder: str, rounds: int) -> dict[str, Any]:
    """Everything, floor, verbs and rival in turn."""
    found: dict[str, Any] = {"embedder": embedder, "memories": size, "rounds": rounds}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        url = f"sqlite:///{Path(folder) / 'm.db'}"
        with Memory("bench", url, embedder=embedder) as memory:
            memory.remember_many([TEXT.format(n=n) for n in range(size)])
            memory.set("cursor", {"row": 8000})
        with ExitStack() as stack:
            bare = stack.enter_context(process([sys.executable, "-c", ECHO, "8471"], 8471))
            words = [sys.executable, "-c", SERVE, "8472", url, embedder]
            ours = stack.enter_context(process(words, 8472))
            here = stack.enter_context(Memory("bench", url, embedder=embedder))
            found["in process"] = added(ours, bare, here)
            rival = stack.enter_context(chroma(Path(folder), size))
            addresses = dict.fromkeys(KINDS, ours) | {"echo": bare}
            addresses |= {f"chroma {it}": rival for it in ("query", "add")} if rival else {}
            found["rows"] = rows(addresses, seconds, rounds)
            found["state get over echo"] = {
                clients: paired(ours, bare, clients) for clients in CLIENTS
            }
    found["checks"] = checks(found)
    return found


def rows(addresses: dict[str, str], seconds: float, rounds: int) -> list[dict[str, Any]]:
    """The best round of each kind, by clients."""
    best = []
    for clients in CLIENTS:
        tried: dict[str, list[dict[str, Any]]] = {kind: [] for kind in addresses}
        for _ in range(rounds):
            for kind, url in addresses.items():
                tried[kind].append(measured(url, kind, clients, seconds))
        for kind, found in tried.items():
            best.append({"kind": kind, **max(found, key=lambda row: row["per_second"])})
            print(f"  {json.dumps(best[-1])}", flush=True)
    return best


def paired(ours: str, bare: str, clients: int) -> float:
    """The rate of a state get over the bare framework's: the median of short turns in pairs.

    What else the machine does then hits both alike.
    """
    found = []
    for _ in range(PAIRS):
        get = measured(ours, "state get", clients, PAIR_SECONDS)["per_second"]
        found.append(get / measured(bare, "echo", clients, PAIR_SECONDS)["per_second"])
    return round(float(statistics.median(found)), 2)


def added(ours: str, bare: str, memory: Memory) -> dict[str, dict[str, Any]]:
    """Each verb in this process, and what the server adds for one client: medians, milliseconds.

    The verb here, the verb over HTTP and the bare framework take short turns, one after the other
    on one thread and one store; the difference is taken turn by turn. `middle_ms` holds the
    middle half of the differences, and `bare_ms` is what the framework takes with an echo.
    """
    found = {}
    for kind, verb in verbs(memory).items():
        with load.Caller(ours, kind) as served, load.Caller(bare, "echo") as echo:
            calls: dict[str, Callable[[], Any]] = {"here": verb, "served": served, "bare": echo}
            turns = [{name: _p50(call) for name, call in calls.items()} for _ in range(TURNS)]
        more = statistics.quantiles([it["served"] - it["here"] for it in turns], n=4)
        found[kind] = {
            "p50_ms": round(statistics.median(it["here"] for it in turns), 3),
            "added_ms": round(more[1], 3),
            "middle_ms": [round(more[0], 3), round(more[2], 3)],
            "bare_ms": round(statistics.median(it["bare"] for it in turns), 3),
        }
        print(f"  {kind}: {json.dumps(found[kind])}", flush=True)
    return found


def verbs(memory: Memory) -> dict[str, Callable[[], Any]]:
    """What the load generator asks for, in this process."""
    queries, mark = itertools.cycle(QUERIES), itertools.count()
    return {
        "state get": lambda: memory.entry("cursor"),
        "state set": lambda: memory.set("c0", {"row": next(mark)}),
        "recall": lambda: memory.recall(next(queries)),
        "context": lambda: memory.context(next(queries)),
        # The last: it makes the store grow.
        "remember": lambda: memory.remember(f"note {next(mark)} of the tea shop"),
    }


def _p50(call: Callable[[], object]) -> float:
    times, give_up = [], time.perf_counter() + TURN_SECONDS
    while time.perf_counter() < give_up:
        times.append(timing.seconds(call))
    return 1000 * statistics.median(times)


@contextmanager
def chroma(folder: Path, size: int) -> Iterator[str | None]:
    """Chroma's server with as many vectors in a collection, or None if there is none."""
    command = Options().cache / "rivals" / "chromadb" / "bin" / "chroma"
    if not command.exists():
        yield None
        return
    words = [str(command), "run", "--path", str(folder / "chroma"), "--port", "8473"]
    with process(words, 8473, "/api/v2/heartbeat") as url:
        yield f"{url}{load.fill_chroma(url, size)}"


def checks(found: dict[str, Any]) -> dict[str, Any]:
    """The targets, and whether they are met."""
    by = {(row["kind"], row["clients"]): row for row in found["rows"]}
    rate = {
        f"state get over the bare framework, {clients} clients": ratio
        for clients, ratio in found["state get over echo"].items()
    }
    added = {kind: told["added_ms"] for kind, told in found["in process"].items()}
    return {
        **rate,
        "added by the server at one client, p50 ms": added,
        "worst p99 of our verbs at 64 clients, ms": max(by[kind, 64]["p99_ms"] for kind in KINDS),
        "errors": sum(
            count
            for row in found["rows"]
            for status, count in row["statuses"].items()
            if int(status) >= 500
        ),
    }


def main() -> int:
    """Runs, prints, writes the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.served", description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    head = results.header(0, quick=False, module="benchmarks.served")
    found = run(options.seconds, options.size, options.embedder, options.rounds)
    print(json.dumps(found["checks"], indent=1))
    options.json.write_text(json.dumps({"run": head, **found}, indent=1) + "\n")
    if options.json == RESULTS:
        page.update(page.SERVER)
    return 0


if __name__ == "__main__":
    sys.exit(main())
