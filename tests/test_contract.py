"""The contract, kept by the SQLite engine: called directly, and by an event loop."""

from collections.abc import Iterator

import pytest

from holdfast.testing import Contract, FakeClock, OpenScope, opening
from tests.opening import by_loop, direct


class TestSQLite(Contract):
    @pytest.fixture
    def open_scope(self, url: str, clock: FakeClock) -> Iterator[OpenScope]:
        with opening(lambda name: direct(name, url, clock)) as open_scope:
            yield open_scope
            assert open_scope("contract").doctor().healthy


class TestAsyncSQLite(Contract):
    @pytest.fixture
    def open_scope(self, url: str, clock: FakeClock) -> Iterator[OpenScope]:
        with opening(lambda name: by_loop(name, url, clock)) as open_scope:
            yield open_scope


def test_a_backend_cannot_override_a_test() -> None:
    with pytest.raises(TypeError, match="test_scopes_never_leak"):
        type("Lenient", (Contract,), {"test_scopes_never_leak": None})


def test_nor_can_what_it_inherits_from_beside_the_contract() -> None:
    lenient = type("Lenient", (), {"test_state_keeps_any_json": lambda self: None})
    with pytest.raises(TypeError, match="test_state_keeps_any_json"):
        type("Mixed", (lenient, Contract), {})


def test_a_backend_can_add_tests_and_fixtures() -> None:
    type("Strict", (Contract,), {"test_more": lambda self: None, "memory": None})


def test_the_contract_is_long_enough_to_be_worth_its_name() -> None:
    assert sum(name.startswith("test_") for name in dir(Contract)) >= 60
