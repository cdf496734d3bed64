"""What waits in an outbox, as if it had been done: answers to writes, hits, entries.

What is told of a write that waits has version 0, which nothing stored has.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from holdfast import context, ops, text
from holdfast.errors import NotFound
from holdfast.model import (
    Entry,
    Extracted,
    Filter,
    Hit,
    Recalled,
    Receipt,
    Record,
    Remembered,
    Source,
    Why,
)

WAITS = 0  # the version of what waits
JOB = "outbox"  # the job of a conversation that waits: learning begins when it was sent
AWAY = "the server cannot be reached: these are memories that wait to be sent"
SOME = "some of these memories wait to be sent"


def named(op: ops.Write[Any]) -> ops.Write[Any]:
    """A remember with its ids chosen, so that they are known before the server is.

    The same call with the same idempotency key has the same ids, so that a retry is one.
    """
    if isinstance(op, ops.Remember):
        return replace(op, draft=_with_id(op, op.draft, 0))
    if isinstance(op, ops.RememberMany):
        drafts = tuple(_with_id(op, draft, number) for number, draft in enumerate(op.drafts))
        return replace(op, drafts=drafts)
    return op


def _with_id(op: ops.Write[Any], draft: ops.Draft, number: int) -> ops.Draft:
    if draft.id is not None:
        return draft
    told = json.dumps([op.scope, op.idempotency_key, number, draft.content])
    bits = int.from_bytes(hashlib.blake2b(told.encode(), digest_size=16).digest(), "big")
    bits = bits & ~(0xF << 76) | 8 << 76  # UUID version 8: made by a rule of our own
    text = f"{bits & ~(3 << 62) | 2 << 62:032x}"
    parts = (text[:8], text[8:12], text[12:16], text[16:20], text[20:])
    return replace(draft, id="-".join(parts))


# What puts right or approves is decided on what is stored now: it is done now, or not at all.
CAN_WAIT = (
    *(ops.Remember, ops.RememberMany, ops.Revise, ops.Forget, ops.Extract),
    *(ops.Set, ops.Append, ops.Increment, ops.Delete),
)


def can_wait(op: ops.Write[Any]) -> bool:
    """False for a write that depends on what is stored: nobody can say what it will do."""
    return isinstance(op, CAN_WAIT) and getattr(op, "if_version", None) is None


def dated(op: ops.Write[Any], now: datetime, key: str) -> ops.Write[Any]:
    """A conversation with its time, so that "yesterday" is the day before it was said.

    It is another call with that, so it has another key; turns are learned from once in any case.
    """
    if not isinstance(op, ops.Extract) or all(turn.at for turn in op.turns):
        return op
    turns = tuple(replace(turn, at=turn.at or now) for turn in op.turns)
    return replace(op, turns=turns, idempotency_key=key)


def provisional(op: ops.Write[Any], now: datetime) -> Any:
    """The answer to a write that waits, as far as it can be known."""
    match op:
        case ops.Remember():
            return Remembered(str(op.draft.id), created=True)
        case ops.RememberMany():
            return tuple(Remembered(str(draft.id), created=True) for draft in op.drafts)
        case ops.Revise():
            return Record(
                id=op.id,
                scope=op.scope,
                content=op.content,
                version=WAITS,
                created_at=now,
                happened_at=now,
            )
        case ops.Forget():
            return Receipt(memories=0, states=0, at=now, digest="")
        case ops.Extract():
            return Extracted(job=JOB)
        case ops.Set():
            return _entry(op, op.value, now)
        case ops.Append():
            return _entry(op, [op.item], now)
        case ops.Increment():
            return _entry(op, op.by, now)
        case _:
            return True


def _entry(op: ops.Change, value: Any, now: datetime) -> Entry:
    ends = None if op.ttl is None else now + op.ttl
    return Entry(key=op.key, value=value, version=WAITS, updated_at=now, expires_at=ends)


def entry(op: ops.Get, waiting: Sequence[ops.Write[Any]], now: datetime) -> Entry | None:
    """The entry under a key if the last write that waits says it; None if the server must."""
    for write in reversed(waiting):
        if isinstance(write, ops.Forget) and write.everything:
            raise NotFound(f"There is no key {op.key!r} here.", "`keys` lists those there are.")
        if not isinstance(write, ops.Key) or write.key != op.key:
            continue
        if isinstance(write, ops.Delete):
            raise NotFound(f"There is no key {op.key!r} here.", "`keys` lists those there are.")
        return _entry(write, write.value, now) if isinstance(write, ops.Set) else None
    return None


def recalled(
    op: ops.Recall, found: Recalled | None, waiting: Sequence[ops.Write[Any]], now: datetime
) -> Recalled:
    """What the server found, if it could be asked, with what waits and answers the query too."""
    if op.scopes != (op.scope,) or op.as_of is not None:
        ours: list[Hit] = []
    else:
        ours = _hits(op, _drafts(waiting), now)
    theirs = [] if found is None else list(found.hits)
    known = {hit.content for hit in theirs}
    more = [hit for hit in ours if hit.content not in known]
    hits = sorted([*theirs, *more], key=lambda hit: -hit.score)[: op.limit]
    if found is None:
        return Recalled(hits=tuple(hits), degraded=AWAY)
    degraded = found.degraded or (SOME if more else None)
    return replace(
        found, hits=tuple(hits), abstained=not hits and found.abstained, degraded=degraded
    )


def rendered(found: Recalled, budget: int) -> str:
    """A block for a prompt, what to avoid first; as a server renders what it finds."""
    apart = {hit.id for hit in found.avoid}
    hits = [*found.avoid, *(hit for hit in found.hits if hit.id not in apart)]
    return context.render(context.chosen(hits, budget))


def _drafts(waiting: Sequence[ops.Write[Any]]) -> list[ops.Draft]:
    """The memories that will be there once all of this was done."""
    drafts: dict[str, ops.Draft] = {}
    for write in waiting:
        match write:
            case ops.Remember():
                drafts[str(write.draft.id)] = write.draft
            case ops.RememberMany():
                drafts |= {str(draft.id): draft for draft in write.drafts}
            case ops.Extract():
                drafts |= {str(draft.id): draft for draft in _turns(write)}
            case ops.Revise() if write.id in drafts:
                drafts[write.id] = replace(drafts[write.id], content=write.content)
            case ops.Forget(id=str(id)):
                drafts.pop(id, None)
            case ops.Forget():
                drafts = {
                    id: draft
                    for id, draft in drafts.items()
                    if not (write.everything or _fits(draft, write.where))
                }
    return list(drafts.values())


def _turns(op: ops.Extract) -> list[ops.Draft]:
    """What was said in a conversation that waits: what will be learned of it is not known yet."""
    return [
        ops.Draft(
            content=turn.text,
            kind="interaction",
            session=op.session,
            source=Source(turn.speaker or turn.role),
            happened_at=turn.at,
            id=f"{op.idempotency_key}#{number}",
        )
        for number, turn in enumerate(op.turns)
        if turn.text.strip()
    ]


def _hits(op: ops.Recall, drafts: Sequence[ops.Draft], now: datetime) -> list[Hit]:
    """By the share of the query's words that each has: there is no index to ask."""
    wanted = set(text.terms(op.query))
    hits = []
    for draft in drafts:
        matched = wanted & set(text.terms(draft.content))
        share = len(matched) / len(wanted) if wanted else 0.0
        least = 0.5 if op.min_score is None else op.min_score
        score = op.weights.similarity * share + op.weights.recency
        if _fits(draft, op.where) and matched and max(share, score) >= least:
            why = Why(
                similarity=share,
                recency=1.0,
                frequency=0.0,
                words=share,
                meaning=None,
                matched=tuple(sorted(matched)),
            )
            hits.append(Hit(_record(draft, op.scope, now), score, why))
    return hits


def _record(draft: ops.Draft, scope: str, now: datetime) -> Record:
    return Record(
        id=str(draft.id),
        scope=scope,
        content=draft.content,
        kind=draft.kind,
        tags=draft.tags,
        meta=draft.meta,
        session=draft.session,
        source=draft.source,
        pinned=draft.pinned,
        created_at=now,
        happened_at=draft.happened_at or now,
        version=WAITS,
    )


def _fits(draft: ops.Draft, where: Filter) -> bool:
    at = draft.happened_at
    return (
        (not where.kinds or draft.kind in where.kinds)
        and set(where.tags) <= set(draft.tags)
        and where.session in (None, draft.session)
        and where.source in (None, draft.source.writer if draft.source else None)
        and (where.since is None or at is None or at >= where.since)
        and (where.until is None or (at is not None and at < where.until))
        and all(draft.meta.get(key) == value for key, value in where.meta.items())
    )
