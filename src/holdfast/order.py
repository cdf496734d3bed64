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
# Two statements of the same: this share of the query's words, the same ones, about as near in
# meaning, about as long, and short.
TWIN_WORDS, TWIN_COSINE, TWIN_LENGTH, TWIN_TERMS, TWIN_POOL = 0.6, 0.15, 0.7, 30, 20

Floats = NDArray[Any]
Places = NDArray[np.int64]


def rearranged(similarity: Floats, found: Candidates, rarity: Floats) -> Floats:
    """The similarities, given to the candidates in a better order."""
    total = float(rarity.sum())
    if total <= 0 or not len(similarity):
        return similarity
    weight = rarity / total
    best = np.argsort(-similarity, kind="stable")[:POOL]
    falling = similarity.take(best)
    better = _complete(_newest_first(best, found, weight), falling, found, weight)
    given = similarity.copy()
    given[better] = falling
    return given


def _newest_first(best: Places, found: Candidates, weight: Floats) -> Places:
    """The candidates with the newest of each group of twins in the group's first place."""
    top = best[:TWIN_POOL]
    has = found.counts.take(top, axis=0) > 0
    telling = (has @ weight >= TWIN_WORDS) & (found.length.take(top) <= TWIN_TERMS)
    places = (telling & (np.count_nonzero(has, axis=1) >= 2)).nonzero()[0]
    if len(places) < 2:
        return best
    twins = _twins(top.take(places), has.take(places, axis=0), found)
    if np.count_nonzero(twins) == len(places):  # each is its own twin, and nobody else's
        return best
    better, free = best.copy(), np.ones(len(places), bool)
    for at in range(len(places)):
        if free[at]:
            group = (free & twins[at]).nonzero()[0]
            free[group] = False
            taken = places.take(group)
            newest = np.argsort(-found.happened.take(top.take(taken)), kind="stable")
            better[taken] = top.take(taken.take(newest))
    return better


def _twins(some: Places, has: NDArray[np.bool_], found: Candidates) -> NDArray[np.bool_]:
    """Which of some state the same as which, said by the same side at another time."""
    length, cosine = found.length.take(some), found.cosine.take(some)
    session, turn = found.session.take(some), found.turn.take(some)
    side = 2 * found.role.take(some) + found.named.take(some)
    alike = (has[:, None] == has).all(axis=2) & (side[:, None] == side)
    # Without vectors, words decide.
    alike &= ~(np.abs(cosine[:, None] - cosine) > TWIN_COSINE)
    longer, shorter = np.maximum(length[:, None], length), np.minimum(length[:, None], length)
    alike &= shorter >= TWIN_LENGTH * longer
    # A turn or two apart they go on with each other; they do not correct each other.
    beside = (session[:, None] == session) & (session >= 0)
    beside &= np.abs(turn[:, None] - turn) <= 2
    np.fill_diagonal(beside, False)
    both: NDArray[np.bool_] = alike & ~beside
    return both


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
