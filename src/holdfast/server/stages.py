"""The engine and the embedder of a server, watched: how long each stage took, what goes along.

What is to be written along with a verb (its line of the audit log, its count) is left in
`along` by whoever does the verb, and is then part of the same transaction.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.embed import Embedder
from holdfast.engine import Engine, Snapshot, Transaction

T = TypeVar("T")
Observe = Callable[[str, float], None]
Along = Callable[[Transaction, Any], None]

_along: ContextVar[Along | None] = ContextVar("along", default=None)


@contextmanager
def along(work: Along) -> Iterator[None]:
    """Whatever is written inside is written together with this work."""
    token = _along.set(work)
    try:
        yield
    finally:
        _along.reset(token)


class WatchedEngine:
    """An engine that tells how long reads and writes take."""

    def __init__(self, engine: Engine, observe: Observe) -> None:
        self._engine = engine
        self._observe = observe

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def read(self, work: Callable[[Snapshot], T], alone: bool = False) -> T:
        """Runs a function on a consistent view."""
        start = time.perf_counter()
        try:
            return self._engine.read(work, alone)
        finally:
            self._observe("read", time.perf_counter() - start)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Runs a function that writes, and what goes along with it."""
        # Read here, not in the transaction: another thread may run that for us.
        more = _along.get()

        def both(tx: Transaction) -> T:
            answer = work(tx)
            if more is not None:
                more(tx, answer)
            return answer

        start = time.perf_counter()
        try:
            return self._engine.write(both)
        finally:
            self._observe("write", time.perf_counter() - start)


class WatchedEmbedder:
    """An embedder that tells how long it takes, and since when it fails."""

    def __init__(self, embedder: Embedder, observe: Observe) -> None:
        self._embedder = embedder
        self._observe = observe
        self.name = embedder.name
        self.version = embedder.version
        self.dimension = embedder.dimension
        self.local = getattr(embedder, "local", False)
        self.failing_since: float | None = None
        self._degraded = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._embedder, name)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""
        start = time.perf_counter()
        try:
            vectors = self._embedder.embed(texts)
        except BaseException:
            if self.failing_since is None:
                self.failing_since = time.monotonic()
            raise
        finally:
            self._observe("embed", time.perf_counter() - start)
        self._degraded, self.failing_since = self.degraded(), None
        return vectors

    def degraded(self) -> float:
        """For how many seconds it has failed so far, in all."""
        since = self.failing_since
        return self._degraded + (0.0 if since is None else time.monotonic() - since)
