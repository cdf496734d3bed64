"""What a place holds, as rows: its entries, and how much there is of everything."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from holdfast.engine import Counts, Place, columns
from holdfast.engine.columns import stamp
from holdfast.engine.queue import Queue
from holdfast.model import Entry


class Holding(Queue):
    """The part of an engine's rows that entries are listed and things are counted by."""

    def entries(self, place: Place, after: str, now: datetime, limit: int) -> list[Entry]:
        """Unexpired entries in the order of their keys."""
        rows = self._all("entries", self.scope(place), after, stamp(now), limit)
        return [columns.entry(row) for row in rows]

    def counts(self, place: Place, now: datetime) -> Counts:
        """How much a place holds."""
        scope, at = self.scope(place), stamp(now)
        kinds = {row[0]: row[1] for row in self._all("kinds", scope, at)}
        return Counts(
            memories=sum(kinds.values()),
            versions=self._count("count_all", scope),
            kinds=kinds,
            sessions=self._count("count_sessions", scope, at),
            states=self._count("count_entries", scope, at),
            waiting=self._count("count_waiting", scope),
        )

    def _count(self, name: str, *values: Any) -> int:
        row = self._one(name, *values)
        return int(row[0]) if row else 0
