"""Why a memory is, or is not, in an answer."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from holdfast import lifetime
from holdfast.model import Explanation, Filter, Hit, Record

_NOTHING = object()


def matches(record: Record, where: Filter) -> bool:
    """True if a filter means this memory."""
    return (
        (not where.kinds or record.kind in where.kinds)
        and set(where.tags) <= set(record.tags)
        and where.session in (None, record.session)
        and (where.source is None or record.writer == where.source)
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
        by = last.superseded_by or "A newer version"
        return "superseded", f"{by} replaced it at {last.until}."
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
