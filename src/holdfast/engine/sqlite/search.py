"""What a search asks of a SQLite store: filters as SQL, and each scope as a source."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engine import Space
from holdfast.engine.cache import LAST_ROW, Pulse
from holdfast.engine.cache.batch import NAMES, NUMBERS, Batch
from holdfast.engine.columns import stamp
from holdfast.engine.sqlite import words
from holdfast.engine.sqlite.statements import statements
from holdfast.errors import EmbedderMismatch
from holdfast.model import Filter

SQL = statements()
STEP = 8192  # rows read at a time: while they are, those before are made ready
TYPES = {str: ("text",), int: ("integer", "real"), float: ("integer", "real")}


def condition(where: Filter) -> tuple[str, list[Any]]:
    """A filter as SQL with its values."""
    parts: list[tuple[str, list[Any]]] = []
    if where.kinds:
        parts.append((f"kind IN ({','.join('?' * len(where.kinds))})", list(where.kinds)))
    for tag in where.tags:
        parts.append(("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", [tag]))
    if where.session is not None:
        parts.append(("session = ?", [where.session]))
    if where.avoid is not None:
        parts.append((f"avoid = {int(where.avoid)}", []))
    if where.source is not None:
        parts.append(("writer = ?", [where.source]))
    if where.since is not None:
        parts.append(("happened_at >= ?", [stamp(where.since)]))
    if where.until is not None:
        parts.append(("happened_at < ?", [stamp(where.until)]))
    parts.extend(_meta_condition(key, value) for key, value in where.meta.items())
    sql = " AND ".join(part for part, _ in parts) or "1"
    return sql, [value for _, values in parts for value in values]


def _meta_condition(key: str, value: Any) -> tuple[str, list[Any]]:
    each = "EXISTS (SELECT 1 FROM json_each(meta) AS m WHERE m.key = ? AND "
    if value is None or isinstance(value, bool):
        return each + "m.type = ?)", [key, {None: "null", True: "true", False: "false"}[value]]
    types = TYPES[type(value)]
    return each + f"m.type IN ({','.join('?' * len(types))}) AND m.value = ?)", [key, *types, value]


def in_sight(as_of: datetime | None, now: datetime) -> tuple[str, list[Any]]:
    """What is not expired, and is true now or was at a moment, as SQL with its values."""
    alive = "(expires_at IS NULL OR expires_at > ?)"
    if as_of is None:
        return f"until IS NULL AND {alive}", [stamp(now)]
    at = stamp(as_of)
    held = "min(happened_at, created_at) <= ? AND (until IS NULL OR until > ?)"
    return f"{held} AND {alive}", [at, at, stamp(now)]


def space_number(db: sqlite3.Connection, space: Space | None) -> int:
    """The number of the embedder the store belongs to, which must be this one."""
    found = db.execute(SQL["current_space"]).fetchone()
    if found is None or Space(*found[1:]) != space:
        raise EmbedderMismatch(
            "The store was moved to another embedder while it was open.", "Open it anew."
        )
    return int(found[0])


def _parsed(numbers: str | None) -> NDArray[np.int64]:
    return np.fromstring(numbers or "", np.int64, sep=",")


class Source:
    """One scope of a snapshot, for the cache that follows it."""

    def __init__(self, db: sqlite3.Connection, scope: int) -> None:
        self._db = db
        self.scope = scope

    def pulse(self) -> Pulse:
        """What tells whether anything was written since the scope was last looked at."""
        found = self._db.execute(SQL["pulse"], (self.scope, self.scope)).fetchone()
        change, given, row, waiting = (number or 0 for number in found)
        return Pulse(change, row, words.listed(given), waiting)

    def changes(self, after: int) -> Iterable[int] | None:
        """The rows that changed or went away since a change; None if that is no longer known."""
        first = self._db.execute(SQL["first_change"]).fetchone()[0]
        if first is None or first > after + 1:
            return None
        found = self._db.execute(SQL["changes_after"], (self.scope, after))
        return [row for _, row in found]

    def rows_after(self, row: int) -> tuple[int, Iterable[Batch]]:
        """What the index holds of the rows beyond one, some at a time; if in steps, how many."""
        end = self._end(row)
        if end is None:
            return 0, [self._batch(row, LAST_ROW)]
        count = self._db.execute(SQL["count_after_in"], (self.scope, row)).fetchone()[0]
        return count, self._steps(row, end)

    def _steps(self, row: int, end: int | None) -> Iterator[Batch]:
        while end is not None:
            yield self._batch(row, end)
            row, end = end, self._end(end)
        yield self._batch(row, LAST_ROW)

    def _end(self, row: int) -> int | None:
        """The last row of a step from one on; None if there are no more than that."""
        found = self._db.execute(SQL["step_in"], (self.scope, row, STEP)).fetchone()
        return None if found is None else int(found[0])

    def _batch(self, after: int, last: int) -> Batch:
        *columns, sizes, vectors = self._db.execute(
            SQL["rows_between_in"], (self.scope, after, last)
        ).fetchone()
        numbers, names = columns[: len(NUMBERS)], columns[len(NUMBERS) :]
        return Batch(
            {name: _parsed(each) for name, each in zip(NUMBERS, numbers, strict=True)},
            {name: json.loads(each) for name, each in zip(NAMES, names, strict=True)},
            _parsed(sizes),
            vectors or b"",
        )

    def rows(self, rows: Sequence[int]) -> Sequence[sqlite3.Row]:
        """The same of some rows, those that are still there."""
        return self._db.execute(SQL["rows_in"], (self.scope, json.dumps(list(rows)))).fetchall()

    def terms_after(self, row: int, last: int = LAST_ROW) -> Iterable[tuple[int, str]]:
        """The terms of the rows beyond one, up to the last or another one, in order."""
        return self._db.execute(SQL["terms_after"], (self.scope, row, last))

    def find(self, token: str) -> NDArray[np.int64]:
        """The rows in the word index that have a token, in order."""
        return words.find(self._db, self.scope, token)

    def matching(self, where: Filter) -> NDArray[np.int64]:
        """The rows that a filter leaves in."""
        sql, values = condition(where)
        found = self._db.execute(
            f"SELECT row FROM memories WHERE scope = ? AND {sql}", (self.scope, *values)
        )
        return np.fromiter((row[0] for row in found), np.int64)
