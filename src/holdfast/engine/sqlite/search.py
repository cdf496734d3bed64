"""Finding candidates: by meaning in the vectors in memory, by words in the text index.

Filters come first and are exact: what they leave out is never a candidate, and what they leave
in is searched whole, so that no bound can make an answer shorter than it should be.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engine import Found, Look, Space
from holdfast.engine.sqlite.columns import stamp
from holdfast.engine.sqlite.statements import statements
from holdfast.engine.sqlite.vectors import VectorCache
from holdfast.errors import EmbedderMismatch
from holdfast.model import Filter, Record
from holdfast.rank import Candidate, Corpus

SQL = statements()
Rows = NDArray[np.int64]
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


def search(
    db: sqlite3.Connection,
    cache: VectorCache,
    record: Callable[[sqlite3.Row, str], Record],
    scopes: Sequence[tuple[int, str]],
    look: Look,
) -> Found:
    """Candidates from several scopes, given by number and name, and what those scopes are like."""
    candidates: list[Candidate] = []
    having = np.zeros(len(look.terms), np.int64)
    size = length = waiting = 0
    for number, name in scopes:
        seen = _Sight(db, number, look)
        listed = [_listed(db, number, term) for term in look.terms]
        having += [len(found) for found in listed]
        meaning = _Meaning(db, cache, number, look)
        chosen = {*meaning.best(seen, look.most), *_by_words(listed, seen, look.most)}
        for row in _fetch(db, number, sorted(chosen)):
            cosine = meaning.cosine(row["row"])
            candidates.append(_candidate(record(row, name), row["terms"], cosine, look.terms))
        size += db.execute(SQL["count_all"], (number,)).fetchone()[0]
        waiting += db.execute(SQL["count_waiting"], (number,)).fetchone()[0]
    length = sum(candidate.length for candidate in candidates)
    mean = length / len(candidates) if candidates else 0.0
    return Found(candidates, Corpus(size, mean, tuple(having.tolist())), waiting)


def space_number(db: sqlite3.Connection, space: Space | None) -> int:
    """The number of the embedder the store belongs to, which must be this one."""
    found = db.execute(SQL["current_space"]).fetchone()
    if found is None or Space(*found[1:]) != space:
        raise EmbedderMismatch(
            "The store was moved to another embedder while it was open.", "Open it anew."
        )
    return int(found[0])


class _Sight:
    """Which rows of a scope may be candidates at all."""

    def __init__(self, db: sqlite3.Connection, scope: int, look: Look) -> None:
        self._shown: Rows | None = None
        if look.where or look.as_of:
            sql, values = condition(look.where)
            seen, more = in_sight(look.as_of, look.now)
            found = db.execute(
                f"SELECT row FROM memories WHERE scope = ? AND {seen} AND {sql}",
                (scope, *more, *values),
            )
            self._shown = np.array([row[0] for row in found], np.int64)
        else:
            found = db.execute(SQL["dead_rows"], (scope, stamp(look.now)))
            self._hidden = np.array([row[0] for row in found], np.int64)

    def mask(self, found: Rows) -> NDArray[np.bool_]:
        """True where a row may be a candidate."""
        if self._shown is not None:
            return np.isin(found, self._shown)
        if not len(self._hidden):
            return np.ones(len(found), np.bool_)
        return np.isin(found, self._hidden, invert=True)


def _listed(db: sqlite3.Connection, scope: int, term: str) -> Rows:
    found = db.execute(SQL["find_words"], (f'"{scope}:{term}"',)).fetchone()[0]
    return np.fromstring(found, np.int64, sep=",") if found else np.empty(0, np.int64)


def _by_words(listed: Sequence[Rows], seen: _Sight, most: int) -> list[int]:
    """The rows with the most and rarest of the terms."""
    every = [found for found in listed if len(found)]
    if not every:
        return []
    union, where = np.unique(np.concatenate(every), return_inverse=True)
    # Each list has its weight: a term that few rows have says more than one that many have.
    weight = np.concatenate([np.full(len(found), 1 / np.log1p(len(found))) for found in every])
    score = np.bincount(where.ravel(), weight)
    score[~seen.mask(union)] = 0
    best = _top(score, most)
    return [int(row) for row in union[best[score[best] > 0]]]


class _Meaning:
    """How near each row of a scope is to the query; a long content is as near as its best part."""

    def __init__(self, db: sqlite3.Connection, cache: VectorCache, scope: int, look: Look) -> None:
        self._rows: Rows = np.empty(0, np.int64)
        self._cosine: NDArray[np.float32] = np.empty(0, np.float32)
        if look.vector is None:
            return
        space = space_number(db, look.space)
        parts, matrix = cache.scope(space, scope, len(look.vector)).follow(db)
        if len(parts):
            starts = np.flatnonzero(np.concatenate([[True], parts[1:] != parts[:-1]]))
            self._rows = parts[starts]
            self._cosine = np.maximum.reduceat(matrix @ look.vector, starts)

    def best(self, seen: _Sight, most: int) -> list[int]:
        """The nearest rows among those in sight."""
        shown = np.flatnonzero(seen.mask(self._rows))
        return [int(row) for row in self._rows[shown[_top(self._cosine[shown], most)]]]

    def cosine(self, row: int) -> float | None:
        """How near a row is; None without a vector."""
        at = int(np.searchsorted(self._rows, row))
        held = at < len(self._rows) and self._rows[at] == row
        return float(self._cosine[at]) if held else None


def _top(score: NDArray[Any], most: int) -> NDArray[np.int64]:
    """The indices of the highest scores, highest first."""
    if len(score) > most:
        kept = np.argpartition(score, -most)[-most:]
        return kept[np.argsort(-score[kept], kind="stable")]
    return np.argsort(-score, kind="stable")


def _fetch(db: sqlite3.Connection, scope: int, chosen: Sequence[int]) -> list[sqlite3.Row]:
    marks = ",".join("?" * len(chosen))
    return db.execute(
        f"SELECT * FROM memories WHERE scope = ? AND row IN ({marks}) ORDER BY row",
        (scope, *chosen),
    ).fetchall()


def _candidate(
    record: Record, stored: str, cosine: float | None, terms: Sequence[str]
) -> Candidate:
    said = stored.split(" ") if stored else []
    count = Counter(said)
    return Candidate(record, cosine, tuple(count[term] for term in terms), len(said))
