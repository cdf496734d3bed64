"""All word lists of a scope in memory, made of its rows' terms.

For engines that are asked over a network: to look up a word there takes longer than all the rest
of a search. A term that a row has is one number, the term's above the row's position, as often as
the row has it; the numbers of rows that came together are a run, in order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count

import numpy as np
from numpy.typing import NDArray

from holdfast.engine.cache import Source
from holdfast.engine.cache.tokens import AGAIN

BITS = 32  # of a position
AT = (1 << BITS) - 1
OFTEN = {mark: often for often, mark in AGAIN.items()}
NOTHING = np.empty(0, np.int64)

Positions = NDArray[np.int64]


class Whole:
    """Lists that follow the store; whoever asks passes the scope's rows, in order."""

    def __init__(self) -> None:
        self._seen = 0  # the last row whose terms are in the lists
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._runs: list[Positions] = []
        self._found: dict[str, Positions] = {}  # lists that were asked for

    def follow(self, source: Source, rows: Positions, reach: int) -> None:
        """Takes in the terms of rows that are new."""
        newest = int(rows[-1]) if len(rows) else 0
        if newest > self._seen:
            self._add(rows, source.terms_after(self._seen))
            self._seen = newest

    def reword(self, source: Source, rows: Positions, at: Positions) -> None:
        """Takes in other terms of the rows at some positions."""
        self.drop(at)
        for row in rows[at].tolist():
            self._add(rows, source.terms_after(row - 1, row))

    def drop(self, at: Positions) -> None:
        """Takes the rows at some positions out of all lists."""
        self._runs = [run[~np.isin(run & AT, at)] for run in self._runs]
        self._found.clear()

    def _add(self, rows: Positions, told: Iterable[tuple[int, str]]) -> None:
        found = list(told)
        at = np.searchsorted(rows, np.array([row for row, _ in found], np.int64))
        self._runs.append(self._run(at, [terms for _, terms in found]))
        # A run is merged with those that are no larger, so that there are never many.
        while len(self._runs) > 1 and len(self._runs[-2]) <= 2 * len(self._runs[-1]):
            self._runs[-2:] = [np.sort(np.concatenate(self._runs[-2:]))]
        self._found.clear()

    def _run(self, at: Positions, terms: Sequence[str]) -> Positions:
        words = chain.from_iterable(each.split(" ") for each in terms)
        numbers = np.fromiter(map(self._numbers.__getitem__, words), np.int64)
        sizes = np.array([each.count(" ") + 1 for each in terms], np.int64)
        run: Positions = np.sort(numbers << BITS | np.repeat(at, sizes))
        return run

    def listed(self, source: Source, token: str, rows: Positions, behind: int | None) -> Positions:
        """The positions of all rows with a token, in order."""
        known = self._found.get(token)
        if known is None:
            known = self._found[token] = self._find(token)
        return known

    def _find(self, token: str) -> Positions:
        often = OFTEN.get(token[-1:], 1)
        number = self._numbers.get(token if often == 1 else token[:-1])
        if number is None:
            return NOTHING
        ends = (number << BITS, number + 1 << BITS)
        found = np.concatenate([run[slice(*np.searchsorted(run, ends))] for run in self._runs])
        if len(self._runs) > 1:
            found.sort()
        last = found[often - 1 :]  # of so many that are the same
        held = last[last == found[: len(last)]] & AT
        once: Positions = held[np.diff(held, prepend=-1) > 0]
        return once

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory the lists take."""
        return sum(run.nbytes for run in self._runs)
