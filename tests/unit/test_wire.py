"""Values to JSON and back."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast import wire
from holdfast.errors import Invalid
from holdfast.model import Entry, Record, Remembered, Source
from holdfast.ops import Draft, Recall, Remember

AT = datetime(2026, 5, 3, 9, 30, tzinfo=timezone.utc)


def test_a_line_is_compact_plain_and_in_utc() -> None:
    berlin = AT.astimezone(timezone(timedelta(hours=2)))
    entry = Entry(key="ключ", value={"a": None}, version=1, updated_at=berlin)
    assert wire.dumps(entry) == (
        '{"key":"ключ","value":{"a":null},"version":1,"updated_at":"2026-05-03T09:30:00Z"}'
    )


def test_an_op_goes_as_its_fields() -> None:
    op = Remember(scope="s", draft=Draft(content="likes tea", ttl=timedelta(minutes=1)))
    data = wire.dump(op)
    assert (data["scope"], data["draft"]["content"], data["draft"]["ttl"]) == ("s", "likes tea", 60)
    assert "id" not in data["draft"]


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (Remembered, [], "Remembered must be an object"),
        (Remembered, {"id": 7, "created": True}, "Remembered.id must be text"),
        (Remembered, {"id": "a", "created": 1}, "Remembered.created must be bool"),
        (Remembered, {"id": "a"}, "created"),
        (Remembered, {"id": "a", "created": True, "mood": 1}, "mood is not"),
        (Source, {"writer": "ann", "message": 7}, "Source.message must be text"),
        (tuple[Remembered, ...], {}, "must be a list"),
        (tuple[Remembered, ...], [{}], r"\[0\]"),
        (timedelta, "1", "a number of seconds"),
        (float, True, "a number"),
        (int, 1.0, "a whole number"),
        (datetime, "yesterday", "is not a time"),
        (datetime, 7, "a time such as"),
        (Record, {"tags": "ab"}, "Record.tags must be a list"),
        (Record, {"meta": []}, "Record.meta must be an object"),
    ],
)
def test_what_does_not_fit_is_named(kind: Any, data: Any, said: str) -> None:
    with pytest.raises(Invalid, match=said):
        wire.load(kind, data)


@pytest.mark.parametrize("line", ["", "{", "nul", "NaN", "[Infinity]", "[" * 100_000, "'a'"])
def test_what_is_no_json_is_invalid(line: str) -> None:
    with pytest.raises(Invalid, match=r"not JSON|nested too deep"):
        wire.parse(line)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"a": 1, "b": 2, "a": 3}', "a is given twice"),
        ('[{"a": {"b": 1, "b": 1}}]', "b is given twice"),
        ("[" * 100_000, "nested too deep"),
        ("9" * 5000, "too many digits"),
        ('{"a": NaN}', "no word such as NaN"),
    ],
)
def test_what_no_program_should_send_is_told_in_plain_words(line: str, said: str) -> None:
    with pytest.raises(Invalid, match=said) as raised:
        wire.parse(line)
    assert "sys." not in str(raised.value)


def test_what_is_missing_is_named() -> None:
    with pytest.raises(Invalid, match=r"^Recall needs scope and query\.$"):
        wire.load(Recall, {})
    with pytest.raises(Invalid, match=r"^Remember.draft needs content\.$"):
        wire.load(Remember, {"scope": "s", "draft": {}})


def test_nan_does_not_go_out() -> None:
    with pytest.raises(ValueError, match="JSON"):
        wire.dumps([float("nan")])


@pytest.mark.parametrize("text", ["2026-05-03T09:30:00Z", "2026-05-03T11:30:00+02:00"])
def test_a_moment_is_the_same_in_any_zone(text: str) -> None:
    assert wire.moment(text) == AT


def test_a_whole_number_may_stand_for_a_number() -> None:
    assert wire.load(float, 1) == 1.0
    assert isinstance(wire.load(float, 1), float)
