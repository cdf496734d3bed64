"""Does it know when it knows nothing? Questions are asked of their own store and of others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.corpora import ADVERSARIAL, Query
from benchmarks.metrics import auroc
from benchmarks.stores import DEFAULT, RELEVANCE, Store

FOREIGN = 2  # stores of others that each question is asked of


@dataclass(frozen=True)
class Reply:
    """How sure the library is of its best hit, and whether it abstained."""

    similarity: float
    score: float
    abstained: bool


def reply(store: Store, query: Query) -> Reply:
    """One question, by what a caller can see."""
    return Reply(
        similarity=_best(store, query, RELEVANCE),
        score=_best(store, query, DEFAULT),
        abstained=not store.recall(query, DEFAULT, limit=1),
    )


def _best(store: Store, query: Query, weights: Any) -> float:
    found = store.recall(query, weights, limit=1, min_score=0.0)
    return found[0].score if found else 0.0


def asked(stores: Sequence[Store], others: Sequence[Store], seed: int) -> dict[str, list[Reply]]:
    """Replies of own stores, of foreign ones, and to adversarial questions.

    A foreign store is another one of the same corpus, or, where there is none, one of `others`.
    """
    chance = random.Random(seed)
    replies: dict[str, list[Reply]] = {"own": [], "foreign": [], ADVERSARIAL: []}
    for store in stores:
        for query in store.instance.queries:
            if query.category == ADVERSARIAL:
                replies[ADVERSARIAL].append(reply(store, query))
            elif query.gold:
                replies["own"].append(reply(store, query))
                for other in _foreign(store, query, stores, others, chance):
                    replies["foreign"].append(reply(other, query))
    return replies


def _foreign(
    store: Store,
    query: Query,
    stores: Sequence[Store],
    others: Sequence[Store],
    chance: random.Random,
) -> list[Store]:
    """Stores that hold none of the texts that answer a question."""
    answers = {store.items[id].text for id in store.ids(query.gold) if id in store.items}
    same = [other for other in stores if other is not store]
    able = [
        other
        for other in same or others
        if not answers & {item.text for item in other.instance.items}
    ]
    return chance.sample(able, min(FOREIGN, len(able)))


def summary(replies: dict[str, list[Reply]]) -> dict[str, Any]:
    """The figures of a table."""
    own, foreign = replies["own"], replies["foreign"]
    told: dict[str, Any] = {
        "own": len(own),
        "foreign": len(foreign),
        "auroc_similarity": auroc([r.similarity for r in own], [r.similarity for r in foreign]),
        "auroc_score": auroc([r.score for r in own], [r.score for r in foreign]),
        "own_abstained": _share(own),
        "foreign_abstained": _share(foreign),
    }
    if replies[ADVERSARIAL]:
        told["adversarial"] = len(replies[ADVERSARIAL])
        told["adversarial_abstained"] = _share(replies[ADVERSARIAL])
        told["auroc_adversarial"] = auroc(
            [r.similarity for r in own], [r.similarity for r in replies[ADVERSARIAL]]
        )
    return told


def _share(replies: Sequence[Reply]) -> float:
    return sum(one.abstained for one in replies) / max(1, len(replies))
