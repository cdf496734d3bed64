"""A large value under a name: whole, or not there."""

from collections.abc import Iterator

import pytest

from holdfast import Memory, NotFound
from holdfast.integrations import snapshot


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory("team", url, embedder="hashing") as memory:
        yield memory


def test_what_is_larger_than_a_state_value_comes_back(memory: Memory) -> None:
    value = {"messages": ["茶 " * 300_000, {"n": 1}]}
    snapshot.save(memory, "team/a", value)
    assert snapshot.load(memory, "team/a") == value


def test_a_newer_one_takes_its_place_and_leaves_no_pieces(memory: Memory) -> None:
    snapshot.save(memory, "team/a", ["x" * 500_000])
    snapshot.save(memory, "team/a", "small")
    assert snapshot.load(memory, "team/a") == "small"
    assert len(memory.keys("team/a")) == 2
    assert snapshot.remove(memory, "team/a")
    assert memory.keys("team/a") == ()
    assert not snapshot.remove(memory, "team/a")
    with pytest.raises(NotFound):
        snapshot.load(memory, "team/a")


def test_one_that_dies_while_it_saves_leaves_the_old_one(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot.save(memory, "team/a", "old")
    done = memory.set

    def dies(key: str, value: object) -> object:
        if key == "team/a":
            raise KeyboardInterrupt
        return done(key, value)

    monkeypatch.setattr(memory, "set", dies)
    with pytest.raises(KeyboardInterrupt):
        snapshot.save(memory, "team/a", "new")
    assert snapshot.load(memory, "team/a") == "old"
