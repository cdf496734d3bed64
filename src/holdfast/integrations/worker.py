"""Threads that do memory's work beside an agent: one that answers in time, one that never loses.

Both are daemons: a call that hangs holds up neither the agent nor the end of the process.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from holdfast import Closed, Forbidden, HoldfastError, LimitReached, Unauthenticated, Unavailable

T = TypeVar("T")
log = logging.getLogger("holdfast.integrations")
FIRST_REST, LONGEST_REST = 0.2, 10.0  # seconds between attempts at writes that failed
MOST_WAITING = 10_000  # writes
IDLE_SECONDS = 60.0  # after which a thread with nothing to do ends
EXIT_SECONDS = 5.0  # spent on what waits when the process ends
# What may yet change: a key can be given its right, a tenant its room.
MAY_CHANGE = (Unauthenticated, Forbidden, LimitReached)


class _Task(Generic[T]):
    """Something to do, and what came of it."""

    def __init__(self, work: Callable[[], T]) -> None:
        self.work = work
        self.done = threading.Event()
        self.answer: T | None = None
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self.answer = self.work()
        except Exception as error:
            self.error = error
        self.done.set()


class Answering:
    """Asks in a thread of its own, and waits only so long."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._queue: deque[_Task[Any]] = deque()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._late = False  # the last question was given up and is still being answered

    def ask(self, work: Callable[[], T], seconds: float) -> T:
        """The answer, or what it raised; `Unavailable` if it takes longer than `seconds`."""
        if self._late:
            raise Unavailable("The memory still answers an earlier question.", "It is slow.")
        task = self.start(work)
        if not task.done.wait(seconds):
            self._late = True
            raise Unavailable(f"The memory took more than {seconds:.2f} seconds to answer.")
        if task.error is not None:
            raise task.error
        answer: T = task.answer  # type: ignore[assignment]
        return answer

    def start(self, work: Callable[[], T]) -> _Task[T]:
        """Begins something, and waits for nothing."""
        task = _Task(work)
        with self._lock:
            if self._pid != os.getpid():  # a forked child has none of its parent's threads
                self._pid, self._thread, self._late = os.getpid(), None, False
                self._queue.clear()
            self._queue.append(task)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._run, name="holdfast-recall", daemon=True
                )
                self._thread.start()
            self._lock.notify()
        return task

    def _run(self) -> None:
        while True:
            with self._lock:
                self._late = self._late and bool(self._queue)
                if not self._lock.wait_for(lambda: self._queue, IDLE_SECONDS):
                    self._thread = None  # the next question starts another
                    return
                task = self._queue.popleft()
            task.run()


@dataclass
class Write:
    """A write to be done: which verb, how, and what to do with its answer."""

    verb: str
    work: Callable[[], Any]
    done: threading.Event = field(default_factory=threading.Event)
    answer: Any = None
    error: HoldfastError | None = None


class Writing:
    """Does writes in order, each until it is done; what cannot be done now waits."""

    def __init__(self, quiet: float, when_quiet: Callable[[], None]) -> None:
        self.refused: list[Write] = []  # what no retry can help
        self.failures = 0
        self.lost = 0
        self._queue: deque[Write] = deque()
        self._lock = threading.Condition()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()
        self._quiet = quiet
        self._when_quiet = when_quiet
        self._rest = FIRST_REST
        self._fresh = False
        _all.add(self)

    @property
    def waiting(self) -> int:
        """How many writes are not done yet."""
        return len(self._queue)

    def put(self, write: Write, seconds: float) -> bool:
        """Does a write; True if it was done within `seconds`, else it is done later."""
        with self._lock:
            if self._pid != os.getpid():
                self._pid, self._thread = os.getpid(), None
                self._queue.clear()  # the parent does its own
            if len(self._queue) >= MOST_WAITING:
                self.lost += 1
                log.error("memory: %d writes wait already; one is lost", len(self._queue))
                return False
            self._queue.append(write)
            self._fresh = True
            self._start()
            self._lock.notify_all()
        return write.done.wait(max(0.0, seconds)) and write.error is None

    def drain(self, seconds: float) -> int:
        """Waits until all is done, at most so long; gives how many writes still wait."""
        with self._lock:
            self._fresh, self._rest = True, FIRST_REST
            self._lock.notify_all()
            self._lock.wait_for(lambda: not self._queue, max(0.0, seconds))
        return self.waiting

    def wake(self) -> None:
        """Sees to it that `when_quiet` is called after a while, though nothing is written."""
        with self._lock:
            self._start()

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="holdfast-write", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._lock:
                some = self._lock.wait_for(lambda: self._queue, self._quiet)
                self._fresh = False
            if not some:
                self._when_quiet()
                if self._ended():
                    return
            elif self._pass():
                self._rest = FIRST_REST
            else:
                self._pause()

    def _ended(self) -> bool:
        with self._lock:
            if self._queue:
                return False
            self._thread = None  # the next write starts another
            return True

    def _pause(self) -> None:
        rest, self._rest = self._rest, min(self._rest * 2, LONGEST_REST)
        with self._lock:
            # Something new is tried at once: what keeps one verb from being done may not another.
            self._lock.wait_for(lambda: self._fresh, rest)

    def _pass(self) -> bool:
        """Tries all that waits, each verb until one of its writes fails; True if none did."""
        stuck: set[str] = set()
        for write in tuple(self._queue):
            if write.verb in stuck:
                continue  # in order: an older one of its kind still waits
            if not self._tried(write):
                stuck.add(write.verb)
        return not stuck

    def _tried(self, write: Write) -> bool:
        try:
            write.answer = write.work()
        except Exception as error:
            self.failures += 1
            if _can_wait(error):
                log.warning("memory: a %s failed and will be tried again: %s", write.verb, error)
                return False
            known = error if isinstance(error, HoldfastError) else HoldfastError(repr(error))
            log.error("memory: a %s was refused: %s", write.verb, error)
            write.error = known
            self.refused.append(write)
        with self._lock:
            self._queue.remove(write)
            self._lock.notify_all()
        write.done.set()
        return True


def _can_wait(error: Exception) -> bool:
    """True if the same write may succeed later."""
    if not isinstance(error, HoldfastError):
        return isinstance(error, OSError)
    if isinstance(error, Closed):
        return False
    return error.retry or isinstance(error, MAY_CHANGE) or error.status >= 500


def _at_exit() -> None:
    """What still waits is tried once more; what then waits is told, not passed over."""
    give_up = time.monotonic() + EXIT_SECONDS
    for writing in list(_all):
        writing._when_quiet()  # which may give another one something to do
    for writing in list(_all):
        left = writing.drain(give_up - time.monotonic())
        if left:
            log.error("memory: the process ends while %d writes wait; they are lost", left)


_all: weakref.WeakSet[Writing] = weakref.WeakSet()
atexit.register(_at_exit)
