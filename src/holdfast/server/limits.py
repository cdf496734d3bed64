"""How much a tenant may ask for: sizes, rates, what is kept, and work at one time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta, timezone
from typing import Any

from holdfast import check, ops, wire
from holdfast.engine import Transaction
from holdfast.engine.ledger import Ledger
from holdfast.errors import Invalid, LimitReached, RateLimited, TooLarge, Unavailable

DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
RECOUNT_SECONDS = 60.0  # what a tenant holds is counted anew this often, and before a refusal
IN_BULK = (ops.Import, ops.Extract)  # what they bring is not kept as it comes
TENANTS = 10_000  # of whom buckets and counts are held in memory


class TooMuch(Unavailable):
    """There is too much work; nothing was done."""


class RateUsedUp(RateLimited):
    """Too many calls in too short a time; nothing was done."""

    burst = 0

    @classmethod
    def of(cls, burst: int, wait: float) -> RateUsedUp:
        """The error, with how many calls may come at once, and when the next may."""
        advice = f"Try again in {wait:.1f} seconds."
        error = cls("Too many calls in too short a time.", advice, retry_after=wait)
        error.burst = burst
        return error


class DayUsedUp(RateLimited):
    """The writes of a day are used up; this one was not done."""


@dataclass(frozen=True)
class Limits:
    """What one tenant may do; None is no limit. Sizes are in bytes, rates by second."""

    body: int = 8 * 1024 * 1024
    import_body: int = 256 * 1024 * 1024
    content: int = check.CONTENT_BYTES
    batch: int = check.BATCH
    rate: float | None = None
    burst: int = 100  # calls that may come at once, where there is a rate
    memories: int | None = None  # past versions count too
    bytes: int | None = None
    writes_a_day: int | None = None
    concurrent: int = 256  # calls of one tenant at one time

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Limits:
        """Limits out of texts, such as `{"rate": "50"}`."""
        known = {it.name for it in fields(cls)}
        unknown = sorted(set(texts) - known)
        if unknown:
            said = ", ".join(sorted(known))
            raise Invalid(f"{unknown[0]!r} is no limit.", f"There are: {said}.")
        try:
            values: Any = {
                name: float(text) if name == "rate" else int(text) for name, text in texts.items()
            }
        except ValueError:
            raise Invalid("A limit must be a number.", "Write for example rate=50.") from None
        if any(value <= 0 for value in values.values()):
            raise Invalid("A limit must be more than 0.", "Leave it out for none.")
        return cls(**values)


@dataclass
class _Bucket:
    """Tokens that come back with time: one for each call."""

    tokens: float
    at: float


@dataclass
class _Held:
    """What a tenant holds: counted at a time, and what was admitted since."""

    memories: int = 0
    bytes: int = 0
    at: float = -RECOUNT_SECONDS


@dataclass
class Tenants:
    """The limits at work, in this process."""

    limits: Limits
    ledger: Ledger
    shares: int = 1  # processes that share the rate
    clock: Callable[[], float] = time.monotonic
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _held: dict[str, _Held] = field(default_factory=dict)
    _at_work: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    # --- the rate ---

    def take(self, tenant: str) -> list[tuple[str, str]]:
        """Takes a token; gives the headers that tell how many are left, or `RateUsedUp`."""
        rate = self.limits.rate
        if rate is None:
            return []
        rate, now, burst = rate / self.shares, self.clock(), self.limits.burst
        with self._lock:
            bucket = self._buckets.get(tenant)
            if bucket is None:
                _make_room(self._buckets)
                bucket = self._buckets[tenant] = _Bucket(burst, now)
            bucket.tokens = min(burst, bucket.tokens + (now - bucket.at) * rate)
            bucket.at = now
            if bucket.tokens < 1:
                wait = (1 - bucket.tokens) / rate
                raise RateUsedUp.of(burst, wait)
            bucket.tokens -= 1
            left = bucket.tokens
        return [
            ("ratelimit-limit", str(burst)),
            ("ratelimit-remaining", str(int(left))),
            ("ratelimit-reset", str(int((burst - left) / rate) + 1)),
        ]

    # --- work at one time ---

    def begin(self, tenant: str) -> None:
        """Counts a call, unless too many of the tenant are at work."""
        with self._lock:
            count = self._at_work.get(tenant, 0)
            if count >= self.limits.concurrent:
                raise TooMuch("Too many calls of yours are at work.", "Try again.", retry_after=1)
            self._at_work[tenant] = count + 1

    def end(self, tenant: str) -> None:
        """Counts a call that has begun as done."""
        with self._lock:
            count = self._at_work.pop(tenant) - 1
            if count > 0:
                self._at_work[tenant] = count

    # --- sizes, and what is kept ---

    def admit(self, tenant: str, op: ops.Op[Any]) -> None:
        """`TooLarge` or `LimitReached` if an op is more than the tenant may send or keep."""
        contents = _contents(op)
        if len(contents) > self.limits.batch and isinstance(op, ops.RememberMany):
            raise TooLarge(
                f"The batch has {len(contents)} memories; the limit is {self.limits.batch}.",
                "Split it.",
            )
        sizes = [len(text.encode()) for text in contents]
        if max(sizes, default=0) > self.limits.content and not isinstance(op, IN_BULK):
            raise TooLarge(
                f"A content is {max(sizes)} bytes long; the limit is {self.limits.content}.",
                "Split it into several, or store a summary.",
            )
        if self.limits.memories or self.limits.bytes:
            size = sum(sizes) + _state_bytes(op)
            if size:
                self._keep(tenant, len(sizes), size)

    def _keep(self, tenant: str, memories: int, size: int) -> None:
        with self._lock:
            held = self._held.setdefault(tenant, _Held())
            fresh = self.clock() - held.at < RECOUNT_SECONDS
            if fresh and not self._over(held, memories, size):
                held.memories, held.bytes = held.memories + memories, held.bytes + size
                return
        counted = _Held(*self.ledger.held(tenant), self.clock())
        with self._lock:
            _make_room(self._held)
            self._held[tenant] = counted
            over = self._over(counted, memories, size)
            if not over:
                counted.memories, counted.bytes = counted.memories + memories, counted.bytes + size
        if over:
            raise LimitReached(
                f"The memory limit of {over} is reached.", "Forget some, or ask for more room."
            )

    def _over(self, held: _Held, memories: int, size: int) -> str | None:
        if self.limits.memories and held.memories + memories > self.limits.memories:
            return f"{self.limits.memories} memories"
        if self.limits.bytes and held.bytes + size > self.limits.bytes:
            return f"{self.limits.bytes} bytes"
        return None

    def count_write(self, tenant: str, now: datetime, tx: Transaction) -> None:
        """Counts a write, in its own transaction; `RateLimited` if the day's are used up."""
        most = self.limits.writes_a_day
        if most is None:
            return
        day = (now - EPOCH) // DAY
        if self.ledger.count_write(tenant, day, tx) > most:
            wait = (EPOCH + DAY * (day + 1) - now).total_seconds()
            raise DayUsedUp(
                f"The limit of {most} writes a day is reached.",
                "Try again tomorrow (UTC).",
                retry_after=wait,
            )


def _contents(op: ops.Op[Any]) -> list[str]:
    """What an op brings to keep."""
    match op:
        case ops.Remember():
            return [op.draft.content]
        case ops.RememberMany():
            return [draft.content for draft in op.drafts]
        case ops.Revise():
            return [op.content]
        case ops.Import():
            return list(op.lines)
        case ops.Extract():
            return [turn.text for turn in op.turns]
        case _:
            return []


def _state_bytes(op: ops.Op[Any]) -> int:
    """What an op brings to keep as state, as JSON."""
    match op:
        case ops.Set():
            return len(wire.dumps(op.value).encode())
        case ops.Append():
            return len(wire.dumps(op.item).encode())
        case _:
            return 0


def _make_room(kept: dict[str, Any]) -> None:
    if len(kept) >= TENANTS:
        kept.pop(next(iter(kept)))
