"""An agent that writes through an outbox until it is killed; each of its lanes keeps a journal.

A lane writes `? n` before it begins operation n, and `! n` when it was acknowledged. Whoever is
started on the same journals again goes on where they end.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from pathlib import Path

from holdfast import Memory

FORGET = 5  # every so many notes, the one before is forgotten


class Lane:
    """One writer: a scope of its own, and a journal."""

    def __init__(self, name: str, url: str, key: str, outbox: str, journal: Path) -> None:
        self._memory = Memory(name, url, api_key=key, outbox=outbox)
        self._name = name
        self._next = begun(journal) + 1
        self._file = journal.open("a", buffering=1)

    def run(self) -> None:
        """Writes for ever."""
        while True:
            n = self._next
            self._note("?", n)
            self._do(n)
            self._note("!", n)
            self._next += 1

    def _note(self, mark: str, n: int) -> None:
        self._file.write(f"{mark} {n}\n")

    def _do(self, n: int) -> None:
        """Operation n; what it does depends on n alone."""
        memory, kind = self._memory, n % 4
        if kind == 0:
            memory.append("log", n)
        elif kind == 1:
            memory.remember(note(self._name, n), id=f"{self._name}-{n}")
        elif kind == 2:
            memory.increment("count")
        elif n % FORGET == 0:
            memory.remember(note(self._name, n), id=f"{self._name}-{n}")
            memory.forget(f"{self._name}-{n}")
        else:
            memory.set("last", n)
        if random.random() < 0.2:
            memory.recall(f"note {n}")


def note(lane: str, n: int) -> str:
    """The words of a note."""
    return f"note {n} of lane {lane}: " + "the river went on " * (n % 7)


def begun(journal: Path) -> int:
    """The last operation that was begun."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    return max((int(line.split()[1]) for line in lines if line.startswith("?")), default=-1)


def main() -> None:
    """Runs lanes until it is killed."""
    task = json.loads(sys.argv[1])
    for name in task["lanes"]:
        lane = Lane(
            name, task["url"], task["key"], task["outbox"], Path(task["folder"]) / f"{name}.log"
        )
        threading.Thread(target=_end_with, args=(lane.run,)).start()


def _end_with(work: object) -> None:
    """An error in a lane ends the agent: the check would see a lane that stands still."""
    try:
        work()  # type: ignore[operator]
    except BaseException:
        import traceback

        traceback.print_exc()
        os._exit(3)


if __name__ == "__main__":
    main()
