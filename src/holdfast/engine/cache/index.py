"""A scope in memory, following the store: its vectors, its word lists, and when each row was true.

Rows only ever grow in number, so new ones are found by asking for rows beyond the last one seen;
what changed or went away is found in the store's list of changes. That is how writes of other
threads and processes are seen, inside the very snapshot that asks.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from holdfast.engine import Scope
from holdfast.engine.cache import Source
from holdfast.engine.cache.lists import Lists
from holdfast.engine.cache.vectors import VectorTable
from holdfast.lifetime import policy

NEVER = np.iinfo(np.int64).max
GONE = np.iinfo(np.int64).min  # as the expiry of a row that was removed
NOBODY = -1  # the code of no session, and of no speaker
CACHE_BYTES = 2 << 30  # beyond this the scopes not used for longest are let go
CHANGEABLE = """happened since until expires length ageless speaker role uses version""".split()
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
        "ageless": np.bool_,
        "session": np.int32,
        "turn": np.int32,
        "before": np.int64,  # the position of the turn before in the session, or NOBODY
        "after": np.int64,
        "speaker": np.int32,
        "role": np.int8,
        "uses": np.int64,
        "version": np.int64,
    }

    def __init__(self) -> None:
        self.count = 0
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
        for name, held in self._held.items():
            held[self.count : self.count + more] = values[name]
        self.count += more

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(held.nbytes for held in self._held.values())


class Index:
    """What of one scope is in memory. Positions, not rows, number what it holds."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.lock = threading.Lock()
        self._empty()

    def _empty(self) -> None:
        self.columns = Columns()
        self.vectors = VectorTable(self.dimension)
        self.seq: int | None = None
        self.gone = 0
        self._behind = False
        self._sessions: dict[str, int] = {}
        self._speakers: dict[str, int] = {}
        self._last: dict[int, int] = {}  # the position of the last turn of each session
        self._lists = Lists()

    # --- following the store ---

    def follow(self, source: Source) -> None:
        """Takes in what a snapshot has and this has not."""
        try:
            self._follow(source)
        except BaseException:
            self._empty()  # half taken in would be wrong for good; this costs one loading
            raise

    def _follow(self, source: Source) -> None:
        seq = source.last_change()
        if self.seq is not None and seq > self.seq:
            self._changes(source)
        newest = source.last_row()
        if newest > self._last_row():
            self._append(source)
        self._lists.follow(source, self.columns["row"])
        # Another thread may have shown this a later snapshot than the one that asks now.
        self._behind = seq < (self.seq or 0) or newest < self._last_row()
        self.seq = max(seq, self.seq or 0)

    def _last_row(self) -> int:
        return int(self.columns["row"][-1]) if self.count else 0

    def _changes(self, source: Source) -> None:
        changed = source.changes(self.seq or 0)
        if changed is None or self.gone > max(1000, self.count // 4):
            self._empty()
            return
        held = {row: at for row in set(changed) if (at := self.position(row)) is not None}
        found = {row["row"]: row for row in source.rows(sorted(held))} if held else {}
        for row, at in sorted(held.items()):
            if row in found:
                self._reload(found[row], at)
            else:
                self._remove(at)

    def _reload(self, found: Any, at: int) -> None:
        values = self._values([found])
        revised = values["version"][0] != self.columns["version"][at]
        for name in CHANGEABLE:
            self.columns[name][at] = values[name][0]
        if revised:
            self._lists.clear()  # other words
        if self.dimension and (revised or not self.vectors.has(at)):
            self.vectors.drop(at)
            self.vectors.add(at, [found["vectors"]])

    def _remove(self, at: int) -> None:
        if self.columns["expires"][at] == GONE:
            return
        if self.dimension:
            self.vectors.drop(at)
        self.gone += 1
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
        found = source.rows_after(self._last_row())
        if not found:
            return
        start = self.count
        values = self._values(found)
        self.columns.extend(values | self._turns(values["session"]))
        if self.dimension:
            self.vectors.add(start, [row["vectors"] for row in found])

    def _values(self, found: Sequence[Any]) -> dict[str, NDArray[Any]]:
        row, happened, since, until, expires, length, uses, pinned, version, *names, _ = zip(
            *found, strict=True
        )
        kind, session, speaker, role = names
        lasting = {name: policy(name).ageless for name in set(kind)}
        roles = {pair: _role(*pair) for pair in set(zip(role, speaker, strict=True))}
        ageless = [bool(pin) or lasting[name] for pin, name in zip(pinned, kind, strict=True)]
        sessions = _codes(self._sessions, session)
        return {
            "row": np.array(row, np.int64),
            "happened": np.array(happened, np.int64),
            "since": np.array(since, np.int64),
            "until": np.array([NEVER if at is None else at for at in until], np.int64),
            "expires": np.array([NEVER if at is None else at for at in expires], np.int64),
            "length": np.array(length, np.int32),
            "ageless": np.array(ageless, np.bool_),
            "session": np.array(sessions, np.int32),
            "speaker": np.array(_codes(self._speakers, speaker), np.int32),
            "role": np.array([roles[pair] for pair in zip(role, speaker, strict=True)], np.int8),
            "uses": np.array(uses, np.int64),
            "version": np.array(version, np.int64),
        }

    def _turns(self, sessions: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
        """Where new rows stand in their sessions."""
        first, held = self.count, self._last
        # Lists: a loop over arrays would take three times as long, and a scope is loaded by it.
        turn, before, after = ([filling] * len(sessions) for filling in (0, NOBODY, NOBODY))
        for i, session in enumerate(sessions.tolist()):
            if session == NOBODY:
                continue
            last = before[i] = held.get(session, NOBODY)
            if last >= first:
                after[last - first] = first + i
                turn[i] = turn[last - first] + 1
            elif last != NOBODY:
                self.columns["after"][last] = first + i
                turn[i] = int(self.columns["turn"][last]) + 1
            held[session] = first + i
        return {
            "turn": np.array(turn, np.int32),
            "before": np.array(before, np.int64),
            "after": np.array(after, np.int64),
        }

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
        return self._lists.listed(source, token, self.columns["row"], self._behind)

    def speaking(self, terms: Iterable[str]) -> list[int]:
        """The codes of speakers whose name shares a term with the query."""
        said = set(terms)
        return [code for name, code in self._speakers.items() if said & set(name.split(" "))]

    @property
    def nbytes(self) -> int:
        """About how many bytes of memory this takes."""
        return self.columns.nbytes + self.vectors.nbytes + self._lists.nbytes


def _codes(known: dict[str, int], names: Iterable[str | None]) -> list[int]:
    """A number for each name, the same for the same name."""
    return [NOBODY if name is None else known.setdefault(name, len(known)) for name in names]


def _role(role: str | None, speaker: str | None) -> int:
    """1 for a user, -1 for an agent: by its source, or by the "user:" its content begins with."""
    return ROLES.get(role or "", 0) or ROLES.get(speaker or "", 0)


class Indexes:
    """The scopes in memory; those not used for longest go first."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[int, Scope], Index] = OrderedDict()
        self._lock = threading.Lock()

    def scope(self, space: int, scope: Scope, dimension: int) -> Index:
        """The index of a scope, empty if it was not in memory."""
        with self._lock:
            found = self._held.pop((space, scope), None) or Index(dimension)
            self._held[space, scope] = found
            while len(self._held) > 1 and self._bytes() > CACHE_BYTES:
                self._held.popitem(last=False)
            return found

    def _bytes(self) -> int:
        return sum(held.nbytes for held in self._held.values())

    def clear(self) -> None:
        """Lets go of everything."""
        with self._lock:
            self._held.clear()
