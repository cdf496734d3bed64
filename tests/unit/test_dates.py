"""Dates that a text names."""

from datetime import datetime, timedelta, timezone

import pytest

from holdfast import dates

NOW = datetime(2024, 3, 6, 15, 30, tzinfo=timezone.utc)  # a Wednesday


def day(year: int, month: int, number: int) -> datetime:
    return datetime(year, month, number, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("in May 2023", day(2023, 5, 1), day(2023, 6, 1)),
        ("during December", day(2023, 12, 1), day(2024, 1, 1)),
        ("in February", day(2024, 2, 1), day(2024, 3, 1)),
        ("on 7 May 2023", day(2023, 5, 7), day(2023, 5, 8)),
        ("on the 7th of May, 2023", day(2023, 5, 7), day(2023, 5, 8)),
        ("on May 7", day(2023, 5, 7), day(2023, 5, 8)),
        ("at 2023-05-07", day(2023, 5, 7), day(2023, 5, 8)),
        ("in 2022", day(2022, 1, 1), day(2023, 1, 1)),
        ("yesterday", day(2024, 3, 5), day(2024, 3, 6)),
        ("the day before yesterday", day(2024, 3, 4), day(2024, 3, 5)),
        ("two days ago", day(2024, 3, 4), day(2024, 3, 5)),
        ("last week", day(2024, 2, 26), day(2024, 3, 4)),
        ("this week", day(2024, 3, 4), day(2024, 3, 11)),
        ("last month", day(2024, 2, 1), day(2024, 3, 1)),
        ("last year", day(2023, 1, 1), day(2024, 1, 1)),
        ("last Friday", day(2024, 3, 1), day(2024, 3, 2)),
        ("last Wednesday", day(2024, 2, 28), day(2024, 2, 29)),
        ("last weekend", day(2024, 3, 2), day(2024, 3, 4)),
    ],
)
def test_one_date(text: str, start: datetime, end: datetime) -> None:
    assert dates.named(f"what did she do {text}?", NOW)[0] == [(start, end)]


def test_some_weeks_ago_is_not_to_the_day() -> None:
    [(start, end)] = dates.named("three weeks ago", NOW)[0]
    assert start <= NOW - timedelta(weeks=3) < end
    assert end - start == timedelta(days=3)


def test_the_words_that_name_a_date_are_taken_out() -> None:
    assert dates.named("who called last week about the boat", NOW)[1].split() == [
        "who",
        "called",
        "about",
        "the",
        "boat",
    ]


def test_a_calendar_date_goes_before_a_relative_one() -> None:
    found, *_ = dates.named("in May 2023, not last week", NOW)
    assert found == [(day(2023, 5, 1), day(2023, 6, 1))]


@pytest.mark.parametrize("text", ["30 February 2023", "9000 years ago", "may I march on?", ""])
def test_what_is_no_date_is_none(text: str) -> None:
    assert dates.named(text, NOW)[0] == []
