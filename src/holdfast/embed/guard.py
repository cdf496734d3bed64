"""An embedder that can be trusted: checked, timed, and left alone for a while after a failure."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from holdfast.embed import Embedder
from holdfast.errors import EmbedderFailed
from holdfast.text import passages

PATIENCE_SECONDS = 10.0  # how long a call that leaves this process may take
LONG_SECONDS = 0.001  # for one query; handing it to a thread costs a tenth of it
REST_SECONDS = 1.0  # after a failure; doubles with each one that follows
LONGEST_REST_SECONDS = 60.0
SHORTEST, LONGEST = 1e-200, 1e200  # squares of lengths that are exact enough
QUERIES = 512  # recent queries whose vectors are kept

# Texts that have nothing to do with each other: how near they seem is an embedder's background.
STRANGERS = (
    "The recipe needs two eggs and a pinch of salt.",
    "Deploy the service to the staging cluster on Friday.",
    "My sister moved to Lisbon last autumn.",
    "The Treaty of Westphalia was signed in 1648.",
    "He plays the cello in a string quartet.",
    "Invoice 4471 is overdue by three weeks.",
    "Whales sleep with one half of the brain at a time.",
    "Turn left after the bakery, then cross the bridge.",
    "The garbage collector pauses every few minutes.",
    "She prefers window seats on long flights.",
    "Glaciers carve valleys into the shape of a U.",
    "The meeting about the budget was cancelled.",
)

Matrix = NDArray[np.float32]


_guards: weakref.WeakSet[Guarded] = weakref.WeakSet()


class Guarded:
    """Vectors, or `EmbedderFailed`; never a wrong shape, never NaN, never a long wait."""

    def __init__(
        self,
        embedder: Embedder,
        patience: float = PATIENCE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.inner = embedder
        self._patience = patience
        self._clock = clock
        self._failures = 0
        self._rests_until = 0.0
        self._queries: OrderedDict[str, Matrix] = OrderedDict()
        self._takes = 0.0  # seconds for a query, the last time
        self.hits = self.misses = 0  # queries whose vectors were kept, and those that were not
        self.renew_locks()
        _guards.add(self)
        self._background: tuple[float, float] | None = getattr(embedder, "background", None)
        self.quick: bool = getattr(embedder, "quick", False)

    def renew_locks(self) -> None:
        """Takes new locks, as a forked child must."""
        self._lock = threading.Lock()
        self.catching_up = threading.Lock()  # held by whoever embeds what waits in the store

    def query(self, text: str) -> Matrix:
        """The vector of a query."""
        with self._lock:
            found = self._queries.pop(text, None)
            self.hits += found is not None
            self.misses += found is None
        began = time.perf_counter()
        vector = self._embed([text])[0] if found is None else found
        with self._lock:
            if found is None:
                self._takes = time.perf_counter() - began
            self._queries[text] = vector
            if len(self._queries) > QUERIES:
                self._queries.popitem(last=False)
        return vector

    @property
    def slow(self) -> bool:
        """Whether the last query took so long that a thread for the next one pays."""
        return self._takes > LONG_SECONDS

    def takes_long(self, text: str) -> bool:
        """Whether a query's vector, made here, takes so long that a thread for it pays."""
        return self.inner.local and self.slow and text not in self._queries

    def known(self, text: str) -> Matrix | None:
        """The vectors of a content that was a query lately: an agent asks, and then keeps it."""
        return self._known(passages(text))

    def _known(self, parts: Sequence[str]) -> Matrix | None:
        with self._lock:
            found = self._queries.get(parts[0]) if len(parts) == 1 else None
        return None if found is None else found[None]

    def contents(self, texts: Sequence[str]) -> list[Matrix]:
        """For each content the vectors of its passages."""
        parts = [passages(text) for text in texts]
        if len(texts) == 1 and (known := self._known(parts[0])) is not None:
            return [known]
        flat = self._embed([part for some in parts for part in some])
        ends = accumulate(len(some) for some in parts)
        return [flat[end - len(some) : end] for some, end in zip(parts, ends, strict=True)]

    def background(self) -> tuple[float, float]:
        """The mean and spread of cosines between texts that have nothing to do with each other."""
        if self._background is None:
            vectors = self._embed(STRANGERS)
            apart = ~np.eye(len(vectors), dtype=bool)
            cosines = (vectors @ vectors.T)[apart]
            self._background = float(cosines.mean()), float(cosines.std())
        return self._background

    def _embed(self, texts: Sequence[str]) -> Matrix:
        if self._clock() < self._rests_until:
            raise EmbedderFailed("The embedder failed a moment ago.", "It is tried again soon.")
        try:
            vectors = self._checked(self._call(texts), len(texts))
        except EmbedderFailed:
            self._rest()
            raise
        self._failures = 0
        return vectors

    def _rest(self) -> None:
        rest = min(LONGEST_REST_SECONDS, REST_SECONDS * 2**self._failures)
        self._failures = min(self._failures + 1, 10)
        self._rests_until = self._clock() + rest

    def _call(self, texts: Sequence[str]) -> Matrix:
        try:
            if getattr(self.inner, "local", False):
                return self.inner.embed(texts)
            return _timed(lambda: self.inner.embed(texts), self._patience)
        except EmbedderFailed:
            raise
        except Exception as error:
            raise EmbedderFailed(
                f"The embedder {self.inner.name!r} failed: {type(error).__name__}: {error}."
            ) from error

    def _checked(self, found: Matrix, count: int) -> Matrix:
        try:
            vectors = np.asarray(found, np.float64)
        except (TypeError, ValueError) as error:
            raise EmbedderFailed(
                f"The embedder {self.inner.name!r} gave no vectors: {error}."
            ) from None
        wanted = (count, self.inner.dimension)
        if vectors.shape != wanted:
            raise EmbedderFailed(
                f"The embedder {self.inner.name!r} gave vectors of shape {vectors.shape}, "
                f"not {wanted}."
            )
        squares = np.einsum("ij,ij->i", vectors, vectors)  # it does not warn
        if not all(SHORTEST < square < LONGEST for square in squares.tolist()):
            # Scaled first: the square of a huge number is no number.
            most = np.abs(vectors).max(axis=1, keepdims=True)
            if not np.isfinite(most).all() or not most.all():
                raise EmbedderFailed(
                    f"The embedder {self.inner.name!r} gave NaN, infinity or zero."
                )
            vectors = vectors / most
            squares = np.einsum("ij,ij->i", vectors, vectors)
        unit: Matrix = (vectors / np.sqrt(squares)[:, None]).astype(np.float32)
        return unit


def _timed(work: Callable[[], Matrix], seconds: float) -> Matrix:
    """What a function gives, unless it takes too long; then its thread is left to itself."""
    answer: list[Matrix] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            answer.append(work())
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=run, name="holdfast-embedder", daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not answer:
        raise EmbedderFailed(f"The embedder took longer than {seconds:g} seconds.")
    return answer[0]


def _after_fork() -> None:
    """Another thread of the parent may have held a lock: in the child nobody would free it."""
    for guard in list(_guards):
        guard.renew_locks()


os.register_at_fork(after_in_child=_after_fork)
