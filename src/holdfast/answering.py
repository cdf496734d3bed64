"""Candidates in, hits out: ranked, the best of them fetched, each with what else is known of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from holdfast import context, keeping, ops, question, rank
from holdfast.embedding import QueryVector
from holdfast.engine import Found, Key, Place, Snapshot
from holdfast.model import Hit

T = TypeVar("T")

FETCHED = 20  # records fetched together; after them twice as many


@dataclass(frozen=True)
class Answer:
    """Hits with their keys, out of so many candidates."""

    hits: list[tuple[Key, Hit]]
    candidates: int
    waiting: int
    degraded: str | None
    warns: bool = False  # there are memories of what to avoid


def answer(
    seen: Snapshot,
    places: Sequence[Place],
    found: Found,
    asked: question.Question,
    op: ops.Question[T],
    limit: int,
    query: QueryVector,
) -> Answer:
    """Ranks what was found, and fetches the best of it."""
    degraded = query.degraded
    if degraded is None and found.waiting:
        degraded = f"{found.waiting} memories wait for their vectors"
    if found.candidates is None or found.corpus is None or not len(found.keys):
        return Answer([], 0, found.waiting, degraded)
    told = found.candidates, found.corpus, asked.asked
    ranking = rank.rank(*told, op.weights, query.background)
    kept = rank.relevant(ranking, op.min_score, limit)
    hits = _hits(seen, places, found, ranking, asked.terms, kept)
    enough = context.fitting(hits, op.budget) if isinstance(op, ops.Context) else list(hits)
    return Answer(current_first(enough), len(found.keys), found.waiting, degraded)


def _hits(
    seen: Snapshot,
    places: Sequence[Place],
    found: Found,
    ranking: rank.Ranking,
    terms: Sequence[str],
    kept: Sequence[int],
) -> Iterator[tuple[Key, Hit]]:
    """The hits of candidates, fetched some at a time: who asks may soon have enough."""
    assert found.candidates is not None
    linked = [seen.any_links(place) for place in places]
    start, several = 0, FETCHED
    while start < len(kept):
        some = kept[start : start + several]
        keys = [found.keys[at] for at in some]
        whys = rank.why(ranking, found.candidates, terms, some)
        fetched = seen.fetch(places, keys)  # it may still be on its way while reasons are found
        for at, key, why, one in zip(some, keys, whys, fetched, strict=True):
            if one is not None:
                marks = keeping.marks(seen, places[key[0]], one, linked[key[0]])
                marked = (marks.conflicts, marks.outdated_by, marks.confirmed)
                yield key, Hit(one, float(ranking.score[at]), why, *marked)
        start, several = start + several, 2 * several


def current_first(hits: list[tuple[Key, Hit]]) -> list[tuple[Key, Hit]]:
    """The hits in their order, but none before the one that outdated it."""
    if not any(hit.outdated_by for _, hit in hits):
        return hits
    places = {hit.id: n for n, (_, hit) in enumerate(hits)}
    order: list[tuple[int, int]] = []  # the place of what comes before, and its own
    told: dict[int, tuple[Key, Hit]] = dict(enumerate(hits))
    for n, (key, hit) in enumerate(hits):
        newer = max((places[id] for id in hit.outdated_by if id in places), default=-1)
        if newer > n:
            told[n] = key, replace(hit, score=min(hit.score, hits[newer][1].score))
        order.append((max(newer, n), n))
    return [told[n] for _, n in sorted(order, key=lambda it: (it[0], it[0] != it[1], it[1]))]
