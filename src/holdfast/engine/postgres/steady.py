"""Scopes as they were last seen: what has not changed is searched before the server says so.

A search in memory takes longer than the question whether anything was written since. So both are
done at once, and what was found counts only if the answer is what was guessed. A scope that is
written to between any two questions is not guessed at: its search would be done twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from holdfast.engine import Place
from holdfast.engine.postgres.pipeline import Row

MOST = 10_000  # scopes; beyond them all are let go, and are known again when they are asked about

Seen = Mapping[Place, Row | None]  # what a snapshot says of scopes; None of one that is not there


class Steady:
    """What snapshots said of scopes, by all threads of an engine."""

    def __init__(self) -> None:
        self._last: dict[Place, tuple[Row | None, bool]] = {}

    def guess(self, places: Iterable[Place]) -> Seen | None:
        """What will be said of some scopes, if all of them were the same twice."""
        last = {place: self._last.get(place, (None, False)) for place in places}
        if not all(steady for _, steady in last.values()):
            return None
        return {place: row for place, (row, _) in last.items()}

    def note(self, seen: Seen) -> None:
        """Notes what was said."""
        if len(self._last) > MOST:
            self._last.clear()
        for place, row in seen.items():
            before = self._last.get(place)
            self._last[place] = row, before is not None and before[0] == row
