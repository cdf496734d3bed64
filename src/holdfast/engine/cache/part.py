"""One scope's share of a search: the rows that were chosen, and what the ranking needs of them.

A scope in memory and one that is searched in its database choose their rows each in its own way;
all else is here, and the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from holdfast import rank
from holdfast.engine import Found, Key, Scope
from holdfast.engine.cache.vectors import Near
from holdfast.engine.uses import Uses
from holdfast.rank import Candidates, Corpus, Sample, Wording

SMALL = 1000  # of a scope with no more rows than this, every one in sight is a candidate
GOOD, BESIDE = 50, 2  # so many turns before and after the best candidates are candidates too
LONG = 10_000  # rows; such a list of a term is read whole only if that can matter

Mask = NDArray[np.bool_]
Positions = NDArray[np.int64]


class Part(ABC):
    """One scope's share of a search, by columns that hold its candidates, others perhaps too."""

    size: int  # rows of the scope,
    total_length: int  # and all their terms
    waiting: int  # rows without vectors
    having: NDArray[np.float64]  # rows with each term of the query
    _near: Near | None  # how near to the query: asked for last, for it may have to be waited for

    def __init__(self, place: int, scope: Scope) -> None:
        self._place, self._scope = place, scope
        self._columns: dict[str, NDArray[Any]] = {}
        self._lists: list[Positions] = []  # for each term the positions of rows that have it,
        self._again: list[dict[int, Positions]] = []  # or have it so often
        self._named: list[int] = []  # speakers whom the query names
        self._chosen: Positions = np.empty(0, np.int64)

    @abstractmethod
    def sample(self) -> Sample:
        """Some rows that tell what is usual here."""

    @abstractmethod
    def choose(self, wording: Wording, most: int) -> None:
        """Settles the candidates: the best by words and by meaning, and what was said beside."""

    def candidates(self, uses: Uses) -> Candidates:
        """What the ranking needs to know of the candidates."""
        chosen, columns = self._chosen, self._columns
        return Candidates(
            cosine=self._cosine(chosen),
            counts=self._counts(),
            length=columns["length"].take(chosen),
            session=self._session(chosen),
            turn=columns["turn"].take(chosen),
            happened=columns["happened"].take(chosen) / 1e6,
            named=self._said_by(chosen),
            role=columns["role"].take(chosen),
            uses=self._used(uses),
            ageless=columns["ageless"].take(chosen),
        )

    def _cosine(self, at: Positions) -> NDArray[np.float32]:
        if self._near is None:
            return np.full(len(at), np.nan, np.float32)
        return self._near.cosines(at)

    def _counts(self) -> NDArray[np.float32]:
        """About how often each candidate has each term: 0, 1, or what its mark stands for."""
        counts = np.zeros((len(self._chosen), len(self._lists)), np.float32)
        for column, found in enumerate(self._lists):
            for often, having in {1: found, **self._again[column]}.items():
                counts[among(having, self._chosen), column] = often
        return counts

    def _session(self, at: Positions) -> Positions:
        """Codes of sessions that are no other scope's; of none, one below 0."""
        session: Positions = self._columns["session"].take(at).astype(np.int64)
        return session << 8 | self._place

    def _said_by(self, at: Positions) -> Mask:
        """Whether the query names who says these rows."""
        if not self._named:
            return np.zeros(len(at), bool)
        return np.isin(self._columns["speaker"][at], self._named)

    def _used(self, uses: Uses) -> NDArray[np.int64]:
        """How often each candidate was used, what is counted but not written yet included."""
        times, more = self._columns["uses"].take(self._chosen), uses.get(self._scope)
        if not more:
            return times
        rows, used = self._columns["row"].take(self._chosen), np.fromiter(more, np.int64, len(more))
        counted = np.array([often for often, _ in more.values()], np.int64)
        here = held(rows, used)
        times[rows.searchsorted(used.compress(here))] += counted.compress(here)
        return times

    def __len__(self) -> int:
        """How many candidates."""
        return len(self._chosen)

    def key(self, at: int) -> Key:
        """The place in the question, the scope and the row of a candidate."""
        return self._place, self._scope, int(self._columns["row"][self._chosen[at]])


def together(parts: Sequence[Part], uses: Uses, most: int) -> Found:
    """The candidates of several scopes."""
    if not parts:
        return Found(None, None, [], 0)
    wording = _wording(parts)
    for part in parts:
        part.choose(wording, most)
    candidates = rank.joined([part.candidates(uses) for part in parts])
    sample = rank.pooled([part.sample() for part in parts])
    corpus = Corpus(wording.size, wording.mean_length, wording.having, sample)
    return Found(candidates, corpus, _Keys(parts), sum(part.waiting for part in parts))


def _wording(parts: Sequence[Part]) -> Wording:
    size = sum(part.size for part in parts)
    return Wording(
        size=size,
        mean_length=sum(part.total_length for part in parts) / max(size, 1),
        having=np.add.reduce([part.having for part in parts]),
    )


class _Keys(Sequence[Key]):
    """The keys of all candidates, made when they are asked for."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts
        self._ends = list(accumulate(len(part) for part in parts))

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, at: int) -> Key: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Key]: ...

    def __getitem__(self, at: int | slice) -> Key | Sequence[Key]:
        if isinstance(at, slice):
            return [self[each] for each in range(len(self))[at]]
        part = bisect_right(self._ends, at)
        return self._parts[part].key(at - self._ends[part] + len(self._parts[part]))


def held(found: Positions, chosen: Positions) -> Mask:
    """Which of the chosen are among those found; both are in order."""
    if not len(found):
        return np.zeros(len(chosen), bool)
    same: Mask = found.take(found.searchsorted(chosen), mode="clip") == chosen
    return same


def among(found: Positions, chosen: Positions) -> Positions:
    """Where in the chosen those found stand; both are in order."""
    if len(found) > len(chosen):
        return held(found, chosen).nonzero()[0]
    at: Positions = chosen.searchsorted(found)  # few are looked for among many
    return at.compress(chosen.take(at, mode="clip") == found)


def add_words(
    score: NDArray[Any],
    lists: Sequence[Positions],
    rarity: NDArray[Any],
    most: int,
    worth: Callable[[float, Positions], Any] = lambda rarity, found: rarity,
    most_worth: float = 1.0,
) -> None:
    """Adds to a score what each row's words are worth, rare terms first.

    `worth`: that of having a term of a rarity, for each of some rows. Where a term is in so many
    rows that its list is long, and it and all that are left could not lift a new row among the
    best, only the rows that were found already gain by it.
    """
    order = np.argsort(-rarity, kind="stable")
    for number, term in enumerate(order.tolist()):
        found = lists[term]
        if number and len(found) > LONG:
            left = float(rarity[order[number:]].sum()) * most_worth
            if np.count_nonzero(score > left) >= most:
                found = found.compress(score.take(found) > 0)
        score[found] = score.take(found) + worth(rarity[term], found)


def top(score: NDArray[Any], most: int) -> Positions:
    """The positions of the highest scores above 0, highest first."""
    above: Positions = (score > 0).nonzero()[0]
    if len(above) > most:
        above = above.take(np.argpartition(score.take(above), -most)[-most:])
    return above.take(np.argsort(-score.take(above), kind="stable"))
