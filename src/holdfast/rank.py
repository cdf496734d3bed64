"""Candidates in, an order out: one ranking for every engine, and every score carries its why.

Evidence of a candidate is the share of the query's rare words that it has (its neighbours in the
session lend theirs), plus how far its meaning stands out in the scope, plus small cues: who says
it, whom the query asks about, a date that is named. Evidence gives the order; how near the best
candidate comes in words and meaning, taken absolutely, says whether anything is relevant at all.

The constants lie on plateaus: docs/recall.md says what each is worth and how it was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from itertools import compress
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from holdfast import lifetime, order
from holdfast.model import Weights, Why

RELEVANT = 0.4  # a best similarity under this is noise: recall would rather say nothing
K1 = 1.2  # how soon a repeated term stops adding; .9 to 1.6 are alike
B = 0.6  # how much a long memory's terms count less; .4 to .75 are alike
# Under half the mean length, or so many terms if that is less, nothing gains by being shorter,
LEAST_LENGTH, LEAST_TERMS = 0.5, 32
MOST_LENGTH = 4.0  # and over four times it nothing loses: the one place of a rare word is found
FULL = 1.6  # a term once, in a memory of usual length, counts FULL / (1 + K1) = .73
KNOWN = 1.5  # how much less words count in a scope that does not have them; 1 to 2 are alike
PARTS = 0.5  # of a query in several parts: weight of the part a memory has most of
LEND_WORDS = {-1: 0.8, 1: 0.6, -2: 0.6, 2: 0.6}  # a turn answers the one before: it lends most
LEND_MEANING = 0.5  # share of a neighbour's meaning; more hurts long answers
NOBODYS = -1e9  # the meaning of a neighbour that is not there
LEND_LONG = 0.25  # how much less is lent where memories are long, and say what they are about
MEANING = 0.08  # worth of one standard deviation of cosine, against 1 for all the words
# Where the words are known, the nearest is worth no more than so many: in a large scope of many
# topics whatever is on the topic stands out by twice that, and words tell which of it answers.
MEANING_MOST = 4.0
SPEAKER = 0.2  # the query names who says it; .14 to .27 are alike
ROLE = 0.06  # "I" asks for what the user said, "did you" for what the assistant said
SHORT = 0.12  # greetings carry no facts: the loss per e-fold under SHORT_TERMS, or the mean length
SHORT_TERMS = 16.0
DATE = 0.2  # it happened when the query says
NOISE_RANK, NOISE = 15, 0.2  # the 15th best evidence is noise: it has this share of the best;
NOISE_PART, NOISE_LEAST = 4, 3  # of few candidates, that of the best quarter's last, or the third
# Half way from noise to the best stand the peers, many with about the same share: recency reorders
# them, but lifts no junk among them, and none of them over what is clearly best. A part of the
# scale goes by place alone, so that none is lifted over many, however near they all are.
PLACE = 0.25
MIDDLE = NOISE + (1 - NOISE) / 2
GROUND_RANK, GROUND = 50, 0.03  # and the 50th best next to nothing; evenly in between
NOISE_MOST = 0.8  # of the best: where many are as good as it, they are no noise
# How sure it is that the best candidate is about the query: logistic fits of questions asked of
# their own store against another one, for words with MiniLM's cosines, and for words alone.
SURE_WORDS, SURE_COSINE, SURE_BIAS = 5.0, 20.0, 1.1
# The nearest of more unrelated memories than these is no nearer; one alone may come as near as the
CHANCE_LEAST, CHANCE_MOST = 20, 10_000  # nearest of a few, and nothing that answers is so far
# The more is said in a scope, in terms, the more of any query's words some memory has by chance;
SURE_TEXT, MUCH_TEXT = 0.45, 500.0  # .4 to .55 are alike
# and where none of the names in it was ever heard, memories are about somebody else: names are not
SURE_NAMES = 3.5  # said in other words. More, and a name typed wrong is refused; 3 to 4 are alike
ALONE_WORDS, ALONE_BIAS = 12.0, -1.5
EXACT_BIAS = -9.6  # with vectors too, words suffice where a memory has most of them itself
NEVER_SURE = -50.0
BACKGROUND = (0.058, 0.082)  # mean and spread of MiniLM's cosines between unrelated texts
# What cosines of a query are usual in a scope; worth so many memories where there are only few.
USUAL_MEAN, USUAL_SPREAD, USUAL_COUNT = 0.10, 0.11, 20.0
# Do neighbours speak of the same? Correlation of their cosines: unrelated notes 0, chats .2 to .7.
COHERENT_FROM, COHERENT_FULL, COHERENT_PRIOR, COHERENT_COUNT = 0.03, 0.12, 0.10, 20.0

Floats = NDArray[Any]
Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories that may be hits, as columns; `counts` has a column for each query term."""

    cosine: Floats  # NaN without a vector
    counts: Floats
    length: NDArray[np.integer]  # in terms
    session: NDArray[np.int64]  # a code, one below 0 for none
    turn: NDArray[np.integer]  # which of its session
    happened: Floats  # seconds since 1970
    named: NDArray[np.bool_]  # the query names who says it
    role: NDArray[np.int8]  # 1: a user says it, -1: an agent
    uses: NDArray[np.integer]
    ageless: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Sample:
    """Some memories of the scopes, in short runs: they tell what is usual there."""

    cosine: Floats
    named: NDArray[np.bool_]
    left: NDArray[np.int64]  # those that others follow a turn or two later,
    right: NDArray[np.int64]  # and the ones that do
    sides: Floats = field(default_factory=lambda: np.zeros((2, 3)))  # as `sides` tells them


@dataclass(frozen=True, slots=True)
class Wording:
    """How much the scopes searched say: memories, mean length, memories per query term."""

    size: int
    mean_length: float
    having: Floats


@dataclass(frozen=True, slots=True)
class Corpus(Wording):
    """What the scopes searched look like."""

    sample: Sample


@dataclass(frozen=True, slots=True)
class Asked:
    """What the query asks for, beside its words and its meaning."""

    now: float  # seconds since 1970
    about: int = 0  # 1: what the user said, -1: what the assistant said
    ranges: tuple[tuple[float, float], ...] = ()  # dates it names, as [start, end) in seconds
    parts: tuple[tuple[int, ...], ...] = ()  # places of the terms of each part, if it has several
    dated: int = 0  # so many terms, the last ones, name a date
    names: tuple[int, ...] = ()  # places of the terms that name somebody or something


@dataclass(frozen=True, slots=True)
class Ranking:
    """For each candidate its score and the parts of it."""

    score: Floats
    similarity: Floats
    recency: Floats
    frequency: Floats
    words: Floats
    evidence: Floats
    happened: Floats

    @property
    def order(self) -> Places:
        """All candidates, best first."""
        return order.best(self.score, len(self.score), self.happened)


def joined(parts: Sequence[Candidates]) -> Candidates:
    """The candidates of several scopes as one."""
    if len(parts) == 1:
        return parts[0]
    columns = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts])
        for field in fields(Candidates)
    }
    return Candidates(**columns)


def pooled(parts: Sequence[Sample]) -> Sample:
    """The samples of several scopes as one."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(len(part.cosine) for part in parts)])[:-1]
    return Sample(
        np.concatenate([part.cosine for part in parts]),
        np.concatenate([part.named for part in parts]),
        np.concatenate([part.left + start for part, start in zip(parts, starts, strict=True)]),
        np.concatenate([part.right + start for part, start in zip(parts, starts, strict=True)]),
        np.add.reduce([part.sides for part in parts]),
    )


def sides(role: NDArray[np.integer], length: NDArray[np.integer]) -> Floats:
    """How many memories agents, nobody and users have told, and how many terms in all."""
    counted = [np.bincount(role + 1, weights, 3) for weights in (None, length)]
    return np.array(counted, np.float64)


def rank(
    found: Candidates,
    corpus: Corpus,
    asked: Asked,
    weights: Weights,
    background: tuple[float, float] = BACKGROUND,
) -> Ranking:
    """The order of all candidates and where it comes from.

    `background`: the mean and spread of the embedder's cosines between unrelated texts.
    """
    usual = _told_by(corpus.sample)
    lending = _coherence(corpus.sample, usual) * _brevity(corpus)
    near = _neighbours(found) if lending else None
    weight = _told(corpus, asked)
    known = _known(corpus, weight)
    said = known * _words(found, corpus, asked, weight, near, lending)
    words = np.minimum(said, 1.0)
    meaning = _meaning(found, usual, said, near, lending)
    evidence = said + _bounded(meaning, known) + _cues(found, corpus, asked)
    first = order.best(evidence, GROUND_RANK)
    share = order.rearranged(_above_noise(evidence, first), first, found, weight)
    similarity = share * _sureness(found, corpus, asked, weight, background)
    recency = lifetime.recency(_age(found.happened, asked) / 86400, found.ageless)
    frequency = lifetime.frequency(found.uses)
    score = (
        weights.similarity * similarity + weights.recency * recency + weights.frequency * frequency
    )
    return Ranking(score, similarity, recency, frequency, words, evidence, found.happened)


def relevant(ranking: Ranking, min_score: float | None, limit: int | None = None) -> list[int]:
    """Which candidates are worth returning, best first, at most so many.

    Over the caller's threshold if there is one; else all with evidence for them, if the best is
    relevant.
    """
    if min_score is not None:
        kept = (ranking.score >= min_score).nonzero()[0]
    elif ranking.similarity.max(initial=0.0) < RELEVANT:
        return []
    else:
        kept = (ranking.evidence > 0).nonzero()[0]
    most = len(kept) if limit is None else limit
    best = order.best(ranking.score.take(kept), most, ranking.happened.take(kept))
    return cast("list[int]", kept.take(best).tolist())


def why(
    ranking: Ranking, found: Candidates, terms: Sequence[str], some: Sequence[int]
) -> Iterator[Why]:
    """Where the score of some candidates comes from."""
    told = (ranking.similarity, ranking.recency, ranking.frequency, ranking.words, found.cosine)
    parts = [column.take(some).tolist() for column in told]
    counts = found.counts.take(some, axis=0).tolist()
    for similarity, recency, frequency, words, cosine, counted in zip(*parts, counts, strict=True):
        yield Why(
            similarity=similarity,
            recency=recency,
            frequency=frequency,
            words=words,
            meaning=None if math.isnan(cosine) else min(1.0, max(0.0, cosine)),
            matched=tuple(compress(terms, counted)),
        )


def rarity(corpus: Wording) -> Floats:
    """How much each query term says: the fewer memories have it, the more."""
    lacking = np.maximum(corpus.size - corpus.having, 0.0)
    rare: Floats = np.log1p((lacking + 0.5) / (corpus.having + 0.5))
    return rare


def _told(corpus: Wording, asked: Asked) -> Floats:
    """Which share of the query's information each of its terms has.

    One that names a date has none where no memory names it.
    """
    weight = rarity(corpus)
    if asked.dated:
        told = np.arange(len(weight)) < len(weight) - asked.dated
        weight *= told | (corpus.having > 0)
    weight /= max(float(np.add.reduce(weight)), 1e-9)
    return weight


def saturation(counts: Floats, length: NDArray[np.integer], mean_length: float) -> Floats:
    """What having a term so often is worth in a memory of this length."""
    often = _often_by_length(mean_length).take(length, mode="clip")
    worth: Floats = FULL * counts / (counts + often[:, None])
    return worth


@lru_cache(maxsize=64)
def worth_by_length(mean_length: float) -> Floats:
    """What having a term once is worth in a memory of each length; the last is of all beyond."""
    worth: Floats = FULL / (1 + _often_by_length(mean_length))
    return worth


@lru_cache(maxsize=64)
def _often_by_length(mean_length: float) -> Floats:
    """How often a term must stand in a memory of each length for half of what it can be worth."""
    mean = max(mean_length, 1e-9)
    lengths = np.arange(int(MOST_LENGTH * max(mean_length, 1.0)) + 2)
    usual = np.minimum(lengths / mean, MOST_LENGTH)
    often: Floats = K1 * (1 - B + B * np.maximum(usual, min(LEAST_LENGTH, LEAST_TERMS / mean)))
    return often


def most_worth() -> float:
    """More than having a term once is worth in any memory."""
    return FULL / (1 + K1 * (1 - B))


def pairs(session: NDArray[np.integer], turn: NDArray[np.integer]) -> tuple[Places, Places]:
    """Which memories of a session others follow a turn or two later, and the ones that do."""
    _, left, right = zip(*_steps(session, turn), strict=True)
    return np.concatenate(left), np.concatenate(right)


def _steps(
    session: NDArray[np.integer], turn: NDArray[np.integer]
) -> Iterator[tuple[int, Places, Places]]:
    """One turn or two, the memories that have another so many turns on, and those others."""
    key = session.astype(np.int64) << 32 | turn
    ordered = np.argsort(key, kind="stable")
    ranked = key.take(ordered)
    alone = int(ranked.searchsorted(0))  # those of no session
    ordered, ranked = ordered[alone:], ranked[alone:]
    for places in (1, 2):
        left, right = ordered[:-places], ordered[places:]
        apart = ranked[places:] - ranked[:-places]
        for turns in range(places, 3):
            found = apart == turns
            yield turns, left.compress(found), right.compress(found)


def _neighbours(found: Candidates) -> Places:
    """For each distance of `LEND_WORDS` the neighbour of each; where it has none, their number."""
    count = len(found.session)
    near = np.full((len(LEND_WORDS), count), count)
    places = {distance: at for at, distance in enumerate(LEND_WORDS)}
    for distance, left, right in _steps(found.session, found.turn):
        near[places[distance], left] = right
        near[places[-distance], right] = left
    return near


def _lent(own: Floats, near: Places | None, shares: Floats | float, nothing: float) -> Floats:
    """The most that each has itself, or that a neighbour lends it; it may lend each its share."""
    if near is None:
        return own
    held = np.concatenate([own, np.full_like(own, nothing, shape=(1, *own.shape[1:]))])
    lent: Floats = held.take(near, axis=0)
    lent *= shares
    return np.maximum(own, np.maximum.reduce(lent))


@dataclass(frozen=True, slots=True)
class _Usual:
    """What cosines are usual in the scope: those of the sample, their mean and their spread."""

    cosine: Floats  # 0 without a vector
    mean: float
    spread: float


def _told_by(sample: Sample) -> _Usual:
    """The mean and spread of the query's cosines in the scope, as a sample tells them."""
    known = cosine = sample.cosine.astype(np.float64)
    unknown = np.isnan(cosine)
    if unknown.any():
        known = cosine[~unknown]
        cosine[unknown] = 0.0
    count = len(known) + USUAL_COUNT
    mean = (float(np.add.reduce(known)) + USUAL_COUNT * USUAL_MEAN) / count
    apart = known - mean
    squares = float(apart @ apart)
    squares += USUAL_COUNT * (USUAL_SPREAD**2 + (USUAL_MEAN - mean) ** 2)
    return _Usual(cosine, mean, math.sqrt(squares / count))


def _coherence(sample: Sample, usual: _Usual) -> float:
    """0..1: whether neighbours speak of the same, so that they may lend each other evidence."""
    apart = usual.cosine.copy()
    for side in (sample.named, ~sample.named) if sample.named.any() else (slice(None),):
        some = apart[side]
        apart[side] = some - np.add.reduce(some) / max(len(some), 1)
    left, right = apart.take(sample.left), apart.take(sample.right)
    norm = math.sqrt(float(left @ left) * float(right @ right))
    alike = float(left @ right) / norm if norm > 1e-12 else 0.0
    pairs = len(left)
    alike = (pairs * alike + COHERENT_COUNT * COHERENT_PRIOR) / (pairs + COHERENT_COUNT)
    return min(max((alike - COHERENT_FROM) / (COHERENT_FULL - COHERENT_FROM), 0.0), 1.0)


def _brevity(corpus: Corpus) -> float:
    """How much of what is lent counts: all of it where memories are as short as turns of a talk."""
    return math.pow(min(1.0, SHORT_TERMS / max(corpus.mean_length, 1.0)), LEND_LONG)


def _known(corpus: Corpus, weight: Floats) -> float:
    """How much words count, 0..1: less where the scope does not know much of the query at all.

    Where most of its words were never said, the few that were match by chance, and meaning must
    decide.
    """
    return math.pow(float(weight @ (corpus.having > 0)), KNOWN)


def _words(
    found: Candidates,
    corpus: Corpus,
    asked: Asked,
    weight: Floats,
    near: Places | None,
    lending: float,
) -> Floats:
    """The share of the query's information that a memory and its neighbours have.

    Of a query in several parts a memory need answer but one, so the part it has most of counts
    beside the whole.
    """
    own = saturation(found.counts, found.length, corpus.mean_length)
    shares = lending * np.array([*LEND_WORDS.values()])
    lent = _lent(own, near, shares[:, None, None], 0.0)
    share: Floats = lent @ weight
    if asked.parts:
        parts = [_part(lent, weight, list(part)) for part in asked.parts]
        share = (1 - PARTS) * share + PARTS * np.maximum.reduce(parts)
    return share


def _part(held: Floats, weight: Floats, some: list[int]) -> Floats:
    """How much is held of what some terms say together."""
    share: Floats = held[:, some] @ weight[some] / max(float(np.add.reduce(weight[some])), 1e-9)
    return share


def _meaning(
    found: Candidates, usual: _Usual, said: Floats, near: Places | None, lending: float
) -> Floats:
    """How far a memory's meaning, or a part of a neighbour's, stands out from what is usual.

    One that still waits for its vector is taken to mean as much as its words say.
    """
    own = (found.cosine - usual.mean) / usual.spread
    unknown = np.isnan(own)
    if unknown.any():
        own[unknown] = 0.0
        own[unknown] = own.max(initial=0.0) * np.minimum(said[unknown], 1.0)
    worth: Floats = MEANING * _lent(own, near, lending * LEND_MEANING, NOBODYS)
    return worth


def _bounded(meaning: Floats, known: float) -> Floats:
    """What meaning is worth beside words, the nearest at most `MEANING_MOST` where those count."""
    best = float(meaning.max(initial=0.0)) * known
    most = MEANING * MEANING_MOST
    return meaning * (most / best) if best > most else meaning


def _cues(found: Candidates, corpus: Corpus, asked: Asked) -> Floats:
    usual = _usual_length(corpus).take(found.role + 1)
    cues: Floats = SHORT * np.minimum(0.0, np.log(np.maximum(found.length, 1) / usual))
    cues += SPEAKER * found.named
    if asked.about:
        cues += ROLE * asked.about * found.role
    if asked.ranges:
        cues += DATE * _met(found.happened, asked.ranges)
    return cues


def _usual_length(corpus: Corpus) -> Floats:
    """How long memories of each side are: long answers do not make what users say short."""
    told = zip(*corpus.sample.sides.tolist(), strict=True)
    mean = (terms / count if count else corpus.mean_length for count, terms in told)
    return np.array([min(max(one, 1.0), SHORT_TERMS) for one in mean])


def _age(happened: Floats, asked: Asked) -> Floats:
    """How long ago, in seconds; or how far from the dates that the query names."""
    if not asked.ranges:
        return asked.now - happened
    apart = [np.maximum(start - happened, happened - end) for start, end in asked.ranges]
    nearest: Floats = np.min(apart, axis=0)
    return nearest


def _met(happened: Floats, ranges: Sequence[tuple[float, float]]) -> Floats:
    """1 inside a range that is named; less after it, for things are told later."""
    met = np.zeros(len(happened))
    for start, end in ranges:
        fade = max(end - start, 7 * 86400.0)
        late = np.where(happened >= end, 0.5 * (1 - (happened - end) / fade), 0.0)
        met = np.maximum(met, np.where((happened >= start) & (happened < end), 1.0, late))
    return met


def _above_noise(evidence: Floats, first: Places) -> Floats:
    """Evidence on the scale 0..1: the best is 1, noise is `NOISE`; flat where peers are.

    `first` are the places of the `GROUND_RANK` best, best first.
    """
    falling = evidence.take(first)
    best = max(_nth(falling, 1), 1e-9)
    rank = min(NOISE_RANK, max(NOISE_LEAST, len(evidence) // NOISE_PART))
    noise = min(_nth(falling, rank), NOISE_MOST * best)
    ground = min(_nth(falling, GROUND_RANK), noise)
    scaled = np.interp(evidence, (-max(ground, 1e-9), ground, noise), (0.0, GROUND, NOISE))
    above = (evidence >= noise).nonzero()[0]
    some = evidence.take(above)
    apart = 2 * (some - noise) / (best - noise) - 1
    better = (-falling).searchsorted(-some)
    place = np.maximum(1 - better / rank, 0.0)
    share = (1 - PLACE) * (1 + apart * apart * apart) / 2 + PLACE * place
    scaled[above] = NOISE + (1 - NOISE) * share
    return scaled


def _nth(falling: Floats, rank: int) -> float:
    """The evidence in this place, or nothing if there are fewer."""
    return max(float(falling[rank - 1]), 0.0) if len(falling) >= rank else 0.0


def _sureness(
    found: Candidates,
    corpus: Corpus,
    asked: Asked,
    weight: Floats,
    background: tuple[float, float],
) -> float:
    """How sure it is that the best candidate is about the query at all, 0..1.

    By the share of the query's information that a memory has itself, however long it is and
    whatever its neighbours say, and by its meaning. The more memories there are, the nearer the
    nearest comes by chance, and the more they say, the more words they have by chance.
    """
    mean, spread = background
    # Another embedder's cosines, as far above its background as MiniLM's would be above its own.
    cosine = BACKGROUND[0] + (found.cosine - mean) * BACKGROUND[1] / max(spread, 1e-3)
    size = min(max(corpus.size, CHANCE_LEAST), CHANCE_MOST)
    chance = BACKGROUND[0] + BACKGROUND[1] * math.sqrt(2 * math.log1p(size))
    words = (found.counts > 0) @ weight
    with_meaning = SURE_WORDS * words + SURE_COSINE * (cosine - chance) + SURE_BIAS
    alone = words[np.isnan(cosine)]
    near = max(
        float(np.fmax.reduce(with_meaning, initial=NEVER_SURE)),
        ALONE_WORDS * float(alone.max()) + ALONE_BIAS if len(alone) else NEVER_SURE,
    )
    much = SURE_TEXT * math.log1p(max(corpus.size, 0) * corpus.mean_length / MUCH_TEXT)
    exact = ALONE_WORDS * float(words.max(initial=0.0)) + EXACT_BIAS
    best = max(near - much, exact) - SURE_NAMES * _unheard(found, corpus, asked)
    return 1 / (1 + math.exp(-best))


def _unheard(found: Candidates, corpus: Wording, asked: Asked) -> bool:
    """Whether the query names somebody or something, and nobody here says or is any of them."""
    known = any(corpus.having[at] for at in asked.names)
    return bool(asked.names) and not known and not found.named.any()
