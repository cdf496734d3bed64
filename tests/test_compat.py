"""The facades: the programs of other libraries' texts, with one import changed."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.compat import botwire, zero_latency


@pytest.fixture(autouse=True)
def _store(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_URL", url)


def test_zero_latency_adds_and_recalls_text(tmp_path: Path) -> None:
    memory = zero_latency.Memory("your-api-key")
    assert memory.recall("coding standards").text == ""
    assert memory.add("").turns == 0
    done = memory.add("Coder: we chose FastAPI for the API\n\nReviewer: validate every input")
    assert (done.turns, done.created) == (2, 1)
    found = memory.recall("which framework for the API, FastAPI?")
    assert "we chose FastAPI" in found.text
    assert f"{found}" == found.text
    assert found.hits[0].memory.kind == "decision"
    primed = memory.recall("what matters here")  # it asks for nothing, and primes a prompt
    assert "we chose FastAPI" in primed.text
    assert primed.hits.abstained
    memory.close()
    other = zero_latency.Memory("your-api-key", agent_id="other")
    assert other.recall("FastAPI").text == ""
    assert other.add("x" * 40_000).turns == 10
    other.close()


def test_botwire_keeps_numbers_and_deletes_by_none() -> None:
    memory = botwire.Memory("autogen-assistant")
    values: list[Any] = [5, 1.5, True, "5", [], {"a": None}]
    for value in values:
        memory.set("key", value)
        assert memory.get("key") == value
        assert type(memory.get("key")) is type(value)
    assert memory.keys() == ["key"]
    assert "key" in memory
    assert "ke" not in memory
    memory.set("key", None)
    assert memory.get("key", "gone") == "gone"
    assert "key" not in memory
    assert not memory.delete("key")
    memory.close()
