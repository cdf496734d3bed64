"""A scope in memory, following the store: its vectors, its word lists, and when each row was true.

Rows only ever grow in number, so new ones are found by asking for rows beyond the last one seen;
what changed or went away is found in the store's list of changes. That is how writes of other
threads and processes are seen, inside the very snapshot that asks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from holdfast import rank
from holdfast.engine import Scope
from holdfast.engine.cache import Pulse, Source
from holdfast.engine.cache.batch import NEVER, Batch, of_rows
from holdfast.engine.cache.lists import Lists
from holdfast.engine.cache.names import NOBODY, Names, coded
from holdfast.engine.cache.vectors import Taken, VectorTable
from holdfast.engine.cache.whole import Whole
from holdfast.lifetime import policy

GONE = np.iinfo(np.int64).min  # as the expiry of a row that was removed
NOTHING = Pulse(-1, -1, -1, -1)
CACHE_BYTES = 2 << 30  # beyond this the scopes not used for longest are let go
CHANGEABLE = """happened since until expires length uses version ageless avoid kind speaker role
    writer tags""".split()
CODED = "kind session speaker writer tags".split()
SAMPLE, RUN = 1024, 4  # rows that tell what is usual in a scope, so many in a row
ROLES = {"user": 1, "human": 1, "agent": -1, "assist": -1, "ai": -1}  # speakers are stemmed

Positions = NDArray[np.int64]


class Columns:
    """Arrays of one length that grow together, at the end."""

    TYPES: ClassVar[dict[str, type]] = {
        "row": np.int64,
        "happened": np.int64,
        "since": np.int64,
        "until": np.int64,
        "expires": np.int64,
        "length": np.int32,
        "uses": np.int64,
        "version": np.int64,
        "ageless": np.bool_,
        "avoid": np.bool_,
        "kind": np.int32,  # of names it is their codes that are held
        "session": np.int32,
        "turn": np.int32,
        "before": np.int64,  # the position of the turn before in the session, or NOBODY
        "after": np.int64,
        "speaker": np.int32,
        "role": np.int8,
        "writer": np.int32,
        "tags": np.int32,
    }

    def __init__(self) -> None:
        self.count = 0
        self.nbytes = 0
        self._held: dict[str, NDArray[Any]] = {
            name: np.empty(0, kind) for name, kind in self.TYPES.items()
        }

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._held[name][: self.count]

    def extend(self, values: dict[str, NDArray[Any]]) -> None:
        """Adds as many rows as the values have."""
        more = len(values["row"])
        if self.count + more > len(self._held["row"]):
            room = max(self.count + more, self.count * 3 // 2, 64)
            for name, held in self._held.items():
                self._held[name] = (
                    np.resize(held, room) if len(held) else np.zeros(room, held.dtype)
                )
            self.nbytes = sum(held.nbytes for held in self._held.values())
        for name, held in self._held.items():
            held[self.count : self.count + more] = values[name]
        self.count += more

    def now(self) -> dict[str, NDArray[Any]]:
        """All of them, as they are now."""
        return {name: held[: self.count] for name, held in self._held.items()}


class Sampled(NamedTuple):
    """Some positions; those on the right follow those on the left, a turn or two later."""

    positions: Positions
    left: Positions
    right: Positions
    vectors: Taken
    sides: NDArray[Any]  # who tells how much, as `rank.sides` counts it


class Index:
    """What of one scope is in memory. Positions, not rows, number what it holds."""

    def __init__(self, dimension: int, whole: bool = False) -> None:
        self.dimension = dimension
        self._whole = whole  # whether all word lists are held, or those that were asked for
        self.lock = threading.Lock()
        self._empty()

    def _empty(self) -> None:
        self.columns = Columns()
        self.vectors = VectorTable(self.dimension)
        self.pulse = NOTHING  # of the snapshot that was followed last
        self.total_length = 0  # of all rows, in terms
        self.lasting = True  # no row has an end: none is past, expires or is gone
        self.gone = 0
        self._seq: int | None = None
        self._behind = False
        self.names = Names()
        self._last: dict[int, int] = {}  # the position of the last turn of each session
        self._lists = Whole() if self._whole else Lists()
        self._altered = 0  # how often rows that were there became others, for the sample
        self._sampled: tuple[tuple[int, ...], Sampled] | None = None

    # --- following the store ---

    def follow(self, source: Source) -> None:
        """Takes in what a snapshot has and this has not."""
        try:
            self._follow(source)
        except BaseException:
            self._empty()  # half taken in would be wrong for good; this costs one loading
            raise

    def _follow(self, source: Source) -> None:
        pulse = source.pulse()
        if pulse == self.pulse and not self._behind:
            return
        if self._seq is not None and pulse.change > self._seq:
            self._changes(source)
        if pulse.row > self._last_row():
            self._append(source)
        self._lists.follow(source, self.columns["row"], pulse.listed)
        # Another thread may have shown this a later snapshot than the one that asks now.
        self._behind = pulse.change < (self._seq or 0) or pulse.row < self._last_row()
        self._seq = max(pulse.change, self._seq or 0)
        self.pulse = pulse

    def _last_row(self) -> int:
        return int(self.columns["row"][-1]) if self.count else 0

    def _changes(self, source: Source) -> None:
        changed = source.changes(self._seq or 0)
        if changed is None or self.gone > max(1000, self.count // 4):
            self._empty()
            return
        held = {row: at for row in set(changed) if (at := self.position(row)) is not None}
        found = source.rows(sorted(held)) if held else []
        if found:
            self._reload(source, of_rows(found), np.array([held[row["row"]] for row in found]))
        gone = [held[row] for row in held.keys() - {row["row"] for row in found}]
        for at in gone:
            self._remove(at)
        if gone:
            self._lists.drop(np.array(gone))

    def _reload(self, source: Source, batch: Batch, at: Positions) -> None:
        """Takes rows in again, at their places."""
        values = self._values(batch)
        revised = values["version"] != self.columns["version"][at]
        told = ("length", "role")
        alike = all(np.array_equal(self.columns[name][at], values[name]) for name in told)
        self._altered += not alike or bool(revised.any())
        self.total_length += int(values["length"].sum() - self.columns["length"][at].sum())
        for name in CHANGEABLE:
            self.columns[name][at] = values[name]
        if revised.any():
            self._lists.reword(source, self.columns["row"], at[revised])
        if self.dimension:
            ends = np.cumsum(batch.sizes)
            for i, place in enumerate(at.tolist()):
                if revised[i] or not self.vectors.has(place):
                    self._altered += 1
                    self.vectors.drop(place)
                    some = slice(ends[i] - batch.sizes[i], ends[i])
                    self.vectors.add(place, batch.sizes[i : i + 1], batch.vectors[some])

    def _remove(self, at: int) -> None:
        if self.columns["expires"][at] == GONE:
            return
        if self.dimension:
            self.vectors.drop(at)
        self.gone += 1
        self._altered += 1
        self.lasting = False
        self.total_length -= int(self.columns["length"][at])
        self.columns["expires"][at] = GONE
        self.columns["length"][at] = 0
        self._leave_session(at)

    def _leave_session(self, at: int) -> None:
        """Closes the gap that a turn leaves in its session."""
        columns = self.columns
        before, after = int(columns["before"][at]), int(columns["after"][at])
        if before != NOBODY:
            columns["after"][before] = after
        if after != NOBODY:
            columns["before"][after] = before
        elif columns["session"][at] != NOBODY:
            self._last[int(columns["session"][at])] = before
        while after != NOBODY:
            columns["turn"][after] -= 1
            after = int(columns["after"][after])

    def _append(self, source: Source) -> None:
        count, steps = source.rows_after(self._last_row())
        self.vectors.make_room(self.count + count, count)
        for batch in steps:
            self.take(batch)
        self.vectors.settle()

    def take(self, batch: Batch, turns: Mapping[int, int] | None = None) -> None:
        """Adds rows behind those there are.

        `turns`: which of its session each row is, if they are not all the rows there are.
        """
        if not len(batch.sizes):
            return
        start, values = self.count, self._values(batch)
        placed = self._turns(values["session"]) if turns is None else _placed(values["row"], turns)
        self.columns.extend(values | placed)
        self.total_length += int(values["length"].sum())
        if self.dimension:
            self.vectors.add(start, batch.sizes, batch.vectors)

    def _values(self, batch: Batch) -> dict[str, NDArray[Any]]:
        """The columns of some rows."""
        numbers, names = batch.numbers, batch.names
        kinds = {name: policy(name).ageless for name in set(names["kind"])}
        who = list(zip(names["role"], names["speaker"], strict=True))
        roles = {pair: _role(*pair) for pair in set(who)}
        values = numbers | {
            "ageless": coded(names["kind"], kinds, np.bool_) | (numbers["pinned"] != 0),
            "role": coded(who, roles, np.int8),
            **{name: self.names.codes(name, names[name]) for name in CODED},
        }
        ends = (numbers["until"] != NEVER) | (numbers["expires"] != NEVER)
        self.lasting &= not ends.any()
        return values

    def _turns(self, sessions: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """Where new rows stand in their sessions."""
        count, first = len(sessions), self.count
        turn, before, after = np.zeros(count, np.int32), *np.full((2, count), NOBODY)
        # By session, and in order there: a loop over all rows would take as long as reading them.
        ordered = np.argsort(sessions, kind="stable")
        ordered = ordered[np.searchsorted(sessions[ordered], NOBODY, side="right") :]
        inner = sessions[ordered[1:]] == sessions[ordered[:-1]]
        before[ordered[1:][inner]] = first + ordered[:-1][inner]
        after[ordered[:-1][inner]] = first + ordered[1:][inner]
        starts = np.flatnonzero(np.concatenate([[True], ~inner])[: len(ordered)])
        sizes = np.diff(starts, append=len(ordered))
        turn[ordered] = np.arange(len(ordered)) - np.repeat(starts, sizes)
        ends = ordered[starts + sizes - 1].tolist()
        for at, size, end in zip(starts.tolist(), sizes.tolist(), ends, strict=True):
            session, begin = int(sessions[end]), int(ordered[at])
            last = self._last.get(session, NOBODY)
            if last != NOBODY:
                before[begin], self.columns["after"][last] = last, first + begin
                turn[ordered[at : at + size]] += int(self.columns["turn"][last]) + 1
            self._last[session] = first + end
        return {"turn": turn, "before": before, "after": after}

    # --- asking ---

    @property
    def count(self) -> int:
        """How many rows this holds, those that are gone too."""
        return self.columns.count

    def position(self, row: int) -> int | None:
        """Where a row stands."""
        rows = self.columns["row"]
        at = int(np.searchsorted(rows, row))
        return at if at < len(rows) and rows[at] == row else None

    def listed(self, source: Source, token: str) -> Positions:
        """The positions of all rows with a token, in order."""
        reach = self.pulse.listed if self._behind else None
        return self._lists.listed(source, token, self.columns["row"], reach)

    def sampled(self) -> Sampled:
        """Some rows, in short runs, and which of them follow which in a session."""
        step = max(RUN, RUN * self.count // SAMPLE)
        runs, rest = divmod(self.count, step)
        key = step, runs, min(rest, RUN), self._altered
        if self._sampled is None or self._sampled[0] != key:
            some = (np.arange(0, self.count, step)[:, None] + np.arange(RUN)).ravel()
            some = some[some < self.count]
            # A row that is gone has no neighbours, and its turn depends on what went first.
            some = some[self.columns["expires"][some] != GONE]
            pairs = rank.pairs(self.columns["session"][some], self.columns["turn"][some])
            sides = rank.sides(self.columns["role"][some], self.columns["length"][some])
            held = some if self.dimension else some[:0]
            self._sampled = key, Sampled(some, *pairs, self.vectors.taken(held), sides)
        return self._sampled[1]

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory this takes."""
        return self.columns.nbytes + self.vectors.nbytes + self._lists.nbytes


def _placed(rows: Positions, turns: Mapping[int, int]) -> dict[str, NDArray[Any]]:
    """Where rows stand in their sessions, told from elsewhere; nobody walks along them."""
    nobody = np.full(len(rows), NOBODY, np.int64)
    told = np.array([turns.get(row, 0) for row in rows.tolist()], np.int32)
    return {"turn": told, "before": nobody, "after": nobody}


def _role(role: str | None, speaker: str | None) -> int:
    """1 for a user, -1 for an agent: by its source, or by the "user:" its content begins with."""
    return ROLES.get(role or "", 0) or ROLES.get(speaker or "", 0)


class Indexes:
    """The scopes in memory; those not used for longest go first."""

    def __init__(self, whole: bool = False) -> None:
        self._whole = whole
        self._held: OrderedDict[tuple[int, Scope], Index] = OrderedDict()
        self._weights: dict[tuple[int, Scope], int] = {}  # bytes of each when last seen,
        self._weight = 0  # and of all
        self._lock = threading.Lock()

    def scope(self, space: int, scope: Scope, dimension: int) -> Index:
        """The index of a scope, empty if it was not in memory."""
        with self._lock:
            for last in reversed(self._held):  # it has grown since it was given out
                self._weigh(last, self._held[last].nbytes)
                break
            found = self._held.pop((space, scope), None) or Index(dimension, self._whole)
            self._held[space, scope] = found
            while len(self._held) > 1 and self._weight > CACHE_BYTES:
                self._weigh(self._held.popitem(last=False)[0], 0)
            return found

    def _weigh(self, key: tuple[int, Scope], weight: int) -> None:
        """Notes what one weighs now: to weigh all of them would take longer than a search."""
        self._weight += weight - self._weights.pop(key, 0)
        if weight:
            self._weights[key] = weight

    def clear(self) -> None:
        """Lets go of everything."""
        with self._lock:
            self._held.clear()
            self._weights.clear()
            self._weight = 0
