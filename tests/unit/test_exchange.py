"""What goes out is JSON by the rules of `wire`, whatever encodes it."""

import json
from datetime import datetime, timezone
from typing import Any

import pytest

from holdfast import wire
from holdfast.model import Entry, Hit, Recalled, Record, Why
from holdfast.server.exchange import as_json

AT = datetime(2026, 5, 3, 9, 30, 0, 120, tzinfo=timezone.utc)


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def recalled() -> Recalled:
    record = Record(
        id="1",
        scope="s",
        content="tea ☕",
        tags=("a",),
        meta={"n": 1},
        created_at=AT,
        happened_at=AT,
    )
    why = Why(similarity=0.9, recency=0.25, frequency=0.0, words=1.0, meaning=0.1, matched=("tea",))
    return Recalled(hits=(Hit(memory=record, score=0.5, why=why),))


@pytest.mark.parametrize(
    "value",
    [
        recalled(),
        {"held": (recalled(), None)},
        Entry(key="k", value={"big": 2**70, "at": None}, version=3, updated_at=AT),
        Entry(key="k", value=deep(400), version=3, updated_at=AT),
    ],
    ids=["nested", "wrapped", "a number beyond 64 bits", "deep"],
)
def test_it_is_what_wire_would_send(value: Any) -> None:
    assert json.loads(bytes(as_json(value).body)) == wire.dump(value)  # type: ignore[arg-type]
