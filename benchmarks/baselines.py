"""What anybody can have without us: BM25 and cosine, over the same memories."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora import Query
from benchmarks.stores import DEPTH, Store
from holdfast.embed import Embedder
from holdfast.text import passages, terms

K1, B = 1.2, 0.75

Terms = Callable[[str], Sequence[str]]
_WORD = re.compile(r"\w+")


def plain_terms(text: str) -> list[str]:
    """Words in lower case: no stemming, no stop words."""
    return _WORD.findall(text.lower())


class BM25:
    """Okapi BM25 with k1 = 1.2 and b = .75."""

    def __init__(self, store: Store, split: Terms = terms) -> None:
        self._split = split
        self._ids = list(store.items)
        counted = [Counter(split(item.text)) for item in store.items.values()]
        length = np.array([sum(counts.values()) for counts in counted], np.float64)
        self._norm = K1 * (1 - B + B * length / max(length.mean(), 1.0))
        self._lists: dict[str, list[tuple[int, int]]] = {}
        for at, counts in enumerate(counted):
            for term, times in counts.items():
                self._lists.setdefault(term, []).append((at, times))

    def score(self, query: str) -> NDArray[np.float64]:
        """One number per memory."""
        total = np.zeros(len(self._ids))
        for term in dict.fromkeys(self._split(query)):
            if term in self._lists:
                at, times = np.array(self._lists[term]).T
                rarity = np.log1p((len(total) - len(at) + 0.5) / (len(at) + 0.5))
                total[at] += rarity * times * (K1 + 1) / (times + self._norm[at])
        return total

    def ask(self, query: Query) -> list[str]:
        """The memories with any of its words, best first."""
        score = self.score(query.text)
        return [id for id, value in _first(self._ids, score) if value > 0]


class Cosine:
    """The nearest by MiniLM or another embedder; one vector a memory, or one a passage."""

    def __init__(self, store: Store, embedder: Embedder, by_passage: bool = False) -> None:
        self._embedder = embedder
        self._ids = list(store.items)
        parts = [
            passages(item.text) if by_passage else [item.text] for item in store.items.values()
        ]
        self._vectors = _unit(embedder.embed([part for some in parts for part in some]))
        self._starts = np.cumsum([0, *(len(some) for some in parts[:-1])])

    def ask(self, query: Query) -> list[str]:
        """The memories, nearest first."""
        near = self._vectors @ _unit(self._embedder.embed([query.text]))[0]
        return [id for id, _ in _first(self._ids, np.maximum.reduceat(near, self._starts))]


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _first(ids: Sequence[str], score: NDArray[np.floating]) -> list[tuple[str, float]]:
    """The best, ties in the order of the store."""
    order = np.argsort(-score, kind="stable")[:DEPTH]
    return [(ids[at], float(score[at])) for at in order]
