"""All word lists of a scope in memory: the same as a look through its rows gives."""

import random
from collections.abc import Iterable
from typing import cast

import numpy as np
import pytest

from holdfast.engine.cache import LAST_ROW, Source
from holdfast.engine.cache.tokens import AGAIN, tokens
from holdfast.engine.cache.whole import Whole

WORDS = [f"w{n}" for n in range(12)]


class Rows:
    """Rows and their terms, as a source tells them; some numbers are missing."""

    def __init__(self) -> None:
        self.terms: dict[int, str] = {}
        self.asked = 0

    def say(self, chance: random.Random) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randrange(20)))

    def add(self, chance: random.Random, many: int) -> None:
        for _ in range(many):
            self.terms[max(self.terms, default=0) + chance.randrange(1, 4)] = self.say(chance)

    def terms_after(self, row: int, last: int = LAST_ROW) -> Iterable[tuple[int, str]]:
        self.asked += 1
        return [(at, said) for at, said in sorted(self.terms.items()) if row < at <= last]

    def having(self, token: str) -> list[int]:
        return [at for at, row in enumerate(sorted(self.terms)) if token in tokens(self.terms[row])]

    @property
    def numbers(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        return np.array(sorted(self.terms), np.int64)


def listed(whole: Whole, rows: Rows, token: str) -> list[int]:
    return list(map(int, whole.listed(cast(Source, rows), token, rows.numbers, None)))


@pytest.mark.parametrize("seed", range(20))
def test_lists_are_those_of_the_rows_whatever_comes_and_changes(seed: int) -> None:
    chance, rows, whole = random.Random(seed), Rows(), Whole()
    source = cast(Source, rows)
    for _ in range(12):
        if rows.terms and chance.random() < 0.4:
            at = np.array(sorted(chance.sample(range(len(rows.terms)), 1)))
            rows.terms[int(rows.numbers[at[0]])] = rows.say(chance)
            whole.reword(source, rows.numbers, at)
        else:
            rows.add(chance, chance.choice([0, 1, 1, 2, 40]))
            whole.follow(source, rows.numbers, 0)
        for word in (*WORDS, "never", ""):
            for token in (word, *(word + mark for mark in AGAIN.values())):
                if word:
                    assert listed(whole, rows, token) == rows.having(token)


def test_a_row_without_words_is_in_no_list_that_is_asked_for() -> None:
    rows, whole = Rows(), Whole()
    rows.terms = {1: "", 2: "tea"}
    whole.follow(cast(Source, rows), rows.numbers, 0)
    assert listed(whole, rows, "tea") == [1]
    assert listed(whole, rows, "coffee") == []


def test_rows_that_are_gone_are_in_no_list() -> None:
    rows, whole = Rows(), Whole()
    rows.terms = {1: "tea milk", 2: "tea tea", 3: "tea"}
    whole.follow(cast(Source, rows), rows.numbers, 0)
    assert listed(whole, rows, "tea") == [0, 1, 2]
    whole.drop(np.array([0, 1]))
    assert [listed(whole, rows, token) for token in ("tea", "tea\u00b2", "milk")] == [[2], [], []]


def test_nothing_is_read_twice() -> None:
    rows, whole = Rows(), Whole()
    rows.add(random.Random(1), 5)
    for _ in range(3):
        whole.follow(cast(Source, rows), rows.numbers, 0)
    assert rows.asked == 1


def test_many_small_steps_leave_few_runs_and_their_bytes_are_told() -> None:
    rows, whole, chance = Rows(), Whole(), random.Random(2)
    for _ in range(300):
        rows.add(chance, 1)
        whole.follow(cast(Source, rows), rows.numbers, 0)
    assert len(whole._runs) <= 12
    assert whole.nbytes == 8 * sum(said.count(" ") + 1 for said in rows.terms.values())
