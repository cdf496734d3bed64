"""Learning from conversations, and putting right what was learned: extract, resolve, review, undo.

The service hands these verbs on to a `Learner`; what they write goes through `keeping`.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

from holdfast import check, consolidation, judging, keeping, lifetime, ops, text, trust, wire
from holdfast.engine import Draft, Engine, Place, Snapshot, Task, Transaction
from holdfast.errors import Busy, Conflict, NotFound, Refused
from holdfast.extract import Extractor
from holdfast.extract.judge import Judge
from holdfast.jobs import Worker
from holdfast.keeping import CONFLICT, FROM, TURN
from holdfast.model import (
    Consolidated,
    Extracted,
    Finding,
    Held,
    Job,
    Learning,
    Policy,
    Record,
    Remembered,
    RolledBack,
    Source,
    Turn,
)
from holdfast.replacing import Ended, Nearest, Replacing

T = TypeVar("T")
ALWAYS = datetime(1970, 1, 1, tzinfo=timezone.utc)
QUEUE_MOST = 1000  # jobs of one scope that may wait; more are turned away
ECHOES = 512  # lines of recent contexts whose return from an agent is no news
ECHO_SHARE = 0.8  # of its words: so much of a line makes it an echo
HELD_MOST = 1000

Indexed = Callable[[Sequence[Record]], list[Draft]]


class Write(Protocol):
    """Does a write once."""

    def __call__(self, op: ops.Write[T], place: Place, work: Callable[[Transaction], T]) -> T:
        """The answer of the first call with the op's idempotency key."""


@dataclass(frozen=True, slots=True)
class Ways:
    """What learning needs of the service: drafts with vectors, writes done once, vectors later.

    And what is nearest to a content.
    """

    indexed: Indexed
    write: Write
    catch_up: Callable[[Sequence[Place]], bool]
    nearest: Nearest


class Echoes:
    """What was lately put into prompts: an agent that says it again tells nothing new."""

    def __init__(self) -> None:
        self._lines: OrderedDict[Place, deque[str]] = OrderedDict()
        self._lock = threading.Lock()

    def note(self, place: Place, contents: Sequence[str]) -> None:
        """Remembers contents that were rendered."""
        with self._lock:
            self._lines.setdefault(place, deque(maxlen=ECHOES)).extend(contents)
            self._lines.move_to_end(place)
            while len(self._lines) > ECHOES:
                self._lines.popitem(last=False)

    def heard(self, place: Place, content: str) -> bool:
        """True if a content is nearly one of them."""
        words = _words(content)
        with self._lock:
            lines = list(self._lines.get(place, ()))
        return any(words and len(words & _words(it)) >= ECHO_SHARE * len(words) for it in lines)


@lru_cache(maxsize=2 * ECHOES)
def _words(content: str) -> frozenset[str]:
    return frozenset(text.terms(content))


@dataclass(frozen=True, slots=True)
class Heard:
    """What is to be written of a conversation."""

    digests: tuple[bytes, ...]  # of the turns that are new
    drafts: tuple[tuple[ops.Draft, Draft], ...]
    ended: Mapping[str, Ended]  # by drafts' ids, what each ends
    sources: tuple[tuple[int, ...], ...]  # of each draft: the numbers of its turns
    dropped: Mapping[str, int]


class Learner:
    """The verbs of learning, on one store."""

    def __init__(
        self,
        engine: Engine,
        extractor: Extractor,
        ways: Ways,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
        judge: Judge | None = None,
    ) -> None:
        self._engine = engine
        self._extractor = extractor
        self._indexed = ways.indexed
        self._write = ways.write
        self._catch_up = ways.catch_up
        self._clock = clock
        self._new_id = new_id
        self._replacing = Replacing(ways.nearest)
        self._reconciling = set[Place]()  # where all that is told is to be reconciled
        self.echoes = Echoes()
        self._court = judging.Court(engine, judge, clock, new_id)
        self.worker = Worker(engine, self._run, clock)

    # --- extracting ---

    def extract(self, op: ops.Extract, place: Place) -> Extracted:
        """Learns from a conversation, now or (without `wait`) soon."""
        if op.wait:
            heard = self._heard(op, place)
            done = self._write(op, place, lambda tx: self._written(tx, place, heard))
            self._caught_up(place, done)
            return done
        now = self._clock()
        done = self._write(op, place, lambda tx: self._enqueued(tx, op, place, now))
        self.worker.wake()
        return done

    def _enqueued(self, tx: Transaction, op: ops.Extract, place: Place, now: datetime) -> Extracted:
        """Accepts a conversation: it will be learned from once, after a crash too."""
        job = self._new_id()
        waiting = tx.enqueue(place, job, op.session, wire.dumps(op), now)
        if waiting > QUEUE_MOST:
            raise Busy(f"{QUEUE_MOST} jobs of this scope wait already.", "Try again later.")
        return Extracted(job=job)

    def _run(self, task: Task) -> None:
        """Does a job; what it writes and its end are one transaction."""
        if judging.is_dispute(task.work):
            self._court.settle(task)
            return
        heard = self._heard(wire.loads(ops.Extract, task.work), task.place)

        def work(tx: Transaction) -> Extracted:
            ours = tx.end_job(task)
            return self._written(tx, task.place, heard) if ours else Extracted()

        self._caught_up(task.place, self._engine.write(work))

    def _caught_up(self, place: Place, done: Extracted) -> None:
        """What a correction gave other words gets its vector after the write; conflicts a judge."""
        self.disputed(done.learned)
        if any(one.superseded or one.redacted for one in done.learned):
            self._catch_up([place])

    def disputed(self, done: Sequence[Remembered]) -> None:
        """Lets a judge come to what was written."""
        if self._court.sits and any(one.conflicts for one in done):
            self.worker.wake()

    def _heard(self, op: ops.Extract, place: Place) -> Heard:
        """What is to be written, made outside of any transaction."""
        now = self._clock()
        digests = [_digest(op.session, turn, number) for number, turn in enumerate(op.turns)]
        fresh = sorted(self._engine.read(lambda seen: _fresh(seen, place, digests)))
        dropped: Counter[str] = Counter()
        learnings = self._learnings(op, place, set(fresh), now, dropped)
        told: list[tuple[ops.Draft, tuple[int, ...]]] = []
        if op.keep != "learnings":
            said = {text.fingerprint(learning.content) for learning in learnings}
            # A turn that is the learning, word for word, is kept once: as what it is.
            kept = [n for n in fresh if text.fingerprint(op.turns[n].text) not in said]
            told += [(_told_turn(op, number, now), (number,)) for number in kept]
        told += [(_told(op, learning, now), learning.turns) for learning in learnings]
        records = [record(one, place, self._new_id(), now) for one, _ in told]
        new = [one for one, _ in told]
        self.follow(place, new)
        drafts = self._indexed(records)
        return Heard(
            digests=tuple(digests[number] for number in fresh),
            drafts=tuple(zip(new, drafts, strict=True)),
            ended=self.ended(place, new, drafts),
            sources=tuple(numbers for _, numbers in told),
            dropped=+dropped,
        )

    def _learnings(
        self, op: ops.Extract, place: Place, fresh: set[int], now: datetime, dropped: Counter[str]
    ) -> list[Learning]:
        """What lasts of the turns that were not learned from before, and is no echo."""
        if op.keep == "turns" or not fresh:
            return []
        found = self._extractor.extract(op.turns, now)
        news = [it for it in found if fresh & set(it.turns)]
        kept = [it for it in news if not self._echo(op, place, it)]
        dropped["known"] += len(found) - len(news)
        dropped["echo"] += len(news) - len(kept)
        return kept

    def _echo(self, op: ops.Extract, place: Place, learning: Learning) -> bool:
        by_agent = all(op.turns[number].role == "agent" for number in learning.turns)
        return by_agent and self.echoes.heard(place, learning.content)

    def _written(self, tx: Transaction, place: Place, heard: Heard) -> Extracted:
        """Writes what was heard, if nobody else has meanwhile."""
        now, dropped = self._clock(), Counter(heard.dropped)
        if heard.digests and all(tx.heard(place, digest) for digest in heard.digests):
            return Extracted()
        turns: dict[int, str] = {}
        learned: list[Remembered] = []
        for (told, draft), numbers in zip(heard.drafts, heard.sources, strict=True):
            try:
                done = self.keep(tx, place, told, draft, now, heard.ended)
            except Refused:
                dropped["refused"] += 1
                continue
            if told.kind == TURN:
                turns[numbers[0]] = done.id
                continue
            learned.append(done)
            for number in numbers:
                if number in turns and not done.held:
                    tx.link(place, done.id, FROM, turns[number])
        for digest in heard.digests:
            tx.hear(place, digest)
        return Extracted(learned=tuple(learned), turns=len(heard.digests), dropped=dict(dropped))

    def keep(
        self,
        tx: Transaction,
        place: Place,
        told: ops.Draft,
        draft: Draft,
        now: datetime,
        ended: Mapping[str, Ended],
    ) -> Remembered:
        """Keeps something told; a conflict it comes into is queued for the judge."""
        if keeping.policy(tx, place).reconcile:
            self._reconciling.add(place)
        done = keeping.keep(tx, place, told, draft, now, ended.get(draft.record.id, {}))
        self._court.accept(tx, place, done, told.session)
        return done

    def ended(
        self, place: Place, told: Sequence[ops.Draft], drafts: Sequence[Draft]
    ) -> Mapping[str, Ended]:
        """By the ids of drafts, what each ends: of those that are to be reconciled."""
        both = zip(told, drafts, strict=True)
        some = [draft for one, draft in both if self.reconciles(place, one)]
        return self._replacing.ended(place, some) if some else {}

    def reconciles(self, place: Place, told: ops.Draft) -> bool:
        """Whether something told is to be reconciled, as far as this process knows."""
        return place in self._reconciling if told.reconcile is None else told.reconcile

    def follow(self, place: Place, told: Sequence[ops.Draft]) -> None:
        """Brings the slots of a place up to date before something is reconciled with it.

        Slots are read off memories when they are first needed, some at a time, so that neither
        an ordinary remember nor another writer pays for them.
        """
        if any(one.reconcile for one in told):
            self._read_slots(place)

    def _read_slots(self, place: Place) -> None:
        while self._engine.read(lambda seen: bool(seen.unslotted(place, 1))):
            self._engine.write(lambda tx: keeping.slotted(tx, place, keeping.SLOTTED))

    def check(self, repair: bool) -> list[Finding]:
        """Compares what is indexed of every memory's words with what would be now."""
        lacking = mended = 0
        for place, _ in self._engine.house().look(lambda opened: opened.places()):
            before = keeping.LAST
            while before:
                some = partial(keeping.unread, place=place, before=before, now=self._clock())
                found, before = self._engine.read(some)
                lacking += len(found)
                if repair and found:
                    again = partial(keeping.read_again, place=place, records=found)
                    mended += self._engine.write(again)
        what = "memories of which more can be told than is indexed"
        return [Finding(what, lacking, repair and mended == lacking)] if lacking else []

    # --- putting right ---

    def resolve(self, op: ops.Resolve, place: Place) -> Remembered:
        """Settles a conflict: this one is right, or all are."""
        return self._write(op, place, lambda tx: _resolved(tx, op, place, self._clock()))

    def rollback(self, op: ops.Rollback, place: Place) -> RolledBack:
        """Undoes what a writer told: what only it told goes, what that superseded is true again."""
        return self._write(op, place, lambda tx: _rolled_back(tx, op, place, self._clock()))

    # --- quarantine ---

    def policy(self, op: ops.SetPolicy, place: Place) -> Policy:
        """Changes, if anything is given, what the scope does with writings; gives what it does."""
        names = ("roles", "suspicious", "secrets", "reconcile")
        given: Any = {name: value for name in names if (value := getattr(op, name)) is not None}
        if not given:
            return self._engine.read(lambda seen: keeping.policy(seen, place))

        def work(tx: Transaction) -> Policy:
            new = replace(keeping.policy(tx, place), **given)
            tx.set_policy(place, wire.dumps(new))
            return new

        done = self._engine.write(work)
        self._reconciling.discard(place)
        if done.reconcile:
            self._reconciling.add(place)
            self._read_slots(place)
        return done

    def review(self, op: ops.Review, place: Place) -> tuple[Held, ...]:
        """Gives what is in quarantine, oldest first."""
        found = self._engine.read(lambda seen: seen.held(place, None, op.limit))
        return tuple(_held(*one) for one in found)

    def approve(self, op: ops.Approve, place: Place) -> Remembered:
        """Lets something out of quarantine, once."""
        now = self._clock()
        found = self._engine.read(lambda seen: seen.held(place, op.id, 1))
        held = wire.loads(ops.Draft, found[0][1]) if found else None
        drafts = self._indexed([record(held, place, op.id, now)]) if held else []

        def work(tx: Transaction) -> Remembered:
            if held is None or not tx.held(place, op.id, 1):
                raise NotFound(f"Nothing {op.id!r} is in quarantine here.", "See `review`.")
            tx.release(place, op.id)
            done = keeping.settle(tx, place, held, drafts[0], now)
            self._court.accept(tx, place, done, held.session)
            return done

        done = self._write(op, place, work)
        self.worker.expect(draft.record.expires_at for draft in drafts)
        return done

    def reject(self, op: ops.Reject, place: Place) -> bool:
        """Removes something from quarantine for good; says whether it was there."""

        def work(tx: Transaction) -> bool:
            there = bool(tx.held(place, op.id, 1))
            tx.release(place, op.id)
            return there

        return self._write(op, place, work)

    # --- consolidating ---

    def consolidate(self, op: ops.Consolidate, place: Place) -> Consolidated:
        """Sums up what says the same, and long trails; a summary and its sources' end are one."""
        now, made, count = self._clock(), [], 0
        found = self._engine.read(lambda seen: consolidation.current(seen, place, op.session, now))
        trails = consolidation.trails(found, self._extractor, now)
        for sum in (*consolidation.alike(found), *trails):
            one = sum.counted(record(sum.told, place, self._new_id(), now))
            draft = self._indexed([one])[0]
            done = self._engine.write(
                partial(consolidation.written, place=place, sum=sum, draft=draft, now=now)
            )
            if done:
                made.append(one.id)
                count += done
        return Consolidated(summaries=tuple(made), sources=count)

    def dissolve(self, op: ops.Dissolve, place: Place) -> int:
        """Undoes a summary; gives how many of its sources are current again."""
        now = self._clock()

        def work(tx: Transaction) -> int:
            keeping.current(tx, place, op.id, now)
            consolidation.check(tx, place, op.id)
            return len(keeping.dissolve(tx, place, op.id, now))

        return self._write(op, place, work)

    # --- jobs ---

    def jobs(self, op: ops.Jobs, place: Place) -> tuple[Job, ...]:
        """Gives the jobs that wait, run, or failed for good."""
        return tuple(self._engine.read(lambda seen: seen.jobs(place, op.limit)))

    def work(self, op: ops.Work, place: Place) -> int:
        """Does the jobs of the store that are due, and sweeps; gives how many jobs were done."""
        self.worker.sweep()
        return self.worker.drain()

    def replay(self, op: ops.Replay, place: Place) -> bool:
        """Lets a job that failed for good be tried again; says whether there was one."""
        now = self._clock()
        done = self._write(op, place, lambda tx: tx.replay(place, op.id, now))
        self.worker.wake()
        return done


def _resolved(tx: Transaction, op: ops.Resolve, place: Place, now: datetime) -> Remembered:
    kept = keeping.current(tx, place, op.id, now)
    found = {*tx.links(place, op.id, CONFLICT), *tx.linked(place, op.id, CONFLICT)}
    others = sorted(found if not op.over else found & set(op.over))
    if not others:
        raise Conflict(f"The memory {op.id} is in no such conflict.", "`recall` shows them.")
    for id in others:
        judging.resolve(tx, place, kept, id, op.both, now)
    return Remembered(op.id, created=False, superseded=() if op.both else tuple(others))


def _rolled_back(tx: Transaction, op: ops.Rollback, place: Place, now: datetime) -> RolledBack:
    since = op.since or ALWAYS
    first, again = tx.told_by(place, op.source, since)
    tx.untell(place, op.source, since)
    removed, revived, kept = set[str](), set[str](), set(again)
    for id in first:
        others = [it for it in tx.tellings(place, id) if not it.told_by(op.source)]
        if others:  # somebody else says so, too
            tx.change(place, replace(tx.versions(place, id)[-1], source=others[0]))
            kept.add(id)
            continue
        for one in reversed(keeping.derived(tx, place, [id])):
            revived |= set(keeping.undo(tx, place, one, now))
            tx.forget(place, one)
            removed.add(one)
    for id, draft, *_ in tx.held(place, None, HELD_MOST):
        if _by(draft, op.source):
            tx.release(place, id)
    gone = len(removed)
    return RolledBack(removed=gone, revived=len(revived - removed), kept=len(kept - removed))


def record(told: ops.Draft, place: Place, id: str, now: datetime) -> Record:
    """The record of something told now."""
    return Record(
        id=told.id or id,
        scope=place.scope,
        content=told.content,
        kind=told.kind,
        tags=told.tags,
        meta=told.meta,
        session=told.session,
        source=told.source,
        pinned=told.pinned,
        created_at=now,
        happened_at=told.happened_at or now,
        expires_at=lifetime.expiry(now, told.kind, told.ttl, told.pinned),
        avoid=told.avoid,
    )


def _digest(session: str | None, turn: Turn, number: int) -> bytes:
    """A turn of a session, the same when it is told again; without a session, its place counts."""
    said = (session, turn.speaker, turn.role, turn.text, turn.id or (None if session else number))
    return hashlib.blake2b(wire.dumps(said).encode(), digest_size=16).digest()


def _fresh(seen: Snapshot, place: Place, digests: Sequence[bytes]) -> set[int]:
    return {number for number, digest in enumerate(digests) if not seen.heard(place, digest)}


def _source(op: ops.Extract, numbers: Sequence[int]) -> Source | None:
    """Who said it: the least trusted of those whose turns it came from."""
    turns = [op.turns[number] for number in numbers]
    said = [Source(turn.speaker or turn.role, _role(turn), turn.id) for turn in turns]
    found = trust.least(said) or said[-1]
    last = turns[-1]
    told = Source(last.speaker or last.role, found.role, _message(op, numbers[-1]))
    return trust.said(told, op.voice)


def _message(op: ops.Extract, number: int) -> str:
    """What names a message: its id, or its place in the session."""
    return op.turns[number].id or f"{op.session or 'conversation'}#{number}"


def _role(turn: Turn) -> str:
    return turn.role if turn.role in trust.TRUST else "document"


def _told(op: ops.Extract, learning: Learning, now: datetime) -> ops.Draft:
    meta: dict[str, Any] = {} if learning.about is None else {"about": learning.about}
    if len(learning.turns) > 1:
        meta["messages"] = [_message(op, number) for number in learning.turns]
    return ops.Draft(
        content=learning.content,
        kind=learning.kind,
        meta=meta,
        session=op.session,
        source=_source(op, learning.turns),
        happened_at=learning.happened_at or now,
        avoid=learning.avoid,
        reconcile=True,
    )


def _told_turn(op: ops.Extract, number: int, now: datetime) -> ops.Draft:
    turn = op.turns[number]
    words = turn.text.encode()[: check.CONTENT_BYTES].decode(errors="ignore")
    return ops.Draft(
        content=words,
        kind=TURN,
        session=op.session,
        source=_source(op, [number]),
        happened_at=turn.at or now,
    )


def _held(id: str, draft: str, why: str, at: datetime) -> Held:
    told = wire.loads(ops.Draft, draft)
    reasons = tuple(wire.parse(why))
    return Held(id=id, content=told.content, source=told.source, why=reasons, at=at)


def _by(draft: str, writer: str) -> bool:
    source = wire.loads(ops.Draft, draft).source
    return source is not None and source.told_by(writer)
