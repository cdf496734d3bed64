"""From answers to the rows of a table: turn and session level, per category and over all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from benchmarks import metrics
from benchmarks.corpora import ADVERSARIAL, Query
from benchmarks.metrics import Scores
from benchmarks.stores import Store

ALL = "all"  # without adversarial questions and those that nothing answers
EVERY = "all with adversarial"

Ask = Callable[[Query], Sequence[str]]  # memory ids, best first


def answered(store: Store, query: Query, found: Sequence[str]) -> dict[str, Scores]:
    """What one answer is worth, at each level that the question has gold for."""
    worth = {"turn": metrics.scores(found, store.ids(query.gold))}
    if query.gold_sessions:
        seen = metrics.sessions(found, store.sessions)
        worth["session"] = metrics.scores(seen, query.gold_sessions)
    if query.newest and query.stale:
        newest, stale = store.ids(query.newest), store.ids(query.stale)
        worth["update"] = {"newest_first": metrics.newest_first(found, newest, stale)}
    return worth


def evaluated(stores: Sequence[Store], asker: Callable[[Store], Ask]) -> dict[str, Any]:
    """A system's tables: level, category, measure. Questions without gold are left out."""
    rows: list[tuple[str, dict[str, Scores]]] = []
    for store in stores:
        ask = asker(store)
        for query in store.instance.queries:
            if query.gold:
                rows.append((query.category, answered(store, query, ask(query))))
    return {level: _by_category(rows, level) for level in ("turn", "session", "update")}


def _by_category(rows: Sequence[tuple[str, dict[str, Scores]]], level: str) -> dict[str, Any]:
    have = [(category, worth[level]) for category, worth in rows if level in worth]
    groups = {category: [w for c, w in have if c == category] for category, _ in have}
    groups[ALL] = [worth for category, worth in have if category != ADVERSARIAL]
    if ADVERSARIAL in groups:
        groups[EVERY] = [worth for _, worth in have]
    return {name: {"n": len(some)} | metrics.mean(some) for name, some in groups.items() if some}
