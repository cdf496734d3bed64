"""Vectors in memory, and how near each row's are to a query.

Vectors are compared in numbers of a byte, and those that come nearest so exactly. Of a large
table the signs are compared first, a bit for each dimension. How many bytes are then looked at
depends on what is found: the tenth nearest so far has an angle to the query, and of vectors with
that angle nearly all differ in no more signs than the angle's share and three standard
deviations. So where the nearest are no nearer than the rest, or a filter took them away, more are
compared, and what is missed does not depend on luck (benchmarks/vectors.py).
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import simsimd
from numpy.typing import NDArray

from holdfast.beside import beside

WHOLE = 32_768  # vectors; in a larger table signs are compared first
FIRST = 2048  # vectors alike in most signs, that tell how near the nearest are;
STRIDE = 16  # how alike that is, is seen in one of so many
EXACT = 256  # of what a search chose, so many are compared exactly in the end
SURE = 10  # of the nearest, that no bound may cut off,
DEVIATIONS = 3.0  # so wide is the margin for them
BLOCK = 64  # axes that are turned together;
FEW = 8  # of so many vectors: a larger product would take all cores, which others have work for
CHUNK = 512  # vectors made shorter at a time: they stay in the processor's cache
MANY = 4096  # so many are made shorter by another thread
FETCHED = 2  # to compare some takes as long as to compare so many times as many, all in a row
HALF_STEP = np.float32(2**-24)  # between the smallest numbers of half precision
SCAN = 8192  # vectors whose signs are compared at a time, for the cache's sake too

Floats = NDArray[np.float32]
Positions = NDArray[np.int64]


class Places(NamedTuple):
    """Where the vectors of some rows stand."""

    rows: int
    have: Positions  # which of the rows have vectors,
    starts: Positions  # and where theirs begin in what follows
    vectors: Positions


class Taken(NamedTuple):
    """The vectors of some rows, at hand: for those that are compared with every query."""

    places: Places
    bytes: NDArray[np.int8]
    steps: Floats


class VectorTable:
    """The vectors of the rows of a scope; a row has one for each passage, or none yet."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.count = 0
        self.dropped = 0
        self.most = 1  # vectors of one row
        self.vectors: NDArray[np.float16] = np.empty((0, dimension), np.float16)
        self.bytes: NDArray[np.int8] = np.empty((0, dimension), np.int8)
        self.step: Floats = np.empty(0, np.float32)  # what 1 stands for in a vector's bytes
        self.owner: Positions = np.empty(0, np.int64)
        self.even = True  # the n-th row has the n-th vector, and no other
        self.start: Positions = np.empty(0, np.int64)  # of each row's vectors; they stand together
        self.size: Positions = np.empty(0, np.int64)
        self.signs: NDArray[np.uint64] | None = None  # of a large table; a row for each 64 bits
        self.centre: Floats = np.zeros(dimension, np.float32)
        self._shortened = _at_once

    def add(self, first: int, sizes: Positions, packed: bytes) -> None:
        """Adds the packed vectors of the rows from one on, of so many bytes each; 0 for none.

        Many are made ready by another thread: `settle` waits for them.
        """
        self.settle()
        size, odd = np.divmod(sizes, 2 * self.dimension)
        if odd.any():  # bytes that are no vectors are the doctor's case
            packed, size = _without(packed, sizes, odd != 0), np.where(odd, 0, size)
        rows, ends = np.arange(first, first + len(size)), self.count + np.cumsum(size)
        begin, end = self.count, int(ends[-1])
        self._widen(first + len(size), end)
        self.start[rows], self.size[rows] = ends - size, size
        self.most = max(self.most, int(size.max()))
        self.even = self.even and begin == first and end - begin == len(size) and self.most == 1
        self.owner[begin:end] = np.repeat(rows, size)
        self.vectors[begin:end] = np.frombuffer(packed, "<f2").reshape(-1, self.dimension)
        self.count = end
        if end - begin < MANY:
            self._shorten(begin, end)
        else:
            self._shortened = beside(partial(self._shorten, begin, end))

    def settle(self) -> None:
        """Waits until all vectors can be searched."""
        wait, self._shortened = self._shortened, _at_once
        wait()

    def make_room(self, rows: int, more: int) -> None:
        """Makes room for so many rows, of which some are to be added, with one vector each."""
        self._widen(rows, self.count + more)

    def _widen(self, rows: int, vectors: int) -> None:
        """Makes room; a table that grows large gets signs."""
        self.start, self.size = _grown(self.start, rows, -1), _grown(self.size, rows, 0)
        self.vectors = _grown(self.vectors, vectors, 0)
        self.bytes = _grown(self.bytes, vectors, 0)
        self.step = _grown(self.step, vectors, 0)
        self.owner = _grown(self.owner, vectors, -1)
        if self.signs is not None and vectors > self.signs.shape[1]:
            wider = np.empty((len(self.signs), len(self.owner)), np.uint64)
            wider[:, : self.count] = self.signs[:, : self.count]
            self.signs = wider

    def _shorten(self, begin: int, end: int) -> None:
        """Makes bytes of new vectors, and in a large table signs."""
        signs = self.signs
        if signs is None and end > WHOLE:
            # Signs around the centre split the vectors in halves; around zero they would not.
            self.centre = self.vectors[:WHOLE].astype(np.float32).mean(axis=0)
            signs = np.empty((-(-self.dimension // BLOCK), len(self.owner)), np.uint64)
            begin = 0
        for at in range(begin, end, CHUNK):
            part = slice(at, min(at + CHUNK, end))
            vectors = self.vectors[part].astype(np.float32)
            step = np.maximum(vectors.max(axis=1), -vectors.min(axis=1)).clip(1e-9) / 127
            self.step[part] = step
            self.bytes[part] = np.rint(vectors * (1 / step)[:, None])
            if signs is not None:
                vectors -= self.centre
                signs[:, part] = _bits(vectors).T
        self.signs = signs

    def has(self, row: int) -> bool:
        """Whether a row has vectors."""
        return bool(self.size[row])

    def drop(self, row: int) -> None:
        """Takes out the vectors of a row: their bytes are overwritten."""
        start, size = self.start[row], self.size[row]
        if size:
            some = slice(start, start + size)
            self.dropped += int(size)
            self.even = False
            self.vectors[some], self.bytes[some], self.owner[some] = 0, 0, -1
            if self.signs is not None:
                self.signs[:, some] = 0
        self.start[row], self.size[row] = -1, 0

    def places(self, rows: Positions, limit: int) -> Places:
        """Where the vectors of rows stand; of those that came after the first `limit`, none."""
        if self.even:
            return Places(len(rows), rows, rows, rows)
        start, size = self.start.take(rows), self.size.take(rows)
        have = ((size > 0) & (start + size <= limit)).nonzero()[0]
        if self.most == 1:
            return Places(len(rows), have, np.arange(len(have)), start.take(have))
        sizes = size.take(have)
        starts = np.cumsum(sizes) - sizes
        vectors = np.repeat(start.take(have) - starts, sizes) + np.arange(sizes.sum())
        return Places(len(rows), have, starts, vectors)

    def taken(self, rows: Positions) -> Taken:
        """The vectors of rows, at hand."""
        self.settle()
        places = self.places(rows, self.count)
        return Taken(places, self.bytes.take(places.vectors, axis=0), self.step[places.vectors])

    def view(self) -> View:
        """The vectors as they are now."""
        self.settle()
        return View(self)

    def near(self, query: Floats) -> Near:
        """How near the rows are to a query."""
        return Near(self.view(), query)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        signs = 0 if self.signs is None else self.signs.nbytes
        return self.vectors.nbytes + self.bytes.nbytes + signs + self.owner.nbytes * 3


class View:
    """The vectors of a table as they were.

    A table only ever adds behind their end, or moves on to larger arrays, so that whoever holds
    on to these needs no lock.
    """

    def __init__(self, table: VectorTable) -> None:
        self.table = table
        self.vectors = table.vectors[: table.count]
        self.bytes, self.steps = table.bytes[: table.count], table.step[: table.count]
        self.owner = table.owner[: table.count]
        self.whole = not table.dropped
        self.several = table.most
        self.signs = None if table.signs is None else table.signs[:, : table.count]
        self.centre = table.centre


class Near:
    """How near rows are to a query, by the best of their vectors."""

    def __init__(self, view: View, query: Floats) -> None:
        self._view = view
        self._query = query
        self._step = float(np.abs(query).max()) / 127
        self._short = np.rint(query / self._step).astype(np.int8)[None]
        self._scanned: Floats | None = None  # how near all vectors are, once that was looked at

    def best(self, allowed: NDArray[np.bool_] | None, most: int) -> Positions:
        """The nearest of the rows that are allowed, best first: `most`, if there are so many.

        None stands for all rows.
        """
        able = self._able(allowed)
        if self._view.signs is not None and len(self._view.owner if able is None else able) > WHOLE:
            able, near = self._alike(able)
        else:
            near = self._about(able)
        best = _most(near, most * self._view.several)
        owner = self._view.owner[best if able is None else able[best]]
        if self._view.several > 1:  # a row may have several near
            owner = np.array(list(dict.fromkeys(owner.tolist())), np.int64)
        return owner[owner >= 0]  # one may have been dropped meanwhile

    def _able(self, allowed: NDArray[np.bool_] | None) -> Positions | None:
        """The vectors of rows that are allowed; None stands for all there are."""
        if allowed is None and self._view.whole:
            return None
        able = self._view.owner >= 0
        return (able if allowed is None else able & allowed[self._view.owner]).nonzero()[0]

    def _alike(self, able: Positions | None) -> tuple[Positions, Floats]:
        """All with enough signs in common with the query to be among the nearest; how near."""
        differ = self._differing(able)
        told = np.searchsorted(np.cumsum(np.bincount(differ[::STRIDE])), FIRST // STRIDE)
        alike = (differ <= told).nonzero()[0]
        alike = alike if able is None else able[alike]
        near = self._about(alike)
        bound = self._bound(alike[_highest(near, SURE)])
        if bound > told:
            more = ((differ > told) & (differ <= bound)).nonzero()[0]
            more = more if able is None else able[more]
            alike, near = np.concatenate([alike, more]), np.concatenate([near, self._about(more)])
        return alike, near

    def _bound(self, nearest: Positions) -> float:
        """In how many signs a vector as near as the last of these may differ from the query."""
        assert self._view.signs is not None
        query = self._query - self._view.centre
        others = self._view.vectors[nearest].astype(np.float32) - self._view.centre
        length = np.sqrt(np.vecdot(others, others) * float(query @ query))
        cosine = float((np.vecdot(others, query) / np.maximum(length, 1e-9)).min())
        share = math.acos(min(max(cosine, -1.0), 1.0)) / math.pi
        signs = len(self._view.signs) * BLOCK
        return share * signs + DEVIATIONS * math.sqrt(signs * share * (1 - share))

    def _differing(self, able: Positions | None) -> NDArray[np.uint16]:
        """In how many signs vectors differ from the query."""
        assert self._view.signs is not None
        mine = _bits((self._query - self._view.centre)[None]).T
        few = able is not None and len(able) < self._view.signs.shape[1] // FETCHED
        planes = self._view.signs[:, able] if few else self._view.signs
        differ = np.empty(planes.shape[1], np.uint16)
        for at in range(0, len(differ), SCAN):
            some = slice(at, at + SCAN)
            counts = np.bitwise_count(planes[:, some] ^ mine)
            np.add.reduce(counts, axis=0, dtype=np.uint16, out=differ[some])
        return differ if few or able is None else differ[able]

    def _about(self, vectors: Positions | None) -> Floats:
        """How near vectors are, by their bytes: to within a thousandth."""
        view = self._view
        if vectors is None:
            return self._scan()
        if self._scanned is not None or len(vectors) > len(view.owner) // FETCHED:
            return self._scan().take(vectors)
        return self._products(view.bytes.take(vectors, axis=0), view.steps.take(vectors))

    def _scan(self) -> Floats:
        if self._scanned is None:
            self._scanned = self._products(self._view.bytes, self._view.steps)
        return self._scanned

    def _products(self, held: NDArray[np.int8], steps: Floats) -> Floats:
        return _products(self._short, held) * (steps * self._step)

    def cosines(self, rows: Positions) -> Floats:
        """How near each of these rows is, NaN without a vector: the nearest exactly."""
        return self.of(self._view.table.places(rows, len(self._view.owner)), EXACT)

    def of(self, some: Places, exact: int = 0) -> Floats:
        """How near rows are whose vectors stand there; so many of the nearest exactly."""
        cosine = self._about(some.vectors)
        if exact:
            best = _highest(cosine, exact)
            cosine[best] = self._exact(some.vectors[best])
        return self._by_row(some, cosine)

    def of_taken(self, some: Taken) -> Floats:
        """How near rows are whose vectors are at hand."""
        if self._scanned is not None:
            return self.of(some.places)
        return self._by_row(some.places, self._products(some.bytes, some.steps))

    def _by_row(self, some: Places, cosine: Floats) -> Floats:
        best = cosine
        if len(cosine) > len(some.have) > 0:
            best = np.maximum.reduceat(cosine, some.starts)
        if len(best) == some.rows:
            return best
        near = np.full(some.rows, np.nan, np.float32)
        near[some.have] = best
        return near

    def _exact(self, vectors: Positions) -> Floats:
        # Half precision would round the query: what it leaves is a second one, brought to the
        # steps of so small numbers first, for to round them there takes ten times as long.
        halves = np.empty((2, len(self._query)), np.float16)
        halves[0] = self._query
        halves[1] = np.rint((self._query - halves[0]) / HALF_STEP) * HALF_STEP
        return _products(halves, self._view.vectors.take(vectors, axis=0))


def _products(parts: NDArray[np.generic], vectors: NDArray[np.generic]) -> Floats:
    """The product of a query with each vector; the query is the sum of its parts."""
    if not len(vectors):
        return np.empty(0, np.float32)
    each = np.asarray(simsimd.cdist(parts, vectors, "dot", out_dtype="float32"))
    found: Floats = each[0] if len(each) == 1 else each.sum(axis=0)
    return found


def _most(near: Floats, most: int) -> Positions:
    """The positions of the highest, highest first."""
    best = _highest(near, most)
    return best[np.argsort(-near[best], kind="stable")]


def _highest(near: Floats, most: int) -> Positions:
    """The positions of the highest, in any order."""
    if len(near) <= most:
        return np.arange(len(near))
    lanes = len(near) // (2 * most)
    if lanes < 2:
        return np.argpartition(near, -most)[-most:]
    # The highest of each of some groups are as many as are wanted: none below them is among the
    # highest of all. That leaves few to be parted, which takes long for many.
    tops = near[: len(near) // lanes * lanes].reshape(lanes, -1).max(axis=0)
    some: Positions = (near >= np.partition(tops, -most)[-most]).nonzero()[0]
    return some.take(np.argpartition(near.take(some), -most)[-most:])


def _without(packed: bytes, sizes: Positions, odd: NDArray[np.bool_]) -> bytes:
    """Packed vectors, but for those of odd rows."""
    ends = np.cumsum(sizes).tolist()
    each = zip(ends, sizes.tolist(), odd.tolist(), strict=True)
    return b"".join(packed[end - size : end] for end, size, leave in each if not leave)


def _at_once() -> None:
    """Waits for nothing."""


def _bits(vectors: Floats) -> NDArray[np.uint64]:
    """The signs of vectors, 64 to a number, after turning them.

    Some embedders keep most of a vector's length on few axes: turned, every sign tells as much.
    """
    count, dimension = vectors.shape
    blocks = -(-dimension // BLOCK)
    padded = np.zeros((-(-count // FEW) * FEW, blocks * BLOCK), np.float32)
    padded[:count, :dimension] = vectors
    # Axes far apart meet in a block, since those side by side may be of one length.
    apart = padded.reshape(-1, BLOCK, blocks).transpose(0, 2, 1)
    turned = apart.reshape(-1, FEW * blocks, BLOCK) @ _rotation()
    return np.packbits(turned.reshape(len(padded), -1)[:count] > 0, axis=1).view(np.uint64)


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
