"""A PostgreSQL store laid open to be moved."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from holdfast.engine import Place
from holdfast.engine.house import MEMORY, SCOPED, WHOLE, Line, Opened
from holdfast.engine.postgres.connections import EVERY
from holdfast.engine.postgres.rows import LOST, MARKERS, NO_SCOPE, Rows, place_key
from holdfast.engine.postgres.search import facets

T = TypeVar("T")
IN_ORDER = {"tellings": "nth", "jobs": "job", "audit": "seq"}
NUMBERED = {"tellings": "nth", "jobs": "job"}
BY_PLACE = ("answers",)
TAGS, META = MEMORY.index("tags"), MEMORY.index("meta")


class PostgresHouse:
    """A database that can be moved out of, and into."""

    def __init__(
        self,
        read: Callable[[Callable[[Rows], Any]], Any],
        write: Callable[[Callable[[Rows], Any]], Any],
    ) -> None:
        self._read = read
        self._write = write

    def look(self, work: Callable[[Opened], T]) -> T:
        """Runs a function on a consistent view."""
        found: T = self._read(lambda rows: work(OpenedDatabase(rows)))
        return found

    def settle(self, work: Callable[[Opened], T]) -> T:
        """Runs a function that writes; returns once it is on disk."""
        done: T = self._write(lambda rows: work(OpenedDatabase(rows)))
        return done


class OpenedDatabase:
    """A database inside one transaction."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._db = rows.db

    def places(self) -> list[tuple[Place, int]]:
        """Every place, with how many rows of memories it has."""
        self._db.enter(EVERY)
        found = self._db.all("every_scope_counted")
        return [(Place(tenant, name), count) for tenant, name, count in found]

    def memories(self, place: Place, after: int, limit: int) -> list[tuple[int, Line]]:
        """Every version of every memory, expired or not, in order; each with its row."""
        found = self._db.run(
            f"SELECT row, {', '.join(MEMORY)} FROM holdfast.memories "
            "WHERE tenant = $1 AND scope = $2 AND row > $3 ORDER BY row LIMIT $4",
            (*self._rows.scope(place), after, limit),
        )
        return [(row[0], tuple(row)[1:]) for row in found]

    def table(self, place: Place, name: str) -> list[Line]:
        """What hangs on a place."""
        columns = ", ".join(SCOPED[name])
        at = self._rows.scope(place)
        key = (place.tenant, place_key(place)) if name in BY_PLACE else at
        found = self._db.run(
            f"SELECT {columns} FROM holdfast.{name} WHERE tenant = $1 "
            f"AND {'place' if name in BY_PLACE else 'scope'} = $2 "
            f"ORDER BY {IN_ORDER.get(name, columns)}",
            key,
        )
        return [tuple(row) for row in found]

    def whole(self, name: str) -> list[Line]:
        """What is of all tenants."""
        self._db.enter(EVERY)
        columns, given = ", ".join(WHOLE[name]), list[Any]()
        order = IN_ORDER.get(name, columns)
        sql = f"SELECT {columns} FROM holdfast.{name} ORDER BY {order}"
        if name == "days":
            sql = (
                "SELECT tenant, day, sum(writes)::bigint FROM holdfast.days "
                "GROUP BY tenant, day ORDER BY tenant, day"
            )
        if name == "lost":
            sql = (
                f"SELECT {columns} FROM holdfast.answers WHERE NOT place = ANY($1::bytea[]) "
                f"ORDER BY {order}"
            )
            given = [[MARKERS, *self._tenants()]]
        return [tuple(row) for row in self._db.run(sql, given)]

    def _tenants(self) -> dict[bytes, str]:
        """The tenant of each place there is, by the place's digest."""
        return {place_key(place): place.tenant for place, _ in self.places()}

    def clear(self, place: Place) -> None:
        """Removes a place and all that hangs on it."""
        at = self._rows.scope(place)
        for name in ("memories", "coming", "slots", *SCOPED):
            if name in BY_PLACE:
                key = (place.tenant, place_key(place))
                self._db.run(f"DELETE FROM holdfast.{name} WHERE tenant = $1 AND place = $2", key)
            else:
                self._db.run(f"DELETE FROM holdfast.{name} WHERE tenant = $1 AND scope = $2", at)
        if at.number != NO_SCOPE:
            self._db.do("unslot", *at)
            self._rows.drop_scope(at)
            self._rows.forget_scope(place)

    def add_memories(self, place: Place, lines: Sequence[Line]) -> None:
        """Adds memories behind those there are."""
        at = self._rows.make_scope(place)
        for line in lines:
            id, version, *rest = line
            marks = facets(json.loads(line[TAGS]), json.loads(line[META]))
            self._rows.add_line(at, id, version, marks, *rest)

    def add_table(self, place: Place, name: str, lines: Sequence[Line]) -> None:
        """Adds what hangs on a place."""
        at = self._rows.make_scope(place)
        if name in BY_PLACE:
            columns: tuple[str, ...] = ("tenant", "place", *SCOPED[name])
            told = [(place.tenant, place_key(place), *line) for line in lines]
        else:
            columns = ("tenant", "scope", *SCOPED[name])
            told = [(*at, *line) for line in lines]
        if name in NUMBERED:
            columns = (*columns, NUMBERED[name])
            told = [(*line, nth) for nth, line in enumerate(told, 1)]
        self._insert(name, columns, told)

    def replace_whole(self, name: str, lines: Sequence[Line]) -> None:
        """Writes what is of all tenants, in place of what was."""
        self._db.enter(EVERY)
        if name == "lost":
            known = [MARKERS, *self._tenants()]
            self._db.run("DELETE FROM holdfast.answers WHERE NOT place = ANY($1::bytea[])", [known])
            told = [(EVERY, LOST, *line) for line in lines]
            self._insert("answers", ("tenant", "place", *WHOLE[name]), told)
            return
        self._db.run(f"DELETE FROM holdfast.{name}")
        if name == "days":
            self._insert(name, (*WHOLE[name], "lane"), [(*line, 0) for line in lines])
        elif name == "retired":
            tenants = self._tenants()
            told = [(tenants.get(place, EVERY), place, version) for place, version in lines]
            self._insert(name, ("tenant", *WHOLE[name]), told)
        else:
            self._insert(name, WHOLE[name], lines)

    def _insert(self, name: str, columns: Sequence[str], lines: Sequence[Line]) -> None:
        marks = ", ".join(f"${n}" for n in range(1, len(columns) + 1))
        sql = f"INSERT INTO holdfast.{name} ({', '.join(columns)}) VALUES ({marks})"
        for line in lines:
            self._db.run(sql, line)
