"""What a server counts, for Prometheus; with several workers, of all of them together."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector

BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
MEDIA = "text/plain; version=0.0.4; charset=utf-8"
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # where the counts of several workers meet


class Metrics:
    """Counters and times of one process."""

    def __init__(self, now: Callable[[], dict[str, float]]) -> None:
        """`now` gives what is measured when it is asked for."""
        self._now = now
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

    def collect(self) -> Iterable[GaugeMetricFamily | CounterMetricFamily]:
        """What is measured now."""
        for name, value in self._now().items():
            kind = CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily
            found = kind(f"holdfast_{name}", name.replace("_", " "))
            found.add_metric([], value)
            yield found

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        self.count()
        if not self._shared:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]  # it has no types
        together.register(self)
        return generate_latest(together)
