"""What becomes of a key."""

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from holdfast import ops
from holdfast.errors import Conflict, Invalid
from holdfast.model import Entry
from holdfast.states import changed, must_match

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)
LATER = NOW + timedelta(days=1)


def held(value: Any, expires_at: datetime | None = None) -> Entry:
    return Entry(key="k", value=value, version=4, updated_at=NOW, expires_at=expires_at)


def append(item: Any, **more: Any) -> ops.Append:
    return ops.Append(scope="s", key="k", item=item, **more)


def increment(by: float, **more: Any) -> ops.Increment:
    return ops.Increment(scope="s", key="k", by=by, **more)


def test_set_replaces_value_and_expiry() -> None:
    op = ops.Set(scope="s", key="k", value=2)
    assert changed(op, held(1, LATER), 5, NOW) == Entry(key="k", value=2, version=5, updated_at=NOW)


def test_append_makes_a_new_list_and_leaves_the_old() -> None:
    old = [1]
    assert changed(append(2), held(old), 5, NOW).value == [1, 2]
    assert old == [1]
    assert changed(append(2), None, 1, NOW).value == [2]


@pytest.mark.parametrize(("by", "total"), [(1, 4), (-3, 0), (0.5, 3.5)])
def test_increment_adds(by: float, total: float) -> None:
    found = changed(increment(by), held(3), 5, NOW).value
    assert (found, type(found)) == (total, type(3 + by))


def test_a_change_keeps_the_expiry_unless_told_another() -> None:
    assert changed(append(2), held([], LATER), 5, NOW).expires_at == LATER
    assert changed(append(2, ttl=60), held([], LATER), 5, NOW).expires_at == NOW + timedelta(
        minutes=1
    )
    assert changed(append(2), None, 1, NOW).expires_at is None


@pytest.mark.parametrize("value", ["text", {"a": 1}, True, 3, 1.5])
def test_only_a_list_is_appended_to(value: Any) -> None:
    with pytest.raises(Invalid, match="no list"):
        changed(append(1), held(value), 5, NOW)


@pytest.mark.parametrize("value", ["1", [1], True, {}])
def test_only_a_number_is_added_to(value: Any) -> None:
    with pytest.raises(Invalid, match="no number"):
        changed(increment(1), held(value), 5, NOW)


def test_a_null_counts_as_nothing_yet() -> None:
    assert changed(append(1), held(None), 5, NOW).value == [1]
    assert changed(increment(1), held(None), 5, NOW).value == 1


def test_the_version_seen_must_be_the_version_held() -> None:
    must_match("k", None, held(1))
    must_match("k", 4, held(1))
    must_match("k", 0, None)
    for wanted, entry, said in ((3, held(1), "has version 4"), (1, None, "does not exist")):
        with pytest.raises(Conflict, match=said):
            must_match("k", wanted, entry)
    with pytest.raises(Conflict):
        changed(append(1, if_version=0), held([]), 5, NOW)
