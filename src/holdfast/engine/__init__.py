"""Where memories rest: the port that every engine fits, and `open_engine`, which chooses one.

The service hands an engine a function of a `Snapshot` to read, or of a `Transaction` to write,
and the engine runs it: on a consistent view, or all or nothing and durable before it answers.
Such a function may be run again after a failure, so it must do nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Invalid
from holdfast.model import Entry, Filter, Finding, Record
from holdfast.rank import Candidates, Corpus

if TYPE_CHECKING:
    from holdfast.engine.ledger import Ledger

T = TypeVar("T")
Vectors = NDArray[np.float32]  # one unit-length row per passage of a content
Key = tuple[int, ...]  # an engine's own name of a candidate; the first part counts the places asked


@dataclass(frozen=True, slots=True)
class Place:
    """Whose memories, and which of them: every statement of an engine is bound to one."""

    tenant: str
    scope: str


@dataclass(frozen=True, slots=True)
class Space:
    """The embedder whose vectors a store holds."""

    name: str
    version: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} {self.version} ({self.dimension} dimensions)"


@dataclass(frozen=True, slots=True)
class Draft:
    """A record about to rest, with what is indexed of it; without vectors it waits for them."""

    record: Record
    terms: Sequence[str]
    speaker: str | None
    vectors: Vectors | None
    space: Space | None


@dataclass(frozen=True, slots=True)
class Look:
    """What to search for; `most` bounds the candidates by words and those by meaning."""

    terms: tuple[str, ...]
    vector: NDArray[np.float32] | None
    space: Space | None
    where: Filter
    as_of: datetime | None
    now: datetime
    most: int


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found; `waiting` memories have no vector yet.

    `keys` tells the candidates apart, in their order; a snapshot can `fetch` their records.
    Where no scope exists there is nothing else.
    """

    candidates: Candidates | None
    corpus: Corpus | None
    keys: Sequence[Key]
    waiting: int


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer once given to an idempotency key; None if what it told of was forgotten."""

    digest: bytes
    answer: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A row that needs vectors of its content."""

    scope: int
    row: int
    content: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a place holds."""

    memories: int
    versions: int
    kinds: Mapping[str, int]
    sessions: int
    states: int
    waiting: int


class Snapshot(Protocol):
    """A consistent view of the store."""

    def versions(self, place: Place, id: str) -> list[Record]:
        """Every version of a memory, oldest first, expired or not."""

    def twin(self, place: Place, fingerprint: bytes) -> Record | None:
        """The current memory with these words, expired or not."""

    def page(
        self,
        place: Place,
        where: Filter,
        as_of: datetime | None,
        now: datetime,
        before: int,
        limit: int,
    ) -> list[tuple[int, Record]]:
        """Memories in sight, newest row first, each with its row; only rows under `before`."""

    def dump(self, place: Place, now: datetime, after: int, limit: int) -> list[tuple[int, Record]]:
        """Every version of unexpired memories, oldest row first, each with its row."""

    def search(self, places: Sequence[Place], look: Look) -> Found:
        """Candidates for a ranking: filters are exact, whatever the bounds."""

    def fetch(self, places: Sequence[Place], keys: Sequence[Key]) -> list[Record | None]:
        """The records of some keys of a search over these places; None where one is gone."""

    def entry(self, place: Place, key: str) -> Entry | None:
        """The entry under a key, expired or not."""

    def entries(self, place: Place, after: str, now: datetime, limit: int) -> list[Entry]:
        """Unexpired entries in the order of their keys."""

    def keys(self, place: Place, prefix: str, after: str, now: datetime, limit: int) -> list[str]:
        """Unexpired keys that begin with a prefix, in order."""

    def answer(self, place: Place, key: str) -> Kept | None:
        """What an idempotency key was answered."""

    def counts(self, place: Place, now: datetime) -> Counts:
        """How much a place holds."""


class Transaction(Snapshot, Protocol):
    """A view that can be changed: all of it or nothing."""

    def insert(self, place: Place, draft: Draft) -> None:
        """Adds a version of a memory."""

    def revise(self, place: Place, past: Record, draft: Draft) -> None:
        """Gives a memory new words; it keeps its place in lists, and its past beside it."""

    def change(self, place: Place, record: Record) -> None:
        """Writes everything of a version but its words; all versions live as long as it."""

    def forget(self, place: Place, id: str) -> None:
        """Removes every version of a memory from every index."""

    def forget_all(self, place: Place) -> int:
        """Removes the place, its state, and what kept answers tell of it; gives the state keys."""

    def matching(self, place: Place, where: Filter) -> list[str]:
        """The ids of all memories, past and expired ones too, of which a version matches."""

    def put_entry(self, place: Place, entry: Entry) -> None:
        """Writes an entry."""

    def drop_entry(self, place: Place, entry: Entry) -> None:
        """Removes an entry, and its value from kept answers."""

    def next_version(self, place: Place) -> int:
        """The version of a new key: higher than that of any key deleted before."""

    def keep_answer(
        self, place: Place, key: str, kept: Kept, about: str | None, now: datetime
    ) -> None:
        """Keeps the answer to an idempotency key."""


class Engine(Protocol):
    """A store that is open."""

    def read(self, work: Callable[[Snapshot], T]) -> T:
        """Runs a function on a consistent view that has everything acknowledged so far."""

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Runs a function that writes; returns once it is on disk."""

    def use(self, keys: Sequence[Key], now: datetime) -> None:
        """Counts uses, soon: they ride along with the next write, or are flushed on close."""

    def space(self) -> Space | None:
        """The embedder the store belongs to; None before the first."""

    def claim(self, space: Space) -> Space:
        """The embedder the store belongs to, which is this one if it had none."""

    def waiting(self, limit: int, place: Place | None = None) -> list[Waiting]:
        """Rows without vectors, of one place or of the whole store."""

    def fill(self, space: Space, rows: Sequence[Waiting], vectors: Sequence[Vectors]) -> None:
        """Gives waiting rows their vectors."""

    def move(
        self, space: Space, embed: Callable[[Sequence[str]], Sequence[Vectors]], batch: int
    ) -> tuple[int, int]:
        """One step of a change of embedder: rows done and rows in all; equal once it is over."""

    def check(self, repair: bool) -> list[Finding]:
        """Compares every index with the rows; rebuilds the wrong ones if asked."""

    def purge(self, now: datetime, keep_answers_from: datetime) -> tuple[int, int]:
        """Removes the expired and every trace of the forgotten; gives memories and state keys."""

    def backup(self, path: str) -> int:
        """Copies the store to a new file; gives its bytes."""

    def ledger(self) -> Ledger:
        """The books of a server on this store."""

    def size(self) -> int:
        """Bytes on disk."""

    def close(self) -> None:
        """Flushes what is buffered and lets go of the store."""


def open_engine(url: str) -> Engine:
    """The engine a URL names: `sqlite:///path`."""
    scheme, _, path = url.partition("://")
    if scheme == "sqlite" and path.startswith("/"):
        from holdfast.engine.sqlite import SQLite

        return SQLite(path[1:])
    raise Invalid(
        f"{scheme}:// is not a store this Holdfast can open.", "Use sqlite:///path/to/file.db."
    )
