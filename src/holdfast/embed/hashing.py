"""An embedder that knows no language: it hashes terms. Deterministic, instant, and honest."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

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
            for term in terms(text) or [text]:
                code = zlib.crc32(term.encode())
                vector[(code >> 1) % self.dimension] += 1.0 if code & 1 else -1.0
            vector[0] += not vector.any()
        lengths: NDArray[np.float32] = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / lengths
