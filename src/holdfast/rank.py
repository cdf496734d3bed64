"""Candidates in, an order out: one ranking for every engine, and every score carries its why.

Evidence of a candidate is the share of the query's rare words that it has (its neighbours in the
session lend theirs), plus how far its meaning stands out in the scope, plus small cues: who says
it, whom the query asks about, a date that is named. Evidence gives the order; how near the best
candidate comes in words and meaning, taken absolutely, says whether anything is relevant at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from holdfast import lifetime
from holdfast.model import Weights, Why

RELEVANT = 0.25  # a best similarity under this is noise: recall would rather say nothing
NOISE = 0.01  # so little similarity is no reason to return anything
K1 = 1.2  # how soon a repeated term stops adding; .9 to 1.5 are alike
B = 0.6  # how much a long memory's terms count less; .4 to .75 are alike
FULL = 1.6  # a term once, in a memory of usual length, counts FULL / (1 + K1) = .73
LEND_WORDS = {-1: 0.8, 1: 0.6, -2: 0.6, 2: 0.6}  # a turn answers the one before: it lends most
LEND_MEANING = 0.5  # share of a neighbour's meaning; more hurts long answers
MEANING = 0.08  # worth of one standard deviation of cosine, against 1 for all the words
LEAST_STD = 0.03  # where all cosines are alike, their noise must not be blown up
SPEAKER = 0.18  # the query names who says it
ROLE = 0.08  # "I" asks for what the user said, "you" for what the assistant said
SHORT = 0.08  # greetings carry no facts: the loss per e-fold under SHORT_TERMS
SHORT_TERMS = 16.0
DATE = 0.2  # it happened when the query says
# How sure it is that the best candidate is about the query: logistic fits of questions asked of
# their own store against another one, for words with MiniLM's cosines, and for words alone.
SURE_WORDS, SURE_COSINE, SURE_BIAS = 3.0, 16.0, -8.0
ALONE_WORDS, ALONE_BIAS = 12.0, -3.6
BACKGROUND = (0.058, 0.082)  # mean and spread of MiniLM's cosines between unrelated texts
SHARPNESS = 2.0  # so that recency cannot overturn relevance

Floats = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories that may be hits, as columns; `counts` has a column for each query term."""

    cosine: Floats  # NaN without a vector
    counts: Floats
    length: NDArray[np.integer]  # in terms
    session: NDArray[np.int64]  # a code, -1 for none
    turn: NDArray[np.integer]  # which of its session
    happened: Floats  # seconds since 1970
    named: NDArray[np.bool_]  # the query names who says it
    role: NDArray[np.int8]  # 1: a user says it, -1: an agent
    uses: NDArray[np.integer]
    ageless: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the scopes searched look like: memories, mean length, memories per query term."""

    size: int
    mean_length: float
    having: Floats
    cosine_mean: float
    cosine_std: float


@dataclass(frozen=True, slots=True)
class Asked:
    """What the query asks for, beside its words and its meaning."""

    now: float  # seconds since 1970
    about: int = 0  # 1: what the user said, -1: what the assistant said
    ranges: tuple[tuple[float, float], ...] = ()  # dates it names, as [start, end) in seconds
    background: tuple[float, float] = BACKGROUND  # of the embedder in use


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates' order, best first, and for each candidate its score and the parts of it."""

    order: NDArray[np.int64]
    score: Floats
    similarity: Floats
    recency: Floats
    frequency: Floats
    words: Floats
    meaning: Floats


def joined(parts: Sequence[Candidates], terms: int) -> Candidates:
    """The candidates of several scopes as one."""
    if len(parts) == 1:
        return parts[0]
    none = np.empty(0)
    empty = {"counts": np.empty((0, terms))}
    return Candidates(
        **{
            field.name: np.concatenate(
                [getattr(part, field.name) for part in parts] or [empty.get(field.name, none)]
            )
            for field in fields(Candidates)
        }
    )


def rank(found: Candidates, corpus: Corpus, asked: Asked, weights: Weights) -> Ranking:
    """The order of all candidates and where it comes from."""
    near = _links(found)
    said = _words(found, corpus, near)
    meant = np.where(np.isnan(found.cosine), 0.0, found.cosine)
    evidence = said + _stands_out(found, corpus, near) + _cues(found, asked)
    similarity = _similarity(evidence, _sureness(found, said, asked))
    recency = lifetime.recency((asked.now - found.happened) / 86400, found.ageless)
    frequency = lifetime.frequency(found.uses)
    score = (
        weights.similarity * similarity + weights.recency * recency + weights.frequency * frequency
    )
    order = np.lexsort((-found.happened, -score))
    return Ranking(order, score, similarity, recency, frequency, np.minimum(said, 1.0), meant)


def relevant(ranking: Ranking, min_score: float | None) -> list[int]:
    """Which candidates are worth returning, best first.

    Over the caller's threshold if there is one; else all that is not noise, if the best of it
    is relevant.
    """
    order, similarity = ranking.order, ranking.similarity
    if min_score is not None:
        return [int(at) for at in order[ranking.score[order] >= min_score]]
    if not len(order) or similarity.max() < RELEVANT:
        return []
    return [int(at) for at in order[similarity[order] > NOISE]]


def why(ranking: Ranking, found: Candidates, terms: Sequence[str], at: int) -> Why:
    """Where the score of a candidate comes from."""
    return Why(
        similarity=float(ranking.similarity[at]),
        recency=float(ranking.recency[at]),
        frequency=float(ranking.frequency[at]),
        words=float(ranking.words[at]),
        meaning=None if np.isnan(found.cosine[at]) else float(ranking.meaning[at]),
        matched=tuple(term for term, n in zip(terms, found.counts[at], strict=True) if n),
    )


def rarity(corpus: Corpus) -> Floats:
    """How much each query term says: the fewer memories have it, the more."""
    return np.log1p((corpus.size - corpus.having + 0.5) / (corpus.having + 0.5))


def saturation(counts: Floats, length: NDArray[np.integer], corpus: Corpus) -> Floats:
    """What having a term so often is worth; a short memory gets no bonus for being short."""
    norm = 1 - B + B * np.maximum(length / max(corpus.mean_length, 1e-9), 1.0)
    worth: Floats = FULL * counts / (counts + K1 * norm[:, None])
    return worth


Links = dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]]


def _links(found: Candidates) -> Links:
    """For each distance: which candidates have which neighbour so many turns on."""
    key = found.session << 32 | found.turn.astype(np.int64)
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    near: Links = {}
    for distance in LEND_WORDS:
        at = np.minimum(np.searchsorted(ranked, key + distance), len(key) - 1)
        have = np.flatnonzero((ranked[at] == key + distance) & (found.session >= 0))
        near[distance] = have, order[at[have]]
    return near


def _words(found: Candidates, corpus: Corpus, near: Links) -> Floats:
    """The share of the query's information that a memory and its neighbours have."""
    weight = rarity(corpus)
    own = saturation(found.counts, found.length, corpus)
    lent = own.copy()
    for distance, (have, neighbour) in near.items():
        lent[have] = np.maximum(lent[have], LEND_WORDS[distance] * own[neighbour])
    share: Floats = lent @ weight / max(float(weight.sum()), 1e-9)
    return share


def _stands_out(found: Candidates, corpus: Corpus, near: Links) -> Floats:
    """How far a memory's meaning, or a part of a neighbour's, stands out from what is usual."""
    own = (found.cosine - corpus.cosine_mean) / max(corpus.cosine_std, LEAST_STD)
    own = np.nan_to_num(own)
    lent = own.copy()
    for have, neighbour in near.values():
        lent[have] = np.maximum(lent[have], LEND_MEANING * own[neighbour])
    worth: Floats = MEANING * lent
    return worth


def _cues(found: Candidates, asked: Asked) -> Floats:
    short = np.minimum(0.0, np.log(np.maximum(found.length, 1) / SHORT_TERMS))
    cues: Floats = SPEAKER * found.named + ROLE * asked.about * found.role + SHORT * short
    return cues + DATE * _met(found.happened, asked.ranges) if asked.ranges else cues


def _met(happened: Floats, ranges: Sequence[tuple[float, float]]) -> Floats:
    """1 inside a range that is named; less after it, for things are told later."""
    met = np.zeros(len(happened))
    for start, end in ranges:
        fade = max(end - start, 7 * 86400.0)
        late = np.where(happened >= end, 0.5 * (1 - (happened - end) / fade), 0.0)
        met = np.maximum(met, np.where((happened >= start) & (happened < end), 1.0, late))
    return met


def _similarity(evidence: Floats, sureness: float) -> Floats:
    """Evidence on the scale 0..1, on which one threshold means relevant in every store."""
    best = max(float(evidence.max(initial=0.0)), 1e-9)
    share: Floats = sureness * np.clip(evidence / best, 0.0, 1.0) ** SHARPNESS
    return share


def _sureness(found: Candidates, said: Floats, asked: Asked) -> float:
    """How sure it is that the best candidate is about the query at all, 0..1."""
    words = np.minimum(said, 1.0)
    mean, spread = asked.background
    # Another embedder's cosines, as far above its background as MiniLM's would be above its own.
    cosine = BACKGROUND[0] + (found.cosine - mean) * BACKGROUND[1] / max(spread, 1e-3)
    with_meaning = SURE_WORDS * words + SURE_COSINE * cosine + SURE_BIAS
    alone = ALONE_WORDS * words + ALONE_BIAS
    best = float(np.where(np.isnan(cosine), alone, with_meaning).max(initial=-50.0))
    return 1 / (1 + math.exp(-best))
