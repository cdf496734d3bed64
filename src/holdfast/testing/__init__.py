"""What every memory must do: the contract each engine and door passes, and a clock to test by.

A backend subclasses `Contract` and supplies three fixtures: `clock` (a `FakeClock`), `open_scope`
(opens a memory of a scope, all on one new store that goes by that clock) and `memory` (the scope
"contract"). It overrides no test: what one backend may do otherwise is not in the contract.
"""

from __future__ import annotations

from typing import Any

from holdfast.testing.finding import Finding
from holdfast.testing.keeping import Keeping
from holdfast.testing.learning import Learning
from holdfast.testing.stand_ins import FakeClock, MoodyEmbedder, OpenScope, awaited, sights
from holdfast.testing.telling import Telling

__all__ = ["Contract", "FakeClock", "MoodyEmbedder", "OpenScope", "awaited", "sights"]


class Contract(Telling, Finding, Keeping, Learning):
    """One short test per promise, each named as a sentence."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in dir(Contract):
            if name.startswith("test_") and getattr(cls, name) is not getattr(Contract, name):
                raise TypeError(f"{cls.__name__} overrides {name}: the contract is one for all.")
