"""The store as one process has it open, with its own clock and its own embedder."""

from __future__ import annotations

import time
import traceback
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from benchmarks.faults.embedders import VERSIONS, Dense
from holdfast import EmbedderMismatch, Memory, Recalled, Weights
from holdfast.backend import Backend, open_backend

ONLY_LIKE = Weights(similarity=1.0, recency=0.0, frequency=0.0)


def blame(error: BaseException) -> str:
    """An error in one line, with the place it came from and what is behind it."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/src/" in frame[0]]
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    cause = f", because of {blame(error.__cause__)}" if error.__cause__ else ""
    return f"{type(error).__name__}: {error}{place}{cause}"


class Clock:
    """A clock that can jump."""

    def __init__(self, offset: float = 0.0) -> None:
        self.offset = offset

    def seconds(self) -> float:
        return time.time() + self.offset

    def __call__(self) -> datetime:
        return datetime.now(timezone.utc) + timedelta(seconds=self.offset)


class Open:
    """A store that is open; opened anew when another process has changed its embedder."""

    def __init__(self, url: str, clock: Clock | None = None, mode: str = "") -> None:
        self.url = url
        self.clock = clock or Clock()
        self._mode = mode
        self._backend = self._open()

    def _open(self) -> Backend:
        for version in VERSIONS * 3:  # it may change once more between two tries
            try:
                return open_backend(self.url, Dense(version, self._mode), self.clock)
            except EmbedderMismatch:
                continue
        raise RuntimeError(f"{self.url} belongs to no embedder of ours")

    def reopen(self) -> None:
        """Opens it anew; the old connections are left to whoever still uses them."""
        self._backend = self._open()

    def memory(self, scope: str) -> Memory:
        """The memory of a scope."""
        return Memory(scope, backend=self._backend)

    def close(self) -> None:
        """Lets go of the store."""
        self._backend.close()


def recall(memory: Memory, words: str, limit: int = 5, **filters: Any) -> Recalled:
    """What is most like some words, however little: here the tuning of recall is not on trial."""
    return memory.recall(words, limit, min_score=0.0, weights=ONLY_LIKE, **filters)
