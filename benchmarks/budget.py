"""How much of the evidence reaches the prompt: what `context` holds within a token budget."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone

from benchmarks.corpora import Query
from benchmarks.scoring import Ask
from benchmarks.stores import Store
from holdfast import context
from holdfast.model import Hit, Record, Weights, Why
from holdfast.service import CONTEXT_HITS

BUDGETS = (250, 500, 1000, 2000)
NO_WHY = Why(similarity=0.0, recency=0.0, frequency=0.0, words=0.0, meaning=None)

Shares = dict[str, float]


def of_library(stores: Sequence[Store], weights: Weights) -> Shares:
    """The mean share of a question's gold whose whole content is in the block."""

    def block(store: Store, query: Query, budget: int) -> str:
        return store.memory.context(query.text, budget, weights=weights, now=query.now)

    return {
        str(budget): _mean(
            [_inside(store, query, block(store, query, budget)) for store, query in _asked(stores)]
        )
        for budget in BUDGETS
    }


def of_order(stores: Sequence[Store], asks: Sequence[Ask]) -> Shares:
    """The same, had the block been filled, in the same form, in another order."""
    ask_of = {id(store): ask for store, ask in zip(stores, asks, strict=True)}
    found: dict[str, list[float]] = {str(budget): [] for budget in BUDGETS}
    for store, query in _asked(stores):
        ids = ask_of[id(store)](query)[:CONTEXT_HITS]
        hits = [_hit(store, id) for id in ids]
        for budget in BUDGETS:
            block = context.render(context.chosen(hits, budget))
            found[str(budget)].append(_inside(store, query, block))
    return {budget: _mean(shares) for budget, shares in found.items()}


def _asked(stores: Sequence[Store]) -> list[tuple[Store, Query]]:
    return [(store, query) for store in stores for query in store.instance.queries if query.scored]


def _inside(store: Store, query: Query, block: str) -> float:
    gold = [id for id in store.ids(query.gold) if id in store.items]
    held = [context.safe(store.items[id].text) in block for id in gold]
    return sum(held) / max(1, len(held))


def _hit(store: Store, id: str) -> Hit:
    item = store.items[id]
    now = datetime.now(timezone.utc)
    record = Record(id=id, scope="bench", content=item.text, created_at=now, happened_at=item.time)
    return Hit(record, 0.0, NO_WHY)


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / max(1, len(shares))
