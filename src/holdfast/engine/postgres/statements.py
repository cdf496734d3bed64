"""The named statements of `statements.sql` and `near.sql`, and the migrations."""

from __future__ import annotations

from functools import lru_cache

from holdfast.engine.statements import named, numbered


@lru_cache(maxsize=1)
def statements() -> dict[str, str]:
    """Each statement under its name."""
    return named(__package__)


@lru_cache(maxsize=1)
def of_large() -> dict[str, str]:
    """Each statement on the table of a large scope under its name."""
    return named(__package__, "near.sql")


@lru_cache(maxsize=1)
def migrations() -> list[tuple[int, str]]:
    """Every migration as (number, SQL), in order."""
    return numbered(__package__)
