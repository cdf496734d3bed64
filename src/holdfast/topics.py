"""What a statement is about in whatever words, and the values it gives: the retry limit, 3.

Two statements that no form reads alike ("the retry limit is 3", "bumped the retry limit to 5") are
of the same if what they are about is: every phrase that they share is whole in both, and only one
of them has phrases of its own. Then a value of the same sort replaces the other, but only where
the newer statement is told as a change. What is said to be displaced ("instead of A", "A is gone")
is displaced wherever it is told of the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast import meanings, text
from holdfast.forms import NUMBERS, UNREAL, alternatives
from holdfast.nouns import COLOURS, MANY_NOUNS, PEOPLE

MOST_WORDS = 9  # of a topic; a statement with more tells a story
_DAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
_MONTH = """(?:January|February|March|April|May|June|July|August|September|October|November
    December|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)""".replace("\n    ", "|")
_COUNTED = "(?:" + "|".join(sorted(set(NUMBERS) - {"no", "a"}, key=len, reverse=True)) + ")"
# Of each pair one ends the other, under whatever name.
STATES = {
    word: state
    for state, words in (
        ("on", "on enabled activated active"),
        ("off", "off disabled deactivated inactive"),
        ("open", "open opened reopened"),
        ("closed", "closed shut"),
        *((word, word) for word in "online offline public private locked unlocked".split()),
    )
    for word in words.split()
}
_UNIT = alternatives(
    """mg|ml|kg|g|km|cm|mm|m|kb|mb|gb|tb|ms|s|kilos?|pounds|lbs?|litres?|liters?|miles?|degrees
    seconds?|minutes?|hours?|days?|weeks?|months?|years?|percent|%|points?|characters?|tokens?"""
)


def _sort(pattern: str, exact: bool = False) -> re.Pattern[str]:
    return re.compile(pattern, 0 if exact else re.IGNORECASE)


# A number after a name is a part of it: "Pixel 6".
_UNNAMED = "".join(rf"(?<![A-Z]\w{{{letters}}} )" for letters in range(1, 9))
# Sorts of values, those that hold others first.
SORTS = {
    "setting": _sort(
        r"(?P<who>\b[A-Z][A-Z0-9]*_[A-Z0-9_]+|\b[a-z]\w*_\w+)"
        r"(?: (?:is|was|has been))?(?: now)?(?: set)? ?(?:to|=|is|:) ?(?P<value>[\w./-]+)",
        exact=True,
    ),
    "handle": _sort(
        r"\S+@\S+\.\w+|https?://\S+|\b[a-z]+(?:-[a-z]+)+-\d+\b|\bv?\d+(?:\.\d+){1,3}\b(?! ?[ap]m)"
    ),
    "money": _sort(
        r"[$€£]\s?\d[\d.,]*\d?k?\b|\b\d+k\b|\b\d[\d.,]*k? ?(?:dollars?|euros?|pounds|eur|usd|gbp)\b"
    ),
    "time": _sort(
        r"\b\d{1,2}[:.]\d\d(?: ?[ap]m)?\b|\b\d{1,2} ?[ap]m\b|\bnoon\b|\bmidnight\b"
        r"|\b(?:half past|quarter (?:past|to)) \w+|\b\w+ o['’]clock\b"
        rf"|(?<=\bat )(?:\d{{1,2}}|{_COUNTED})(?= (?:in the|on|now|these|from|instead)\b|$|,)"
    ),
    "date": _sort(
        rf"\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?: \d{{4}})?"
        rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b|\b\d{{4}}-\d\d-\d\d\b"
        rf"|(?:(?<=\buntil )|(?<=\btill )|(?<=\bto )){_MONTH}\b(?: \d{{4}})?"
    ),
    "how often": _sort(
        r"\b(?:bi-?)?(?:hourly|daily|nightly|weekly|fortnightly|monthly|quarterly|yearly|annually)\b"
        rf"|\b(?:every|each) (?:(?:other|second|\d+|{_COUNTED}) )?"
        r"(?:minutes?|hours?|days?|nights?|weeks?|months?|quarters?|years?)\b"
        rf"|\b(?:once|twice|(?:\d+|{_COUNTED}) times) (?:an?|per|every) \w+"
    ),
    "weekday": _sort(rf"\b(?:every )?{_DAY}\b"),
    "ordinal": _sort(
        r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th))\b"
    ),
    "number": _sort(rf"(?<![\w.]){_UNNAMED}\d[\d.,]*(?=\b|[a-z%])(?: ?{_UNIT}\b)?", exact=True),
    "amount": _sort(rf"\b{_COUNTED}\b(?: {_UNIT}\b)?"),
    "size": _sort(r"\b(?:XXL|XL|XS|[SML])\b(?!['’])", exact=True),
    "letter": _sort(r"(?<=[a-z] )(?:[B-HJ-Z]\b|A(?=$|[,.]))(?!['’])", exact=True),
    "state": _sort(
        rf"(?<!now )\b(?:{'|'.join(sorted(STATES))})\b"
        r"(?=$|[,.]| (?:again|now|by|in|for|to|since|until)\b)"
        r"|(?<=^we )(?:dis|en)abled\b|(?:de)?activated\b"
    ),
    # "The red team" is so called.
    "colour": _sort(rf"\b(?:{'|'.join(sorted(COLOURS))})\b(?=$|[,.]| (?:now|again|instead)\b)"),
}
_NAME = (
    r"(?:(?:Dr|Mrs?|Ms|Prof)\. )?(?!I\b|I['’]|User\b)[a-z]?[A-Z][\w+#&-]+(?:\.[\w+#&-]+)*"
    r"(?: [A-Z0-9][\w.+#-]*)*(?!['’]s)"
)
# After a small word, a name may be a value; where something is has a sort of its own.
NAMED = re.compile(rf"(?:(?<=\s)|^)(?P<lead>[a-z][\w'’]*),? (?P<value>{_NAME})")
_PLACES = frozenset("in at on near from into".split())
# Who is charged with something, told first or last: "Rob approves expenses", "approved by Rob".
CHARGED = re.compile(
    rf"^(?P<value>{_NAME}) (?:now )?(?:approves|leads|runs|manages|handles|owns|maintains|reviews"
    r"|teaches|hosts|chairs|coordinates|organi[sz]es|covers|edits|moderates|oversees|supervises"
    r"|coaches|does|looks after|takes care of|is responsible for|is in charge of|signs off on) "
)
_CALENDAR = re.compile(rf"{_DAY}|{_MONTH}", re.IGNORECASE)
_LOOSE = ("number", "amount", "ordinal", "size", "letter", "name", "place")  # of nothing else
# Told as a change: by a verb, or by what stands around it.
_ALTERED = alternatives(
    r"""moved|changed|switched|raised|increased|lowered|reduced|cut|bumped|upped|doubled|halved
    tripled|extended|shortened|pushed|postponed|rescheduled|delayed|upgraded|downgraded|renamed
    rebranded|replaced|swapped|converted|rewrote|rewritten|ported|migrated|transferred|relocated
    shifted|promoted|reset|adjusted|updated|revised|corrected|dropped|fell|rose|climbed|jumped
    turned(?= (?:the|my|our)\b)|made(?= (?:the|my|our)\b)|disabled|enabled|reopened|renewed
    set(?= [\w' -]{2,40} to\b)
    grew|shrank|expanded|trimmed|slashed|brought (?:forward|back)|(?:turned|went) (?:up|down)
    (?:was|were|been|got|is now|are now) set|given|down to|up to|settled
    just (?:started|became|turned|got)"""
)
_NEWS = alternatives(
    r"""now|nowadays|these days|from now on|from (?:today|tomorrow|\w+day|\d{4}-\d\d-\d\d)
    going forward|henceforth|from (?:this \w+|next \w+|\d{4}\S*) on(?:wards?)?
    as of|effective|instead|no longer|any ?more
    starting (?:today|tomorrow|this|next|from|on|in|\w+day)|correction|update|misspoke|mistaken
    since (?:last|this|yesterday|the week of|\d{4}-\S+)|i meant|i got|(?:was|were) wrong|finally
    ever since
    misread|mistyped|misheard|mixed (?:it|that|this|them) up|typo|change of plans?|lately
    my (?:mistake|bad)|scratch that|make that|turns out|actually|again
    changed (?:my|his|her|their|our) minds?"""
)
ALTERED = re.compile(rf"\b{_ALTERED}\b|^set ", re.IGNORECASE)
CHANGED = re.compile(rf"\b(?:{_ALTERED}|{_NEWS})\b|^set | = ", re.IGNORECASE)
# What is told with such a word was so, is one of several, or is not settled.
NOT_NOW = re.compile(
    r"\b(?:was|were|had|used|wore|ran|went(?! with)|lived|worked|trained|originally)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\b(?:also|too|as well|another|both|besides|additionally|one more|as a backup|about to"
    r"|proposed|suggested|discuss\w+|debat\w+|considered|requested|usually|but kept)\b",
    re.IGNORECASE,
)
# Relations of which many are true at once: another name beside one ends nothing.
_MANY = re.compile(
    r"\b(?:speaks?|likes?|loves?|enjoys?|visit\w*|knows?|plays?|allergic|friends?|kids?|children"
    r"|includ\w+|support\w*|customers|clients|colleagues?|members?|owns?|met|worked|read"
    r"|watch\w*|son|daughter|brother|sister|called|named|(?:am|is|are|comes?) from|born|than"
    r"|(?:has|have)(?! \w+(?:ed|en)\b))\b",
    re.IGNORECASE,
)
# Who moves house is elsewhere then; what is switched may be another thing, or elsewhere.
MOVED = re.compile(
    r"\b(?:(?P<house>moved|relocated|transferred|went)|switched|migrated|changed)\b[^,;]*$",
    re.IGNORECASE,
)
_X = r"(?P<x>(?:the |an? |my |our )?[\w@.+#'’-]+(?: [\w@.+#'’-]+){0,3}?)"
_END = r"(?=$|[,;.]? (?:this|these|for|from|in|on|as|to|since|with|any ?more|now)\b|[,;])"
DISPLACED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:\b(?:instead of|rather than|in place of)|(?:,|;| and) not) {_X}{_END}",
        rf"\b(?:chose|picked|took|selected|(?:went|going) with) \S+(?: \S+)? over {_X}{_END}",
        rf"(?:^|, |; |and ){_X} (?:is|are|was|were|has been|have been|got) (?:now )?"
        r"(?:gone|retired|dead|wrong|deprecated|discontinued|decommissioned|phased out|shut down"
        r"|removed|scrapped|obsolete|history|no more)\b",
        rf"\b(?:dropped|removed|ditched|scrapped|took|deleted|cut) {_X} (?:from|off|out of)\b",
        r"\b(?:swapped|replaced|traded|exchanged|ditched|dropped) (?:out )?(?!the |an? |my |our )"
        rf"{_X} (?:with|for|by|in)\b",
        rf"^{_X} (?:has |have )?(?:just )?(?:left|quit|resigned from) (?=(?:the|our) \w)",
        rf"\bsupport for {_X} (?:ended|was dropped|has ended|is over|was removed|stopped)\b",
        r"\b(?:replace[ds]|succeed(?:ed|s)|supersede[ds]|(?:took|takes|taken) over (?:from|for)"
        rf"|(?:took|takes) the place of) (?!by |with ){_X}{_END}",
        rf"(?:^|, |; |and ){_X} (?:is|are|was|were|has been|have been|got) "
        r"(?:replaced|superseded)\b",
        r"\b(?:switched|moved|migrated|changed|converted|transitioned|swapped|upgraded|shifted|went)\b"
        rf"[^,;]{{0,40}}? from {_X} (?:over )?(?:to|into) (?=\S)",
        rf"(?:^|[:,] |\b(?:moved|switched|changed) ){_X} ?(?:→|->|=>) ?(?=\S)",
        rf"(?:^|, |; )(?:and )?no more {_X}{_END}",
        rf"(?:^|, |; |and ){_X} (?:is|are) out(?=(?:,|;| and) [^,;]+ (?:is|are) in\b)",
    )
]
# Words that say nothing of what a statement is about: verbs of being, having, doing and changing.
_EMPTY = frozenset(
    meanings.ALIKE.get(text.stem(word), text.stem(word))
    for word in """is are be been am have has had take takes taking get gets got go goes going
    went use uses using used run runs running keep keeps set make makes do does happen
    happens live lives cost costs price number user please send new actually finally just
    now instead again today yesterday tomorrow last next this week month year still
    already currently everyone anymore longer decided agreed decision choose chose whole
    all only exactly about roughly around start starts started starting due wrong right
    mistake update correction mind settle place day daily drink eat host hosted store
    stored located based kept over until till sorry hold holds
    promise promises give gives gave given come comes""".split()
)
_SPELLED = re.compile(rf"\b(?P<count>{'|'.join(NUMBERS[1:13])})(?= {_UNIT}\b)", re.IGNORECASE)
# Why it changed is beside the matter: "Thursdays it is, ever since the hall was double-booked".
_WHY = re.compile(
    r",? (?:because|ever since|now that|so that|after|as (?=(?:i|we|they)\b)) .+$"
    r"|^(?:since|now that|because|after|with) [^,]{5,60}, ",
    re.IGNORECASE,
)
# Words that say no more than of which sort a value is: the deadline is a date, the budget a sum.
_OF_SORT = {
    sort: frozenset(term for word in words.split() for term in meanings.terms(word))
    for sort, words in (
        ("date", "deadline date due"),
        ("weekday", "day night deadline date"),
        ("money", "budget cost price fee charge sum spend"),
        ("time", "time hour"),
    )
}
_VERB = re.compile(r"(?<=[a-z]{3}) (?=[a-z]{3,}s (?:on|at|in|every|from|until|by)\b)")
_WORD = re.compile(r"[\w@+#-]+(?:['’.]\w+)*|[^\w\s]")
_OWNER = re.compile(r"\b([A-Z][\w-]+)['’]s [a-z]")
_PLURAL = re.compile(r"(?<=s)['’] ")  # "our neighbours' rent" is theirs
_OTHERS = frozenset("her his their your its".split())
_PEOPLE = frozenset(
    term for it in PEOPLE | MANY_NOUNS | {"neighbour", "neighbor"} for term in meanings.terms(it)
)


@dataclass(frozen=True, slots=True)
class Topic:
    """What a statement is about, phrase by phrase; its values by their sorts; what it displaces.

    The first `agents` phrases stand before a verb of change: who did it is beside the matter.
    """

    phrases: tuple[frozenset[str], ...]
    values: tuple[tuple[str, frozenset[str]], ...]
    displaced: frozenset[tuple[str, ...]] = frozenset()
    changed: bool = False
    agents: int = 0
    owners: frozenset[str] = frozenset()  # whose it is, by name

    @property
    def words(self) -> frozenset[str]:
        """Every word that it is found by."""
        told = (word for phrase in self.phrases for word in phrase)
        return frozenset(told).union(*map(_split, self._named())) - _OTHERS

    @property
    def told(self) -> frozenset[str]:
        """Every word of it, and of its values."""
        return self.words.union(*(_split(one) for _, some in self.values for one in some))

    def _named(self) -> list[str]:
        named = ("name", "place", "handle")
        return [one for sort, some in self.values if sort in named for one in some]


def of(statement: str) -> Topic | None:
    """The topic of a statement that is told as true now; None if it is not, or tells too much."""
    if UNREAL.search(statement) or _BESIDE.search(statement):
        return None
    gone, rest = _displaced(statement)
    rest = _WHY.sub("", _numbered(rest))
    past = NOT_NOW.search(statement) is not None
    changed = CHANGED.search(statement) is not None or (bool(gone) and not past)
    if past and not changed:
        return None
    values, bare = _values(re.sub(r"\bfrom .{1,40}? to\b", " to", rest))
    verb = ALTERED.search(bare)
    before = _phrases(bare[: verb.start()]) if verb else []
    after = _phrases(bare[verb.end() :] if verb else bare)
    owners = frozenset(word for it in _OWNER.findall(rest) for word in _words(it))
    phrases = (*before, *after)
    found = Topic(phrases, tuple(values), frozenset(gone), changed, len(before), owners)
    return found if found.words and len(found.words) <= MOST_WORDS else None


def _numbered(told: str) -> str:
    """What is counted in a unit, in digits: four hours are 4 hours."""
    return _SPELLED.sub(lambda it: str(NUMBERS.index(it["count"].lower())), told)


def _displaced(statement: str) -> tuple[set[tuple[str, ...]], str]:
    """What is said to be displaced, as words, and the statement without it."""
    found, rest = set[tuple[str, ...]](), statement
    for form in DISPLACED:
        for told in form.finditer(statement):
            found.add(_words(told["x"]) or (told["x"].casefold(),))
            rest = rest.replace(told["x"], " , ")
    return found, rest


def _values(told: str) -> tuple[list[tuple[str, frozenset[str]]], str]:
    """The values by their sorts, and what is left without them; names stay, they tell of whom."""
    values = [] if _MANY.search(told) else _names(told)
    for sort, form in SORTS.items():
        found = list(form.finditer(told))
        if found:
            said = (it.groupdict().get("value") or it[0] for it in found)
            values.append((sort, frozenset(map(_value, said))))
        for it in reversed(found):
            kept = it.groupdict().get("who") or ""
            told = f"{told[: it.start()]} , {kept} , {told[it.end() :]}"
    return values, told


def _names(told: str) -> list[tuple[str, frozenset[str]]]:
    """Names that may be values, apart from those that tell where."""
    found: dict[str, set[str]] = {"name": set(), "place": set()}
    for it in NAMED.finditer(told):
        if _CALENDAR.match(it["value"]):
            continue
        moved = it["lead"] == "to" and MOVED.search(told[: it.start("lead")])
        if it["lead"] in _PLACES or moved:
            found["place"].add(_value(it["value"]))
        if it["lead"] not in _PLACES and not (moved and moved["house"]):
            found["name"].add(_value(it["value"]))
    if charged := CHARGED.match(told):
        found["name"].add(_value(charged["value"]))
    return [(sort, frozenset(some)) for sort, some in found.items() if some]


def _split(value: str) -> list[str]:
    return value.split(" ")


def _value(said: str) -> str:
    said = re.sub(rf"(?<=\d) ?({_UNIT})$", r" \1", STATES.get(said.lower(), said).strip(" ,."))
    whole = (meanings.terms(re.sub(r"(?<=\d)[.,](?=\d)", "d", word))[:1] for word in said.split())
    return " ".join(term for terms in whole for term in terms) or said.casefold()


def _words(phrase: str) -> tuple[str, ...]:
    """The words of a phrase that say something, in one form, each whole."""
    whole = (meanings.terms(word)[:1] for word in phrase.split())
    return tuple(term for terms in whole for term in terms)


def _phrases(bare: str) -> list[frozenset[str]]:
    """The runs of words that say something; what says nothing parts them."""
    runs: list[list[str]] = [[]]
    for word in _WORD.findall(_VERB.sub(" , ", _PLURAL.sub(" ", CHANGED.sub(" , ", bare)))):
        terms = meanings.terms(word)[:1]
        if word.lower() in _OTHERS:
            runs.append([word.lower()])
        elif not terms or terms[0] in _EMPTY:
            runs.append([])
        else:
            runs[-1].append(terms[0])
    return [frozenset(run) for run in runs if run and run[-1] not in _OTHERS]


def contradicts(new: Topic, old: Topic) -> bool:
    """Whether a change is told in which something old can no longer hold."""
    if not new.changed:
        return False
    return _displaces(new, old) or any(_replaces(new, old, sort) for sort, _ in new.values)


def _displaces(new: Topic, old: Topic) -> bool:
    """Whether something is displaced that the old one tells of the same."""
    for words in new.displaced:
        rest = old.told - set(words)
        # A name that is nothing else's; a short number is.
        whole = len(words) > 1 or not (words[0].isalpha() or words[0].isdigit())
        of_one = rest & new.words and old.owners - set(words) <= new.words
        if old.told.issuperset(words) and (of_one or whole) and not _anothers(new, old):
            return True
    return False


def _anothers(new: Topic, old: Topic) -> bool:
    """Whether somebody or something else is told to have changed: "my neighbour", "their team"."""
    whose = _OTHERS.intersection(*new.phrases[:1])
    doers = frozenset[str]().union(*new.phrases[: new.agents]) & _PEOPLE
    known = frozenset[str]().union(*old.phrases)
    return not whose <= known or not doers <= known


def _replaces(new: Topic, old: Topic, sort: str) -> bool:
    """Whether both are of the same, with another value of this sort."""
    mine, theirs = dict(new.values)[sort], dict(old.values).get(sort, frozenset())
    here = {one for one in mine - theirs if not _phrased(one, old)}
    there = {one for one in theirs - mine if not _phrased(one, new)}
    if len(here) != 1 or len(there) != 1 or not _of_one_unit(*here, *there):
        return False
    aside = set(_split(*here)) | set(_split(*there)) if sort in ("name", "place") else set()
    if sort in ("name", "place") and set(_split(*here)) & set(_split(*there)):
        return False
    aside |= _OF_SORT.get(sort, frozenset())
    ours, known = ([phrase - aside for phrase in it.phrases] for it in (new, old))
    shared = frozenset().union(*ours) & frozenset().union(*known)
    if not shared - _OTHERS or any(it & shared and it - shared for it in (*ours, *known)):
        return False
    # What was changed may stand first: then "the laptop at work" is not just any laptop.
    doers = 0 if any(it & shared for it in ours[: new.agents]) else new.agents
    beside = any(it - shared for it in ours[doers:])
    left = any(it - shared for it in known)
    return not beside and not (left and (sort in _LOOSE or any(it - shared for it in ours)))


def _phrased(value: str, other: Topic) -> bool:
    """Whether a value is what another statement is about, not what it gives."""
    return any(phrase.issuperset(_split(value)) for phrase in other.phrases)


def _of_one_unit(one: str, other: str) -> bool:
    """Whether two numbers count the same: each without a unit, or with the same."""
    return _split(one)[1:2] == _split(other)[1:2] or not (one + other)[:1].isdigit()
