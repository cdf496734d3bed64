"""The plain values that go in and come out: one frozen dataclass per thing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

KEEPS = ("learnings", "turns", "both")  # what extract keeps of a conversation
ACTIONS = ("accept", "quarantine", "reject")  # what a scope does with a writing, ever stricter
SECRETS = ("accept", "redact", "reject")
ROLES = ("user", "agent", "tool", "document", "import")


@dataclass(frozen=True, slots=True)
class Source:
    """Who said it: a writer, the writer's role (one of `ROLES`) and the message it came from.

    `via`: the id of the key that it came by; a server writes it, whatever a body says, and then
    `writer` is empty if nobody was named. The same source by another key is the same source.
    """

    writer: str
    role: str = "agent"
    message: str | None = None
    via: str | None = field(default=None, compare=False)

    def told_by(self, name: str) -> bool:
        """Whether it comes from a writer of this name, or by the key with this id."""
        return name in (self.writer, self.via)


@dataclass(frozen=True, slots=True)
class Voice:
    """By which key a write comes, what that is called, and for whom (one of `ROLES`) it speaks."""

    key: str
    name: str
    role: str


@dataclass(frozen=True, slots=True)
class Turn:
    """What one said in a conversation; `role` is one of `ROLES`, or "system"."""

    text: str
    speaker: str | None = None
    role: str = "user"
    at: datetime | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What lasts of a conversation: a memory to be, and which turns (by number) it came from."""

    content: str
    kind: str
    turns: tuple[int, ...]
    about: str | None = None
    happened_at: datetime | None = None
    avoid: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One memory, or one past version of it, as it is stored. Times are aware and in UTC.

    `until` is set once it is no longer true: it was revised, or `superseded_by` another.
    """

    id: str
    scope: str
    content: str
    kind: str = "fact"
    tags: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    source: Source | None = None
    pinned: bool = False
    created_at: datetime
    happened_at: datetime
    expires_at: datetime | None = None
    version: int = 1
    until: datetime | None = None
    superseded_by: str | None = None
    uses: int = 0
    last_used_at: datetime | None = None
    avoid: bool = False

    @property
    def writer(self) -> str | None:
        """Who said it, if that was told."""
        return (self.source.writer or None) if self.source else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories are meant. Every part given must hold.

    `kinds`: one of them. `tags`: all of them. `meta`: each key with this plain value.
    `since` (inclusive) and `until` (exclusive) are about `happened_at`. `avoid`: only what to
    avoid, or only what not.
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    session: str | None = None
    source: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    avoid: bool | None = None

    def __bool__(self) -> bool:
        parts = (self.kinds, self.tags, self.meta)
        given = (self.session, self.source, self.since, self.until, self.avoid)
        return any(parts) or any(part is not None for part in given)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much similarity, recency and frequency count in a score; they should add up to 1."""

    similarity: float = 0.6
    recency: float = 0.2
    frequency: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Why:
    """Where a score comes from. All parts are in 0..1; `meaning` is None without a vector."""

    similarity: float
    recency: float
    frequency: float
    words: float
    meaning: float | None
    matched: tuple[str, ...] = ()

    def __str__(self) -> str:
        meaning = "no vector" if self.meaning is None else f"meaning {self.meaning:.2f}"
        said = f" ({', '.join(self.matched)})" if self.matched else ""
        return (
            f"similarity {self.similarity:.2f} [{meaning}, words {self.words:.2f}{said}], "
            f"recency {self.recency:.2f}, frequency {self.frequency:.2f}"
        )


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory found, with its score (0..1) and why.

    `conflicts` names memories that say otherwise, where it is unclear which is right;
    `outdated_by` those that corrected something that this one still says; `confirmed` how many
    writers told it.
    """

    memory: Record
    score: float
    why: Why
    conflicts: tuple[str, ...] = ()
    outdated_by: tuple[str, ...] = ()
    confirmed: int = 1

    @property
    def id(self) -> str:
        """The memory's id."""
        return self.memory.id

    @property
    def content(self) -> str:
        """The memory's words."""
        return self.memory.content


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled(Sequence[Hit]):
    """The hits of one recall, best first; itself a sequence of them.

    `avoid`: what failed or was ruled out, if the query is about to repeat it. `abstained`: there
    were memories, but none relevant. `degraded`: why the answer came from words alone, when the
    embedder could not be used.
    """

    hits: tuple[Hit, ...] = ()
    avoid: tuple[Hit, ...] = ()
    abstained: bool = False
    degraded: str | None = None

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a remember: its memory, and whether it is new or was known and reinforced.

    `superseded` names memories that it corrects, `conflicts` those that say otherwise where it is
    unclear who is right. `held`: it is in quarantine, and no memory until it is approved.
    `redacted`: secrets were taken out of it.
    """

    id: str
    created: bool
    superseded: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    held: bool = False
    redacted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What an extract did, or (`job`) will do: for each learning what became of it.

    `turns` is how many turns were new; `dropped` says how many learnings were not kept, and why.
    """

    learned: tuple[Remembered, ...] = ()
    turns: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    job: str | None = None

    @property
    def created(self) -> int:
        """How many memories are new."""
        return sum(one.created for one in self.learned)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Something accepted and not done yet; `state` is waiting, running, or dead after failures."""

    id: str
    state: str
    attempts: int
    session: str | None
    at: datetime
    due: datetime
    trouble: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A writing in quarantine: what it says, who wrote it, and why it is held."""

    id: str
    content: str
    source: Source | None
    why: tuple[str, ...]
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a scope does with writings: by the class of the writer, and by what they look like.

    An action is accept, quarantine or reject; secrets are accepted, redacted or rejected.
    `reconcile`: what is remembered, too, supersedes what it contradicts.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    suspicious: str = "accept"
    secrets: str = "accept"
    reconcile: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RolledBack:
    """What a rollback did: memories removed, memories that are true again, and those kept."""

    removed: int
    revived: int
    kept: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """What a consolidation did: summaries made, and memories they stand for."""

    summaries: tuple[str, ...] = ()
    sources: int = 0


@dataclass(frozen=True, slots=True)
class Page(Sequence[Record]):
    """Some of the memories, newest first; `cursor` asks for the next page, None at the end."""

    memories: tuple[Record, ...]
    cursor: str | None = None

    @overload
    def __getitem__(self, index: int) -> Record: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Record]: ...
    def __getitem__(self, index: int | slice) -> Record | Sequence[Record]:
        return self.memories[index]

    def __len__(self) -> int:
        return len(self.memories)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.memories)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a forget removed: how many memories and state keys, when, and a digest of their ids."""

    memories: int
    states: int
    at: datetime
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory was, or was not, in an answer.

    `verdict` is one of: returned, filtered, expired, superseded, not yet known, out-ranked,
    below threshold, over budget, no match.
    """

    id: str
    verdict: str
    detail: str
    rank: int | None = None
    score: float | None = None
    why: Why | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One key of the state: its value (any JSON), its version (1, 2, …) and its times."""

    key: str
    value: Any
    version: int
    updated_at: datetime
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """How much a scope holds, and what it costs."""

    scope: str
    memories: int
    versions: int
    kinds: Mapping[str, int]
    sessions: int
    states: int
    waiting: int
    embedder: str
    file_bytes: int


@dataclass(frozen=True, slots=True)
class Exported:
    """Some lines of an export (JSON Lines); `cursor` asks for the next, None at the end."""

    lines: tuple[str, ...]
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What an import did: memories added, memories that were there already, state keys set."""

    added: int
    known: int
    states: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the doctor saw: what, how many, and whether it was put right."""

    what: str
    count: int
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The doctor's report; `healthy` when nothing is, or is left, wrong."""

    findings: tuple[Finding, ...] = ()

    @property
    def healthy(self) -> bool:
        """True when every finding was repaired, or there was none."""
        return all(finding.repaired for finding in self.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """What a purge did: expired memories and state keys removed, bytes given back to the disk."""

    memories: int
    states: int
    freed_bytes: int


@dataclass(frozen=True, slots=True)
class Reembedded:
    """How far a change of embedder is: `done` of `total` memories have a new vector."""

    done: int
    total: int

    @property
    def finished(self) -> bool:
        """True once the store belongs to the new embedder."""
        return self.done >= self.total
