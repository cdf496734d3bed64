"""What a run is asked to do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.embedding import CACHE
from benchmarks.results import FOLDER

QUICK_DATA = ("locomo", "facts-6k")
QUICK_STORES = 2  # of each data set


@dataclass(frozen=True)
class Options:
    """The command line, parsed; the same seed gives the same tables."""

    quick: bool = False
    out: Path = FOLDER
    cache: Path = CACHE
    seed: int = 1
    data: tuple[str, ...] | None = None  # None: all there are; in a quick run some
    made: tuple[str, ...] | None = None  # generated ones; None: all
    embedders: tuple[str, ...] = ("minilm", "fast")
    sizes: tuple[int, ...] = (1_000, 10_000, 100_000)
    large: bool = False  # a million memories too, and ten thousand scopes
    share: float = 1.0  # of the generated corpora
    ablation: bool = True
    budgets: bool = True

    @property
    def pooled(self) -> bool:
        """Whether conversations are also asked as one store."""
        return not self.quick

    @property
    def stores(self) -> int:
        """How many stores of a data set are asked, at most."""
        return QUICK_STORES if self.quick else sys.maxsize

    def chosen_data(self, known: Iterable[str]) -> list[str]:
        """The recorded data sets to run on."""
        if self.data is not None:
            return [name for name in known if name in self.data]
        return [name for name in known if not self.quick or name in QUICK_DATA]
