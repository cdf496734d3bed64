"""An embedder that knows no language: it hashes terms. Deterministic, instant, and honest."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from holdfast.text import terms


class Hashing:
    """Each term adds 1 or -1 in one of the dimensions; texts with equal terms are near."""

    name = "hashing"
    version = "1"
    local = True

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""
        found = [terms(text) or (text,) for text in texts]
        codes = np.array([code for some in found for code in map(_code, some)], np.int64)
        rows = np.repeat(np.arange(len(texts)), [len(some) for some in found])
        places = rows * self.dimension + (codes >> 1) % self.dimension
        summed = np.bincount(places, (codes & 1) * 2 - 1, len(texts) * self.dimension)
        vectors = summed.reshape(len(texts), self.dimension).astype(np.float32)
        vectors[~vectors.any(axis=1), 0] = 1
        vectors /= np.sqrt(np.vecdot(vectors, vectors))[:, None]
        return vectors


@lru_cache(maxsize=1 << 14)
def _code(term: str) -> int:
    return zlib.crc32(term.encode())
