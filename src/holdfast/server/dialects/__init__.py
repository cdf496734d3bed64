"""Other services' wire formats over the same verbs, so that their clients run unchanged."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.server.app import Endpoint
    from holdfast.server.router import Router

NAMES = ("kronvex", "memstore", "botwire", "zerolatency")


def open_dialects(router: Router[Endpoint], names: Sequence[str]) -> None:
    """Adds the paths of some dialects."""
    for name in names:
        if name not in NAMES:
            raise Invalid(f"No dialect is called {name!r}.", f"There are: {', '.join(NAMES)}.")
        import_module(f"holdfast.server.dialects.{name}").add(router)
