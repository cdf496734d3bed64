"""The SQLite engine: one file, one writer at a time with group commit, readers beside it.

A writer queues its work. If nobody leads, it does all the work that is queued in one transaction
with one fsync, and leaves the lead to the first who came meanwhile. Those whose work that was are
woken one by the other. Who leads after a group waits a moment until as many are queued again. So a
lone writer waits for nobody, and many share the disk's slowest step. A transaction in which some
work fails is rolled back, and each work in it is then done alone, so that one failure is one's own.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, TypeVar

from holdfast import check
from holdfast.engine import Key, Place, Snapshot, Space, Transaction, Vectors, Waiting
from holdfast.engine.cache.index import Indexes
from holdfast.engine.columns import stamp
from holdfast.engine.sqlite import upkeep
from holdfast.engine.sqlite.connections import BUSY_SECONDS, FORK_SECONDS, Connections
from holdfast.engine.sqlite.house import SQLiteHouse
from holdfast.engine.sqlite.ledger import SQLiteLedger
from holdfast.engine.sqlite.rows import SQL, Rows
from holdfast.engine.uses import Counted
from holdfast.errors import (
    Closed,
    HoldfastError,
    StoreBroken,
    StoreFull,
    StoreReadOnly,
    Unavailable,
)
from holdfast.model import Finding

T = TypeVar("T")
GROUP = 256  # works in one transaction, at most
GATHER_SECONDS = 0.0005  # how long those who write at once are waited for

_open: weakref.WeakSet[SQLite] = weakref.WeakSet()


class _Work(Generic[T]):
    """One queued function of a transaction, and what became of it."""

    def __init__(self, run: Callable[[Transaction], T]) -> None:
        self.run = run
        self.leads = False
        self.done = False
        self.gone = False  # whether its caller was interrupted
        self.next: _Work[Any] | None = None  # of the same group, woken by this one's caller
        self.wake = threading.Lock()
        self.wake.acquire()
        self.result: T | None = None
        self.error: BaseException | None = None

    def answer(self) -> T:
        if self.error is not None:
            raise self.error
        return self.result  # type: ignore[return-value]  # set whenever done without error


class SQLite:
    """A store in one file."""

    def __init__(self, path: str) -> None:
        self.path = Path(check.path(path)).absolute()
        self._connections = Connections(self.path)
        self._reset()
        _open.add(self)

    def _reset(self) -> None:
        self._indexes = Indexes()
        self._queue: list[_Work[Any]] = []
        self._queue_lock = threading.Lock()
        self._company = 1  # works in the last group
        self._gathered = threading.Condition(self._queue_lock)  # as many are queued again
        self._seat = threading.Lock()
        self._seated = False  # whether a fork under way has it
        self._led = False
        self._uses = Counted()

    def before_fork(self) -> None:
        """Lets writes and reads under way end, and closes every connection."""
        self._seated = self._seat.acquire(timeout=FORK_SECONDS)
        self._connections.pause()

    def after_fork_in_parent(self) -> None:
        """Goes on."""
        self._connections.resume()
        if self._seated:  # else it is the seat of a writer that was not done in time
            self._seated = False
            self._seat.release()

    def after_fork_in_child(self) -> None:
        """Starts anew."""
        self._connections.abandon()
        self._reset()

    # --- reading and writing ---

    def read(self, work: Callable[[Snapshot], T], alone: bool = False) -> T:
        """Runs a function on a consistent view that has everything acknowledged so far.

        `alone`: it asks for one thing only, which is a view by itself, and takes fewer steps.
        """
        uses = self._uses.seen()
        with self._connections.reader(alone) as db:
            return work(Rows(db, self._indexes, uses))

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Runs a function that writes; returns once it is on disk."""
        mine = _Work(work)
        try:
            with self._queue_lock:
                self._queue.append(mine)
                if len(self._queue) == self._company:
                    self._gathered.notify()
                leads = mine.leads = not self._led
                self._led = True
            if not leads:  # asked now, `mine.leads` may tell of a lead whose wake is still to come
                mine.wake.acquire()
            if not mine.done:  # then it is the first in the queue
                self._lead()
        except BaseException:
            self._leave(mine)
            raise
        finally:
            if mine.next is not None:
                mine.next.wake.release()
        return mine.answer()

    def _lead(self) -> None:
        """Does the next group; the first of those who wait behind it leads after us."""
        group: list[_Work[Any]] = []
        try:
            with self._seat:
                group = self._take()
                self._commit(group)
        finally:
            self._hand_over(group)

    def _hand_over(self, done: list[_Work[Any]]) -> None:
        with self._queue_lock:
            self._led = bool(self._queue)
            waiting = self._queue[:1]
            for work in waiting:
                work.leads = True
            # All woken at once would only wait once more, for the interpreter. The first of them is
            # the leader, who is awake.
            for work, after in pairwise([work for work in done if not work.gone]):
                work.next = after
        for work in waiting:
            work.wake.release()

    def _leave(self, mine: _Work[Any]) -> None:
        """Takes back what an interrupted caller had queued, if nobody has begun to do it."""
        with self._queue_lock:
            mine.gone = True
            if mine not in self._queue:
                return
            self._queue.remove(mine)
        if mine.leads:
            self._hand_over([])

    def _take(self) -> list[_Work[Any]]:
        """The next group; whoever wrote in the last one is given a moment to write again."""
        with self._queue_lock:
            self._gathered.wait_for(lambda: len(self._queue) >= self._company, GATHER_SECONDS)
            group, self._queue = self._queue[:GROUP], self._queue[GROUP:]
            self._company = len(group)
        return group

    def _commit(self, group: list[_Work[Any]]) -> None:
        """Does a group of works in one transaction, or, if any fails, each in its own."""
        try:
            results = self._transact([work.run for work in group])
        except (Unavailable, StoreFull, StoreReadOnly, StoreBroken, Closed) as error:
            # The store failed, not a work: each would only fail, and wait, again.
            for work in group:
                work.error = type(error)(error.message, error.advice)
        except BaseException as error:
            if len(group) == 1:
                group[0].error = error
            else:
                for work in group:
                    self._commit([work])
        else:
            for work, result in zip(group, results, strict=True):
                work.result = result
        for work in group:
            work.done = True

    def _transact(
        self, works: Sequence[Callable[[Transaction], T]], patience: float = BUSY_SECONDS
    ) -> list[T]:
        """Runs functions in one durable transaction, the counted uses riding along."""
        uses = self._uses.take()
        try:
            with self._connections.writer(patience) as db:
                rows = Rows(db, self._indexes)
                for scope, counted in uses.items():
                    rows.count_uses(scope, counted)
                results = [work(rows) for work in works]
        except BaseException:
            self._uses.put_back(uses)
            raise
        self._uses.settle(uses)
        return results

    def use(self, keys: Sequence[Key], now: datetime) -> None:
        """Counts uses, soon: they ride along with the next write, or are flushed on close."""
        if self._uses.count(keys, now):
            self._flush()

    def _flush(self, patience: float = 0) -> None:
        """Writes the counted uses, if that can be done at once: they are not worth a failure."""
        if self._uses.scopes() and self._seat.acquire(blocking=False):
            try:
                self._transact([], patience)
            except HoldfastError:
                pass
            finally:
                self._seat.release()

    # --- the embedder the vectors are of ---

    def space(self) -> Space | None:
        """The embedder the store belongs to; None before the first."""
        with self._connections.reader() as db:
            row = db.execute(SQL["current_space"]).fetchone()
        return None if row is None else Space(*row[1:])

    def claim(self, space: Space) -> Space:
        """The embedder the store belongs to, which is this one if it had none."""
        return self.space() or self._rows(lambda rows: upkeep.claim(rows, space))

    def _rows(self, work: Callable[[Rows], T]) -> T:
        """A write that needs more than the port's transaction offers."""
        return self.write(work)  # type: ignore[arg-type]  # _transact passes Rows

    def waiting(self, limit: int, place: Place | None = None) -> list[Waiting]:
        """Rows without vectors, of one place or of the whole store."""
        with self._connections.reader() as db:
            if place is None:
                found = db.execute(SQL["all_waiting"], (limit,)).fetchall()
                return [Waiting(scope, row, content) for row, scope, content in found]
            scope = Rows(db, self._indexes).scope(place)
            found = db.execute(SQL["waiting"], (scope, limit)).fetchall()
            return [Waiting(scope, row, content) for row, content in found]

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

    def check(self, repair: bool) -> list[Finding]:
        """Compares every index with the rows; rebuilds the wrong ones if asked."""
        if repair:
            return self._rows(lambda tx: upkeep.check(tx, repair=True))
        with self._connections.reader() as db:
            return upkeep.check(Rows(db, self._indexes), repair=False)

    def sweep(self, now: datetime, most: int) -> int:
        """Removes some of the expired in a short write; gives how many, 0 once there are none."""
        found = self.read(lambda seen: seen.next_expiry())
        if found is None or found > now:
            return 0
        return sum(self._rows(lambda tx: upkeep.sweep(tx, stamp(now), most)))

    def purge(self, now: datetime, keep_answers_from: datetime) -> tuple[int, int]:
        """Removes the expired and every trace of the forgotten; gives memories and state keys."""
        swept = self._rows(lambda tx: upkeep.purge(tx, stamp(now), stamp(keep_answers_from)))
        with self._seat:
            self._connections.compact()
        return swept

    def backup(self, path: str) -> int:
        """Copies the store to a new file; gives its bytes."""
        self._flush()
        with self._connections.reader() as db:
            return upkeep.backup(db, path)

    def ledger(self) -> SQLiteLedger:
        """The books of a server on this store."""
        return SQLiteLedger(self)

    def listen(self, wake: Callable[[], None]) -> None:
        """A file tells nobody: who waits for jobs must look."""

    def house(self) -> SQLiteHouse:
        """The store laid open, to be moved."""
        return SQLiteHouse(self)

    def size(self) -> int:
        """Bytes on disk."""
        files = (self.path, Path(f"{self.path}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Flushes what is buffered and lets go of the store."""
        if self._connections.closed:
            return
        try:
            self._flush(patience=1)
        finally:
            self._connections.close()
            self._indexes.clear()


def _all(step: Callable[[SQLite], None]) -> Callable[[], None]:
    def run() -> None:
        for engine in list(_open):
            step(engine)

    return run


os.register_at_fork(
    before=_all(SQLite.before_fork),
    after_in_parent=_all(SQLite.after_fork_in_parent),
    after_in_child=_all(SQLite.after_fork_in_child),
)
