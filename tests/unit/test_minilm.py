"""The local model: right, whole, the same in any company, and from any thread."""

import hashlib
import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.embed import Embedder
from holdfast.embed.files import DATA
from holdfast.embed.minilm import BATCH, MiniLM, batches
from holdfast.errors import EmbedderFailed

TEXTS = [
    "How do I reset my password?",
    "I forgot my login and need a new one.",
    "Whales sleep with half of the brain.",
    "Der Hund schläft.",
]
# Cosines between these texts by the model in floating point, as torch computes it.
EXACT = [
    [1.0000, 0.5626, 0.0250, 0.0715],
    [0.5626, 1.0000, -0.0042, 0.0145],
    [0.0250, -0.0042, 1.0000, 0.0684],
    [0.0715, 0.0145, 0.0684, 1.0000],
]


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    return MiniLM()


def python(code: str) -> str:
    """What a new interpreter prints."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def test_it_is_an_embedder(minilm: MiniLM) -> None:
    embedder: Embedder = minilm
    assert (embedder.name, embedder.dimension, embedder.local) == ("minilm", 384, True)


def test_vectors_are_those_of_the_unquantised_model(minilm: MiniLM) -> None:
    vectors = minilm.embed(TEXTS)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors @ vectors.T, EXACT, atol=0.03)


def test_a_text_has_the_same_vector_alone_and_in_company(minilm: MiniLM) -> None:
    texts = [*TEXTS, "", "🙂", "a long text, " * 300, *(f"note {n} " * n for n in range(60))]
    together = minilm.embed(texts)
    alone = np.concatenate([minilm.embed([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_of_a_long_text_256_pieces_are_read(minilm: MiniLM) -> None:
    [numbers] = minilm.numbers(["word " * 1000])
    assert len(numbers) == 256
    short, longer = minilm.embed(["word " * 254, "word " * 254 + "whale"])
    assert (short == longer).all()


def test_no_texts_no_vectors(minilm: MiniLM) -> None:
    assert minilm.embed([]).shape == (0, 384)


def test_any_number_of_threads_may_ask() -> None:
    fresh = MiniLM()  # the first call loads, and all come first
    texts = TEXTS * 20
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(fresh.embed, [texts] * 8))
    for answer in answers:
        np.testing.assert_allclose(answer, np.tile(answers[0][:4], (20, 1)), atol=1e-5)


def test_a_forked_process_can_go_on() -> None:
    said = python(
        "import os; from holdfast.embed.minilm import MiniLM\n"
        "model = MiniLM(); model.embed(['before'] * 100)\n"
        "if os.fork() == 0: print(model.embed(['after'] * 100).shape, flush=True); os._exit(0)\n"
        "os.wait()"
    )
    assert said == "(100, 384)\n"


def test_nothing_is_loaded_before_the_first_text() -> None:
    said = python(
        "import sys; from holdfast.embed.minilm import MiniLM\n"
        "MiniLM(); print('onnxruntime' in sys.modules)"
    )
    assert said == "False\n"


def test_missing_files_are_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(EmbedderFailed, match=r"manifest\.json is missing.*make model"):
        MiniLM(tmp_path)
    shutil.copy(DATA / "manifest.json", tmp_path)
    with pytest.raises(EmbedderFailed, match=r"minilm\.onnx is missing.*make model"):
        MiniLM(tmp_path)


def test_files_of_another_version_are_refused(tmp_path: Path) -> None:
    for file in ("minilm.onnx", "vocab.txt"):
        (tmp_path / file).touch()
    (tmp_path / "manifest.json").write_text('{"versions": {"minilm": "old"}}')
    with pytest.raises(EmbedderFailed, match=r"are of old, not all-MiniLM.*make model"):
        MiniLM(tmp_path)


def test_the_manifest_tells_the_truth() -> None:
    manifest = json.loads((DATA / "manifest.json").read_text())
    for name, found in manifest["files"].items():
        assert hashlib.sha256((DATA / name).read_bytes()).hexdigest() == found
    assert manifest["cosine with the exact vectors"]["mean"] >= 0.98


@given(st.lists(st.integers(2, 256), max_size=200))
def test_batches_hold_every_text_once_and_are_not_too_large(lengths: list[int]) -> None:
    found = list(batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[i] for i in batch) <= BATCH for batch in found)
