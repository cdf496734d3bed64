"""Vectors in memory: a table that knows which row each belongs to, and how near each is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


class VectorTable:
    """One vector per passage; `owner[i]` is the position of the row that vector i is of."""

    def __init__(self, dimension: int) -> None:
        self.count = 0
        self._matrix: Floats = np.empty((0, dimension), np.float32)
        self._owner: NDArray[np.int64] = np.empty(0, np.int64)
        self._several = False  # some row has more than one vector

    def add(self, owners: NDArray[np.int64], packed: Sequence[bytes]) -> None:
        """Adds packed vectors of these rows."""
        if not len(packed):
            return
        end = self.count + len(packed)
        if end > len(self._owner):
            room = max(end, self.count * 3 // 2, 64)
            self._matrix = _grown(self._matrix, self.count, room)
            self._owner = _grown(self._owner, self.count, room)
        flat = np.frombuffer(b"".join(packed), "<f2")
        self._matrix[self.count : end] = flat.reshape(len(packed), -1)
        self._owner[self.count : end] = owners
        self._several = self._several or len(np.unique(owners)) < len(owners)
        self.count = end

    def drop(self, owner: int) -> None:
        """Takes out the vectors of a row: their bytes are overwritten."""
        mine = self._owner[: self.count] == owner
        self._matrix[: self.count][mine] = 0
        self._owner[: self.count][mine] = -1

    def cosines(self, query: Floats, rows: int) -> Floats:
        """How near each of the rows is to the query, by its best vector; NaN without any."""
        near = np.full(rows + 1, np.nan, np.float32)
        owner = self._owner[: self.count]
        cosine = self._matrix[: self.count] @ query
        near[owner] = cosine
        if self._several:
            np.fmax.at(near, owner, cosine)
        return near[:rows]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._matrix.nbytes + self._owner.nbytes


def _grown(held: NDArray, used: int, room: int) -> NDArray:  # type: ignore[type-arg]
    wider = np.empty((room, *held.shape[1:]), held.dtype)
    wider[:used] = held[:used]
    return wider
