"""Work done by another thread, while whoever wants it goes on."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Generic, TypeVar

T = TypeVar("T")

HANDOVER_SECONDS = 0.0005  # on a busy machine a thread may take longer to be given a processor
THREADS = 32  # at most; idle ones wait for more work, for a new one starts out cold


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Begins a work; what is given back waits for its end, and gives its answer or its error."""
    began = threading.Lock()
    began.acquire()

    def run() -> T:
        began.release()
        return work()

    try:
        answer = _threads().submit(run)
    except RuntimeError:  # this process is at its end: no thread may start
        answered = work()
        return lambda: answered
    # A thread that was woken must still get the interpreter: whoever goes on would not let it.
    began.acquire(timeout=HANDOVER_SECONDS)
    return answer.result


class Soon(Generic[T]):
    """Something done soon with each thing named, one after the other, by another thread.

    It waits for `pause` seconds first: what is named meanwhile is done together.
    """

    def __init__(self, work: Callable[[T], object], pause: float = 0.0) -> None:
        self._work, self._pause = work, pause
        self.renew()
        _soon.add(self)

    def renew(self) -> None:
        """Begins with nothing: in a forked child another thread's lock would never be freed."""
        self._named: dict[T, None] = {}
        self._at_work: T | None = None
        self._lock = threading.RLock()  # at the end of a process the work is done inside `name`
        self._hurry = threading.Event()
        self._under_way: Callable[[], None] | None = None

    def name(self, thing: T) -> None:
        """Names a thing; one that waits already is done once."""
        with self._lock:
            self._named[thing] = None
            if self._under_way is None:
                self._under_way = beside(self._run)

    def awaits(self, things: Iterable[T]) -> bool:
        """Whether one of these was named and is not done yet."""
        with self._lock:
            return any(thing in self._named or thing == self._at_work for thing in things)

    def wait(self) -> None:
        """Waits until all that was named is done; it is done at once then."""
        under_way = self._under_way
        if under_way is not None:
            self._hurry.set()
            try:
                under_way()
            finally:
                self._hurry.clear()

    def _run(self) -> None:
        try:
            while self._more():
                self._hurry.wait(self._pause)
                for thing in tuple(self._named):
                    self._take(thing)
                    self._work(thing)
        except BaseException:
            self._take(None)
            self._under_way = None  # the next one named begins anew
            raise

    def _more(self) -> bool:
        with self._lock:
            self._take(None)
            if not self._named:
                self._under_way = None
            return bool(self._named)

    def _take(self, thing: T | None) -> None:
        with self._lock:
            self._at_work = thing
            if thing is not None:
                del self._named[thing]


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "holdfast-beside")


def _after_fork() -> None:
    """A child has none of its parent's threads."""
    _threads.cache_clear()
    for one in list(_soon):
        one.renew()


_soon: weakref.WeakSet[Soon[Any]] = weakref.WeakSet()
os.register_at_fork(after_in_child=_after_fork)
