"""What has expired is removed in the background: some at a time, and nobody waits for it.

Out of sight it was at its instant. When to look is known without asking the store: an hour after
the last look, or a minute after the first expiry that is known of, whichever comes first. A clock
that was set is not believed: what it says must have gone on evenly for a minute, since what is
removed does not come back when somebody sets it right.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

from holdfast.engine import Engine
from holdfast.errors import HoldfastError

GRACE = timedelta(minutes=1)  # after an expiry, so that one sweep takes many
LOOK = timedelta(hours=1)  # how often to look for what others wrote
WAIT_MOST = timedelta(hours=1)  # a thread waits for nothing that is further away
EVEN_SECONDS = 2.0  # by which a clock may differ from one that nobody can set
BATCH = 200  # memories or keys removed in one write
LEAST_SECONDS = 0.2  # between looks, should something stay where it is
PAUSE_SECONDS = 0.02  # between writes, so that others get their turn


class Sweeper:
    """Knows when to look for what has expired, and removes it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._next = datetime(1970, 1, 1, tzinfo=timezone.utc)
        self._coming: datetime | None = None  # when the first expiry that is known of can be swept
        self._seen: tuple[datetime, float] | None = None  # this clock and the one nobody can set

    def due(self, now: datetime) -> bool:
        """True if it is time to look."""
        return now >= self._next or (self._coming is not None and now >= self._coming)

    def expect(self, expires_at: datetime, now: datetime) -> bool:
        """Notes an expiry; True if a thread should be there when it has come."""
        if self._coming is not None and self._coming <= expires_at + GRACE:
            return False
        self._coming = expires_at + GRACE
        return self.rest(now) is not None

    def rest(self, now: datetime) -> float | None:
        """Seconds until it is worth to look again; None if no thread need wait for it."""
        if self._coming is None or self._coming - now > WAIT_MOST:
            return None
        return max((self._coming - now).total_seconds(), LEAST_SECONDS)

    def look(self, now: datetime, stopping: Callable[[], bool]) -> None:
        """Removes what is due, if it is time to and the clock can be believed."""
        if self.due(now) and self._steady(now):
            self.sweep(now - GRACE, stopping)
        elif self.due(now):
            self._next = now + GRACE
            self._coming = self._coming and max(self._coming, self._next)

    def _steady(self, now: datetime) -> bool:
        """True if the clock went on evenly, and for long enough, since it was last seen."""
        ran = time.monotonic()
        wall, then = self._seen or (now, ran)
        even = abs((now - wall).total_seconds() - (ran - then)) <= EVEN_SECONDS
        if self._seen is None or not even:
            self._seen = now, ran
        return even and now - wall >= GRACE

    def sweep(self, now: datetime, stopping: Callable[[], bool] = lambda: False) -> int:
        """Removes what had expired by a moment; gives how many memories and keys."""
        gone, pause = 0, threading.Event()
        self._next, self._coming = now + LOOK, None
        try:
            while not stopping() and (some := self._engine.sweep(now, BATCH)):
                gone += some
                pause.wait(PAUSE_SECONDS)
            coming = self._engine.read(lambda seen: seen.next_expiry())
        except HoldfastError:
            return gone  # out of sight it is: there is an hour to try again
        self._coming = coming and coming + GRACE
        return gone
