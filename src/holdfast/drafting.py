"""Drafts of what is told at once: whoever needs one first makes all that are asked for, in one go.

One thread that makes eight in a row is quicker than eight that make one each: it calls the embedder
once, and what it needs stays in the processor's caches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from holdfast import ops
from holdfast.engine import Draft, Place


class Asked:
    """Something told at a place, and the draft that it becomes."""

    __slots__ = ("draft", "now", "place", "told")

    def __init__(self, told: ops.Draft, place: Place, now: datetime) -> None:
        self.told, self.place, self.now = told, place, now
        self.draft: Draft | None = None


class Drafting:
    """The drafts that are asked for and not made yet.

    There is no lock. Of two who make the same draft at once, the first is the one that counts.
    """

    def __init__(self, make: Callable[[Sequence[Asked]], Sequence[Draft]]) -> None:
        self._make = make
        self._asked: list[Asked] = []

    def ask(self, asked: Asked) -> None:
        """Lets a draft be made by whoever needs one first."""
        self._asked.append(asked)

    def drop(self, asked: Asked) -> None:
        """Takes back what nobody needs any more."""
        if asked.draft is None:
            with suppress(ValueError):
                self._asked.remove(asked)

    def of(self, asked: Asked) -> Draft:
        """The draft of something told, made together with all others that are asked for."""
        if asked.draft is None:
            taken, self._asked = self._asked, []
            some = list(taken)  # which may still grow: who is late makes one alone
            if asked not in some:  # another took it up, and has not made it yet or could not
                some.append(asked)
            for one, draft in zip(some, self._make(some), strict=True):
                one.draft = one.draft or draft
        assert asked.draft is not None
        return asked.draft
