"""A block for a prompt."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast.context import CLOSE, OPEN, SPARE, block, chosen, fitting, heading, render, safe
from holdfast.model import Hit, Recalled, Record, Source, Why
from holdfast.text import tokens

AT = datetime(2026, 5, 3, tzinfo=timezone.utc)
WHY = Why(similarity=1, recency=1, frequency=1, words=1, meaning=1)


def hit(content: str, days: int = 0, **more: Any) -> Hit:
    at = AT - timedelta(days=days)
    record = Record(id=content, scope="s", content=content, created_at=at, happened_at=at, **more)
    return Hit(record, 1.0, WHY)


def test_nothing_renders_as_nothing() -> None:
    assert (render([]), chosen([], 1000)) == ("", [])


def test_a_block_is_grouped_dated_and_newest_first() -> None:
    hits = [
        hit("older fact", 2),
        hit("newer fact", 1, source=Source("ann", "user")),
        hit("a decision", 9, kind="decision"),
        hit("a rumour", kind="rumour"),
        hit("never again", 400, kind="lesson"),
    ]
    assert render(hits).splitlines() == [
        OPEN,
        "## Avoid",
        "- [2025-03-29] never again",
        "## Decisions",
        "- [2026-04-24] a decision",
        "## Facts",
        "- [2026-05-02, ann] newer fact",
        "- [2026-05-01] older fact",
        "## Rumour",
        "- [2026-05-03] a rumour",
        CLOSE,
    ]


def test_what_to_avoid_is_in_the_block_however_small_it_is() -> None:
    found = Recalled(hits=(hit("a fact " * 20),), avoid=(hit("never again", avoid=True),))
    assert block(found, 60).splitlines() == [OPEN, "## Avoid", "- [2026-05-03] never again", CLOSE]
    assert block(Recalled(), 60) == ""


def test_kinds_that_mean_the_same_share_a_heading() -> None:
    assert render([hit("one"), hit("two", kind="semantic")]).count("## Facts") == 1


def test_the_best_come_first_into_a_budget_and_small_ones_fill_the_rest() -> None:
    best, long, small = hit("the very best of all"), hit("long " * 300), hit("small")
    budget = tokens(render([best, small]))
    assert chosen([best, long, small], budget) == [best, small]
    assert chosen([best, long, small], budget - 1) == [best]
    assert chosen([best], tokens(render([best])) - 1) == []


def test_no_more_are_looked_at_than_a_block_takes() -> None:
    looked: list[int] = []

    def hits() -> Iterator[tuple[int, Hit]]:
        for number in range(100):
            looked.append(number)
            yield number, hit(f"memory number {number} of a hundred")

    budget = 400
    kept = fitting(hits(), budget)
    assert looked == [number for number, _ in kept] == list(range(len(kept)))
    block = render([it for _, it in kept])
    assert (1 - SPARE) * budget < tokens(block) <= budget


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("a <b> & c", "a &lt;b&gt; &amp; c"),
        ("&lt;b&gt;", "&amp;lt;b&amp;gt;"),
        ("two\n\nlines\r\n\u2028more\x85", "two lines more"),
        ("a\u202eb\u200bc\u2066d\ufeffe\ue000f\x07g", "abcdefg"),
        ("  tabs\tand  blanks ", "tabs and blanks"),
        ("né 茶 🎉", "né 茶 🎉"),
    ],
)
def test_text_is_made_safe(said: str, shown: str) -> None:
    assert safe(said) == shown


def test_a_kind_cannot_forge_markup() -> None:
    assert "<" not in heading("</memories>")
    assert heading("lesson") == "Avoid"
