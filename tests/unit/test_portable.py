"""Exports, and cursors."""

import json

import pytest

from holdfast import portable
from holdfast.errors import Invalid

HEADING = '{"type":"holdfast","format":1}'
MEMORY = {
    "type": "memory",
    "id": "m",
    "content": "likes tea",
    "created_at": "2026-01-01T00:00:00Z",
    "happened_at": "2026-01-01T02:00:00+02:00",
}


def test_a_cursor_comes_back_as_it_went() -> None:
    for place in ((7,), (-1, "ключ"), (2**60, "")):
        assert portable.place_of(portable.cursor(*place), *map(type, place)) == list(place)


@pytest.mark.parametrize("mark", ["", "!", "e30=", "WzFd", "WyIxIl0=", "W3RydWVd", "é", "W251bGxd"])
def test_a_cursor_of_another_shape_is_refused(mark: str) -> None:
    with pytest.raises(Invalid, match="not one of ours"):
        portable.place_of(mark, int, str)


def test_an_export_is_read_into_the_scope_it_goes_to() -> None:
    (record,), entries, _ = portable.parsed([HEADING, "", json.dumps(MEMORY), "  "], "there")
    assert (record.scope, record.id, entries) == ("there", "m", [])
    assert record.happened_at == record.created_at
    assert record.happened_at.utcoffset() == record.created_at.utcoffset()


def test_kinds_and_tags_are_taken_in_their_normal_form() -> None:
    line = json.dumps({**MEMORY, "kind": "Decision", "tags": ["a", "a"]})
    (record,), _, _ = portable.parsed([HEADING, line], "s")
    assert (record.kind, record.tags) == ("decision", ("a",))


def test_a_bad_line_is_named_by_its_number() -> None:
    with pytest.raises(Invalid, match=r"Line 3: .*Nothing was imported"):
        portable.parsed([HEADING, json.dumps(MEMORY), '{"type":"memory"}'], "s")


def test_a_state_line_may_hold_null() -> None:
    line = '{"type":"state","key":"k","value":null,"version":3,"updated_at":"2026-01-01T00:00:00Z"}'
    _, (entry,), _ = portable.parsed([HEADING, line], "s")
    assert (entry.key, entry.value, entry.version) == ("k", None, 3)
