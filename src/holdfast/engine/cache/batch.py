"""What the index holds of some rows, column by column.

An engine that can gives it so: rows one by one would each be made in Python, while nothing else
is, and a large scope takes long enough to load.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NEVER = np.iinfo(np.int64).max
NUMBERS = "row happened since until expires length uses version pinned avoid".split()
NAMES = "kind session speaker role writer tags".split()


class Batch(NamedTuple):
    """Some rows of a scope, in order."""

    numbers: dict[str, NDArray[np.int64]]  # by the names of `NUMBERS`; `NEVER` for no end
    names: dict[str, Sequence[Any]]  # by those of `NAMES`
    sizes: NDArray[np.int64]  # bytes of the vectors of each, 0 if it has none;
    vectors: bytes  # one after the other


def of_rows(rows: Sequence[Any]) -> Batch:
    """A batch of rows that have `NUMBERS`, `NAMES` and vectors, in this order."""
    *columns, vectors = zip(*rows, strict=True) if rows else [()] * (len(NUMBERS + NAMES) + 1)
    numbers, names = columns[: len(NUMBERS)], columns[len(NUMBERS) :]
    return Batch(
        {name: _numbers(name, each) for name, each in zip(NUMBERS, numbers, strict=True)},
        dict(zip(NAMES, names, strict=True)),
        np.array([len(each or b"") for each in vectors], np.int64),
        b"".join(each or b"" for each in vectors),
    )


def _numbers(name: str, each: Sequence[int | None]) -> NDArray[np.int64]:
    if name in ("until", "expires"):
        each = [NEVER if at is None else at for at in each]
    return np.array(each, np.int64)
