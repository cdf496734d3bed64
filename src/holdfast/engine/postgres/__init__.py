"""The PostgreSQL engine: one database, many processes and machines.

A write runs as one transaction. If others were in the way it is run again, and if the connection
broke, on another one. Where it broke during the commit, a marker that was written along tells
whether it was done: the lock of the scope is waited for first, so that no run is still under way.
"""

from __future__ import annotations

import os
import secrets
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar, cast

import psycopg

from holdfast.engine import Key, Place, Snapshot, Space, Transaction, Vectors, Waiting
from holdfast.engine.columns import stamp
from holdfast.engine.postgres import schema, upkeep
from holdfast.engine.postgres.bell import Bell
from holdfast.engine.postgres.builder import Builder
from holdfast.engine.postgres.connections import (
    IN_THE_WAY,
    POOL,
    Connections,
    errors,
    is_away,
)
from holdfast.engine.postgres.house import PostgresHouse
from holdfast.engine.postgres.ledger import PostgresLedger
from holdfast.engine.postgres.rows import Overtaken, Rows
from holdfast.engine.postgres.scopes import At, Shared
from holdfast.engine.uses import Counted, Uses
from holdfast.errors import Busy, HoldfastError, StoreReadOnly
from holdfast.model import Finding

T = TypeVar("T")
TRIES = 30  # of a transaction that others were in the way of
AWAY_SECONDS = 30.0  # how long to wait for a server that is away: a crash is recovered in less;
OPEN_SECONDS = 10.0  # and for one that was never there: whoever mistyped its name should be told

_open: weakref.WeakSet[Postgres] = weakref.WeakSet()


class Postgres:
    """A store in a database."""

    def __init__(self, url: str, pool: int = POOL) -> None:
        self._connections = Connections(url, pool)
        self._patiently(lambda: schema.prepare(self._connections), OPEN_SECONDS)
        self._reset()
        _open.add(self)

    def _reset(self) -> None:
        self._bell = Bell(self._connections)
        self._builder = Builder(self._rows, self._connections)
        self._shared = Shared(wish=self._builder.wish)
        self._uses = Counted()

    def after_fork_in_child(self) -> None:
        """Starts anew."""
        self._connections.abandon()
        self._reset()

    # --- reading and writing ---

    def read(self, work: Callable[[Snapshot], T], alone: bool = False) -> T:
        """Runs a function on a consistent view that has everything acknowledged so far."""
        uses = self._uses.seen()

        def run() -> T:
            with self._connections.session("begin_read") as db:
                return work(Rows(db, self._shared, uses))

        return self._patiently(run)

    def _view(self, work: Callable[[Rows], T]) -> T:
        """A read that may need more than the port's snapshot offers."""
        return self.read(work)  # type: ignore[arg-type]  # it passes Rows

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Runs a function that writes; returns once it is on disk."""
        return self._rows(work)

    def _rows(self, work: Callable[[Rows], T]) -> T:
        """A write that may need more than the port's transaction offers."""
        return cast(T, self._patiently(_Run(self._uses, self._connections, self._shared, work)))

    def _patiently(self, run: Callable[[], T], seconds: float | None = None) -> T:
        """Runs a transaction until it goes through, for as long as that can help."""
        give_up, tries, pause = time.monotonic() + (seconds or AWAY_SECONDS), 0, 0.002
        with errors(self._connections.where):
            while True:
                try:
                    return run()
                except (*IN_THE_WAY, Overtaken) as error:
                    tries += 1
                    if tries > TRIES and isinstance(error, Overtaken):
                        raise Busy("Others were in the way for too long.", "Try again.") from None
                    if tries > TRIES:
                        raise
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    if not is_away(error) or time.monotonic() > give_up:
                        raise
                    self._connections.drop_idle()
                time.sleep(pause * (0.5 + secrets.randbelow(100) / 100))
                pause = min(pause * 2, 0.5)

    def use(self, keys: Sequence[Key], now: datetime) -> None:
        """Counts uses, soon: they are written together, or flushed on close."""
        if self._uses.count(keys, now):
            self._flush()

    def _flush(self) -> None:
        """Writes the counted uses where nobody else writes now: they are not worth a wait."""
        for scope in self._uses.scopes():
            try:
                counts = self._rows(partial(_is_there, at=scope))
            except StoreReadOnly:
                counts = False  # a replica counts no uses
            except HoldfastError:
                continue
            if not counts:
                self._uses.settle(self._uses.take(scope))

    # --- the embedder the vectors are of ---

    def space(self) -> Space | None:
        """The embedder the store belongs to; None before the first."""
        row = self._view(lambda seen: seen.db.one("current_space"))
        return None if row is None else Space(*row[1:])

    def claim(self, space: Space) -> Space:
        """The embedder the store belongs to, which is this one if it had none."""
        return self.space() or self._rows(lambda rows: upkeep.claim(rows, space))

    def waiting(self, limit: int, place: Place | None = None) -> list[Waiting]:
        """Rows without vectors, of one place or of the whole store."""
        return self._view(lambda seen: upkeep.waiting(seen, limit, place))

    def fill(self, space: Space, rows: Sequence[Waiting], vectors: Sequence[Vectors]) -> None:
        """Gives waiting rows their vectors."""
        self._rows(lambda tx: upkeep.fill(tx, space, rows, vectors))

    def move(
        self, space: Space, embed: Callable[[Sequence[str]], Sequence[Vectors]], batch: int
    ) -> tuple[int, int]:
        """One step of a change of embedder: rows done and rows in all; equal once it is over."""
        rows = self._rows(lambda tx: upkeep.next_rows(tx, space, batch))
        vectors = embed([row.content for row in rows]) if rows else []
        return self._rows(lambda tx: upkeep.advance(tx, space, rows, vectors))

    # --- upkeep ---

    def index_large(self, place: Place) -> bool:
        """Makes the index of a large scope now, which a search would let be made soon."""
        space = self.space()
        at = self._view(lambda seen: seen.scope(place))
        return space is not None and self._builder.build(at, space.dimension)

    def check(self, repair: bool) -> list[Finding]:
        """Compares every index with the rows; rebuilds the wrong ones if asked."""
        return (self._rows if repair else self._view)(lambda tx: upkeep.check(tx, repair))

    def sweep(self, now: datetime, most: int) -> int:
        """Removes some of the expired in a short write; gives how many, 0 once there are none."""
        return upkeep.sweep_some(self._rows, stamp(now), most)

    def purge(self, now: datetime, keep_answers_from: datetime) -> tuple[int, int]:
        """Removes the expired and every trace of the forgotten; gives memories and state keys."""
        swept = upkeep.sweep(self._rows, stamp(now), stamp(keep_answers_from))
        self._patiently(self._compact)
        return swept

    def _compact(self) -> None:
        with self._connections.alone() as db:
            upkeep.compact(db)

    def backup(self, path: str) -> int:
        """Copies the store to a new SQLite file, which is a store itself; gives its bytes."""
        self._flush()
        return upkeep.backup(self, path)

    def ledger(self) -> PostgresLedger:
        """The books of a server on this store."""
        return PostgresLedger(self._view, self._rows)

    def listen(self, wake: Callable[[], None]) -> None:
        """Calls a function when any process has accepted a job."""
        self._bell.listen(wake)

    def house(self) -> PostgresHouse:
        """The store laid open, to be moved."""
        return PostgresHouse(self._view, self._rows)

    def size(self) -> int:
        """Bytes on disk."""
        row = self._view(lambda seen: seen.db.one("size"))
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Flushes what is buffered and lets go of the store."""
        if self._connections.closed:
            return
        try:
            self._bell.stop()
            self._builder.stop()
            self._flush()
        finally:
            self._connections.close()
            self._shared.indexes.clear()


class _Run:
    """A write, run until it is known to be done: each run knows how the one before ended."""

    def __init__(
        self,
        uses: Counted,
        connections: Connections,
        shared: Shared,
        work: Callable[[Rows], Any],
    ) -> None:
        self._uses = uses
        self._connections = connections
        self._shared = shared
        self._work = work
        self._marker = secrets.token_bytes(16)
        self._doubt: bytes | None = None
        self._result: Any = None

    def __call__(self) -> Any:
        committing = False
        rows: Rows | None = None
        taken: list[Uses] = []

        def pending(at: At) -> Uses:
            taken.append(self._uses.take(at))
            return taken[-1]

        try:
            with self._connections.session("begin_write") as db:
                rows = Rows(db, self._shared, pending=pending, doubt=self._doubt)
                result = self._work(rows)
                rows.finish(self._marker, stamp(datetime.now(timezone.utc)))
                committing, self._result = True, result
        except BaseException as error:
            unknown = committing and is_away(error)
            if unknown:
                self._doubt = self._marker
            for uses in taken:  # those that may be written are not written twice
                (self._uses.settle if unknown else self._uses.put_back)(uses)
            if rows is not None and rows.was_done:
                return self._result
            raise
        for uses in taken:
            self._uses.settle(uses)
        return result


def _is_there(tx: Rows, at: Any) -> bool:
    """Locks a scope if it is free, and so writes its uses; False if there is no such scope."""
    return tx.lock(at, wait=False) or tx.db.one("is_scope", *at) is not None


def _start_anew() -> None:
    for engine in list(_open):
        engine.after_fork_in_child()


os.register_at_fork(after_in_child=_start_anew)
