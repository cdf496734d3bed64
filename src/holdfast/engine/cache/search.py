"""Finding candidates in the index in memory: by meaning, by words, and beside either.

Filters come first and are exact: what they leave out is never a candidate, and what they leave
in is searched whole, so that no bound can make an answer shorter than it should be.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from holdfast import rank
from holdfast.engine import Found, Key, Look
from holdfast.engine.cache import Source
from holdfast.engine.cache.index import GONE, NEVER, Index, Indexes
from holdfast.engine.cache.tokens import AGAIN
from holdfast.engine.columns import stamp
from holdfast.engine.uses import Uses
from holdfast.model import Filter
from holdfast.rank import Candidates, Corpus, Sample

SMALL = 1000  # of a scope with no more rows than this, every one in sight is a candidate
GOOD, BESIDE = 50, 2  # so many turns before and after the best candidates are candidates too
LONG = 10_000  # rows; such a list of a term is read whole only if that can matter

Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


def search(
    indexes: Indexes, space: int, uses: Uses, sources: Sequence[tuple[int, Source]], look: Look
) -> Found:
    """Candidates from several scopes, each given with its place in the question.

    `space` is the number of the embedder that the store belongs to.
    """
    dimension = look.space.dimension if look.space else 0
    parts, waiting = [], 0
    for place, source in sources:
        index = indexes.scope(space, source.scope, dimension)
        with index.lock:
            index.follow(source)
            parts.append(_Part(source, index, place, look))
            waiting += index.pulse.waiting
    if not parts:
        return Found(None, None, [], 0)
    corpus = _corpus(parts)
    for part in parts:
        part.choose(corpus, look.most)
    found = rank.joined([part.candidates(uses) for part in parts])
    return Found(found, corpus, _Keys(parts), waiting)


def _corpus(parts: Sequence[_Part]) -> Corpus:
    size = sum(part.size for part in parts)
    return Corpus(
        size=size,
        mean_length=sum(part.total_length for part in parts) / max(size, 1),
        having=np.sum([part.having for part in parts], axis=0),
        sample=rank.pooled([part.sample() for part in parts]),
    )


class _Part:
    """One scope's share of a search. Copies what it needs, so that the index can move on."""

    def __init__(self, source: Source, index: Index, place: int, look: Look) -> None:
        self._place, self._scope = place, source.scope
        self._columns = {name: index.columns[name] for name in index.columns.TYPES}
        self._lists = [index.listed(source, term) for term in look.terms]
        self._again = [_oftener(source, index, term) for term in look.terms]
        self._named = index.names.speaking(look.terms)
        self._sampled = index.sampled()
        self._seen = self._sight(source, index, look)
        self._near = None if look.vector is None else index.vectors.near(look.vector)
        self._chosen: Positions = np.empty(0, np.int64)
        self.size = index.count - index.gone
        self.total_length = index.total_length
        self.having = np.array([self._live(found) for found in self._lists], np.float64)

    def _live(self, found: Positions) -> int:
        """How many of these rows are still there."""
        if self.size == len(self._columns["row"]):
            return len(found)
        return int((self._columns["expires"][found] != GONE).sum())

    def _sight(self, source: Source, index: Index, look: Look) -> Mask:
        """Which rows may be candidates at all."""
        columns, where = self._columns, look.where
        seen = index.names.fitting(where, columns)
        if where.meta:
            seen &= np.isin(columns["row"], source.matching(Filter(meta=where.meta)))
        if not index.lasting:
            seen &= columns["expires"] > stamp(look.now)
        if look.as_of is not None:
            at = stamp(look.as_of)
            seen &= (columns["since"] <= at) & (columns["until"] > at)
        elif not index.lasting:
            seen &= columns["until"] == NEVER
        return seen

    def sample(self) -> Sample:
        """Some rows that tell what is usual here."""
        some, left, right, vectors = self._sampled
        near = np.full(len(some), np.nan) if self._near is None else self._near.of(vectors)
        return Sample(near, self._said_by(some), left, right)

    def _session(self, at: Positions) -> Positions:
        """Codes of sessions that are no other scope's."""
        session = self._columns["session"][at].astype(np.int64)
        return np.where(session >= 0, session << 8 | self._place, -1)

    def _said_by(self, at: Positions) -> Mask:
        """Whether the query names who says these rows."""
        if not self._named:
            return np.zeros(len(at), bool)
        return np.isin(self._columns["speaker"][at], self._named)

    def choose(self, corpus: Corpus, most: int) -> None:
        """Settles the candidates: the best by words and by meaning, and what was said beside."""
        if self._seen.sum() <= max(SMALL, most):
            self._chosen = np.flatnonzero(self._seen)
            return
        best = [self._by_words(corpus, most)]
        if self._near is not None:
            best.append(self._near.best(self._seen, most))
        here = np.concatenate([some[:GOOD] for some in best])
        for way in ("before", "after"):
            step = here
            for _ in range(BESIDE):
                step = self._columns[way][step]
                step = step[(step >= 0) & (step < len(self._seen))]
                best.append(step)
        found = np.unique(np.concatenate(best))
        self._chosen = found[self._seen[found]]

    def _by_words(self, corpus: Corpus, most: int) -> Positions:
        """The best by words alone, rare terms first.

        Where a term is in so many rows that its list is long, and it and all that are left could
        not lift a new row among the best, only the rows that were found already gain by it.
        """
        score = np.zeros(len(self._seen), np.float32)
        rarity = rank.rarity(corpus)
        order = np.argsort(-rarity, kind="stable")
        for number, term in enumerate(order.tolist()):
            found = self._lists[term]
            if len(found) > LONG:
                scored = np.flatnonzero(score)
                left = float(rarity[order[number:]].sum()) * rank.most_worth()
                if len(scored) > most and np.partition(score[scored], -most)[-most] > left:
                    found = scored[_held(found, scored)]
            worth = rank.saturation(
                np.ones((len(found), 1)), self._columns["length"][found], corpus
            )
            score[found] += rarity[term] * worth[:, 0]
        return _top(score if self._seen.all() else np.where(self._seen, score, 0), most)

    def candidates(self, uses: Uses) -> Candidates:
        """What the ranking needs to know of the candidates."""
        chosen, columns = self._chosen, self._columns
        return Candidates(
            cosine=self._cosine(chosen),
            counts=self._counts(),
            length=columns["length"][chosen],
            session=self._session(chosen),
            turn=columns["turn"][chosen],
            happened=columns["happened"][chosen] / 1e6,
            named=self._said_by(chosen),
            role=columns["role"][chosen],
            uses=self._used(uses),
            ageless=columns["ageless"][chosen],
        )

    def _cosine(self, at: Positions) -> NDArray[np.float32]:
        if self._near is None:
            return np.full(len(at), np.nan, np.float32)
        return self._near.cosines(at)

    def _counts(self) -> NDArray[np.float32]:
        """About how often each candidate has each term: 0, 1, or what its mark stands for."""
        counts = np.zeros((len(self._chosen), len(self._lists)), np.float32)
        for column, found in enumerate(self._lists):
            counts[_held(found, self._chosen), column] = 1
            for often, more in self._again[column].items():
                counts[_held(more, self._chosen), column] = often
        return counts

    def _used(self, uses: Uses) -> NDArray[np.int64]:
        """How often each candidate was used, what is counted but not written yet included."""
        times = self._columns["uses"][self._chosen]
        more = {row: counted for (scope, row), (counted, _) in uses.items() if scope == self._scope}
        rows, used = self._columns["row"][self._chosen], np.array(list(more), np.int64)
        at = np.minimum(np.searchsorted(rows, used), max(len(rows) - 1, 0))
        here = np.flatnonzero(rows[at] == used) if len(rows) else at[:0]
        times[at[here]] += np.array(list(more.values()), np.int64)[here]
        return times

    def __len__(self) -> int:
        """How many candidates."""
        return len(self._chosen)

    def key(self, at: int) -> Key:
        """The place in the question, the scope and the row of a candidate."""
        return self._place, self._scope, int(self._columns["row"][self._chosen[at]])


class _Keys(Sequence[Key]):
    """The keys of all candidates, made when they are asked for."""

    def __init__(self, parts: Sequence[_Part]) -> None:
        self._parts = parts
        self._ends = np.cumsum([len(part) for part in parts])

    def __len__(self) -> int:
        return int(self._ends[-1])

    @overload
    def __getitem__(self, at: int) -> Key: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Key]: ...

    def __getitem__(self, at: int | slice) -> Key | Sequence[Key]:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self))[at]]
        part = int(np.searchsorted(self._ends, at, side="right"))
        return self._parts[part].key(at - int(self._ends[part]) + len(self._parts[part]))


def _oftener(source: Source, index: Index, term: str) -> dict[int, Positions]:
    """The rows that have a term so often or more; what is in no row twice is in none oftener."""
    found: dict[int, Positions] = {}
    for often, mark in AGAIN.items():
        rows = index.listed(source, term + mark)
        if not len(rows):
            break
        found[often] = rows
    return found


def _held(found: Positions, chosen: Positions) -> Mask:
    """Which of the chosen are among those found; both are in order."""
    at = np.searchsorted(found, chosen)
    held = at < len(found)
    held[held] = found[at[held]] == chosen[held]
    return held


def _top(score: NDArray[Any], most: int) -> Positions:
    """The positions of the highest scores above 0, highest first."""
    above = np.flatnonzero(score > 0)
    if len(above) > most:
        above = above[np.argpartition(score[above], -most)[-most:]]
    return above[np.argsort(-score[above], kind="stable")]
