"""Words that occur once in the world: every text, group and value of the load carries its own."""

from __future__ import annotations

import hashlib
import random
import re

# Without vowels no stemmer changes a mark, and no English word can be one.
LETTERS = "bcdfghjkmnpqrtvwxz"
LENGTH = 16
MARK = re.compile(rf"(?<![a-zA-Z])[{LETTERS}]{{{LENGTH}}}(?![a-zA-Z])")
TEXT, GROUP, VALUE = "m", "g", "v"
SCOPES = ("agent-b", "agent-c", "agent-d")
WORDS = """the deploy of billing waits for a green build because orders fail when cache keys drift
and nobody saw which service renamed them before the night shift restarted every worker""".split()


def mark(scope: str, kind: str, *seed: object) -> str:
    """A mark that tells its scope and what it is on: a text, a group or a value."""
    digest = hashlib.blake2b(repr((kind, *seed)).encode(), digest_size=LENGTH - 2).digest()
    return scope[-1] + kind + "".join(LETTERS[byte % len(LETTERS)] for byte in digest)


def scope_of(found: str) -> str:
    """The scope a mark was made for."""
    return f"agent-{found[0]}"


def first_mark(text: str) -> str:
    """The mark of a content, which stands first in it."""
    found = MARK.search(text)
    return found.group() if found else ""


def content(own: str, group: str, rng: random.Random) -> str:
    """A text with its mark and its group's; one in twenty has several passages."""
    words = rng.sample(WORDS, 6) * (40 if rng.random() < 0.05 else 1)
    return f"{own} {group} {' '.join(words)}"
