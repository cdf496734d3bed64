"""What has expired goes in the background, when it is time, and the thread goes home."""

import sqlite3
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest

from holdfast import Memory, sweeping
from holdfast.backend import open_backend
from holdfast.engine import open_engine
from holdfast.errors import StoreReadOnly
from holdfast.sweeping import BATCH, GRACE, LOOK, Sweeper
from holdfast.testing import FakeClock
from tests.waiting import until


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(url: str, clock: FakeClock) -> Iterator[Memory]:
    with Memory("s", backend=open_backend(url, "hashing", clock)) as memory:
        yield memory


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A minute is a twentieth of a second."""
    monkeypatch.setattr(sweeping, "GRACE", timedelta(seconds=0.05))


def rows(url: str) -> int:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as db:
        held = db.execute("SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM states)")
        return sum(held.fetchone())


def worker() -> list[threading.Thread]:
    return [it for it in threading.enumerate() if it.name == "holdfast"]


@pytest.mark.usefixtures("hurried")
def test_what_expires_is_removed_while_nobody_calls(url: str) -> None:
    with Memory("s", url, embedder="hashing") as memory:
        memory.remember("here")
        notes = [{"content": f"note {n}", "ttl": 0.1} for n in range(2 * BATCH + 1)]
        assert all(told.created for told in memory.remember_many(notes))
        assert memory.set("k", 1, ttl=0.1).version == 1
        until(lambda: rows(url) == 1)
        until(lambda: not worker())
        assert memory.doctor().healthy


def test_what_another_process_left_goes_with_a_later_write(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory("s", url, embedder="hashing") as first:
        first.remember("gone", ttl=0.001)  # and it closes long before a minute is over
    monkeypatch.setattr(sweeping, "GRACE", timedelta(seconds=0.05))
    with Memory("t", url, embedder="hashing") as memory:
        assert rows(url) == 1
        memory.set("k", 0)

        def swept() -> bool:
            memory.increment("k")
            return rows(url) == 1

        until(swept)


def test_a_clock_that_was_set_is_not_believed(memory: Memory, url: str, clock: FakeClock) -> None:
    memory.remember("lives a week", ttl=timedelta(days=7))
    for days in (0, 30, 1, -31):
        clock.advance(days=days)
        memory.remember("here")
        time.sleep(0.1)  # so that a thread would have had the time
    assert rows(url) == 2
    assert len(memory.list()) == 2


def test_no_thread_waits_for_what_is_far_away(memory: Memory) -> None:
    memory.remember("gone in a week", kind="temporary")
    until(lambda: not worker())
    memory.remember("gone soon", ttl=60)
    assert worker()[0].daemon
    memory.close()
    until(lambda: not worker())


def test_a_sweep_stops_when_it_is_told_to(url: str, memory: Memory, clock: FakeClock) -> None:
    memory.remember_many([{"content": f"note {n}", "ttl": 60} for n in range(3 * BATCH)])
    clock.advance(hours=1)
    engine, asked = open_engine(url), iter([False, True])
    sweeper = Sweeper(engine)
    assert sweeper.sweep(clock(), lambda: next(asked)) == BATCH
    assert sweeper.sweep(clock()) == 2 * BATCH
    assert sweeper.sweep(clock()) == 0
    engine.close()


class Stubborn:
    """An engine that cannot be written to."""

    def sweep(self, now: object, most: int) -> int:
        raise StoreReadOnly("no")


def test_a_store_that_cannot_be_swept_is_left_for_an_hour(clock: FakeClock) -> None:
    sweeper = Sweeper(Stubborn())  # type: ignore[arg-type]
    assert sweeper.due(clock())
    assert sweeper.sweep(clock()) == 0
    assert not sweeper.due(clock() + LOOK - timedelta(seconds=1))
    assert sweeper.due(clock() + LOOK)
    assert sweeper.rest(clock()) is None
    assert GRACE < LOOK
