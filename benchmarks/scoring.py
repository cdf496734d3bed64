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
Row = tuple[str, dict[str, Scores]]  # a question's category, and what its answer is worth


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


def answers(stores: Sequence[Store], asker: Callable[[Store], Ask]) -> list[Row]:
    """What a system's answer to each question is worth; those without gold are left out."""
    rows: list[Row] = []
    for store in stores:
        ask = asker(store)
        for query in store.instance.queries:
            if query.gold:
                rows.append((query.category, answered(store, query, ask(query))))
    return rows


def evaluated(stores: Sequence[Store], asker: Callable[[Store], Ask]) -> dict[str, Any]:
    """A system's tables: level, category, measure."""
    return tabled(answers(stores, asker))


def tabled(rows: Sequence[Row]) -> dict[str, Any]:
    """Answers as tables: level, category, measure."""
    return {level: _by_category(rows, level) for level in ("turn", "session", "update")}


def column(rows: Sequence[Row], level: str, category: str, measure: str) -> list[float]:
    """One measure of each question that counts in a category, in the order they were asked."""
    return [
        worth[level][measure]
        for own, worth in rows
        if level in worth and (own == category or (category == ALL and own != ADVERSARIAL))
    ]


def _by_category(rows: Sequence[Row], level: str) -> dict[str, Any]:
    have = [(category, worth[level]) for category, worth in rows if level in worth]
    groups = {category: [w for c, w in have if c == category] for category, _ in have}
    groups[ALL] = [worth for category, worth in have if category != ADVERSARIAL]
    if ADVERSARIAL in groups:
        groups[EVERY] = [worth for _, worth in have]
    return {name: {"n": len(some)} | metrics.mean(some) for name, some in groups.items() if some}
