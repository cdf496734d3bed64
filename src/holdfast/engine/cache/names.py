"""Names as numbers: kinds, sessions, speakers, writers and tags of a scope; filters by them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.engine.columns import stamp
from holdfast.model import Filter

NOBODY = -1  # the code of no name
# How to take apart the names of columns whose names are of several parts.
PARTS: dict[str, Callable[[str], list[str]]] = {"tags": json.loads, "speaker": str.split}

Mask = NDArray[np.bool_]
T = TypeVar("T")


class Names:
    """A number for each name, the same for the same name."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str | None, int]] = {}
        # Of those columns, for each part the numbers of the names that have it.
        self._having: dict[str, dict[str, set[int]]] = {column: {} for column in PARTS}

    def codes(self, column: str, names: Sequence[str | None]) -> NDArray[np.int32]:
        """The number of each name in a column."""
        known = self._known.setdefault(column, {None: NOBODY})
        told = dict.fromkeys(names)
        new = [name for name in told if name not in known]
        known.update(zip(new, count(len(known) - 1), strict=False))
        if column in PARTS:
            for name in filter(None, new):
                for part in PARTS[column](name):
                    self._having[column].setdefault(part, set()).add(known[name])
        return coded(names, {name: known[name] for name in told}, np.int32)

    def speaking(self, terms: Iterable[str]) -> list[int]:
        """The numbers of the speakers whose name shares a term with a query."""
        having = self._having["speaker"]
        return list({code for term in terms if term in having for code in having[term]})

    def fitting(self, where: Filter, columns: Mapping[str, NDArray[Any]]) -> list[Mask]:
        """Which rows each part of a filter leaves in, but for what it says of `meta`."""
        wanted = [
            ("kind", self._of("kind", where.kinds), bool(where.kinds)),
            ("session", self._of("session", [where.session]), where.session is not None),
            ("writer", self._of("writer", [where.source]), where.source is not None),
            *(("tags", list(self._having["tags"].get(tag, ())), True) for tag in where.tags),
        ]
        fit = [np.isin(columns[column], codes) for column, codes, asked in wanted if asked]
        if where.avoid is not None:
            fit.append(columns["avoid"] == where.avoid)
        if where.since is not None:
            fit.append(columns["happened"] >= stamp(where.since))
        if where.until is not None:
            fit.append(columns["happened"] < stamp(where.until))
        return fit

    def _of(self, column: str, names: Iterable[str | None]) -> list[int]:
        known = self._known.get(column, {})
        return [known[name] for name in names if name in known]


def coded(things: Sequence[T], codes: Mapping[T, int], kind: type[Any]) -> NDArray[Any]:
    """The code of each thing, all of which have one; often it is the same for all."""
    if len(codes) == 1:
        return np.full(len(things), next(iter(codes.values())), kind)
    return np.fromiter(map(codes.__getitem__, things), kind, len(things))
