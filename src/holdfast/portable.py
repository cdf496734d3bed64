"""A scope as JSON Lines, out and in again; and cursors that survive a trip through a client."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from holdfast import check, lifetime, ops, trust, wire
from holdfast.engine import Draft, Place, Snapshot, Transaction
from holdfast.errors import Conflict, HoldfastError, Invalid
from holdfast.model import Entry, Exported, Imported, Record, Source, Voice

FORMAT = 1
LINES = 500  # in one part of an export
RELATIONS = ("from", "sums", "conflict", "outdated")
MOST = 2**62  # the highest version or count


def cursor(*where: str | int) -> str:
    """An opaque mark of a place in a list."""
    return base64.urlsafe_b64encode(wire.dumps(where).encode()).decode()


def place_of(mark: str, *kinds: type) -> list[Any]:
    """Where a mark points; its parts have these types."""
    try:
        where = wire.parse(base64.b64decode(mark, altchars=b"-_", validate=True).decode())
        fits = isinstance(where, list) and _fits(where, kinds)
    except (binascii.Error, ValueError, HoldfastError):
        fits = False
    if not fits:
        raise Invalid(
            f"The cursor {mark[:40]!r} is not one of ours.", "Pass it back as it was given."
        )
    return list(where)


def _fits(where: list[Any], kinds: tuple[type, ...]) -> bool:
    if [type(part) for part in where] != list(kinds):
        return False
    for part in where:
        if isinstance(part, str):
            check.sane("cursor", part)
        elif abs(part) > MOST:
            return False
    return True


def export(seen: Snapshot, place: Place, mark: str | None, now: datetime) -> Exported:
    """Some lines of a scope: a heading, every version of every memory, then the state."""
    row, key = (0, "") if mark is None else place_of(mark, int, str)
    lines = [wire.dumps({"type": "holdfast", "format": FORMAT})] if mark is None else []
    if row >= 0:
        found = seen.dump(place, now, row, LINES)
        linked = seen.any_links(place)
        lines += [_memory_line(seen, place, record, linked) for _, record in found]
        return Exported(tuple(lines), cursor(found[-1][0] if len(found) == LINES else -1, ""))
    entries = seen.entries(place, key, now, LINES)
    lines += [_line("state", entry) for entry in entries]
    more = len(entries) == LINES
    return Exported(tuple(lines), cursor(-1, entries[-1].key) if more else None)


def _memory_line(seen: Snapshot, place: Place, record: Record, linked: bool) -> str:
    """A memory, and with its current version what it is linked to and who told it again."""
    data = {"type": "memory", **wire.dump(record)}
    del data["scope"]
    if not record.avoid:  # older versions know of no such thing
        del data["avoid"]
    if record.until is None or record.superseded_by is not None:
        links = {name: seen.links(place, record.id, name) for name in RELATIONS if linked}
        tellings = seen.tellings(place, record.id)
        data |= {"links": held} if (held := {k: v for k, v in links.items() if v}) else {}
        data |= {"told": wire.dump(tellings)} if tellings else {}
    return wire.dumps(data)


def _line(kind: str, value: Entry) -> str:
    data = wire.dump(value)
    data.pop("scope", None)
    return wire.dumps({"type": kind, **data})


@dataclass(frozen=True, slots=True)
class Tie:
    """What hangs on a memory of an export: links to others, and who told it again."""

    links: Mapping[str, Any]
    told: tuple[Source, ...]


Parsed = tuple[list[Record], list[Entry], dict[str, Tie]]


def parsed(lines: Iterable[str], scope: str, by: Voice | None = None) -> Parsed:
    """The memories and entries of an export, checked as if they were told anew."""
    records: list[Record] = []
    entries: list[Entry] = []
    ties: dict[str, Tie] = {}
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
                tie = _tie(data, by)
                records.append(_checked(wire.load(Record, {**data, "scope": scope}), by))
                if tie is not None:
                    ties[records[-1].id] = tie
            elif kind == "state":
                entries.append(_checked_entry(wire.load(Entry, data), scope))
            else:
                raise Invalid(f"{kind!r} is not a type of line.")
        except HoldfastError as error:
            raise Invalid(f"Line {number}: {error}", "Nothing was imported.") from None
    if heading is None:
        raise Invalid("There is nothing to import.", "Pass the lines of an export.")
    return records, entries, ties


def _tie(data: Any, by: Voice | None) -> Tie | None:
    """Takes what hangs on a memory out of its line."""
    links, told = data.pop("links", {}), data.pop("told", [])
    if not isinstance(links, dict) or not set(links) <= set(RELATIONS):
        raise Invalid("links must be an object of the relations there are.")
    named = {relation: check.names("links", ids) for relation, ids in links.items()}
    sources = wire.load(tuple[Source, ...], told)
    checked = tuple(source for one in sources if (source := trust.said(check.source(one), by)))
    return Tie(named, checked) if named or checked else None


def _heading(kind: Any, data: Any) -> Any:
    if kind != "holdfast" or data.get("format") != FORMAT:
        raise Invalid(
            "This is not the first line of an export of this format.",
            f'It must be {{"type":"holdfast","format":{FORMAT}}}.',
        )
    return data


def _checked(record: Record, by: Voice | None) -> Record:
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
    check.maybe_name("superseded_by", record.superseded_by)
    check.whole("version", record.version, 1, MOST)
    check.whole("uses", record.uses, 0, MOST)
    times = ("created_at", "happened_at", "expires_at", "until", "last_used_at")
    checked: Any = {name: check.moment(name, getattr(record, name)) for name in times}
    return replace(
        record,
        kind=told.kind,
        tags=told.tags,
        meta=told.meta,
        source=trust.said(told.source, by),
        pinned=record.pinned and trust.rules(by),
        **checked,
    )


def _checked_entry(entry: Entry, scope: str) -> Entry:
    ops.Set(scope=scope, key=entry.key, value=entry.value)
    check.whole("version", entry.version, 1, MOST)
    times: Any = {
        name: check.moment(name, getattr(entry, name)) for name in ("updated_at", "expires_at")
    }
    return replace(entry, **times)


def live_twin(tx: Transaction, place: Place, fingerprint: bytes, now: datetime) -> Record | None:
    """The current memory with these words; an expired one is removed, as if it had never been."""
    found = tx.twin(place, fingerprint)
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
    ties: Mapping[str, Tie],
) -> Imported:
    """Writes what is not there yet; what is there with other words is a conflict."""
    memories: dict[str, list[Draft]] = {}
    for draft in drafts:
        memories.setdefault(draft.record.id, []).append(draft)
    new = {id for id, versions in memories.items() if _is_new(tx, place, versions, now)}
    # In their old order: who was told first stays first.
    added = [draft for draft in drafts if draft.record.id in new]
    for draft in added:
        tx.insert(place, draft)
    for id in new & set(ties):
        for relation, others in ties[id].links.items():
            for other in others:
                tx.link(place, id, relation, other)
        for source in ties[id].told:
            tx.tell(place, id, source, now)
    states = 0
    for entry in entries:
        held = tx.entry(place, entry.key)
        gone = held is not None and not lifetime.alive(held.expires_at, now)
        if held is None or gone or held.version < entry.version:
            tx.put_entry(place, entry)
            states += 1
    return Imported(added=len(added), known=len(drafts) - len(added), states=states)


def _is_new(tx: Transaction, place: Place, versions: Sequence[Draft], now: datetime) -> bool:
    """Whether a memory is to be taken in: it is here neither by its id nor by its words."""
    newest = max(versions, key=lambda draft: draft.record.version)
    last = newest.record
    held = tx.versions(place, last.id)
    if held and not lifetime.alive(held[-1].expires_at, now):
        tx.forget(place, last.id)
        held = []
    if not held:
        return bool(last.until) or live_twin(tx, place, newest.fingerprint, now) is None
    told = {draft.record.version: draft.record.content for draft in versions}
    if told != {record.version: record.content for record in held}:
        raise Conflict(
            f"The memory {last.id} is here with other words.", "Import into a new scope."
        )
    return False
