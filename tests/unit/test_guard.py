"""An embedder that can be trusted, whatever it does."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast.embed.guard import LONGEST_REST_SECONDS, QUERIES, Guarded
from holdfast.errors import EmbedderFailed
from holdfast.testing import MoodyEmbedder
from holdfast.text import passages


class Ticks:
    """A monotonic clock that is moved by hand."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Answers:
    """An embedder that gives whatever it was made with."""

    name, version, dimension, local = "answers", "1", 2, True

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = self.answer
        return found


def test_vectors_come_with_unit_length() -> None:
    assert Guarded(Answers([[3.0, 4.0]])).query("tea").tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("mood", ["down", "nan", "lying"])
def test_a_bad_mood_is_one_typed_error_that_names_the_embedder(mood: str) -> None:
    with pytest.raises(EmbedderFailed, match="moody"):
        Guarded(MoodyEmbedder(mood)).query("tea")


@pytest.mark.parametrize(
    "answer",
    [
        *(None, 7, "vectors", [], [[]], [[1.0]], [[1.0, 2.0, 3.0]], [[1.0, 2.0], [1.0, 2.0]]),
        *([[0.0, 0.0]], [[float("nan"), 1.0]], [[float("inf"), 1.0]], [["a", "b"]]),
        *([[1.0, 2.0], [1.0]], [{"a": 1}], [[1.0, None]], [[1 + 2j, 1.0]], np.zeros((1, 2, 1))),
    ],
    ids=repr,
)
def test_what_is_no_vector_is_refused(answer: Any) -> None:
    with pytest.raises(EmbedderFailed):
        Guarded(Answers(answer)).query("tea")


@pytest.mark.parametrize("size", [1e-30, 1e30, 1e300])
def test_a_vector_of_any_length_is_made_unit_or_refused(size: float) -> None:
    try:
        vector = Guarded(Answers([[size, size]])).query("tea")
    except EmbedderFailed:
        return
    assert float(np.linalg.norm(vector)) == pytest.approx(1, abs=1e-3)


def test_after_a_failure_it_rests_and_is_not_called() -> None:
    clock, embedder = Ticks(), MoodyEmbedder("down")
    guarded = Guarded(embedder, clock=clock)
    for wait in (0.0, 0.5, 0.4):
        clock.now += wait
        with pytest.raises(EmbedderFailed):
            guarded.query("tea")
    assert embedder.calls == 1
    clock.now += 0.2
    with pytest.raises(EmbedderFailed, match="nobody answers"):
        guarded.query("tea")
    assert embedder.calls == 2


def rests(guarded: Guarded, embedder: MoodyEmbedder, clock: Ticks, times: int) -> list[int]:
    """How many seconds it rests after each of so many failures in a row."""
    found = []
    for _ in range(times):
        calls, waited = embedder.calls, 0
        while embedder.calls == calls:
            clock.now += 1
            waited += 1
            with pytest.raises(EmbedderFailed):
                guarded.query("tea")
        found.append(waited)
    return found


def test_its_rest_doubles_with_each_failure_up_to_a_minute() -> None:
    clock, embedder = Ticks(), MoodyEmbedder("down")
    found = rests(Guarded(embedder, clock=clock), embedder, clock, 9)
    assert found == [1, 1, 2, 4, 8, 16, 32, LONGEST_REST_SECONDS, LONGEST_REST_SECONDS]


def test_a_success_ends_the_doubling() -> None:
    clock, embedder = Ticks(), MoodyEmbedder("down")
    guarded = Guarded(embedder, clock=clock)
    rests(guarded, embedder, clock, 5)
    embedder.mood, clock.now = "well", clock.now + 60
    guarded.query("coffee")
    embedder.mood = "down"
    assert rests(guarded, embedder, clock, 3) == [1, 1, 2]


def test_a_slow_one_is_left_behind() -> None:
    embedder = MoodyEmbedder("slow", local=False)
    with pytest.raises(EmbedderFailed, match=r"longer than 0\.05 seconds"):
        Guarded(embedder, patience=0.05).query("tea")
    embedder.wake.set()


def test_a_remote_one_answers_from_its_thread() -> None:
    names: list[str] = []

    class Remote(MoodyEmbedder):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            names.append(threading.current_thread().name)
            return super().embed(texts)

    assert Guarded(Remote(local=False)).query("tea").shape == (64,)
    assert names == ["holdfast-embedder"]


def test_a_remote_failure_is_told_as_it_was() -> None:
    with pytest.raises(EmbedderFailed, match="ConnectionError: nobody answers"):
        Guarded(MoodyEmbedder("down", local=False)).query("tea")


def test_a_query_is_embedded_once() -> None:
    embedder = MoodyEmbedder()
    guarded = Guarded(embedder)
    assert np.array_equal(guarded.query("tea"), guarded.query("tea"))
    assert embedder.calls == 1


def test_what_was_asked_with_is_not_embedded_again_to_be_kept() -> None:
    embedder = MoodyEmbedder()
    guarded = Guarded(embedder)
    asked = guarded.query("green tea")
    ((kept,),) = guarded.contents(["green tea"])
    assert embedder.calls == 1
    assert kept.tolist() == asked.tolist()
    guarded.contents(["black tea"])
    guarded.contents(["green tea", "black tea"])
    assert embedder.calls == 3


def test_only_recent_queries_are_kept() -> None:
    embedder = MoodyEmbedder()
    guarded = Guarded(embedder)
    for n in range(QUERIES + 1):
        guarded.query(f"tea {n}")
    guarded.query(f"tea {QUERIES}")
    assert embedder.calls == QUERIES + 1
    guarded.query("tea 0")
    assert embedder.calls == QUERIES + 2


def test_a_long_content_has_a_vector_for_each_passage() -> None:
    long = "green tea " * 500
    short, several = Guarded(MoodyEmbedder()).contents(["tea", long])
    assert (len(short), len(several)) == (1, len(passages(long)))
