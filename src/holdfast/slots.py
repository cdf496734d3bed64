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
from dataclasses import dataclass, replace
from functools import lru_cache

from holdfast import ends, forms, meanings, nouns, readings, speech, subjects, topics
from holdfast.ends import ANY, GOING
from holdfast.nouns import EVENTS, MANY_NOUNS, NOUNS, OFFICES, OPPOSITES, PEOPLE
from holdfast.readings import (
    LIKES,
    NUMBER,
    OPPOSITE,
    SAYS,
    US,
    YES,
    Found,
    key,
    noun,
    owner,
    timed,
)

_AS_THEY_ARE = (
    ANY,
    ends.ONGOING,
    ends.LIKED,
    ends.OFFICE,
    ends.THING,
)  # attributes that are no words of anybody's
# Those whom somebody calls "we".
_WE = frozenset(f"our {word}" for word in "company firm team family household startup".split())
_KEPT = ("speaks", "allergic")  # nobody loses these by turning to another
_OFFICES = frozenset(key(word) for word in PEOPLE | OFFICES)
_PAIRS = tuple(f" {pair}" for pair in sorted(set(OPPOSITES.values())))
ABOUT = "about"  # the attribute of what a whole statement is about
TOTAL = "total of"  # before what is counted
WEEKLY = "weekly"  # beside a day of the week that is meant again and again
DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
USER = "user"  # who "I" is, where nobody is named
MOST_LETTERS = 300  # a longer sentence tells too much to be one fact
MOST_FRAMED = 5  # words of a statement that is also read with one of them left open
MOST_INDEXED = 5  # words of a thing that is found by each of them
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
    lasting: bool = False  # it is told of what is, not of what happened
    topic: topics.Topic | None = None  # what the whole statement is about, in whatever words


# What cannot be the end of a statement: the date that follows is its value.
_OPEN_END = re.compile(
    r"\b(?:is|are|am|was|be|not|now|on|at|in|to|moved|until|meets?|starts?|happens|place)$"
    r"|^(?:the|my|our) \w+ [a-z]+s$",
    re.IGNORECASE,
)
# "Standup is at 10", "Support hours changed to 8 to 6": whose they are goes without saying.
_BARE_NOUN = re.compile(
    r"(?!(?i:the|my|our|his|her|their|your|a|an|this|that|no)\b)"
    r"(?P<what>[A-Z]?[a-z]+(?:-[A-Z]?[a-z]+)?(?: [a-z]+)?) "
    r"(?:is|are|was|will|got|has|have|moved|changed|starts?)\b"
)
_A_KIND = re.compile(r"\b(?:is|are) (?:now )?an? [a-z]")
_THEIRS = re.compile(r"\b(?:their|his|her)\b")  # of a statement about the user: the user's
_MINE = re.compile(r"\b(?:I|my|me|mine|User)\b", re.IGNORECASE)
_THEY = re.compile(r"(?P<now>(?:now )?)(?P<they>they|their|she|he|her|his) ", re.IGNORECASE)
_SUBJECT = re.compile(
    r"(?!The |My |Our |His |Her |It |He |She |We |They |There |This |That )[A-Z][\w-]+(?= [a-z])"
)
_LETTER = re.compile(r"\b([A-Z])\b")  # "Hall A" is not just any hall
_POINT = re.compile(r"(?<=\d)[.,](?=\d)")
_DECIMAL = re.compile(r"\d+(?:[d.,]\d+)+")
_HANDLE = re.compile(r"\w+_\w+|\S+@\S+")  # a name of one piece


@lru_cache(maxsize=4096)
def of(statement: str, speaker: str | None = None) -> tuple[Slot, ...]:
    """The slots of a statement; `speaker` is who "I" is."""
    if len(statement) > MOST_LETTERS or forms.JOKE.search(statement):
        return ()
    statement = forms.CALLED.sub("User", statement.removeprefix(f"{speaker}: "))
    for clipped, full in forms.CLIPPED:
        statement = clipped.sub(full, statement)
    statement = subjects.named(statement).rstrip(" .!")
    statement = forms.NOT_BUT.sub(r"\g<what> is now \g<value>", statement)
    statement = forms.WAS_NOW.sub(r"\g<what> is now \g<value>", statement)
    found: dict[tuple[str, str], Slot] = {}
    named = _SUBJECT.match(statement)
    name = next((it for it in ("User", speaker) if it and statement.startswith(f"{it} ")), None)
    name = name or (named[0] if named else None)
    for clause in clauses(_as_mine(statement, speaker)):
        for slot in _of_clause(_named_again(clause, name), speaker):
            found.setdefault((slot.who, slot.attribute), slot)
    return (*found.values(), *_about(statement, speaker))


def _as_mine(statement: str, speaker: str | None) -> str:
    """What is learned of who speaks, as they said it: of "Ann's car", told by Ann, "my car"."""
    for name in ("User", speaker) if me(speaker) == USER else (speaker,):
        statement = re.sub(rf"\b{re.escape(name)}['’]s\b", "my", statement) if name else statement
    return statement


def _about(statement: str, speaker: str | None) -> Iterator[Slot]:
    """What the whole statement is about, and the values it gives, in whatever words."""
    if statement.startswith(("User ", "User's ")):
        statement = _THEIRS.sub("my", statement)
    topic = topics.of(statement)
    if topic is not None:
        who = _who("i", speaker) if _MINE.search(statement) else US
        values = " ".join(sorted(topic.told - topic.words))
        yield Slot(who, ABOUT, values, changed=topic.changed, weak=True, topic=topic)


def _named_again(clause: str, name: str | None) -> str:
    """A clause that begins with a "they" for whom the statement is about, with the name for it."""
    found = _THEY.match(clause) if name else None
    if found is None:
        return clause
    whose = "" if found["they"].lower() in ("they", "she", "he") else "'s"
    return f"{found['now']}{name}{whose} {clause[found.end() :]}"


def _of_clause(clause: str, speaker: str | None) -> Iterator[Slot]:
    if not clause.strip() or forms.UNREAL.search(clause):
        return
    changed = forms.CHANGE.search(clause) is not None
    clause = subjects.with_i(clause)
    told = _bare(clause)
    affirmed = _affirmed(told)
    yield from _over(clause, told, speaker)
    yield from _totalled(clause, told, speaker)
    read = list(readings.read(affirmed or told))
    if all(value == YES for _, _, value in read):
        yield from _going(told, speaker)
    lasting = not speech.happened(clause)
    beside = forms.MORE.search(clause) is not None and not affirmed
    for who, attribute, value in read:
        said = value if value in OPPOSITE else _value(value)
        slot = Slot(_who(who, speaker), attribute, said, lasting=lasting, weak=beside)
        if not slot.value or not attribute or _long(slot.who) or _long(slot.value):
            continue
        if affirmed and slot.value in OPPOSITE:
            yield replace(slot, value=OPPOSITE[slot.value], changed=True)
        else:
            news = (changed and not beside) or bool(affirmed)
            yield replace(slot, ended=bool(affirmed), changed=news)
    if affirmed is None and not forms.MORE.search(clause):
        now = forms.NOW.search(clause) is not None
        plain = all(attribute.startswith(f"{SAYS} ") for _, attribute, _ in read)
        told = _timeless(clause)
        many = all(value == YES for _, _, value in read)
        frames = [it for it in _framed(told) if plain or (many and _at_times(it[2]))]
        frames += _placed(told) if plain else []
        frames += _treated(told)
        kind = _A_KIND.search(told)  # "our printer is a paperweight" is no name of it
        frames += [_worded(*it) for it in read if not kind and " is " in it[1] and it[2] == YES]
        for who, attribute, value in (*frames, *_have_event(told)):
            said = _value(value)
            yield Slot(_who(who, speaker), attribute, said, changed=now, weak=True, lasting=lasting)


def _placed(told: str) -> list[tuple[str, str, str]]:
    """Where or with whom something is done, whatever else is said of it."""
    found = forms.PLACED.match(told)
    if found is None:
        return []
    done = f"{key(found['verb'])} {key(found['what'])}" if found["what"] else key(found["verb"])
    return [(found["who"], f"{done} {found['how'].lower()}", found["value"])]


def _treated(told: str) -> list[tuple[str, str, str]]:
    """What is done with a thing, and how: whoever does it."""
    found = next((it for form in forms.TREATED if (it := form.match(_without_tails(told)))), None)
    if found is None:
        return []
    whose, what = owner(found["what"])
    return [(whose, f"{key(found['verb'])} {key(what)} {found['how'].lower()}", found["value"])]


def _at_times(value: str) -> bool:
    """True for a day or a number: another one beside it is told as news only if it changed."""
    return all(
        it in DAYS or it.removesuffix("s") in DAYS or it[:1].isdigit() for it in value.split()
    )


def _worded(who: str, attribute: str, _: str) -> tuple[str, str, str]:
    """Of "the code word is albatross", which may be how it is, what it is."""
    named, _, value = attribute.partition(" is ")
    return who, f"{named} is", value


def _long(words: str) -> bool:
    return words.count(" ") >= MOST_TERMS


def _bare(clause: str) -> str:
    """A clause without what leads in and what follows: reasons, dates, asides."""
    told = forms.LEAD.sub("", clause.strip()).strip(" .!,")
    told = _without_tails(forms.CLAUSE.sub("", told).strip(" .!,"))
    bare = _BARE_NOUN.match(told)
    return f"the {told}" if bare and noun(bare["what"]) in EVENTS | NOUNS else told


def _without_tails(told: str) -> str:
    """A clause without the dates and asides at its end."""
    while (shorter := forms.TAIL.sub("", told).strip(" ,")) != told:
        if _OPEN_END.search(shorter):
            break
        told = shorter
    return told


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


def _over(clause: str, told: str, speaker: str | None) -> Iterator[Slot]:
    """What is told to hold no longer, under whatever name it is known, and what holds instead."""
    if not ends.TOLD.search(clause):
        return
    raw = forms.LEAD.sub("", clause.strip()).strip(" .!,")
    whole = _without_tails(raw)
    for said in dict.fromkeys((told, whole, raw, *ends.parts(raw))):
        for who, attribute, value in (*ends.over(said), *ends.parted(said)):
            first, _, rest = attribute.partition(" ")
            worded = first in (SAYS, ANY, "is", "has") and attribute not in _AS_THEY_ARE
            named = f"{first} {key(rest)}" if worded else attribute
            old = value if value == ANY else _value(_without_tails(value))
            if old and not _long(old):
                yield Slot(_who(who, speaker) if who else US, named, old, True, True)
    yield from _became(told, speaker)
    for who, attribute, value in (*_turned(told), *readings.into_state(whole)):
        if (said := _value(value)) and not _long(said):
            yield Slot(_who(who, speaker) if who else US, attribute, said, changed=True)


def _turned(told: str) -> Found:
    """What a thing was changed to, under each name that what it was before may have."""
    if " to " not in told:
        return
    found = next((found for form in forms.TURNED if (found := form.match(told))), None)
    if found is None or noun(found["thing"]) in PEOPLE | MANY_NOUNS:
        return
    thing, _, value = found["thing"], *f" to {found['value']}".rpartition(" to ")[1:]
    if " to " in found["value"]:  # "my flight to Rome to Wednesday"
        thing = f"{thing} to {found['value'].rpartition(' to ')[0]}"
    of_whom = forms.OF.match(thing)
    whose, attribute = (of_whom["who"], of_whom["attribute"]) if of_whom else owner(thing)
    named = key(nouns.SYNONYMS.get(attribute.lower(), attribute))
    for who in (US, "i") if thing.lower().startswith("the ") and not of_whom else (whose,):
        yield from ((who, f"{named} {how}", value) for how in ("in", "on", "at"))
        if not found.groupdict().get("moves"):
            names = (named, f"{named} name", f"{named} is", f"{named} colour")
            yield from ((who, name, value) for name in names)
    if measured := forms.MEASURED.match(value):
        yield thing, f"{NUMBER} {key(measured['what'])}", measured["value"]
    if found["verb"].lower() in ("renamed", "rebranded"):
        yield thing, "called", value


def _became(told: str, speaker: str | None) -> Iterator[Slot]:
    """Of a change, what it led to: "B took over from A as lead", "we rewrote it in Rust"."""
    for whose, new in ends.came(told):
        thing = key(new)
        if not _long(thing):
            who = _who(whose, speaker) if whose else US
            yield Slot(who, f"{ends.CAME} {thing}", YES, changed=True)
    if found := ends.SWITCHED.match(told):
        who = ends.switcher(found["who"], found["what"])
        if found["what"]:
            who = _who(who, speaker) if who else US
            yield Slot(who, key(found["what"]), _value(found["new"]), changed=True)
    elif (found := ends.SUCCEEDED.match(told) or ends.TOOK_OVER.match(told)) and found["what"]:
        whose, attribute = owner(found["what"])
        who = _who(whose, speaker) if whose else US
        yield Slot(who, key(attribute or found["what"]), _value(found["new"]), changed=True)
    elif found := forms.REMADE.match(told):
        who, value = _who(found["what"], speaker), _value(found["value"])
        yield from (Slot(who, made, value, changed=True) for made in forms.MADE)
    elif (found := forms.VERSIONED.match(told)) and (
        version := forms.VERSION.match(found["value"])
    ):
        who = _who(found["what"] or found["who"], speaker)
        attribute = f"version {key(version['name'])}"
        yield Slot(who, attribute, _value(version["number"]), changed=True)


def _going(told: str, speaker: str | None) -> Iterator[Slot]:
    """What somebody is at, or on: it can be told to be over. And which version is in use."""
    if found := forms.AT.match(told):
        what = found["on"] or found["done"] or found["value"]
        thing = key(what)
        if not _long(thing):
            yield Slot(_who(found["who"], speaker), f"{GOING} {thing}", YES)
    elif (found := forms.RUNS.match(told)) and (version := forms.VERSION.match(found["value"])):
        who, name = _who(found["who"], speaker), key(version["name"])
        yield Slot(who, f"version {name}", _value(version["number"]))


def _totalled(clause: str, told: str, speaker: str | None) -> Iterator[Slot]:
    """How many there are by now: a total replaces what was counted, whatever was done with them."""
    if done := forms.DONE.match(told):
        what = f"{TOTAL} {key(done['what'])}"
        yield Slot(_who(done["who"], speaker), what, _value(done["value"]), weak=True)
    if found := forms.ORDINAL.match(told) or forms.TOTAL.search(clause):
        counted = found.groupdict().get("of") or found["what"] or ""
        who = _who(_whose(found["who"], clause), speaker)
        for attribute in (TOTAL, NUMBER) if counted else ():
            yield Slot(who, f"{attribute} {key(counted)}", _value(found["value"]), changed=True)


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
    said = [
        meanings.terms(word)[:1] for word in readings.MAY.sub("maymonth", found["value"]).split()
    ]
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
    if found and noun(found["event"]) in EVENTS:
        again = f" {WEEKLY}" if forms.WEEKLY.search(told) else ""
        yield found["who"], timed(found["event"], found["value"]), found["value"] + again


def me(speaker: str | None) -> str:
    """Who "I" is."""
    return key(speaker or USER) or USER


def _who(said: str, speaker: str | None) -> str:
    """Whom a statement is about, the same for the same person."""
    said, own = said.strip(" ,'’"), me(speaker)
    first, _, rest = said.partition(" ")
    if said.lower() in _WE:
        return own
    if first.lower() in ("i", "we", "me", "us", "my", "our"):
        return f"{own} {key(rest)}".strip() if rest else own
    return key(said)


def _value(said: str) -> str:
    said = re.sub(r"^(?:now|currently|only|about|just|on|at|in|by|to) ", "", said)
    said = _POINT.sub("d", said)  # 4.5 is one number
    return key(_LETTER.sub(r"\1\1\1", said))


def clauses(statement: str) -> list[str]:
    """The parts of a statement that each say something of their own, in order."""
    statement = statement.strip()
    told = not forms.UNREAL.search(statement) and not forms.DEPENDENT.match(statement)
    form = forms.SPLICED if told else forms.CLAUSES
    news = forms.COLON.match(statement)
    whole = (news["news"], news["rest"]) if news else (statement,)
    parts = [part for it in whole for part in form.split(it)]
    return [part.strip() for part in parts if part.strip()]


def formed(slot: Slot) -> bool:
    """True for a relation that has a form; not for what is just said of somebody."""
    return not slot.weak and not slot.attribute.startswith((f"{SAYS} ", f"{GOING} "))


def held(slot: Slot) -> str:
    """The thing a slot is about, also where it is part of the attribute; none of a weak one."""
    if slot.weak:
        return ""
    if slot.value not in (YES, LIKES):
        return slot.value
    thing = slot.attribute.partition(" ")[2]
    return thing.partition(" ")[2] if slot.attribute.startswith(f"{SAYS} ") else thing


def index(told: Iterable[Slot]) -> Iterator[tuple[str, str, str]]:
    """Who, attribute and thing by which each slot is found; words of a thing find it, too.

    "I sold the Mazda" is told of a "red Mazda".
    """
    for slot in told:
        if slot.topic is not None:
            yield from ((word, ABOUT, f"{ABOUT} {word}") for word in sorted(slot.topic.words))
            continue
        thing = held(slot)
        yield slot.who, slot.attribute, thing
        if slot.attribute.startswith("is ") and _OFFICES & set(slot.attribute.split(" ")):
            # Whoever has an office may give it up.
            yield from ((slot.who, f"{ends.OFFICE} {it}", it) for it in slot.who.split(" "))
        words = thing.split(" ")
        if 1 < len(words) <= MOST_INDEXED and not of_anything(slot):
            yield from ((slot.who, f"{ANY} {word}", word) for word in words)


def things(slot: Slot) -> list[str]:
    """By which things, beside who and attribute, is to be looked for what a slot ends."""
    if slot.topic is not None:
        told = slot.topic.words | {word for some in slot.topic.displaced for word in some}
        return [f"{ABOUT} {word}" for word in sorted(told)] if slot.changed else []
    thing = slot.value if of_anything(slot) else held(replace(slot, value=YES))
    if not of_anything(slot) and (slot.value != readings.NO or not slot.changed or slot.weak):
        return []
    words = thing.split(" ")
    return list(dict.fromkeys([thing, *(words if len(words) <= MOST_INDEXED else ())]))


def denies(slot: Slot, old: Slot) -> bool:
    """True if it is said that something is no more which was told with more words.

    "I no longer take vitamin D" is said of "I take vitamin D every day".
    """
    if not (
        slot.changed and slot.value == readings.NO and old.value == YES and slot.who == old.who
    ):
        return False
    return not old.weak and old.attribute.startswith(f"{slot.attribute} ")


def ends_any(slot: Slot, old: Slot) -> bool:
    """True if this is what a slot of anything ends: it has that value, in more words or the same.

    What is liked stays liked, and what happened, happened; what is over must have been going on.
    """
    said = old.attribute.partition(" ")[0]
    if old.ended or old.weak or said in _KEPT or (said == SAYS and not old.lasting):
        return False
    mine, theirs = _whole(slot.value), _whole(held(old))
    if said == "taste" or slot.attribute == ends.LIKED:
        liked = said == "taste" and slot.attribute == ends.LIKED and old.value == LIKES
        return liked and slot.who == old.who and mine == theirs
    if slot.attribute == ends.OFFICE:
        return _holds(slot.value, old)
    if slot.attribute == ends.THING and noun(slot.value) != noun(held(old)):
        return False
    if slot.attribute != ends.ONGOING:
        return mine <= theirs
    return said == GOING and (mine == theirs or held(old).startswith(f"{slot.value} "))


def _holds(who: str, old: Slot) -> bool:
    """True for an office that somebody has: "Dr. Patel is my GP", "the treasurer is Olga"."""
    named = set(who.split(" "))
    if old.attribute.startswith("is ") and named <= set(old.who.split(" ")):
        return bool(_OFFICES & set(old.attribute.split(" ")))
    return old.value not in OPPOSITE and named <= _whole(old.value) and _of_office(old.attribute)


def _of_office(attribute: str) -> bool:
    return bool(_OFFICES & set(attribute.split(" ")[-1:]))


def of_one_topic(slot: Slot, old: Slot) -> bool:
    """True if a change is told of what an older statement is about, which then no longer holds."""
    if slot.topic is None or old.topic is None:
        return False
    of_one = slot.who == old.who or US in (slot.who, old.who)
    return of_one and topics.contradicts(slot.topic, old.topic)


def of_anything(slot: Slot) -> bool:
    """True for what ends whatever had this value, under any attribute."""
    return slot.attribute.partition(" ")[0] == ANY


def of_state(slot: Slot) -> bool:
    """True for which of two states a thing is in: open or closed."""
    return not slot.weak and slot.attribute.endswith(_PAIRS)


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
    parts |= {part for it in words if _HANDLE.fullmatch(it) for part in re.split("[_@.-]", it)}
    return words - parts
