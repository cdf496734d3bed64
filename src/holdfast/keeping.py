"""How a memory comes to rest beside those that are known: kept, joined, superseding, in conflict.

Functions of a transaction: each is all or nothing with the write that it belongs to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType

from holdfast import lifetime, ops, portable, sentences, slots, suspicion, text, trust, wire
from holdfast.engine import Draft, Place, Snapshot, Transaction, Vectors
from holdfast.engine import Space as Space_
from holdfast.errors import Conflict, NotFound, Refused
from holdfast.extract.reconcile import Statement, Verdict, better, judged, remainder
from holdfast.model import Policy, Record, Remembered, Source

FROM, SUMS, CONFLICT, OUTDATED = portable.RELATIONS  # a source, a summed-up one, and so on
TURN = "interaction"  # the kind of a raw turn
LAST = 2**62
SLOTTED = 500  # memories whose slots are read in one write
MOST_SENTENCES = 4  # a longer memory tells a story, not a fact


def indexed(record: Record, vectors: Vectors | None, space: Space_ | None) -> Draft:
    """A record with what is indexed of it."""
    speaker = text.speaker(record.writer, record.content)
    words = text.terms(record.content), text.fingerprint(record.content)
    return Draft(record, *words, speaker, vectors, space)


def stated(record: Record) -> tuple[slots.Slot, ...]:
    """What a memory says of whom; raw turns only quote."""
    if record.kind == TURN or len(record.content) > MOST_SENTENCES * slots.MOST_LETTERS:
        return ()
    parts = sentences.split(record.content)
    if len(parts) > MOST_SENTENCES:
        return ()
    return tuple(dict.fromkeys(slot for part in parts for slot in slots.of(part, record.writer)))


def slotted(tx: Transaction, place: Place, limit: int) -> int:
    """Reads the slots off memories that have none yet; gives how many memories it read."""
    found = tx.unslotted(place, limit)
    for row, one in found:
        tx.slot(place, row, one.id, stated(one) if one.until is None else ())
    return len(found)


def unread(seen: Snapshot, place: Place, before: int, now: datetime) -> tuple[list[Record], int]:
    """Of some current memories whose slots were read, those that lack some; and where to go on.

    A newer version may read more out of the same words than the one that wrote them.
    """
    waiting = seen.unslotted(place, 1)
    before = min(before, waiting[0][0]) if waiting else before
    page = seen.page(place, ops.where(), None, now, before, SLOTTED)
    lack = seen.unindexed(place, {one.id: stated(one) for _, one in page})
    return [one for _, one in page if one.id in lack], page[-1][0] if page else 0


def read_again(tx: Transaction, place: Place, records: Sequence[Record]) -> int:
    """Reads the slots off memories once more; gives how many still were as they had been."""
    still = [one for one in records if tx.versions(place, one.id)[-1:] == [one]]
    for one in still:
        tx.slot(place, 0, one.id, stated(one))
    return len(still)


def revise(tx: Transaction, place: Place, past: Record, draft: Draft) -> None:
    """Gives a memory new words, and what they say of whom."""
    tx.revise(place, past, draft)
    tx.slot(place, 0, draft.record.id, stated(draft.record))


def policy(seen: Snapshot, place: Place) -> Policy:
    """What a place does with writings."""
    held = seen.policy(place)
    return Policy() if held is None else wire.loads(Policy, held)


def keep(
    tx: Transaction,
    place: Place,
    told: ops.Draft,
    draft: Draft,
    now: datetime,
    ended: Mapping[str, str | None] = MappingProxyType({}),
) -> Remembered:
    """Keeps something told, as the policy of its place says and beside what is known there.

    `ended` are the ids of what it was read to end, each with what is left of it.
    """
    rules = policy(tx, place)
    role = told.source.role if told.source else None
    action, why = trust.decided(rules, role, told.content)
    if action == trust.REJECT:
        raise Refused(f"This scope does not take that: {', '.join(why)}.", "Leave it out.")
    redacted = rules.secrets == "redact" and suspicion.secret(told.content)
    if redacted:
        told = replace(told, content=suspicion.redacted(told.content))
        draft = indexed(replace(draft.record, content=told.content), None, None)
    if action == trust.HOLD:
        kept = wire.dumps(replace(told, id=draft.record.id))
        tx.hold(place, draft.record.id, kept, wire.dumps(why), now)
        return Remembered(draft.record.id, created=False, held=True)
    done = settle(tx, place, told, draft, now, ended)
    return replace(done, redacted=True) if redacted else done


def settle(
    tx: Transaction,
    place: Place,
    told: ops.Draft,
    draft: Draft,
    now: datetime,
    ended: Mapping[str, str | None] = MappingProxyType({}),
) -> Remembered:
    """Keeps something that may be kept."""
    known = portable.live_twin(tx, place, draft.fingerprint, now)
    if known is not None:
        reinforce(tx, place, known, draft.record, now)
        return Remembered(known.id, created=False, superseded=_named(tx, place, told, known, now))
    if told.id is not None:
        _free(tx, place, told.id, now)
    if policy(tx, place).reconcile if told.reconcile is None else told.reconcile:
        while slotted(tx, place, SLOTTED):  # those told since, by writers who do not reconcile
            pass
        return _reconciled(tx, place, told, draft, now, ended)
    tx.insert(place, draft)
    done = _named(tx, place, told, draft.record, now)
    return Remembered(draft.record.id, created=True, superseded=done)


def _free(tx: Transaction, place: Place, id: str, now: datetime) -> None:
    """Makes sure that an id can be taken."""
    versions = tx.versions(place, id)
    if versions and lifetime.alive(versions[-1].expires_at, now):
        raise Conflict(f"The id {id!r} is taken by other words.", "Use revise to change them.")
    tx.forget(place, id)


def reinforce(tx: Transaction, place: Place, known: Record, told: Record, now: datetime) -> None:
    """Counts a memory told again, and who told it; what only claims adds nothing of its own."""
    claims = trust.of_source(told.source) < trust.CLAIM and _weaker(told, known)
    tx.change(place, lifetime.reinforced(known, known if claims else told, now))
    again = (told.source, told.source and told.source.via)
    if told.source and again != (known.source, known.source and known.source.via):
        tx.tell(place, known.id, told.source, now)


def _weaker(new: Record, known: Record) -> bool:
    """Whether a memory is told by a less trusted writer than another."""
    return trust.of_source(new.source) < trust.of_source(known.source)


def _named(
    tx: Transaction, place: Place, told: ops.Draft, new: Record, now: datetime
) -> tuple[str, ...]:
    """Supersedes the memories that a writer says are replaced."""
    for id in told.supersedes:
        old = current(tx, place, id, now)
        summary = old.superseded_by
        if summary is not None and id in stands_for(tx, place, summary):
            dissolve(tx, place, summary, now)
            old = current(tx, place, id, now)
        if old.until is None and id != new.id:
            supersede(tx, place, old, new, now)
    return told.supersedes


def current(seen: Snapshot, place: Place, id: str, now: datetime) -> Record:
    """The last version of a memory; `NotFound` if there is none, or it has expired."""
    versions = seen.versions(place, id)
    if not versions or not lifetime.alive(versions[-1].expires_at, now):
        raise NotFound(f"There is no memory {id!r} here.", "List them to see their ids.")
    return versions[-1]


# --- reconciling ---


def _reconciled(
    tx: Transaction,
    place: Place,
    told: ops.Draft,
    draft: Draft,
    now: datetime,
    ended: Mapping[str, str | None],
) -> Remembered:
    """Keeps something told as what it is to those that are known."""
    new = draft.record
    slotted(tx, place, LAST)  # what was told in this very write
    found = (*tx.alike(place, stated(new)), *_still(tx, place, list(ended)))
    known = {old.id: old for old in found if lifetime.alive(old.expires_at, now)}
    verdict = judged(statement(new), [statement(old) for old in known.values()], ended)
    if verdict.same is not None and not verdict.corrects:
        return _joined(tx, place, known[verdict.same], draft, now)
    if verdict.newer is not None:
        past = known[verdict.newer]
        until = max(lifetime.known_from(past), lifetime.known_from(new))
        new = replace(new, until=until, superseded_by=past.id)
    tx.insert(place, replace(draft, record=new))
    for id in verdict.corrects:
        correct(tx, place, known[id], new, now, ended.get(id))
    return _applied(tx, place, told, new, verdict, now)


def _still(tx: Transaction, place: Place, ids: Sequence[str]) -> list[Record]:
    """Those of some memories that are current: others may have been ended meanwhile."""
    last = (one for id in ids for one in tx.versions(place, id)[-1:])
    return [one for one in last if one.until is None]


def _applied(
    tx: Transaction,
    place: Place,
    told: ops.Draft,
    new: Record,
    verdict: Verdict,
    now: datetime,
) -> Remembered:
    for id in verdict.unclear:
        tx.link(place, new.id, CONFLICT, id)
    done = (*verdict.corrects, *_named(tx, place, told, new, now))
    return Remembered(
        new.id, created=True, superseded=tuple(dict.fromkeys(done)), conflicts=verdict.unclear
    )


def statement(record: Record) -> Statement:
    """A memory as what decides whether it contradicts another."""
    source = record.source or Source("", "agent")
    since = lifetime.known_from(record)
    return Statement(
        record.id,
        record.content,
        stated(record),
        since,
        source.writer or None,
        source.role,
        record.pinned,
    )


def _joined(
    tx: Transaction, place: Place, known: Record, draft: Draft, now: datetime
) -> Remembered:
    """Joins a paraphrase with what is known: counted, its source added, the better words kept."""
    new = draft.record
    if better(new.content, known.content) and not _weaker(new, known):
        worded = replace(known, content=new.content, version=known.version + 1, created_at=now)
        revise(tx, place, replace(known, until=now), replace(draft, record=worded))
        known = worded
    reinforce(tx, place, known, new, now)
    return Remembered(known.id, created=False)


# --- superseding ---


def correct(
    tx: Transaction, place: Place, old: Record, new: Record, now: datetime, left: str | None = None
) -> None:
    """Supersedes a memory, or that part of it which no longer holds; `left` is the rest of it."""
    rest = remainder(old.content, old.writer, stated(new)) or left
    if rest is None or tx.twin(place, text.fingerprint(rest)) is not None:
        supersede(tx, place, old, new, now)
        return
    until = max(new.happened_at, lifetime.known_from(old))
    worded = replace(old, content=rest, version=old.version + 1)
    ended = replace(old, until=until, superseded_by=new.id)
    revise(tx, place, ended, indexed(worded, None, None))
    for turn in tx.links(place, old.id, FROM):
        tx.link(place, turn, OUTDATED, new.id)


def supersede(tx: Transaction, place: Place, old: Record, new: Record, now: datetime) -> None:
    """Makes a memory past from the moment that a newer one is true; what hangs on it follows."""
    until = max(new.happened_at, lifetime.known_from(old))
    _end(tx, place, old, new.id, until)
    for id in tx.linked(place, old.id, FROM):
        for derived in tx.versions(place, id)[-1:]:
            if derived.until is None and id != new.id:
                _end(tx, place, derived, new.id, until)
    for id in tx.linked(place, old.id, SUMS):
        dissolve(tx, place, id, now)
    for turn in tx.links(place, old.id, FROM):
        _outdate(tx, place, turn, new.id, until)


def _end(tx: Transaction, place: Place, old: Record, by: str, until: datetime) -> None:
    tx.change(place, replace(old, until=until, superseded_by=by))
    for way in (tx.links, tx.linked):
        for other in way(place, old.id, CONFLICT):
            tx.unlink(place, old.id, CONFLICT, other)
            tx.unlink(place, other, CONFLICT, old.id)


def _outdate(tx: Transaction, place: Place, id: str, by: str, until: datetime) -> None:
    """Marks a raw turn that still says the old thing; past, once nothing it says is current."""
    for one in (id, *tx.linked(place, id, SUMS)):  # a summary of it says so, too
        tx.link(place, one, OUTDATED, by)
    learned = [tx.versions(place, other)[-1:] for other in tx.linked(place, id, FROM)]
    turn = tx.versions(place, id)[-1:]
    if turn and turn[0].until is None and all(it.until for some in learned for it in some):
        _end(tx, place, turn[0], by, until)


def revive(tx: Transaction, place: Place, by: str) -> list[str]:
    """Makes true again what a memory superseded; gives their ids."""
    revived = []
    for old in tx.replaced(place, by):
        if tx.twin(place, text.fingerprint(old.content)) is None:
            again = replace(old, until=None, superseded_by=None)
            tx.change(place, again)
            tx.slot(place, 0, old.id, stated(again))  # what was past when it came has none
            revived.append(old.id)
    return revived


def dissolve(tx: Transaction, place: Place, summary: str, now: datetime) -> list[str]:
    """Undoes a summary: its sources are current again, and it is past; gives their ids.

    If something newer ended the summary, it ended what that stood for.
    """
    record = tx.versions(place, summary)[-1]
    if record.until is not None:
        for old in tx.replaced(place, summary):
            tx.change(place, replace(old, until=record.until, superseded_by=record.superseded_by))
        return []
    tx.change(place, replace(record, until=now))  # before them: one may have its very words
    return revive(tx, place, summary)


def stands_for(seen: Snapshot, place: Place, id: str) -> list[str]:
    """The memories that a summary stands for."""
    return [one for one in seen.links(place, id, SUMS) if _retired_by(seen, place, one, id)]


def _retired_by(seen: Snapshot, place: Place, id: str, summary: str) -> bool:
    return any(one.superseded_by == summary for one in seen.versions(place, id)[-1:])


def undo(tx: Transaction, place: Place, id: str, now: datetime) -> list[str]:
    """Makes true again what a memory superseded or stands for; gives their ids."""
    summary = bool(stands_for(tx, place, id))
    return dissolve(tx, place, id, now) if summary else revive(tx, place, id)


def forget(tx: Transaction, place: Place, ids: Sequence[str], now: datetime) -> list[str]:
    """Removes memories, what is derived from them, and what they stand for; gives their ids.

    A summary that loses one of its sources goes, and the others are current again.
    """
    tied = tx.any_links(place)
    asked = _summed(tx, place, ids) if tied else list(ids)
    every = derived(tx, place, asked) if tied else asked
    for id in every[: len(asked) - 1 : -1]:  # a summary of summaries before those
        if stands_for(tx, place, id):
            dissolve(tx, place, id, now)
    for id in every:
        tx.forget(place, id)
    return every


def _summed(seen: Snapshot, place: Place, ids: Iterable[str]) -> list[str]:
    """Memories and all that they stand for, each once."""
    found = dict.fromkeys(ids)
    queue = list(found)
    while queue:
        fresh = [id for id in stands_for(seen, place, queue.pop()) if id not in found]
        found |= dict.fromkeys(fresh)
        queue += fresh
    return list(found)


def derived(seen: Snapshot, place: Place, ids: Iterable[str]) -> list[str]:
    """Memories and all that are derived from them, each once."""
    found = dict.fromkeys(ids)
    queue = list(found)
    while queue:
        one = queue.pop()
        more = [*seen.linked(place, one, FROM), *seen.linked(place, one, SUMS)]
        fresh = [id for id in more if id not in found]
        found |= dict.fromkeys(fresh)
        queue += fresh
    return list(found)


def past(seen: Snapshot, place: Place, id: str) -> list[Record]:
    """All versions of what a memory superseded, and of what that did, oldest first."""
    found: list[Record] = []
    seen_ids = {id}
    for old in seen.replaced(place, id):
        if old.id not in seen_ids:
            seen_ids.add(old.id)
            found += [*past(seen, place, old.id), *seen.versions(place, old.id)]
    return found


@dataclass(frozen=True, slots=True)
class Marks:
    """What else is to be known of a hit."""

    conflicts: tuple[str, ...] = ()
    outdated_by: tuple[str, ...] = ()
    confirmed: int = 1


def marks(seen: Snapshot, place: Place, record: Record, linked: bool) -> Marks:
    """What else is to be known of a memory that was found."""
    conflicts: Sequence[str] = ()
    outdated: Sequence[str] = ()
    if linked:
        either = (*seen.links(place, record.id, CONFLICT), *seen.linked(place, record.id, CONFLICT))
        conflicts = sorted(set(either))
        outdated = seen.links(place, record.id, OUTDATED)
    writers = {record.source.writer} if record.source else set()
    if trust.of_source(record.source) < trust.CLAIM:
        writers |= {source.writer for source in seen.tellings(place, record.id)}
    return Marks(tuple(conflicts), tuple(outdated), max(1, len(writers)))
