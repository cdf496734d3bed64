"""Uses that recalls have counted: held here until a write takes them along.

A recall must not wait for the disk, so it only counts. Until what it counted is committed, readers
are shown it beside what is stored.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from datetime import datetime

from holdfast.engine import Key, Scope
from holdfast.engine.columns import stamp

FLUSH_SECONDS = 5.0  # uses counted by recalls alone are written this often,
USES_HELD = 256  # or when there are so many

# How often each row of a scope was used, and when last.
Uses = Mapping[Scope, Mapping[int, tuple[int, int]]]
UNUSED = (0, 0)


def add(one: Uses, other: Uses) -> Uses:
    """Two counts as one."""
    both = dict(one)
    for scope, counted in other.items():
        rows = both[scope] = dict(both.get(scope, {}))
        for row, (times, at) in counted.items():
            more, later = rows.get(row, UNUSED)
            rows[row] = times + more, max(at, later)
    return both


class Counted:
    """What was counted in this process and is not committed yet."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: Uses = {}
        self._riding: list[Uses] = []  # in a transaction that is under way
        self._flushed = time.monotonic()

    def count(self, keys: Sequence[Key], now: datetime) -> bool:
        """Counts a use of each; True if it is time to write."""
        at = stamp(now)
        more: dict[Scope, dict[int, tuple[int, int]]] = {}
        for _, scope, row in keys:
            more.setdefault(scope, {})[row] = 1, at
        with self._lock:
            self._held = add(self._held, more)
            late = time.monotonic() - self._flushed > FLUSH_SECONDS
            due = late or sum(map(len, self._held.values())) > USES_HELD
            if due:
                self._flushed = time.monotonic()
        return due

    def seen(self) -> Uses:
        """All of it, for a reader to see beside what is stored."""
        with self._lock:
            told = self._held
            for riding in self._riding:
                told = add(told, riding)
        return told

    def scopes(self) -> set[Scope]:
        """The scopes of which something is held."""
        with self._lock:
            return set(self._held)

    def take(self, scope: Scope | None = None) -> Uses:
        """What is held, all or of a scope, for a transaction; it is then settled or put back."""
        with self._lock:
            taken = {key: told for key, told in self._held.items() if scope in (None, key)}
            if taken:
                self._held = {k: told for k, told in self._held.items() if k not in taken}
                self._riding.append(taken)
        return taken

    def settle(self, taken: Uses) -> None:
        """Lets go of what was committed, or must not be written twice."""
        with self._lock:
            self._riding = [riding for riding in self._riding if riding is not taken]

    def put_back(self, taken: Uses) -> None:
        """Holds again what could not be written."""
        with self._lock:
            self._riding = [riding for riding in self._riding if riding is not taken]
            self._held = add(self._held, taken)
