"""What the search in a large table misses of the exact ten nearest, with and without filters.

The table is the engine's own; what it chooses is ordered by exact cosine, as in a recall. Exact
search is numpy's, in 32-bit floats, over the vectors as they are stored (16-bit floats) and the
rows that the filter leaves.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import corpora, targets, timing, workload
from benchmarks.options import Options
from benchmarks.workload import DIMENSION, Vectors
from holdfast.embed import open_embedder
from holdfast.engine.cache.vectors import VectorTable
from holdfast.errors import HoldfastError
from holdfast.service import CANDIDATES

TOP = 10
BLOCK = 50_000
SHARES = {"none": 1.0, "50 %": 0.5, "5 %": 0.05, ".5 %": 0.005}
AWAY = "away"  # the filter leaves out the hundredth that is nearest to the query

Mask = NDArray[np.bool_]


def clustered(chance: np.random.Generator, count: int) -> Vectors:
    """As `workload` has them: 2,000 centres, noise as long as the centre."""
    centres = workload.shaped(chance, workload.CENTRES)
    found = np.empty((count, DIMENSION), np.float32)
    for start in range(0, count, BLOCK):
        some = found[start : start + BLOCK]
        chosen = centres[chance.integers(0, workload.CENTRES, len(some))]
        some[:] = workload.unit(chosen + workload.NOISE * workload.shaped(chance, len(some)))
    return found


def isotropic(chance: np.random.Generator, count: int) -> Vectors:
    """Every direction alike: nothing to go by, the hardest case."""
    found = np.empty((count, DIMENSION), np.float32)
    for start in range(0, count, BLOCK):
        some = found[start : start + BLOCK]
        some[:] = workload.unit(chance.standard_normal(some.shape, np.float32))
    return found


def static() -> Vectors | None:
    """The vectors that the static table gives the turns of longmemeval: made in seconds."""
    if "longmemeval" in corpora.missing():
        return None
    corpus = corpora.load("longmemeval")
    texts = {item.text for instance in corpus.instances for item in instance.items}
    try:
        return workload.unit(open_embedder("fast").embed(sorted(texts)))
    except HoldfastError:
        return None


def real(cache: Path) -> Vectors | None:
    """MiniLM's own vectors of whatever was embedded before, in no particular order."""
    files = sorted(cache.glob("minilm-*.db"), key=lambda file: file.stat().st_mtime)
    if not files:
        return None
    with sqlite3.connect(f"file:{files[-1]}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT vector FROM vectors ORDER BY digest").fetchall()
    flat = np.frombuffer(b"".join(row[0] for row in rows), "<f4")
    return workload.unit(flat.reshape(len(rows), -1)) if rows else None


def aligned(chance: np.random.Generator, count: int) -> Vectors:
    """The clustered ones with most of their length along few axes, as principal components are."""
    found: Vectors = clustered(chance, count) @ workload.turned(DIMENSION).T
    return found


class Trial:
    """One table and the questions asked of it."""

    def __init__(self, vectors: Vectors, queries: Vectors) -> None:
        self.vectors, self.queries = vectors, queries
        self.table = VectorTable(vectors.shape[1])
        for start in range(0, len(vectors), BLOCK):
            some = vectors[start : start + BLOCK]
            sizes = np.full(len(some), 2 * some.shape[1])
            self.table.add(start, sizes, some.astype("<f2").tobytes())
        self.cosines = np.concatenate(
            [
                vectors[start : start + BLOCK].astype("<f2").astype(np.float32) @ queries.T
                for start in range(0, len(vectors), BLOCK)
            ]
        ).T

    def recall(self, allowed: Callable[[int], Mask]) -> dict[str, float]:
        """The share of the exact ten that is found, and how long the search takes."""
        shares, times = [], []
        for at, query in enumerate(self.queries):
            mask = allowed(at)
            found, time = self._found(query, mask)
            times.append(time)
            exact = _best(np.where(mask, self.cosines[at], -2.0))
            shares.append(len(np.intersect1d(found, exact)) / len(exact))
        return {"recall": float(np.mean(shares)), "worst": min(shares)} | timing.summary(times)

    def _found(self, query: Vectors, mask: Mask) -> tuple[NDArray[np.int64], timing.Taken]:
        found: list[NDArray[np.int64]] = []

        def search() -> None:
            near = self.table.near(query)
            rows = near.best(mask, CANDIDATES)
            found.append(rows[_best(near.cosines(rows))])

        time = timing.taken(search)
        return found[0], time

    def filters(self, chance: np.random.Generator) -> Iterator[tuple[str, Callable[[int], Mask]]]:
        """Filters of several shares, and one that is against the query."""
        for name, share in SHARES.items():
            yield name, _always(chance.random(len(self.vectors)) < share)
        yield AWAY, lambda at: self.cosines[at] < np.quantile(self.cosines[at], 0.99)


def _always(mask: Mask) -> Callable[[int], Mask]:
    return lambda at: mask


def _best(score: NDArray[Any]) -> NDArray[np.int64]:
    top = min(TOP, len(score))
    return np.argpartition(score, -top)[-top:]


KINDS: dict[str, Callable[[np.random.Generator, int], Vectors]] = {
    "clustered": clustered,
    "axis-aligned": aligned,
    "isotropic": isotropic,
}


class Search:
    """One run."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.queries = 30 if options.quick else 100
        self.found: dict[str, Any] = {"notes": [], "tables": []}

    def run(self) -> dict[str, Any]:
        """Every kind of vectors at every size."""
        sizes = [20_000]
        sizes += [] if self.options.quick else [100_000]
        sizes += [1_000_000] if self.options.large else []
        for size in sizes:
            for name, make in KINDS.items():
                chance = np.random.default_rng((self.options.seed, size))
                made = make(chance, size + self.queries)
                self._trial(name, made[self.queries :], made[: self.queries], chance)
        self._real("MiniLM", real(self.options.cache))
        self._real("static table", static())
        self.found["checks"] = targets.search(self.found)
        return self.found

    def _real(self, name: str, vectors: Vectors | None) -> None:
        if vectors is None or len(vectors) < 20_000:
            said = f"no 20,000 vectors of {name}: run quality on longmemeval first"
            print(f"note: {said}", flush=True)
            self.found["notes"].append(said)
            return
        chance = np.random.default_rng(self.options.seed)
        vectors = vectors[chance.permutation(len(vectors))]
        self._trial(name, vectors[self.queries :], vectors[: self.queries], chance)

    def _trial(
        self, name: str, vectors: Vectors, queries: Vectors, chance: np.random.Generator
    ) -> None:
        trial = Trial(vectors, queries)
        for filter_, allowed in trial.filters(chance):
            row = {"vectors": name, "size": len(vectors), "filter": filter_}
            row |= trial.recall(allowed)
            print(
                f"  {name} {len(vectors):,}, filter {filter_}: recall {row['recall']:.4f}, "
                f"{row['p50_ms']:.2f} ms",
                flush=True,
            )
            self.found["tables"].append(row)
