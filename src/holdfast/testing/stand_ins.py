"""Stand-ins for the world: a clock to move, an embedder with moods, a loop that is always there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from holdfast import AsyncMemory, Hit, Memory, Record
from holdfast.embed.hashing import Hashing
from holdfast.errors import HoldfastError, NotFound

OpenScope = Callable[[str], Memory]
ALL = 1000  # as a limit: everything
DAY = timedelta(days=1)


@contextmanager
def opening(open_one: OpenScope) -> Iterator[OpenScope]:
    """What opens memories by an opener, and closes them all in the end."""
    opened: list[Memory] = []

    def open_scope(name: str) -> Memory:
        opened.append(open_one(name))
        return opened[-1]

    yield open_scope
    for memory in opened:
        memory.close()


class FakeClock:
    """A clock that stands still until it is moved; aware, in UTC."""

    def __init__(self, now: datetime = datetime(2026, 5, 3, 9, 30, tzinfo=timezone.utc)) -> None:
        self._now = now

    def __call__(self) -> datetime:
        """The time."""
        return self._now

    def advance(self, **by: float) -> datetime:
        """Moves it by what a timedelta takes, such as `days=30`; gives the new time."""
        self._now += timedelta(**by)
        return self._now


class MoodyEmbedder:
    """The hashing embedder in a `mood`: well, down, slow (until `wake` is set), nan or lying."""

    name = "moody"
    version = "1"

    def __init__(self, mood: str = "well", dimension: int = 64, local: bool = True) -> None:
        self.mood = mood
        self.dimension = dimension
        self.local = local
        self.calls = 0
        self.wake = threading.Event()

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text, or what the mood gives instead."""
        self.calls += 1
        if self.mood == "down":
            raise ConnectionError("nobody answers")
        if self.mood == "slow":
            self.wake.wait()
        vectors = Hashing(self.dimension + (self.mood == "lying")).embed(texts)
        return vectors * np.float32("nan") if self.mood == "nan" else vectors


class _Awaited:
    """An `AsyncMemory` with the verbs of a `Memory`: each call is awaited in a loop of its own."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory = memory

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._memory, name)
        return (lambda *a, **k: asyncio.run(_all(verb(*a, **k)))) if callable(verb) else verb


async def _all(answer: Any) -> Any:
    return [item async for item in answer] if hasattr(answer, "__aiter__") else await answer


def awaited(memory: AsyncMemory) -> Memory:
    """An async memory as a sync one, so that one contract serves both."""
    return cast(Memory, _Awaited(memory))


def sights(memory: Memory, id: str, words: str, at: datetime) -> set[str]:
    """By which verbs a memory of these words, told at a moment, can be seen in a scope."""
    recalled = memory.recall(words, ALL, min_score=0)
    then = memory.recall(words, ALL, min_score=0, as_of=at)
    seen = {
        "recall": any(hit.id == id or hit.content == words for hit in recalled),
        "recall as_of": any(hit.id == id or hit.content == words for hit in then),
        "context": words in memory.context(words, budget=9000, min_score=0),
        "list": any(found.id == id for found in memory.list(limit=ALL)),
        "list as_of": any(found.id == id for found in memory.list(limit=ALL, as_of=at)),
        "export": any(id in line or words in line for line in memory.export()),
        "read": answers(lambda: memory.read(id)),
        "history": answers(lambda: memory.history(id)),
        "revise": answers(lambda: memory.revise(id, words)),
    }
    return {path for path, sight in seen.items() if sight}


def answers(call: Callable[[], object]) -> bool:
    """False if a call says `NotFound`."""
    try:
        call()
    except NotFound:
        return False
    return True


def attempted(call: Callable[[], object]) -> str:
    """What a call gives, or the error it raises, as text."""
    try:
        return repr(call())
    except HoldfastError as error:
        return repr(error)


def told(memory: Memory) -> list[str]:
    """The words of all memories of a scope, newest first."""
    return [found.content for found in memory.list(limit=ALL)]


def contents(hits: Sequence[Hit | Record]) -> list[str]:
    """Their words."""
    return [hit.content for hit in hits]
