"""The verbs as data: one frozen dataclass per verb, typed by its answer.

An op is checked and put in its normal form when it is made; whoever holds one may trust it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from holdfast import check
from holdfast.errors import Invalid
from holdfast.model import (
    ACTIONS,
    KEEPS,
    ROLES,
    SECRETS,
    Consolidated,
    Diagnosis,
    Entry,
    Explanation,
    Exported,
    Extracted,
    Filter,
    Held,
    Imported,
    Job,
    Page,
    Policy,
    Purged,
    Recalled,
    Receipt,
    Record,
    Reembedded,
    Remembered,
    RolledBack,
    Source,
    Stats,
    Turn,
    Voice,
    Weights,
)

Answer = TypeVar("Answer")


def _set(op: object, **values: Any) -> None:
    """Writes normal forms into a frozen dataclass while it is being made."""
    vars(op).update(values)


def where(
    kinds: Any = (),
    tags: Any = (),
    session: Any = None,
    source: Any = None,
    since: Any = None,
    until: Any = None,
    meta: Any = None,
    avoid: bool | None = None,
) -> Filter:
    """A checked filter."""
    start, end = check.span(since, until)
    return Filter(
        kinds=check.kinds(kinds),
        tags=check.names("tags", tags),
        session=check.maybe_name("session", session),
        source=check.maybe_name("source", source),
        since=start,
        until=end,
        meta=check.meta_filter(meta),
        avoid=avoid,
    )


@dataclass(frozen=True, kw_only=True)
class Op(Generic[Answer]):
    """A verb on one scope."""

    scope: str

    def __post_init__(self) -> None:
        _set(self, scope=check.scope(self.scope))
        self._check()

    def _check(self) -> None:
        """Puts the op's own fields in their normal form."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A memory to be: what `remember` takes, without the scope."""

    content: str
    kind: str = "fact"
    tags: tuple[str, ...] = ()
    meta: Mapping[str, Any] = field(default_factory=dict)
    session: str | None = None
    source: Source | None = None
    ttl: timedelta | None = None
    pinned: bool = False
    happened_at: datetime | None = None
    id: str | None = None
    avoid: bool = False
    supersedes: tuple[str, ...] = ()
    reconcile: bool | None = None

    def __post_init__(self) -> None:
        _set(
            self,
            content=check.content(self.content),
            avoid=check.flag("avoid", self.avoid),
            supersedes=_ids(self.supersedes),
            kind=check.kind(self.kind),
            tags=check.names("tags", self.tags),
            meta=check.meta(self.meta),
            session=check.maybe_name("session", self.session),
            source=check.source(self.source),
            ttl=check.ttl(self.ttl),
            pinned=check.flag("pinned", self.pinned),
            happened_at=check.moment("happened_at", self.happened_at),
            id=check.maybe_name("id", self.id),
        )
        if self.pinned and self.ttl is not None:
            raise Invalid("pinned and ttl contradict each other.", "Give one of them.")


def _ids(value: Any) -> tuple[str, ...]:
    """Ids; a plain text is one."""
    return check.names("supersedes", (value,) if isinstance(value, str) else value)


def draft(value: Any) -> Draft:
    """A draft out of a text, a dict of remember's arguments, or a draft."""
    if isinstance(value, Draft):
        return value
    if isinstance(value, str):
        return Draft(content=value)
    if not isinstance(value, Mapping):
        raise Invalid(f"an item to remember is a {type(value).__name__}, not text or a dict.")
    unknown = set(value) - set(Draft.__dataclass_fields__)
    if unknown or "content" not in value:
        said = f"unknown: {', '.join(sorted(map(str, unknown)))}" if unknown else "no content"
        raise Invalid(f"an item to remember has wrong fields ({said}).")
    return Draft(**value)


@dataclass(frozen=True, kw_only=True)
class Write(Op[Answer]):
    """A verb that changes the store; a retry with the same key is answered, not done again."""

    idempotency_key: str | None = None

    def __post_init__(self) -> None:
        _set(self, idempotency_key=check.maybe_name("idempotency_key", self.idempotency_key))
        super().__post_init__()


@dataclass(frozen=True, kw_only=True)
class Named(Write[Answer]):
    """A verb on one thing, by its id."""

    id: str

    def _check(self) -> None:
        _set(self, id=check.name("id", self.id))


@dataclass(frozen=True, kw_only=True)
class Remember(Write[Remembered]):
    """Stores one memory."""

    draft: Draft
    wait: bool = True

    def _check(self) -> None:
        check.flag("wait", self.wait)
        _set(self, draft=draft(self.draft))


@dataclass(frozen=True, kw_only=True)
class RememberMany(Write[tuple[Remembered, ...]]):
    """Stores many memories, all or none."""

    drafts: tuple[Draft, ...]
    wait: bool = True

    def _check(self) -> None:
        check.flag("wait", self.wait)
        _set(self, drafts=tuple(draft(item) for item in check.batch("items", self.drafts)))


@dataclass(frozen=True, kw_only=True)
class Question(Op[Answer]):
    """What recall, context and explain have in common: a query and where to look."""

    query: str
    where: Filter = field(default_factory=Filter)
    as_of: datetime | None = None
    scopes: tuple[str, ...] = ()
    min_score: float | None = None
    weights: Weights = field(default_factory=Weights)
    now: datetime | None = None

    def _check(self) -> None:
        least = self.min_score
        _set(
            self,
            query=check.content(self.query, "query"),
            as_of=check.moment("as_of", self.as_of),
            scopes=check.names("scopes", self.scopes) or (self.scope,),
            min_score=None if least is None else check.number("min_score", least, 0, 1),
            weights=check.weights(self.weights),
            now=check.moment("now", self.now),
        )


@dataclass(frozen=True, kw_only=True)
class Recall(Question[Recalled]):
    """Finds the memories that answer a query."""

    limit: int = 5

    def _check(self) -> None:
        super()._check()
        _set(self, limit=check.whole("limit", self.limit, 1, check.LIMIT))


@dataclass(frozen=True, kw_only=True)
class Context(Question[str]):
    """Renders what is relevant to a query as a block for a prompt."""

    budget: int = 1000

    def _check(self) -> None:
        super()._check()
        _set(self, budget=check.whole("budget", self.budget, 1, check.BUDGET_TOKENS))


@dataclass(frozen=True, kw_only=True)
class Explain(Question[Explanation]):
    """Says why a memory was, or was not, in the answer to a query."""

    id: str
    limit: int = 5
    budget: int | None = None

    def _check(self) -> None:
        super()._check()
        _set(self, id=check.name("id", self.id))
        _set(self, limit=check.whole("limit", self.limit, 1, check.LIMIT))
        if self.budget is not None:
            check.whole("budget", self.budget, 1, check.BUDGET_TOKENS)


@dataclass(frozen=True, kw_only=True)
class Read(Op[Record]):
    """Gives one memory by its id."""

    id: str

    def _check(self) -> None:
        _set(self, id=check.name("id", self.id))


@dataclass(frozen=True, kw_only=True)
class History(Op[tuple[Record, ...]]):
    """Gives every version of a memory, oldest first."""

    id: str

    def _check(self) -> None:
        _set(self, id=check.name("id", self.id))


@dataclass(frozen=True, kw_only=True)
class List(Op[Page]):
    """Gives memories page by page, newest first."""

    where: Filter = field(default_factory=Filter)
    as_of: datetime | None = None
    limit: int = 50
    cursor: str | None = None

    def _check(self) -> None:
        _set(
            self,
            as_of=check.moment("as_of", self.as_of),
            limit=check.whole("limit", self.limit, 1, check.LIMIT),
            cursor=check.cursor(self.cursor),
        )


@dataclass(frozen=True, kw_only=True)
class Revise(Write[Record]):
    """Gives a memory new words; the old ones stay in its history."""

    id: str
    content: str
    voice: Voice | None = None

    def _check(self) -> None:
        _set(self, id=check.name("id", self.id), content=check.content(self.content))


@dataclass(frozen=True, kw_only=True)
class Extract(Write[Extracted]):
    """Learns from a conversation: what lasts of it, its turns, or both."""

    turns: tuple[Turn, ...]
    session: str | None = None
    keep: str = "learnings"
    wait: bool = True
    voice: Voice | None = None

    def _check(self) -> None:
        check.flag("wait", self.wait)
        check.one_of("keep", self.keep, KEEPS)
        turns = tuple(check.turn(turn) for turn in self.turns)
        _set(self, turns=turns, session=check.maybe_name("session", self.session))


@dataclass(frozen=True, kw_only=True)
class Resolve(Write[Remembered]):
    """Settles a conflict: this memory is right, or all that say otherwise are, too."""

    id: str
    over: tuple[str, ...] = ()
    both: bool = False

    def _check(self) -> None:
        _set(self, id=check.name("id", self.id), over=check.names("over", self.over))
        check.flag("both", self.both)


@dataclass(frozen=True, kw_only=True)
class Review(Op[tuple[Held, ...]]):
    """Gives what is in quarantine, oldest first."""

    limit: int = 100

    def _check(self) -> None:
        check.whole("limit", self.limit, 1, check.LIMIT)


@dataclass(frozen=True, kw_only=True)
class Approve(Named[Remembered]):
    """Lets something out of quarantine: then it is a memory."""


@dataclass(frozen=True, kw_only=True)
class Reject(Named[bool]):
    """Removes something from quarantine for good."""


@dataclass(frozen=True, kw_only=True)
class Rollback(Write[RolledBack]):
    """Undoes all that a writer told, since a moment."""

    source: str
    since: datetime | None = None

    def _check(self) -> None:
        since = check.moment("since", self.since)
        _set(self, source=check.name("source", self.source), since=since)


@dataclass(frozen=True, kw_only=True)
class SetPolicy(Op[Policy]):
    """Changes, if anything is given, what the scope does with writings; gives what it does."""

    roles: Mapping[str, str] | None = None
    suspicious: str | None = None
    secrets: str | None = None
    reconcile: bool | None = None

    def _check(self) -> None:
        for role, action in (self.roles or {}).items():
            check.one_of("a role", role, ROLES)
            check.one_of("an action", action, ACTIONS)
        if self.suspicious is not None:
            check.one_of("suspicious", self.suspicious, ACTIONS)
        if self.secrets is not None:
            check.one_of("secrets", self.secrets, SECRETS)


@dataclass(frozen=True, kw_only=True)
class Consolidate(Op[Consolidated]):
    """Sums up what says the same, and long trails of turns, of one session or of all."""

    session: str | None = None

    def _check(self) -> None:
        _set(self, session=check.maybe_name("session", self.session))


@dataclass(frozen=True, kw_only=True)
class Dissolve(Named[int]):
    """Undoes a summary: its sources are current again; gives how many."""


@dataclass(frozen=True, kw_only=True)
class Jobs(Op[tuple[Job, ...]]):
    """Gives the jobs that wait, run, or failed for good."""

    limit: int = 100

    def _check(self) -> None:
        check.whole("limit", self.limit, 1, check.LIMIT)


@dataclass(frozen=True, kw_only=True)
class Work(Op[int]):
    """Does the jobs of the store that are due, here and now; gives how many were done."""


@dataclass(frozen=True, kw_only=True)
class Replay(Named[bool]):
    """Lets a job that failed for good be tried again."""


@dataclass(frozen=True, kw_only=True)
class Forget(Write[Receipt]):
    """Removes memories for good: by id, by filter, or the whole scope with its state."""

    id: str | None = None
    where: Filter = field(default_factory=Filter)
    everything: bool = False

    def _check(self) -> None:
        _set(self, id=check.maybe_name("id", self.id))
        ways = [self.id is not None, bool(self.where), check.flag("everything", self.everything)]
        if sum(ways) == 0:
            raise Invalid(
                "forget does not know what to forget.",
                "Give an id, a filter, or everything=True for the whole scope.",
            )
        if sum(ways) > 1:
            raise Invalid("forget takes one of: an id, a filter, everything=True.")


@dataclass(frozen=True, kw_only=True)
class Key(Write[Answer]):
    """A verb on one key of the state."""

    key: str

    def _check(self) -> None:
        _set(self, key=check.name("key", self.key, check.KEY_CHARS))


@dataclass(frozen=True, kw_only=True)
class Change(Key[Entry]):
    """A verb that gives a key a new value; `if_version` 0 means the key must not exist yet."""

    ttl: timedelta | None = None
    if_version: int | None = None

    def _check(self) -> None:
        super()._check()
        _set(self, ttl=check.ttl(self.ttl))
        if self.if_version is not None:
            check.whole("if_version", self.if_version, 0, 2**62)


@dataclass(frozen=True, kw_only=True)
class Set(Change):
    """Puts a value under a key."""

    value: Any

    def _check(self) -> None:
        super()._check()
        _set(self, value=check.plain("value", self.value))


@dataclass(frozen=True, kw_only=True)
class Append(Change):
    """Adds an item to the list under a key."""

    item: Any

    def _check(self) -> None:
        super()._check()
        _set(self, item=check.plain("item", self.item))


@dataclass(frozen=True, kw_only=True)
class Increment(Change):
    """Adds to the number under a key."""

    by: int | float = 1

    def _check(self) -> None:
        super()._check()
        check.number("by", self.by, -(2**53), 2**53)


@dataclass(frozen=True, kw_only=True)
class Get(Op[Entry]):
    """Gives the entry under a key."""

    key: str

    def _check(self) -> None:
        _set(self, key=check.name("key", self.key, check.KEY_CHARS))


@dataclass(frozen=True, kw_only=True)
class Delete(Key[bool]):
    """Removes a key; says whether it was there."""

    if_version: int | None = None

    def _check(self) -> None:
        super()._check()
        if self.if_version is not None:
            check.whole("if_version", self.if_version, 0, 2**62)


@dataclass(frozen=True, kw_only=True)
class Keys(Op[tuple[str, ...]]):
    """Gives the keys of the state that begin with a prefix, in order."""

    prefix: str = ""
    after: str = ""
    limit: int = check.LIMIT

    def _check(self) -> None:
        check.sane("prefix", self.prefix)
        check.sane("after", self.after)
        check.whole("limit", self.limit, 1, check.LIMIT)


@dataclass(frozen=True, kw_only=True)
class Count(Op[Stats]):
    """Says how much a scope holds."""


@dataclass(frozen=True, kw_only=True)
class Export(Op[Exported]):
    """Gives a scope as JSON Lines, some lines at a time."""

    cursor: str | None = None

    def _check(self) -> None:
        _set(self, cursor=check.cursor(self.cursor))


@dataclass(frozen=True, kw_only=True)
class Import(Op[Imported]):
    """Takes the lines of an export into a scope, all or none."""

    lines: tuple[str, ...]
    voice: Voice | None = None

    def _check(self) -> None:
        _set(self, lines=check.lines(self.lines))


@dataclass(frozen=True, kw_only=True)
class Backup(Op[int]):
    """Copies the whole store to a new file while it is in use; gives its size in bytes."""

    path: str

    def _check(self) -> None:
        _set(self, path=check.path(self.path))


@dataclass(frozen=True, kw_only=True)
class Reembed(Op[Reembedded]):
    """Gives every memory of the store a vector of another embedder, then moves over to it."""

    embedder: Any
    progress: Callable[[Reembedded], None] | None = None


@dataclass(frozen=True, kw_only=True)
class Doctor(Op[Diagnosis]):
    """Checks the store against itself, and puts right what it can if asked."""

    repair: bool = False

    def _check(self) -> None:
        check.flag("repair", self.repair)


@dataclass(frozen=True, kw_only=True)
class Purge(Op[Purged]):
    """Removes what has expired, and every byte of what was forgotten, from the file."""
