"""Does a later statement end an earlier one? MiniLM, taught to read two statements at once.

Slots see a change that is told in a form they know. This sees one in whatever words: "The user is
single", "Got engaged to Marcus!". It was taught by pairs that people would agree on at once
(`tools/changes`), so it has no rules to look up, only how sure it is. It is shown few pairs, of
statements near each other, and believed only when it is very sure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np

from holdfast import speech
from holdfast.embed.files import DATA
from holdfast.embed.minilm import CLS, SEP, MiniLM
from holdfast.errors import EmbedderFailed
from holdfast.slots import USER

SURE = 0.9  # from here on it is believed that the earlier statement no longer holds
LONGEST = 60  # pieces of either statement that are read

Pair = tuple[str, str]  # the earlier statement and the later one


class Changes(Protocol):
    """Pairs in, how sure it is of each that the later ends the earlier."""

    def sureness(self, pairs: Sequence[Pair]) -> list[float]:
        """0..1 for each pair of an earlier and a later statement, as `said` puts them."""


class Taught:
    """The model that lies in the package."""

    name = "changes"
    version = "minilm-changes.1"

    def __init__(self, data: Path = DATA) -> None:
        self._model = MiniLM(data, self.name, self.version)
        head = np.load(data / f"{self.name}.npz")
        self._weight, self._bias = head["weight"], float(head["bias"])

    def sureness(self, pairs: Sequence[Pair]) -> list[float]:
        """How sure it is of each pair, 0..1."""
        if not pairs:
            return []
        vectors = self._model.vectors([numbers(self._model, *pair) for pair in pairs])
        found: list[float] = (1 / (1 + np.exp(-(vectors @ self._weight + self._bias)))).tolist()
        return found


def numbers(model: MiniLM, earlier: str, later: str) -> list[int]:
    """What the model reads: both statements, one after the other."""
    first, second = (model.pieces(each)[:LONGEST] for each in (earlier, later))
    return [CLS, *first, SEP, *second, SEP]


def said(content: str, writer: str | None) -> str:
    """A statement as it is shown: told of whoever says "I".

    said("I moved to Rome", "Ann") == "Ann moved to Rome"
    """
    named = writer and writer.lower() not in (USER, "human")
    return speech.resolved(speech.capital(content), writer if named and writer else "The user")


@lru_cache(maxsize=1)
def opened() -> Changes | None:
    """The model of the package; None where it is not installed: then slots decide alone."""
    try:
        return Taught()
    except EmbedderFailed:
        return None
