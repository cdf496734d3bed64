"""A table with one vector for each piece of a word, distilled from MiniLM: needs only numpy.

The vector of a text is the weighted sum of its pieces' rows, frequent pieces weighing little: no
model is run, so that a text takes microseconds. What the order of words means is lost.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast.embed.files import DATA, require
from holdfast.embed.wordpiece import WordPiece

DIMENSION = 384
NOTHING = 0  # the row that stands for a text without a single known piece
CHUNK = 4096  # rows of a text that are in memory at once

Vectors = NDArray[np.float32]


class Table(NamedTuple):
    """Rows in bytes, and what each is to be multiplied with: its scale and its weight in one."""

    pieces: WordPiece
    rows: NDArray[np.int8]
    weights: Vectors


class Static:
    """Vectors by a table of word pieces: 384 numbers; thousands of texts in a second.

    The table is loaded with the first text. Any number of threads may call `embed`.
    """

    name = "fast"
    version = "all-MiniLM-L6-v2-static.1"
    dimension = DIMENSION
    local = True

    def __init__(self, data: Path = DATA) -> None:
        require(data, self.name, self.version, "static.npz", "vocab.txt")
        self._data = data
        self._lock = threading.Lock()
        self._loaded: Table | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text; of a text with no known word, a row that is always the same."""
        table = self._table()
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            _add(table, text, vector)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / lengths
        return unit

    def _table(self) -> Table:
        with self._lock:
            if self._loaded is None:
                with np.load(self._data / "static.npz") as file:
                    pieces = WordPiece.read(self._data / "vocab.txt")
                    self._loaded = Table(pieces, file["rows"], file["weights"])
            return self._loaded


def _add(table: Table, text: str, vector: Vectors) -> None:
    unknown = table.pieces.unknown
    known = [number for number in table.pieces.numbers(text) if number != unknown] or [NOTHING]
    for start in range(0, len(known), CHUNK):
        numbers = known[start : start + CHUNK]
        vector += table.weights.take(numbers) @ table.rows.take(numbers, 0).astype(np.float32)
