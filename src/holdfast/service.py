"""The one place a verb happens: words in, answers out, with whatever engine and embedder.

The service is synchronous and safe to call from many threads. It decides; the engine keeps.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from os import urandom
from typing import Any, TypeVar, cast

from holdfast import (
    answering,
    context,
    explain,
    keeping,
    lifetime,
    ops,
    portable,
    question,
    rank,
    states,
    text,
    trust,
    wire,
)
from holdfast.answering import Answer
from holdfast.drafting import Asked, Drafting
from holdfast.embed import Embedder
from holdfast.embedding import Embedding
from holdfast.engine import Draft, Engine, Kept, Key, Look, Place, Snapshot, Transaction
from holdfast.errors import Conflict, EmbedderMismatch, NotFound
from holdfast.extract import Extractor, open_extractor
from holdfast.extract.judge import Judge
from holdfast.learning import Learner, Ways, record
from holdfast.model import (
    Diagnosis,
    Entry,
    Explanation,
    Exported,
    Extracted,
    Finding,
    Hit,
    Imported,
    Page,
    Purged,
    Recalled,
    Receipt,
    Record,
    Reembedded,
    Remembered,
    RolledBack,
    Stats,
    Weights,
)
from holdfast.replacing import Ended

T = TypeVar("T")
LOCAL = "local"  # the tenant of a library: it owns its file
CANDIDATES = 200  # by words, and as many by meaning
AVOID_HITS = 3  # of what to avoid, shown beside the hits
CONTEXT_HITS = 50  # a prompt block is chosen from this many, at most
ANSWERS_KEPT = timedelta(days=7)  # how long a retry is recognised
LAST_ROW = 2**62


def utc_now() -> datetime:
    """The time, in UTC."""
    return datetime.now(timezone.utc)


def new_id() -> str:
    """A new id that sorts by time (UUID version 7), so that an index grows at its end."""
    chance = int.from_bytes(urandom(10), "big")
    value = time.time_ns() // 1_000_000 << 80 | chance
    value = value & ~(0xF << 76 | 3 << 62) | 7 << 76 | 2 << 62
    digits = f"{value:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class Service:
    """Every verb, on one store."""

    def __init__(
        self,
        engine: Engine,
        embedder: Embedder | None,
        clock: Callable[[], datetime] = utc_now,
        new_id: Callable[[], str] = new_id,
        extractor: Extractor | None = None,
        judge: Judge | None = None,
    ) -> None:
        self.engine = engine
        self._clock = clock
        self._new_id = new_id
        self.embedding = Embedding(engine, embedder)
        self._drafting = Drafting(self._drafts)
        learns = extractor or open_extractor("rules")
        ways = Ways(self._indexed, self._write, self.embedding.catch_up, self._nearest)
        self.learner = Learner(engine, learns, ways, clock, new_id, judge)

    def do(self, op: ops.Op[T], tenant: str = LOCAL) -> T:
        """Does a verb for a tenant, and answers."""
        name, place = VERBS[type(op)], Place(tenant, op.scope)
        method = getattr(self, name, None) or getattr(self.learner, name)
        if isinstance(op, ops.Write):
            self.learner.worker.look()
        while True:
            used = self.embedding.current
            try:
                return cast(T, method(op, place))
            except EmbedderMismatch:
                if not self.embedding.moved() and used is self.embedding.current:
                    raise

    def close(self) -> None:
        """Lets go of the store; a job under way ends first."""
        self.learner.worker.stop()
        with closing(self.engine):
            self.embedding.soon.wait()

    # --- remembering ---

    def remember(self, op: ops.Remember, place: Place) -> Remembered:
        """Stores one memory, or reinforces the one with the same words."""
        now = self._clock()
        self.learner.follow(place, [op.draft])
        asked = Asked(op.draft, place, now)
        ended: Mapping[str, Ended] = {}
        if self.embedding.quick and not self.learner.reconciles(place, op.draft):
            self._drafting.ask(asked)  # whoever writes for all who wait makes theirs, too
        else:
            [asked.draft] = drafts = self._drafts([asked], op.wait)
            ended = self.learner.ended(place, [op.draft], drafts)
        done = self._kept(op, asked, ended)
        draft = self._drafting.of(asked)
        self.learner.worker.expect([draft.record.expires_at])
        self._reworded(place, [done])
        self._follow_up(place, [draft], op.wait)
        return done

    def _kept(self, op: ops.Remember, asked: Asked, ended: Mapping[str, Ended]) -> Remembered:
        def work(tx: Transaction) -> Remembered:
            draft = self._drafting.of(asked)
            return self.learner.keep(tx, asked.place, op.draft, draft, asked.now, ended)

        try:
            return self._write(op, asked.place, work)
        finally:
            self._drafting.drop(asked)

    def remember_many(self, op: ops.RememberMany, place: Place) -> tuple[Remembered, ...]:
        """Stores many memories in one transaction."""
        now = self._clock()
        self.learner.follow(place, op.drafts)
        drafts = self._drafts([Asked(draft, place, now) for draft in op.drafts], op.wait)
        ended = self.learner.ended(place, op.drafts, drafts)
        pairs = list(zip(op.drafts, drafts, strict=True))

        def work(tx: Transaction) -> tuple[Remembered, ...]:
            return tuple(self.learner.keep(tx, place, *pair, now, ended) for pair in pairs)

        done = self._write(op, place, work)
        self.learner.worker.expect(draft.record.expires_at for draft in drafts)
        self._reworded(place, done)
        self._follow_up(place, drafts, op.wait)
        return done

    def _follow_up(self, place: Place, drafts: Sequence[Draft], waited: bool) -> None:
        """Lets vectors that nobody waited for be made soon; those not to be had, by a recall."""
        if not waited and any(draft.vectors is None for draft in drafts):
            self.embedding.soon.name(place)

    def _reworded(self, place: Place, done: Sequence[Remembered]) -> None:
        """Gives what got other words inside a write its vector after it, and conflicts a judge."""
        self.learner.disputed(done)
        if any(one.superseded or one.redacted for one in done):
            self.embedding.catch_up([place])

    def _drafts(self, asked: Sequence[Asked], wait: bool = True) -> list[Draft]:
        """Records with what is indexed of them, ready to be kept."""
        records = [record(one.told, one.place, self._new_id(), one.now) for one in asked]
        return self._indexed(records, wait)

    def _indexed(self, records: Sequence[Record], wait: bool = True) -> list[Draft]:
        vectors, space = self.embedding.contents([one.content for one in records], wait)
        pairs = zip(records, vectors, strict=True)
        return [keeping.indexed(one, found, space) for one, found in pairs]

    def revise(self, op: ops.Revise, place: Place) -> Record:
        """Gives a memory new words; the old ones stay in its history."""
        now = self._clock()
        vectors, space = self.embedding.contents([op.content])

        def work(tx: Transaction) -> Record:
            old = keeping.current(tx, place, op.id, now)
            twin = portable.live_twin(tx, place, text.fingerprint(op.content), now)
            if twin is not None and twin.id != op.id:
                raise Conflict(f"The memory {twin.id} has these words already.", "Forget one.")
            if twin is not None:
                return twin
            new = replace(
                old,
                content=op.content,
                source=trust.said(old.source, op.voice),
                version=old.version + 1,
                created_at=now,
                happened_at=now,
            )
            draft = keeping.indexed(new, vectors[0], space)
            keeping.revise(tx, place, replace(old, until=now), draft)
            return new

        return self._write(op, place, work, about=f"memory {op.id}")

    # --- finding ---

    def recall(self, op: ops.Recall, place: Place) -> Recalled:
        """Finds the memories that answer a query."""
        found = self._search(op, place, op.limit)
        warned = self._avoid(op, place) if found.warns else []
        if warned:  # some of them may be among the hits, in the place of others
            found = self._search(op, place, op.limit + len(warned))
        apart = {hit.id for _, hit in warned}
        kept = [(key, hit) for key, hit in found.hits if hit.id not in apart][: op.limit]
        self._use([*kept, *warned])
        return Recalled(
            hits=tuple(hit for _, hit in kept),
            avoid=tuple(hit for _, hit in warned),
            abstained=found.candidates > 0 and not found.hits and not warned,
            degraded=found.degraded,
        )

    def context(self, op: ops.Context, place: Place) -> str:
        """Renders what is relevant to a query as a block for a prompt."""
        found = self._search(op, place, CONTEXT_HITS)
        warned = self._avoid(op, place) if found.warns else []
        apart = {hit.id for _, hit in warned}
        # What to avoid goes first: it must be in however small the budget is.
        hits = [*warned, *((key, hit) for key, hit in found.hits if hit.id not in apart)]
        if warned:
            hits = context.fitting(hits, op.budget)
        chosen = [hit for _, hit in hits]
        self._use(hits)
        self.learner.echoes.note(place, [hit.content for hit in chosen])
        return context.render(chosen)

    def _avoid(self, op: ops.Question[T], place: Place) -> list[tuple[Key, Hit]]:
        """What failed or was ruled out, if the query is about it."""
        only = replace(op, where=replace(op.where, avoid=True), min_score=None)
        found = self._search(only, place, AVOID_HITS)
        return [(key, hit) for key, hit in found.hits if hit.why.similarity >= rank.RELEVANT]

    def _use(self, hits: Sequence[tuple[Key, Hit]]) -> None:
        """Counts the hits that are relevant by themselves; the others only filled the limit."""
        best = max((hit.why.similarity for _, hit in hits), default=0.0)
        least = max(rank.RELEVANT, rank.MIDDLE * best)
        used = [key for key, hit in hits if hit.why.similarity >= least]
        self.engine.use(used, self._clock())

    def _nearest(self, place: Place, content: str, count: int) -> list[Record]:
        """The memories nearest to a content, whether or not they are relevant."""
        alone = Weights(similarity=1.0, recency=0.0, frequency=0.0)
        op = ops.Recall(scope=place.scope, query=content, weights=alone, min_score=0.0)
        return [hit.memory for _, hit in self._search(op, place, count).hits]

    def _search(
        self,
        op: ops.Question[T],
        place: Place,
        limit: int,
        most: int = CANDIDATES,
        also: tuple[str, ...] = (),
    ) -> Answer:
        """The relevant candidates as hits, best first; those in `also` are candidates for sure."""
        now = op.now or self._clock()
        query = self.embedding.query(op.query)
        asked = question.understood(op.query, now)
        # Expiry is a promise of the real clock: a `now` in the past brings nothing back.
        alive_at = max(now, self._clock())
        sought = asked.terms, lambda: query.found().vector, query.space
        look = Look(*sought, op.where, op.as_of, alive_at, most, also)
        places = [Place(place.tenant, scope) for scope in op.scopes]

        def work(seen: Snapshot) -> Answer:
            found = seen.search(places, look)
            answer = answering.answer(seen, places, found, asked, op, limit, query.found())
            ask = op.where.avoid is None
            return replace(answer, warns=ask and any(map(seen.any_avoid, places)))

        # What was written a moment ago has its vector in another: no question that finds anything
        # without it waits for that.
        soon = self.embedding.soon.awaits(places)
        answer = self.engine.read(work)
        late = answer.waiting and look.vector is not None and not (soon and answer.hits)
        if late and self.embedding.catch_up(places):
            answer = self.engine.read(work)
        return answer

    def explain(self, op: ops.Explain, place: Place) -> Explanation:
        """Says why a memory was, or was not, in the answer to a query."""
        now = op.now or self._clock()
        versions = self.engine.read(lambda seen: seen.versions(place, op.id))
        if not versions and self.engine.read(lambda seen: seen.held(place, op.id, 1)):
            detail = "It waits for approval: `review` says why."
            return Explanation(id=op.id, verdict="quarantined", detail=detail)
        if not versions:
            raise NotFound(f"There is no memory {op.id!r} here.", "List them to see their ids.")
        hidden = explain.hidden(versions, op.where, op.as_of, max(now, self._clock()))
        if hidden is not None:
            return Explanation(id=op.id, verdict=hidden[0], detail=hidden[1])
        every = replace(op, min_score=0.0)
        found, everything = (
            self._search(each, place, LAST_ROW, LAST_ROW, (op.id,)) for each in (op, every)
        )
        kept = [hit for _, hit in found.hits]
        shown = context.chosen(kept[:CONTEXT_HITS], op.budget) if op.budget else kept[: op.limit]
        ranked = [hit for _, hit in everything.hits]
        return explain.explained(op.id, ranked, kept, shown, None if op.budget else op.limit)

    def read(self, op: ops.Read, place: Place) -> Record:
        """Gives one memory by its id."""
        now = self._clock()
        return self.engine.read(lambda seen: keeping.current(seen, place, op.id, now))

    def history(self, op: ops.History, place: Place) -> tuple[Record, ...]:
        """Gives every version of a memory, oldest first; those it superseded come before it."""
        now = self._clock()

        def work(seen: Snapshot) -> tuple[Record, ...]:
            keeping.current(seen, place, op.id, now)
            return (*keeping.past(seen, place, op.id), *seen.versions(place, op.id))

        return self.engine.read(work)

    def page(self, op: ops.List, place: Place) -> Page:
        """Gives memories page by page, newest first."""
        before = LAST_ROW if op.cursor is None else portable.place_of(op.cursor, int)[0]
        now = self._clock()
        found = self.engine.read(
            lambda seen: seen.page(place, op.where, op.as_of, now, before, op.limit + 1)
        )
        more = len(found) > op.limit
        cursor = portable.cursor(found[op.limit - 1][0]) if more else None
        return Page(tuple(record for _, record in found[: op.limit]), cursor)

    # --- forgetting ---

    def forget(self, op: ops.Forget, place: Place) -> Receipt:
        """Removes memories for good."""
        now = self._clock()

        def work(tx: Transaction) -> Receipt:
            ids = [op.id] if op.id is not None else tx.matching(place, op.where)
            if op.id is not None:
                keeping.current(tx, place, op.id, now)
            ids = keeping.forget(tx, place, ids, now)
            if op.where.session is not None:
                tx.drop_jobs(place, op.where.session)
            keys = tx.forget_all(place) if op.everything else 0
            digest = hashlib.blake2b("\n".join(ids).encode(), digest_size=16).hexdigest()
            return Receipt(memories=len(ids), states=keys, at=now, digest=digest)

        return self._write(op, place, work)

    def purge(self, op: ops.Purge, place: Place) -> Purged:
        """Removes what has expired, and every byte of what was forgotten, from the file."""
        before, now = self.engine.size(), self._clock()
        memories, entries = self.engine.purge(now, now - ANSWERS_KEPT)
        freed = max(0, before - self.engine.size())
        return Purged(memories=memories, states=entries, freed_bytes=freed)

    # --- state ---

    def change(self, op: ops.Change, place: Place) -> Entry:
        """Sets, appends to or increments the value under a key."""
        now = self._clock()

        def work(tx: Transaction) -> Entry:
            held = self._entry(tx, place, op.key, now)
            version = held.version + 1 if held else tx.next_version(place)
            entry = states.changed(op, held, version, now)
            tx.put_entry(place, entry)
            return entry

        done = self._write(op, place, work, about=f"state {op.key}")
        self.learner.worker.expect([done.expires_at])
        return done

    def get(self, op: ops.Get, place: Place) -> Entry:
        """Gives the entry under a key."""
        now = self._clock()
        entry = self.engine.read(lambda seen: seen.entry(place, op.key), alone=True)
        if entry is None or not lifetime.alive(entry.expires_at, now):
            raise NotFound(f"There is no key {op.key!r} here.", "`keys` lists those there are.")
        return entry

    def delete(self, op: ops.Delete, place: Place) -> bool:
        """Removes a key; says whether it was there."""
        now = self._clock()

        def work(tx: Transaction) -> bool:
            held = self._entry(tx, place, op.key, now)
            states.must_match(op.key, op.if_version, held)
            if held is not None:
                tx.drop_entry(place, held)
            return held is not None

        return self._write(op, place, work)

    def _entry(self, tx: Transaction, place: Place, key: str, now: datetime) -> Entry | None:
        """The entry under a key; an expired one is removed first, as if it had never been."""
        held = tx.entry(place, key)
        if held is not None and not lifetime.alive(held.expires_at, now):
            tx.drop_entry(place, held)
            return None
        return held

    def keys(self, op: ops.Keys, place: Place) -> tuple[str, ...]:
        """Gives the keys that begin with a prefix, in order."""
        now = self._clock()
        return tuple(
            self.engine.read(lambda seen: seen.keys(place, op.prefix, op.after, now, op.limit))
        )

    # --- moving house ---

    def export(self, op: ops.Export, place: Place) -> Exported:
        """Gives a scope as JSON Lines, some lines at a time."""
        now = self._clock()
        return self.engine.read(lambda seen: portable.export(seen, place, op.cursor, now))

    def import_(self, op: ops.Import, place: Place) -> Imported:
        """Takes the lines of an export into a scope, all or none."""
        records, entries, ties = portable.parsed(op.lines, place.scope, op.voice)
        drafts, now = self._indexed(records), self._clock()
        done = self.engine.write(lambda tx: portable.take_in(tx, place, drafts, entries, now, ties))
        expiries = [one.expires_at for one in records] + [one.expires_at for one in entries]
        self.learner.worker.expect(expiries)
        return done

    def backup(self, op: ops.Backup, place: Place) -> int:
        """Copies the whole store to a new file; gives its size in bytes."""
        return self.engine.backup(op.path)

    # --- upkeep ---

    def stats(self, op: ops.Count, place: Place) -> Stats:
        """Says how much a scope holds."""
        now = self._clock()
        counts = self.engine.read(lambda seen: seen.counts(place, now))
        return Stats(
            scope=place.scope,
            memories=counts.memories,
            versions=counts.versions,
            kinds=counts.kinds,
            sessions=counts.sessions,
            states=counts.states,
            waiting=counts.waiting,
            embedder=str(self.engine.space() or "none"),
            file_bytes=self.engine.size(),
        )

    def doctor(self, op: ops.Doctor, place: Place) -> Diagnosis:
        """Checks the store against itself, and puts right what it can if asked."""
        findings = self.engine.check(op.repair)
        waiting = len(self.engine.waiting(LAST_ROW))
        if waiting and not op.repair:
            findings.append(Finding("memories that wait for their vector", waiting))
        elif waiting:
            left = self.embedding.catch_up_all()
            findings.append(
                Finding("memories that wait for their vector", left or waiting, not left)
            )
        return Diagnosis((*findings, *self.learner.check(op.repair)))

    def reembed(self, op: ops.Reembed, place: Place) -> Reembedded:
        """Gives every memory a vector of another embedder, then moves the store over to it."""
        return self.embedding.move(op.embedder, op.progress)

    # --- once ---

    def _write(
        self, op: ops.Write[T], place: Place, work: Callable[[Transaction], T], about: str = ""
    ) -> T:
        """Does a write once: a retry with the same idempotency key gets the first answer."""
        key = op.idempotency_key
        if key is None:
            return self.engine.write(work)
        digest = hashlib.blake2b(
            f"{type(op).__name__} {wire.dumps(op)}".encode(), digest_size=16
        ).digest()
        now = self._clock()

        def once(tx: Transaction) -> T:
            kept = tx.answer(place, key)
            if kept is not None:
                return _again(op, kept, digest)
            answer = work(tx)
            tx.keep_answer(place, key, Kept(digest, wire.dumps(answer)), about or None, now)
            return answer

        return self.engine.write(once)


def _again(op: ops.Write[T], kept: Kept, digest: bytes) -> T:
    """The first answer to an idempotency key."""
    if kept.digest != digest:
        raise Conflict(
            f"The idempotency key {op.idempotency_key!r} was used for another call.",
            "Make a new key for each call.",
        )
    if kept.answer is None:
        raise NotFound("What this idempotency key wrote was forgotten since.")
    return cast(T, wire.loads(ANSWERS[type(op)], kept.answer))


ANSWERS: dict[type[ops.Op[Any]], Any] = {
    ops.Remember: Remembered,
    ops.RememberMany: tuple[Remembered, ...],
    ops.Revise: Record,
    ops.Forget: Receipt,
    ops.Extract: Extracted,
    ops.Resolve: Remembered,
    ops.Rollback: RolledBack,
    ops.Approve: Remembered,
    ops.Reject: bool,
    ops.Dissolve: int,
    ops.Replay: bool,
    ops.Set: Entry,
    ops.Append: Entry,
    ops.Increment: Entry,
    ops.Delete: bool,
}
VERBS: dict[type[ops.Op[Any]], str] = {
    ops.Remember: "remember",
    ops.RememberMany: "remember_many",
    ops.Recall: "recall",
    ops.Context: "context",
    ops.Explain: "explain",
    ops.Read: "read",
    ops.List: "page",
    ops.History: "history",
    ops.Revise: "revise",
    ops.Extract: "extract",
    ops.Resolve: "resolve",
    ops.Rollback: "rollback",
    ops.Review: "review",
    ops.Approve: "approve",
    ops.Reject: "reject",
    ops.SetPolicy: "policy",
    ops.Consolidate: "consolidate",
    ops.Dissolve: "dissolve",
    ops.Jobs: "jobs",
    ops.Work: "work",
    ops.Replay: "replay",
    ops.Forget: "forget",
    ops.Set: "change",
    ops.Append: "change",
    ops.Increment: "change",
    ops.Get: "get",
    ops.Delete: "delete",
    ops.Keys: "keys",
    ops.Count: "stats",
    ops.Export: "export",
    ops.Import: "import_",
    ops.Backup: "backup",
    ops.Reembed: "reembed",
    ops.Doctor: "doctor",
    ops.Purge: "purge",
}
