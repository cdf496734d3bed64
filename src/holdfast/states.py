"""What becomes of a key: set, append and increment as functions of what is held."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from holdfast import check, ops
from holdfast.errors import Conflict, Invalid
from holdfast.model import Entry


def changed(op: ops.Change, held: Entry | None, version: int, now: datetime) -> Entry:
    """The entry after a change; without a ttl of its own, appending keeps the old expiry."""
    must_match(op.key, op.if_version, held)
    expires_at = None if op.ttl is None else now + op.ttl
    if op.ttl is None and held is not None and not isinstance(op, ops.Set):
        expires_at = held.expires_at
    value = check.plain("value", _value(op, None if held is None else held.value))
    return Entry(key=op.key, value=value, version=version, updated_at=now, expires_at=expires_at)


def must_match(key: str, if_version: int | None, held: Entry | None) -> None:
    """Compare-and-set: refuses unless the key has the version the caller saw."""
    version = held.version if held else 0
    if if_version is not None and if_version != version:
        said = f"has version {version}" if held else "does not exist"
        raise Conflict(
            f"The key {key!r} {said}; the call wanted version {if_version}.",
            "Get it again, and decide anew.",
        )


def _value(op: ops.Change, held: Any) -> Any:
    if isinstance(op, ops.Set):
        return op.value
    if isinstance(op, ops.Append):
        if not isinstance(held, list | None):
            raise Invalid(f"The key {op.key!r} holds no list.", "Set it to a list first.")
        return [*(held or []), op.item]
    assert isinstance(op, ops.Increment)
    if isinstance(held, bool) or not isinstance(held, int | float | None):
        raise Invalid(f"The key {op.key!r} holds no number.", "Set it to a number first.")
    try:
        return (held or 0) + op.by
    except OverflowError:
        raise Invalid(f"The key {op.key!r} holds a number too large to add {op.by} to.") from None
