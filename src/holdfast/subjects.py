"""Whom a statement is about, where it does not say so outright: "Carla" is "my sister Carla"."""

from __future__ import annotations

import re

from holdfast.forms import alternatives

_KIN = alternatives(
    """mother|father|sister|brother|twin|son|daughter|wife|husband|aunt|uncle|cousin|niece|nephew
    grandmother|grandfather|girlfriend|boyfriend|partner|fiancée?|friend|colleague|flatmate
    roommate|housemate|neighbou?r|dog|cat|puppy|kitten|horse|pony|rabbit|parrot"""
)
# Somebody of ours who is named is known by the name.
_NAMED = re.compile(
    rf"\b(?:[Mm]y|[Oo]ur|User['’]s) (?:[a-z]+ )?{_KIN},? (?P<name>[A-Z][a-z]+)\b(?! [A-Z])"
)
# "Mum" is nobody else's.
_ALONE = re.compile(
    r"(?<![Mm]y )(?<![Oo]ur )(?<!['’]s )(?<![Tt]he )\b(?P<kin>Mum|Mom|Mummy|Dad|Daddy|Grandma"
    r"|Granny|Gran|Grandpa|Grandad|Granddad)\b"
)
# Who leaves out the "I": "Stepped down as treasurer", "Have not touched a cigarette since".
_LEFT_OUT = re.compile(
    r"^(?:(?:just|finally|recently|have not|have|had to) )?"
    + alternatives(
        """have not|stepped|quit|gave|dropped|switched|moved|sold|stopped|started|got|bought
        ditched|resigned|left|cancell?ed|lost|finished|joined|traded|swapped"""
    )
    + r" (?=(?-i:[a-z]))(?!by\b|to be\b)",
    re.IGNORECASE,
)


def named(statement: str) -> str:
    """A statement with each of ours by the one name that they have."""
    return _ALONE.sub(r"my \g<kin>", _NAMED.sub(r"\g<name>", statement))


def with_i(clause: str) -> str:
    """A clause with the "I" that was left out."""
    return f"I {clause[:1].lower()}{clause[1:]}" if _LEFT_OUT.match(clause) else clause
