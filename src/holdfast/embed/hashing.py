"""An embedder that knows no language: it hashes terms. Deterministic, instant, and honest."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.text import terms


class Hashing:
    """Each term adds 1 or -1 in one of the dimensions; texts with equal terms are near."""

    name = "hashing"
    version = "1"
    local = True
    quick = True

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""
        places: list[int] = []
        signs: list[float] = []
        for row, text in enumerate(texts):
            for code in map(_code, terms(text) or (text,)):
                places.append(row * self.dimension + (code >> 1) % self.dimension)
                signs.append(1.0 if code & 1 else -1.0)
        size = len(texts) * self.dimension
        summed = np.bincount(np.array(places, np.int64), np.array(signs), size)
        return _unit(summed.reshape(len(texts), self.dimension))


def _unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    squares = np.vecdot(vectors, vectors)
    if not squares.all():  # some terms cancel out
        vectors[squares == 0, 0] = squares[squares == 0] = 1
    unit: NDArray[np.float32] = (vectors / np.sqrt(squares)[:, None]).astype(np.float32)
    return unit


@lru_cache(maxsize=1 << 14)
def _code(term: str) -> int:
    return zlib.crc32(term.encode())
