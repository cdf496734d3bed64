"""`AsyncMemory`: every verb of a memory, for callers with an event loop.

This file is the source of its synchronous twin: edit here, then run `make generate`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import TracebackType
from typing import Any

from holdfast import check, ops
from holdfast.api.asynchronous_learning import AsyncLearning
from holdfast.backend import AsyncBackend, open_async_backend
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


class AsyncMemory(AsyncLearning):
    """The memory of one scope: an agent, a team, a user, a project.

    `url` names the store, `sqlite:///path`, or a server, `http://host:8420`; by default
    `$HOLDFAST_URL`, or else a file in your data folder. A server is shown `api_key` (else
    `$HOLDFAST_API_KEY`); with `outbox`, what cannot be sent to it waits on disk. `embedder` is
    an `Embedder`, the name of one, None for none (recall then knows words only), or "auto": the
    one the store was filled by. `extractor` is who learns from conversations: "rules", "llm"
    (`$HOLDFAST_LLM_URL` and its like), or an `Extractor`; `judge` who settles conflicts: None,
    "llm" or a `Judge`. A server has its own of both.

        memory = AsyncMemory("autogen-assistant-user123")
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
        backend: AsyncBackend | None = None,
    ) -> None:
        self.scope = ops.Count(scope=scope).scope
        self._backend = backend or open_async_backend(
            url, embedder, extractor=extractor, api_key=api_key, outbox=outbox, judge=judge
        )

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncMemory({self.scope!r})"

    @property
    def outbox(self) -> Outbox | None:
        """What waits to be sent to a server: `memory.outbox.pending`; None without an outbox."""
        return self._backend.outbox

    async def close(self) -> None:
        """Lets go of the store; closing twice does no harm.

        await memory.close()
        """
        await self._backend.close()

    # --- remembering ---

    async def remember(
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

            await memory.remember("Use PostgreSQL, not MongoDB", kind="decision", tags=["db"])
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
        return await self._backend.do(
            ops.Remember(scope=self.scope, draft=told, wait=wait, idempotency_key=idempotency_key)
        )

    async def remember_many(
        self,
        items: Sequence[str | Mapping[str, Any] | ops.Draft],
        idempotency_key: str | None = None,
        *,
        wait: bool = True,
    ) -> tuple[Remembered, ...]:
        """Stores up to 10,000 memories in one transaction: all of them or none.

        An item is a text, or a dict of what `remember` takes; `wait` is as it is there.

            await memory.remember_many(["likes tea", {"content": "no SMS", "kind": "preference"}])
        """
        drafts = tuple(ops.draft(item) for item in check.batch("items", items))
        key, scope = idempotency_key, self.scope
        return await self._backend.do(
            ops.RememberMany(scope=scope, drafts=drafts, wait=wait, idempotency_key=key)
        )

    async def revise(self, id: str, content: str, idempotency_key: str | None = None) -> Record:
        """Gives a memory new words under the same id; the old ones stay in its history.

        await memory.revise(id, "Use PostgreSQL 18")
        """
        return await self._backend.do(
            ops.Revise(scope=self.scope, id=id, content=content, idempotency_key=idempotency_key)
        )

    # --- finding ---

    async def recall(
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

            await memory.recall("which database did we choose?", kinds=["decision"])
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return await self._backend.do(
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

    async def context(
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

        await memory.context("database architecture", budget=500)
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return await self._backend.do(
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

    async def explain(
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

        await memory.explain(id, "which database did we choose?")
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return await self._backend.do(
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

    async def read(self, id: str) -> Record:
        """One memory by its id; `NotFound` if there is none.

        await memory.read(id)
        """
        return await self._backend.do(ops.Read(scope=self.scope, id=id))

    async def history(self, id: str) -> tuple[Record, ...]:
        """Every version of a memory, oldest first.

        await memory.history(id)
        """
        return await self._backend.do(ops.History(scope=self.scope, id=id))

    async def list(
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

        page = await memory.list(kinds=["decision"], limit=20)
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return await self._backend.do(
            ops.List(scope=self.scope, where=where, as_of=as_of, limit=limit, cursor=cursor)
        )

    # --- forgetting ---

    async def forget(
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

            await memory.forget(session="chat-17")
        """
        where = ops.where(kinds, tags, session, source, since, until, meta)
        return await self._backend.do(
            ops.Forget(
                scope=self.scope,
                id=id,
                where=where,
                everything=everything,
                idempotency_key=idempotency_key,
            )
        )

    async def purge(self) -> Purged:
        """Takes what has expired, and every byte of what was forgotten, out of the store's file.

        await memory.purge()
        """
        return await self._backend.do(ops.Purge(scope=self.scope))

    # --- state ---

    async def set(
        self,
        key: str,
        value: Any,
        *,
        ttl: Ttl = None,
        if_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Puts any JSON value under a key; with `if_version` only over that version (0: new key).

        await memory.set("cursor", {"row": 8000})
        """
        return await self._backend.do(
            ops.Set(
                scope=self.scope,
                key=key,
                value=value,
                ttl=check.ttl(ttl),
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    async def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, or the default.

        await memory.get("cursor")
        """
        try:
            return (await self.entry(key)).value
        except NotFound:
            return default

    async def entry(self, key: str) -> Entry:
        """The value under a key with its version and times; `NotFound` if there is none.

        (await memory.entry("cursor")).version
        """
        return await self._backend.do(ops.Get(scope=self.scope, key=key))

    async def append(
        self,
        key: str,
        item: Any,
        *,
        ttl: Ttl = None,
        if_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Adds an item to the list under a key, atomically; a missing key is an empty list.

        await memory.append("log", {"step": 1})
        """
        return await self._backend.do(
            ops.Append(
                scope=self.scope,
                key=key,
                item=item,
                ttl=check.ttl(ttl),
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    async def increment(
        self,
        key: str,
        by: float = 1,
        *,
        ttl: Ttl = None,
        if_version: int | None = None,
        idempotency_key: str | None = None,
    ) -> Entry:
        """Adds to the number under a key, atomically; a missing key is 0.

        await memory.increment("runs")
        """
        return await self._backend.do(
            ops.Increment(
                scope=self.scope,
                key=key,
                by=by,
                ttl=check.ttl(ttl),
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    async def delete(
        self, key: str, *, if_version: int | None = None, idempotency_key: str | None = None
    ) -> bool:
        """Removes a key; says whether it was there.

        await memory.delete("cursor")
        """
        return await self._backend.do(
            ops.Delete(
                scope=self.scope,
                key=key,
                if_version=if_version,
                idempotency_key=idempotency_key,
            )
        )

    async def keys(
        self, prefix: str = "", *, after: str = "", limit: int = 1000
    ) -> tuple[str, ...]:
        """The keys that begin with a prefix, in order; `after` the last one asks for more.

        await memory.keys("chat/")
        """
        return await self._backend.do(
            ops.Keys(scope=self.scope, prefix=prefix, after=after, limit=limit)
        )

    # --- moving house ---

    async def export(self) -> AsyncIterator[str]:
        """The scope as lines of JSON: every memory with its history, then the state.

        lines = [line async for line in memory.export()]
        """
        cursor: str | None = None
        while True:
            part = await self._backend.do(ops.Export(scope=self.scope, cursor=cursor))
            for line in part.lines:
                yield line
            if part.cursor is None:
                return
            cursor = part.cursor

    async def import_(self, lines: Iterable[str]) -> Imported:
        """Takes the lines of an export into this scope: all of them or none.

        await memory.import_(open("memory.jsonl"))
        """
        return await self._backend.do(ops.Import(scope=self.scope, lines=check.lines(lines)))

    async def backup(self, path: str) -> int:
        """Copies the whole store to a new file while it is in use; gives its size in bytes.

        await memory.backup("memory-backup.db")
        """
        return await self._backend.do(ops.Backup(scope=self.scope, path=path))

    # --- upkeep ---

    async def stats(self) -> Stats:
        """How much this scope holds, and the store's embedder and bytes.

        await memory.stats()
        """
        return await self._backend.do(ops.Count(scope=self.scope))

    async def doctor(self, repair: bool = False) -> Diagnosis:
        """Checks every index of the store against its rows; with `repair`, rebuilds the wrong.

        await memory.doctor(repair=True)
        """
        return await self._backend.do(ops.Doctor(scope=self.scope, repair=repair))

    async def reembed(
        self, embedder: Embedder | str, progress: Callable[[Reembedded], None] | None = None
    ) -> Reembedded:
        """Moves the whole store to another embedder while it is in use; goes on where it stopped.

        await memory.reembed("hashing")
        """
        return await self._backend.do(
            ops.Reembed(scope=self.scope, embedder=open_embedder(embedder), progress=progress)
        )
