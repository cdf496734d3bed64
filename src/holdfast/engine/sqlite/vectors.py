"""The vectors of a scope in memory, following the file.

Rows only ever grow in number, so new ones are found by asking for rows beyond the last one seen;
what came late or went away is found in the store's list of changes. That is how writes of other
threads and processes are seen, inside the very snapshot that asks.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from holdfast.engine.sqlite.statements import statements

SQL = statements()
CACHE_BYTES = 1 << 30  # beyond this the scopes not used for longest are let go


class ScopeVectors:
    """One scope's vectors: `rows[i]` is the row that `matrix[i]` belongs to, in order."""

    def __init__(self, space: int, scope: int, dimension: int) -> None:
        self.space = space
        self.scope = scope
        self.rows: NDArray[np.int64] = np.empty(0, np.int64)
        self.matrix: NDArray[np.float32] = np.empty((0, dimension), np.float32)
        self.seq: int | None = None
        self.lock = threading.Lock()

    def follow(self, db: sqlite3.Connection) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The rows and vectors as the snapshot of this connection has them."""
        with self.lock:
            self._changes(db)
            self._append(db)
            return self.rows, self.matrix

    def _changes(self, db: sqlite3.Connection) -> None:
        last = db.execute(SQL["last_change"]).fetchone()
        seq = last[0] if last else 0
        if self.seq is None or seq < self.seq:
            self.seq = seq if self.seq is None else self.seq
            return
        if seq == self.seq:
            return
        first = db.execute(SQL["first_change"]).fetchone()[0]
        if first is None or first > self.seq + 1:
            self._forget_all()
        else:
            changed = {row for _, row in db.execute(SQL["changes_after"], (self.scope, self.seq))}
            self._reload(db, changed)
        self.seq = seq

    def _forget_all(self) -> None:
        self.rows = self.rows[:0]
        self.matrix = self.matrix[:0]

    def _reload(self, db: sqlite3.Connection, changed: set[int]) -> None:
        last = int(self.rows[-1]) if len(self.rows) else 0
        stale = np.isin(self.rows, list(changed))
        if stale.any():
            self.rows, self.matrix = self.rows[~stale], self.matrix[~stale]
        for row in sorted(row for row in changed if row <= last):
            found = db.execute(SQL["vectors_of"], (self.space, self.scope, row)).fetchall()
            if found:
                at = int(np.searchsorted(self.rows, row))
                rows, vectors = self._unpack(found)
                self.rows = np.insert(self.rows, at, rows)
                self.matrix = np.insert(self.matrix, at, vectors, axis=0)

    def _append(self, db: sqlite3.Connection) -> None:
        last = int(self.rows[-1]) if len(self.rows) else 0
        found = db.execute(SQL["vectors_after"], (self.space, self.scope, last)).fetchall()
        if found:
            rows, vectors = self._unpack(found)
            self.rows = np.concatenate([self.rows, rows])
            self.matrix = np.concatenate([self.matrix, vectors])

    def _unpack(
        self, found: list[tuple[int, bytes]]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        rows = np.array([row for row, _ in found], np.int64)
        flat = np.frombuffer(b"".join(vector for _, vector in found), "<f2")
        return rows, flat.reshape(len(found), -1).astype(np.float32)


class VectorCache:
    """The scopes in memory; those not used for longest go first."""

    def __init__(self) -> None:
        self._scopes: OrderedDict[tuple[int, int], ScopeVectors] = OrderedDict()
        self._lock = threading.Lock()

    def scope(self, space: int, scope: int, dimension: int) -> ScopeVectors:
        """The vectors of a scope, empty if they were not in memory."""
        with self._lock:
            found = self._scopes.pop((space, scope), None) or ScopeVectors(space, scope, dimension)
            self._scopes[space, scope] = found
            while len(self._scopes) > 1 and self._bytes() > CACHE_BYTES:
                self._scopes.popitem(last=False)
            return found

    def _bytes(self) -> int:
        return sum(held.matrix.nbytes for held in self._scopes.values())

    def clear(self) -> None:
        """Lets go of everything."""
        with self._lock:
            self._scopes.clear()
