"""What the word index holds of a memory: its terms, each once, with marks for how often."""

from __future__ import annotations

from collections import Counter

# A term that a row has so often gets another token, with a mark that no term ends in.
AGAIN = {2: "\u00b2", 4: "\u2074", 8: "\u2078"}


def tokens(terms: str) -> list[str]:
    """Stored terms as tokens, without their scope: each term once, and with marks if often."""
    if not terms:
        return []
    counted = Counter(terms.split(" "))
    again = [
        term + mark
        for term, times in counted.items()
        if times > 1
        for often, mark in AGAIN.items()
        if times >= often
    ]
    return [*counted, *again]
