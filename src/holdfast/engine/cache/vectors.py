"""Vectors in memory, and how near each row's are to a query.

A small table is compared whole. Of a large one the signs are compared first, a bit for each
dimension, and then those that agree most, in numbers of a byte. What is chosen so is compared
exactly. That is a hundred times less to read, and of the nearest ten it misses less than one in
fifty (benchmarks/vectors.py).

Products are taken row by row (`vecdot`): for a whole matrix BLAS wakes its threads, and then
waits for a core.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

WHOLE = 16_384  # vectors; up to so many are kept as 32-bit floats and compared whole
LEAST_COMPARED = 4096  # vectors of a large table that are compared by bytes, at least
SHARE_COMPARED = 32  # or one of so many
BLOCK = 64  # axes that are turned together
CHUNK = 4096  # vectors made shorter at a time: they stay in the processor's cache

Floats = NDArray[np.float32]
Positions = NDArray[np.int64]


class VectorTable:
    """The vectors of the rows of a scope; a row has one for each passage, or none yet."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.count = 0
        self.vectors: NDArray[np.floating] = np.empty((0, dimension), np.float32)
        self.owner: Positions = np.empty(0, np.int64)
        self.start: Positions = np.empty(0, np.int64)  # of each row's vectors; they stand together
        self.size: Positions = np.empty(0, np.int64)
        self.signs: NDArray[np.uint64] | None = None  # of a large table; a row for each 64 bits
        self.bytes: NDArray[np.int8] = np.empty((0, dimension), np.int8)
        self.step: Floats = np.empty(0, np.float32)  # what 1 stands for in a vector's bytes
        self.centre: Floats = np.zeros(dimension, np.float32)

    def add(self, first: int, packed: Sequence[bytes | None]) -> None:
        """Adds the packed vectors of the rows from one on; a row may have none."""
        one = 2 * self.dimension
        # Bytes that are no vectors are the doctor's case.
        whole = [each if each and len(each) % one == 0 else b"" for each in packed]
        rows = np.arange(first, first + len(packed))
        flat = np.frombuffer(b"".join(whole), "<f2").reshape(-1, self.dimension)
        self.start = _grown(self.start, first + len(packed), -1)
        self.size = _grown(self.size, first + len(packed), 0)
        begin, end = self.count, self.count + len(flat)
        self._widen(end)
        self.vectors[begin:end] = flat
        size = [len(each) // one for each in whole]
        self.owner[begin:end] = np.repeat(rows, size)
        self.count = end
        self.size[rows] = size
        self.start[rows] = begin + np.cumsum(size) - size
        if self.signs is not None:
            self._shorten(begin, end)

    def _widen(self, end: int) -> None:
        if end > WHOLE and self.signs is None:
            self.vectors = self.vectors[: self.count].astype(np.float16)
            self.signs = np.empty((-(-self.dimension // BLOCK), 0), np.uint64)
        self.vectors = _grown(self.vectors, end, 0)
        self.owner = _grown(self.owner, end, -1)

    def _shorten(self, begin: int, end: int) -> None:
        """Makes signs and bytes of some vectors."""
        assert self.signs is not None
        if begin == 0 or not self.centre.any():
            # Signs around the centre split the vectors in halves; around zero they would not.
            self.centre = self.vectors[: min(end, WHOLE)].mean(axis=0, dtype=np.float32)
            begin = 0
        if end > self.signs.shape[1]:
            wider = np.empty((len(self.signs), len(self.owner)), np.uint64)
            wider[:, :begin] = self.signs[:, :begin]
            self.signs = wider
            self.bytes = _grown(self.bytes, len(self.owner), 0)
            self.step = _grown(self.step, len(self.owner), 0)
        for at in range(begin, end, CHUNK):
            some = slice(at, min(end, at + CHUNK))
            vectors = self.vectors[some].astype(np.float32)
            self.signs[:, some] = _bits(vectors - self.centre).T
            self.step[some] = np.abs(vectors).max(axis=1).clip(1e-9) / 127
            self.bytes[some] = np.rint(vectors / self.step[some, None])

    def has(self, row: int) -> bool:
        """Whether a row has vectors."""
        return bool(self.size[row])

    def drop(self, row: int) -> None:
        """Takes out the vectors of a row: their bytes are overwritten."""
        start, size = self.start[row], self.size[row]
        if size:
            self.vectors[start : start + size] = 0
            self.owner[start : start + size] = -1
            if self.signs is not None:
                self.signs[:, start : start + size] = 0
                self.bytes[start : start + size] = 0
        self.start[row], self.size[row] = -1, 0

    def near(self, query: Floats) -> Near:
        """A view of how near the rows are to a query."""
        return Near(self, query)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        signs = 0 if self.signs is None else self.signs.nbytes
        return self.vectors.nbytes + signs + self.bytes.nbytes + self.owner.nbytes * 3


class Near:
    """How near rows are to a query, by the best of their vectors.

    Holds on to the arrays as they were: a table only ever adds behind their end, or moves on to
    larger ones, so that a search needs no lock.
    """

    def __init__(self, table: VectorTable, query: Floats) -> None:
        self._query = query
        self._vectors = table.vectors[: table.count]
        self._owner = table.owner[: table.count]
        self._start, self._size = table.start, table.size
        self._signs = None if table.signs is None else table.signs[:, : table.count]
        self._bytes, self._step = table.bytes, table.step
        self._centre = table.centre
        self._whole = None if self._signs is not None else self._exact(self._vectors)

    def best(self, allowed: NDArray[np.bool_], most: int) -> Positions:
        """The nearest of the rows that are allowed: at least `most`, if there are so many."""
        able = np.flatnonzero((self._owner >= 0) & allowed[self._owner])
        compared = max(LEAST_COMPARED, len(self._owner) // SHARE_COMPARED)
        several = most * int(self._size.max(initial=1))
        if self._signs is not None:
            able = _fewest(able, self._differing, compared)
        able = _most(able, self._about, several)
        owner = self._owner[able]
        return np.unique(owner[owner >= 0])  # one may have been dropped meanwhile

    def _differing(self, able: Positions) -> NDArray[np.uint16]:
        """In how many signs vectors differ from the query."""
        assert self._signs is not None
        mine = _bits((self._query - self._centre)[None])[0]
        every = len(able) == len(self._owner)
        differ = np.zeros(len(able), np.uint16)
        for plane, bits in zip(self._signs, mine, strict=True):
            differ += np.bitwise_count((plane if every else plane[able]) ^ bits)
        return differ

    def _about(self, vectors: Positions) -> Floats:
        """How near vectors are, by their bytes: to within a thousandth."""
        if self._whole is not None:
            return self._whole[vectors]
        near: Floats = np.vecdot(self._bytes[vectors].astype(np.float32), self._query)
        return near * self._step[vectors]

    def _of(self, vectors: Positions) -> Floats:
        return self._exact(self._vectors[vectors]) if self._whole is None else self._whole[vectors]

    def _exact(self, vectors: NDArray[np.floating]) -> Floats:
        cosine: Floats = np.vecdot(vectors.astype(np.float32, copy=False), self._query)
        return cosine

    def cosines(self, rows: Positions, exact: bool = True) -> Floats:
        """How near each of these rows is, or about so; NaN without a vector."""
        start, size = self._start[rows], self._size[rows]
        near = np.full(len(rows), np.nan, np.float32)
        have = (size > 0) & (start + size <= len(self._owner))  # those added since are too new
        if have.any():
            sizes, ends = size[have], np.cumsum(size[have])
            steps = np.arange(ends[-1]) - np.repeat(ends - sizes, sizes)
            cosine = (self._of if exact else self._about)(np.repeat(start[have], sizes) + steps)
            near[have] = np.maximum.reduceat(cosine, ends - sizes)
        return near


def _fewest(
    able: Positions, counted: Callable[[Positions], NDArray[np.uint16]], most: int
) -> Positions:
    """Those of the vectors that count least, and all that count as much as the last of them."""
    if len(able) <= most:
        return able
    counts = counted(able)
    up_to = np.searchsorted(np.cumsum(np.bincount(counts)), most)
    return able[counts <= up_to]


def _most(able: Positions, measured: Callable[[Positions], Floats], most: int) -> Positions:
    """Those of the vectors that measure most."""
    if len(able) <= most:
        return able
    return able[np.argpartition(measured(able), -most)[-most:]]


def _bits(vectors: Floats) -> NDArray[np.uint64]:
    """The signs of vectors, 64 to a number, after turning them.

    Some embedders keep most of a vector's length on few axes: turned, every sign tells as much.
    """
    count, dimension = vectors.shape
    blocks = -(-dimension // BLOCK)
    padded = np.pad(vectors, ((0, 0), (0, blocks * BLOCK - dimension)))
    # Axes far apart meet in a block, since those side by side may be of one length.
    apart = padded.reshape(count, BLOCK, blocks).transpose(0, 2, 1).reshape(-1, BLOCK)
    turned = (apart @ _rotation()).reshape(count, -1)
    return np.packbits(turned > 0, axis=1).view(np.uint64)


@lru_cache(maxsize=1)
def _rotation() -> Floats:
    """A rotation, always the same."""
    square = np.random.default_rng(0).standard_normal((BLOCK, BLOCK))
    turned: Floats = np.linalg.qr(square)[0].astype(np.float32)
    return turned


def _grown(held: NDArray, needed: int, filling: float) -> NDArray:  # type: ignore[type-arg]
    """An array with room for so many rows, and some more."""
    if needed <= len(held):
        return held
    shape = (max(needed, len(held) * 3 // 2), *held.shape[1:])
    # Zeros cost nothing until they are written over.
    wider = np.full(shape, filling, held.dtype) if filling else np.zeros(shape, held.dtype)
    wider[: len(held)] = held
    return wider
