"""How well recall finds what answers: through the real library, beside BM25 and cosine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

from benchmarks import ablation, abstention, baselines, budget, corpora, generated, targets
from benchmarks.corpora import Corpus, Query
from benchmarks.embedding import Cached, cached
from benchmarks.options import Options
from benchmarks.scoring import Ask, Row, answers, evaluated, tabled
from benchmarks.stores import DEFAULT, DEPTH, RELEVANCE, Store, remembered
from holdfast import Weights
from holdfast.errors import HoldfastError

USED = 20  # hits of one recall, where recalls count as uses
TOGETHER = ("generated", "strangers")  # kinds of corpora too small to judge each by itself

Asker = Callable[[Store], Ask]
Replies = dict[str, list[abstention.Reply]]


def library(weights: Weights, limit: int = DEPTH, min_score: float | None = None) -> Asker:
    """The library as a system to be measured."""

    def asker(store: Store) -> Ask:
        def ask(query: Query) -> list[str]:
            return [hit.id for hit in store.recall(query, weights, limit, min_score)]

        return ask

    return asker


def rivals(embedder: Cached) -> dict[str, Asker]:
    """Baselines given the same vectors."""
    return {
        "cosine": lambda store: baselines.Cosine(store, embedder).ask,
        "cosine by passage": lambda store: baselines.Cosine(store, embedder, by_passage=True).ask,
        "BM25": lambda store: baselines.BM25(store).ask,
        "BM25 unstemmed": lambda store: baselines.BM25(store, baselines.plain_terms).ask,
    }


OURS: dict[str, Weights] = {"default": DEFAULT, "relevance": RELEVANCE}


class Quality:
    """One run: its options, and what it has found."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.found: dict[str, Any] = {"notes": [], "corpora": {}, "abstention": {}, "ablation": {}}
        self._replies: dict[str, Replies] = {}  # of each kind of corpus, and of all
        self._rows: dict[str, dict[str, list[Row]]] = {}  # of each kind made here, and each system

    def note(self, said: str) -> None:
        """Says something, and keeps it with the results."""
        print(f"note: {said}", flush=True)
        self.found["notes"].append(said)

    def run(self) -> dict[str, Any]:
        """Every corpus, one after the other."""
        embedders = list(self._embedders())
        share = self.options.share
        made = [*generated.all_of(self.options.seed, share), *corpora.strangers(share)]
        self.found["embedders"] = [f"{one.name} {one.version}" for one in embedders]
        with ExitStack() as open_stores:
            others = [
                store
                for corpus in made[:2]
                for store in open_stores.enter_context(remembered(corpus, embedders[0]))
            ]
            chosen = self.options.made
            wanted = [one for one in made if chosen is None or one.name in chosen]
            for corpus in [*self._recorded(), *wanted]:
                self._corpus(corpus, embedders, others)
        self._together()
        self.found["checks"] = targets.quality(self.found)
        return self.found

    def _embedders(self) -> Iterator[Cached]:
        for name in self.options.embedders:
            try:
                yield cached(name, self.options.cache)
            except HoldfastError as error:
                self.note(f"embedder {name} left out: {error}")

    def _recorded(self) -> Iterator[Corpus]:
        for name in corpora.missing():
            self.note(f"{name} is not in {corpora.DATA}: left out")
        for name in self.options.chosen_data(corpora.FILES):
            if name in corpora.missing():
                continue
            corpus = corpora.some(corpora.load(name), self.options.stores)
            yield corpus
            if name in ("locomo", "longmemeval") and self.options.pooled:
                yield corpora.pooled(corpus)
            if name == "longmemeval":
                yield corpora.long_chats(corpus)

    def _corpus(self, corpus: Corpus, embedders: Sequence[Cached], others: Sequence[Store]) -> None:
        print(f"{corpus.name}: {corpus.items} items, {len(corpus.queries)} questions", flush=True)
        found = self.found["corpora"][corpus.name] = {"about": about(corpus), "systems": {}}
        first, rows = embedders[0], dict[str, list[Row]]()
        with remembered(corpus, first) as stores:
            found["about"]["memories"] = sum(len(store.items) for store in stores)
            self._systems(rows, stores, first)
            if self.options.budgets:
                found["budget"] = self._budgets(stores, first)
            if "pooled" not in corpus.name:
                self._abstain(corpus, stores, others)
                if self.options.ablation:
                    self.found["ablation"][corpus.name] = self._ablation(stores)
        self._more_systems(rows, corpus, embedders)
        found["systems"] = {name: tabled(some) for name, some in rows.items()}
        found["chance"] = targets.chances(rows)
        for name, some in rows.items() if kind(corpus) in TOGETHER else ():
            self._rows.setdefault(kind(corpus), {}).setdefault(name, []).extend(some)

    def _systems(
        self, rows: dict[str, list[Row]], stores: Sequence[Store], embedder: Cached
    ) -> None:
        askers = {name: library(weights) for name, weights in OURS.items()}
        askers["relevance, never abstaining"] = library(RELEVANCE, min_score=0.0)
        askers |= rivals(embedder)
        for name, asker in askers.items():
            rows[name] = answers(stores, asker)
            say(name, tabled(rows[name]))

    def _more_systems(
        self, rows: dict[str, list[Row]], corpus: Corpus, embedders: Sequence[Cached]
    ) -> None:
        """Those that need a store of their own."""
        with remembered(corpus, embedders[0], count_uses=True) as stores:
            rows["default, uses counted"] = answers(stores, library(DEFAULT, USED))
            say("default, uses counted", tabled(rows["default, uses counted"]))
        for embedder in embedders[1:]:
            with remembered(corpus, embedder) as stores:
                for name, weights in OURS.items():
                    label = f"{name}, {embedder.name}"
                    rows[label] = answers(stores, library(weights))
                    say(label, tabled(rows[label]))

    def _budgets(self, stores: Sequence[Store], embedder: Cached) -> dict[str, budget.Shares]:
        print("  token budgets …", flush=True)
        shares = {name: budget.of_library(stores, weights) for name, weights in OURS.items()}
        for name, asker in rivals(embedder).items():
            if name in ("cosine", "BM25"):
                shares[name] = budget.of_order(stores, [asker(store) for store in stores])
        return shares

    def _abstain(self, corpus: Corpus, stores: Sequence[Store], others: Sequence[Store]) -> None:
        elsewhere = [other for other in others if other.instance.id != corpus.name]
        print("  abstention …", flush=True)
        replies = abstention.asked(stores, elsewhere, self.options.seed)
        self.found["abstention"][corpus.name] = abstention.summary(replies)
        for among in (f"{kind(corpus)}, together", "over all"):
            gathered = self._replies.setdefault(among, {})
            for whose, some in replies.items():
                gathered.setdefault(whose, []).extend(some)

    def _together(self) -> None:
        """Small corpora of a kind as one: what is chance in one of them is not in all."""
        self.found["together"] = {}
        for name, rows in self._rows.items():
            alike = {system: [(name, worth) for _, worth in some] for system, some in rows.items()}
            systems = {system: tabled(some) for system, some in alike.items()}
            told = {"systems": systems, "chance": targets.chances(alike)}
            self.found["together"][name] = told
        for among in sorted(self._replies):
            self.found["abstention"][among] = abstention.summary(self._replies[among])

    def _ablation(self, stores: Sequence[Store]) -> dict[str, Any]:
        """Short tables: the ranking whole, and without each of its parts."""
        asker = library(RELEVANCE)
        parts = {"nothing": short(evaluated(stores, asker))}
        for part in ablation.PARTS:
            print(f"  without {part} …", flush=True)
            with ablation.without(part):
                parts[part] = short(evaluated(stores, asker))
        return parts


def kind(corpus: Corpus) -> str:
    """Whether a corpus was recorded, generated, or written by strangers."""
    return next((name for name in TOGETHER if name in corpus.notes), "recorded")


def about(corpus: Corpus) -> dict[str, Any]:
    """What a corpus is, in numbers."""
    counts: dict[str, int] = {}
    for query in corpus.queries:
        counts[query.category] = counts.get(query.category, 0) + 1
    return {
        "stores": len(corpus.instances),
        "items": corpus.items,
        "questions": len(corpus.queries),
        "without_gold": sum(not query.gold for query in corpus.queries),
        "categories": counts,
        "notes": list(corpus.notes),
    }


def short(tables: dict[str, Any]) -> dict[str, float]:
    """The few figures by which systems are compared."""
    figures = {}
    for level, category, measure, label in targets.SHORT:
        value = tables[level].get(category, {}).get(measure)
        if value is not None:
            figures[label] = value
    return figures


def say(name: str, tables: dict[str, Any]) -> None:
    """One line, so that a person who waits sees something."""
    figures = "  ".join(f"{label} {value:.3f}" for label, value in short(tables).items())
    print(f"  {name:28s} {figures}", flush=True)
