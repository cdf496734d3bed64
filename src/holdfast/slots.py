"""What a statement says of whom, as slots: who, which attribute, which value.

Two statements can contradict each other only in a slot of the same who and attribute. Where many
values are true at once (languages, allergies, likes) the thing itself is part of the attribute and
the value is yes or no: so "speaks French" and "speaks Thai" share no slot, and "no longer speaks
Thai" meets only the second. What is not told as true now (questions, wishes, the past, hearsay,
jokes) has no slot.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from holdfast import forms, speech, text
from holdfast.forms import EVENTS, MANY_NOUNS, MOODS, NOUNS, OPPOSITES, PEOPLE

YES, NO, LIKES, DISLIKES = "yes", "no", "likes", "dislikes"
OPPOSITE = {YES: NO, NO: YES, LIKES: DISLIKES, DISLIKES: LIKES}
SAYS = "says"  # before what is said of somebody in a form of its own
ANY = "*"  # as the attribute, or its first word: whatever had this value
NUMBER, TOTAL = "number of", "total of"  # before what is counted
WEEKLY = "weekly"  # beside a day of the week that is meant again and again
DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
USER = "user"  # who "I" is, where nobody is named
US = ""  # a team's own choices are nobody's in particular
MOST_LETTERS = 300  # a longer sentence tells too much to be one fact
MOST_FRAMED = 5  # words of a statement that is also read with one of them left open
MOST_TERMS = 8  # of a name or a value; a longer one is a story


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing said: `ended` if it is said to hold no longer, `changed` if as a change.

    A `weak` one may have other values beside it: it replaces them only if told as a change.
    """

    who: str
    attribute: str
    value: str
    ended: bool = False
    changed: bool = False
    weak: bool = False
    lasting: bool = False  # of a weak one: it is told of what is, not of what happened


_OWNED = re.compile(r"^(?:the|our|my|his|her|their)\b|['’]s? ", re.IGNORECASE)
# What cannot be the end of a statement: the date that follows is its value.
_OPEN_END = re.compile(
    r"\b(?:is|are|am|was|be|not|on|at|in|to|moved|until|meets?|starts?|happens|place)$"
    r"|^(?:the|my|our) \w+ [a-z]+s$",
    re.IGNORECASE,
)
# "Standup is at 10", "Support hours changed to 8 to 6": whose they are goes without saying.
_BARE_NOUN = re.compile(
    r"(?!(?i:the|my|our|his|her|their|your|a|an|this|that|no)\b)(?P<what>[A-Z]?[a-z]+(?: [a-z]+)?) "
    r"(?:is|are|was|will|got|has|have|moved|changed|starts?)\b"
)
_THEY = re.compile(r"(?P<now>(?:now )?)(?P<they>they|their) ", re.IGNORECASE)
_LETTER = re.compile(r"\b([A-Z])\b")  # "Hall A" is not just any hall
_POINT = re.compile(r"(?<=\d)[.,](?=\d)")
_DECIMAL = re.compile(r"\d+(?:[d.,]\d+)+")
_GOES = re.compile(r"^goes\b")  # the only verb that a stem does not tell
_A_KIND = re.compile(r"(?:an?|such an?|quite an?|like an?) (\w[\w-]*)", re.IGNORECASE)
_MAY = re.compile(r"\bMay\b")
Found = Iterator[tuple[str, str, str]]  # who, attribute and value, as said


@lru_cache(maxsize=4096)
def of(statement: str, speaker: str | None = None) -> tuple[Slot, ...]:
    """The slots of a statement; `speaker` is who "I" is."""
    if len(statement) > MOST_LETTERS or forms.JOKE.search(statement):
        return ()
    statement = forms.CALLED.sub("User", statement.removeprefix(f"{speaker}: "))
    for clipped, full in forms.CLIPPED:
        statement = clipped.sub(full, statement)
    found: dict[tuple[str, str], Slot] = {}
    name = next((it for it in ("User", speaker) if it and statement.startswith(f"{it} ")), None)
    for clause in clauses(statement):
        for slot in _of_clause(_named_again(clause, name), speaker):
            found.setdefault((slot.who, slot.attribute), slot)
    return tuple(found.values())


def _named_again(clause: str, name: str | None) -> str:
    """A clause that begins with a "they" for whom the statement is about, with the name for it."""
    found = _THEY.match(clause) if name else None
    if found is None:
        return clause
    whose = "" if found["they"].lower() == "they" else "'s"
    return f"{found['now']}{name}{whose} {clause[found.end() :]}"


def _of_clause(clause: str, speaker: str | None) -> Iterator[Slot]:
    if not clause.strip() or forms.UNREAL.search(clause):
        return
    changed = forms.CHANGE.search(clause) is not None
    told = _bare(clause)
    affirmed = _affirmed(told)
    yield from _switched(told, speaker)
    yield from _parted(clause, speaker)
    yield from _totalled(clause, speaker)
    read = list(_read(affirmed or told))
    for who, attribute, value in read:
        slot = Slot(_who(who, speaker), attribute, value if value in OPPOSITE else _value(value))
        if not slot.value or not attribute or _long(slot.who) or _long(slot.value):
            continue
        if affirmed and slot.value in OPPOSITE:
            yield Slot(slot.who, attribute, OPPOSITE[slot.value], changed=True)
        else:
            yield Slot(slot.who, attribute, slot.value, bool(affirmed), changed or bool(affirmed))
    if affirmed is None and not forms.MORE.search(clause):
        now = forms.NOW.search(clause) is not None
        plain = all(attribute.startswith(f"{SAYS} ") for _, attribute, _ in read)
        told = _timeless(clause)
        frames = _framed(told) if plain else ()
        lasting = not speech.happened(told)
        for who, attribute, value in (*frames, *_have_event(told)):
            said = _value(value)
            yield Slot(_who(who, speaker), attribute, said, changed=now, weak=True, lasting=lasting)


def _long(words: str) -> bool:
    return words.count(" ") >= MOST_TERMS


def _bare(clause: str) -> str:
    """A clause without what leads in and what follows: reasons, dates, asides."""
    told = forms.LEAD.sub("", clause.strip()).strip(" .!,")
    told = forms.CLAUSE.sub("", told).strip(" .!,")
    while (shorter := forms.TAIL.sub("", told).strip(" ,")) != told:
        if _OPEN_END.search(shorter):
            break
        told = shorter
    bare = _BARE_NOUN.match(told)
    return f"the {told}" if bare and _noun(bare["what"]) in EVENTS | NOUNS else told


def _timeless(clause: str) -> str:
    """A clause without what leads in, and without the words that say it is new."""
    told = forms.CLAUSE.sub("", forms.LEAD.sub("", clause.strip()))
    return re.sub(r"\s+", " ", forms.NOW.sub("", told)).strip(" .!,")


def _affirmed(told: str) -> str | None:
    """What a statement denies, told as if it were true; None if it denies nothing."""
    denied = forms.DENIED.search(told)
    if denied is None:
        return None
    rest = told[denied.end() :].split()
    if rest:
        rest[0] = forms.BASES.get(rest[0].lower(), rest[0])
    first = denied[0].split()[0].lower()
    verb = first if first in ("is", "are", "am", "was") and "done" not in denied[0] else ""
    return " ".join([told[: denied.start()].strip(), verb, *rest]).replace("  ", " ").strip()


def _switched(told: str, speaker: str | None) -> Iterator[Slot]:
    """Of "we switched from A to B": whatever was A no longer is."""
    if found := forms.SWITCHED.match(told) or forms.SWAPPED.match(told):
        who = US if found["who"].lower() in ("we", "the team") else _who(found["who"], speaker)
        yield Slot(who, ANY, _value(found["old"]), True, True)
        if what := found.groupdict().get("what"):  # of "we host our site on A" it is "site A"
            yield Slot(who, f"{ANY} {_key(what)}", _value(f"{what} {found['old']}"), True, True)
            yield Slot(who, _key(what), _value(found["new"]), changed=True)
    elif found := forms.DROPPED.match(told):
        who = _who(found["who"], speaker)
        yield Slot(who, ANY, _value(found["old"]), True, True)
        if up := forms.SIGNED_UP.match(found["old"]):
            yield Slot(who, f"{ANY} signed", _value(up["thing"]), True, True)
    elif found := forms.REPLACED.match(told):
        yield Slot(US, ANY, _value(found["old"]), True, True)


def _parted(clause: str, speaker: str | None) -> Iterator[Slot]:
    """Of "Chris and I broke up": they are no couple any more."""
    told = forms.LEAD.sub("", clause.strip()).strip(" .!,")
    if found := forms.PARTED.match(told) or forms.PARTED_BOTH.match(told):
        for attribute in ("partner", "spouse"):
            yield Slot(_who(found["who"], speaker), attribute, _value(found["old"]), True, True)


def _totalled(clause: str, speaker: str | None) -> Iterator[Slot]:
    """How many there are by now: a total replaces what was counted, whatever was done with them."""
    told = _bare(clause)
    if done := forms.DONE.match(told):
        what = f"{TOTAL} {_key(done['what'])}"
        yield Slot(_who(done["who"], speaker), what, _value(done["value"]), weak=True)
    if found := forms.ORDINAL.match(told) or forms.TOTAL.search(clause):
        counted = found.groupdict().get("of") or found["what"] or ""
        who = _who(_whose(found["who"], clause), speaker)
        for attribute in (TOTAL, NUMBER) if counted else ():
            yield Slot(who, f"{attribute} {_key(counted)}", _value(found["value"]), changed=True)


def _whose(said: str, clause: str) -> str:
    """Whom "their" means: who the clause is about."""
    subject = forms.SUBJECT.match(forms.LEAD.sub("", clause.strip()))
    theirs = said.lower() in ("his", "her", "their")
    return subject[0] if theirs and subject else re.sub(r"['’]s$", "", said)


def _framed(told: str) -> Found:
    """A statement with a word or its end left open: "we deploy every …" is Friday.

    Whoever says it again with another word and "now" says that it changed.
    """
    found = forms.FRAMED.match(told)
    if found is None:
        return
    # Of "11:15" and "part-time", which are terms whole and in parts, the whole.
    said = [text.terms(word)[:1] for word in _MAY.sub("maymonth", found["value"]).split()]
    words = [term for terms in said for term in terms]
    if not 2 <= len(words) <= MOST_FRAMED:
        return
    for at in range(1, len(words)):
        # The verb alone would leave too much open: "we track … in …" is said of many things.
        for end in sorted({at + 1, len(words) if at > 1 else at + 1}):
            frame = " ".join([*words[:at], "…", *words[end:]])
            yield found["who"], frame, " ".join(words[at:end])


def _have_event(told: str) -> Found:
    """An event of somebody's: "I have a pottery class on Mondays"."""
    found = forms.HAVE_EVENT.match(told)
    if found and _noun(found["event"]) in EVENTS:
        again = f" {WEEKLY}" if forms.WEEKLY.search(told) else ""
        yield found["who"], _timed(found["event"], found["value"]), found["value"] + again


def _read(told: str) -> Found:
    """Who, attribute and value of a statement, by the first form that fits."""
    said = frozenset(re.findall(r"[a-z]+", told.lower()))
    for read in READERS:
        found = list(read(told, said))
        if found:
            yield from found
            return


def _favourite(told: str, said: frozenset[str]) -> Found:
    if said & {"favourite", "favorite"} and (found := forms.FAVOURITE.match(told)):
        yield found["who"], f"favourite {_key(found['what'])}", found["value"]


def _prefer(told: str, said: frozenset[str]) -> Found:
    if said & {"prefer", "prefers"} and (found := forms.PREFER.match(told)):
        pair = sorted((_key(found["value"]), _key(found["other"])))
        yield found["who"], f"prefers {'|'.join(pair)}", found["value"]


def _taste(told: str, said: frozenset[str]) -> Found:
    for form in _fitting(forms.TASTES, said):
        if found := form.pattern.match(told):
            for thing in _each(found["value"]):
                yield found["who"], f"taste {_key(thing)}", form.attribute


def _one(told: str, said: frozenset[str]) -> Found:
    for form in _fitting(forms.ONE, said):
        if found := form.pattern.match(told):
            mood = MOODS.get(found["value"].lower())  # nobody works as a vegan
            some = forms.SOME_DAYS.match(found["value"])
            value, when = (
                (some["value"], f" {some['days'].lower()}") if some else (found["value"], "")
            )
            yield found["who"], (mood or form.attribute) + when, value
            return


def _state(told: str, said: frozenset[str]) -> Found:
    found = forms.STATE.match(told) if said & forms.STATE_WORDS else None
    if found and _noun(found["who"]) in EVENTS:
        yield _owner(found["who"])[0], _timed(found["who"], found["value"]), found["value"]
    elif found:
        how = f"{found['state']} {found['how'] or ''} {_key(found['of'] or '')}"
        yield found["who"], " ".join(how.split()), found["value"]
    elif found := forms.OF_KIND.match(told):
        yield found["who"], f"{found['verb']} {found['kind']}", found["value"]
    elif found := forms.DIED.match(told):
        yield found["who"], f"died {found['how']}", found["value"]


def _use_for(told: str, said: frozenset[str]) -> Found:
    found = forms.USE_FOR.match(told) if said & {"for", "as"} else None
    what = found and (found["what"] or found["first"])
    if found and what:
        who = US if found["who"].lower() in ("we", "the team") else found["who"]
        yield who, _key(re.sub(r"^(?:the|our|my) ", "", what)), found["value"]


def _moved_for(told: str, said: frozenset[str]) -> Found:
    found = forms.MOVED_FOR.match(told) if said & {"for", "as"} else None
    if not found or _noun(found["what"]) in forms.NO_USE:
        return
    ours = found["who"].lower() in ("we", "our team", "the team")
    if ours or found["verb"].lower() != "moved":  # somebody moves house for a job
        yield US if ours else found["who"], _key(found["what"]), found["value"]


def _changed_to(told: str, said: frozenset[str]) -> Found:
    found = forms.CHANGED_TO.match(told) if "to" in said else None
    if not found or _noun(found["attribute"]) not in NOUNS | EVENTS | PEOPLE:
        return
    owner, attribute = found["owner"].lower(), found["attribute"]
    who = US if owner in ("the", "our") else "i" if owner == "my" else found["who"]
    if _noun(attribute) in EVENTS:
        yield who, _timed(attribute, found["value"]), found["value"]
    else:
        yield who, _key(forms.SYNONYMS.get(attribute.lower(), attribute)), found["value"]


def _inverted(told: str, said: frozenset[str]) -> Found:
    found = forms.INVERTED.match(told)
    if found and _noun(found["attribute"]) in NOUNS | PEOPLE:
        who, attribute = _owner(found["attribute"])
        yield who, _key(attribute), found["value"]


def _count(told: str, said: frozenset[str]) -> Found:
    if found := forms.COUNT.match(told):
        has = re.match("ha|own", found["verb"], re.IGNORECASE)
        verb = "" if has else f" {_key(found['verb'])}"
        yield found["who"], f"{NUMBER} {_key(found['what'])}{verb}", found["value"]
    elif found := forms.DONE.match(told):
        what = f"{_key(found['what'])} {_key(found['verb'])}"
        yield found["who"], f"{NUMBER} {what}", found["value"]


def _many(told: str, said: frozenset[str]) -> Found:
    for form in _fitting(forms.MANY, said):
        found = form.pattern.match(told)
        if found and found["value"].lower() not in MOODS:  # nobody has a "married"
            for thing in _each(found["value"]):
                yield found["who"], f"{form.attribute} {_key(thing)}", YES
            return
    if found := forms.HABIT.match(told):
        yield found["who"], f"habit {_key(found['value'])}", YES


def _is(told: str, said: frozenset[str]) -> Found:
    found = forms.IS.match(told)
    if not found or _OWNED.search(found["who"]):
        return
    value = found["value"].lower().removeprefix("back ")
    if value in MOODS:
        yield found["who"], MOODS[value], value
    elif value in OPPOSITES:
        yield found["who"], OPPOSITES[value], value
    else:
        yield found["who"], f"is {_key(value)}", YES


def _named(told: str, said: frozenset[str]) -> Found:
    """An attribute named outright: "X's deadline is Friday", "the capital of X is Y"."""
    found = forms.BECAME.match(told) or forms.NAMED.match(told)
    if not found:
        return
    how = (found.groupdict().get("how") or "").strip()
    of_whom = forms.OF.match(found["attribute"])
    who, attribute = (
        (of_whom["who"], of_whom["attribute"]) if of_whom else _owner(found["attribute"])
    )
    noun = _noun(attribute)
    state = found["value"].lower().removeprefix("back ")
    if state in OPPOSITES:
        yield who, f"{_key(attribute)} {OPPOSITES[state]}", state
    elif noun in EVENTS and (how or re.match(r"[A-Z0-9]|noon|midnight|every", found["value"])):
        yield who, _timed(attribute, found["value"]), found["value"]
    elif noun in MANY_NOUNS and not of_whom:
        yield who, f"{_key(attribute)} {_key(found['value'])}", YES
    elif noun in PEOPLE and not re.match(r"[A-Z]|(?:an?|the|my|our) ", found["value"]):
        yield who, f"{_key(attribute)} is {_key(found['value'])}", YES
    elif noun in NOUNS or of_whom or how or re.match(r"[A-Z0-9\"$€£]", found["value"]):
        named = forms.SYNONYMS.get(attribute.lower(), attribute)
        personal = (
            who != US or noun in PEOPLE
        )  # of what a team has, "a spreadsheet" may be the name
        kind = personal and _described(found["value"])
        more = "kind" if kind else how if noun not in NOUNS else ""
        yield who, f"{_key(named)} {more}".strip(), found["value"]
    elif found["value"].lower() in forms.COLOURS:
        yield who, f"{_key(attribute)} colour", found["value"]
    else:
        yield who, f"{_key(attribute)} is {_key(found['value'])}", YES


def _described(value: str) -> bool:
    """True if a value says of what kind something is: that ends no name which it has."""
    found = _A_KIND.match(value)
    return found is not None and not any(map(str.isupper, found[1]))


def _new_one(told: str, said: frozenset[str]) -> Found:
    """Of "we have a new accountant, Ms. Duarte": who the accountant is."""
    found = forms.NEW_ONE.match(told) if "new" in said else None
    if found and _noun(found["attribute"]) not in MANY_NOUNS:
        ours = found["who"].lower() in ("we", "the team")
        yield US if ours else found["who"], _key(found["attribute"]), found["value"]


def _habitual(told: str, said: frozenset[str]) -> Found:
    if found := forms.HABITUAL.match(told):
        who, attribute = _owner(found["who"])
        yield who, f"{_key(attribute)} {found['verb'].lower()} {found['how']}", found["value"]


def _simple(told: str, said: frozenset[str]) -> Found:
    """Whatever else is said of somebody: it ends only when it is denied."""
    if found := forms.SIMPLE.match(told):
        yield found["who"], f"{SAYS} {_key(_GOES.sub('go', found['value']))}", YES


def _timed(event: str, value: str) -> str:
    """When an event is: its day and its hour are two things."""
    clock = forms.CLOCK.search(value.strip())
    return f"{_key(re.sub('^(?:the|our|my) ', '', event.lower()))} {'at' if clock else 'on'}"


def _moved(told: str, said: frozenset[str]) -> Found:
    """An event or an attribute that changed: "the deadline moved to Friday"."""
    found = forms.BECAME.match(told) if said & {"to", "became", "becomes", "become"} else None
    if found is None:
        return
    outright = found["to"].lower() in ("changed to", "set to", "renamed to")
    if outright or _noun(found["attribute"]) in EVENTS | NOUNS:
        yield from _named(told, said)
    elif found["attribute"][:4].lower() in ("the ", "our "):
        who, attribute = _owner(found["attribute"])
        yield who, f"{_key(attribute)} in", found["value"]


# "The type of music that X plays is Y" must be read by what it names before by its verb.
def _named_the(told: str, said: frozenset[str]) -> Found:
    if told[:4].lower() == "the " and said & {"is", "are", "was", "to"}:
        yield from _named(told, said)


READERS = (
    *(_favourite, _prefer, _taste, _inverted, _changed_to, _moved_for, _moved, _new_one, _one),
    *(_state, _use_for, _count, _habitual),
    *(_named_the, _many, _is, _named, _simple),
)


def _fitting(known: Iterable[forms.Form], said: frozenset[str]) -> Iterator[forms.Form]:
    return (form for form in known if form.words & said)


def _owner(whole: str) -> tuple[str, str]:
    """Ann and job, of "Ann's new job"; "the deadline" is nobody's."""
    first, _, rest = whole.partition(" ")
    rest = re.sub(r"^(?:new |current |latest |own )+", "", rest)
    if first.lower() == "my":
        return "i", rest
    if first.lower() in ("his", "her", "their"):
        return first, rest
    if first.lower() in ("the", "our") or "'" not in whole.replace("’", "'"):
        return US, rest
    found = forms.OWNED.match(whole)
    return (found["who"], found["attribute"]) if found else (US, rest)


def _noun(said: str) -> str:
    return said.rsplit(maxsplit=1)[-1].lower() if said.split() else ""


def _each(value: str) -> list[str]:
    """The things of a list: "French, Thai and Danish"."""
    return [part for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s+&\s+", value) if part.strip()]


def _who(said: str, speaker: str | None) -> str:
    """Whom a statement is about, the same for the same person."""
    said, me = said.strip(" ,'’"), _key(speaker or USER) or USER
    first, _, rest = said.partition(" ")
    if first.lower() in ("i", "we", "me", "us", "my", "our"):
        return f"{me} {_key(rest)}".strip() if rest else me
    return _key(said)


def _value(said: str) -> str:
    said = re.sub(r"^(?:now|currently|only|about|just|on|at|in|by|to) ", "", said)
    said = _POINT.sub("d", said)  # 4.5 is one number
    return _key(_LETTER.sub(r"\1\1\1", said))


@lru_cache(maxsize=4096)
def _key(said: str) -> str:
    """Words in a form in which alike are equal."""
    said = _MAY.sub("maymonth", said)  # as a word it says nothing
    return " ".join(text.terms(said)) or said.strip().casefold()


def clauses(statement: str) -> list[str]:
    """The parts of a statement that each say something of their own, in order."""
    statement = statement.strip()
    told = not forms.UNREAL.search(statement) and not forms.DEPENDENT.match(statement)
    parts = (forms.SPLICED if told else forms.CLAUSES).split(statement)
    return [part.strip() for part in parts if part.strip()]


def held(slot: Slot) -> str:
    """The thing a slot is about, also where it is part of the attribute; none of a weak one."""
    if slot.weak:
        return ""
    if slot.value not in (YES, LIKES):
        return slot.value
    thing = slot.attribute.partition(" ")[2]
    return thing.partition(" ")[2] if slot.attribute.startswith(f"{SAYS} ") else thing


def of_anything(slot: Slot) -> bool:
    """True for what ends whatever had this value, under any attribute."""
    return slot.attribute.partition(" ")[0] == ANY


def counted(slot: Slot) -> bool:
    """True for a number that holds until another does: of what is, not of what happened."""
    words = slot.value.split(" ")
    return slot.weak and slot.lasting and all(any(map(str.isdigit, it)) for it in words)


def passing(slot: Slot) -> bool:
    """True for a day of the week that is meant once: a week later it is past."""
    return slot.weak and slot.value in DAYS


def agree(one: str, other: str) -> bool:
    """True if two values can both be meant: the words of one are among those of the other."""
    left, right = _whole(one), _whole(other)
    return left <= right or right <= left


def _whole(value: str) -> set[str]:
    """The words of a value, with numbers whole: 4.5 is neither 4 nor 5."""
    words = set(value.split(" "))
    parts = {part for it in words if _DECIMAL.fullmatch(it) for part in re.split("[d.,]", it)}
    return words - parts
