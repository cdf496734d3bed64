"""Vectors that are made once: an embedder whose answers are kept on disk."""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from holdfast.embed import Embedder, open_embedder

CACHE = Path.home() / ".cache" / "holdfast-bench"
LOOKED_UP = 500  # digests in one question to the cache
PROBE = "Use PostgreSQL, not MongoDB, for the main store"
EMBEDDED = 256  # texts embedded between two commits

Vectors = NDArray[np.float32]


class Cached:
    """The same vectors as the embedder inside, by the digest of their texts."""

    def __init__(self, inner: Embedder, folder: Path = CACHE) -> None:
        self.inner = inner
        self.name = inner.name
        self.version = inner.version
        self.dimension = inner.dimension
        self.local = True
        if hasattr(inner, "background"):
            self.background = inner.background
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{inner.name}-{inner.version}-{_says(inner)}.db".replace("/", "_")
        self._lock = threading.Lock()
        self._db = sqlite3.connect(file, timeout=60, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS vectors "
            "(digest BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )
        self.made = 0  # texts that were not in the cache

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        digests = [hashlib.blake2b(text.encode(), digest_size=16).digest() for text in texts]
        with self._lock:
            found = self._held(list(dict.fromkeys(digests)))
            todo = {d: t for d, t in zip(digests, texts, strict=True) if d not in found}
            found |= self._made(todo)
        return np.stack([found[digest] for digest in digests])

    def _held(self, digests: Sequence[bytes]) -> dict[bytes, Vectors]:
        found: dict[bytes, Vectors] = {}
        for start in range(0, len(digests), LOOKED_UP):
            some = digests[start : start + LOOKED_UP]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(f"SELECT * FROM vectors WHERE digest IN ({marks})", some)
            found |= {digest: np.frombuffer(vector, "<f4") for digest, vector in rows}
        return found

    def _made(self, todo: dict[bytes, str]) -> dict[bytes, Vectors]:
        made: dict[bytes, Vectors] = {}
        digests = list(todo)
        for start in range(0, len(digests), EMBEDDED):
            some = digests[start : start + EMBEDDED]
            vectors = self.inner.embed([todo[digest] for digest in some]).astype("<f4")
            made |= dict(zip(some, vectors, strict=True))
            with self._db:
                self._db.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    [(d, v.tobytes()) for d, v in zip(some, vectors, strict=True)],
                )
        self.made += len(digests)
        return made

    def close(self) -> None:
        """Lets go of the cache."""
        self._db.close()


def _says(embedder: Embedder) -> str:
    """Tells embedders of one name and version, and other weights, apart."""
    vector = embedder.embed([PROBE])[0]
    return hashlib.blake2b(np.round(vector, 3).astype("<f4").tobytes(), digest_size=4).hexdigest()


def cached(name: str, folder: Path = CACHE) -> Cached:
    """The embedder of a name, with its cache."""
    return Cached(open_embedder(name), folder)
