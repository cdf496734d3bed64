"""Words: what a text is made of, for every engine the same.

`terms` is what the word index holds. It is stored beside each memory, so that an index can be
rebuilt, or a memory taken out of it, by the very terms that went in.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain

import Stemmer

# Function words and the words questions are made of: frequent, and void of topic.
STOP = frozenset(
    """a about all also am an and any are aren arent as at be been being both but by can cant could
    couldn couldnt d did didn didnt do does doesn doesnt doing don done dont each ever few for from
    get got had hadn hadnt has hasn hasnt have haven havent having he her here hers him his how i
    if im in into is isn isnt it its ive just know ll m many may me might mine more most
    much must my myself no nor not of on only onto or other our ours own please re s same shall she
    should shouldn shouldnt so some such t tell than that thats the their theirs them then there
    these they this those to too us ve very was wasn wasnt we were weren werent what when where
    which who whom whose why will with wont would wouldn wouldnt you your yours
    yourself""".split()
)
PARTICLES = frozenset("al bin da de del den der di du el la le van vom von y zu".split())
TOKEN_LETTERS = 4  # a common token of today's models is about four Latin letters long

PASSAGE_LETTERS = 1000  # about 250 tokens: what small embedders read before they cut
PASSAGE_OVERLAP = 200  # so that a sentence cut by one passage is whole in the next

_MARKS = re.compile("[\u0300-\u036f]")
_APOSTROPHES = re.compile("['\u2019\u02bc](s\\b)?")
# Scripts written without blanks between words: searched by pairs of neighbouring characters.
_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff"
)
_PAIRED_RUN = re.compile(f"[{_PAIRED}\U00020000-\U0003ffff]+")
# Indic vowel signs are marks, not letters, to Python: without them words would fall apart.
_WORD = re.compile(r"[\w\u0900-\u0dff]+(?:[.\-/:@+#][\w\u0900-\u0dff]+)*[+#]*")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_a-zA-Z]+")
_TOKEN = re.compile(rf"[A-Za-z]{{1,{TOKEN_LETTERS}}}|[0-9]{{1,2}}|[^\w\s]|[^\x00-\x7f]|_")
_SPEAKER = re.compile(r"([^\W\d_][\w.'-]{0,30}(?: [^\W\d_][\w.'-]{0,30}){0,2}): ")
_stemmer = Stemmer.Stemmer("english", 0)


def normalise(text: str) -> str:
    """The text with blanks folded and characters composed; case and meaning stay."""
    return " ".join(unicodedata.normalize("NFC", text).split())


def fingerprint(text: str) -> bytes:
    """16 bytes that are the same for the same words."""
    return hashlib.blake2b(normalise(text).encode(), digest_size=16).digest()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """The stem of an English word; other words are left alone."""
    if len(word) > 3 and word.isascii() and word.isalpha():
        stemmed: str = _stemmer.stemWord(word)
        return stemmed
    return word


def fold(text: str) -> str:
    """The text without accents, ligatures, full-width forms and apostrophes; case stays."""
    if text.isascii():
        return _APOSTROPHES.sub("", text)
    bare = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return _APOSTROPHES.sub("", unicodedata.normalize("NFKC", bare))


@lru_cache(maxsize=64)
def terms(text: str) -> tuple[str, ...]:
    """The terms of a text in order, repeated as often as they occur.

    English is stemmed; identifiers, versions and paths come whole and in parts; text without
    blanks (Chinese, Japanese, Korean, Thai …) comes in pairs of characters.
    """
    return tuple(chain.from_iterable(map(_of_word, _WORD.findall(fold(text)))))


@lru_cache(maxsize=1 << 15)
def _of_word(word: str) -> tuple[str, ...]:
    if not word.isascii() and _PAIRED_RUN.search(word):
        return tuple(_of_mixed(word))
    whole = word.casefold()
    if word.isalpha() and (word.islower() or word.isupper() or word.istitle()):
        return () if whole in STOP else (stem(whole),)
    parts = [part.casefold() for part in _PARTS.findall(word)]
    if len(parts) < 2:
        return (stem(whole),)
    kept = (stem(part) for part in parts if len(part) > 1 or part.isdigit())
    return tuple(dict.fromkeys((whole, *kept)))


def _of_mixed(word: str) -> Iterator[str]:
    end = 0
    for run in _PAIRED_RUN.finditer(word):
        yield from terms(word[end : run.start()])
        chars = run.group()
        yield from (chars[i : i + 2] for i in range(len(chars) - 1)) if len(chars) > 1 else chars
        end = run.end()
    yield from terms(word[end:])


def tokens(text: str) -> int:
    """About how many tokens a language model sees; rather too many than too few."""
    rare = 0 if text.isascii() else sum(char > "\uffff" for char in text)  # those are two
    return len(_TOKEN.findall(text)) + rare


def speaker(writer: str | None, content: str) -> str | None:
    """Who says it, as terms: the writer, or the name and colon that the content begins with."""
    if writer is None:
        named = _SPEAKER.match(content)
        writer = named[1] if named and _is_name(named[1].split()) else None
    return None if writer is None else " ".join(terms(writer)) or None


def _is_name(words: list[str]) -> bool:
    """Whether words before a colon name somebody: "Release delayed: …" is a heading."""
    return all(word[0].isupper() or word in PARTICLES for word in words[1:])


def passages(text: str) -> list[str]:
    """A text in overlapping parts that an embedder can read whole; a short one is its own part."""
    if len(text) <= PASSAGE_LETTERS:
        return [text]
    parts, start = [], 0
    while start < len(text):
        end = start + PASSAGE_LETTERS
        blank = text.rfind(" ", start + PASSAGE_LETTERS // 2, end)
        end = blank if blank > 0 and end < len(text) else end
        parts.append(text[start:end])
        if end >= len(text):
            break
        start = end - PASSAGE_OVERLAP
    return parts
