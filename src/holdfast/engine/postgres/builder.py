"""Making the tables of large scopes: one after the other, in a thread, while they are written to.

First a table is there and every writer of the scope keeps it up. Then the rows that were there
before go in, a page at a time. Then the graph is made, which takes minutes and is in nobody's way.
From then on the scope is searched by it. Whoever dies in between leaves nothing that the next
cannot go on from.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import psycopg
from psycopg.errors import DiskFull, OutOfMemory

from holdfast.engine.postgres import near
from holdfast.engine.postgres.connections import Connections, errors
from holdfast.engine.postgres.rows import Rows
from holdfast.engine.postgres.scopes import At
from holdfast.errors import HoldfastError

Run = Callable[[Callable[[Rows], Any]], Any]

AGAIN_SECONDS = 60.0  # after a failure, or when another process is at it
LEAST_MEMORY, MOST_MEMORY = 64 << 20, 2 << 30  # bytes that any server may use to make a graph
LINKS_BYTES = 800  # of a vector in a graph that is being made, beside its numbers

log = logging.getLogger(__name__)


class Builder:
    """The tables that were wished for, and the thread that makes them."""

    def __init__(self, write: Run, connections: Connections) -> None:
        self._write, self._connections = write, connections
        self._lock = threading.Lock()
        self._wishes: dict[At, int] = {}
        self._tried: dict[At, float] = {}
        self._thread: threading.Thread | None = None
        self._stopped = threading.Event()
        self._busy: psycopg.Connection[Any] | None = None

    def wish(self, at: At, dimension: int) -> None:
        """Lets the table of a scope be made, soon."""
        with self._lock:
            tried = self._tried.get(at)
            if self._stopped.is_set() or (tried and time.monotonic() - tried < AGAIN_SECONDS):
                return
            self._tried[at] = time.monotonic()
            self._wishes[at] = dimension
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while not self._stopped.is_set():
            with self._lock:
                if not self._wishes:
                    self._thread = None
                    return
                at, dimension = self._wishes.popitem()
            try:
                self.build(at, dimension)
            except HoldfastError as error:
                log.warning("The index of a large scope could not be made: %s", error)
            with self._lock:
                self._tried[at] = time.monotonic()

    def build(self, at: At, dimension: int) -> bool:
        """Makes the table of a scope; False if that cannot be, or is being done elsewhere."""
        if not self._write(partial(_begin, at=at, dimension=dimension)):
            return False
        after: int | None = 0
        while after is not None and not self._stopped.is_set():
            after = self._write(partial(_fill, at=at, dimension=dimension, after=after))
        if self._stopped.is_set():
            return False
        with errors(self._connections.where), self._connections.alone() as db:
            self._busy = db
            made = _graph(db, at, 2 * dimension + LINKS_BYTES)
            self._busy = None
        return made and bool(self._write(partial(_end, at=at)))

    def stop(self) -> None:
        """Gives up what is under way."""
        self._stopped.set()
        thread, busy = self._thread, self._busy
        if busy is not None:
            busy.cancel_safe()
        if thread is not None:
            thread.join()


def _begin(tx: Rows, at: At, dimension: int) -> bool:
    """Makes the table, unless it is there; from then on every writer keeps it up.

    False if there is nothing to make, or no way to.
    """
    if not tx.lock(at) or tx.counters(at).near == near.READY:
        return False
    if not near.can_be(tx.db, dimension):
        log.warning("A large scope is searched in memory: pgvector is missing (docs/postgres.md).")
        return False
    if tx.counters(at).near == near.NONE:
        near.make(tx.db, at, dimension)
        tx.set_near(at, near.FILLING)
    return True


def _fill(tx: Rows, at: At, dimension: int, after: int) -> int | None:
    if not tx.lock(at) or tx.counters(at).near != near.FILLING:
        return None
    return near.fill(tx.db, at, dimension, after)


def _graph(db: psycopg.Connection[Any], at: At, each: int) -> bool:
    """Makes the graph, of so many bytes for a vector; False if another process is at it."""
    state = _state(db, at)
    if state == "broken off":
        db.execute(near.text("drop_graph", at).encode())
    if state in ("broken off", "not there"):
        with db.transaction():
            _count(db, at)
        _grow(db, at, each)
    return _state(db, at) == "made"


def _grow(db: psycopg.Connection[Any], at: At, each: int) -> None:
    """Makes the graph in memory: what does not fit takes ten times as long, vector by vector."""
    db.execute(
        "SELECT set_config('maintenance_work_mem', least(%s + reltuples::bigint * %s, "
        "greatest(%s, pg_size_bytes(current_setting('shared_buffers')))) / 1024 || 'kB', false) "
        "FROM pg_class WHERE oid = to_regclass(%s)",
        (LEAST_MEMORY, each, MOST_MEMORY, f"holdfast.near_{at.number}"),
    )
    try:
        db.execute(near.text("make_graph", at).encode())
    except (DiskFull, OutOfMemory):  # a container has little memory that its processes share
        db.execute(near.text("drop_graph", at).encode())
        db.execute("SET max_parallel_maintenance_workers = 0")
        db.execute(near.text("make_graph", at).encode())
    finally:
        with suppress(psycopg.Error):  # behind a pooler the connection is somebody's
            db.execute("RESET maintenance_work_mem")
            db.execute("RESET max_parallel_maintenance_workers")


def _count(db: psycopg.Connection[Any], at: At) -> None:
    """Lets the planner know how many rows there are: until then it may take any index."""
    db.execute("SELECT set_config('holdfast.tenant', %s, true)", (at.tenant,))
    found = db.execute(
        "SELECT tableoid::regclass::text FROM holdfast.memories "
        "WHERE tenant = %s AND scope = %s LIMIT 1",
        tuple(at),
    ).fetchone()
    for table in (f"holdfast.near_{at.number}", *(found or ())):
        db.execute(f"ANALYZE {table}".encode())


def _state(db: psycopg.Connection[Any], at: At) -> str:
    found = db.execute(
        "SELECT indisvalid, EXISTS (SELECT 1 FROM pg_stat_progress_create_index p "
        "WHERE p.index_relid = i.indexrelid) FROM pg_index i WHERE indexrelid = to_regclass(%s)",
        (f"holdfast.near_{at.number}_vector",),
    ).fetchone()
    if found is None:
        return "not there"
    if found[0]:
        return "made"
    return "being made" if found[1] else "broken off"


def _end(tx: Rows, at: At) -> bool:
    """Lets searches use the table, if it is still the one."""
    if not tx.lock(at) or tx.counters(at).near != near.FILLING:
        return False
    tx.set_near(at, near.READY)
    return True
