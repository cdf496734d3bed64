"""How good an order is: the measures of FIELD 6.1, each a plain function of ids.

With G the gold ids and R_k the first k found:
hit@k = 1 if any of G is in R_k; recall@k = the share of G in R_k; recall_all@k = 1 if all of G is;
MRR = 1 / rank of the first of G, 0 if it is not found; NDCG@k with gain 1 for gold, over the best
order that the whole corpus allows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

KS = (1, 5, 10, 20)
EXACT = 12  # differences, of which every way to give them signs is tried; of more, some thousands

Scores = dict[str, float]


def scores(found: Sequence[str], gold: Iterable[str], ks: Sequence[int] = KS) -> Scores:
    """Every measure of one answer; `gold` must not be empty."""
    wanted = set(gold)
    ranks = [rank for rank, id in enumerate(found, 1) if id in wanted]
    measured = {"mrr": 1 / ranks[0] if ranks else 0.0}
    for k in ks:
        within = [rank for rank in ranks if rank <= k]
        measured[f"hit@{k}"] = float(bool(within))
        measured[f"recall@{k}"] = len(within) / len(wanted)
        measured[f"recall_all@{k}"] = float(len(within) == len(wanted))
        measured[f"ndcg@{k}"] = _gain(within) / _gain(range(1, min(k, len(wanted)) + 1))
    return measured


def _gain(ranks: Iterable[int]) -> float:
    return sum(1 / math.log2(rank + 1) for rank in ranks)


def sessions(found: Sequence[str], of: Mapping[str, Sequence[str]]) -> list[str]:
    """The sessions of what was found, in the order of their best item."""
    return list(dict.fromkeys(session for id in found for session in of[id]))


def newest_first(found: Sequence[str], newest: Iterable[str], stale: Iterable[str]) -> float:
    """1 if the newest value is found, and above every stale one."""
    rank = {id: at for at, id in enumerate(found)}
    last = len(found)
    best = min((rank.get(id, last) for id in newest), default=last)
    return float(best < last and all(best < rank.get(id, last) for id in stale))


def mean(measured: Sequence[Mapping[str, float]]) -> Scores:
    """Each measure's mean, over those answers that have it."""
    values: dict[str, list[float]] = defaultdict(list)
    for one in measured:
        for name, value in one.items():
            values[name].append(value)
    return {name: sum(found) / len(found) for name, found in values.items()}


def by_chance(ours: Sequence[float], other: Sequence[float], seed: int = 1) -> float:
    """How likely chance alone puts the first so far below the second, or further, on average.

    A paired test of signs at random: each question's difference keeps its size, and could as well
    have been the other way round.
    """
    apart = np.subtract(ours, other)
    apart = np.abs(apart[apart != 0])
    if not len(apart):
        return 1.0
    below = float(np.subtract(ours, other).sum()) + 1e-9
    if len(apart) <= EXACT:
        flips = np.arange(1 << len(apart))[:, None] >> np.arange(len(apart)) & 1
    else:
        flips = np.random.default_rng(seed).integers(0, 2, (1 << EXACT, len(apart)))
    return float(((2 * flips - 1) @ apart <= below).mean())


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """How likely one of the first is above one of the second; a tie counts half."""
    if not higher or not lower:
        return math.nan
    ordered = np.sort(np.asarray(lower))
    above = np.searchsorted(ordered, higher, side="left")
    not_below = np.searchsorted(ordered, higher, side="right")
    return float((above + not_below).mean() / 2 / len(ordered))
