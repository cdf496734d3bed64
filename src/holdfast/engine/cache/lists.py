"""The word lists of a scope in memory: which of its rows have a token, by position.

A list is read from the store's word index when a query first needs it, and then kept up to date.
The rows that are not in that index yet have lists of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.engine.cache import Source
from holdfast.engine.cache.tokens import tokens

NOTHING_READ = -1

Positions = NDArray[np.int64]


class Lists:
    """Lists that follow the store; whoever asks passes the scope's rows, in order."""

    def __init__(self) -> None:
        self._seen = 0  # the last row whose terms are in the lists
        self.clear()

    def clear(self) -> None:
        """Lets go of all lists: they are read anew when they are needed."""
        self._read: dict[str, Positions] = {}
        self._tails: dict[str, list[int]] = {}  # what is to be added to a list that was read
        self._reach = NOTHING_READ  # the last row that was in the index when we looked
        self._recent: dict[str, list[int]] = {}  # the lists of the rows beyond it
        self.nbytes = 0  # about how many bytes of memory the lists take

    def reword(self, source: Source, rows: Positions, at: Positions) -> None:
        """Lets go of all lists: the rows at some positions have other terms."""
        self.clear()

    def drop(self, at: Positions) -> None:
        """Leaves rows in their lists that are gone: a list is of positions, and tells no word."""

    def follow(self, source: Source, rows: Positions, reach: int) -> None:
        """Takes in the terms of rows that are new; those up to `reach` are in the index."""
        after = self._seen
        if reach > self._reach:
            after = min(after, reach) if self._read else reach
            self._reach, self._recent = reach, {}
        newest = int(rows[-1]) if len(rows) else 0
        if newest > after:
            for row, terms in source.terms_after(after):
                self._take(row, terms, int(np.searchsorted(rows, row)))
        self._seen = max(self._seen, newest)

    def _take(self, row: int, terms: str, at: int) -> None:
        for token in tokens(terms):
            if row > self._seen and token in self._read:
                self._tails.setdefault(token, []).append(at)
            if row > self._reach:
                self._recent.setdefault(token, []).append(at)

    def listed(self, source: Source, token: str, rows: Positions, behind: int | None) -> Positions:
        """The positions of all rows with a token, in order.

        `behind`: how far the index of this snapshot reaches, if it is not the last one followed.
        """
        if token not in self._read:
            found = source.find(token)
            if behind is not None:
                return _positions(rows, np.concatenate([found, _beyond(source, token, behind)]))
            recent = np.array(self._recent.get(token, []), np.int64)
            self._keep(token, [_positions(rows, found), recent])
        tail = self._tails.pop(token, None)
        if tail:
            self._keep(token, [self._read[token], np.array(tail, np.int64)])
        return self._read[token]

    def _keep(self, token: str, parts: Sequence[Positions]) -> None:
        before = self._read.get(token)
        self._read[token] = np.concatenate(parts)
        self.nbytes += self._read[token].nbytes - (0 if before is None else before.nbytes)


def _beyond(source: Source, token: str, reach: int) -> Positions:
    """Rows with a token that the index of a snapshot does not hold."""
    found = source.terms_after(reach)
    return np.array([row for row, terms in found if token in tokens(terms)], np.int64)


def _positions(rows: Positions, found: Positions) -> Positions:
    """Where rows stand; those that are not there are left out."""
    if len(rows) and rows[-1] - rows[0] == len(rows) - 1:  # a scope that has its file to itself
        near: Positions = found - rows[0]
        return near[(near >= 0) & (near < len(rows))]
    at = np.searchsorted(rows, found)
    at = at[at < len(rows)]  # both are in order, so that it is the last ones that go
    held: Positions = at[rows[at] == found[: len(at)]]
    return held
