"""How a statement is read: who, which attribute and which value, by the first form that fits.

Each reader takes what is told, without what leads in and what follows, and the words it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from holdfast import forms, meanings, nouns
from holdfast.nouns import EVENTS, MANY_NOUNS, MOODS, NOUNS, OPPOSITES, PEOPLE

YES, NO, LIKES, DISLIKES = "yes", "no", "likes", "dislikes"
OPPOSITE = {YES: NO, NO: YES, LIKES: DISLIKES, DISLIKES: LIKES}
SAYS = "says"  # before what is said of somebody in a form of its own
US = ""  # a team's own choices are nobody's in particular
MOST_WORDS = 5  # of what somebody is
NUMBER = "number of"  # before what is counted
Found = Iterator[tuple[str, str, str]]  # who, attribute and value, as said

_OWNED = re.compile(r"^(?:the|our|my|his|her|their)\b|['’]s? ", re.IGNORECASE)
_GOES = re.compile(r"^goes\b")  # the only verb that a stem does not tell
# A name, a number, an address.
_NAME_LIKE = re.compile(rf"[A-Z0-9\"$€£]|\S*[\d_.@/]\S|(?:{'|'.join(forms.NUMBERS)}) ")
_WHY_SO = re.compile(r" (?:for|due to|because of|until|after) .*$")  # beside a state
_A_KIND = re.compile(r"(?:an?|such an?|quite an?|like an?) (\w[\w-]*)")
MAY = re.compile(r"\bMay\b")
_OTHER = re.compile(r"\b(?:an)?other\b", re.IGNORECASE)


def read(told: str) -> Found:
    """Who, attribute and value of a statement, by the first form that fits."""
    said = frozenset(re.findall(r"[a-z]+", told.lower()))
    for read in READERS:
        found = list(read(told, said))
        if found:
            yield from found
            return


def _favourite(told: str, said: frozenset[str]) -> Found:
    if said & {"favourite", "favorite"} and (found := forms.FAVOURITE.match(told)):
        yield found["who"], f"favourite {key(found['what'])}", found["value"]


def _prefer(told: str, said: frozenset[str]) -> Found:
    if said & {"prefer", "prefers"} and (found := forms.PREFER.match(told)):
        pair = sorted((key(found["value"]), key(found["other"])))
        yield found["who"], f"prefers {'|'.join(pair)}", found["value"]


def _commute(told: str, said: frozenset[str]) -> Found:
    found = forms.COMMUTE.match(told) if "to" in said else None
    if found:
        yield found["who"], f"commute {found['to'].lower()}", found["value"] or found["verb"]


def _served(told: str, said: frozenset[str]) -> Found:
    takes = said & {"like", "likes", "take", "takes", "drink", "drinks", "prefer", "prefers"}
    if takes and (found := forms.SERVED.match(told)):
        yield found["who"], f"served {key(found['what'])}", found["value"]


def _appointed(told: str, said: frozenset[str]) -> Found:
    named = said & {"appointed", "named", "hired", "elected", "promoted", "made", "chose"}
    if (
        named
        and (found := forms.APPOINTED.match(told))
        and noun(found["attribute"]) in PEOPLE | NOUNS
    ):
        ours = found["who"].lower() in ("we", "they", "the team", "the board")
        yield US if ours else found["who"], key(found["attribute"]), found["value"]


def _taste(told: str, said: frozenset[str]) -> Found:
    for form in _fitting(forms.TASTES, said):
        if found := form.pattern.match(told):
            for thing in _each(found["value"]):
                yield found["who"], f"taste {key(thing)}", form.attribute


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
    if found and noun(found["who"]) in EVENTS:
        yield owner(found["who"])[0], timed(found["who"], found["value"]), found["value"]
    elif found:
        how = f"{found['state']} {found['how'] or ''} {key(found['of'] or '')}"
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
        yield who, key(re.sub(r"^(?:the|our|my) ", "", what)), found["value"]


def _moved_for(told: str, said: frozenset[str]) -> Found:
    found = forms.MOVED_FOR.match(told) if said & {"for", "as"} else None
    if not found or noun(found["what"]) in forms.NO_USE:
        return
    ours = found["who"].lower() in ("we", "our team", "the team")
    if ours or found["verb"].lower() != "moved":  # somebody moves house for a job
        yield US if ours else found["who"], key(found["what"]), found["value"]


def _changed_to(told: str, said: frozenset[str]) -> Found:
    found = forms.CHANGED_TO.match(told) if "to" in said else None
    if not found:
        return
    known = noun(found["attribute"]) in NOUNS | EVENTS | PEOPLE
    if not known and found["verb"].lower() in ("moved", "pushed", "set", "extended"):
        return
    whose, attribute = found["owner"].lower(), found["attribute"]
    who = US if whose in ("the", "our") else "i" if whose == "my" else found["who"]
    if noun(attribute) in EVENTS:
        yield who, timed(attribute, found["value"]), found["value"]
    else:
        yield who, key(nouns.SYNONYMS.get(attribute.lower(), attribute)), found["value"]


def _homely(told: str, said: frozenset[str]) -> Found:
    """Where somebody lives, told the other way round: "Lisbon is home"."""
    for form in forms.HOME if said & {"home", "where"} else ():
        if found := form.match(told):
            yield re.sub(r"['’]s$", "", found.group("who") or "i"), "home", found["value"]
            return


def _inverted(told: str, said: frozenset[str]) -> Found:
    found = forms.INVERTED.match(told)
    if found and noun(found["attribute"]) in NOUNS | PEOPLE:
        who, attribute = owner(found["attribute"])
        yield who, key(attribute), found["value"]


def _count(told: str, said: frozenset[str]) -> Found:
    if found := forms.COUNT.match(told):
        has = re.match("ha|own", found["verb"], re.IGNORECASE)
        verb = "" if has else f" {key(found['verb'])}"
        yield found["who"], f"{NUMBER} {key(found['what'])}{verb}", found["value"]
        if found["more"]:  # "20 mg of this and an aspirin": each can end by itself
            yield found["who"], f"has {key(found['more'])}", YES
    elif found := forms.DONE.match(told):
        what = f"{key(found['what'])} {key(found['verb'])}"
        yield found["who"], f"{NUMBER} {what}", found["value"]


def _many(told: str, said: frozenset[str]) -> Found:
    for form in _fitting(forms.MANY, said):
        found = form.pattern.match(told)
        if found and found["value"].lower() not in MOODS:  # nobody has a "married"
            for thing in _each(found["value"]):
                yield found["who"], f"{form.attribute} {key(thing)}", YES
            return
    if found := forms.HABIT.match(told):
        yield found["who"], f"habit {key(found['value'])}", YES


def _is(told: str, said: frozenset[str]) -> Found:
    found = forms.IS.match(told)
    if not found or _OWNED.search(found["who"]):
        return
    yield from _being(found["who"], found["value"].lower().removeprefix("back "))


def _being(who: str, value: str) -> Found:
    """How somebody or something is."""
    if value in MOODS:
        yield who, MOODS[value], value
    elif states := list(_states(value)):
        yield from ((who, pair, state) for pair, state in states)
    elif not re.match(r"\w+ing \w", value):  # what somebody is doing has a verb of its own
        yield who, f"is {key(value)}", YES


def into_state(told: str) -> Found:
    """Of "the bridge reopened": in which state it is."""
    for form, state in forms.INTO_STATE:
        if found := form.match(told):
            who, attribute = owner(found["attribute"])
            yield from ((who, f"{key(attribute)} {pair}", it) for pair, it in _states(state))


def _states(value: str) -> Iterator[tuple[str, str]]:
    """The states of which something is in one, each beside the pair that it is of."""
    for state in nouns.ALSO.get(value, (value,)):
        if state in OPPOSITES:
            yield OPPOSITES[state], state


def _named(told: str, said: frozenset[str]) -> Found:
    """An attribute named outright: "X's deadline is Friday", "the capital of X is Y"."""
    found = forms.BECAME.match(told) or forms.NAMED.match(told)
    if not found:
        return
    how = (found.groupdict().get("how") or "").strip()
    of_whom = forms.OF.match(found["attribute"])
    who, attribute = (
        (of_whom["who"], of_whom["attribute"]) if of_whom else owner(found["attribute"])
    )
    last = noun(attribute)
    state = f"{how} {found['value'].lower()}".strip().removeprefix("back ").removesuffix(" again")
    state = _WHY_SO.sub("", state)
    if states := list(_states(state)):
        yield from ((who, f"{key(attribute)} {pair}", value) for pair, value in states)
    elif last in EVENTS and (how or re.match(r"[A-Z0-9]|noon|midnight|every", found["value"])):
        for part in _day_and_hour(found["value"]):
            yield who, timed(attribute, part), part
    elif last in MANY_NOUNS and re.fullmatch("[a-z]+", found["value"]):
        yield from _being(found["attribute"], found["value"])  # nobody's sister is called "ill"
    elif last in MANY_NOUNS and not of_whom:
        yield who, f"{key(attribute)} {key(found['value'])}", YES
    elif last in PEOPLE and not re.match(r"[A-Z]|(?:an?|the|my|our) ", found["value"]):
        yield who, f"{key(attribute)} is {key(found['value'])}", YES
    elif last in NOUNS or of_whom or how or _NAME_LIKE.match(found["value"]):
        named = nouns.SYNONYMS.get(attribute.lower(), attribute)
        personal = (
            who != US or last in PEOPLE
        )  # of what a team has, "a spreadsheet" may be the name
        kind = personal and _described(found["value"])
        more = "kind" if kind else how if last not in NOUNS else ""
        yield who, f"{key(named)} {more}".strip(), found["value"]
    elif found["value"].lower() in nouns.COLOURS:
        yield who, f"{key(attribute)} colour", found["value"]
    else:
        yield who, f"{key(attribute)} is {key(found['value'])}", YES


def _day_and_hour(value: str) -> tuple[str, ...]:
    """Of "Thursdays at 3" both: each may change without the other."""
    found = forms.DAY_AND_HOUR.match(value)
    return (found["day"], found["hour"]) if found else (value,)


def _described(value: str) -> bool:
    """True if a value says of what kind something is: that ends no name which it has."""
    found = _A_KIND.match(value)
    return found is not None and not any(map(str.isupper, found[1]))


def _new_one(told: str, said: frozenset[str]) -> Found:
    """Of "we have a new accountant, Ms. Duarte": who the accountant is."""
    found = forms.NEW_ONE.match(told) if "new" in said else None
    if found and noun(found["attribute"]) not in MANY_NOUNS:
        ours = found["who"].lower() in ("we", "the team")
        named = nouns.SYNONYMS.get(found["attribute"].lower(), found["attribute"])
        yield US if ours else found["who"], key(named), found["value"]


def _habitual(told: str, said: frozenset[str]) -> Found:
    if found := forms.HABITUAL.match(told):
        who, attribute = owner(found["who"])
        begins = found["verb"].lower() in ("leaves", "departs", "starts", "begins", "happens")
        if noun(attribute) in EVENTS and begins:
            yield who, timed(attribute, found["value"]), found["value"]
            return
        yield who, f"{key(attribute)} {found['verb'].lower()} {found['how']}", found["value"]


def _simple(told: str, said: frozenset[str]) -> Found:
    """Whatever else is said of somebody: it ends only when it is denied."""
    if found := forms.SIMPLE.match(told):
        yield found["who"], f"{SAYS} {key(_GOES.sub('go', found['value']))}", YES


def timed(event: str, value: str) -> str:
    """When an event is: its day and its hour are two things."""
    clock = forms.CLOCK.search(value.strip())
    return f"{key(re.sub('^(?:the|our|my) ', '', event.lower()))} {'at' if clock else 'on'}"


def _moved(told: str, said: frozenset[str]) -> Found:
    """An event or an attribute that changed: "the deadline moved to Friday"."""
    found = forms.BECAME.match(told) if said & {"to", "became", "becomes", "become"} else None
    if found is None or (noun(found["attribute"]) in PEOPLE and found["to"].lower() == "moved to"):
        return
    outright = found["to"].lower() in ("changed to", "set to", "renamed to")
    if outright or re.match(r"\S*\d", found["value"]) or noun(found["attribute"]) in EVENTS | NOUNS:
        yield from _named(told, said)
    elif found["attribute"][:4].lower() in ("the ", "our "):
        who, attribute = owner(found["attribute"])
        yield who, f"{key(attribute)} in", found["value"]


# "The type of music that X plays is Y" must be read by what it names before by its verb.
def _is_the(told: str, said: frozenset[str]) -> Found:
    """Of "I am the treasurer of the club": what somebody is."""
    found = forms.IS_THE.match(told)
    if found and not _OWNED.search(found["who"]) and len(found["value"].split()) <= MOST_WORDS:
        yield found["who"], f"is {key(found['value'])}", YES


def _learned(told: str, said: frozenset[str]) -> Found:
    if said & {"can", "to"} and (found := forms.LEARNED.match(told)):
        yield found["who"], f"{SAYS} {key(found['value'])}", YES


def _named_the(told: str, said: frozenset[str]) -> Found:
    if told[:4].lower() == "the " and said & {"is", "are", "was", "to"}:
        yield from _named(told, said)


READERS = (
    *(
        _favourite,
        _prefer,
        _commute,
        _served,
        _taste,
        _homely,
        _inverted,
        _changed_to,
        _moved_for,
        _moved,
    ),
    *(_new_one, _appointed, _one),
    *(_state, _use_for, _count, _habitual),
    *(_named_the, _many, _is, _is_the, _named, _learned, _simple),
)


def _fitting(known: Iterable[forms.Form], said: frozenset[str]) -> Iterator[forms.Form]:
    return (form for form in known if form.words & said)


def owner(whole: str) -> tuple[str, str]:
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


def noun(said: str) -> str:
    """The last word of a phrase: what it is one of."""
    return said.rsplit(maxsplit=1)[-1].lower() if said.split() else ""


def _each(value: str) -> list[str]:
    """The things of a list: "French, Thai and Danish"."""
    return [part for part in re.split(r",\s*(?:and\s+)?|\s+and\s+|\s+&\s+", value) if part.strip()]


@lru_cache(maxsize=4096)
def key(said: str) -> str:
    """Words in a form in which alike are equal."""
    said = MAY.sub("maymonth", said)  # as words they say nothing
    said = _OTHER.sub("otherone", said)
    return " ".join(meanings.terms(said)) or said.strip().casefold()
