"""What lasts of a conversation: the port that every extractor fits.

An extractor is handed the turns of a conversation and gives learnings, each with the numbers of
the turns it came from. Extractors are pure (`rules`) or go over a network (`llm`); neither stores
anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from holdfast.errors import Invalid
from holdfast.model import Learning, Turn


class Extractor(Protocol):
    """Turns in, learnings out."""

    name: str

    def extract(self, turns: Sequence[Turn], now: datetime) -> list[Learning]:
        """What lasts of the turns; `now` is when a turn without a time was said."""


def open_extractor(name: str) -> Extractor:
    """The extractor of a name: `rules`, or `llm` as `$HOLDFAST_LLM_URL` and its like say."""
    if name == "llm":
        from holdfast.extract.llm import from_environment

        return from_environment()
    if name == "rules":
        from holdfast.extract.rules import Rules

        return Rules()
    raise Invalid(f"There is no extractor {name!r}.", "Use rules or llm, or pass one of your own.")
