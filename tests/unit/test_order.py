"""Which of the best candidates go first."""

from typing import Any

import numpy as np
import pytest

from holdfast import order
from holdfast.rank import Candidates

DAY = 86400.0


def some(counts: list[list[int]], **columns: Any) -> Candidates:
    """Candidates, one a row of counts; what is not given is the same for all."""
    many = len(counts)
    given: dict[str, Any] = {
        "cosine": np.full(many, 0.5),
        "counts": np.array(counts, float),
        "length": np.full(many, 6),
        "session": np.full(many, -1, np.int64),
        "turn": np.zeros(many, int),
        "happened": np.arange(many) * DAY,
        "named": np.zeros(many, bool),
        "role": np.zeros(many, np.int8),
        "uses": np.zeros(many, int),
        "ageless": np.zeros(many, bool),
    }
    return Candidates(**(given | {name: np.asarray(value) for name, value in columns.items()}))


def first(similarity: list[float], found: Candidates, rarity: list[float]) -> list[int]:
    given_out, said = np.array(similarity), np.array(rarity, float)
    falling = order.best(given_out, order.POOL)
    given = order.rearranged(given_out, falling, found, said / max(said.sum(), 1.0))
    assert sorted(given) == sorted(similarity)  # who has which changes, not what there is
    return [int(at) for at in np.argsort(-given, kind="stable")]


def test_of_two_statements_of_the_same_the_newer_goes_first() -> None:
    assert first([1.0, 0.8], some([[1, 1], [1, 1]]), [1.0, 1.0]) == [1, 0]


@pytest.mark.parametrize(
    "apart",
    [
        {"length": [40, 40]},
        {"role": [1, -1]},
        {"named": [True, False]},
        {"session": [3, 3], "turn": [4, 5]},
    ],
)
def test_what_does_not_state_the_same_stays_where_it_is(apart: dict[str, Any]) -> None:
    assert first([1.0, 0.9], some([[1, 1], [1, 1]], **apart), [1.0, 1.0]) == [0, 1]


def test_a_correction_may_be_longer_and_further_away() -> None:
    said = some([[1, 1], [1, 1]], length=[6, 20], cosine=[0.7, 0.4])
    assert first([1.0, 0.75], said, [1.0, 1.0]) == [1, 0]


def test_but_it_must_be_about_as_good_an_answer() -> None:
    assert first([1.0, 0.6], some([[1, 1], [1, 1]]), [1.0, 1.0]) == [0, 1]


@pytest.mark.parametrize(("similar", "order"), [(0.75, [0, 1]), (0.85, [1, 0])])
def test_the_fewer_words_they_share_the_better_it_must_be(similar: float, order: list[int]) -> None:
    said = some([[1, 1, 1], [1, 1, 0]])
    assert first([1.0, similar], said, [1.0, 1.0, 1.0]) == order


def test_of_many_statements_of_the_same_the_newest_goes_first() -> None:
    often = some([[1, 1]] * 5, happened=np.array([3, 0, 4, 2, 1]) * DAY)
    assert first([1.0, 0.95, 0.9, 0.85, 0.8], often, [1.0, 1.0])[0] == 2


@pytest.mark.parametrize("counts", [[[1, 1, 0], [1, 0, 1]], [[1, 0, 0], [1, 0, 0]]])
def test_nor_does_what_shares_few_words_of_the_query(counts: list[list[int]]) -> None:
    assert first([1.0, 0.85], some(counts), [1.0, 1.0, 1.0]) == [0, 1]


def test_without_words_nothing_moves() -> None:
    found = some([[], [], []])
    assert first([0.2, 0.9, 0.5], found, []) == [1, 2, 0]


def test_the_best_are_found_without_sorting_all() -> None:
    chance = np.random.default_rng(3)
    score, happened = chance.integers(0, 30, 500) / 30, chance.integers(0, 5, 500)
    newest = np.lexsort((-happened, -score))
    for most in (1, 7, 499, 500, 900):
        assert order.best(score, most, happened).tolist() == newest[:most].tolist()
        first = np.argsort(-score, kind="stable")[:most]
        assert order.best(score, most).tolist() == first.tolist()
