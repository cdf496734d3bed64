"""How memories age."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from itertools import pairwise

import numpy as np
import pytest

from holdfast import lifetime
from holdfast.model import Record

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)
DAY = timedelta(days=1)
PLAIN = Record(id="a", scope="s", content="likes tea", created_at=NOW, happened_at=NOW)


def test_alive_ends_on_the_instant() -> None:
    assert lifetime.alive(None, NOW)
    assert lifetime.alive(NOW + timedelta(microseconds=1), NOW)
    assert not lifetime.alive(NOW, NOW)


@pytest.mark.parametrize(
    ("kind", "ttl", "pinned", "ends"),
    [
        ("fact", None, False, None),
        ("fact", DAY, False, NOW + DAY),
        ("temporary", None, False, NOW + 7 * DAY),
        ("temporary", DAY, False, NOW + DAY),
        ("temporary", None, True, None),
        ("rumour", None, False, None),
    ],
)
def test_expiry(kind: str, ttl: timedelta | None, pinned: bool, ends: datetime | None) -> None:
    assert lifetime.expiry(NOW, kind, ttl, pinned) == ends


def test_true_from_when_it_happened_or_was_told_until_it_was_replaced() -> None:
    past = replace(PLAIN, happened_at=NOW - DAY, until=NOW + DAY)
    moments = [NOW - 2 * DAY, NOW - DAY, NOW, NOW + DAY]
    assert [lifetime.true_at(past, at) for at in moments] == [False, True, True, False]
    assert not lifetime.true_at(past, None)
    planned = replace(PLAIN, happened_at=NOW + DAY)
    assert lifetime.true_at(planned, NOW)
    assert lifetime.true_at(planned, None)


def test_told_again_it_is_used_once_more_and_joined() -> None:
    known = replace(PLAIN, tags=("a",), meta={"x": 1, "y": 1}, expires_at=NOW + DAY)
    told = replace(PLAIN, tags=("b", "a"), meta={"y": 2}, expires_at=NOW + 2 * DAY, kind="rumour")
    found = lifetime.reinforced(known, told, NOW)
    assert (found.tags, found.meta) == (("a", "b"), {"x": 1, "y": 2})
    assert (found.uses, found.last_used_at, found.kind) == (1, NOW, "fact")
    assert found.expires_at == NOW + 2 * DAY


@pytest.mark.parametrize("known", [None, NOW + DAY])
@pytest.mark.parametrize("told", [None, NOW + DAY])
def test_one_that_never_ends_wins(known: datetime | None, told: datetime | None) -> None:
    found = lifetime.reinforced(
        replace(PLAIN, expires_at=known), replace(PLAIN, expires_at=told), NOW
    )
    assert (found.expires_at is None) == (None in (known, told))


def recency(days: float, ageless: bool = False) -> float:
    return float(lifetime.recency(np.array([days]), np.array([ageless]))[0])


def test_recency_is_a_slope_around_thirty_days() -> None:
    assert recency(0) > 0.9
    assert recency(30) == pytest.approx(0.5)
    assert recency(365) < 1e-6
    assert recency(10**7) == pytest.approx(0, abs=1e-9)
    ages = [recency(day) for day in range(0, 100, 5)]
    assert ages == sorted(ages, reverse=True)


def test_what_is_to_come_is_as_recent_as_now() -> None:
    assert recency(-400) == recency(0)


def test_the_ageless_do_not_age() -> None:
    assert recency(10**6, ageless=True) == 1
    kinds = ("preference", "decision", "lesson", "procedural", "fact", "rumour")
    assert [lifetime.policy(kind).ageless for kind in kinds] == [True] * 4 + [False] * 2


def test_frequency_grows_with_the_logarithm_and_saturates() -> None:
    full = lifetime.FREQUENCY_FULL_USES
    found = lifetime.frequency(np.array([0, 1, 2, 3, full, full * 100])).tolist()
    assert (found[0], found[-2], found[-1]) == (0, 1, 1)
    steps = [later - sooner for sooner, later in pairwise(found[:4])]
    assert steps == sorted(steps, reverse=True)
    assert steps[-1] > 0
