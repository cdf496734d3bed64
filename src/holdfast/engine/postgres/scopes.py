"""A scope as statements name it, what a writer counts of it, and what is known of all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from holdfast.engine.cache.index import Indexes
from holdfast.engine.postgres import near
from holdfast.engine.postgres.large import Samples
from holdfast.engine.postgres.pipeline import Answer
from holdfast.engine.postgres.steady import Steady


class At(NamedTuple):
    """A scope as the first two values of a statement."""

    tenant: str
    number: int


@dataclass
class Counters:
    """How far the rows and changes of a locked scope are counted, and what changed."""

    last_row: int
    last_change: int
    held: int = 0  # rows,
    terms: int = 0  # and the terms of all of them
    near: int = near.NONE
    changed: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)  # rows new, changed or gone; not just used
    used: list[Answer] = field(default_factory=list)  # what tells which rows were
    dirty: bool = False


@dataclass(slots=True)
class Shared:
    """What all transactions of an engine have in common."""

    indexes: Indexes = field(default_factory=lambda: Indexes(whole=True))
    samples: Samples = field(default_factory=Samples)
    steady: Steady = field(default_factory=Steady)
    wish: Callable[[At, int], None] = lambda at, dimension: None  # for the table of a large scope
    lost: bool | None = None  # whether anything was moved in of places that were gone already
