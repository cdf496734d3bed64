"""First person resolved to the speaker: "I'm allergic to nuts" by Ann is "Ann is allergic to nuts".

The speaker is named once in a sentence; after that "they" stands for the name, so that no verb
has to be guessed twice.
"""

from __future__ import annotations

import re

from holdfast import sentences

_PAST = frozenset(
    """was had did went came saw made took got gave found thought told became left felt brought
    began kept held wrote stood heard let meant set met ran paid sat spoke lay led grew lost fell
    sent built understood drew broke spent cut rose drove bought wore chose ate slept won taught
    caught fought sold said knew forgot sang swam flew threw hit put read hung rode woke bit hid
    quit shut hurt cost beat dealt dug fed froze lent lit shot stole stuck swept swore
    tore retook rebuilt rewrote""".split()
)
_NOT_PAST = frozenset(
    """need feed breed speed exceed proceed succeed seed weed deed greed embed red bed shed sled
    indeed moped hundred sacred naked""".split()
)
_FIXED = frozenset("can could will would shall should may might must cannot ought used".split())
_SPECIAL = {"am": "is", "have": "has", "do": "does", "go": "goes", "were": "was"}
_SPECIAL |= {
    "wanna": "wants to",
    "haven't": "hasn't",
    "don't": "doesn't",
    "ain't": "isn't",
    "weren't": "wasn't",
}
_SPECIAL |= {verb: f"{verb}s" for verb in "need feed breed speed exceed proceed succeed".split()}
_CLIPPED = {"'m": " is", "'ve": " has", "'ll": " will", "'d": " would"}
_THEY = {"i": "they", "me": "them", "my": "their", "mine": "theirs", "myself": "themself"}
_THEY_BE = {"am": "are", "was": "were", "wasn't": "weren't"}
_ADVERBS = """no_longer not also just still always never often now even already only ever sometimes
    recently actually really truly soon once then both all first""".split()
_BETWEEN = "|".join(_ADVERBS).replace("_", " ")
_FIRST = re.compile(
    r"\b(?P<word>I(?!\.\w)|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself)\b(?P<clip>['’](?:m|ve|ll|d)\b)?"
    rf"(?P<adverbs>(?: (?:{_BETWEEN}|\w+ly))*)(?: (?P<verb>[a-z]+(?:-[a-z]+|['’]t)?))?"
)
# Who types no capitals says "i"; other languages have that word, too, but no such verb after it.
_SMALL = re.compile(
    r"(?<![\w.'’-])(?:i(?=['’](?:m|ve|ll|d)\b)|i(?= (?:am|was|have|had|do|did|don|dont|didnt|can"
    r"|cant|will|wont|would|could|should|also|just|never|always|really|usually|still|work|live"
    r"|like|love|hate|prefer|need|want|use|got|get|go|went|eat|drink|play|study|speak|moved|bought"
    r"|started|switched|quit|own|drive|run|know|take|make|made|decided|found|met|saw|[a-z]+ed)\b)"
    r"|im(?= (?:an?|the|not|from|at|in|on|allergic|vegan|vegetarian|married|single|\w+ing)\b"
    r"|(?= \d\d\b(?!\.\s+\w)))|ive(?= (?:been|got|had|never|always|just|\w+ed)\b))"
)
_BOTH = re.compile(r"(?:My |Our )?[\w'’-]+(?: [A-Z][\w'’-]+)? and ")
_WOMEN = frozenset(
    "sister mother mom mum wife daughter aunt girlfriend grandma niece fiancée".split()
)
_GENDERED = _WOMEN | frozenset(
    "brother father dad husband son uncle boyfriend grandpa nephew fiancé".split()
)
_FOLLOWS = re.compile(r"(?P<word>She|He|Her|His|she|he|her|his)(?P<clip>['’]s)?(?= [a-z])")
_CLIPPED_BE = {"'s": "is"}
_ABOUT = re.compile(
    rf"(?P<who>[Mm]y (?:\w+ )?(?:{'|'.join(sorted(_GENDERED))})(?: [A-Z][\w’'-]+)?)(?= [a-z])"
)
_AMENDS = re.compile(
    r"(?:(?:no|wait|sorry|actually|oops|correction|hm+|ah|or|well|rather)[,.! ]+)*"
    r"(?:make (?:that|it)|I meant?|that should be|it should be)[,:]? (?P<new>[^,;?]{1,40}?)[.!]*$",
    re.IGNORECASE,
)
# Values that can stand for each other: amounts, days, months, names.
_KINDS = [
    re.compile(form)
    for form in (
        r"[$€£]?\d[\d.,:]*(?: ?(?:%|am|pm|k|kg|km|euros?|dollars?|people|days?|weeks?|hours?))?\b",
        r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b",
        r"\b(?:January|February|March|April|May|June|July|August|September|October|November"
        r"|December)(?: \d{1,2})?\b",
        r"(?<!^)\b[A-Z][\w-]+(?: [A-Z][\w-]+)?\b",
    )
]
_FULL = {"i": "I", "im": "I'm", "ive": "I've"}
_WE = re.compile(r"\b(we|our|us|ours|ourselves|let['’]s)\b", re.IGNORECASE)


def followed(sentence: str, before: str) -> str:
    """The sentence with its first "she", "his" … as whom the one before it is about, if it says."""
    found, known = _FOLLOWS.match(sentence), _ABOUT.match(before)
    if found is None or known is None:
        return sentence
    who, word = known["who"], found["word"].lower()
    female = {relation in _WOMEN for relation in who.lower().split() if relation in _GENDERED}
    if female and (word in ("she", "her")) not in female:
        return sentence
    whose = "" if word in ("she", "he") else "'s"
    name = who[:1].upper() + who[1:]
    clip = f" {_CLIPPED_BE[found['clip'].replace('’', chr(39))]}" if found["clip"] else ""
    return f"{name}{whose}{clip}{sentence[found.end() :]}"


def strays(sentence: str, before: str) -> bool:
    """True if its "she" or "he" is somebody else than the one before is about."""
    same = followed(sentence, before) != sentence
    return bool(_FOLLOWS.match(sentence) and _ABOUT.match(before)) and not same


def of_relative(sentence: str) -> bool:
    """True if it names a relation, so that its "her" or "him" may be told."""
    return not _GENDERED.isdisjoint(re.findall(r"\w+", sentence.lower()))


def amended(before: str, sentence: str) -> str | None:
    """What was said before with the value that a sentence puts right: "make that Thursday".

    None if the sentence amends nothing, or nothing of the kind was said.
    """
    found = _AMENDS.match(sentence)
    kind = next((it for it in _KINDS if found and it.fullmatch(f" {found['new']}", 1)), None)
    said = list(kind.finditer(before)) if kind else []
    if found is None or not said:
        return None
    last = said[-1]
    return f"{before[: last.start()]}{found['new']}{before[last.end() :]}"


def capital(text: str) -> str:
    """The text with an "I" for each "i" that means it."""
    return _SMALL.sub(lambda found: _FULL[found[0]], text)


def first_person(sentence: str) -> bool:
    """True if the sentence speaks of whoever says it."""
    return _FIRST.search(sentences.QUOTED.sub(" ", sentence)) is not None


def happened(sentence: str) -> bool:
    """True if the sentence tells of what happened: one of its verbs is in the past."""
    words = re.findall(r"[a-z]+", sentence.lower())
    return any(word in _PAST or (word.endswith("ed") and word not in _NOT_PAST) for word in words)


def of_us(sentence: str) -> bool:
    """True if the sentence speaks of a group that its speaker belongs to."""
    return _WE.search(sentence) is not None


def resolved(sentence: str, name: str) -> str:
    """The sentence with its first person as a name, once, and then as they; quotes stay."""
    parts, end, named = [], 0, False
    quoted = [found.span() for found in sentences.QUOTED.finditer(sentence)]
    for found in _FIRST.finditer(sentence):
        if any(start < found.start() < stop for start, stop in quoted):
            continue
        # "The user" is two common words: inside a sentence they are small.
        called = re.sub("^The ", "the ", name) if found.start() else name
        before = sentence[end : found.start()]
        both = found["word"] == "I" and _BOTH.fullmatch(before)  # Bob and Ann are two: they "go"
        parts.append(before)
        parts.append(
            _they(found) if named else f"{called}{_rest(found)}" if both else _name(found, called)
        )
        named, end = True, found.end()
    whole = "".join([*parts, sentence[end:]])
    return whole[:1].upper() + whole[1:]


def _rest(found: re.Match[str]) -> str:
    clip = {"'ve": " have", "'m": " are"}.get((found["clip"] or "").replace("’", "'"))
    verb = f" {_THEY_BE.get(found['verb'], found['verb'])}" if found["verb"] else ""
    return f"{found['clip'] or '' if clip is None else clip}{found['adverbs'] or ''}{verb}"


def _name(found: re.Match[str], name: str) -> str:
    word, clip = found["word"].lower(), (found["clip"] or "").replace("’", "'")
    adverbs, verb = found["adverbs"] or "", found["verb"]
    rest = f"{adverbs} {verb}" if verb else adverbs
    if word in ("my", "mine"):
        return f"{name}'s{rest}"
    if word != "i":
        return f"{name}{rest}"
    if clip:
        had = clip == "'d" and verb is not None and (verb.endswith("ed") or verb in ("been", "had"))
        return f"{name}{' had' if had else _CLIPPED[clip]}{rest}"
    return f"{name}{adverbs} {third(verb)}" if verb else f"{name}{adverbs}"


def _they(found: re.Match[str]) -> str:
    clip = (found["clip"] or "").replace("'m", "'re").replace("’m", "'re")
    verb = found["verb"]
    if found["word"] == "I" and verb:
        verb = _THEY_BE.get(verb, verb)
    return (
        f"{_THEY[found['word'].lower()]}{clip}{found['adverbs'] or ''}{f' {verb}' if verb else ''}"
    )


def third(verb: str) -> str:
    """A verb as it stands after a name; past forms and auxiliaries stay."""
    verb = verb.replace("’", "'")
    if verb in _SPECIAL:
        return _SPECIAL[verb]
    if verb in _PAST or verb in _FIXED or verb.endswith(("ed", "n't", "ing")):
        return verb
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"
