"""What is asked of what: the development data in its normal form, read where it lies."""

from __future__ import annotations

import gzip
import json
import math
import os
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from holdfast.check import CONTENT_BYTES

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("HOLDFAST_BENCH_DATA") or ROOT.parent / "shared" / "data")
FILES = {
    "locomo": "locomo_dev.json.gz",
    "longmemeval": "longmemeval_s_dev.json.gz",
    "facts-6k": "factconsolidation_6k.json.gz",
    "facts-32k": "factconsolidation_32k.json.gz",
}
STRANGERS = Path(__file__).with_name("strangers")  # written by who had seen nothing of the library
ADVERSARIAL = "adversarial"  # asks for what was never said; its gold is only a near miss


@dataclass(frozen=True)
class Item:
    """One turn of a dialogue, or one fact."""

    id: str
    text: str
    time: datetime
    session: str


@dataclass(frozen=True)
class Query:
    """One question; no `gold` means that nothing answers it."""

    id: str
    text: str
    category: str
    gold: tuple[str, ...]
    gold_sessions: tuple[str, ...]
    newest: tuple[str, ...]
    stale: tuple[str, ...]
    now: datetime

    @property
    def scored(self) -> bool:
        """Whether it counts in the tables "over all"."""
        return bool(self.gold) and self.category != ADVERSARIAL


@dataclass(frozen=True)
class Instance:
    """One store and the questions asked of it."""

    id: str
    items: tuple[Item, ...]
    queries: tuple[Query, ...]


@dataclass(frozen=True)
class Corpus:
    """Stores of one kind; `notes` says what was done to them."""

    name: str
    instances: tuple[Instance, ...]
    notes: tuple[str, ...] = ()

    @property
    def queries(self) -> list[Query]:
        return [query for instance in self.instances for query in instance.queries]

    @property
    def items(self) -> int:
        return sum(len(instance.items) for instance in self.instances)


def missing() -> list[str]:
    """The data sets that are not on this machine."""
    return [name for name, file in FILES.items() if not (DATA / file).is_file()]


def load(name: str) -> Corpus:
    """A data set by its name."""
    with gzip.open(DATA / FILES[name]) as file:
        return parsed(name, json.load(file))


def strangers(share: float = 1.0) -> list[Corpus]:
    """The corpora of strangers, or the first of them."""
    files = sorted(STRANGERS.glob("*.json"))
    some = files[: math.ceil(share * len(files))]
    found = [parsed(file.stem, json.loads(file.read_text("utf-8"))) for file in some]
    return [replace(one, notes=("strangers",)) for one in found]


def parsed(name: str, data: dict[str, Any]) -> Corpus:
    """A corpus out of the normal form."""
    instances = tuple(_instance(found) for found in data["instances"])
    cut = [item.id for instance in data["instances"] for item in _over_long(instance)]
    notes = [f"{len(cut)} of the texts cut to {CONTENT_BYTES} bytes"] if cut else []
    return Corpus(name, instances, tuple(notes))


def _over_long(found: dict[str, Any]) -> Iterator[Item]:
    for raw in found["items"]:
        if len(raw["text"].encode()) > CONTENT_BYTES:
            yield _item(raw)


def _instance(found: dict[str, Any]) -> Instance:
    return Instance(
        str(found["id"]),
        tuple(_item(raw) for raw in found["items"]),
        tuple(_query(raw) for raw in found["queries"]),
    )


def _item(raw: dict[str, Any]) -> Item:
    text = raw["text"].encode()[:CONTENT_BYTES].decode(errors="ignore")
    return Item(raw["id"], text, _moment(raw["time"]), raw["group"])


def _query(raw: dict[str, Any]) -> Query:
    return Query(
        raw["id"],
        raw["text"],
        raw["category"],
        tuple(raw["gold"]),
        tuple(raw["gold_groups"]),
        tuple(raw["newest"]),
        tuple(raw["stale"]),
        _moment(raw["now"]),
    )


def _moment(said: str) -> datetime:
    return datetime.fromisoformat(said).replace(tzinfo=timezone.utc)


def some(corpus: Corpus, stores: int) -> Corpus:
    """The first stores of a corpus, and a note that they are not all."""
    if len(corpus.instances) <= stores:
        return corpus
    left = f"{stores} of its {len(corpus.instances)} stores"
    return replace(corpus, instances=corpus.instances[:stores], notes=(*corpus.notes, left))


def pooled(corpus: Corpus) -> Corpus:
    """All stores of a corpus as one: every question is asked of everything."""
    items: list[Item] = []
    queries: list[Query] = []
    for instance in corpus.instances:
        mark = f"{instance.id}/"
        items += (
            replace(item, id=mark + item.id, session=mark + item.session) for item in instance.items
        )
        queries += (_marked(query, mark) for query in instance.queries)
    # Rows come in the order in which they were said, as they would in one long life.
    items.sort(key=lambda item: (item.time, item.session))
    whole = Instance("pooled", tuple(items), tuple(queries))
    return Corpus(f"{corpus.name}, pooled", (whole,), corpus.notes)


def _marked(query: Query, mark: str) -> Query:
    def each(ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(mark + id for id in ids)

    return replace(
        query,
        id=mark + query.id,
        gold=each(query.gold),
        gold_sessions=each(query.gold_sessions),
        newest=each(query.newest),
        stale=each(query.stale),
    )


def long_chats(corpus: Corpus, seed: int = 3, stores: int = 3, questions: int = 60) -> Corpus:
    """Chats with long answers: some short questions are taken out, and asked of what is left.

    The answer that followed in the chat is the gold. Everything is one endless session.
    """
    chance = random.Random(seed)
    chosen = corpus.instances[:: max(1, len(corpus.instances) // stores)][:stores]
    made = tuple(_long_chat(instance, chance, questions) for instance in chosen)
    return Corpus("long-chats", made, (f"made of {corpus.name}, seed {seed}",))


def _long_chat(instance: Instance, chance: random.Random, questions: int) -> Instance:
    kept: list[Item] = []
    queries: list[Query] = []
    now = max(item.time for item in instance.items)
    for item, after in zip(instance.items, (*instance.items[1:], None), strict=True):
        if len(queries) < questions and _asks(item, after) and chance.random() < 0.3:
            assert after is not None
            text = item.text.partition(": ")[2]
            queries.append(Query(f"{item.id}?", text, "long answer", (after.id,), (), (), (), now))
        else:
            kept.append(replace(item, session="chat"))
    return Instance(f"chat-{instance.id}", tuple(kept), tuple(queries))


def _asks(item: Item, after: Item | None) -> bool:
    return (
        after is not None
        and after.session == item.session
        and item.text.startswith("user: ")
        and after.text.startswith("assistant: ")
        and 8 <= len(item.text.split()) <= 40
    )
