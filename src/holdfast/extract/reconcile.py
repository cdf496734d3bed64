"""What a new statement is to those that are known: the same, a correction, beside them, or unclear.

Decided by slots (`holdfast.slots`), by when each was true and by who says it; never by likeness.
Where slots see nothing, what a model read to be ended (`taught`) is, unless who says so is
trusted less.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from holdfast import ends, readings, sentences, slots, speech, text, trust
from holdfast.extract import signs
from holdfast.slots import Slot

WEEK = timedelta(days=7)
SAME_MORE = 2  # the same slot, told with no more new words than this, is the same statement
# "It's Tuesday. No, Monday was right after all": what was said first stands.
_TAKEN_BACK = re.compile(
    r"\b(?:after all(?! (?:the|of|my|our|that|this|those|these)\b)|all along"
    r"|(?:like|as) I (?:first )?said|(?:was|were) right|right back to|still stands"
    r"|as (?:it|they) (?:was|were)|false alarm)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
# That an allergy is over is told by what one can do, not by what one keeps away from.
_ALLERGY = re.compile(r"\ballerg|\bintoleran", re.IGNORECASE)
_AVOIDS = re.compile(
    r"\b(?:can(?:not|['’]t)|must(?: not|n['’]t)|avoids?|never|without|no(?! longer))\b|-free\b",
    re.IGNORECASE,
)
# Who tells one of these tells of nothing else.
_ITSELF = {"name", "age", "birthday", "born in", "origin", "email", "phone", "timezon", "called"}
_DENIED = re.compile(r"(?:\b(?:not|never)\b|n['’]t\b)[^.!?;]*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement with what decides: its slots, when it came to be true, and who says it."""

    id: str
    content: str
    slots: tuple[Slot, ...]
    since: datetime
    writer: str | None = None
    role: str = "user"
    pinned: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be done with a new statement.

    `same` is one that says it already; `corrects` no longer hold; `newer` makes the statement
    itself past; with `unclear` ones it stands in conflict.
    """

    same: str | None = None
    corrects: tuple[str, ...] = ()
    newer: str | None = None
    unclear: tuple[str, ...] = ()


def judged(new: Statement, known: Sequence[Statement], ended: Collection[str] = ()) -> Verdict:
    """What a statement is to those known; `ended` are those that it was read to end."""
    same, corrects, unclear, newer = None, [], [], None
    for old in known:
        relation = _relation(new, old, old.id in ended)
        if relation == "same" and same is None:
            same = old.id
        elif relation == "corrects":
            corrects.append(old.id)
        elif relation == "older":
            newer = newer or old.id
        elif relation == "unclear":
            unclear.append(old.id)
    return Verdict(same, tuple(corrects), newer, tuple(unclear))


def remainder(content: str, speaker: str | None, new: Sequence[Slot]) -> str | None:
    """What of a content still holds beside new slots, if a part of it does; None if none does."""
    whole = parts(content)
    still = [part for part in whole if _clash(new, slots.of(part, speaker)) is None]
    return rest(whole, still, speaker)


def parts(content: str) -> list[str]:
    """The parts of a content that each say something of their own."""
    return [part for it in sentences.split(content) for part in _clauses(it)]


def _clauses(sentence: str) -> list[str]:
    """The clauses of a sentence; "my brother" of "my brother and his wife work here" is none."""
    found = slots.clauses(sentence)
    return found if all(map(signs.VERB.search, found)) else [sentence]


def rest(whole: Sequence[str], still: Sequence[str], speaker: str | None) -> str | None:
    """The parts that still hold, as a content; None if none does, all do, or they say nothing."""
    if not still or len(still) == len(whole):
        return None
    kept = " ".join(sentences.ended(part[:1].upper() + part[1:]) for part in still)
    told = (slot for part in still for slot in slots.of(part, speaker))
    return kept if any(slot.topic is None for slot in told) else None


def _relation(new: Statement, old: Statement, ended: bool) -> str:
    mine = new.slots if new.writer == old.writer else _of_others(new.slots, old)
    clash = _clash(mine, old.slots, new.since - old.since >= WEEK)
    if (clash is not None or ended) and _taken_back(new.content):
        return "beside"
    if clash is None and ended:
        return _read(new, old)
    if clash is None:
        return "same" if _same(new, old) else "beside"
    if new.since < old.since and not clash.changed:
        return "older"
    if not clash.changed and _hearsay(new, clash) and not _hearsay(old, clash):
        return "unclear"
    return _outweighs(new, old)


def _taken_back(told: str) -> bool:
    """Whether a correction is; "I'm not allergic after all" takes back what was said first."""
    found = _TAKEN_BACK.search(told)
    return found is not None and _DENIED.search(told[: found.start()]) is None


def _read(new: Statement, old: Statement) -> str:
    """What a statement is to one that it was read to end: of themselves, each knows best."""
    beside = (_avoided, _of_itself, _told_apart, _each_of_self)
    if any(apart(new, old) for apart in beside):
        return "beside"
    others = new.writer != old.writer and _of_self(old) and not _of_self(new)
    news = any(slot.changed or slot.ended for slot in new.slots)
    return "unclear" if others and not news else _outweighs(new, old)


def _avoided(new: Statement, old: Statement) -> bool:
    """Whether an allergy is known, and what is new tells only what is kept away from."""
    about = _ALLERGY.search(old.content) and not _ALLERGY.search(new.content)
    return bool(about and _AVOIDS.search(new.content))


def _of_itself(new: Statement, old: Statement) -> bool:
    """Whether both give values, and a name, an address or the like is in only one of them.

    If they have a word in common, both must be such: "I'm Bob", "My email is bob@example.com".
    """
    mine, theirs = ({it.attribute for it in told.slots if _gives(it)} for told in (new, old))
    if not mine or not theirs or mine & theirs:
        return False
    if in_common(new.content, old.content, new.writer, old.writer):
        return mine | theirs <= _ITSELF
    return mine <= _ITSELF or theirs <= _ITSELF


def in_common(one: str, other: str, *writers: str | None) -> set[str]:
    """The words that two statements have in common beside who says them."""
    named = {term for writer in writers for term in text.terms(writer or "")}
    return {*text.terms(one)} & {*text.terms(other)} - named


def _told_apart(new: Statement, old: Statement) -> bool:
    """Whether both give the same attribute, each of another by name: Team1, Team17."""
    given = {slot.attribute: slot for slot in old.slots if _gives(slot)}
    pairs = [(it, given[it.attribute]) for it in new.slots if _gives(it) and it.attribute in given]
    mine, theirs = _called(new.content), _called(old.content)
    return bool(pairs) and all(
        _beyond(one, other) & mine and _beyond(other, one) & theirs for one, other in pairs
    )


def _beyond(one: Slot, other: Slot) -> set[str]:
    """The words for whom a slot is of that another's has not."""
    return {*one.who.split()} - {*other.who.split()}


def _called(content: str) -> set[str]:
    """The terms of a content that are names or numbers, by their look."""
    looks = (it for it in _WORD.findall(content) if it[0].isupper() or not it.isalpha())
    return {term for it in looks for term in text.terms(it)}


def _gives(slot: Slot) -> bool:
    """Whether it gives a value, and does not only say that something is so."""
    return slots.formed(slot) and not slot.ended and slot.value not in readings.OPPOSITE


def _each_of_self(new: Statement, old: Statement) -> bool:
    """Whether two people tell of themselves, and neither names the other: "I gave up chess"."""
    if _writer(new) == _writer(old) or not (_tells_of_self(new) and _tells_of_self(old)):
        return False
    return not (_names(new, _writer(old)) or _names(old, _writer(new)))


def _of_self(told: Statement) -> bool:
    """Whether somebody who is named tells of themselves."""
    return _writer(told) != slots.USER and _tells_of_self(told)


def _tells_of_self(told: Statement) -> bool:
    return speech.first_person(told.content) or _names(told, _writer(told))


def _names(told: Statement, whom: str) -> bool:
    return _bag(told.content) >= set(text.terms(whom))


def _writer(told: Statement) -> str:
    return (told.writer or slots.USER).lower()


def _outweighs(new: Statement, old: Statement) -> str:
    """Whether a statement may end another: nobody overrules whom they are trusted less than."""
    weaker = trust.of(new.role) < trust.of(old.role)
    return "unclear" if weaker or old.pinned else "corrects"


def _of_others(new: Sequence[Slot], old: Statement) -> tuple[Slot, ...]:
    """Without what a group gave up, if another tells of themselves: "we replaced Vim" is not Bob's.

    What is anybody's ends whatever has it, but not what somebody outside has.
    """
    own = slots.me(old.writer)
    of_self = any(slot.who == own for slot in old.slots if slot.topic is None)
    return tuple(it for it in new if not (of_self and slots.of_anything(it) and not it.who))


def _clash(new: Sequence[Slot], old: Sequence[Slot], past: bool = False) -> Slot | None:
    """The slot of the new statement that cannot be true together with the old one.

    `past` says that the old one is so old that a day of the week which it names has passed.
    """
    pairs = ((mine, theirs) for mine in new for theirs in old)
    return next((mine for mine, theirs in pairs if _contradicts(mine, theirs, past)), None)


def _contradicts(mine: Slot, theirs: Slot, past: bool) -> bool:
    if mine.topic is not None or theirs.topic is not None:
        return slots.of_one_topic(mine, theirs)
    if slots.of_anything(mine):
        of_one = not mine.who or not theirs.who or mine.who == theirs.who
        return of_one and slots.ends_any(mine, theirs)
    if (mine.who, mine.attribute) != (theirs.who, theirs.attribute):
        return slots.denies(mine, theirs)
    if mine.value == ends.ANY:
        return not theirs.ended and theirs.value != readings.NO
    numbers = slots.counted(mine) and slots.counted(theirs)
    if mine.weak and not mine.changed and not numbers and not (past and slots.passing(theirs)):
        return False
    alike = slots.agree(mine.value, theirs.value)
    return alike if mine.ended != theirs.ended else not alike and not mine.ended


def _hearsay(told: Statement, clash: Slot) -> bool:
    """True if somebody tells it who is not whom it is about, and might know less."""
    if told.writer is None or not clash.who:
        return False
    said = set(text.terms(told.writer))
    return not said & set(clash.who.split(" ")) and clash.who != slots.USER


def _same(new: Statement, old: Statement) -> bool:
    mine, theirs = _keys(new.slots), _keys(old.slots)
    if not mine or not theirs:
        return _bag(new.content) == _bag(old.content)
    if mine != theirs or _differ(new.slots, old.slots):
        return False
    return len(_bag(new.content) ^ _bag(old.content)) <= SAME_MORE


def _differ(new: Sequence[Slot], old: Sequence[Slot]) -> bool:
    """True if the same is said with another word in one place: then it is not the same."""
    known = {(slot.who, slot.attribute): slot.value for slot in old if slot.weak}
    said = ((slot, known.get((slot.who, slot.attribute))) for slot in new if slot.weak)
    return any(value is not None and not slots.agree(slot.value, value) for slot, value in said)


def _keys(told: Sequence[Slot]) -> set[tuple[str, str, bool]]:
    return {(slot.who, slot.attribute, slot.ended) for slot in told if not slot.weak}


def _bag(content: str) -> frozenset[str]:
    return frozenset(text.terms(content))


def better(new: str, old: str) -> bool:
    """True if a new wording says all that the old one does, and more."""
    return _bag(new) > _bag(old)
