"""Hits in their order: what was outdated stands behind what outdated it."""

from datetime import datetime, timezone

from holdfast.answering import current_first
from holdfast.engine import Key
from holdfast.model import Hit, Record, Why

AT = datetime(2026, 5, 3, tzinfo=timezone.utc)
WHY = Why(similarity=1, recency=1, frequency=1, words=1, meaning=1)


def hit(id: str, score: float, *outdated_by: str) -> tuple[Key, Hit]:
    record = Record(id=id, scope="s", content=id, created_at=AT, happened_at=AT)
    return (0, None, 0), Hit(record, score, WHY, outdated_by=outdated_by)


def ordered(*hits: tuple[Key, Hit]) -> list[tuple[str, float]]:
    return [(one.id, one.score) for _, one in current_first(list(hits))]


def test_hits_that_nothing_outdated_stay_as_they_are() -> None:
    assert ordered(hit("a", 0.9), hit("b", 0.5)) == [("a", 0.9), ("b", 0.5)]


def test_an_outdated_hit_comes_right_behind_its_correction_and_scores_no_more() -> None:
    hits = hit("old", 0.9, "new"), hit("other", 0.7), hit("new", 0.5), hit("last", 0.4)
    assert ordered(*hits) == [("other", 0.7), ("new", 0.5), ("old", 0.5), ("last", 0.4)]


def test_an_outdated_hit_stays_where_its_correction_is_above_it_or_not_there() -> None:
    assert ordered(hit("new", 0.9), hit("old", 0.5, "new")) == [("new", 0.9), ("old", 0.5)]
    assert ordered(hit("old", 0.9, "gone"), hit("b", 0.5)) == [("old", 0.9), ("b", 0.5)]
