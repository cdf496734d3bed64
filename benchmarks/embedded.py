"""Speed beside the embedder: a store of 10,000 real vectors, whole recalls, batches.

`python -m benchmarks.embedded {…}` runs in a process of its own and prints JSON.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks import timing
from benchmarks.embedding import cached
from benchmarks.sized import SCOPE, drafts
from benchmarks.workload import Texts
from holdfast import Memory
from holdfast.embed import Embedder

QUESTIONS = (
    "what did {} say about the {} in the end?",
    "when was the {} with {} moved to?",
    "which {} does {} like best, and why?",
)


def questions(texts: Texts, count: int, start: int) -> list[str]:
    """Questions nobody has asked before, as long as people's questions are."""
    found = []
    for number in range(start, start + count):
        words = texts.some(number, 1)[0].split()
        found.append(QUESTIONS[number % len(QUESTIONS)].format(words[2], words[5]))
    return found


def measured(name: str, cache: Path, size: int, times: int) -> dict[str, Any]:
    """Whole recalls and batches, in turn with the embedder alone."""
    texts = Texts(2)
    kept = cached(name, cache)
    embedder = kept.inner
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        url = f"sqlite:///{Path(folder) / 'bench.db'}"
        with Memory(SCOPE, url, embedder=kept) as memory:
            memory.remember_many(drafts(texts, 0, size))
        with Memory(SCOPE, url, embedder=embedder) as memory:
            return _whole(memory, embedder, texts, times) | _batches(memory, embedder, texts)


def _whole(memory: Memory, embedder: Embedder, texts: Texts, times: int) -> dict[str, Any]:
    asked, alone = questions(texts, times, 0), questions(texts, times, 500_000)
    memory.recall("something to warm up with")
    taken = timing.in_turn(
        times,
        {
            "embed a query": lambda at: embedder.embed([alone[at]]),
            "whole recall": lambda at: memory.recall(asked[at]),
            "remember": lambda at: memory.remember(texts.some(2_000_000 + at, 1)[0]),
        },
    )
    found: dict[str, Any] = {what: timing.summary(some) for what, some in taken.items()}
    found["whole_over_embedding"] = (
        found["whole recall"]["p50_ms"] / found["embed a query"]["p50_ms"]
    )
    return found


def _batches(memory: Memory, embedder: Embedder, texts: Texts, batch: int = 512) -> dict[str, Any]:
    """How fast many are remembered at once, against how fast they are embedded."""
    taken = timing.in_turn(
        3,
        {
            "embed": lambda at: embedder.embed(texts.some(3_000_000 + at * batch, batch)),
            "remember": lambda at: memory.remember_many(
                drafts(texts, 4_000_000 + at * batch, batch)
            ),
        },
    )
    rate = {what: batch / timing.middle(some) for what, some in taken.items()}
    return {
        "embedded_per_second": rate["embed"],
        "remembered_per_second": rate["remember"],
        "batch_share_of_embedding": rate["remember"] / rate["embed"],
    }


if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    print(json.dumps(measured(task["name"], Path(task["cache"]), task["size"], task["times"])))
