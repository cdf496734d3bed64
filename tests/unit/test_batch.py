"""Rows as columns, and vectors that are none."""

import numpy as np
import pytest

from holdfast.engine.cache import vectors
from holdfast.engine.cache.batch import NAMES, NEVER, NUMBERS, of_rows
from holdfast.engine.cache.index import Index
from holdfast.engine.cache.vectors import VectorTable

ONE, OTHER = (np.eye(4, dtype="<f2")[n].tobytes() for n in (0, 1))


def test_rows_become_columns() -> None:
    first = (1, 20, 10, None, 99, 3, 0, 1, True, False, "fact", None, "ann", None, None, "[]", ONE)
    second = (2, 21, 11, 50, None, 4, 7, 2, False, True, "rule", "s", None, "user", "x", "[]", None)
    batch = of_rows([first, second])
    assert [batch.numbers[name].tolist() for name in ("row", "until", "expires", "pinned")] == [
        [1, 2],
        [NEVER, 50],
        [99, NEVER],
        [1, 0],
    ]
    assert list(batch.names) == NAMES
    assert batch.names["session"] == (None, "s")
    assert (batch.sizes.tolist(), batch.vectors) == ([8, 0], ONE)


def test_of_no_rows_there_are_no_columns_to_speak_of() -> None:
    batch = of_rows([])
    assert list(batch.numbers) == NUMBERS
    assert not len(batch.sizes)


@pytest.mark.parametrize("many", [1, 100])
def test_bytes_that_are_no_vector_are_passed_over(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "MANY", many)
    table = VectorTable(4)
    table.add(0, np.array([8, 3, 0, 16]), ONE + b"odd" + OTHER + ONE)
    near = table.near(np.array([0, 1, 0, 0], np.float32)).cosines(np.arange(4))
    assert near[[0, 3]].tolist() == pytest.approx([0, 1])
    assert np.isnan(near[[1, 2]]).all()
    assert [table.has(row) for row in range(4)] == [True, False, False, True]


def test_turns_go_on_in_their_sessions_from_batch_to_batch() -> None:
    index = Index(0)
    for told in (["x", "y", "x", None, "y"], ["z", "x", None, "x"]):
        start = index.count + 1
        index.take(of_rows([_said(row, session) for row, session in enumerate(told, start)]))
    none = -1
    held = {name: index.columns[name].tolist() for name in ("turn", "before", "after")}
    assert held == {
        "turn": [0, 0, 1, 0, 1, 0, 2, 0, 3],
        "before": [none, none, 0, none, 1, none, 2, none, 6],
        "after": [2, 4, 6, none, none, none, 8, none, none],
    }


def _said(row: int, session: str | None) -> tuple[object, ...]:
    numbers = (row, 20, 10, None, None, 3, 0, 1, False, False)
    return (*numbers, "fact", session, None, None, None, "[]", None)
