"""Memories on a store that go by a clock: called directly, and by an event loop."""

from holdfast import AsyncMemory, Memory
from holdfast.backend import open_async_backend, open_backend
from holdfast.testing import FakeClock, awaited


def direct(scope: str, url: str, clock: FakeClock) -> Memory:
    return Memory(scope, backend=open_backend(url, "hashing", clock))


def by_loop(scope: str, url: str, clock: FakeClock) -> Memory:
    return awaited(AsyncMemory(scope, backend=open_async_backend(url, "hashing", clock)))
