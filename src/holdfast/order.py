"""Which of the best candidates go first: the newest of those that state the same, and those that
bring what the ones before them lack.

Both rearrange: the similarities stay the same, who has which changes. So a score still is what
the formula says, and falls from hit to hit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from holdfast.rank import Candidates

POOL = 40  # only so many of the best are rearranged
STEPS = 10  # and so many places filled by what they add
COVER = 0.3  # worth, in similarity, of all the query's terms if no earlier hit has them
# Two statements of the same: short, and each has half of what the query's words say. With all of
# their words in common the newer may be so much less similar, with fewer less. A correction is
# mostly longer than what it corrects, and so further away: neither tells them apart.
TWIN_TERMS, TWIN_WORDS, TWIN_APART, TWIN_POOL = 30, 0.5, 0.3, 20

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


def rearranged(similarity: Floats, found: Candidates, rarity: Floats) -> Floats:
    """The similarities, given to the candidates in a better order."""
    total = float(rarity.sum())
    if total <= 0 or not len(similarity):
        return similarity
    weight = rarity / total
    first = best(similarity, POOL)
    falling = similarity.take(first)
    better = _complete(_newest_first(first, falling, found, weight), falling, found, weight)
    given = similarity.copy()
    given[better] = falling
    return given


def _newest_first(best: Places, falling: Floats, found: Candidates, weight: Floats) -> Places:
    """The candidates with the newest of each group of twins in the group's first place."""
    top = best[:TWIN_POOL]
    has = found.counts.take(top, axis=0) > 0
    telling = (has @ weight >= TWIN_WORDS) & (found.length.take(top) <= TWIN_TERMS)
    places = (telling & (np.count_nonzero(has, axis=1) >= 2)).nonzero()[0]
    if len(places) < 2:
        return best
    some, near = top.take(places), falling.take(places)
    twins = _peers(near, has.take(places, axis=0), weight) & _apart_in_time(some, found)
    if np.count_nonzero(twins) == len(places):  # each is its own twin, and nobody else's
        return best
    better, free = best.copy(), np.ones(len(places), bool)
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


def _complete(best: Places, similarity: Floats, found: Candidates, weight: Floats) -> Places:
    """The candidates again, those that have words of the query no earlier one has before others.

    `similarity` is that of each place, falling.
    """
    has = found.counts.take(best, axis=0) > 0
    brings = has * (COVER * weight)
    value, missing = similarity.copy(), np.logical_or.reduce(has).astype(np.float64)
    taken = [0]  # the best stays the best
    for _ in range(1, min(STEPS, len(best))):
        value[taken[-1]] = -np.inf
        missing[has[taken[-1]]] = 0.0
        if not missing.any():
            break
        taken.append(int((value + brings @ missing).argmax()))
    rest = np.ones(len(best), bool)
    rest[taken] = False
    again: Places = np.concatenate([best[taken], best[rest]])
    return again
