"""A store laid open to be moved: every row in the same words, whichever engine keeps it.

A line is a tuple of the columns named here. Word lists, slots and changes are indexes, and are
not moved: they are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

from holdfast.engine import Place

T = TypeVar("T")
Line = tuple[Any, ...]

MEMORY = (
    *("id", "version", "vectors", "speaker", "length", "fingerprint", "content", "terms", "kind"),
    *("tags", "meta", "session", "writer", "role", "message", "pinned", "created_at"),
    *("happened_at", "expires_at", "until", "superseded_by", "uses", "last_used_at", "avoid"),
    "via",
)
# What hangs on a scope, in the order it came.
SCOPED = {
    "states": ("key", "value", "version", "updated_at", "expires_at"),
    "links": ("id", "relation", "other"),
    "tellings": ("id", "writer", "role", "message", "via", "at"),
    "heard": ("turn",),
    "held": ("id", "draft", "why", "at"),
    "policies": ("policy",),
    "jobs": ("id", "session", "work", "state", "attempts", "due", "at", "trouble"),
    "answers": ("key", "digest", "about", "answer", "at"),
}
# What is of all tenants: what outlives a place that was forgotten, and what a server keeps.
WHOLE = {
    "retired": ("place", "version"),
    "lost": ("key", "digest", "about", "answer", "at"),  # answers given in places that are gone
    "keys": (
        *("id", "tenant", "name", "digest", "rights", "prefix", "role", "created_at"),
        *("expires_at", "revoked_at", "last_used_at"),
    ),
    "audit": ("tenant", "at", "key", "act", "scope", "subject", "request"),
    "errands": (
        *("id", "tenant", "scope", "task", "status", "result", "created_at", "updated_at"),
    ),
    "days": ("tenant", "day", "writes"),
}


class Opened(Protocol):
    """A store inside one transaction; what is written goes in whole or not at all."""

    def places(self) -> list[tuple[Place, int]]:
        """Every place, with how many rows of memories it has."""

    def memories(self, place: Place, after: int, limit: int) -> list[tuple[int, Line]]:
        """Every version of every memory, expired or not, in order; each with its row."""

    def table(self, place: Place, name: str) -> list[Line]:
        """What hangs on a place."""

    def whole(self, name: str) -> list[Line]:
        """What is of all tenants."""

    def clear(self, place: Place) -> None:
        """Removes a place and all that hangs on it."""

    def add_memories(self, place: Place, lines: Sequence[Line]) -> None:
        """Adds memories behind those there are."""

    def add_table(self, place: Place, name: str, lines: Sequence[Line]) -> None:
        """Adds what hangs on a place."""

    def replace_whole(self, name: str, lines: Sequence[Line]) -> None:
        """Writes what is of all tenants, in place of what was."""


class House(Protocol):
    """A store that can be moved out of, and into."""

    def look(self, work: Callable[[Opened], T]) -> T:
        """Runs a function on a consistent view."""

    def settle(self, work: Callable[[Opened], T]) -> T:
        """Runs a function that writes; returns once it is on disk."""
