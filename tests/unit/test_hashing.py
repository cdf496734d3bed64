"""The hashing embedder."""

import subprocess
import sys

import numpy as np
import pytest

from holdfast.embed import open_embedder
from holdfast.embed.hashing import Hashing


def test_equal_texts_have_equal_vectors_of_unit_length() -> None:
    one, two, other = Hashing().embed(["green tea", "tea GREEN", "a red car"])
    assert np.array_equal(one, two)
    assert float(one @ two) == pytest.approx(1)
    assert abs(float(one @ other)) < 0.5


@pytest.mark.parametrize("text", ["", "the", "!?", "🎉", "茶"])
def test_any_text_has_a_vector(text: str) -> None:
    (vector,) = Hashing(16).embed([text])
    assert float(np.linalg.norm(vector)) == pytest.approx(1)


def test_terms_that_cancel_out_leave_a_vector_all_the_same() -> None:
    texts = [f"word{n} word{m}" for n in range(40) for m in range(40)]
    lengths = np.linalg.norm(Hashing(1).embed(texts), axis=1)
    assert np.allclose(lengths, 1)


def test_no_texts_have_no_vectors() -> None:
    assert Hashing(16).embed([]).shape == (0, 16)


def test_another_process_gives_the_same() -> None:
    made = "Hashing(8).embed(['green tea']).tolist()"
    code = f"from holdfast.embed.hashing import Hashing; print({made})"
    said = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1] == f"{Hashing(8).embed(['green tea']).tolist()}\n"


def test_it_opens_by_name() -> None:
    embedder = open_embedder("hashing")
    assert (embedder.name, embedder.version, embedder.dimension) == ("hashing", "1", 256)
