"""What a query asks for: its terms, in which of its parts, whom it asks about, and when."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast import dates, small_words, text
from holdfast.rank import Asked

# The assistant's own earlier words: "you told me", "did you suggest", "our last chat", "remind me";
# and its advice: "how do I", "what should I".
_YOURS = re.compile(
    r"\b(you(?:'ve| have| had)?(?: also| just| once| previously)?"
    r" (?:\w+ed|said|told|gave|wrote|made|did|found|chose|sent)"
    r"|(?:did|have|had) you"
    r"|your (?:\w+ )?(?:answer|reply|suggestion|recommendation|advice|list|example|explanation"
    r"|response)s?"
    r"|how (?:do|can|could|should|would) (?:i|we)|what (?:can|could|should) (?:i|we)"
    r"|remind me|(?:our|previous|last|earlier) (?:\w+ )?(?:chat|conversation|discussion))\b",
    re.IGNORECASE,
)
# Where one question ends and another begins: "… and where does she work?"
_NEXT = re.compile(
    r"\?\s+|,?\s+(?:and|but|or)\s+(?=(?:(?:also|then|in|on|at|for|from|by|with|to)\s+)?"
    r"(?:what|where|when|who|whom|whose|which|why|how)\b)",
    re.IGNORECASE,
)
# A word with a capital inside a sentence, and small letters after it.
_NAME = re.compile(r"(?<![\s.?!:\"“(])\s+[\"“(]?([^\W\d_a-z][^\W\d_]*[^\W\d_A-Z][\w'’-]*)")
_SMALL = re.compile(r"\b[^\W\d_A-Z]")
_OWN = re.compile(r"\b(i|my|me|mine|myself|i'm|i've|i'd|i'll|we|our|us)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """A query, understood."""

    terms: tuple[str, ...]
    asked: Asked


def understood(query: str, now: datetime) -> Question:
    """A query's terms and what else it asks for; words that name a date are met by time, too."""
    ranges, rest, written = dates.named(query, now)
    left = small_words.left_out(rest)
    told = text.terms(left) or text.terms(rest) or text.terms(query)
    telling = tuple(dict.fromkeys(told))
    terms = tuple(dict.fromkeys((*telling, *text.terms(written))))
    about = -1 if _YOURS.search(query) else 1 if _OWN.search(query) else 0
    spans = tuple((start.timestamp(), end.timestamp()) for start, end in ranges)
    dated = len(terms) - len(telling)
    # In German every noun has a capital, so only an English query tells names by it.
    named = names(rest, telling) if left == rest else ()
    several = parts(rest, terms)
    return Question(terms, Asked(now.timestamp(), about, spans, several, dated, named))


def names(query: str, terms: Sequence[str]) -> tuple[int, ...]:
    """The places of the terms that name somebody or something; none in a heading.

    What is in capitals altogether is none: it may be short for something, and written out.
    """
    capital = [word for word in _NAME.findall(query) if word[0].isupper()]
    found = [word for word in capital if word.lower() not in dates.NAMES]
    if not found or len(found) > len(_SMALL.findall(query)):
        return ()
    named = {term for word in found for term in text.terms(word)}
    return tuple(at for at, term in enumerate(terms) if term in named)


def parts(query: str, terms: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The questions a query consists of, each as the places of its terms; none if it is one."""
    several = _NEXT.split(query)
    if len(several) == 1:
        return ()
    place = {term: at for at, term in enumerate(terms)}
    asked = [
        tuple(dict.fromkeys(place[term] for term in text.terms(one) if term in place))
        for one in several
    ]
    telling = tuple(one for one in asked if one)
    return telling if len(telling) > 1 else ()
