"""Many memories become one that stands for them: what says the same, and long trails of turns.

A summary and the retiring of its sources are one write: until it is durable they are current, and
from then on they are its past, which `dissolve` brings back.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast import keeping, ops, sentences, slots, text, trust
from holdfast.engine import Draft, Place, Snapshot, Transaction
from holdfast.errors import Conflict
from holdfast.extract import Extractor, paraphrase
from holdfast.keeping import CONFLICT, FROM, SUMS, TURN
from holdfast.model import Learning, Record, Turn

TRAIL_LEAST = 20  # turns of a session that are worth a summary
SUMMARY_TOKENS = 800  # of one summary; a longer trail gets several, one after the other
LAST_ROW = 2**62
PAGE = 1000


@dataclass(frozen=True, slots=True)
class Sum:
    """What is to be remembered in the place of its sources."""

    told: ops.Draft
    sources: tuple[Record, ...]

    def counted(self, record: Record) -> Record:
        """The record of the summary, as much in use as its sources together."""
        used = [one.last_used_at for one in self.sources if one.last_used_at]
        uses = sum(one.uses for one in self.sources)
        return replace(record, uses=uses, last_used_at=max(used, default=None))


def current(seen: Snapshot, place: Place, session: str | None, now: datetime) -> list[Record]:
    """The memories that may be summed up, oldest first: neither pinned nor with an end."""
    found: list[Record] = []
    before = LAST_ROW
    while page := seen.page(place, ops.where(session=session), None, now, before, PAGE):
        found += [one for _, one in page if not one.pinned and one.expires_at is None]
        before = page[-1][0]
    return found[::-1]


# --- what says the same ---


def alike(records: Sequence[Record]) -> list[Sum]:
    """Sums of memories that say the same in other words, of writers who are trusted alike."""
    rooms: dict[tuple[str, bool, float], list[Record]] = defaultdict(list)
    for one in records:
        if one.kind != TURN and len(one.content) <= slots.MOST_LETTERS:
            role = one.source.role if one.source else None
            rooms[one.kind, one.avoid, trust.of(role)].append(one)
    found = []
    for these in rooms.values():
        statements = [keeping.statement(one) for one in these]
        for group in paraphrase.groups(statements):
            words = paraphrase.worded([statements[number] for number in group])
            found.append(_same([these[number] for number in group], words))
    return found


def _same(sources: Sequence[Record], words: str) -> Sum:
    last, sessions = sources[-1], {one.session for one in sources}
    told = ops.Draft(
        content=words,
        kind=last.kind,
        tags=tuple(dict.fromkeys(tag for one in sources for tag in one.tags)),
        meta={key: value for one in sources for key, value in one.meta.items()},
        session=last.session if len(sessions) == 1 else None,
        source=trust.least(one.source for one in sources),
        happened_at=max(one.happened_at for one in sources),
        avoid=last.avoid,
    )
    return Sum(told, tuple(sources))


# --- long trails ---


def trails(records: Sequence[Record], extractor: Extractor, now: datetime) -> list[Sum]:
    """Sums of the raw turns of sessions that are long enough."""
    found: dict[str, list[Record]] = defaultdict(list)
    for one in records:
        if one.kind == TURN and one.session is not None:
            found[one.session].append(one)
    long = [turns for turns in found.values() if len(turns) >= TRAIL_LEAST]
    return [part for turns in long for part in _trail(turns, extractor, now)]


def _trail(turns: Sequence[Record], extractor: Extractor, now: datetime) -> list[Sum]:
    """What a trail of turns comes to, in its own words; of a very long one part after part."""
    said = [Turn(one.content, one.writer, "user", one.happened_at) for one in turns]
    parts, used = list[list[Learning]](), SUMMARY_TOKENS
    for learning in sorted(extractor.extract(said, now), key=lambda it: it.turns[-1]):
        used += text.tokens(learning.content)
        if used > SUMMARY_TOKENS:
            parts.append([])
            used = text.tokens(learning.content)
        parts[-1].append(learning)
    starts = [part[0].turns[-1] for part in parts[1:]]
    ends = zip([0, *starts], [*starts, len(turns)], strict=True)
    return [
        _summary(part, turns[start:end])
        for part, (start, end) in zip(parts, ends if parts else (), strict=True)
        if end > start
    ]


def _summary(learnings: Sequence[Learning], turns: Sequence[Record]) -> Sum:
    told = ops.Draft(
        content=" ".join(sentences.ended(learning.content) for learning in learnings),
        kind="episodic",
        session=turns[-1].session,
        source=trust.least(one.source for one in turns),
        happened_at=turns[-1].happened_at,
    )
    return Sum(told, tuple(turns))


# --- writing ---


def written(tx: Transaction, place: Place, sum: Sum, draft: Draft, now: datetime) -> int:
    """Writes a summary and retires its sources; gives how many, or 0 if any changed meanwhile."""
    last = [tx.versions(place, one.id)[-1:] for one in sum.sources]
    still = [some[0] for some in last if some and some[0].until is None]
    same = [(one.id, one.version) for one in still] == [(it.id, it.version) for it in sum.sources]
    if not same or any(_disputed(tx, place, one.id) for one in still):
        return 0
    id = draft.record.id
    for one in still:
        tx.change(place, replace(one, until=now, superseded_by=id))
    if tx.twin(place, draft.fingerprint) is not None:  # somebody else says it so, word for word
        return _undone(tx, place, still)
    tx.insert(place, draft)
    for one in still:
        _tied(tx, place, id, one, draft.record, now)
    return len(still)


def _undone(tx: Transaction, place: Place, sources: Sequence[Record]) -> int:
    for one in sources:
        tx.change(place, one)
    return 0


def _disputed(seen: Snapshot, place: Place, id: str) -> bool:
    return bool(seen.links(place, id, CONFLICT) or seen.linked(place, id, CONFLICT))


def _tied(
    tx: Transaction, place: Place, id: str, one: Record, summary: Record, now: datetime
) -> None:
    """Links a summary to a source, to what that came from, and to who told it."""
    tx.link(place, id, SUMS, one.id)
    for turn in tx.links(place, one.id, FROM):
        tx.link(place, id, FROM, turn)
    if one.kind == TURN:
        return
    for source in (one.source, *tx.tellings(place, one.id)):
        if source is not None and source != summary.source:
            tx.tell(place, id, source, now)


def check(seen: Snapshot, place: Place, id: str) -> None:
    """Makes sure that a summary can be dissolved."""
    if not seen.links(place, id, SUMS):
        raise Conflict(f"The memory {id!r} is no summary.", "`consolidate` names those it makes.")
    *before, last = seen.versions(place, id)
    if last.superseded_by and id in keeping.stands_for(seen, place, last.superseded_by):
        raise Conflict(
            f"The summary {id!r} is summed up itself.", f"Dissolve {last.superseded_by} first."
        )
    if any(one.superseded_by for one in before):
        raise Conflict(
            f"The summary {id!r} was corrected since: its sources say what is no longer true.",
            "Revise it.",
        )
