"""What a search asks of a PostgreSQL: filters as SQL, and each scope as a source."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engine import Look, Space
from holdfast.engine.cache import LAST_ROW, Pulse
from holdfast.engine.cache.batch import Batch, of_rows
from holdfast.engine.cache.tokens import AGAIN
from holdfast.engine.columns import compact, stamp
from holdfast.engine.postgres import words
from holdfast.engine.postgres.connections import Session
from holdfast.engine.postgres.pipeline import Answer, Row
from holdfast.errors import EmbedderMismatch
from holdfast.model import Filter

CHANGES_KEPT = 20_000  # of a scope; a cache further behind than this loads anew


def facets(tags: Iterable[str], meta: Mapping[str, Any]) -> list[str]:
    """Tags and plain meta values as they are filtered by."""
    plain = ((key, value) for key, value in meta.items() if not isinstance(value, dict | list))
    return [
        *(compact(["tag", tag]) for tag in tags),
        *(compact(["meta", key, _number(value)]) for key, value in plain),
    ]


def _number(value: Any) -> Any:
    """Numbers that are equal are written alike: 1 and 1.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def condition(where: Filter, first: int) -> tuple[str, list[Any]]:
    """A filter as SQL with its values, which are numbered from `first` on."""
    parts: list[str] = []
    values: list[Any] = []

    def add(sql: str, value: Any) -> None:
        parts.append(sql.replace("?", f"${first + len(values)}"))
        values.append(value)

    if where.kinds:
        add("kind = ANY(?::text[])", list(where.kinds))
    if where.tags or where.meta:
        add("facets @> ?::text[]", facets(where.tags, where.meta))
    if where.session is not None:
        add("session = ?", where.session)
    if where.avoid is not None:
        add("avoid = ?", int(where.avoid))
    if where.source is not None:
        add("writer = ?", where.source)
    if where.since is not None:
        add("happened_at >= ?", stamp(where.since))
    if where.until is not None:
        add("happened_at < ?", stamp(where.until))
    return " AND ".join(parts) or "true", values


def in_sight(as_of: datetime | None, now: datetime, first: int) -> tuple[str, list[Any]]:
    """What is not expired, and is true now or was at a moment, as SQL with its values."""
    alive = f"(expires_at IS NULL OR expires_at > ${first})"
    if as_of is None:
        return f"until IS NULL AND {alive}", [stamp(now)]
    at = f"${first + 1}"
    held = f"least(happened_at, created_at) <= {at} AND (until IS NULL OR until > {at})"
    return f"{held} AND {alive}", [stamp(now), stamp(as_of)]


def sight(look: Look, first: int) -> tuple[str, list[Any]]:
    """What a search may find at all, as SQL with its values."""
    seen, values = in_sight(look.as_of, look.now, first)
    fit, more = condition(look.where, first + len(values))
    return f"{seen} AND {fit}", [*values, *more]


def space_number(found: Sequence[Any] | None, space: Space | None) -> int:
    """The number of the embedder the store belongs to, which must be this one.

    `found` is the number, name, version and dimension of the one there is.
    """
    if found is None or Space(*found[1:]) != space:
        raise EmbedderMismatch(
            "The store was moved to another embedder while it was open.", "Open it anew."
        )
    return int(found[0])


@dataclass
class Source:
    """One scope of a snapshot, for the cache that follows it."""

    db: Session
    scope: words.At
    seen: Row
    terms: Sequence[str]
    _found: dict[str, NDArray[np.int64]] = field(default_factory=dict, init=False)
    _terms: tuple[tuple[int, int], Answer] | None = field(default=None, init=False)
    _words: tuple[dict[str, str], Answer] | None = field(default=None, init=False)

    def pulse(self) -> Pulse:
        """What tells whether anything was written since the scope was last looked at."""
        change, row = int(self.seen["last_change"]), int(self.seen["last_row"])
        return Pulse(change, row, words.listed_to(row), int(self.seen["waiting"]))

    def changes(self, after: int) -> Iterable[int] | None:
        """The rows that changed or went away since a change; None if that is no longer known."""
        if int(self.seen["last_change"]) - after > CHANGES_KEPT:
            return None
        return [row[0] for row in self.db.all("changes_after", *self.scope, after)]

    def rows_after(self, row: int) -> tuple[int, Iterable[Batch]]:
        """What the index holds of the rows beyond one, all at a time."""
        ends = (row, self.pulse().row)
        found = self.db.do("rows_after_in", *self.scope, *ends)
        self._terms = ends, self.db.do("terms_between", *self.scope, *ends)  # asked for next
        rows = found.fetchall()
        return 0, [of_rows(rows)] if rows else []

    def rows(self, rows: Sequence[int]) -> Sequence[Row]:
        """The same of some rows, those that are still there."""
        return self.db.all("rows_in", *self.scope, list(rows))

    def terms_after(self, row: int, last: int = LAST_ROW) -> Iterable[tuple[int, str]]:
        """The terms of the rows beyond one, up to the last or another one, in order."""
        ends = (row, min(last, self.pulse().row))
        if self._terms and self._terms[0] == ends:
            return self._terms[1].fetchall()
        return self.db.all("terms_between", *self.scope, *ends)

    def ask(self) -> None:
        """Sends what will be asked next: the lists of the query's words, and the terms beyond."""
        pulse = self.pulse()
        if pulse.listed:
            self._look_up(self._tokens())
        if pulse.row > pulse.listed:
            ends = (pulse.listed, pulse.row)
            self._terms = ends, self.db.do("terms_between", *self.scope, *ends)

    def find(self, token: str) -> NDArray[np.int64]:
        """The rows in the word index that have a token, in order."""
        if not self.pulse().listed:
            return np.empty(0, np.int64)
        self._take_in()
        if token not in self._found:
            self._look_up({token, *self._tokens()})
            self._take_in()
        return self._found[token]

    def _tokens(self) -> list[str]:
        return [term + mark for term in self.terms for mark in ("", *AGAIN.values())]

    def _look_up(self, asked: Iterable[str]) -> None:
        """Asks for all lists of the query: one question to the server, not many."""
        keys = {words.token_key(token): token for token in asked}
        self._words = keys, self.db.do("find_words", *self.scope, list(keys))

    def _take_in(self) -> None:
        if self._words is not None:
            (keys, answer), self._words = self._words, None
            self._found |= dict.fromkeys(keys.values(), np.empty(0, np.int64))
            for key, raw in answer:
                self._found[keys[key]] = words.unpacked(raw)

    def matching(self, where: Filter) -> NDArray[np.int64]:
        """The rows that a filter leaves in."""
        sql, values = condition(where, 3)
        found = self.db.run(
            f"SELECT row FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND {sql}",
            (*self.scope, *values),
        )
        return np.fromiter((row[0] for row in found), np.int64)
