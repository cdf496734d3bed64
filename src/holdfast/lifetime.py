"""How memories age: what each kind is worth over time, and when it is out of sight.

Nothing here looks at a clock: the time is an argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast.model import Record

Numbers = NDArray[Any]

RECENCY_HALF_DAYS = 30.0  # at this age recency is one half
RECENCY_STEEPNESS = 0.075  # per day; makes a new memory .90 and a two-month-old one .10
FREQUENCY_FULL_USES = 100  # from this many uses on, more do not count


@dataclass(frozen=True)
class Policy:
    """What is special about a kind: whether it ages, and how long it lives by default."""

    ageless: bool = False
    ttl: timedelta | None = None


PLAIN = Policy()
POLICIES = {
    "preference": Policy(ageless=True),
    "decision": Policy(ageless=True),
    "lesson": Policy(ageless=True),
    "procedural": Policy(ageless=True),
    "temporary": Policy(ttl=timedelta(days=7)),
}


def policy(kind: str) -> Policy:
    """The policy of a kind; unknown kinds have the plain one."""
    return POLICIES.get(kind, PLAIN)


def expiry(now: datetime, kind: str, ttl: timedelta | None, pinned: bool) -> datetime | None:
    """When something remembered now is out of sight; None for never."""
    lasts = ttl or policy(kind).ttl
    return None if pinned or lasts is None else now + lasts


def alive(expires_at: datetime | None, now: datetime) -> bool:
    """True until the instant of expiry."""
    return expires_at is None or now < expires_at


def known_from(record: Record) -> datetime:
    """When a memory began to be true: when it happened, or when it was told if that is earlier."""
    return min(record.happened_at, record.created_at)


def true_at(record: Record, moment: datetime | None) -> bool:
    """True if a memory is current (no moment given), or was at that moment."""
    if moment is None:
        return record.until is None
    return known_from(record) <= moment and (record.until is None or moment < record.until)


def reinforced(known: Record, told: Record, now: datetime) -> Record:
    """A memory told again: used once more, tags and meta joined, and living at least as long."""
    ends = (known.expires_at, told.expires_at)
    pinned = known.pinned or told.pinned
    return replace(
        known,
        tags=tuple(dict.fromkeys((*known.tags, *told.tags))),
        meta={**known.meta, **told.meta},
        pinned=pinned,
        expires_at=None if pinned or None in ends else max(end for end in ends if end),
        uses=known.uses + 1,
        last_used_at=now,
    )


def recency(days: Numbers, ageless: Numbers) -> Numbers:
    """By age: 1 for the new or ageless, .5 at 30 days, near 0 after a year."""
    aged = RECENCY_STEEPNESS * (np.maximum(days, 0.0) - RECENCY_HALF_DAYS)
    return np.where(ageless, 1.0, 1 / (1 + np.exp(np.minimum(aged, 700.0))))


def frequency(uses: Numbers) -> Numbers:
    """0 for the unused; grows with the logarithm of use, up to 1."""
    return np.minimum(1.0, np.log1p(uses) / math.log1p(FREQUENCY_FULL_USES))
