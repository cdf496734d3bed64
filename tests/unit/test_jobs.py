"""The queue at work, with a clock to move and work that fails when it is told to."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest

from holdfast import ExtractorFailed, Memory
from holdfast.backend import open_backend
from holdfast.engine import Place, open_engine
from holdfast.errors import Busy, HoldfastError
from holdfast.extract import Extractor
from holdfast.extract.rules import Rules
from holdfast.jobs import ATTEMPTS, BACKOFF, LEASE
from holdfast.learning import QUEUE_MOST
from holdfast.service import LOCAL
from holdfast.testing import FakeClock
from tests.waiting import until

PLACE = Place(LOCAL, "s")


class Moody(Rules):
    """The rules, failing as often as they are told to."""

    def __init__(self) -> None:
        self.failures: list[Exception] = []
        self.calls = 0

    def extract(self, turns, now):  # type: ignore[no-untyped-def]
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return super().extract(turns, now)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def extractor() -> Moody:
    return Moody()


OpenMemory = Callable[[], Memory]


@pytest.fixture
def memory(url: str, clock: FakeClock, extractor: Extractor) -> Iterator[Memory]:
    with Memory("s", backend=open_backend(url, "hashing", clock, extractor)) as memory:
        yield memory


def settle(memory: Memory, so: Callable[[], bool]) -> None:
    """Works until something holds; the memory's own worker may be at it, too."""

    def worked() -> bool:
        memory.work()
        return so()

    until(worked, memory.jobs)


def failed(attempts: int, memory: Memory) -> Callable[[], bool]:
    return lambda: any(job.attempts == attempts and job.trouble for job in memory.jobs())


def test_a_job_that_fails_is_tried_again_later(
    memory: Memory, clock: FakeClock, extractor: Moody
) -> None:
    extractor.failures = [ExtractorFailed("away"), RuntimeError("odd")]
    memory.extract("Ann: I live in Berlin.", wait=False)
    settle(memory, failed(1, memory))
    (job,) = memory.jobs()
    assert (job.state, job.due, job.trouble) == (
        "waiting",
        clock() + BACKOFF,
        "ExtractorFailed: away",
    )
    assert memory.work() == 0
    clock.advance(seconds=BACKOFF.total_seconds())
    settle(memory, failed(2, memory))
    clock.advance(seconds=2 * BACKOFF.total_seconds())
    settle(memory, lambda: not memory.jobs())
    assert [one.content for one in memory.list()] == ["Ann lives in Berlin."]


def test_after_enough_failures_it_is_dead_until_it_is_replayed(
    memory: Memory, clock: FakeClock, extractor: Moody
) -> None:
    extractor.failures = [RuntimeError("odd")] * ATTEMPTS
    job = memory.extract("Ann: I live in Berlin.", wait=False).job
    assert job is not None
    for attempt in range(1, ATTEMPTS + 1):
        settle(memory, failed(attempt, memory))
        clock.advance(hours=1)
    assert [(it.state, it.attempts) for it in memory.jobs()] == [("dead", ATTEMPTS)]
    assert memory.work() == 0
    assert not memory.replay("another")
    assert memory.replay(job)
    settle(memory, lambda: not memory.jobs())
    assert len(memory.list()) == 1
    assert not memory.replay(job)


def test_what_cannot_be_right_is_dead_at_once(memory: Memory, extractor: Moody) -> None:
    extractor.failures = [HoldfastError("never")]
    memory.extract("Ann: I live in Berlin.", wait=False)
    settle(memory, lambda: [job.state for job in memory.jobs()] == ["dead"])


def test_a_job_of_a_worker_that_died_is_taken_up_by_the_next(url: str, clock: FakeClock) -> None:
    engine = open_engine(url)
    with Memory("s", backend=open_backend(url, "hashing", clock)) as first:
        first.remember("here")
    work = '{"scope":"s","turns":[{"text":"I live in Berlin.","speaker":"Ann"}]}'
    engine.write(lambda tx: tx.enqueue(PLACE, "j", None, work, clock()))
    lost = engine.write(lambda tx: tx.take_job(clock(), clock() + LEASE))
    assert lost is not None
    with Memory("s", backend=open_backend(url, "hashing", clock)) as memory:
        assert memory.work() == 0
        clock.advance(seconds=LEASE.total_seconds())
        settle(memory, lambda: not memory.jobs())
        assert len(memory.list()) == 2
    assert not engine.write(lambda tx: tx.end_job(lost))
    engine.close()


def test_a_job_is_not_ended_by_one_who_lost_it(url: str, clock: FakeClock) -> None:
    engine = open_engine(url)
    engine.write(lambda tx: tx.enqueue(PLACE, "j", None, "{}", clock()))
    one = engine.write(lambda tx: tx.take_job(clock(), clock() + LEASE))
    clock.advance(seconds=LEASE.total_seconds())
    two = engine.write(lambda tx: tx.take_job(clock(), clock() + LEASE))
    assert one is not None
    assert two is not None
    assert (one.attempt, two.attempt) == (1, 2)
    assert not engine.write(lambda tx: tx.end_job(one))
    assert engine.write(lambda tx: tx.end_job(two))
    assert engine.read(lambda seen: seen.next_due()) is None
    engine.close()


def test_a_full_queue_turns_away(url: str, clock: FakeClock) -> None:
    engine, later = open_engine(url), clock() + timedelta(days=1)
    engine.write(
        lambda tx: [tx.enqueue(PLACE, f"j{n}", None, "{}", later) for n in range(QUEUE_MOST)]
    )
    engine.close()
    with (
        Memory("s", backend=open_backend(url, "hashing", clock)) as memory,
        pytest.raises(Busy, match="wait already"),
    ):
        memory.extract("Ann: I live in Berlin.", wait=False)


def test_forgetting_a_session_forgets_its_jobs(
    memory: Memory, extractor: Moody, clock: FakeClock
) -> None:
    extractor.failures = [RuntimeError("odd")] * 2
    memory.extract("Ann: I live in Berlin.", session="one", wait=False)
    memory.extract("Ann: I speak Thai.", session="two", wait=False)
    settle(memory, lambda: len([job for job in memory.jobs() if job.trouble]) == 2)
    memory.forget(session="one")
    assert [job.session for job in memory.jobs()] == ["two"]
    memory.forget(everything=True)
    assert memory.jobs() == ()
    assert clock() is not None
