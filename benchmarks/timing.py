"""Taking times: one call after the other, and several kinds of call in turn.

Beside the time on the wall, the time that the processor worked for this process is taken: on a
machine that others use too, it is the steadier of the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

Call = Callable[[int], object]


class Taken(NamedTuple):
    """Seconds on the wall, and of the processor."""

    wall: float
    cpu: float


def taken(call: Callable[[], object]) -> Taken:
    """How long one call takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    call()
    return Taken(time.perf_counter() - wall, time.process_time() - cpu)


def seconds(call: Callable[[], object]) -> float:
    """How long one call takes, on the wall."""
    return taken(call).wall


def each(times: int, call: Call) -> list[Taken]:
    """How long each of some calls takes; a call is given its number."""
    return [taken(lambda at=at: call(at)) for at in range(times)]  # type: ignore[misc]


def in_turn(times: int, calls: Mapping[str, Call], block: int = 1) -> dict[str, list[Taken]]:
    """The same for several kinds of call, in turn, so that a noisy moment is bad for all alike.

    `block` calls of a kind come one after the other: as in use, and unlike a call between strangers
    that have emptied the processor's caches of all it needs.
    """
    found: dict[str, list[Taken]] = {name: [] for name in calls}
    for start in range(0, times, block):
        for name, call in calls.items():
            for at in range(start, min(start + block, times)):
                found[name].append(taken(lambda call=call, at=at: call(at)))  # type: ignore[misc]
    return found


def middle(some: Sequence[Taken]) -> float:
    """The median of the seconds on the wall."""
    return median(one.wall for one in some)


def summary(some: Sequence[Taken]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, and how many in a second."""
    ordered = sorted(one.wall for one in some)
    return {
        "p50_ms": 1000 * median(ordered),
        "p95_ms": 1000 * ordered[int(0.95 * (len(ordered) - 1))],
        "cpu_ms": 1000 * median(one.cpu for one in some),
        "per_second": len(ordered) / sum(ordered),
    }
