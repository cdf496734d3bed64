"""Finding candidates in the index in memory: by meaning, by words, and beside either.

Filters come first and are exact: what they leave out is never a candidate, and what they leave
in is searched whole, so that no bound can make an answer shorter than it should be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from holdfast import rank
from holdfast.engine import Found, Key, Look, Scope
from holdfast.engine.cache import Source
from holdfast.engine.cache.index import GONE, NEVER, Index, Indexes
from holdfast.engine.cache.tokens import AGAIN
from holdfast.engine.columns import stamp
from holdfast.rank import Candidates, Corpus, Sample

SMALL = 1000  # of a scope with no more rows than this, every one in sight is a candidate
BESIDE = 2  # turns before and after a good candidate that are candidates too
SAMPLE, RUN = 1024, 4  # rows that tell what is usual in a scope, so many in a row

Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]
Uses = Mapping[tuple[Scope, int], tuple[int, int]]  # (scope, row): times used, last at


def search(
    indexes: Indexes, space: int, uses: Uses, sources: Sequence[tuple[int, Source]], look: Look
) -> Found:
    """Candidates from several scopes, each given with its place in the question.

    `space` is the number of the embedder that the store belongs to.
    """
    dimension = look.space.dimension if look.space else 0
    parts = []
    for place, source in sources:
        index = indexes.scope(space, source.scope, dimension)
        with index.lock:
            index.follow(source)
            parts.append(_Part(source, index, place, look))
    waiting = sum(source.waiting() for _, source in sources)
    if not parts:
        return Found(None, None, [], 0)
    corpus = _corpus(parts)
    for part in parts:
        part.choose(corpus, look.most)
    found = rank.joined(Candidates, [part.candidates(uses) for part in parts])
    return Found(found, corpus, _Keys(parts), waiting)


def _corpus(parts: Sequence[_Part]) -> Corpus:
    size = sum(part.size for part in parts)
    return Corpus(
        size=size,
        mean_length=sum(part.total_length for part in parts) / max(size, 1),
        having=np.sum([part.having for part in parts], axis=0),
        sample=rank.joined(Sample, [part.sample() for part in parts]),
    )


class _Part:
    """One scope's share of a search. Copies what it needs, so that the index can move on."""

    def __init__(self, source: Source, index: Index, place: int, look: Look) -> None:
        self._place, self._scope = place, source.scope
        self._columns = {name: index.columns[name] for name in index.columns.TYPES}
        self._lists = [index.listed(source, term) for term in look.terms]
        self._again = [_oftener(source, index, term) for term in look.terms]
        self._named = index.speaking(look.terms)
        self._seen = self._sight(source, look)
        self._near = None if look.vector is None else index.vectors.near(look.vector)
        self._chosen: Positions = np.empty(0, np.int64)
        self.size = index.count - index.gone
        self.total_length = int(self._columns["length"].sum())
        self.having = np.array([self._live(found) for found in self._lists], np.float64)

    def _live(self, found: Positions) -> int:
        """How many of these rows are still there."""
        if self.size == len(self._columns["row"]):
            return len(found)
        return int((self._columns["expires"][found] != GONE).sum())

    def _sight(self, source: Source, look: Look) -> Mask:
        """Which rows may be candidates at all."""
        columns = self._columns
        seen: Mask = columns["expires"] > stamp(look.now)
        if look.as_of is None:
            seen &= columns["until"] == NEVER
        else:
            at = stamp(look.as_of)
            seen &= (columns["since"] <= at) & (columns["until"] > at)
        if look.where:
            seen &= np.isin(columns["row"], source.matching(look.where))
        return seen

    def sample(self) -> Sample:
        """Some rows, in short runs, to tell what is usual here."""
        count = len(self._seen)
        step = max(RUN, RUN * count // SAMPLE)
        some = (np.arange(0, count, step)[:, None] + np.arange(RUN)).ravel()
        some = some[some < count]
        return Sample(self._cosine(some, exact=False), self._session(some), *self._said(some))

    def _session(self, at: Positions) -> Positions:
        """Codes of sessions that are no other scope's."""
        session = self._columns["session"][at].astype(np.int64)
        return np.where(session >= 0, session << 8 | self._place, -1)

    def _said(self, at: Positions) -> tuple[Positions, Mask]:
        """Which turns rows are, and whether the query names who says them."""
        speaker = self._columns["speaker"][at]
        named = np.isin(speaker, self._named) if self._named else np.zeros(len(at), bool)
        return self._columns["turn"][at], named

    def choose(self, corpus: Corpus, most: int) -> None:
        """Settles the candidates: the best by words and by meaning, and what was said beside."""
        if self._seen.sum() <= max(SMALL, most):
            self._chosen = np.flatnonzero(self._seen)
            return
        best = [_top(np.where(self._seen, self._words(corpus), 0), most)]
        if self._near is not None:
            best.append(self._near.best(self._seen, most))
        here = np.concatenate(best)
        for way in ("before", "after"):
            step = here
            for _ in range(BESIDE):
                step = self._columns[way][step]
                step = step[(step >= 0) & (step < len(self._seen))]
                best.append(step)
        found = np.unique(np.concatenate(best))
        self._chosen = found[self._seen[found]]

    def _words(self, corpus: Corpus) -> NDArray[np.float32]:
        """A first score by words alone, for every row."""
        score = np.zeros(len(self._seen), np.float32)
        length = self._columns["length"]
        for found, rarity in zip(self._lists, rank.rarity(corpus), strict=True):
            counts = np.ones((len(found), 1))
            score[found] += rarity * rank.saturation(counts, length[found], corpus)[:, 0]
        return score

    def candidates(self, uses: Uses) -> Candidates:
        """What the ranking needs to know of the candidates."""
        chosen, columns = self._chosen, self._columns
        turn, named = self._said(chosen)
        return Candidates(
            cosine=self._cosine(chosen),
            counts=self._counts(),
            length=columns["length"][chosen],
            session=self._session(chosen),
            turn=turn,
            happened=columns["happened"][chosen] / 1e6,
            named=named,
            role=columns["role"][chosen],
            uses=self._used(uses),
            ageless=columns["ageless"][chosen],
        )

    def _cosine(self, at: Positions, exact: bool = True) -> NDArray[np.float32]:
        if self._near is None:
            return np.full(len(at), np.nan, np.float32)
        return self._near.cosines(at, exact)

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
        rows = self._columns["row"][self._chosen]
        more = {row: times for (scope, row), (times, _) in uses.items() if scope == self._scope}
        used = _held(np.array(sorted(more), np.int64), rows)
        times[used] += np.array([more[row] for row in rows[used].tolist()], np.int64)
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
    """The positions of the highest scores above 0."""
    above = np.flatnonzero(score > 0)
    if len(above) <= most:
        return above
    return above[np.argpartition(score[above], -most)[-most:]]
