"""Messages in order, on the state verbs: one key for each, so that a long log costs no more.

Several processes may write one log: a number is taken by compare-and-set, and who comes second
takes the next.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

from holdfast import Conflict, Memory

PAGE = 1000  # keys read at a time


class Transcript:
    """A log under a name, in numbered runs; a fresh run leaves the ones before as they are."""

    def __init__(self, memory: Memory, name: str) -> None:
        self._memory = memory
        self._name = name
        self._run: int | None = None
        self._next: int | None = None

    @property
    def run(self) -> int:
        """The number of the run that is written to, from 1."""
        if self._run is None:
            self._run = int(self._memory.get(f"{self._name}/run", 0)) or self._first()
        return self._run

    def messages(self, run: int | None = None) -> list[Any]:
        """All messages of a run, in order."""
        wanted = self.run if run is None else run
        found = [self._memory.get(key) for key in self._keys(wanted)]
        if wanted == self._run:
            self._next = len(found) + 1
        return found

    def append(self, message: Any) -> int:
        """Adds a message; gives its number in the run, from 1."""
        plain = json.loads(json.dumps(message, default=str))
        if self._next is None:
            self._next = self._length() + 1
        once = uuid.uuid4().hex
        while True:
            number = self._next
            self._next += 1
            try:
                self._put(number, plain, f"{once}-{number}")
            except Conflict:
                continue  # another process has that number
            except BaseException:
                self._next = number
                raise
            return number

    def fresh(self) -> int:
        """Begins a new run; gives its number."""
        self._run = int(self._memory.increment(f"{self._name}/run").value)
        self._next = 1
        return self._run

    def _first(self) -> int:
        try:
            self._memory.set(f"{self._name}/run", 1, if_version=0)
        except Conflict:
            return int(self._memory.get(f"{self._name}/run"))
        return 1

    def _put(self, number: int, message: Any, key: str) -> None:
        name = f"{self._name}/{self.run:06d}/{number:09d}"
        self._memory.set(name, message, if_version=0, idempotency_key=key)

    def _keys(self, run: int) -> list[str]:
        prefix, keys, after = f"{self._name}/{run:06d}/", list[str](), ""
        while page := self._memory.keys(prefix, after=after, limit=PAGE):
            keys += page
            after = page[-1]
            if len(page) < PAGE:
                break
        return keys

    def _length(self) -> int:
        keys = self._keys(self.run)
        return int(keys[-1].rpartition("/")[2]) if keys else 0
