"""Threads that work in order, and send away whom they could not serve in time."""

import asyncio
import threading
import time
from collections.abc import Iterator

import pytest

from holdfast.server import crew
from holdfast.server.crew import Crew
from holdfast.server.limits import TooMuch
from holdfast.server.metrics import Metrics


@pytest.fixture
def metrics() -> Metrics:
    return Metrics(dict, dict)


@pytest.fixture
def one(metrics: Metrics) -> Iterator[Crew]:
    made = Crew("test", threads=1, waiting=100, metrics=metrics)
    yield made
    made.close()


def test_first_come_first_served(one: Crew) -> None:
    begun: list[int] = []

    async def ask() -> None:
        await asyncio.gather(*(one.do(lambda n=n: begun.append(n)) for n in range(20)))  # type: ignore[misc]

    asyncio.run(ask())
    assert begun == list(range(20))


def test_who_would_wait_too_long_is_sent_away_at_once(
    one: Crew, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "WAIT_SECONDS", 50.0)
    one._seconds = 10.0  # as calls took before
    go = threading.Event()

    async def ask() -> list[bool]:
        calls = [asyncio.ensure_future(one.do(go.wait)) for _ in range(20)]
        refused, waiting = await asyncio.wait(calls, timeout=0.05)
        assert {type(it.exception()) for it in refused} == {TooMuch}
        go.set()
        return await asyncio.gather(*waiting)

    assert asyncio.run(ask()) == [True] * 7  # one at work, and six, the last of them just in time
    assert b"holdfast_shed_total 13.0" in metrics.text()


def test_one_long_call_does_not_speak_for_all(one: Crew, monkeypatch: pytest.MonkeyPatch) -> None:
    def long() -> None:
        monkeypatch.setattr(crew, "WAIT_SECONDS", 0.01)  # from now on that is long
        time.sleep(0.1)

    asyncio.run(one.do(long))
    assert 0 < one._seconds <= 0.01 * crew.OF_LATE


def test_what_has_begun_goes_on_however_many_wait(metrics: Metrics) -> None:
    full = Crew("test", threads=1, waiting=0, metrics=metrics)
    go = threading.Event()

    async def ask() -> int:
        first = asyncio.ensure_future(full.do(go.wait))
        await asyncio.sleep(0)
        with pytest.raises(TooMuch):
            await full.do(lambda: 0)
        more = asyncio.ensure_future(full.go_on(lambda: 7))
        await asyncio.sleep(0)
        go.set()
        assert await first
        return await more

    assert asyncio.run(ask()) == 7
    full.close()
