"""Text to the numbers a BERT vocabulary gives its pieces; needs nothing but the vocabulary.

A text is cleaned character by character and split at blanks, punctuation and ideographs; a word
is then the fewest longest pieces, from the left. Marks such as "[SEP]" inside a text are words
like any others, so that no text can pass itself off as the end of another.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

LONGEST_WORD = 100  # letters; a longer one is unknown, as it was when the model was trained
WORDS_KEPT = 1 << 16

# Ideographs stand alone. Kana and Hangul do not: the model learned them as words.
_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class _Cleaned(dict[int, str]):
    """What each character becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = _clean(chr(code))
        return self[code]


def _clean(letter: str) -> str:
    category = unicodedata.category(letter)
    if letter in "\t\n\r" or category in {"Zs", "Zl", "Zp"}:
        return " "
    if category in {"Cc", "Cf", "Co", "Mn"} or letter == "\ufffd":
        return ""
    if category[0] == "P" or (letter.isascii() and not letter.isalnum()) or _ideograph(letter):
        return f" {letter} "
    return letter.lower()


def _ideograph(letter: str) -> bool:
    return any(first <= ord(letter) <= last for first, last in _IDEOGRAPHS)


_cleaned = _Cleaned()


def words(text: str) -> list[str]:
    """The words of a text: lower case, without accents, each punctuation mark a word."""
    if not text.isascii():
        text = unicodedata.normalize("NFD", text)
    return text.translate(_cleaned).split()


class WordPiece:
    """Numbers of pieces for texts, by a vocabulary that has `[UNK]` for what it lacks."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self.unknown = self._numbers["[UNK]"]
        self._pieces = lru_cache(WORDS_KEPT)(self._split)

    @classmethod
    def read(cls, path: Path) -> WordPiece:
        """The pieces of a file with one on each line."""
        return cls(path.read_text(encoding="utf-8").split("\n")[:-1])

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self, text: str) -> list[int]:
        """One number per piece, in order."""
        found: list[int] = []
        for word in words(text):
            found += self._pieces(word)
        return found

    def _split(self, word: str) -> tuple[int, ...]:
        found: list[int] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            number, start = self._longest(word, start)
            if number < 0:
                return (self.unknown,)
            found.append(number)
        return tuple(found) or (self.unknown,)

    def _longest(self, word: str, start: int) -> tuple[int, int]:
        """The longest piece that begins here and where it ends; -1 if there is none."""
        prefix = "##" if start else ""
        for end in range(len(word), start, -1):
            number = self._numbers.get(prefix + word[start:end])
            if number is not None:
                return number, end
        return -1, start
