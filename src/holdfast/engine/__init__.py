"""Where memories rest: the port that every engine fits, and `open_engine`, which chooses one.

The service hands an engine a function of a `Snapshot` to read, or of a `Transaction` to write,
and the engine runs it: on a consistent view, or all or nothing and durable before it answers.
Such a function may be run again after a failure, so it must do nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import Invalid
from holdfast.model import Entry, Filter, Finding, Job, Record, Source
from holdfast.rank import Candidates, Corpus
from holdfast.slots import Slot

if TYPE_CHECKING:
    from holdfast.engine.house import House
    from holdfast.engine.ledger import Ledger

T = TypeVar("T")
Vectors = NDArray[np.float32]  # one unit-length row per passage of a content
Scope = Hashable  # an engine's own name of a place
Key = tuple[int, Any, int]  # of a candidate: which of the places asked, its `Scope`, its row


class Place(NamedTuple):
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
    fingerprint: bytes
    speaker: str | None
    vectors: Vectors | None
    space: Space | None


@dataclass(frozen=True, slots=True)
class Look:
    """What to search for; `most` bounds the candidates by words and those by meaning.

    The memories with the ids in `also` are candidates whatever else is, if they are in sight.
    The query may still be on its way through the embedder: its vector is best asked for last.
    """

    terms: tuple[str, ...]
    embedded: Callable[[], NDArray[np.float32] | None]
    space: Space | None
    where: Filter
    as_of: datetime | None
    now: datetime
    most: int
    also: tuple[str, ...] = ()

    @property
    def vector(self) -> NDArray[np.float32] | None:
        """The query's vector, waited for; None if it cannot be had."""
        return self.embedded()


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

    scope: Any  # a `Scope`
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


@dataclass(frozen=True, slots=True)
class Task:
    """A job taken up: whose it is, what is to be done, and which attempt this is."""

    place: Place
    id: str
    work: str
    attempt: int


class Learned(Protocol):
    """What a view knows of how memories hang together, and of what waits."""

    def unindexed(self, place: Place, told: Mapping[str, Sequence[Slot]]) -> set[str]:
        """Those of some memories, by their ids, that say something which is not indexed."""

    def alike(self, place: Place, slots: Sequence[Slot]) -> list[Record]:
        """Current memories that say something of the same who and attribute, or of the same."""

    def unslotted(self, place: Place, limit: int) -> list[tuple[int, Record]]:
        """Memories whose slots were not read yet, each with its row, oldest first."""

    def links(self, place: Place, id: str, relation: str) -> list[str]:
        """The memories that a memory is linked to."""

    def linked(self, place: Place, other: str, relation: str) -> list[str]:
        """The memories that are linked to a memory."""

    def any_links(self, place: Place) -> bool:
        """Whether any memory here is linked to another."""

    def any_avoid(self, place: Place) -> bool:
        """Whether any memory here says what to avoid."""

    def replaced(self, place: Place, id: str) -> list[Record]:
        """The memories that a memory superseded, in the order they were told."""

    def tellings(self, place: Place, id: str) -> list[Source]:
        """Who told a memory again, in order."""

    def told_by(self, place: Place, writer: str, since: datetime) -> tuple[list[str], list[str]]:
        """The memories a writer was the first to tell since then, and those it told again."""

    def heard(self, place: Place, turn: bytes) -> bool:
        """Whether a turn was learned from."""

    def held(
        self, place: Place, id: str | None, limit: int
    ) -> list[tuple[str, str, str, datetime]]:
        """What is in quarantine: id, draft and reasons as JSON, since when."""

    def policy(self, place: Place) -> str | None:
        """The policy of a place as JSON."""

    def jobs(self, place: Place, limit: int) -> list[Job]:
        """The jobs that wait, run or failed for good, oldest first."""

    def next_due(self) -> datetime | None:
        """When the next job of the store is due."""

    def next_expiry(self) -> datetime | None:
        """When the next memory or state key of the store expires, or did."""


class Snapshot(Learned, Protocol):
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

    def fetch(self, places: Sequence[Place], keys: Sequence[Key]) -> Iterable[Record | None]:
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


class Learning(Protocol):
    """What a transaction can change of how memories hang together, and of what waits."""

    def slot(self, place: Place, row: int, id: str, slots: Sequence[Slot]) -> None:
        """Writes what a memory says of whom; all rows up to this one are done."""

    def link(self, place: Place, id: str, relation: str, other: str) -> None:
        """Links a memory to another."""

    def unlink(self, place: Place, id: str, relation: str, other: str) -> None:
        """Takes a link away."""

    def tell(self, place: Place, id: str, source: Source, now: datetime) -> None:
        """Adds to who told a memory."""

    def untell(self, place: Place, writer: str, since: datetime) -> None:
        """Takes a writer out of those who told a memory again since then."""

    def hear(self, place: Place, turn: bytes) -> None:
        """Notes that a turn was learned from."""

    def hold(self, place: Place, id: str, draft: str, why: str, now: datetime) -> None:
        """Puts a draft in quarantine."""

    def release(self, place: Place, id: str) -> None:
        """Takes a draft out of quarantine."""

    def set_policy(self, place: Place, policy: str) -> None:
        """Sets the policy of a place."""

    def enqueue(self, place: Place, id: str, session: str | None, work: str, now: datetime) -> int:
        """Adds a job; gives how many wait."""

    def take_job(self, now: datetime, lost_at: datetime) -> Task | None:
        """Takes up the first job that is due; it is taken for lost at a moment."""

    def end_job(self, task: Task) -> bool:
        """Ends a job; False if it is no longer ours to end."""

    def put_off(self, task: Task, due: datetime | None, trouble: str) -> None:
        """Lets a job be tried again at a moment, or never (None)."""

    def replay(self, place: Place, id: str, now: datetime) -> bool:
        """Lets a job that failed for good be tried again; False if there is none."""

    def drop_jobs(self, place: Place, session: str) -> None:
        """Removes the jobs of a session."""


class Transaction(Snapshot, Learning, Protocol):
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

    def read(self, work: Callable[[Snapshot], T], alone: bool = False) -> T:
        """Runs a function on a consistent view that has everything acknowledged so far.

        `alone`: it asks for one thing only, which is a view by itself, and takes fewer steps.
        """

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

    def sweep(self, now: datetime, most: int) -> int:
        """Removes some of the expired in a short write; gives how many, 0 once there are none."""

    def purge(self, now: datetime, keep_answers_from: datetime) -> tuple[int, int]:
        """Removes the expired and every trace of the forgotten; gives memories and state keys."""

    def backup(self, path: str) -> int:
        """Copies the store to a new file; gives its bytes."""

    def ledger(self) -> Ledger:
        """The books of a server on this store."""

    def listen(self, wake: Callable[[], None]) -> None:
        """Calls a function when any process has accepted a job; an engine may never know."""

    def house(self) -> House:
        """The store laid open, to be moved."""

    def size(self) -> int:
        """Bytes on disk."""

    def close(self) -> None:
        """Flushes what is buffered and lets go of the store."""


def open_engine(url: str) -> Engine:
    """The engine a URL names: `sqlite:///path` or `postgresql://host/database`."""
    scheme, _, path = url.partition("://")
    if scheme == "sqlite" and path.startswith("/"):
        from holdfast.engine.sqlite import SQLite

        return SQLite(path[1:])
    if scheme in ("postgresql", "postgres"):
        try:
            from holdfast.engine.postgres import Postgres
        except ImportError as error:
            raise Invalid(
                f"PostgreSQL is not installed ({error.name}).", 'pip install "holdfast[postgres]"'
            ) from None
        return Postgres(url)
    raise Invalid(
        f"{scheme}:// is not a store this Holdfast can open.",
        "Use sqlite:///path/to/file.db, or postgresql://host/database.",
    )
