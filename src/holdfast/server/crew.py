"""Threads that do what calls ask for, in the order they came; who would wait too long is sent away.

Few of them do what only needs the processor: more would take turns, and every call would then
take as long as all of them together. Many do what waits for a disk or for another machine.

It does what an executor of the standard library does for asyncio, in a fifth of the steps: of a
recall over HTTP those were a tenth of a millisecond.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from holdfast.server.limits import TooMuch
from holdfast.server.metrics import Metrics

T = TypeVar("T")
WAIT_SECONDS = 2.0  # that a call may wait for a thread; its caller may be gone, and others are not
OF_LATE = 0.1  # the weight of a call in what calls take of late


class _Task(NamedTuple):
    """Work for a thread, since when it waits, and where its answer is awaited."""

    work: Callable[[], Any]
    asked: float | None  # None if it belongs to a call that has begun
    answer: asyncio.Future[Any]
    loop: asyncio.AbstractEventLoop


class Crew:
    """Some threads, and the calls that wait for one of them."""

    def __init__(self, name: str, threads: int, waiting: int, metrics: Metrics) -> None:
        self._name, self._most, self._waiting = name, threads, waiting
        self._metrics = metrics
        self._threads: list[threading.Thread] = []  # begun when they are needed
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        self._calls = 0  # at work or waiting; counted by the event loop alone
        self._seconds = 0.0  # that a call takes of late, once it has begun

    @property
    def waiting(self) -> int:
        """How many calls wait for a thread."""
        return max(0, self._calls - self._most)

    async def do(self, work: Callable[[], T]) -> T:
        """Does it in a thread; `TooMuch` at once if its turn would not come in time."""
        wait = self.waiting * self._seconds / self._most
        if self._calls >= self._most + self._waiting or wait > WAIT_SECONDS:
            raise self._refusal()
        return await self._answered(work, time.perf_counter())

    async def go_on(self, work: Callable[[], T]) -> T:
        """Does what belongs to a call that has begun, however long it waits."""
        return await self._answered(work, None)

    async def _answered(self, work: Callable[[], T], asked: float | None) -> T:
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._calls += 1
        if self._calls > len(self._threads) < self._most:
            self._hire()
        self._tasks.put(_Task(work, asked, answer, loop))
        try:
            return await answer
        finally:
            self._calls -= 1

    def close(self) -> None:
        """Finishes what was accepted."""
        for _ in self._threads:
            self._tasks.put(None)
        for thread in self._threads:
            thread.join()

    # --- in the threads ---

    def _hire(self) -> None:
        name = f"holdfast-{self._name}-{len(self._threads)}"
        self._threads.append(threading.Thread(target=self._serve, name=name, daemon=True))
        self._threads[-1].start()

    def _serve(self) -> None:
        while (task := self._tasks.get()) is not None:
            self._do(task)
            del task  # while it waits for the next, it holds nothing of this one

    def _do(self, task: _Task) -> None:
        result, error = None, None
        try:
            result = task.work() if task.asked is None else self._begin(task.work, task.asked)
        except BaseException as raised:
            error = raised
        task.loop.call_soon_threadsafe(_settle, task.answer, result, error)

    def _begin(self, work: Callable[[], T], asked: float) -> T:
        begun = time.perf_counter()
        self._metrics.stage("wait", begun - asked)
        if begun - asked > WAIT_SECONDS:
            raise self._refusal()
        try:
            return work()
        finally:
            # Bounded, so that one long import does not speak for the calls after it.
            took = min(time.perf_counter() - begun, WAIT_SECONDS)
            self._seconds += OF_LATE * (took - self._seconds)

    def _refusal(self) -> TooMuch:
        self._metrics.shed()
        return TooMuch("The server has too much work.", "Try again.", retry_after=1)


def _settle(answer: asyncio.Future[T], result: T, error: BaseException | None) -> None:
    if answer.cancelled():
        return
    if error is None:
        answer.set_result(result)
    else:
        answer.set_exception(error)
