"""The embedder of a store at work: vectors when they can be had, and moving to another one.

A vector always comes with the space it is of, taken from one and the same embedder: while a
store moves, no vector of the one may pass for one of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from holdfast.beside import Soon, beside
from holdfast.embed import Embedder
from holdfast.embed.guard import Guarded
from holdfast.engine import Engine, Place, Space, Vectors, Waiting
from holdfast.errors import EmbedderFailed, EmbedderMismatch, HoldfastError
from holdfast.model import Reembedded
from holdfast.rank import BACKGROUND

BATCH = 256  # contents embedded in one call
CATCH_UP = 64  # memories that wait for a vector are embedded along with a recall, so many
SOON_SECONDS = 0.1  # after which a vector that nobody waits for is made: many at a time
EVERY = 2**62


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query's vector, or why there is none."""

    vector: NDArray[np.float32] | None
    background: tuple[float, float] = BACKGROUND
    degraded: str | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """A query that is perhaps still being embedded, and whose vector it will be."""

    space: Space | None
    found: Callable[[], QueryVector]  # waits for it


class Embedding:
    """What a store does with its embedder."""

    def __init__(self, engine: Engine, embedder: Embedder | None) -> None:
        self._engine = engine
        self._target: Guarded | None = None  # of a move that is under way
        # Places where something waits for its vector.
        self.soon = Soon(self._catch_up_quietly, SOON_SECONDS)
        # Read once by whoever uses it: a move may put another in its place.
        self.current = None if embedder is None else self._claimed(Guarded(embedder))

    def _claimed(self, embedder: Guarded) -> Guarded:
        mine = _space(embedder)
        held = self._engine.claim(mine)
        if held != mine:
            raise EmbedderMismatch(
                f"This store holds vectors of {held}, not of {mine}.",
                "Open it with that embedder, or change it for good with `reembed`.",
            )
        return embedder

    @property
    def quick(self) -> bool:
        """Whether contents are embedded in no time: then it can be done inside a write."""
        return self.current is None or self.current.quick

    def contents(
        self, texts: Sequence[str], wait: bool = True
    ) -> tuple[list[Vectors | None], Space | None]:
        """The vectors of contents, and whose they are; None for each that cannot be had now.

        Without `wait` only those are given that are known, or made in no time.
        """
        embedder = self.current
        if embedder is None:
            return [None] * len(texts), None
        if not wait and embedder.slow:
            return [embedder.known(text) for text in texts], _space(embedder)
        found: list[Vectors | None] = []
        try:
            for start in range(0, len(texts), BATCH):
                found.extend(embedder.contents(texts[start : start + BATCH]))
        except EmbedderFailed:
            found.extend([None] * (len(texts) - len(found)))
        return found, _space(embedder)

    def cache(self) -> tuple[int, int]:
        """How many queries' vectors were known, and how many were not."""
        return (self.current.hits, self.current.misses) if self.current else (0, 0)

    def query(self, text: str) -> Query:
        """The vector of a query; an embedder that takes long works while others read the store."""
        embedder = self.current
        if embedder is None:
            none = QueryVector(None, degraded="this store was opened without an embedder")
            return Query(None, lambda: none)
        if embedder.takes_long(text):
            return Query(_space(embedder), beside(lambda: _vector(embedder, text)))
        found = _vector(embedder, text)
        return Query(_space(embedder), lambda: found)

    def catch_up(self, places: Sequence[Place]) -> bool:
        """Embeds some of what waits for its vector; False if that cannot be done now."""
        embedder = self.current
        if embedder is None:
            return False
        with embedder.catching_up:  # nothing is embedded twice
            rows = [row for place in places for row in self._engine.waiting(CATCH_UP, place)]
            return self._fill(rows)

    def _catch_up_quietly(self, place: Place) -> None:
        with suppress(HoldfastError):  # what fails here is left to the next recall
            while self.catch_up([place]) and self._engine.waiting(1, place):
                pass

    def catch_up_all(self) -> int:
        """Embeds everything that waits; gives how many still do."""
        while rows := self._engine.waiting(BATCH):
            if not self._fill(rows):
                return len(self._engine.waiting(EVERY))
        return 0

    def _fill(self, rows: Sequence[Waiting]) -> bool:
        if not rows:
            return True
        vectors, space = self.contents([row.content for row in rows])
        if space is None or any(found is None for found in vectors):
            return False
        self._engine.fill(space, rows, cast("list[Vectors]", vectors))
        return True

    def move(self, embedder: Embedder, tell: Callable[[Reembedded], None] | None) -> Reembedded:
        """Moves the store to another embedder, step by step; goes on where it stopped."""
        target = self._target = Guarded(embedder)
        reached = Reembedded(0, 0)
        while not self.moved():
            reached = Reembedded(*self._engine.move(_space(target), target.contents, BATCH))
            if tell is not None:
                tell(reached)
        return reached

    def moved(self) -> bool:
        """Whether a move of ours has just ended: then we move with the store."""
        target = self._target
        if target is None or self._engine.space() != _space(target):
            return False
        self.current = target
        return True


def _vector(embedder: Guarded, text: str) -> QueryVector:
    try:
        background = embedder.background()
        return QueryVector(embedder.query(text), background)
    except EmbedderFailed as error:
        return QueryVector(None, degraded=str(error))


def _space(embedder: Guarded) -> Space:
    inner = embedder.inner
    return Space(inner.name, inner.version, inner.dimension)
