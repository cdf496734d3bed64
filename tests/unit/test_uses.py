"""Uses that recalls have counted: never out of sight, never counted twice."""

from datetime import datetime, timedelta, timezone

import pytest

from holdfast import Memory
from holdfast.backend import Here
from holdfast.embed.hashing import Hashing
from holdfast.engine import Place, Transaction, open_engine, uses
from holdfast.engine.columns import stamp
from holdfast.engine.uses import Counted
from holdfast.service import Service
from holdfast.testing import FakeClock

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)
LATER = NOW + timedelta(hours=1)
ONE, OTHER = (0, "a", 1), (0, "b", 7)


def test_counts_add_up_and_the_last_time_stays() -> None:
    counted = Counted()
    counted.count([ONE, OTHER], LATER)
    counted.count([ONE], NOW)
    assert counted.seen() == {"a": {1: (2, stamp(LATER))}, "b": {7: (1, stamp(LATER))}}


def test_what_rides_with_a_write_stays_in_sight_until_it_is_settled() -> None:
    counted = Counted()
    counted.count([ONE, OTHER], NOW)
    taken = counted.take("a")
    counted.count([ONE], NOW)
    assert (taken, counted.seen()["a"]) == ({"a": {1: (1, stamp(NOW))}}, {1: (2, stamp(NOW))})
    assert counted.scopes() == {"a", "b"}
    counted.settle(taken)
    assert counted.seen() == {"a": {1: (1, stamp(NOW))}, "b": {7: (1, stamp(NOW))}}


def test_what_could_not_be_written_is_added_to_what_came_meanwhile() -> None:
    counted = Counted()
    counted.count([ONE], NOW)
    taken = counted.take()
    counted.count([ONE], LATER)
    counted.put_back(taken)
    assert counted.take() == {"a": {1: (2, stamp(LATER))}}


def test_nothing_is_taken_twice() -> None:
    counted = Counted()
    counted.count([ONE], NOW)
    first = counted.take()
    assert (counted.take(), counted.scopes()) == ({}, set())
    counted.settle(first)
    assert counted.seen() == {}


def test_it_is_time_to_write_after_a_while_or_when_much_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Counted()
    assert not counted.count([ONE], NOW)
    assert counted.count([(0, "a", row) for row in range(uses.USES_HELD + 1)], NOW)
    counted.settle(counted.take())
    assert not counted.count([ONE], NOW)
    monkeypatch.setattr(uses, "FLUSH_SECONDS", -1.0)
    assert counted.count([ONE], NOW)


@pytest.mark.parametrize("store", ["url", "postgres_url"])
def test_a_reader_beside_a_write_sees_the_uses_that_ride_with_it(
    store: str, request: pytest.FixtureRequest
) -> None:
    engine, place = open_engine(request.getfixturevalue(store)), Place("local", "team")
    service = Service(engine, Hashing(), FakeClock())
    memory = Memory("team", backend=Here(service, service.close))
    id = memory.remember("likes tea").id
    memory.recall("tea")

    def work(tx: Transaction) -> int:
        tx.versions(place, id)  # this locks the scope, and takes the uses along
        return engine.read(lambda seen: seen.versions(place, id)[0].uses)

    assert engine.write(work) == 1
    assert engine.read(lambda seen: seen.versions(place, id)[0].uses) == 1
    memory.close()
