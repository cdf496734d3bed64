"""The table of a large scope: its vectors as `halfvec` under an HNSW graph, and what filters ask.

It is an index: made out of the rows, which stay the truth, and written in the same transactions
as they are. Each large scope has one of its own. So a search never passes over the vectors of
others, a graph is no larger than its scope, and one that is made or removed is in nobody's way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.engine import Look
from holdfast.engine.columns import compact, packed, stamp
from holdfast.engine.postgres import search, words
from holdfast.engine.postgres.connections import Session
from holdfast.engine.postgres.pipeline import Answer, Row
from holdfast.engine.postgres.statements import of_large
from holdfast.model import Filter

NONE, FILLING, READY = 0, 1, 2  # of `scopes.near`
MOST_DIMENSIONS = 4000  # that a graph can be made of
WIDER = 4  # times as many are looked at in a graph as are asked for: it misses fewer of the nearest
MOST_SOUGHT = 1000  # that are looked at at once; it goes on from there
PAGE = 500  # rows at a time, when a table is filled

HELD = """m.row, happened_at, least(happened_at, created_at), until, expires_at, length, uses,
    version, pinned, avoid, kind, session, speaker, role, writer, tags, vectors"""
FIRST, LAST = -(2**63), 2**63 - 1  # of all times
NOTHING = np.empty(0, np.int64)

SQL = of_large()
Positions = NDArray[np.int64]
Line = tuple[int, int, str | None, str, int]  # row, passage, vector and marks as text, time


def text(name: str, at: words.At, **parts: str) -> str:
    """A statement on the table of a scope."""
    written = SQL[name].replace("near_n", f"near_{at[1]}")
    for word, part in {"held": HELD, **parts}.items():
        written = written.replace(f":{word}", part)
    return written


# --- what it holds ---


def marks(row: Row) -> list[str]:
    """What a filter may ask of a row."""
    named = (("kind", row["kind"]), ("session", row["session"]), ("writer", row["writer"]))
    held = [compact([name, value]) for name, value in named if value is not None]
    held += [compact(["avoid", row["avoid"]]), *row["facets"]]
    return sorted({words.token_key(mark) for mark in held})


def wanted(where: Filter) -> list[list[str]]:
    """The marks that a filter asks for: of each list, a row must have one."""
    named = (("session", where.session), ("writer", where.source))
    each = [compact([name, value]) for name, value in named if value is not None]
    each += search.facets(where.tags, where.meta)
    if where.avoid is not None:
        each.append(compact(["avoid", int(where.avoid)]))
    lists = [[mark] for mark in each]
    if where.kinds:
        lists.append([compact(["kind", kind]) for kind in where.kinds])
    return [[words.token_key(mark) for mark in marks] for marks in lists]


def _lines(found: Iterable[Row], dimension: int) -> list[Line]:
    return [
        (row["row"], nth, vector, _array(marks(row)), row["happened_at"])
        for row in found
        for nth, vector in enumerate(_written(row["vectors"], dimension))
    ]


def _passages(row: Row, dimension: int) -> int:
    return len(_written(row["vectors"], dimension))


def _written(raw: bytes | None, dimension: int) -> list[str | None]:
    """Stored vectors as text, one for each passage."""
    one = 2 * dimension
    if not raw or len(raw) % one:
        return [None]  # it waits, or is the doctor's case
    codes = np.frombuffer(raw, "<u2").reshape(-1, dimension)
    return ["[" + ",".join(map(_numbers().__getitem__, each.tolist())) + "]" for each in codes]


@lru_cache(maxsize=1)
def _numbers() -> list[str]:
    """Every number of 16 bits as text: to look one up is quicker than to write it."""
    every: NDArray[np.float16] = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return [f"{float(value):.5g}" for value in every]


def _array(texts: Sequence[str]) -> str:
    """Texts as PostgreSQL writes an array of them."""
    escaped = (each.replace("\\", "\\\\").replace('"', '\\"') for each in texts)
    return "{" + ",".join(f'"{each}"' for each in escaped) + "}"


# --- keeping it ---


def can_be(db: Session, dimension: int) -> bool:
    """Whether there is pgvector, and vectors that it can make a graph of."""
    found = db.one("any_halfvec")
    return bool(found and found[0]) and 0 < dimension <= MOST_DIMENSIONS


def make(db: Session, at: words.At, dimension: int) -> None:
    """Makes the table of a scope, with nothing in it."""
    tenant = hashlib.sha256(at[0].encode()).hexdigest()
    db.run(text("make", at, dimension=str(dimension), tenant=tenant))


def remove(db: Session, at: words.At) -> None:
    """Removes the table of a scope."""
    db.run(text("drop", at))
    db.do("drop_all_marks", *at)


def fill(db: Session, at: words.At, dimension: int, after: int) -> int | None:
    """Takes in the next rows after one; gives the last of them, or None if there were none."""
    found = db.all("near_after", *at, after, PAGE)
    if not found:
        return None
    _keep(db, at, found, dimension)
    return int(found[-1]["row"])


def follow(db: Session, at: words.At, dimension: int, rows: Sequence[int]) -> None:
    """Takes in what was written to some rows; lets go of those that are gone."""
    found = db.all("near_in", *at, list(rows))
    new = {(mark, row["row"]) for row in found for mark in marks(row)}
    old = {(mark, row) for row, had in db.run(text("marked", at), (list(rows),)) for mark in had}
    if old - new:
        db.do("drop_marks", *at, *_columns(old - new))
    kept = [(row["row"], nth) for row in found for nth in range(_passages(row, dimension))]
    db.run(text("let_go", at), (list(rows), *(_columns(kept) or ([], []))))
    _keep(db, at, found, dimension)


def faults(db: Session, at: words.At, dimension: int) -> int:
    """How many rows are not in the table as they should be."""
    row = db.run(text("lacking", at), (*at, 2 * dimension)).fetchone()
    return int(row[0]) if row else 0


def _keep(db: Session, at: words.At, found: Sequence[Row], dimension: int) -> None:
    if found:
        db.run(text("keep", at), _columns(_lines(found, dimension)))
        pairs = [(mark, row["row"]) for row in found for mark in marks(row)]
        db.do("add_marks", *at, *_columns(pairs))


def _columns(lines: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    return [list(column) for column in zip(*lines, strict=True)]


# --- asking it ---


def sought(most: int) -> str:
    """How many are looked at in a graph to find so many, as pgvector's setting has it."""
    return str(min(WIDER * most, MOST_SOUGHT))


@dataclass(frozen=True, slots=True)
class Near:
    """The table of a scope, asked by a query."""

    db: Session
    at: words.At
    look: Look

    @property
    def is_filtered(self) -> bool:
        """Whether the query asks for more of a row than that it is in sight."""
        where = self.look.where
        return bool(wanted(where)) or where.since is not None or where.until is not None

    def nearest(self, most: int) -> Answer:
        """About the nearest rows in sight: fewer, if they are few and far between."""
        seen, values = search.sight(self.look, 4)
        asked = text("nearest", self.at, seen=seen, most=str(most))
        self.db.do("seek", sought(most), "off")
        found = self.db.run(asked, (*self.at, self._vector(), *values))
        self.db.do("seek", sought(most), "on")
        return found

    def nearest_of(self, rows: Positions, most: int) -> Answer:
        """The nearest of some rows that are in sight: each is compared."""
        seen, values = search.sight(self.look, 5)
        asked = text("nearest_of", self.at, seen=seen, most=str(most))
        return self.db.run(asked, (*self.at, self._vector(), rows.tolist(), *values))

    def rows(self, rows: Sequence[int]) -> list[Row]:
        """What an index in memory would hold of some rows, of those that are in sight."""
        seen, values = search.sight(self.look, 4)
        asked = text("rows", self.at, seen=seen)
        return self.db.run(asked, (*self.at, list(rows), *values)).fetchall() if rows else []

    def fitting(self, few: int) -> Positions | None:
        """Rows among which are all that fit the filter, if it leaves but few."""
        where = self.look.where
        lists = [self._list("marked_with", marks, few + 1) for marks in wanted(where)]
        if where.since is not None or where.until is not None:
            span = _stamped(where.since, FIRST), _stamped(where.until, LAST)
            row = self.db.run(text("between", self.at), (*span, few + 1)).fetchone()
            lists.append(words.unpacked(row[0]) if row else NOTHING)
        short = [rows for rows in lists if len(rows) <= few]
        return min(short, key=len) if short else None

    def _list(self, name: str, *values: Any) -> Positions:
        row = self.db.one(name, *self.at, *values)
        return words.unpacked(row[0]) if row else NOTHING

    def in_sight(self) -> Positions:
        """All rows in sight, the whole scope looked through."""
        seen, values = search.sight(self.look, 3)
        found = self.db.run(
            "SELECT coalesce(substr(array_send(array_agg(row ORDER BY row)), 21), '') "
            f"FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND {seen}",
            (*self.at, *values),
        ).fetchone()
        return words.unpacked(found[0]) if found else NOTHING

    def _vector(self) -> str | None:
        vector = self.look.vector
        return None if vector is None else _written(packed(vector[None]), len(vector))[0]


def _stamped(moment: datetime | None, otherwise: int) -> int:
    return otherwise if moment is None else stamp(moment)
