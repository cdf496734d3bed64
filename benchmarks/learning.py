"""How well the library learns: corrections, extraction and its cost, evidence kept, junk."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import contradictions, corpora, junk, metrics, poisoning
from benchmarks.corpora import Corpus, Instance, Item, Query
from benchmarks.embedding import cached
from benchmarks.options import Options
from benchmarks.stores import DEFAULT, RELEVANCE, Unworn, remembered
from holdfast import Hit, Memory, Recalled, Record, Weights
from holdfast.backend import Here
from holdfast.conversation import parsed
from holdfast.embed import Embedder
from holdfast.model import Turn
from holdfast.service import Service
from holdfast.text import tokens

DEPTHS = (5, 10, 20)
REPLAYED = 10  # sessions


class Learning:
    """One run: what it was asked, and what it has found."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.found: dict[str, Any] = {"notes": [], "facts": {}}

    def run(self) -> dict[str, Any]:
        """Every suite, one after the other."""
        self.found["contradictions"] = contradictions.run(self.options)
        self.found["poisoning"] = poisoning.run(self.options)
        embedder = cached(self.options.embedders[0], self.options.cache)
        absent = set(corpora.missing())
        self.found["notes"] += [f"{name} is not in {corpora.DATA}: left out" for name in absent]
        for name in ("facts-6k", "facts-32k"):
            if name not in absent:
                self.found["facts"][name] = facts(corpora.load(name), embedder)
        if "locomo" not in absent:
            self.found["extraction"] = extraction(corpora.load("locomo"), embedder)
        if "longmemeval" not in absent and not self.options.quick:
            self.found["updates"] = updates(corpora.load("longmemeval"), embedder)
        return self.found


@contextmanager
def opened(embedder: Embedder) -> Iterator[Here]:
    """A new store that counts no uses."""
    with tempfile.TemporaryDirectory(prefix="holdfast-learning-") as folder:
        service = Service(Unworn(str(Path(folder) / "bench.db")), embedder)
        backend = Here(service, service.close)
        try:
            yield backend
        finally:
            backend.close()


# --- corrections ---


def facts(corpus: Corpus, embedder: Embedder) -> dict[str, float]:
    """Facts and later, contradicting ones: is the newest first, and the stale one gone?"""
    first, gone, asked = 0, 0, 0
    with opened(embedder) as backend:
        for instance in corpus.instances:
            memory = Memory(instance.id, backend=backend)
            for start in range(0, len(instance.items), 500):
                memory.remember_many([_fact(item) for item in instance.items[start : start + 500]])
            for query in (query for query in instance.queries if query.stale):
                found = [hit.id for hit in memory.recall(query.text, 50, now=query.now)]
                asked += 1
                first += metrics.newest_first(found, query.newest, query.stale) == 1.0
                gone += not set(query.stale) & set(found)
    return {"questions": asked, "newest first": first / asked, "stale out of recall": gone / asked}


def _fact(item: Item) -> dict[str, Any]:
    return {"content": item.text, "id": item.id, "happened_at": item.time, "reconcile": True}


def updates(corpus: Corpus, embedder: Embedder) -> dict[str, float]:
    """Questions about what changed: does the newest evidence come before the stale one?

    As recall is by default, in which newer counts for more; and by similarity alone. What else a
    stale turn says is not stale: once its old value is corrected, only the turn itself counts as
    the stale evidence; "by turn" counts whatever was learned from it.
    """
    asked = first = by_turn = alone = raw = 0
    for instance in corpus.instances:
        queries = [query for query in instance.queries if query.stale and query.newest]
        if not queries:
            continue
        with opened(embedder) as backend:
            memory = Memory(instance.id, backend=backend)
            extracted(memory, instance, "both")
            for query in queries:
                asked += 1
                hits = asked_of(memory, query, DEFAULT)
                found = evidence(hits, corrected(memory, query.stale))
                first += metrics.newest_first(found, query.newest, query.stale) == 1.0
                found = evidence(hits)
                by_turn += metrics.newest_first(found, query.newest, query.stale) == 1.0
                found = evidence(asked_of(memory, query))
                alone += metrics.newest_first(found, query.newest, query.stale) == 1.0
        one = Corpus(corpus.name, (instance,))
        with remembered(one, embedder) as stores:
            for query in queries:
                found = [hit.id for hit in stores[0].recall(query, DEFAULT)]
                raw += metrics.newest_first(found, query.newest, query.stale) == 1.0
    return {
        "questions": asked,
        "newest first": first / asked,
        "by turn": by_turn / asked,
        "by similarity alone": alone / asked,
        "raw turns": raw / asked,
    }


# --- extraction ---


def extraction(corpus: Corpus, embedder: Embedder) -> dict[str, Any]:
    """What learning from dialogues keeps, and at what size, beside keeping every turn."""
    learned: dict[str, list[float]] = {f"recall@{k}": [] for k in DEPTHS}
    raw: dict[str, list[float]] = {f"recall@{k}": [] for k in DEPTHS}
    kept: dict[str, list[bool]] = {f"recall@{k}": [] for k in DEPTHS}
    stored = told = growth = memories = 0
    contents: list[str] = []
    with opened(embedder) as backend, remembered(corpus, embedder) as stores:
        for store in stores:
            memory = Memory(store.instance.id, backend=backend)
            extracted(memory, store.instance, "learnings")
            stored += sum(tokens(one.content) for one in every(memory))
            memories += len(every(memory))
            contents += [one.content for one in every(memory)]
            told += sum(tokens(item.text) for item in store.instance.items)
            growth += replayed(memory, store.instance)
            sources = {it for one in every(memory) for it in messages(one)}
            for query in (query for query in store.instance.queries if query.scored):
                ours = evidence(asked_of(memory, query))
                theirs = [hit.id for hit in store.recall(query, RELEVANCE)]
                for k in DEPTHS:
                    learned[f"recall@{k}"].append(share(ours[:k], query.gold))
                    raw[f"recall@{k}"].append(share(theirs[:k], store.ids(query.gold)))
                    hit = set(theirs[:k]) & set(query.gold)
                    kept[f"recall@{k}"] += [turn in sources for turn in hit]
    figures = {name: sum(values) / len(values) for name, values in learned.items()}
    beside = {name: sum(values) / len(values) for name, values in raw.items()}
    return {
        "memories": memories,
        "share of tokens": stored / told,
        "learned": figures,
        "raw turns": beside,
        "share of evidence": {name: figures[name] / beside[name] for name in figures},
        "kept of what raw turns find": {k: sum(v) / len(v) for k, v in kept.items()},
        "growth when replayed": growth,
        "junk": junk.share(contents),
    }


def every(memory: Memory) -> list[Record]:
    """All memories of a scope, past ones too."""
    lines = [json.loads(line) for line in memory.export()]
    ids = dict.fromkeys(line["id"] for line in lines if line["type"] == "memory")
    return [memory.read(id) for id in ids]


def messages(one: Record) -> list[str]:
    """The messages a memory came from."""
    said = one.source.message if one.source else None
    return [*([said] if said else []), *one.meta.get("messages", ())]


def turns(items: Sequence[Item]) -> list[Turn]:
    """Items as turns that keep their ids."""
    found = []
    for item in items:
        said = parsed(item.text)
        speaker, role = (said[0].speaker, said[0].role) if said else (None, "user")
        words = "\n".join(turn.text for turn in said)
        found.append(Turn(words or item.text, speaker, role, item.time, item.id))
    return found


def sessions(instance: Instance) -> dict[str, list[Item]]:
    """The items of each session, in order."""
    found: dict[str, list[Item]] = {}
    for item in instance.items:
        found.setdefault(item.session, []).append(item)
    return found


def extracted(memory: Memory, instance: Instance, keep: str) -> None:
    """Learns from every session."""
    for session, items in sessions(instance).items():
        memory.extract(turns(items), session, keep=keep)


def replayed(memory: Memory, instance: Instance) -> int:
    """How many memories more there are after ten sessions were told again."""
    before = memory.stats().versions
    for session, items in list(sessions(instance).items())[:REPLAYED]:
        memory.extract(turns(items), session)
    return memory.stats().versions - before


def asked_of(memory: Memory, query: Query, weights: Weights = RELEVANCE) -> Recalled:
    """The library's answer to a question."""
    return memory.recall(query.text, 100, weights=weights, now=query.now, min_score=0.0)


def corrected(memory: Memory, turns: Sequence[str]) -> set[str]:
    """Those of the turns from which something was learned that is past by now."""
    past = [one for one in every(memory) if memory.history(one.id)[-1].superseded_by]
    return {turn for one in past for turn in messages(one)} & set(turns)


def evidence(found: Recalled, corrected: Container[str] = ()) -> list[str]:
    """The turns that the hits came from, best first; of `corrected` ones only the turn itself."""
    hits: list[Hit] = sorted([*found, *found.avoid], key=lambda hit: -hit.score)
    named = [
        hit.memory.source.message
        for hit in hits
        if hit.memory.source
        and (hit.memory.kind == "interaction" or hit.memory.source.message not in corrected)
    ]
    return list(dict.fromkeys(message for message in named if message))


def share(found: Sequence[str], gold: Sequence[str]) -> float:
    """Which share of the gold was found."""
    return len(set(found) & set(gold)) / len(set(gold))
