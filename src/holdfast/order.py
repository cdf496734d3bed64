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


def rearranged(similarity: Floats, found: Candidates, rarity: Floats) -> Floats:
    """The similarities, given to the candidates in a better order."""
    total = float(rarity.sum())
    if total <= 0 or not len(similarity):
        return similarity
    weight = rarity / total
    best = np.argsort(-similarity, kind="stable")[:POOL]
    newest = _newest_first(best, similarity, found, weight)
    better = _complete(newest, similarity, found, weight)
    given = similarity.copy()
    given[better] = similarity[best]
    return given


def _newest_first(best: Places, similarity: Floats, found: Candidates, weight: Floats) -> Places:
    """The candidates with the newest of each group of twins in the group's first place."""
    top = best[:TWIN_POOL]
    has = found.counts[top] > 0
    free = (has @ weight >= TWIN_WORDS) & (has.sum(axis=1) >= 2)
    free &= found.length[top] <= TWIN_TERMS
    if np.count_nonzero(free) < 2:
        return best
    better, near = best.copy(), similarity.take(top)
    for at in np.flatnonzero(free):
        if free[at]:
            apart = 1 - near / max(near[at], 1e-9)
            peers = apart <= TWIN_APART * _in_common(has, int(at), weight)
            group = np.flatnonzero(free & peers & _apart_in_time(top, int(at), found))
            free[group] = False
            newest = np.argsort(-found.happened[top[group]], kind="stable")
            better[group] = top[group[newest]]
    return better


def _in_common(has: NDArray[np.bool_], at: int, weight: Floats) -> Floats:
    """The share of the query's words that one of them or each other has which both have."""
    both, either = has & has[at], has | has[at]
    share: Floats = (both @ weight) / np.maximum(either @ weight, 1e-9)
    return share


def _apart_in_time(top: Places, at: int, found: Candidates) -> NDArray[np.bool_]:
    """Which candidates the same side said as one of them, itself too, at another time."""
    one = top[at]
    alike = (found.role[top] == found.role[one]) & (found.named[top] == found.named[one])
    # A turn or two apart they go on with each other; they do not correct each other.
    beside = (found.session[top] == found.session[one]) & (found.session[top] >= 0)
    beside &= np.abs(found.turn[top] - found.turn[one]) <= 2
    beside[at] = False
    both: NDArray[np.bool_] = alike & ~beside
    return both


def _complete(best: Places, similarity: Floats, found: Candidates, weight: Floats) -> Places:
    """The candidates again, those that have words of the query no earlier one has before others."""
    has = found.counts.take(best, axis=0) > 0
    value = -np.sort(-similarity.take(best))
    missing = weight * has.any(axis=0)
    taken = [0]  # the best stays the best
    for _ in range(1, min(STEPS, len(best))):
        value[taken[-1]] = -np.inf
        missing[has[taken[-1]]] = 0.0
        if not missing.any():
            break
        taken.append(int((value + COVER * (has @ missing)).argmax()))
    rest = np.ones(len(best), bool)
    rest[taken] = False
    again: Places = np.concatenate([best[taken], best[rest]])
    return again
