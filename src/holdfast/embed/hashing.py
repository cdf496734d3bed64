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
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            added: dict[int, int] = {}
            for code in map(_code, terms(text) or [text]):
                at = (code >> 1) % self.dimension
                added[at] = added.get(at, 0) + (1 if code & 1 else -1)
            if not any(added.values()):
                added[0] = 1
            length = sum(value * value for value in added.values()) ** 0.5
            vector[list(added)] = [value / length for value in added.values()]
        return vectors


@lru_cache(maxsize=1 << 14)
def _code(term: str) -> int:
    return zlib.crc32(term.encode())
