"""A SQLite store laid open to be moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from holdfast.engine import Place
from holdfast.engine.house import MEMORY, SCOPED, WHOLE, Line, Opened
from holdfast.engine.sqlite import words
from holdfast.engine.sqlite.rows import NO_SCOPE, SQL, Rows

if TYPE_CHECKING:
    from holdfast.engine.sqlite import SQLite

T = TypeVar("T")
IN_ORDER = {"tellings": "rowid", "jobs": "job", "audit": "seq"}
LOST = "answers WHERE scope NOT IN (SELECT scope FROM scopes)"
DROPS = ("drop_scope_jobs", "drop_scope_held", "drop_heard", "drop_policy", "unslot")


class SQLiteHouse:
    """A file that can be moved out of, and into."""

    def __init__(self, engine: SQLite) -> None:
        self._engine = engine

    def look(self, work: Callable[[Opened], T]) -> T:
        """Runs a function on a consistent view."""
        return self._engine.read(lambda seen: work(OpenedFile(cast(Rows, seen))))

    def settle(self, work: Callable[[Opened], T]) -> T:
        """Runs a function that writes; returns once it is on disk."""
        return self._engine.write(lambda tx: work(OpenedFile(cast(Rows, tx))))


class OpenedFile:
    """A file inside one transaction."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._db = rows.db

    def places(self) -> list[tuple[Place, int]]:
        """Every place, with how many rows of memories it has."""
        found = self._db.execute(SQL["every_scope"]).fetchall()
        return [(Place(tenant, name), count) for tenant, name, count in found]

    def memories(self, place: Place, after: int, limit: int) -> list[tuple[int, Line]]:
        """Every version of every memory, expired or not, in order; each with its row."""
        found = self._db.execute(
            f"SELECT row, {', '.join(MEMORY)} FROM memories WHERE scope = ? AND row > ? "
            "ORDER BY row LIMIT ?",
            (self._rows.scope(place), after, limit),
        )
        return [(row[0], tuple(row)[1:]) for row in found]

    def table(self, place: Place, name: str) -> list[Line]:
        """What hangs on a place."""
        columns = ", ".join(SCOPED[name])
        found = self._db.execute(
            f"SELECT {columns} FROM {name} WHERE scope = ? ORDER BY {IN_ORDER.get(name, columns)}",
            (self._rows.scope(place),),
        )
        return [tuple(row) for row in found]

    def whole(self, name: str) -> list[Line]:
        """What is of all tenants."""
        columns, table = ", ".join(WHOLE[name]), LOST if name == "lost" else name
        found = self._db.execute(
            f"SELECT {columns} FROM {table} ORDER BY {IN_ORDER.get(name, columns)}"
        )
        return [tuple(row) for row in found]

    def clear(self, place: Place) -> None:
        """Removes a place and all that hangs on it."""
        scope = self._rows.scope(place)
        if scope == NO_SCOPE:
            return
        for (id,) in self._db.execute(SQL["every_id"], (scope,)).fetchall():
            self._rows.drop(scope, id)
        for name in (*DROPS, "drop_states", "drop_answers", "drop_scope"):
            self._db.execute(SQL[name], (scope,))
        self._rows.forget_scope(place)

    def add_memories(self, place: Place, lines: Sequence[Line]) -> None:
        """Adds memories behind those there are."""
        scope = self._rows.make_scope(place)
        for line in lines:
            row = self._db.execute(SQL["add_memory"], (scope, *line)).lastrowid or 0
            words.added(self._db, row)

    def add_table(self, place: Place, name: str, lines: Sequence[Line]) -> None:
        """Adds what hangs on a place."""
        scope = self._rows.make_scope(place)
        columns = ("scope", *SCOPED[name])
        self._insert(name, columns, [(scope, *line) for line in lines])

    def replace_whole(self, name: str, lines: Sequence[Line]) -> None:
        """Writes what is of all tenants, in place of what was."""
        if name == "lost":
            self._db.execute(f"DELETE FROM {LOST}")
            told = [(NO_SCOPE, *line) for line in lines]
            self._insert("answers", ("scope", *WHOLE[name]), told)
            return
        self._db.execute(f"DELETE FROM {name}")
        self._insert(name, WHOLE[name], lines)

    def _insert(self, name: str, columns: Sequence[str], lines: Sequence[Line]) -> None:
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT OR REPLACE INTO {name} ({', '.join(columns)}) VALUES ({marks})"
        self._db.executemany(sql, lines)
