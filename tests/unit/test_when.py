"""Relative dates in what was said, as calendar dates."""

from datetime import datetime, timezone

import pytest

from holdfast import when

AT = datetime(2026, 6, 2, 9, tzinfo=timezone.utc)  # a Tuesday


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("I ran today.", "I ran on 2026-06-02."),
        ("We met last night", "We met on 2026-06-01"),
        ("She left two weeks ago", "She left around 2026-05-19"),
        ("It is due in three days", "It is due on 2026-06-05"),
        ("He moved last month", "He moved in 2026-05"),
        ("The audit is next Monday", "The audit is on 2026-06-08"),
        ("It is the last week of August", "It is the last week of August"),
        ("Much came up in the last month", "Much came up in the last month"),
        ("Nothing of this is a date", "Nothing of this is a date"),
    ],
)
def test_a_relative_date_is_told_as_a_calendar_date(said: str, learned: str) -> None:
    assert when.resolved(said, AT) == learned


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("Since last week it rains", "Since the week of 2026-05-25 it rains"),
        ("I live here since the first of this month", "I live here since the first of 2026-06"),
        ("As of today the line is open", "As of 2026-06-02 the line is open"),
        ("The demo moved to tomorrow", "The demo moved to 2026-06-03"),
        ("It is booked for next week", "It is booked for the week of 2026-06-08"),
        ("We agreed in today's review", "We agreed in 2026-06-02's review"),
        ("Yesterday was my last day", "2026-06-01 was my last day"),
    ],
)
def test_a_date_has_one_word_before_it(said: str, learned: str) -> None:
    assert when.resolved(said, AT) == learned


@pytest.mark.parametrize(
    ("said", "day"),
    [
        ("I got married two days ago", "2026-05-31"),
        ("We adopted a dog last month", "2026-05-01"),
        ("Kickoff is on June 9", "2026-06-02"),
        ("We decided to launch in June", "2026-06-02"),
    ],
)
def test_what_is_past_moves_when_it_happened(said: str, day: str) -> None:
    assert when.happened(said, AT).date().isoformat() == day
