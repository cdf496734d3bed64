"""What may be asked."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast import check
from holdfast.errors import HoldfastError, Invalid, TooLarge
from holdfast.model import Source, Weights

UTC = timezone.utc


@pytest.mark.parametrize(
    ("call", "value", "normal"),
    [
        (check.kind, "Decision", "decision"),
        (check.kinds, ["A", "a", "b"], ("a", "b")),
        (lambda v: check.names("tags", v), ["b", "a", "b"], ("b", "a")),
        (lambda v: check.names("tags", v), (), ()),
        (check.source, "ann", Source("ann")),
        (check.source, None, None),
        (check.ttl, 60, timedelta(minutes=1)),
        (check.ttl, 0.5, timedelta(milliseconds=500)),
        (check.meta, None, {}),
        (check.meta, {"a": [1, {"b": None}]}, {"a": [1, {"b": None}]}),
        (check.weights, Weights(1, 0, 0), Weights(1.0, 0.0, 0.0)),
        (
            lambda v: check.moment("now", v),
            datetime(2026, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))),
            datetime(2026, 1, 1, tzinfo=UTC),
        ),
        (check.content, " tea ", " tea "),
        (lambda v: check.name("id", v), "чай/茶:7", "чай/茶:7"),
    ],
)
def test_what_is_right_comes_in_its_normal_form(
    call: Callable[[Any], Any], value: Any, normal: Any
) -> None:
    assert call(value) == normal


@pytest.mark.parametrize(
    ("call", "value", "said"),
    [
        (check.content, " \n", "content is empty"),
        (check.content, 7, "must be text, not int"),
        (check.content, "a\x00", "NUL"),
        (check.content, "\ud800", "surrogate"),
        (check.scope, "", "1 to 256 characters"),
        (check.scope, "a" * 257, "not 257"),
        (check.scope, " a", "begins or ends with a blank"),
        (check.scope, "a\nb", "control or invisible"),
        (check.scope, "a\u200bb", "control or invisible"),
        (check.kind, "two words", "not one word"),
        (check.kinds, "fact", "must be a list of names, not str"),
        (lambda v: check.names("tags", v), [""], "tags"),
        (lambda v: check.names("tags", v), [f"t{n}" for n in range(65)], "limit is 64"),
        (check.source, Source("ann", "king"), "'king' is not known.*user, agent"),
        (check.source, 7, "a name or a Source"),
        (lambda v: check.flag("pinned", v), 1, "True or False"),
        (lambda v: check.whole("limit", v, 1, 9), 10, "from 1 to 9"),
        (lambda v: check.whole("limit", v, 1, 9), 1.0, "whole number"),
        (lambda v: check.whole("limit", v, 1, 9), True, "whole number"),
        (lambda v: check.number("min_score", v, 0, 1), float("nan"), "finite"),
        (lambda v: check.number("min_score", v, 0, 1), 1.01, "from 0 to 1"),
        (check.weights, Weights(0.5, 0.1, 0.1), "add up to 0.7, not 1"),
        (check.weights, Weights(2, -1, 0), "from 0 to 1"),
        (check.weights, {}, "must be Weights"),
        (lambda v: check.moment("now", v), datetime(2026, 1, 1), "no time zone.*astimezone"),  # noqa: DTZ001
        (lambda v: check.moment("now", v), "2026-01-01", "must be a datetime"),
        (lambda v: check.moment("now", v), datetime(1, 1, 1, tzinfo=UTC), "years 2 to 9998"),
        (check.ttl, 0, "more than 0"),
        (check.ttl, -1, "ttl"),
        (check.ttl, timedelta.max, "ttl"),
        (check.ttl, True, "finite number"),
        (check.meta, [], "must be a dict"),
        (check.meta, {"a": (1,)}, "tuple, which is not JSON"),
        (check.meta, {1: 2}, "a key of meta must be text"),
        (check.meta, {"a": float("inf")}, "inf"),
        (check.meta_filter, {"a": [1]}, "compared with a list"),
        (lambda v: check.batch("items", v), [], "is empty"),
        (lambda v: check.batch("items", v), "ab", "must be a list"),
    ],
)
def test_what_is_wrong_is_named(call: Callable[[Any], Any], value: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        call(value)


@pytest.mark.parametrize(
    ("call", "value"),
    [
        (check.content, "é" * 16_385),
        (check.meta, {"a": "x" * 65_536}),
        (lambda v: check.plain("value", v), "x" * 2**20),
        (lambda v: check.batch("items", v), ["x"] * 10_001),
    ],
)
def test_what_is_too_large_says_so(call: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(TooLarge, match="limit is"):
        call(value)


def test_nothing_can_match_an_empty_span() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert check.span(at, None) == (at, None)
    for until in (at, at - timedelta(1)):
        with pytest.raises(Invalid, match="not before"):
            check.span(at, until)


def test_json_may_be_deep_but_not_bottomless() -> None:
    value: Any = 1
    for _ in range(check.JSON_DEPTH):
        value = [value]
    assert check.plain("value", value) == value
    with pytest.raises(Invalid, match="64 deep"):
        check.plain("value", [value])


def test_every_error_has_a_status_a_message_and_a_word_on_retrying() -> None:
    kinds, found = [HoldfastError], []
    while kinds:
        kind = kinds.pop()
        found.append(kind)
        kinds.extend(kind.__subclasses__())
    assert len(found) >= 14
    for kind in found:
        error = kind("It broke.", "Mend it.")
        assert str(error) == "It broke. Mend it."
        assert 400 <= error.status < 600
        assert error.retry == (error.status in (408, 429, 503))
