"""Meaning as vectors: the port that every embedder fits, and `open_embedder`, which knows some.

Any object with these attributes will do; `Guarded` (in `guard`) protects the store from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import EmbedderFailed, Invalid


class Embedder(Protocol):
    """Turns texts into vectors of unit length."""

    name: str
    version: str  # another version means other vectors
    dimension: int
    local: bool  # runs here and cannot hang; others are called in a thread, under a time limit
    # It may also have `background`: the mean and spread of cosines between unrelated texts. Without
    # it they are measured once. And `quick`: True if a content takes less than the sync of a fast
    # disk and waits for nobody; whoever writes for others then embeds for them, too.

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""


BUILT_IN = {
    "minilm": ("holdfast.embed.minilm", "MiniLM"),
    "fast": ("holdfast.embed.static", "Static"),
    "hashing": ("holdfast.embed.hashing", "Hashing"),
}


def open_embedder(wanted: Embedder | str) -> Embedder:
    """The embedder of that name; an embedder is itself."""
    if not isinstance(wanted, str):
        return _checked(wanted)
    if wanted not in BUILT_IN:
        known = ", ".join(map(repr, BUILT_IN))
        raise Invalid(f"No embedder is called {wanted!r}.", f"Use {known}, or pass an Embedder.")
    module, name = BUILT_IN[wanted]
    made: Embedder = getattr(import_module(module), name)()
    return made


def open_best() -> Embedder:
    """The best embedder that this installation has; one that knows no language always works."""
    for name in BUILT_IN:
        with suppress(EmbedderFailed):
            return open_embedder(name)
    raise AssertionError("hashing needs nothing")


def _checked(embedder: Embedder) -> Embedder:
    kinds = {"name": str, "version": str, "dimension": int}
    lacks = [
        name for name, kind in kinds.items() if not isinstance(getattr(embedder, name, 0), kind)
    ]
    if lacks or not embedder.dimension or not callable(getattr(embedder, "embed", None)):
        raise Invalid(
            f"{type(embedder).__name__} is not an embedder.",
            "It must have a name, a version, a dimension, and embed(texts).",
        )
    return embedder
