"""Which statements say the same in other words: by slots and content words, never by likeness.

Two are one only if they tell the same of the same who, and neither has a number, a name, a date,
a negation or a bound that the other lacks. Then one wording can stand for both.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from holdfast import forms, sentences, slots, speech, text
from holdfast.extract import signs
from holdfast.extract.reconcile import SAME_MORE, Statement, judged

LEAST_SHARED = 2  # content words that two have in common
LEAST_SHARE = 0.6  # of the words of the longer one that the shorter has
FAMILY_LETTERS = 5  # allergy and allergies, not art and article
GROUP_MOST = 50  # memories that one stands for
ONE_EVENT = timedelta(days=1)  # what happened further apart happened twice

_WORD = re.compile(r"[^\W_]+(?:[.'’:/@+#-][^\W_]+)*")
_FILLERS = frozenset(
    "now currently still also too really very actually just already always".split()
)
_PEOPLE = {
    **dict.fromkeys("he him his himself".split(), "he"),
    **dict.fromkeys("she her hers herself".split(), "she"),
    **dict.fromkeys("they them their theirs".split(), "they"),
}
# Words that turn, bound, place or time what is said: both have them, or they are not the same.
_TURNING = frozenset(
    """no not never none nobody nothing neither nor without hardly rarely barely seldom scarcely
    cannot except unless stop stopped quit fail failed former formerly ex false fake
    all some most few many several every each only both more less fewer least than any another other
    half double once twice can could may might must shall should will would want wants wish hope
    plan plans planned planning try tries trying tried maybe perhaps probably almost nearly likely
    if whether was were had did been used ago before after until till since during while when
    again yet today tomorrow yesterday tonight morning afternoon evening night noon midnight daily
    weekly monthly yearly next last week weeks month months year years day days early late spring
    summer autumn fall winter am pm
    by from against over under above below up down out off into left right north south east west
    you your said says told claims""".split()
)
_DATES = frozenset(
    """monday tuesday wednesday thursday friday saturday sunday january february march april june
    july august september october november december""".split()
)
_NUMBERS = frozenset(forms.NUMBERS) | frozenset(
    "first second third fourth fifth dozen thirty forty fifty hundred thousand million".split()
)


@dataclass(frozen=True)
class Told:
    """A statement as what decides whether another says the same."""

    statement: Statement

    @cached_property
    def words(self) -> list[str]:
        """The words, with the first person as whoever says it."""
        speaker = self.statement.writer
        said = speech.resolved(self.statement.content, speaker or slots.USER)
        return _WORD.findall(said)

    @cached_property
    def terms(self) -> frozenset[str]:
        """What it is about: its content words."""
        return frozenset(term for term, _ in self._surfaces)

    @cached_property
    def _surfaces(self) -> list[tuple[str, str]]:
        told = (word for word in self.words if word.casefold() not in _FILLERS)
        return [(term, word) for word in told for term in text.terms(word)]

    @cached_property
    def order(self) -> list[str]:
        """The content words in the order they are said."""
        return [term for term, _ in self._surfaces]

    @cached_property
    def names(self) -> list[str]:
        """The words with a capital, in order."""
        return [word.casefold() for word in self.words if word[:1].isupper() and text.terms(word)]

    @cached_property
    def past(self) -> frozenset[str]:
        """The content words that are said in the past."""
        return frozenset(term for term, word in self._surfaces if word.casefold().endswith("ed"))

    @cached_property
    def turns(self) -> Counter[str]:
        """The numbers, dates, negations and bounds, each as often as it is said."""
        low = (re.sub(r"n['’]t$", " not", word.casefold()).split() for word in self.words)
        return Counter(part for parts in low for part in parts if _turning(part))

    @cached_property
    def people(self) -> frozenset[str]:
        """Those who are meant by he, she and they."""
        return frozenset(_PEOPLE[low] for word in self.words if (low := word.casefold()) in _PEOPLE)

    @cached_property
    def facts(self) -> dict[tuple[str, str, bool], str]:
        """Who and attribute of what has a form, with its value."""
        formed = filter(slots.formed, self.statement.slots)
        return {(slot.who, slot.attribute, slot.ended): slot.value for slot in formed}

    @cached_property
    def who(self) -> frozenset[str]:
        """Whom it speaks of."""
        return frozenset(slot.who for slot in self.statement.slots if slot.topic is None)

    @cached_property
    def real(self) -> bool:
        """True if it is told as true, not asked, supposed, quoted or meant as a joke."""
        said = self.statement.content
        return not (forms.UNREAL.search(said) or forms.JOKE.search(said))


def _turning(word: str) -> bool:
    known = word in _TURNING or word in _DATES or word in _NUMBERS
    return known or word.removesuffix("s") in _DATES or any(map(str.isdigit, word))


def same(one: Told, other: Told) -> bool:
    """True if two statements say the same of the same, so that one wording can stand for both."""
    if one.turns != other.turns or one.who != other.who or not (one.real and other.real):
        return False
    if (one.people and other.people and one.people != other.people) or not _once(one, other):
        return False
    left, right = _apart(one.terms, other.terms)
    shared = len(one.terms) - len(left)
    if shared < LEAST_SHARED or not _named_alike(one, other, left | right):
        return False
    if one.past & other.terms != other.past & one.terms or _contradict(one, other):
        return False
    if one.facts or other.facts:
        return _of_one_fact(one, other, len(left) + len(right))
    if not one.who:
        return one.order == other.order
    longer = max(len(one.terms), len(other.terms))
    return not (left and right) and shared >= LEAST_SHARE * longer


def _once(one: Told, other: Told) -> bool:
    """False if both tell of what happened, at times too far apart to be the same event."""
    told = any(signs.PAST.search(it.statement.content) for it in (one, other))
    return not told or abs(one.statement.since - other.statement.since) <= ONE_EVENT


def _apart(one: frozenset[str], other: frozenset[str]) -> tuple[set[str], set[str]]:
    """The words of each that the other lacks; words of one family count as one."""
    left, right = set(one - other), set(other - one)
    for word in sorted(left):
        kin = next((it for it in sorted(right) if _family(word, it)), None)
        if kin is not None:
            left.discard(word)
            right.discard(kin)
    return left, right


def _family(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= FAMILY_LETTERS and long.startswith(short)


def _named_alike(one: Told, other: Told, apart: set[str]) -> bool:
    """True if no name stands in one alone, and those of both come in the same order."""
    both = set(one.names) & set(other.names)
    alone = [name for told in (one, other) for name in told.names if name not in both]
    if any(term in apart for name in alone for term in text.terms(name)):
        return False
    return [it for it in one.names if it in both] == [it for it in other.names if it in both]


def _contradict(one: Told, other: Told) -> bool:
    pairs = ((one, other), (other, one))
    verdicts = (judged(mine.statement, [theirs.statement]) for mine, theirs in pairs)
    return any(it.corrects or it.newer or it.unclear for it in verdicts)


def _of_one_fact(one: Told, other: Told, apart: int) -> bool:
    if one.facts.keys() != other.facts.keys() or apart > SAME_MORE:
        return False
    return all(slots.agree(value, other.facts[key]) for key, value in one.facts.items())


def groups(statements: Sequence[Statement]) -> list[list[int]]:
    """The numbers of statements that say the same, each in one group at most, in order."""
    told = [Told(statement) for statement in statements]
    near: dict[int, set[int]] = defaultdict(set)
    for one, other in _candidates(told):
        if same(told[one], told[other]):
            near[one].add(other)
            near[other].add(one)
    found, taken = [], set[int]()
    for seed in sorted(near, key=lambda number: (-len(near[number]), number)):
        if seed in taken:
            continue
        group = [seed]
        for number in sorted(near[seed] - taken):
            fits = not any(_contradict(told[number], told[it]) for it in group)
            if fits and len(group) < GROUP_MOST:
                group.append(number)
        if len(group) > 1:
            taken |= set(group)
            found.append(sorted(group))
    return sorted(found)


def _candidates(told: Sequence[Told]) -> Iterator[tuple[int, int]]:
    """Pairs that may say the same: they have one of their rarest words in common.

    Of two with enough words in common, the rarest of the shorter that are not too many to be
    missing cannot all be missing in the other; so nothing is lost by comparing no others.
    """
    common = Counter(_root(term) for one in told for term in one.terms)
    seen: dict[str, list[int]] = defaultdict(list)
    for number, one in enumerate(told):
        rare = sorted({_root(term) for term in one.terms}, key=lambda term: (common[term], term))
        spare = max(SAME_MORE, int((1 - LEAST_SHARE) * len(rare)))
        others = {it for term in rare[: spare + 1] for it in seen[term]}
        yield from ((it, number) for it in sorted(others))
        for term in rare[: spare + 1]:
            seen[term].append(number)


def _root(term: str) -> str:
    return term[:FAMILY_LETTERS]


def worded(statements: Sequence[Statement]) -> str:
    """Words that stand for all: the fullest wording, and those that say what it does not."""
    told = sorted((Told(it) for it in statements), key=lambda one: -len(one.terms))
    lines, covered = [told[0].statement.content], set(told[0].terms)
    for one in told[1:]:
        more, _ = _apart(one.terms, frozenset(covered))
        if more and not (one.facts and told[0].facts):
            lines.append(one.statement.content)
            covered |= one.terms
    return lines[0] if len(lines) == 1 else " ".join(map(sentences.ended, lines))
