"""The contract, kept by the PostgreSQL engine: called directly, by an event loop, over HTTP."""

from collections.abc import Iterator

import pytest

from holdfast import AsyncMemory, Memory
from holdfast.backend import open_async_backend, open_backend
from holdfast.testing import Contract, FakeClock, OpenScope, awaited
from tests.serving import serving


class OnPostgres(Contract):
    @pytest.fixture
    def clock(self) -> FakeClock:
        return FakeClock()

    @pytest.fixture
    def memory(self, open_scope: OpenScope) -> Memory:
        return open_scope("contract")


class TestPostgres(OnPostgres):
    @pytest.fixture
    def open_scope(self, postgres_url: str, clock: FakeClock) -> Iterator[OpenScope]:
        opened: list[Memory] = []

        def open_scope(name: str) -> Memory:
            opened.append(Memory(name, backend=open_backend(postgres_url, "hashing", clock)))
            return opened[-1]

        yield open_scope
        assert open_scope("contract").doctor().healthy
        for memory in opened:
            memory.close()


class TestAsyncPostgres(OnPostgres):
    @pytest.fixture
    def open_scope(self, postgres_url: str, clock: FakeClock) -> Iterator[OpenScope]:
        opened: list[Memory] = []

        def open_scope(name: str) -> Memory:
            backend = open_async_backend(postgres_url, "hashing", clock)
            opened.append(awaited(AsyncMemory(name, backend=backend)))
            return opened[-1]

        yield open_scope
        for memory in opened:
            memory.close()


class TestHTTPToPostgres(OnPostgres):
    @pytest.fixture
    def open_scope(self, postgres_url: str, clock: FakeClock) -> Iterator[OpenScope]:
        opened: list[Memory] = []
        with serving(postgres_url, clock) as served:

            def open_scope(name: str) -> Memory:
                opened.append(Memory(name, served.url))
                return opened[-1]

            yield open_scope
            for memory in opened:
                memory.close()
