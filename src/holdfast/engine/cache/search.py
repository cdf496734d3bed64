"""Finding candidates in the index in memory: by meaning, by words, and beside either.

Filters come first and are exact: what they leave out is never a candidate, and what they leave
in is searched whole, so that no bound can make an answer shorter than it should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from holdfast import rank
from holdfast.engine import Found, Look
from holdfast.engine.cache import Source
from holdfast.engine.cache.batch import NEVER
from holdfast.engine.cache.index import GONE, Index, Indexes
from holdfast.engine.cache.part import BESIDE, GOOD, SMALL, Part, add_words, together, top
from holdfast.engine.cache.tokens import AGAIN
from holdfast.engine.cache.vectors import Near
from holdfast.engine.columns import stamp
from holdfast.engine.uses import Uses
from holdfast.model import Filter
from holdfast.rank import Sample, Wording

Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


def search(
    indexes: Indexes, space: int, uses: Uses, sources: Sequence[tuple[int, Source]], look: Look
) -> Found:
    """Candidates from several scopes, each given with its place in the question.

    `space` is the number of the embedder that the store belongs to.
    """
    parts = [part(indexes, space, source, place, look) for place, source in sources]
    return together(parts, uses, look.most)


def part(indexes: Indexes, space: int, source: Source, place: int, look: Look) -> Part:
    """The share of a scope that is, or is now taken, into memory."""
    index = indexes.scope(space, source.scope, look.space.dimension if look.space else 0)
    with index.lock:
        index.follow(source)
        return InMemory(source, index, place, look)


class InMemory(Part):
    """The share of a scope in memory. Copies what it needs, so that the index can move on."""

    def __init__(self, source: Source, index: Index, place: int, look: Look) -> None:
        super().__init__(place, source.scope)
        self._columns = index.columns.now()
        self._lists = [index.listed(source, term) for term in look.terms]
        self._again = [_oftener(source, index, term) for term in look.terms]
        self._named = index.names.speaking(look.terms)
        self._sampled = index.sampled()
        self._seen = self._sight(source, index, look)
        self._look, self._vectors = look, index.vectors.view()
        self.size = index.count - index.gone
        self.total_length = index.total_length
        self.waiting = index.pulse.waiting
        self.having = np.array([self._live(found) for found in self._lists], np.float64)

    def _live(self, found: Positions) -> int:
        """How many of these rows are still there."""
        if self.size == len(self._columns["row"]):
            return len(found)
        return int((self._columns["expires"][found] != GONE).sum())

    def _sight(self, source: Source, index: Index, look: Look) -> Mask | None:
        """Which rows may be candidates at all; None for every one, as there mostly are."""
        columns, where = self._columns, look.where
        fit = index.names.fitting(where, columns)
        if where.meta:
            fit.append(np.isin(columns["row"], source.matching(Filter(meta=where.meta))))
        if not index.lasting:
            fit.append(columns["expires"] > stamp(look.now))
        if look.as_of is not None:
            at = stamp(look.as_of)
            fit += [columns["since"] <= at, columns["until"] > at]
        elif not index.lasting:
            fit.append(columns["until"] == NEVER)
        seen = np.logical_and.reduce(fit) if fit else None
        return None if seen is None or seen.all() else seen

    @cached_property
    def _near(self) -> Near | None:  # type: ignore[override]
        vector = self._look.vector
        return None if vector is None else Near(self._vectors, vector)

    def sample(self) -> Sample:
        """Some rows that tell what is usual here."""
        some, left, right, vectors, sides = self._sampled
        near = np.full(len(some), np.nan) if self._near is None else self._near.of_taken(vectors)
        return Sample(near, self._said_by(some), left, right, sides)

    def choose(self, wording: Wording, most: int) -> None:
        """Settles the candidates: the best by words and by meaning, and what was said beside."""
        rows, seen = len(self._columns["row"]), self._seen
        if (rows if seen is None else np.count_nonzero(seen)) <= max(SMALL, most):
            self._chosen = np.arange(rows) if seen is None else seen.nonzero()[0]
            return
        best = [self._by_words(wording, most)]
        if self._near is not None:
            best.append(self._near.best(seen, most))
        step = np.concatenate([some[:GOOD] for some in best])
        for _ in range(BESIDE):  # one forth and back is one that is there already
            step = np.concatenate([self._columns[way].take(step) for way in ("before", "after")])
            step = step.compress((step >= 0) & (step < rows))
            best.append(step)
        chosen = _once(np.concatenate(best))
        self._chosen = chosen if seen is None else chosen.compress(seen.take(chosen))

    def _by_words(self, wording: Wording, most: int) -> Positions:
        """The best by words alone."""
        lengths, by_length = self._columns["length"], rank.worth_by_length(wording.mean_length)
        score = np.zeros(len(lengths), np.float32)

        def worth(rarity: float, found: Positions) -> NDArray[np.floating]:
            return (rarity * by_length).take(lengths.take(found), mode="clip")

        add_words(score, self._lists, rank.rarity(wording), most, worth, rank.most_worth())
        return top(score if self._seen is None else np.where(self._seen, score, 0), most)


def _once(some: Positions) -> Positions:
    """These positions in order, each once: `np.unique` takes five times as long for so few."""
    some.sort()
    return np.concatenate([some[:1], some[1:].compress(some[1:] != some[:-1])])


def _oftener(source: Source, index: Index, term: str) -> dict[int, Positions]:
    """The rows that have a term so often or more; what is in no row twice is in none oftener."""
    found: dict[int, Positions] = {}
    for often, mark in AGAIN.items():
        rows = index.listed(source, term + mark)
        if not len(rows):
            break
        found[often] = rows
    return found
