"""Memories to measure speed with: words as frequent as words are, vectors in clusters, by seed.

Words come from a made-up vocabulary of 20,000, the r-th as often as 1 / (r + 10): the shape of
English without its stop words. Twenty turns are a session and share a topic. A vector is its
topic's centre (one of 2,000) plus noise, both with most of their length in few directions, as the
vectors of real embedders have; independent ("isotropic") ones would flatter or punish a search.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

VOCABULARY = 20_000
FLATTENING = 10  # added to the rank of a word: the commonest is in a fifth of all texts
TURNS = 20  # in a session
BLOCK = 1_000  # texts that are made together
WORDS = (12, 30)  # in a text
CENTRES = 2_000
DIMENSION = 384
NOISE = 1.0  # as long as the centre: two texts of a topic have a cosine of about a half
POOL = 4_096  # noise vectors; a text adds two of them

Vectors = NDArray[np.float32]
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def word(rank: int) -> str:
    """The made-up word of a rank."""
    letters = []
    number = rank * 7919 + 4242  # neighbours in rank should not look alike
    for _ in range(4):
        number, at = divmod(number, len(_SYLLABLES))
        letters.append(_SYLLABLES[at])
    return "".join(letters)


class Texts:
    """Texts by number; the same number gives the same text for a seed."""

    def __init__(self, seed: int = 1) -> None:
        self._seed = seed
        weight = 1 / (np.arange(VOCABULARY) + 1 + FLATTENING)
        self._up_to = np.cumsum(weight / weight.sum())
        self._words = [word(rank) for rank in range(VOCABULARY)]
        self._block = lru_cache(maxsize=2)(self._made)

    def some(self, start: int, count: int) -> list[str]:
        """Texts of the numbers from `start` on."""
        blocks = range(start // BLOCK, (start + count - 1) // BLOCK + 1)
        made = [text for block in blocks for text in self._block(block)]
        first = start - blocks[0] * BLOCK
        return made[first : first + count]

    def _made(self, block: int) -> list[str]:
        chance = np.random.default_rng((self._seed, block))
        lengths = chance.integers(*WORDS, BLOCK)
        drawn = np.searchsorted(self._up_to, chance.random(int(lengths.sum()))).tolist()
        ends = np.cumsum(lengths).tolist()
        first = block * BLOCK
        return [
            f"{self._topic(number // TURNS)} {self._said(drawn[end - length : end])} {number}"
            for number, (end, length) in enumerate(zip(ends, lengths, strict=True), first)
        ]

    def _topic(self, session: int) -> str:
        return word(VOCABULARY + zlib.crc32(f"{self._seed} {session}".encode()) % CENTRES)

    def _said(self, ranks: list[int]) -> str:
        return " ".join(self._words[min(rank, VOCABULARY - 1)] for rank in ranks)

    def questions(self, count: int, among: int) -> list[str]:
        """Questions about some of the first `among` texts: the topic and three words of one."""
        chance = np.random.default_rng((self._seed, 77))
        found = []
        for number in sorted(chance.integers(0, among, count).tolist()):
            topic, *said, _ = self.some(number, 1)[0].split()
            found.append(" ".join([topic, *chance.choice(said, 3, replace=False).tolist()]))
        chance.shuffle(found)
        return found

    def common_questions(self, count: int) -> list[str]:
        """Questions of the commonest words only."""
        chance = np.random.default_rng((self._seed, 78))
        return [
            " ".join(self._words[rank] for rank in chance.choice(30, 4, replace=False).tolist())
            for _ in range(count)
        ]


def batches(total: int, size: int) -> Iterator[tuple[int, int]]:
    """Start and count of batches."""
    return ((start, min(size, total - start)) for start in range(0, total, size))


def shaped(chance: np.random.Generator, count: int, dimension: int = DIMENSION) -> Vectors:
    """Random vectors of length 1 with most of it in few directions, none of them an axis."""
    scale = ((np.arange(dimension) + 8.0) ** -0.5).astype(np.float32)
    vectors = chance.standard_normal((count, dimension), np.float32) * scale
    return unit((vectors @ turned(dimension)).astype(np.float32))


@lru_cache
def turned(dimension: int) -> Vectors:
    """Axes in other directions, always the same."""
    square = np.random.default_rng(9).standard_normal((dimension, dimension))
    turned: Vectors = np.linalg.qr(square)[0].astype(np.float32)
    return turned


def unit(vectors: Vectors) -> Vectors:
    """The vectors, each of length 1."""
    long: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return long


class Free:
    """An embedder that costs next to nothing: topic and digest of a text choose its vector."""

    name = "bench"
    version = "1"
    dimension = DIMENSION
    local = True

    @cached_property
    def _made(self) -> tuple[Vectors, Vectors]:
        chance = np.random.default_rng(5)
        return shaped(chance, CENTRES), NOISE / 2**0.5 * shaped(chance, POOL)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        centres, noise = self._made
        topics = [_topic_number(text) for text in texts]
        digests = [zlib.crc32(text.encode()) for text in texts]
        one = noise[[digest % POOL for digest in digests]]
        two = noise[[(digest >> 12) % POOL for digest in digests]]
        return unit(centres[topics] + one + two)


def _topic_number(text: str) -> int:
    return zlib.crc32(text.partition(" ")[0].encode()) % CENTRES
