"""MiniLM, taught two things: does a statement end an earlier one, is a sentence worth keeping?

Slots see a change that is told in a form they know, and rules know the forms of small talk. This
sees either in whatever words: "The user is single", "Got engaged to Marcus!". It was taught by
examples that people would agree on at once (`tools/lessons`), so it has no rules to look up, only
how sure it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast import speech
from holdfast.embed.files import DATA
from holdfast.embed.minilm import CLS, SEP, MiniLM
from holdfast.errors import EmbedderFailed
from holdfast.slots import USER

LONGEST = 60  # pieces of a statement that are read
TASKS = ("changes", "worth")

Pair = tuple[str, str]  # the earlier statement and the later one


class Reader(Protocol):
    """Statements in, how sure it is of each, 0..1."""

    def sureness(self, pairs: Sequence[Pair]) -> list[float]:
        """That the later of two statements ends the earlier, both as `said` puts them."""

    def worth(self, sentences: Sequence[str]) -> list[float]:
        """That a sentence is worth keeping."""


class Taught:
    """The model that lies in the package."""

    name = "taught"
    version = "minilm-taught.4"

    def __init__(self, data: Path = DATA) -> None:
        self._model = MiniLM(data, self.name, self.version)
        self._heads = dict(np.load(data / f"{self.name}.npz"))

    def sureness(self, pairs: Sequence[Pair]) -> list[float]:
        """How sure it is of each pair that the later statement ends the earlier, 0..1."""
        return self._sure("changes", [numbers(self._model, *pair) for pair in pairs])

    def worth(self, sentences: Sequence[str]) -> list[float]:
        """How sure it is of each sentence that it is worth keeping, 0..1."""
        return self._sure("worth", [numbers(self._model, sentence) for sentence in sentences])

    def _sure(self, task: str, read: Sequence[list[int]]) -> list[float]:
        if not read:
            return []
        weight, bias = (self._heads[f"{task}_{part}"] for part in ("weight", "bias"))
        logits: NDArray[np.float32] = self._model.vectors(read) @ weight + bias
        found: list[float] = (1 / (1 + np.exp(-logits))).tolist()
        return found


def numbers(model: MiniLM, *told: str) -> list[int]:
    """What the model reads: the statements, one after the other."""
    pieces = [[*model.pieces(each)[:LONGEST], SEP] for each in told]
    return [CLS, *(number for each in pieces for number in each)]


def said(content: str, writer: str | None) -> str:
    """A statement as it is shown: told of whoever says "I".

    said("I moved to Rome", "Ann") == "Ann moved to Rome"
    """
    named = writer and writer.lower() not in (USER, "human")
    return speech.resolved(speech.capital(content), writer if named and writer else "The user")


@lru_cache(maxsize=1)
def opened() -> Reader | None:
    """The model of the package; None where it is not installed: then slots and rules decide."""
    try:
        return Taught()
    except EmbedderFailed:
        return None
