"""Candidates in, an order out."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from holdfast import lifetime, rank
from holdfast.model import Weights
from holdfast.rank import Asked, Candidates, Corpus, Sample

DAY = 86400.0
NOW = 1000 * DAY
ASKED = Asked(NOW)
RELEVANCE = Weights(1.0, 0.0, 0.0)


def some(counts: list[list[int]], **columns: Any) -> Candidates:
    """Candidates, one a row of counts; what is not given is the same for all."""
    many = len(counts)
    given: dict[str, Any] = {
        "cosine": np.full(many, 0.2),
        "counts": np.array(counts, float).reshape(many, -1),
        "length": np.full(many, 8),
        "session": np.full(many, -1, np.int64),
        "turn": np.zeros(many, int),
        "happened": np.full(many, NOW - 100 * DAY),
        "named": np.zeros(many, bool),
        "role": np.zeros(many, np.int8),
        "uses": np.zeros(many, int),
        "ageless": np.zeros(many, bool),
    }
    return Candidates(**(given | {name: np.asarray(value) for name, value in columns.items()}))


def scope(found: Candidates, size: int = 500, sample: Sample | None = None) -> Corpus:
    """A scope in which every term that a candidate has is in as many memories as candidates."""
    nothing = Sample(np.zeros(0), np.zeros(0, bool), np.zeros(0, int), np.zeros(0, int))
    return Corpus(size, 8.0, (found.counts > 0).sum(axis=0), sample or nothing)


def best(found: Candidates, asked: Asked = ASKED, weights: Weights = RELEVANCE) -> list[int]:
    return [int(at) for at in rank.rank(found, scope(found), asked, weights).order]


def chat(alike: bool) -> Sample:
    """A sample of one long session in which neighbours are, or are not, about the same."""
    at = np.arange(200)
    cosine = np.where(at // 20 % 2 if alike else at % 2, 0.4, 0.1)
    return Sample(cosine, np.zeros(200, bool), *rank.pairs(np.zeros(200, int), at))


def test_the_score_is_the_formula() -> None:
    found = some([[1, 0], [1, 1]], uses=[3, 0], happened=[NOW - DAY, NOW - 40 * DAY])
    for weights in (Weights(), RELEVANCE, Weights(0.2, 0.5, 0.3)):
        ranking = rank.rank(found, scope(found), ASKED, weights)
        assert ranking.score == pytest.approx(
            weights.similarity * ranking.similarity
            + weights.recency * ranking.recency
            + weights.frequency * ranking.frequency
        )
        assert ((ranking.score >= 0) & (ranking.score <= 1)).all()


def test_a_rare_word_says_more_than_a_common_one() -> None:
    assert best(some([[1, 0], [0, 1], [0, 1], [0, 1]]))[0] == 0


def test_meaning_finds_what_shares_no_word() -> None:
    assert best(some([[], [], []], cosine=[0.1, 0.7, 0.2]))[0] == 1


def test_an_exact_name_is_found_though_no_vector_is_near() -> None:
    assert best(some([[1], [0], [0]], cosine=[0.05, 0.3, 0.3]))[0] == 0


def test_the_only_one_with_a_word_is_found_however_long_it_is() -> None:
    cosine = [0.35] * 6 + [0.12]
    found = some([[0]] * 6 + [[1]], cosine=cosine, length=[8] * 6 + [400])
    assert best(found)[0] == 6


def test_what_waits_for_its_vector_is_taken_by_its_words() -> None:
    found = some([[0]] * 6 + [[1]], cosine=[0.7] * 6 + [np.nan], length=[8] * 6 + [32])
    assert best(found)[0] == 6


def test_of_a_query_in_two_parts_a_memory_need_answer_but_one() -> None:
    # Terms: Carla, work | Hugo, dog. The first has a word of each, the second one part whole.
    found = some([[1, 0, 0, 1], [1, 1, 0, 0]])
    together = rank.rank(found, scope(found), ASKED, RELEVANCE).evidence
    apart = rank.rank(
        found, scope(found), replace(ASKED, parts=((0, 1), (2, 3))), RELEVANCE
    ).evidence
    assert together[1] <= together[0]
    assert apart[1] > apart[0]


def test_neighbours_lend_only_where_they_speak_of_the_same() -> None:
    found = some([[1, 0], [0, 0], [0, 0]], session=[1, 1, 2], turn=[4, 5, 0], cosine=[0.2] * 3)
    for alike in (True, False):
        ranking = rank.rank(found, scope(found, sample=chat(alike)), ASKED, RELEVANCE)
        assert bool(ranking.words[1]) is alike
        assert ranking.words[2] == 0


def test_long_memories_borrow_less() -> None:
    def lent(length: int) -> float:
        found = some([[1], [0]], session=[0, 0], turn=[0, 1], length=[length] * 2)
        corpus = replace(scope(found, sample=chat(True)), mean_length=float(length))
        words = rank.rank(found, corpus, ASKED, RELEVANCE).words
        return float(words[1] / words[0])

    assert lent(8) == pytest.approx(lent(16)) == pytest.approx(0.8)
    assert lent(160) < lent(32) < lent(16)


def test_among_long_memories_a_short_one_gains_by_being_short() -> None:
    found = some([[1], [1], [1]], length=[40, 80, 160])
    worth = rank.saturation(found.counts, found.length, 160.0)
    assert worth[0, 0] > worth[1, 0] > worth[2, 0]
    few = rank.saturation(found.counts, found.length // 40, 4.0)
    assert few[0, 0] == few[1, 0] > few[2, 0]  # a word of thanks does not
    assert rank.most_worth() > max(worth.max(), few.max())


def test_where_words_are_known_they_tell_which_of_the_near_ones_answers() -> None:
    far = Sample(np.full(400, 0.05), np.zeros(400, bool), np.zeros(0, int), np.zeros(0, int))
    found = some([[1, 0, 0], [1, 1, 1], *[[0, 0, 0]] * 30], cosine=[0.75, 0.5, *[0.05] * 30])
    known = scope(found, 20_000, far)
    assert rank.rank(found, known, ASKED, RELEVANCE).order[0] == 1
    unknown = replace(known, having=np.array([known.having[0], 0, 0]))
    first = some([[1, 0, 0], [1, 0, 0], *[[0, 0, 0]] * 30], cosine=found.cosine)
    assert rank.rank(first, unknown, ASKED, RELEVANCE).order[0] == 0


def test_the_one_who_is_named_and_the_day_that_is_named_count() -> None:
    assert best(some([[1], [1]], named=[False, True]))[0] == 1
    then = Asked(NOW, ranges=((NOW - 50 * DAY, NOW - 40 * DAY),))
    assert best(some([[1], [1]], happened=[NOW - 90 * DAY, NOW - 45 * DAY]), then)[0] == 1


@pytest.mark.parametrize(("about", "first"), [(1, 0), (-1, 1)])
def test_what_i_said_and_what_you_said(about: int, first: int) -> None:
    assert best(some([[1], [1]], role=[1, -1]), Asked(NOW, about))[0] == first


def test_recency_reorders_peers_but_brings_no_junk_up() -> None:
    happened = [NOW - 400 * DAY, NOW - DAY, *[NOW - DAY] * 30]
    found = some([[1, 1], [1, 0], *[[0, 0]] * 30], happened=happened)
    assert set(best(found, weights=Weights())[:2]) == {0, 1}


@pytest.mark.parametrize("many", [3, 10, 30, 200])
def test_what_is_clearly_best_stays_first_however_old_it_is(many: int) -> None:
    cosine = np.linspace(0.28, 0.0, many)  # the second is half as near as the first,
    cosine[0] = 0.55
    happened = np.full(many, NOW - DAY)  # and of yesterday
    happened[0] = NOW - 300 * DAY
    found = some([[]] * many, cosine=cosine, happened=happened)
    assert best(found, weights=Weights())[0] == 0


def test_recency_is_counted_from_the_dates_that_are_named() -> None:
    then = Asked(NOW, ranges=((NOW - 300 * DAY, NOW - 290 * DAY), (NOW - 20 * DAY, NOW - 10 * DAY)))
    days = np.array([295, 300, 320, 390, 15, 9, 0])
    found = some([[1]] * 7, happened=NOW - days * DAY)
    recency = rank.rank(found, scope(found), then, Weights()).recency
    new = rank.rank(found, scope(found), ASKED, Weights()).recency
    assert recency[[0, 1, 4]] == pytest.approx([new[-1]] * 3)
    assert recency[2:4] == pytest.approx(lifetime.recency(np.array([20, 90]), np.zeros(2)))
    assert recency[5:] == pytest.approx(lifetime.recency(np.array([1, 10]), np.zeros(2)))


def test_nothing_near_is_nothing_relevant() -> None:
    found = some([[0, 0]] * 3, cosine=[0.05, 0.1, 0.08])
    ranking = rank.rank(found, scope(found), ASKED, Weights())
    assert rank.relevant(ranking, None) == []
    assert len(rank.relevant(ranking, 0.0)) == 3


def test_the_nearest_of_many_must_be_nearer_than_the_nearest_of_few() -> None:
    found = some([[0]], cosine=[0.35])
    few, many = (
        rank.rank(found, scope(found, size), ASKED, RELEVANCE).similarity[0] for size in (5, 5000)
    )
    assert few > many


def test_the_only_one_of_all_must_be_as_near_as_the_nearest_of_a_few() -> None:
    found = some([[0]], cosine=[0.15])
    one, few = (rank.rank(found, scope(found, size), ASKED, RELEVANCE) for size in (1, 20))
    assert rank.relevant(one, None) == rank.relevant(few, None) == []


def test_where_much_is_said_a_few_of_the_words_say_less() -> None:
    found = some([[1, 0, 0, 0]], cosine=[0.3])
    little = scope(found, 400)
    much = replace(little, mean_length=200.0)
    sure = [
        float(rank.rank(found, one, ASKED, RELEVANCE).similarity.max()) for one in (little, much)
    ]
    assert sure[0] > rank.RELEVANT > sure[1]


@pytest.mark.parametrize("cosine", [0.4, np.nan])
def test_a_name_that_was_never_heard_makes_the_rest_of_the_words_doubtful(cosine: float) -> None:
    found = some([[0, 1, 0]], cosine=[cosine])
    known = replace(scope(found), having=np.array([1, 1, 0]))
    for places, heard in (((), True), ((2,), False), ((0, 2), True)):
        ranking = rank.rank(found, known, Asked(NOW, names=places), RELEVANCE)
        assert bool(rank.relevant(ranking, None)) is heard


def test_who_speaks_here_has_been_heard() -> None:
    found = some([[0, 1]], cosine=[0.4], named=[True])
    ranking = rank.rank(found, scope(found), Asked(NOW, names=(0,)), RELEVANCE)
    assert rank.relevant(ranking, None)


def test_all_the_words_suffice_however_much_is_said() -> None:
    found = some([[1, 1]], cosine=[0.0])
    much = replace(scope(found, 1_000_000), mean_length=500.0)
    assert rank.relevant(rank.rank(found, much, ASKED, RELEVANCE), None) == [0]


def test_cosines_are_read_against_the_embedders_own_background() -> None:
    mean, spread = 0.7, 0.02  # an embedder that finds everything alike
    near, far = mean + 8 * spread, mean + spread
    for cosine, relevant in ((near, True), (far, False)):
        found = some([[0]], cosine=[cosine])
        ranking = rank.rank(found, scope(found), ASKED, RELEVANCE, (mean, spread))
        assert bool(rank.relevant(ranking, None)) is relevant


def test_without_vectors_words_decide() -> None:
    found = some([[1, 1], [0, 0]], cosine=[np.nan, np.nan])
    ranking = rank.rank(found, scope(found), ASKED, RELEVANCE)
    assert rank.relevant(ranking, None)[0] == 0
    (why,) = rank.why(ranking, found, ("tea", "green"), [0])
    assert why.meaning is None
    assert why.matched == ("tea", "green")


def test_equals_are_told_apart_by_time() -> None:
    found = some([[1], [1]], happened=[NOW - 20 * DAY, NOW - 10 * DAY])
    assert best(found) == [1, 0]


def test_what_users_say_is_not_short_beside_long_answers() -> None:
    found = some([[1], [1]], role=[1, -1], length=[7, 7])
    told = rank.sides(np.array([1, 1, -1, -1]), np.array([6, 8, 60, 80]))
    nothing = Sample(np.zeros(0), np.zeros(0, bool), np.zeros(0, int), np.zeros(0, int), told)
    ranking = rank.rank(found, scope(found, sample=nothing), ASKED, RELEVANCE)
    assert ranking.order.tolist() == [0, 1]
    assert ranking.evidence[0] > ranking.evidence[1]


def test_the_sides_of_several_scopes_are_counted_together() -> None:
    told = rank.sides(np.array([1, 0, 1]), np.array([4, 5, 6]))
    assert told.tolist() == [[0, 1, 2], [0, 5, 10]]
    one = Sample(np.zeros(0), np.zeros(0, bool), np.zeros(0, int), np.zeros(0, int), told)
    assert rank.pooled([one, one]).sides.tolist() == [[0, 2, 4], [0, 10, 20]]


def test_a_date_in_words_counts_only_where_a_memory_has_it() -> None:
    found = some([[1, 0], [1, 0]])
    dated, plain = Asked(NOW, dated=1), Asked(NOW)
    nowhere = [rank.rank(found, scope(found), it, RELEVANCE).words[0] for it in (dated, plain)]
    assert nowhere[0] > nowhere[1]
    written = some([[1, 0], [1, 1]])
    assert best(written, dated)[0] == 1
