"""A scope as JSON Lines, out and in again; and cursors that survive a trip through a client."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from holdfast import lifetime, ops, text, wire
from holdfast.engine import Draft, Place, Snapshot, Transaction
from holdfast.errors import Conflict, HoldfastError, Invalid
from holdfast.model import Entry, Exported, Imported, Record

FORMAT = 1
LINES = 500  # in one part of an export


def cursor(*where: str | int) -> str:
    """An opaque mark of a place in a list."""
    return base64.urlsafe_b64encode(wire.dumps(where).encode()).decode()


def place_of(mark: str, *kinds: type) -> list[Any]:
    """Where a mark points; its parts have these types."""
    try:
        where = wire.parse(base64.b64decode(mark, altchars=b"-_", validate=True).decode())
    except (binascii.Error, ValueError, HoldfastError):
        where = None
    if not isinstance(where, list) or [type(part) for part in where] != list(kinds):
        raise Invalid(f"The cursor {mark!r} is not one of ours.", "Pass it back as it was given.")
    return where


def export(seen: Snapshot, place: Place, mark: str | None, now: datetime) -> Exported:
    """Some lines of a scope: a heading, every version of every memory, then the state."""
    row, key = (0, "") if mark is None else place_of(mark, int, str)
    lines = [wire.dumps({"type": "holdfast", "format": FORMAT})] if mark is None else []
    if row >= 0:
        found = seen.dump(place, now, row, LINES)
        lines += [_line("memory", record) for _, record in found]
        return Exported(tuple(lines), cursor(found[-1][0] if len(found) == LINES else -1, ""))
    entries = seen.entries(place, key, now, LINES)
    lines += [_line("state", entry) for entry in entries]
    more = len(entries) == LINES
    return Exported(tuple(lines), cursor(-1, entries[-1].key) if more else None)


def _line(kind: str, value: Record | Entry) -> str:
    data = wire.dump(value)
    data.pop("scope", None)
    if isinstance(value, Entry):
        data["value"] = value.value
    return wire.dumps({"type": kind, **data})


def parsed(lines: Sequence[str], scope: str) -> tuple[list[Record], list[Entry]]:
    """The memories and entries of an export, checked as if they were told anew."""
    records: list[Record] = []
    entries: list[Entry] = []
    heading: Any = None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = wire.parse(line)
            kind = data.pop("type", None) if isinstance(data, dict) else None
            if heading is None:
                heading = _heading(kind, data)
            elif kind == "memory":
                records.append(_checked(wire.load(Record, {**data, "scope": scope})))
            elif kind == "state":
                entries.append(_checked_entry(wire.load(Entry, {"value": None, **data}), scope))
            else:
                raise Invalid(f"{kind!r} is not a type of line.")
        except HoldfastError as error:
            raise Invalid(f"Line {number}: {error}", "Nothing was imported.") from None
    if heading is None:
        raise Invalid("There is nothing to import.", "Pass the lines of an export.")
    return records, entries


def _heading(kind: Any, data: Any) -> Any:
    if kind != "holdfast" or data.get("format") != FORMAT:
        raise Invalid(
            "This is not the first line of an export of this format.",
            f'It must be {{"type":"holdfast","format":{FORMAT}}}.',
        )
    return data


def _checked(record: Record) -> Record:
    """A record with the same limits as something told to remember."""
    told = ops.Draft(
        content=record.content,
        kind=record.kind,
        tags=record.tags,
        meta=record.meta,
        session=record.session,
        source=record.source,
        happened_at=record.happened_at,
        id=record.id,
    )
    ops.List(scope=record.scope, as_of=record.created_at)
    if record.version < 1 or record.uses < 0:
        raise Invalid("version and uses cannot be negative.")
    return replace(record, kind=told.kind, tags=told.tags, meta=told.meta, source=told.source)


def _checked_entry(entry: Entry, scope: str) -> Entry:
    ops.Set(scope=scope, key=entry.key, value=entry.value)
    return entry


def live_twin(tx: Transaction, place: Place, content: str, now: datetime) -> Record | None:
    """The current memory with these words; an expired one is removed, as if it had never been."""
    found = tx.twin(place, text.fingerprint(content))
    if found is None or lifetime.alive(found.expires_at, now):
        return found
    tx.forget(place, found.id)
    return None


def take_in(
    tx: Transaction,
    place: Place,
    drafts: Sequence[Draft],
    entries: Sequence[Entry],
    now: datetime,
) -> Imported:
    """Writes what is not there yet; what is there with other words is a conflict."""
    added = sum(_take(tx, place, draft, now) for draft in drafts)
    states = 0
    for entry in entries:
        held = tx.entry(place, entry.key)
        gone = held is not None and not lifetime.alive(held.expires_at, now)
        if held is None or gone or held.version < entry.version:
            tx.put_entry(place, entry)
            states += 1
    return Imported(added=added, known=len(drafts) - added, states=states)


def _take(tx: Transaction, place: Place, draft: Draft, now: datetime) -> bool:
    new = draft.record
    for old in tx.versions(place, new.id):
        if not lifetime.alive(old.expires_at, now):
            tx.forget(place, new.id)
            break
        if old.version == new.version:
            if old.content != new.content:
                raise Conflict(
                    f"The memory {new.id} is here with other words.", "Import into a new scope."
                )
            return False
    if new.until is None and live_twin(tx, place, new.content, now) is not None:
        return False
    tx.insert(place, draft)
    return True
