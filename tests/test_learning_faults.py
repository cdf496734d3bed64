"""Kills while a process learns; `make faults` does many more of them."""

import pytest

from benchmarks import learning_faults


@pytest.mark.slow
def test_kills_lose_nothing_double_nothing_and_halve_nothing() -> None:
    total = learning_faults.run(kills=4, seed=7)
    assert total.pop("acknowledged") > 0
    assert total.pop("kills") == 4
    assert +total == {}
