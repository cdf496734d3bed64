"""What a newcomer tries first: a handful of memories, plain questions, and unrelated ones."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks import beginnings
from holdfast import Memory

STORES = beginnings.stores()
UNRELATED = beginnings.UNRELATED.splitlines()


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Memory]]:
    """A store of its own for each handful of memories."""
    folder: Path = tmp_path_factory.mktemp("begun")
    memories = []
    for at, told in enumerate(STORES):
        memory = Memory("me", f"sqlite:///{folder}/{at}.db")
        for said, _ in told:
            memory.remember(said)
        memories.append(memory)
    yield memories
    for memory in memories:
        memory.close()


def test_there_are_enough_pairs_and_stores_of_every_size() -> None:
    assert sum(len(asked) for told in STORES for _, asked in told) >= 60
    assert {1, 2, 3, 5, 8, 12, 20} <= {len(told) for told in STORES}


def test_plain_questions_are_answered_and_the_answer_comes_first(begun: list[Memory]) -> None:
    first = [
        [hit.content for hit in memory.recall(question)][:1] == [said]
        for memory, told in zip(begun, STORES, strict=True)
        for said, asked in told
        for question in asked
    ]
    assert sum(first) >= 0.97 * len(first)


def test_unrelated_questions_are_seldom_answered(begun: list[Memory]) -> None:
    answered = [bool(memory.recall(question)) for memory in begun for question in UNRELATED]
    assert sum(answered) <= 0.10 * len(answered)
