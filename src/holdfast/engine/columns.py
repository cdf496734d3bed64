"""Columns and the values they hold: times, JSON, records, entries, the books of a server."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta, timezone
from typing import Any

from holdfast.engine import Draft, Place, Vectors
from holdfast.engine.ledger import ApiKey, Job, Noted
from holdfast.model import Entry, Record, Source

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
MICROSECOND = timedelta(microseconds=1)

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def stamp(moment: datetime) -> int:
    """A time as it is stored."""
    return (moment - EPOCH) // MICROSECOND


def maybe_stamp(moment: datetime | None) -> int | None:
    """A time as it is stored, or None."""
    return None if moment is None else stamp(moment)


def moment(stamped: int) -> datetime:
    """A time as it was."""
    return EPOCH + stamped * MICROSECOND


def maybe_moment(stamped: int | None) -> datetime | None:
    """A time as it was, or None."""
    return None if stamped is None else moment(stamped)


def compact(value: Any) -> str:
    """A value as JSON."""
    return _ENCODER.encode(value)


def digest(words: str) -> bytes:
    """16 bytes that stand for words without telling them."""
    return hashlib.blake2b(words.encode(), digest_size=16).digest()


def record(row: Any, scope: str, used: tuple[int, int] = (0, 0)) -> Record:
    """The record a row holds; `used`: how often more than it says, and when last."""
    # By place, as `statements.RECORD` has them: by name it would take twice as long.
    _, _, id, version, kind, pinned, created_at, happened_at, expires_at, until, *rest = row
    superseded_by, uses, last_used_at, session, writer, role, message, *rest = rest
    tags, meta, content, avoid, via = rest
    more, last = used
    return Record(
        id=id,
        scope=scope,
        content=content,
        kind=kind,
        tags=() if tags == "[]" else tuple(json.loads(tags)),
        meta={} if meta == "{}" else json.loads(meta),
        session=session,
        source=_source(writer, role, message, via),
        pinned=bool(pinned),
        created_at=moment(created_at),
        happened_at=moment(happened_at),
        expires_at=maybe_moment(expires_at),
        version=version,
        until=maybe_moment(until),
        superseded_by=superseded_by,
        uses=uses + more,
        last_used_at=maybe_moment(last if more else last_used_at),
        avoid=bool(avoid),
    )


def _source(
    writer: str | None, role: str | None, message: str | None, via: str | None
) -> Source | None:
    """The source that a row holds."""
    if writer is None and via is None:
        return None
    return Source(writer or "", role or "agent", message, via)


def changeable(rec: Record) -> tuple[Any, ...]:
    """The columns of a record that can change without its words."""
    source = rec.source or Source("")
    # Nobody named is believed as an agent, but is not one: a question about agents is not for it.
    role = source.role if source.writer or source.role != "agent" else None
    return (
        rec.kind,
        compact(rec.tags) if rec.tags else "[]",
        compact(rec.meta) if rec.meta else "{}",
        rec.session,
        source.writer or None,
        role,
        source.message,
        int(rec.pinned),
        stamp(rec.created_at),
        stamp(rec.happened_at),
        maybe_stamp(rec.expires_at),
        maybe_stamp(rec.until),
        rec.superseded_by,
        rec.uses,
        maybe_stamp(rec.last_used_at),
        int(rec.avoid),
        source.via,
    )


def entry(row: Any) -> Entry:
    """The entry a row holds."""
    key, value, version, updated_at, expires_at = row
    return Entry(
        key=key,
        value=json.loads(value),
        version=version,
        updated_at=moment(updated_at),
        expires_at=maybe_moment(expires_at),
    )


def words_of(draft: Draft) -> tuple[Any, ...]:
    """The columns of a record that hold its words and what is known by them."""
    return (
        draft.speaker,
        len(draft.terms),
        draft.fingerprint,
        draft.record.content,
        " ".join(draft.terms),
    )


def packed(vectors: Vectors | None) -> bytes | None:
    """Vectors as they are stored."""
    return None if vectors is None else vectors.astype("<f2").tobytes()


def after_all(prefix: str) -> str | None:
    """The first text after all that begin with a prefix; None if there is no end."""
    for index in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[index]) + 1
        if code == 0xD800:
            code = 0xE000  # surrogates are not text
        if code <= 0x10FFFF:
            return prefix[:index] + chr(code)
    return None


def api_key(row: Any) -> ApiKey:
    """The API key a row holds."""
    return ApiKey(
        id=row["id"],
        tenant=row["tenant"],
        name=row["name"],
        digest=row["digest"],
        rights=tuple(row["rights"].split()),
        prefix=row["prefix"],
        role=row["role"],
        created_at=moment(row["created_at"]),
        expires_at=maybe_moment(row["expires_at"]),
        revoked_at=maybe_moment(row["revoked_at"]),
        last_used_at=maybe_moment(row["last_used_at"]),
    )


def noted(row: Any) -> Noted:
    """The line of the audit log a row holds."""
    names = ("tenant", "key", "act", "scope", "subject", "request")
    return Noted(at=moment(row["at"]), **{name: row[name] for name in names})


def job(row: Any) -> Job:
    """The job of a server a row holds."""
    return Job(
        id=row["id"],
        place=Place(row["tenant"], row["scope"]),
        status=row["status"],
        created_at=moment(row["created_at"]),
        updated_at=moment(row["updated_at"]),
        task=None if row["task"] is None else json.loads(row["task"]),
        result=None if row["result"] is None else json.loads(row["result"]),
    )
