"""What dialects read out of a body or a query: loosely typed there, exact from here on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from typing import Any

from holdfast import check, ops, routes
from holdfast.errors import HoldfastError, Invalid
from holdfast.model import Filter, Hit, Record
from holdfast.server.exchange import Call

EVER = Filter(since=datetime(2, 1, 2, tzinfo=timezone.utc))  # matches every memory
MOST_LISTED = 10_000  # memories that a page by offset may lie behind


@dataclass(frozen=True)
class Fields:
    """A body, or a query: each thing under the first of several names that has it."""

    told: Mapping[str, Any]

    def any(self, *names: str) -> Any:
        """The first that is there and not null."""
        return next((self.told[name] for name in names if self.told.get(name) is not None), None)

    def text(self, *names: str) -> str | None:
        """Text, or None; empty text is None too."""
        value = self.any(*names)
        if value is not None and not isinstance(value, str):
            raise Invalid(f"{names[0]} must be text.")
        return value or None

    def whole(self, default: int, low: int, high: int, *names: str) -> int:
        """A whole number, moved between two others."""
        value = self._number(*names)
        return default if value is None else min(high, max(low, int(value)))

    def number(self, *names: str) -> float | None:
        """A number, or None."""
        return self._number(*names)

    def _number(self, *names: str) -> float | None:
        value = self.any(*names)
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                raise Invalid(f"{names[0]} must be a number.") from None
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Invalid(f"{names[0]} must be a number.")
        return check.number(names[0], value, -1e15, 1e15)

    def mapping(self, *names: str) -> dict[str, Any]:
        """A JSON object; empty if there is none."""
        value = self.any(*names)
        if value is not None and not isinstance(value, dict):
            raise Invalid(f"{names[0]} must be a JSON object.")
        return value or {}

    def flag(self, *names: str) -> bool:
        """True only if it is there and true."""
        value = self.any(*names)
        if value is not None and not isinstance(value, bool):
            raise Invalid(f"{names[0]} must be true or false.")
        return bool(value)

    def ttl(self, unit: timedelta, *names: str) -> timedelta | None:
        """A length of time in a unit; None for ever."""
        value = self._number(*names)
        if value is None:
            return None
        try:
            return check.ttl(unit * value)
        except OverflowError:
            raise Invalid(f"{names[0]} is too long.") from None


def body(call: Call) -> Fields:
    """The fields of a body."""
    return Fields(call.fields)


def query(call: Call) -> Fields:
    """The fields of a query, the last value of each."""
    return Fields({name: values[-1] for name, values in call.query.items()})


def once(call: Call) -> str | None:
    """The idempotency key of a call."""
    return routes.once(call.headers)


def kind(word: str | None, default: str) -> str:
    """A kind out of free text."""
    return re.sub(r"\s+", "-", word.strip().lower())[:64] if word and word.strip() else default


def kinds(word: str | None) -> tuple[str, ...]:
    """The filter for one kind, or none."""
    return (kind(word, ""),) if word and word.strip() else ()


def found(call: Call, op: ops.Recall, threshold: float | None) -> list[Hit]:
    """The hits of a recall; with a threshold, those whose similarity reaches it."""
    if threshold is None:
        return list(call.do(op).hits)
    wide = ops.Recall(
        scope=op.scope, query=op.query, where=op.where, limit=max(100, op.limit), min_score=0.0
    )
    hits = [hit for hit in call.do(wide).hits if hit.why.similarity >= threshold]
    return hits[: op.limit]


def nearest(call: Call, op: ops.Recall) -> list[Hit]:
    """What primes a prompt: where nothing is about the query for sure, what comes nearest.

    Who asks so has no question yet ("current task context"), and these services always answer.
    """
    return list(call.do(op).hits or call.do(replace(op, min_score=0.0)).hits)


def stored(call: Call, scope: str, id: str, draft: ops.Draft) -> Record:
    """A memory that was just stored, as its writer may see it."""
    if {"read", "admin"} & call.caller.rights:
        return call.do(ops.Read(scope=scope, id=id))
    now = call.host.clock()
    told: Any = {
        "kind": draft.kind,
        "tags": draft.tags,
        "meta": draft.meta,
        "session": draft.session,
    }
    return Record(
        id=id, scope=scope, content=draft.content, created_at=now, happened_at=now, **told
    )


def listed(call: Call, scope: str, where: Filter, most: int = MOST_LISTED) -> Iterator[Record]:
    """Memories, newest first, however many pages they are."""
    cursor, left = None, most
    while left > 0:
        op = ops.List(scope=scope, where=where, limit=min(left, check.LIMIT), cursor=cursor)
        page = call.do(op)
        yield from page
        left, cursor = left - len(page), page.cursor
        if cursor is None:
            return


def detail(error: HoldfastError, status: int, request: str) -> dict[str, Any]:
    """An error as most services tell it."""
    return {"detail": str(error), "request_id": request}
