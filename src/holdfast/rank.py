"""Candidates in, hits out: one ranking for every engine, and every score carries its why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast import lifetime
from holdfast.model import Explanation, Filter, Hit, Record, Source, Weights, Why

RELEVANT = 0.2  # similarity below this is noise: recall would rather say nothing
BM25_K1 = 1.2  # how soon a repeated term stops adding
BM25_B = 0.5  # how much a long memory's terms count less

_NOBODY = Source("")
_NOTHING = object()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memory that may be a hit: its cosine to the query, and how often it has each query term."""

    record: Record
    cosine: float | None
    counts: tuple[int, ...]
    length: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the scopes searched look like: memories, mean length, memories per query term."""

    size: int
    mean_length: float
    having: tuple[int, ...]


def rank(
    candidates: Sequence[Candidate],
    corpus: Corpus,
    terms: Sequence[str],
    weights: Weights,
    now: datetime,
) -> list[Hit]:
    """All candidates as hits, best first; equal scores by the newer, then by id."""
    rarity = [_rarity(corpus.size, having) for having in corpus.having]
    hits = [_hit(candidate, corpus, rarity, terms, weights, now) for candidate in candidates]
    hits.sort(key=lambda hit: hit.memory.id)
    hits.sort(key=lambda hit: (hit.score, hit.memory.happened_at), reverse=True)
    return hits


def relevant(hits: Sequence[Hit], min_score: float | None) -> list[Hit]:
    """The hits worth returning: over the caller's threshold, or else similar at all."""
    if min_score is not None:
        return [hit for hit in hits if hit.score >= min_score]
    return [hit for hit in hits if hit.why.similarity >= RELEVANT]


def matches(record: Record, where: Filter) -> bool:
    """True if a filter means this memory."""
    return (
        (not where.kinds or record.kind in where.kinds)
        and set(where.tags) <= set(record.tags)
        and where.session in (None, record.session)
        and (where.source is None or (record.source or _NOBODY).writer == where.source)
        and (where.since is None or record.happened_at >= where.since)
        and (where.until is None or record.happened_at < where.until)
        and all(_equal(record.meta.get(key, _NOTHING), item) for key, item in where.meta.items())
    )


def _equal(held: object, wanted: object) -> bool:
    """Equality of JSON values, in which true is not 1."""
    return held == wanted and isinstance(held, bool) == isinstance(wanted, bool)


def hidden(
    versions: Sequence[Record], where: Filter, as_of: datetime | None, now: datetime
) -> tuple[str, str] | None:
    """Why a memory cannot be a candidate at all, as verdict and detail; None if it can."""
    last = versions[-1]
    if not lifetime.alive(last.expires_at, now):
        return "expired", f"It expired at {last.expires_at}."
    true = [record for record in versions if lifetime.true_at(record, as_of)]
    if not true and as_of is not None and as_of < lifetime.known_from(versions[0]):
        return "not yet known", f"It was first known at {lifetime.known_from(versions[0])}."
    if not true:
        return (
            "superseded",
            f"{last.superseded_by or 'A newer version'} replaced it at {last.until}.",
        )
    if not matches(true[-1], where):
        return "filtered", "It does not match the filter."
    return None


def explained(
    id: str, hits: Sequence[Hit], kept: Sequence[Hit], shown: Sequence[Hit], limit: int | None
) -> Explanation:
    """Why a candidate is, or is not, among those shown; `limit` is None for a token budget."""
    place = next((i for i, hit in enumerate(hits) if hit.memory.id == id), None)
    if place is None:
        return Explanation(id=id, verdict="no match", detail="It shares no word and no meaning.")
    hit = hits[place]
    if any(other.memory.id == id for other in shown):
        verdict, detail = "returned", f"It is number {place + 1} of {len(hits)}."
    elif all(other.memory.id != id for other in kept):
        verdict, detail = "below threshold", f"Its similarity is {hit.why.similarity:.3f}."
    elif limit is None:
        verdict, detail = "over budget", f"It is number {place + 1}; the budget was used up."
    else:
        verdict, detail = "out-ranked", f"It is number {place + 1}; the limit is {limit}."
    return Explanation(
        id=id, verdict=verdict, detail=detail, rank=place + 1, score=hit.score, why=hit.why
    )


def words(candidate: Candidate, corpus: Corpus, rarity: Sequence[float]) -> float:
    """How much of the query's rare words a memory has, 0..1 (BM25 over its best possible)."""
    total = sum(rarity)
    if total <= 0:
        return 0.0
    long = candidate.length / corpus.mean_length if corpus.mean_length else 1.0
    drag = BM25_K1 * (1 - BM25_B + BM25_B * long)
    best = 1 + BM25_K1
    got = sum(
        rare * count * best / (count + drag)
        for rare, count in zip(rarity, candidate.counts, strict=True)
        if count
    )
    return min(1.0, got / total)


def meaning(cosine: float | None) -> float | None:
    """A cosine on the scale 0..1."""
    return None if cosine is None else min(1.0, max(0.0, cosine))


def _rarity(size: int, having: int) -> float:
    return math.log1p((max(size, having) - having + 0.5) / (having + 0.5))


def _hit(
    candidate: Candidate,
    corpus: Corpus,
    rarity: Sequence[float],
    terms: Sequence[str],
    weights: Weights,
    now: datetime,
) -> Hit:
    said, meant = words(candidate, corpus, rarity), meaning(candidate.cosine)
    why = Why(
        similarity=said if meant is None else (said + meant) / 2,
        recency=lifetime.recency(candidate.record, now),
        frequency=lifetime.frequency(candidate.record.uses),
        words=said,
        meaning=meant,
        matched=tuple(term for term, n in zip(terms, candidate.counts, strict=True) if n),
    )
    score = (
        weights.similarity * why.similarity
        + weights.recency * why.recency
        + weights.frequency * why.frequency
    )
    return Hit(candidate.record, score, why)
