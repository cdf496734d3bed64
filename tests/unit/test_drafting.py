"""Drafts asked for at once: made in one go, and each by whoever needs it."""

from collections.abc import Sequence
from datetime import datetime, timezone

import pytest

from holdfast import Memory, Refused, keeping, ops
from holdfast.backend import open_backend
from holdfast.drafting import Asked, Drafting
from holdfast.engine import Draft, Place
from holdfast.learning import record

PLACE = Place("local", "s")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


class Made:
    """Makes drafts, and says of whom in each go."""

    def __init__(self) -> None:
        self.goes: list[list[str]] = []
        self.broken = False

    def __call__(self, asked: Sequence[Asked]) -> list[Draft]:
        self.goes.append([one.told.content for one in asked])
        if self.broken:
            raise KeyboardInterrupt
        records = [record(one.told, one.place, "id", one.now) for one in asked]
        return [keeping.indexed(one, None, None) for one in records]


def asked(*contents: str) -> list[Asked]:
    return [Asked(ops.Draft(content=content), PLACE, NOW) for content in contents]


def test_whoever_needs_a_draft_makes_all_that_are_asked_for() -> None:
    made = Made()
    drafting, some = Drafting(made), asked("a", "b", "c")
    for one in some:
        drafting.ask(one)
    assert [drafting.of(one).record.content for one in reversed(some)] == ["c", "b", "a"]
    assert made.goes == [["a", "b", "c"]]


def test_what_was_taken_back_is_not_made() -> None:
    made = Made()
    drafting, (one, two) = Drafting(made), asked("a", "b")
    drafting.ask(one)
    drafting.ask(two)
    drafting.drop(one)
    drafting.of(two)
    assert made.goes == [["b"]]


def test_what_another_took_up_and_could_not_make_is_made_by_who_needs_it() -> None:
    made = Made()
    drafting, (one, two) = Drafting(made), asked("a", "b")
    drafting.ask(one)
    drafting.ask(two)
    made.broken = True
    with pytest.raises(KeyboardInterrupt):
        drafting.of(one)
    made.broken = False
    assert drafting.of(two).record.content == "b"
    assert made.goes == [["a", "b"], ["b"]]


def test_a_draft_that_two_make_at_once_is_the_first_ones() -> None:
    inner, made = Drafting(Made()), Made()
    (one,) = asked("a")

    def outer(some: Sequence[Asked]) -> list[Draft]:
        inner.of(one)  # as another thread would, meanwhile
        return made(some)

    drafting = Drafting(outer)
    drafting.ask(one)
    assert drafting.of(one) is inner.of(one)


def test_a_write_that_fails_leaves_nothing_to_be_made(url: str) -> None:
    with Memory("s", backend=open_backend(url, "hashing")) as memory:
        memory.policy(secrets="reject")
        service = memory._backend._service  # type: ignore[attr-defined]
        with pytest.raises(Refused):
            memory.remember("my password is hunter2hunter2")
        service.engine.close()
        for _ in range(3):
            with pytest.raises(Exception, match="closed"):
                memory.remember("never kept")
        assert service._drafting._asked == []
