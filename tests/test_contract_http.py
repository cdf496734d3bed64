"""The contract, kept over HTTP by a real server: called directly, and by an event loop."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast import AsyncMemory, Memory
from holdfast.testing import Contract, FakeClock, OpenScope, opening
from tests.serving import Served, serving


class OverHTTP(Contract):
    @pytest.fixture
    def served(self, url: str, clock: FakeClock) -> Iterator[Served]:
        with serving(url, clock) as served:
            yield served


class TestHTTP(OverHTTP):
    @pytest.fixture
    def open_scope(self, served: Served) -> Iterator[OpenScope]:
        with opening(lambda name: Memory(name, served.url)) as open_scope:
            yield open_scope


class TestHTTPWithOutboxAndKey(OverHTTP):
    @pytest.fixture
    def open_scope(self, served: Served, tmp_path: Path) -> Iterator[OpenScope]:
        key, box = served.key("contract", rights=("admin",)), str(tmp_path / "outbox.db")
        with opening(lambda name: Memory(name, served.url, api_key=key, outbox=box)) as open_scope:
            yield open_scope
            outbox = open_scope("contract").outbox
            assert outbox is not None
            assert outbox.pending == 0


class InLoop:
    """An `AsyncMemory` with the verbs of a `Memory`, in one loop that runs in a thread."""

    def __init__(self, memory: AsyncMemory, loop: asyncio.AbstractEventLoop) -> None:
        self._memory = memory
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        verb = getattr(self._memory, name)

        def call(*args: Any, **named: Any) -> Any:
            answer = verb(*args, **named)
            work = _listed(answer) if hasattr(answer, "__aiter__") else answer
            return asyncio.run_coroutine_threadsafe(work, self._loop).result()

        return call if callable(verb) else verb


async def _listed(lines: Any) -> list[str]:
    return [line async for line in lines]


class TestAsyncHTTP(OverHTTP):
    @pytest.fixture
    def loop(self) -> Iterator[asyncio.AbstractEventLoop]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        yield loop
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    @pytest.fixture
    def open_scope(self, served: Served, loop: asyncio.AbstractEventLoop) -> Iterator[OpenScope]:
        def open_one(name: str) -> Memory:
            return cast(Memory, InLoop(AsyncMemory(name, served.url), loop))

        with opening(open_one) as open_scope:
            yield open_scope
