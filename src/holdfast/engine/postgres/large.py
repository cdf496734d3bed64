"""Searching a large scope where it is: by its graph, its word index, and its sessions.

Nothing of it is held here but a sample, which tells what is usual in it. What was found is put
into a small index and goes to the ranking just as if all of it had been in memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from holdfast import rank
from holdfast.engine import Look
from holdfast.engine.cache.batch import of_rows
from holdfast.engine.cache.index import RUN, SAMPLE, Index
from holdfast.engine.cache.part import GOOD, SMALL, Part, add_words, held, top
from holdfast.engine.cache.tokens import AGAIN, tokens
from holdfast.engine.postgres import near
from holdfast.engine.postgres.pipeline import Answer, Row
from holdfast.engine.postgres.search import Source
from holdfast.engine.postgres.words import At
from holdfast.rank import Sample, Wording

LARGE = 150_000  # rows; a scope with more is searched in the database
NEAREST = 100  # candidates by meaning
MOST = 1000  # candidates by words, however many are asked for
FEW = 5000  # rows: where a filter leaves no more, each is compared
NEWER = 1e-6  # worth of being the newest, among those that have the same words
APART = 10  # turns between two of a session that are not known to be neighbours
STALE = 8  # a scope that grew by this share is sampled anew
SAMPLES = 64  # scopes whose sample is kept

Rows = NDArray[np.int64]


def is_large(seen: Row) -> bool:
    """Whether a scope is searched in the database."""
    return bool(seen["near"] == near.READY and seen["held"] > LARGE // 2)


# --- what is usual in it ---


@dataclass(frozen=True, slots=True)
class Usual:
    """A sample of a scope, and the snapshot it was taken in."""

    index: Index
    rows: frozenset[int]
    last_row: int
    last_change: int


class Samples:
    """The samples of the large scopes in use; those not used for longest go first."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[int, At], Usual] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, source: Source, space: int, dimension: int) -> Usual:
        """The sample of a scope, taken anew if it has changed much, or one of its rows at all."""
        key = space, source.scope
        with self._lock:
            known = self._held.get(key)
        if known is None or not _is_fresh(known, source):
            known = _sampled(source, dimension)
            with self._lock:
                self._held[key] = known
                self._held.move_to_end(key)
                while len(self._held) > SAMPLES:
                    self._held.popitem(last=False)
        return known


def _is_fresh(known: Usual, source: Source) -> bool:
    pulse = source.pulse()
    if abs(pulse.row - known.last_row) > known.last_row // STALE:
        return False
    if pulse.change <= known.last_change:
        return True
    changed = source.changes(known.last_change)
    return changed is not None and known.rows.isdisjoint(changed)


def _sampled(source: Source, dimension: int) -> Usual:
    """Rows in short runs, from everywhere."""
    pulse = source.pulse()
    starts = np.arange(1, pulse.row + 1, max(RUN, RUN * pulse.row // SAMPLE))
    found = source.rows((starts[:, None] + np.arange(RUN)).ravel().tolist())
    runs = np.searchsorted(starts, [row["row"] for row in found], side="right")
    last: dict[str, tuple[int, int]] = {}
    turns: dict[int, int] = {}
    for row, run in zip(found, runs.tolist(), strict=True):
        before, turn = last.get(row["session"], (-1, -APART))
        turns[row["row"]] = turn + (1 if run == before else APART)
        last[row["session"]] = run, turns[row["row"]]
    index = Index(dimension)
    index.take(of_rows(found), turns)
    return Usual(index, frozenset(turns), pulse.row, pulse.change)


# --- what is found in it ---


class Large(Part):
    """The share of a large scope in a search."""

    def __init__(self, source: Source, usual: Usual, place: int, look: Look) -> None:
        super().__init__(place, source.scope)
        self._source, self._usual, self._look = source, usual, look
        self._db, self._at = source.db, source.scope
        self._dimension = look.space.dimension if look.space else 0
        self._table = near.Near(self._db, self._at, look)
        self._sought = self._ask()
        self._tail = _tail(source)
        self._rows = [self._having(term) for term in look.terms]
        self.size, self.total_length = int(source.seen["held"]), int(source.seen["terms"])
        self.waiting = int(source.seen["waiting"])
        self.having = np.array([len(rows) for rows in self._rows], np.float64)

    def _ask(self) -> Answer | None:
        """Lets the server look for words, and for the nearest while the words are weighed."""
        self._source.ask()
        if self._look.vector is None or self._table.is_filtered:
            return None
        sought = self._table.nearest(NEAREST)
        self._db.go()
        return sought

    def _having(self, token: str) -> Rows:
        """The rows with a token, in order."""
        found = self._source.find(token)
        recent = self._tail.get(token)
        return found if recent is None else np.concatenate([found, recent])

    def sample(self) -> Sample:
        """Some rows that tell what is usual here."""
        index, vector = self._usual.index, self._look.vector
        some, left, right, vectors, sides = index.sampled()
        cosines = np.full(len(some), np.nan)
        if vector is not None:
            cosines = index.vectors.near(vector).of_taken(vectors)
        named = np.isin(index.columns["speaker"][some], index.names.speaking(self._look.terms))
        return Sample(cosines, named, left, right, sides)

    def choose(self, wording: Wording, most: int) -> None:
        """Settles the candidates: the best by words and by meaning, and what was said beside."""
        most = min(most, MOST)
        fitting = self._table.fitting(FEW)
        if fitting is not None and len(fitting) <= max(SMALL, most):
            found = _by_row(self._table.rows(fitting.tolist()))
            chains = self._beside(list(found.values()))
        else:
            found, good = self._best(wording, most, fitting)
            chains = self._beside(good)
            beside = {row for chain in chains for row in chain} - found.keys()
            found |= _by_row(self._table.rows(sorted(beside)))
        if self._look.also:
            found |= _by_row(self._also())
        self._hold([found[row] for row in sorted(found)], chains)

    def _best(
        self, wording: Wording, most: int, fitting: Rows | None
    ) -> tuple[dict[int, Row], list[Row]]:
        """The best by meaning and by words, and the best of these."""
        said = self._by_words(wording, most, fitting)
        near_by = self._nearest(fitting)
        return _by_row([*near_by, *said]), near_by[:GOOD] + said[:GOOD]

    def _nearest(self, fitting: Rows | None) -> list[Row]:
        """The nearest, each once: a long content has several passages."""
        if self._look.vector is None:
            return []
        if fitting is None:
            found = (self._sought or self._table.nearest(NEAREST)).fetchall()
            if len(found) >= NEAREST:
                return list(_by_row(found).values())
            fitting = self._table.in_sight()  # the graph gave up on finding more
        return self._table.nearest_of(fitting, NEAREST).fetchall()

    def _by_words(self, wording: Wording, most: int, fitting: Rows | None) -> list[Row]:
        """The best by words alone, of those in sight."""
        score = self._scores(wording, most)
        if fitting is not None:
            score[~held(fitting, np.arange(len(score)))] = 0
        told = np.flatnonzero(score > 0)
        worth = score[told] + told * (NEWER / len(score))
        seen: list[Row] = []
        first, step = 0, most
        while first < len(told) and len(seen) < most:
            seen += self._table.rows(told[top(worth, first + step)[first:]].tolist())
            first, step = first + step, 2 * step
        return [seen[at] for at in top(self._worth(seen, wording), len(seen))]

    def _scores(self, wording: Wording, most: int) -> NDArray[np.float64]:
        """What the words of each row are worth, however long it is."""
        last = max((int(rows[-1]) for rows in self._rows if len(rows)), default=0)
        score = np.zeros(last + 1)
        add_words(score, self._rows, rank.rarity(wording), most)
        return score

    def _worth(self, rows: Sequence[Row], wording: Wording) -> NDArray[np.float32]:
        """What the words of rows are worth, by how long they are."""
        numbers = np.array([row["row"] for row in rows])
        order = np.argsort(numbers)
        lengths = np.array([row["length"] for row in rows], np.int64)
        worth = np.zeros(len(rows), np.float32)
        one = rank.saturation(np.ones((len(rows), 1)), lengths, wording.mean_length)[:, 0]
        for weight, having in zip(rank.rarity(wording), self._rows, strict=True):
            has = order[held(having, numbers[order])]
            worth[has] += weight * one[has]
        return worth

    # --- reading it ---

    def _also(self) -> list[Row]:
        """What must be among the candidates, if it is in sight."""
        found = self._db.all("rows_of", *self._at, list(self._look.also))
        return self._table.rows([row[0] for row in found])

    def _beside(self, good: Sequence[Row]) -> list[list[int]]:
        """The good ones, each with the turns before and after it, in order."""
        sessions = {row["row"]: row["session"] for row in good if row["session"] is not None}
        chains = {row: [row] for row in sessions}
        if chains:
            asked = list(sessions), list(sessions.values())
            for of, row in self._db.all("beside", *self._at, *asked):
                chains[of].append(row)
        return [sorted(chain) for chain in chains.values()]

    def _hold(self, found: Sequence[Row], chains: Sequence[Sequence[int]]) -> None:
        """Puts what was found into a small index."""
        index = Index(self._dimension)
        index.take(of_rows(found), _turns(found, chains))
        self._columns = index.columns.now()
        rows = self._columns["row"]
        self._lists = [_positions(rows, having) for having in self._rows]
        self._again = [
            {n: _positions(rows, self._having(term + mark)) for n, mark in AGAIN.items()}
            for term in self._look.terms
        ]
        self._named = index.names.speaking(self._look.terms)
        vector = self._look.vector
        self._near = None if vector is None else index.vectors.near(vector)
        self._chosen = np.arange(index.count)


def _tail(source: Source) -> dict[str, Rows]:
    """For each token that is asked for, the rows that have it and are not in the word index yet."""
    found: dict[str, list[int]] = defaultdict(list)
    pulse = source.pulse()
    if pulse.row > pulse.listed:
        asked = set(source.terms)
        for row, terms in source.terms_after(pulse.listed):
            for token in tokens(" ".join(term for term in terms.split(" ") if term in asked)):
                found[token].append(row)
    return {token: np.array(rows, np.int64) for token, rows in found.items()}


def _by_row(found: Sequence[Row]) -> dict[int, Row]:
    return {row["row"]: row for row in found}


def _positions(rows: Rows, having: Rows) -> Rows:
    """Where those of some rows stand that have a token."""
    return np.flatnonzero(held(having, rows))


def _turns(found: Sequence[Row], chains: Sequence[Sequence[int]]) -> dict[int, int]:
    """Which of its session each row is: true between neighbours, and far apart between others."""
    session = {row["row"]: row["session"] for row in found}
    after: dict[int, int] = {}
    for chain in chains:
        named = next((session[row] for row in chain if row in session), None)
        session |= {row: named for row in chain if row not in session}
        after |= dict(zip(chain[1:], chain, strict=False))
    turns: dict[int, int] = {}
    last: dict[str, int] = {}
    for row in sorted(session):
        before = last.get(session[row])
        near_by = before is not None and after.get(row) == before
        turns[row] = 0 if before is None else turns[before] + (1 if near_by else APART)
        last[session[row]] = row
    return turns
