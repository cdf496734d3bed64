"""Work done by another thread, while whoever wants it goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

THREADS = 32  # at most; idle ones wait for more work, for a new one starts out cold


def beside(work: Callable[[], T]) -> Callable[[], T]:
    """Begins a work; what is given back waits for its end, and gives its answer or its error."""
    began = threading.Event()

    def run() -> T:
        began.set()
        return work()

    try:
        answer = _threads().submit(run)
    except RuntimeError:  # this process is at its end: no thread may start
        answered = work()
        return lambda: answered
    # A thread that was woken must still get the interpreter: whoever goes on would not let it.
    began.wait()
    return answer.result


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS, "holdfast-beside")


os.register_at_fork(after_in_child=_threads.cache_clear)  # a child has none of its parent's threads
