"""What every memory must do: the contract each engine and door passes, and a clock to test by.

A backend subclasses `Contract` and supplies one fixture: `open_scope`, which opens a memory of a
scope, all on one new store that goes by the fixture `clock` (`opening` closes them again). It
overrides no test: what one backend may do otherwise is not in the contract.
"""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.testing.finding import Finding
from holdfast.testing.keeping import Keeping
from holdfast.testing.learning import Learning
from holdfast.testing.stand_ins import (
    FakeClock,
    MoodyEmbedder,
    OpenScope,
    awaited,
    opening,
    sights,
)
from holdfast.testing.telling import Telling

__all__ = ["Contract", "FakeClock", "MoodyEmbedder", "OpenScope", "awaited", "opening", "sights"]


class Contract(Telling, Finding, Keeping, Learning):
    """One short test per promise, each named as a sentence."""

    @pytest.fixture
    def clock(self) -> FakeClock:
        """The time, which stands still."""
        return FakeClock()

    @pytest.fixture
    def memory(self, open_scope: OpenScope) -> Memory:
        """A memory to try."""
        return open_scope("contract")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in dir(Contract):
            if name.startswith("test_") and getattr(cls, name) is not getattr(Contract, name):
                raise TypeError(f"{cls.__name__} overrides {name}: the contract is one for all.")
