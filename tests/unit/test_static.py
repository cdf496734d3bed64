"""The table: quick, the same in any company, and something for every text."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.embed import Embedder
from holdfast.embed.static import CHUNK, Static
from holdfast.errors import EmbedderFailed

STATIC = Static()


def cosine(left: str, right: str) -> float:
    a, b = STATIC.embed([left, right])
    return float(a @ b)


def test_it_is_an_embedder() -> None:
    embedder: Embedder = STATIC
    assert (embedder.name, embedder.dimension, embedder.local) == ("fast", 384, True)


def test_near_in_meaning_is_near() -> None:
    near = cosine("My cat is ill.", "The kitten needs a veterinarian.")
    assert near > 0.25
    assert near > 0.1 + cosine("My cat is ill.", "The invoice is overdue.")


def test_frequent_words_weigh_little() -> None:
    assert cosine("what is the name of the dentist", "dentist name") > 0.9


def test_order_does_not_matter() -> None:
    assert cosine("man bites dog", "dog bites man") == pytest.approx(1)


@pytest.mark.parametrize("text", ["", " \n", "🙂", "\x00", "会"])
def test_a_text_without_a_known_word_has_one_fixed_vector(text: str) -> None:
    [vector], [again] = STATIC.embed([text]), STATIC.embed(["\ufffd"])
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert text == "会" or (vector == again).all()  # some ideographs are known


def test_a_text_has_the_same_vector_alone_and_in_company() -> None:
    texts = [f"note {n} about {'many ' * (n % 7)}things" for n in range(300)]
    together = STATIC.embed(texts)
    alone = np.concatenate([STATIC.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)
    assert STATIC.embed([]).shape == (0, 384)


def test_a_text_is_read_to_its_end() -> None:
    assert cosine("whale " * 3 * CHUNK + "oak " * 3 * CHUNK, "whale oak") == pytest.approx(
        1, abs=1e-4
    )


@given(st.lists(st.text(), max_size=20))
def test_every_text_has_a_unit_vector(texts: list[str]) -> None:
    vectors = STATIC.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_any_number_of_threads_may_ask() -> None:
    fresh = Static()
    texts = ["one text", "another"] * 300
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(fresh.embed, [texts] * 8))
    assert all((answer == answers[0]).all() for answer in answers)


def test_a_missing_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbedderFailed, match=r"missing.*make model"):
        Static(tmp_path)
