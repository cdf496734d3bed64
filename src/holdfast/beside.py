"""Work in a thread of its own, while whoever wants it goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Beside(Generic[T]):
    """Work that began when this was made.

    A thread for each: it starts in a tenth of a millisecond, and no pool is lost in a fork.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._answer: list[T] = []
        self._failure: list[BaseException] = []
        self._thread = threading.Thread(target=self._run, name="holdfast-embedder", daemon=True)
        # This waits until the thread runs: else it would not, while its maker has much to do.
        self._thread.start()

    def _run(self) -> None:
        try:
            self._answer.append(self._work())
        except BaseException as error:
            self._failure.append(error)

    def wait(self, seconds: float | None = None) -> T:
        """What the work gave, or what it raised; `TimeoutError` if it takes longer than this."""
        self._thread.join(seconds)
        if self._failure:
            raise self._failure[0]
        if not self._answer:
            raise TimeoutError
        return self._answer[0]
