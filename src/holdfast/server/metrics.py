"""What a server counts, for Prometheus; with several workers, of all of them together."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
TOTAL = "_total"
# What each process measures for itself.
OWN = (
    *("queue_depth", "degraded_seconds_total"),
    *("query_cache_hits_total", "query_cache_misses_total"),
    *("key_cache_hits_total", "key_cache_misses_total"),
)
Measured = Callable[[], dict[str, float]]
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # where the counts of several workers meet


class Metrics:
    """Counters and times of one process."""

    def __init__(self, store: Measured, own: Measured) -> None:
        """`store` gives what any worker can measure, `own` what this one alone can."""
        self._store, self._own = store, own
        self._told: dict[str, float] = {}  # of its own, the last time
        self._registry = registry = CollectorRegistry()
        self._requests = Counter(
            "holdfast_requests",
            "Requests by verb and status",
            ["verb", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "holdfast_request_seconds",
            "How long requests took",
            ["verb"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._stages = Histogram(
            "holdfast_stage_seconds",
            "How long each stage took: wait, read, write, embed",
            ["stage"],
            buckets=BUCKETS,
            registry=registry,
        )
        self._shed = Counter(
            "holdfast_shed", "Requests refused because of too much work", registry=registry
        )
        self._measured = {
            name: Counter(f"holdfast_{name}", name.replace("_", " "), registry=registry)
            if name.endswith(TOTAL)
            else Gauge(
                f"holdfast_{name}",
                name.replace("_", " "),
                registry=registry,
                multiprocess_mode="livesum",
            )
            for name in OWN
        }
        self._shared = SHARED in os.environ
        # Counting takes longer than noting, so it is done by the way, many at a time; but what
        # several workers count is to be told by any of them, at once.
        self._noted: deque[tuple[str, int | None, float]] = deque()
        # Looking up a label takes longer than counting: each is looked up once.
        self._known: dict[Any, Any] = {}
        if not self._shared:
            registry.register(self)

    def request(self, verb: str, status: int, seconds: float) -> None:
        """Notes a request."""
        self._noted.append((verb, status, seconds))
        if self._shared:
            self.count()

    def stage(self, name: str, seconds: float) -> None:
        """Notes how long a stage took."""
        self._noted.append((name, None, seconds))
        if self._shared:
            self.count()

    def count(self) -> None:
        """Counts what was noted."""
        with suppress(IndexError):
            while True:
                name, status, seconds = self._noted.popleft()
                if status is None:
                    self._stage(name, seconds)
                else:
                    self._request(name, status, seconds)

    def _request(self, verb: str, status: int, seconds: float) -> None:
        pair = self._known.get((verb, status))
        if pair is None:
            pair = self._requests.labels(verb, str(status)), self._seconds.labels(verb)
            self._known[verb, status] = pair
        pair[0].inc()
        pair[1].observe(seconds)

    def _stage(self, name: str, seconds: float) -> None:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._stages.labels(name)
        found.observe(seconds)

    def shed(self) -> None:
        """Counts a request that was refused because of too much work."""
        self._shed.inc()

    def measure(self) -> None:
        """Tells what this process measures; to be done now and then, for the others to tell it."""
        for name, value in self._own().items():
            more, self._told[name] = value - self._told.get(name, 0.0), value
            begun_anew = more < 0 and name.endswith(TOTAL)  # a cache, with another embedder
            self._measured[name].inc(value if begun_anew else more)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """What is measured of the store now."""
        for name, value in self._store().items():
            found = GaugeMetricFamily(f"holdfast_{name}", name.replace("_", " "))
            found.add_metric([], value)
            yield found

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        self.count()
        self.measure()
        if not self._shared:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # it has no types
        together.register(self)
        return generate_latest(together)
