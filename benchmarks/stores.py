"""The library as it is asked here: every store a scope of a real file, every answer by `recall`.

A recall counts as a use, and uses raise later scores. So that every question meets the same
store, whatever was asked before it, uses are not counted here, unless that is what is measured.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from benchmarks.corpora import Corpus, Instance, Item, Query
from holdfast import Memory, Recalled, Weights
from holdfast.backend import Here
from holdfast.embed import Embedder
from holdfast.engine import Engine, Key
from holdfast.engine.sqlite import SQLite
from holdfast.service import Service

DEPTH = 100  # so many are asked for: twenty sessions are more than twenty turns
BATCH = 2000  # items remembered in one transaction
RELEVANCE = Weights(1.0, 0.0, 0.0)
DEFAULT = Weights()


class Unworn(SQLite):
    """A store that does not count uses."""

    def use(self, keys: Sequence[Key], now: datetime) -> None:
        """Does nothing."""


@dataclass
class Store:
    """One instance as it was remembered. Equal content is one memory: its ids are joined."""

    instance: Instance
    memory: Memory
    known_as: dict[str, str] = field(default_factory=dict)  # item id: id of its memory
    sessions: dict[str, list[str]] = field(default_factory=dict)  # memory id: its sessions
    items: dict[str, Item] = field(default_factory=dict)  # memory id: its first item

    def remember(self) -> None:
        """Remembers every item, in order."""
        items = self.instance.items
        for start in range(0, len(items), BATCH):
            some = items[start : start + BATCH]
            for item, told in zip(some, self.memory.remember_many(_drafts(some)), strict=True):
                self.known_as[item.id] = told.id
                self.items.setdefault(told.id, item)
                held = self.sessions.setdefault(told.id, [])
                held += [item.session] if item.session not in held else []

    def ids(self, items: Sequence[str]) -> list[str]:
        """The memories of some items; an id of no item, which data may have, stays itself."""
        return list(dict.fromkeys(self.known_as.get(id, id) for id in items))

    def recall(
        self, query: Query, weights: Weights, limit: int = DEPTH, min_score: float | None = None
    ) -> Recalled:
        """The library's answer."""
        return self.memory.recall(
            query.text, limit, weights=weights, now=query.now, min_score=min_score
        )


def _drafts(items: Sequence[Item]) -> list[dict[str, object]]:
    return [
        {
            "content": item.text,
            "id": item.id,
            "session": item.session,
            "happened_at": item.time,
        }
        for item in items
    ]


@contextmanager
def remembered(
    corpus: Corpus,
    embedder: Embedder | None,
    count_uses: bool = False,
    elsewhere: Engine | None = None,
) -> Iterator[list[Store]]:
    """A file, or another store, with a scope for every instance of a corpus."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        engine = elsewhere or (SQLite if count_uses else Unworn)(str(Path(folder) / "bench.db"))
        service = Service(engine, embedder)
        backend = Here(service, service.close)
        try:
            stores = []
            for instance in corpus.instances:
                store = Store(instance, Memory(instance.id, backend=backend))
                store.remember()
                stores.append(store)
            yield stores
        finally:
            backend.close()
