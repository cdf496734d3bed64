"""What of a scope is in memory: searched here, following the store it is of.

An engine gives a `Source` for each scope of a snapshot; the rest is the same for every engine, and
so are the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.engine import Scope
from holdfast.engine.cache.batch import Batch
from holdfast.model import Filter

LAST_ROW = 2**62  # beyond all rows


class Pulse(NamedTuple):
    """How far a store has got, as a snapshot has it."""

    change: int  # the number of the last change of a row; 0 before the first
    row: int  # the last row of the scope; 0 before the first
    listed: int  # the last row whose words are in the word index
    waiting: int  # how many rows of the scope have no vectors yet


class Source(Protocol):
    """One scope, as a snapshot of the store has it."""

    @property
    def scope(self) -> Scope:
        """Which scope, as the engine calls it."""

    def pulse(self) -> Pulse:
        """What tells whether anything was written since the scope was last looked at."""

    def changes(self, after: int) -> Iterable[int] | None:
        """The rows that changed or went away since a change; None if that is no longer known."""

    def rows_after(self, row: int) -> tuple[int, Iterable[Batch]]:
        """What the index holds of the rows beyond one, some at a time; if in steps, how many."""

    def rows(self, rows: Sequence[int]) -> Sequence[Any]:
        """The same of some rows, those that are still there, one by one (see `batch.of_rows`)."""

    def terms_after(self, row: int, last: int = LAST_ROW) -> Iterable[tuple[int, str]]:
        """The terms of the rows beyond one, up to the last or another one, in order."""

    def find(self, token: str) -> NDArray[np.int64]:
        """The rows in the word index that have a token, in order."""

    def matching(self, where: Filter) -> NDArray[np.int64]:
        """The rows that a filter leaves in."""
