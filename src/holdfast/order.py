"""Which of the best candidates goes first: the newest of those that state the same.

This rearranges: the similarities stay the same, who has which changes. So a score still is what
the formula says, and falls from hit to hit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from holdfast.rank import Candidates

POOL = 20  # only so many of the best are rearranged
# Two statements of the same: short, and each has half of what the query's words say. With all of
# their words in common the newer may be so much less similar, with fewer less. A correction is
# mostly longer than what it corrects, and so further away: neither tells them apart.
TWIN_TERMS, TWIN_WORDS, TWIN_APART = 30, 0.5, 0.3

Floats = NDArray[Any]
Places = NDArray[np.int64]


def best(score: Floats, most: int, happened: Floats | None = None) -> Places:
    """The places of the highest, highest first; of equals the newest, or else the first."""
    some = np.arange(len(score))
    if len(score) > most:  # to sort all of them takes several times as long
        some = (score >= np.partition(score, -most)[-most]).nonzero()[0]
    keys = (score,) if happened is None else (happened, score)
    first: Places = np.lexsort([-key.take(some) for key in keys])[:most]
    return some.take(first)


def rearranged(similarity: Floats, first: Places, found: Candidates, weight: Floats) -> Floats:
    """The similarities, given to the candidates in a better order.

    `first` are the places of the highest, highest first; `weight` is each term's share of what
    the query says.
    """
    first = first[:POOL]
    falling = similarity.take(first)
    better = _newest_first(first, falling, found, weight)
    if better is first:
        return similarity
    given = similarity.copy()
    given[better] = falling
    return given


def _newest_first(first: Places, falling: Floats, found: Candidates, weight: Floats) -> Places:
    """The candidates with the newest of each group of twins in the group's first place."""
    has = found.counts.take(first, axis=0) > 0
    telling = (has @ weight >= TWIN_WORDS) & (found.length.take(first) <= TWIN_TERMS)
    places = (telling & (np.count_nonzero(has, axis=1) >= 2)).nonzero()[0]
    if len(places) < 2:
        return first
    some, near = first.take(places), falling.take(places)
    twins = _peers(near, has.take(places, axis=0), weight) & _apart_in_time(some, found)
    if np.count_nonzero(twins) == len(places):  # each is its own twin, and nobody else's
        return first
    better, free = first.copy(), np.ones(len(places), bool)
    for at in range(len(places)):
        if free[at]:
            group = (free & twins[at]).nonzero()[0]
            free[group] = False
            newest = np.argsort(-found.happened.take(some.take(group)), kind="stable")
            better[places.take(group)] = some.take(group.take(newest))
    return better


def _peers(near: Floats, has: NDArray[np.bool_], weight: Floats) -> NDArray[np.bool_]:
    """Which are as near as which, for the share of the query's words they have in common."""
    own, shared = has @ weight, (has * weight) @ has.T
    share = shared / (own[:, None] + own - shared)
    apart = 1 - near / np.maximum(near[:, None], 1e-9)
    peers: NDArray[np.bool_] = apart <= TWIN_APART * share
    return peers


def _apart_in_time(some: Places, found: Candidates) -> NDArray[np.bool_]:
    """Which of some the same side said as which, itself too, at another time."""
    session, turn = found.session.take(some), found.turn.take(some)
    side = 2 * found.role.take(some) + found.named.take(some)
    # A turn or two apart they go on with each other; they do not correct each other.
    beside = (session[:, None] == session) & (session >= 0)
    beside &= np.abs(turn[:, None] - turn) <= 2
    np.fill_diagonal(beside, False)
    apart: NDArray[np.bool_] = (side[:, None] == side) & ~beside
    return apart
