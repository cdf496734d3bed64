"""Kills while a process learns: nothing accepted is lost, done twice, or half done.

A child accepts conversations, corrects what it learned, sums up, undoes that and sweeps, and tells
its parent over a pipe what was acknowledged. The parent kills it at any moment, opens the store,
lets the jobs that are left be done, and counts what is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

from benchmarks import results
from holdfast import Memory, Record
from holdfast.backend import Backend, open_backend
from holdfast.jobs import LEASE
from holdfast.service import utc_now

CHILD = "--child"
TURNS = 24  # of a session that is summed up
GONE = 500  # memories that are swept
SAME = ("lives in Lisbon", "is living in Lisbon", "is based in Lisbon")
LONGEST_SECONDS = 0.6  # from the first acknowledgement to the kill
DONE_SECONDS = 400
LONG = 500  # kills whose result is kept
RESULTS = results.FOLDER / "learning_faults.json"
WRONG = (
    *("accepted, lost", "accepted, done twice", "correction lost", "half superseded"),
    *("turns lost", "twins lost", "expired, seen", "expired, left", "jobs left", "unhealthy"),
)


def child(url: str, start: int) -> None:
    """Learns for ever; says what was acknowledged."""
    memory = Memory("faults", url, embedder="hashing")
    for number in range(start, start + 100_000):
        memory.extract(f"Person{number}: I live in Town{number}.", session=f"a{number}", wait=False)
        _say(f"accepted {number}")
        memory.remember(f"Team{number}'s database is Old{number}", reconcile=True)
        memory.remember(f"Team{number}'s database is New{number}", reconcile=True)
        _say(f"corrected {number}")
        if number % 5 == 0:
            chat = "\n".join(f"P{number}: I planted {n} trees." for n in range(TURNS))
            memory.extract(chat, session=f"trail{number}", keep="turns")
            _say(f"trail {number}")
            memory.consolidate(f"trail{number}")
            for words in SAME:
                memory.remember(f"Twin{number} {words}", session=f"twins{number}")
            _say(f"twins {number}")
            (twins,) = memory.consolidate(f"twins{number}").summaries
            if number % 10 == 0:
                memory.dissolve(twins)
            gone = [{"content": f"gone {number} {n}", "ttl": 0.001} for n in range(GONE)]
            memory.remember_many(gone)
            if number % 10 == 0:
                memory.purge()
        memory.work()


def _say(what: str) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def killed(url: str, start: int, chance: random.Random) -> list[str]:
    """What a child had acknowledged when it was killed."""
    command = [sys.executable, "-m", "benchmarks.learning_faults", CHILD, url, str(start)]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    first = running.stdout.readline()
    time.sleep(chance.uniform(0, LONGEST_SECONDS))
    os.kill(running.pid, signal.SIGKILL)
    rest = running.stdout.read()
    running.wait()
    running.stdout.close()
    return [line for line in (first + rest).split("\n")[:-1] if line]


def wrong(memory: Memory, acknowledged: list[str]) -> Counter[str]:
    """What is lost, doubled or half done in a store after a kill."""
    until = time.monotonic() + DONE_SECONDS
    while memory.jobs() and time.monotonic() < until:
        memory.work()
    found: Counter[str] = Counter()
    current = Counter(one.content for one in _all(memory))
    found["jobs left"] = len(memory.jobs())
    for line in acknowledged:
        what, number = line.split()
        if what == "accepted":
            count = current[f"Person{number} lives in Town{number}."]
            found["accepted, lost"] += count < 1
            found["accepted, done twice"] += count > 1
        elif what == "corrected":
            found["correction lost"] += current[f"Team{number}'s database is New{number}"] != 1
            found["half superseded"] += current[f"Team{number}'s database is Old{number}"]
        elif what == "trail":
            found["turns lost"] += _trail(memory, number) != TURNS
        else:
            found["twins lost"] += _twins(memory, number) != set(SAME)
    found["expired, seen"] = sum(said.startswith("gone") for said in current)
    found["unhealthy"] = not memory.doctor().healthy
    memory.work()
    found["expired, left"] = memory.purge().memories
    return found


def _all(memory: Memory) -> list[Record]:
    page = memory.list(limit=1000)
    found = list(page)
    while page.cursor:
        page = memory.list(limit=1000, cursor=page.cursor)
        found += page
    return found


def _trail(memory: Memory, number: str) -> int:
    """How many turns of a trail are there: current, or retired by a summary that is there."""
    found = memory.list(session=f"trail{number}", limit=1000)
    summaries = [one for one in found if one.kind == "episodic"]
    turns = sum(one.kind == "interaction" for one in found)
    if not summaries:
        return turns
    return turns + sum(
        one.superseded_by == summaries[0].id for one in memory.history(summaries[0].id)
    )


def _twins(memory: Memory, number: str) -> set[str]:
    """What is there of memories that say the same: current, or behind a summary that is."""
    found = memory.list(session=f"twins{number}")
    said = [one for it in found for one in memory.history(it.id)]
    return {one.content.removeprefix(f"Twin{number} ") for one in said}


def run(kills: int, seed: int = 1) -> Counter[str]:
    """Kills a child so often; gives what was wrong after any of it, and how much was done."""
    chance, total = random.Random(seed), Counter[str]()
    for kill in range(kills):
        with tempfile.TemporaryDirectory(prefix="holdfast-kill-") as folder:
            url = f"sqlite:///{Path(folder) / 'memory.db'}"
            lines = killed(url, kill * 1000, chance)
            with Memory("faults", backend=_past_lease(url)) as memory:
                total += wrong(memory, lines)
            total["acknowledged"] += len(lines)
            total["kills"] += 1
    return total


def _past_lease(url: str) -> Backend:
    """A backend whose clock is past the lease of the job that the killed child had."""
    return open_backend(url, "hashing", lambda: utc_now() + LEASE + timedelta(seconds=1))


def main() -> int:
    """Runs from the command line; 1 if anything was wrong."""
    if sys.argv[1:2] == [CHILD]:
        child(sys.argv[2], int(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help=f"default for long runs: {RESULTS.name}")
    options = parser.parse_args()
    head = results.header(options.seed, options.kills < LONG, "benchmarks.learning_faults")
    total = run(options.kills, options.seed)
    bad = {name: total[name] for name in WRONG}
    done = {name: total[name] for name in ("kills", "acknowledged")}
    for name, count in {**done, **bad}.items():
        print(f"{name:22s} {count}")
    path = options.json or (RESULTS if options.kills >= LONG else None)
    if path:
        path.write_text(json.dumps({"run": head, **done, **bad}, indent=1) + "\n")
    return int(any(bad.values()))


if __name__ == "__main__":
    sys.exit(main())
