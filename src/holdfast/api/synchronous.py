# Generated from src/holdfast/api/asynchronous.py
# by tools/unasync.py: edit that, `make generate`.
"""`Memory`: every verb of a memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from holdfast import check, ops
from holdfast.api.synchronous_learning import Learning
from holdfast.backend import Backend, open_backend
from holdfast.embed import Embedder, open_embedder
from holdfast.errors import NotFound
from holdfast.extract import Extractor
from holdfast.extract.judge import Judge
from holdfast.model import (
    Diagnosis,
    Entry,
    Explanation,
    Imported,
    Page,
    Purged,
    Recalled,
    Receipt,
    Record,
    Reembedded,
    Remembered,
    Source,
    Stats,
    Weights,
)
from holdfast.outbox import Outbox

Ttl = timedelta | float | None


class Memory(Learning):
    """The memory of one scope: an agent, a team, a user, a project.

    `url` names the store, `sqlite:///path`, or a server, `http://host:8420`; by default
    `$HOLDFAST_URL`, or else a file in your data folder. A server is shown `api_key` (else
    `$HOLDFAST_API_KEY`); with `outbox`, what cannot be sent to it waits on disk. `embedder` is
    an `Embedder`, the name of one, None for none (recall then knows words only), or "auto": the
    one the store was filled by. `extractor` is who learns from conversations: "rules", "llm"
    (`$HOLDFAST_LLM_URL` and its like), or an `Extractor`; `judge` who settles conflicts: None,
    "llm" or a `Judge`. A server has its own of both.

        memory = Memory("autogen-assistant-user123")
    """

    def __init__(
        self,
        scope: str,
        url: str | None = None,
        *,
        api_key: str | None = None,
        outbox: bool | str = False,
        embedder: Embedder | str | None = "auto",
        extractor: Extractor | str = "rules",
        judge: Judge | str | None = None,
        backend: Backend | None = None,
    ) -> None:
        self.scope = ops.Count(scope=scope).scope
        self._backend = backend or open_backend(
            url, embedder, extractor=extractor, api_key=api_key, outbox=outbox, judge=judge
        )

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Memory({self.scope!r})"

    @property
    def outbox(self) -> Outbox | None:
        """What waits to be sent to a server: `memory.outbox.pending`; None without an outbox."""
        return self._backend.outbox

    def close(self) -> None:
        """Lets go of the store; closing twice does no harm.

        memory.close()
        """
        self._backend.close()

    # --- remembering ---

    def remember(
        self,
        content: str,
        kind: str = "fact",
        tags: Sequence[str] = (),
        meta: Mapping[str, Any] | None = None,
        session: str | None = None,
        source: Source | str | None = None,
        ttl: Ttl = None,
        pinned: bool = False,
        happened_at: datetime | None = None,
        idempotency_key: str | None = None,
        id: str | None = None,
        *,
        avoid: bool = False,
        supersedes: Sequence[str] | str = (),
        reconcile: bool | None = None,
        wait: bool = True,
    ) -> Remembered:
        """Stores a memory of up to 32 KiB; on disk when this returns.

        The same content again is not stored twice: it reinforces the memory there is, and the
        answer says `created=False`. `ttl` is a timedelta or seconds. `avoid` marks what failed or
        was ruled out; `supersedes` names memories that this one replaces; with `reconcile` it
        replaces what it contradicts (None: as the scope's policy says). Without `wait` it is on
        disk all the same, but its vector follows a moment later: until then words alone find it.

            memory.remember("Use PostgreSQL, not MongoDB", kind="decision", tags=["db"])
        """
        draft = {
            "content": content,
            "kind": kind,
            "tags": tags,
            "meta": meta,
            "session": session,
            "source": source,
            "ttl": ttl,
            "pinned": pinned,
            "happened_at": happened_at,
            "id": id,
            "avoid": avoid,
            "supersedes": supersedes,
            "reconcile": reconcile,
        }
        told = ops.draft(draft)
        return self._backend.do(
            ops.Remember(scope=self.scope, draft=told, wait=wait, idempotency_key=idempotency_key)
        )

    def remember_many(
        self,
        items: Sequence[str | Mapping[str, Any] | ops.Draft],
        idempotency_key: str | None = None,
        *,
        wait: bool = True,
    ) -> tuple[Remembered, ...]:
        """Stores up to 10,000 memories in one transaction: all of them or none.

        An item is a text, or a dict of what `remember` takes; `wait` is as it is there.

            memory.remember_many(["likes tea", {"content": "no SMS", "kind": "preference"}])
        """
        drafts = tuple(ops.draft(item) for item in check.batch("items", items))
        key, scope = idempotency_key, self.scope
        return self._backend.do(
            ops.RememberMany(scope=scope, drafts=drafts, wait=wait, idempotency_key=key)
        )

    def revise(self, id: str, content: str, idempotency_key: str | None = None) -> Record:
        """Gives a memory new words under the same id; the old ones stay in its history.

        memory.revise(id, "Use PostgreSQL 18")
        """
        return self._backend.do(
            ops.Revise(scope=self.scope, id=id, content=content, idempotency_key=idempotency_key)
        )

    # --- finding ---

    def recall(
        self,
        query: str,
        limit: int = 5,
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        as_of: datetime | None = None,
        scopes: Sequence[str] = (),
        weights: Weights | None = None,
        now: datetime | None = None,
    ) -> Recalled:
        """Finds the memories that answer a query, best first, each with its score and why.

        Nothing relevant gives nothing, and says `abstained`. `since` and `until` are about when
        it happened; `as_of` asks what was true at a moment; `scopes` looks there instead.

            memory.recall("which database did we choose?", kinds=["decision"])
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return self._backend.do(
            ops.Recall(
                scope=self.scope,
                query=query,
                limit=limit,
                where=where,
                min_score=min_score,
                as_of=as_of,
                scopes=check.names("scopes", scopes),
                weights=weights or Weights(),
                now=now,
            )
        )

    def context(
        self,
        query: str,
        budget: int = 1000,
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        as_of: datetime | None = None,
        scopes: Sequence[str] = (),
        weights: Weights | None = None,
        now: datetime | None = None,
    ) -> str:
        """A block for a prompt with what is relevant, of at most `budget` tokens; "" for nothing.

        memory.context("database architecture", budget=500)
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return self._backend.do(
            ops.Context(
                scope=self.scope,
                query=query,
                budget=budget,
                where=where,
                min_score=min_score,
                as_of=as_of,
                scopes=check.names("scopes", scopes),
                weights=weights or Weights(),
                now=now,
            )
        )

    def explain(
        self,
        id: str,
        query: str,
        limit: int = 5,
        *,
        budget: int | None = None,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        as_of: datetime | None = None,
        weights: Weights | None = None,
        now: datetime | None = None,
    ) -> Explanation:
        """Why a memory is, or is not, in the answer to a query; with `budget`, in its context.

        memory.explain(id, "which database did we choose?")
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return self._backend.do(
            ops.Explain(
                scope=self.scope,
                id=id,
                query=query,
                limit=limit,
                budget=budget,
                where=where,
                min_score=min_score,
                as_of=as_of,
                weights=weights or Weights(),
                now=now,
            )
        )

    def read(self, id: str) -> Record:
        """One memory by its id; `NotFound` if there is none.

        memory.read(id)
        """
        return self._backend.do(ops.Read(scope=self.scope, id=id))

    def history(self, id: str) -> tuple[Record, ...]:
        """Every version of a memory, oldest first.

        memory.history(id)
        """
        return self._backend.do(ops.History(scope=self.scope, id=id))

    def list(
        self,
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page:
        """Memories page by page, newest first; writes meanwhile neither shift nor repeat any.

        page = memory.list(kinds=["decision"], limit=20)
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return self._backend.do(
            ops.List(scope=self.scope, where=where, as_of=as_of, limit=limit, cursor=cursor)
        )

    # --- forgetting ---

    def forget(
        self,
        id: str | None = None,
        *,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        session: str | None = None,
        source: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        everything: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Removes memories with their history: one by id, all that match, or the whole scope.

        `everything=True` removes the state too. The bytes are gone from the file after `purge`.

            memory.forget(session="chat-17")
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return self._backend.do(
            ops.Forget(
                scope=self.scope,
                id=id,
                where=where,
                everything=everything,
                idempotency_key=idempotency_key,
            )
        )

    def purge(self) -> Purged:
        """Takes what has expired, and every byte of what was forgotten, out of the store's file.

        memory.purge()
        """
        return self._backend.do(ops.Purge(scope=self.scope))

    # --- state ---

    def set(
        self,
        key: str,
        value: Any,
        *,
        ttl: Ttl = None,
        if_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Puts any JSON value under a key; with `if_version` only over that version (0: new key).

        memory.set("cursor", {"row": 8000})
        """
        return self._backend.do(
            ops.Set(
                scope=self.scope,
                key=key,
                value=value,
                ttl=check.ttl(ttl),
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, or the default.

        memory.get("cursor")
        """
        try:
            return (self.entry(key)).value
        except NotFound:
            return default

    def entry(self, key: str) -> Entry:
        """The value under a key with its version and times; `NotFound` if there is none.

        (memory.entry("cursor")).version
        """
        return self._backend.do(ops.Get(scope=self.scope, key=key))

    def append(
        self,
        key: str,
        item: Any,
        *,
        ttl: Ttl = None,
        if_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Adds an item to the list under a key, atomically; a missing key is an empty list.

        memory.append("log", {"step": 1})
        """
        return self._backend.do(
            ops.Append(
                scope=self.scope,
                key=key,
                item=item,
                ttl=check.ttl(ttl),
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    def increment(
        self,
        key: str,
        by: float = 1,
        *,
        ttl: Ttl = None,
        if_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Adds to the number under a key, atomically; a missing key is 0.

        memory.increment("runs")
        """
        return self._backend.do(
            ops.Increment(
                scope=self.scope,
                key=key,
                by=by,
                ttl=check.ttl(ttl),
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    def delete(
        self, key: str, *, if_version: int | None = None, idempotency_key: str | None = None
    ) -> bool:
        """Removes a key; says whether it was there.

        memory.delete("cursor")
        """
        return self._backend.do(
            ops.Delete(
                scope=self.scope,
                key=key,
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    def keys(self, prefix: str = "", *, after: str = "", limit: int = 1000) -> tuple[str, ...]:
        """The keys that begin with a prefix, in order; `after` the last one asks for more.

        memory.keys("chat/")
        """
        return self._backend.do(ops.Keys(scope=self.scope, prefix=prefix, after=after, limit=limit))

    # --- moving house ---

    def export(self) -> Iterator[str]:
        """The scope as lines of JSON: every memory with its history, then the state.

        lines = [line for line in memory.export()]
        """
        cursor: str | None = None
        while True:
            part = self._backend.do(ops.Export(scope=self.scope, cursor=cursor))
            for line in part.lines:
                yield line
            if part.cursor is None:
                return
            cursor = part.cursor

    def import_(self, lines: Iterable[str]) -> Imported:
        """Takes the lines of an export into this scope: all of them or none.

        memory.import_(open("memory.jsonl"))
        """
        return self._backend.do(ops.Import(scope=self.scope, lines=check.lines(lines)))

    def backup(self, path: str) -> int:
        """Copies the whole store to a new file while it is in use; gives its size in bytes.

        memory.backup("memory-backup.db")
        """
        return self._backend.do(ops.Backup(scope=self.scope, path=path))

    # --- upkeep ---

    def stats(self) -> Stats:
        """How much this scope holds, and the store's embedder and bytes.

        memory.stats()
        """
        return self._backend.do(ops.Count(scope=self.scope))

    def doctor(self, repair: bool = False) -> Diagnosis:
        """Checks every index of the store against its rows; with `repair`, rebuilds the wrong.

        memory.doctor(repair=True)
        """
        return self._backend.do(ops.Doctor(scope=self.scope, repair=repair))

    def reembed(
        self, embedder: Embedder | str, progress: Callable[[Reembedded], None] | None = None
    ) -> Reembedded:
        """Moves the whole store to another embedder while it is in use; goes on where it stopped.

        memory.reembed("hashing")
        """
        return self._backend.do(
            ops.Reembed(scope=self.scope, embedder=open_embedder(embedder), progress=progress)
        )
