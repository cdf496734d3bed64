"""all-MiniLM-L6-v2 in whole numbers (int8), on onnxruntime: no torch, and nothing to download."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from holdfast.embed.files import DATA, require
from holdfast.embed.wordpiece import WordPiece
from holdfast.errors import EmbedderFailed

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

DIMENSION = 384
LONGEST = 254  # pieces; with the two marks around them 256, which is what the model was taught
CLS, SEP = 101, 102
BATCH = 256  # pieces in one run, padding included: many more fall out of the processor's cache
THREADS = 4  # at most, for one call with many texts

Vectors = NDArray[np.float32]


class MiniLM:
    """Vectors by all-MiniLM-L6-v2: 384 numbers, the same for a text whatever its company.

    The model is loaded with the first text. Any number of threads may call `embed`.
    """

    name = "minilm"
    version = "all-MiniLM-L6-v2-int8.1"
    dimension = DIMENSION
    local = True

    def __init__(
        self,
        data: Path = DATA,
        name: str = name,
        version: str = version,
        threads: int | None = None,
    ) -> None:
        """`name` and `version` are of another model of the same build, if it is to be one."""
        self._file = data / f"{name}.onnx"
        require(data, name, version, self._file.name, "vocab.txt")
        if find_spec("onnxruntime") is None:
            raise EmbedderFailed("onnxruntime is not installed.", "Install holdfast[local].")
        self._data = data
        self._threads = threads or min(THREADS, _processors())
        self._lock = threading.Lock()
        self._loaded: tuple[WordPiece, InferenceSession] | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text; of a long text only the first 256 pieces are read."""
        return self.vectors(self.numbers(texts))

    def numbers(self, texts: Sequence[str]) -> list[list[int]]:
        """What the model reads of each text: the numbers of its pieces between two marks."""
        return [[CLS, *self.pieces(text)[:LONGEST], SEP] for text in texts]

    def pieces(self, text: str) -> list[int]:
        """The numbers of a text's pieces."""
        pieces, _ = self._model()
        return pieces.numbers(text)

    def vectors(self, numbers: Sequence[list[int]]) -> Vectors:
        """One row per list of numbers."""
        _, session = self._model()
        vectors = np.empty((len(numbers), DIMENSION), np.float32)

        def run(batch: list[int]) -> None:
            vectors[batch] = session.run(["vectors"], _padded([numbers[i] for i in batch]))[0]

        self._spread(run, list(batches([len(row) for row in numbers])))
        return vectors

    def _spread(self, run: Callable[[list[int]], None], todo: list[list[int]]) -> None:
        if len(todo) < 2 or self._threads == 1:
            for batch in todo:
                run(batch)
            return
        # A pool for the call alone: one kept open would not live through a fork.
        with ThreadPoolExecutor(min(self._threads, len(todo)), "holdfast-minilm") as pool:
            list(pool.map(run, todo))

    def _model(self) -> tuple[WordPiece, InferenceSession]:
        with self._lock:
            if self._loaded is None:
                self._loaded = WordPiece.read(self._data / "vocab.txt"), _session(self._file)
            return self._loaded


def batches(lengths: Sequence[int], size: int = BATCH) -> Iterator[list[int]]:
    """Places of texts to run together: of like length, and few enough to be `size` in all."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        # The first is the longest, and every other one is padded to it.
        if batch and lengths[batch[0]] * (len(batch) + 1) > size:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _padded(rows: list[list[int]]) -> dict[str, NDArray[np.int64]]:
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for line, marks, row in zip(ids, mask, rows, strict=True):
        line[: len(row)] = row
        marks[: len(row)] = 1
    return {"ids": ids, "mask": mask}


def _session(file: Path) -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread for each run: no pool that spins, starves its neighbours or is lost in a fork.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
