"""Messages in order, on the state verbs: a few to a key, so that a long log costs no more.

Several processes may write one log: an append is atomic, and each one's messages stay in its
order. A message that is sent again, because the answer to it was lost, is read once.
"""

from __future__ import annotations

import json
import uuid
from typing import Any

from holdfast import Conflict, Memory, TooLarge

TOGETHER = 16  # messages under one key: what is rewritten by an append, and read by a get
PAGE = 1000  # keys read at a time


class Transcript:
    """A log under a name, in numbered runs; a fresh run leaves the ones before as they are."""

    def __init__(self, memory: Memory, name: str) -> None:
        self._memory = memory
        self._name = name
        self._run: int | None = None
        self._part: int | None = None
        self._unseen = 0  # appended to a part whose length is not known, as it waits in an outbox

    @property
    def run(self) -> int:
        """The number of the run that is written to, from 1."""
        if self._run is None:
            self._run = int(self._memory.get(f"{self._name}/run", 0)) or self._first()
        return self._run

    def messages(self, run: int | None = None) -> list[Any]:
        """All messages of a run, in order."""
        found: dict[str, Any] = {}
        for key in self._keys(self.run if run is None else run):
            for held in self._memory.get(key, ()):
                found.setdefault(held["id"], held["message"])
        return list(found.values())

    def append(self, message: Any) -> None:
        """Adds a message, which need not be JSON: what is not is kept as text."""
        self.add(self.entry(message))

    def entry(self, message: Any) -> dict[str, Any]:
        """A message as it is kept; the same entry added again is still one message."""
        plain = json.loads(json.dumps(message, default=str))
        return {"id": uuid.uuid4().hex, "message": plain}

    def add(self, entry: dict[str, Any]) -> None:
        """Adds an entry."""
        if self._part is None:
            self._part = self._last()
        try:
            held = self._memory.append(self._key(self._part), entry)
        except TooLarge:  # together with those before it
            self._turn_page()
            held = self._memory.append(self._key(self._part), entry)
        self._unseen += 1
        if len(held.value) >= TOGETHER or self._unseen >= TOGETHER:
            self._turn_page()

    def fresh(self) -> int:
        """Begins a new run; gives its number."""
        self._run = int(self._memory.increment(f"{self._name}/run").value)
        self._part, self._unseen = 1, 0
        return self._run

    def _turn_page(self) -> None:
        self._part, self._unseen = (self._part or 0) + 1, 0

    def _first(self) -> int:
        try:
            self._memory.set(f"{self._name}/run", 1, if_version=0)
        except Conflict:
            return int(self._memory.get(f"{self._name}/run"))
        return 1

    def _key(self, part: int) -> str:
        return f"{self._name}/{self.run:06d}/{part:06d}"

    def _keys(self, run: int) -> list[str]:
        prefix, keys, after = f"{self._name}/{run:06d}/", list[str](), ""
        while page := self._memory.keys(prefix, after=after, limit=PAGE):
            keys += page
            after = page[-1]
            if len(page) < PAGE:
                break
        return keys

    def _last(self) -> int:
        keys = self._keys(self.run)
        return int(keys[-1].rpartition("/")[2]) if keys else 1
