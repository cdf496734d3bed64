"""An embedder whose vectors are as unique as the texts, and its evil twins."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from holdfast.text import terms

DIMENSION = 32
VERSIONS = ("1", "2")
FAILING = ("dead", "NaN", "wrong dimension", "hanging")  # never give a vector
MODES = (*FAILING, "slow")


@lru_cache(maxsize=1 << 14)
def _direction(version: str, term: str) -> NDArray[np.float32]:
    seed = hashlib.blake2b(f"{version} {term}".encode(), digest_size=8).digest()
    rng = np.random.default_rng(int.from_bytes(seed, "big"))
    found: NDArray[np.float32] = rng.standard_normal(DIMENSION).astype(np.float32)
    return found


class Dense:
    """The sum of a random direction per term: no two texts share the bytes of their vectors."""

    name = "dense"
    dimension = DIMENSION

    def __init__(self, version: str, mode: str = "") -> None:
        self.version = version
        self.mode = mode
        self.local = mode not in ("slow", "hanging")

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.mode == "dead":
            raise ConnectionRefusedError("nobody listens")
        if self.mode == "hanging":
            time.sleep(3600)
        if self.mode == "slow":
            time.sleep(0.05)
        vectors = np.array([self._one(text) for text in texts], np.float32)
        if self.mode == "NaN":
            vectors[-1, 0] = np.nan
        return vectors[:, 1:] if self.mode == "wrong dimension" else vectors

    def _one(self, text: str) -> NDArray[np.float32]:
        # A passage of stop words alone has no term: it is its own.
        found: NDArray[np.float32] = np.sum(
            [_direction(self.version, term) for term in terms(text) or [text]], 0
        )
        return found
