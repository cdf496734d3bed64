"""The contract, kept by the PostgreSQL engine: called directly, by an event loop, over HTTP."""

from collections.abc import Iterator

import pytest

from holdfast import Memory
from holdfast.testing import Contract, FakeClock, OpenScope, opening
from tests.opening import by_loop, direct
from tests.serving import serving


class TestPostgres(Contract):
    @pytest.fixture
    def open_scope(self, postgres_url: str, clock: FakeClock) -> Iterator[OpenScope]:
        with opening(lambda name: direct(name, postgres_url, clock)) as open_scope:
            yield open_scope
            assert open_scope("contract").doctor().healthy


class TestAsyncPostgres(Contract):
    @pytest.fixture
    def open_scope(self, postgres_url: str, clock: FakeClock) -> Iterator[OpenScope]:
        with opening(lambda name: by_loop(name, postgres_url, clock)) as open_scope:
            yield open_scope


class TestHTTPToPostgres(Contract):
    @pytest.fixture
    def open_scope(self, postgres_url: str, clock: FakeClock) -> Iterator[OpenScope]:
        with (
            serving(postgres_url, clock) as served,
            opening(lambda name: Memory(name, served.url)) as open_scope,
        ):
            yield open_scope
