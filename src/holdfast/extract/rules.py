"""The extractor without a language model: sentence by sentence, precise before complete.

Rules say what a sentence is, and whether it tells something; of what they have no form for, a small
model that was taught by examples (`taught`) says whether it is worth keeping.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from holdfast import ends, readings, sentences, slots, speech, suspicion, text, when
from holdfast.extract import signs, substance, taught, tongues, wishes
from holdfast.forms import ONE
from holdfast.model import Learning, Turn
from holdfast.nouns import MANY_NOUNS, MOODS

LEAST_TERMS = 2  # a statement has at least so many words that say something
# Unless it says one of these.
LASTING = {*(form.attribute for form in ONE), *MOODS.values()} - {"meets", "starts", "plan"}
MANY_LASTING = {"habit", "speaks", "allergic", "member"}
SHORT_TERMS = 4  # and no more than so many
NEWS_TERMS = 8  # what is told as a change has no more
FULL_TERMS = 5  # with so many it speaks for itself, whoever it is about
MOST_LETTERS = 300  # a longer sentence is not read by the model
WORTH = 0.6  # how sure the model must be that what no rule has a form for is worth keeping
BESIDE_TERMS = 7  # what is told beside a picture has so many: less is mostly a remark
MOST_ASKED = 14  # words of a question that is told beside its answer
MOST_TERMS = 60  # a longer one is a document, not a statement
USER, AGENT = "The user", "The assistant"
SILENT = ("tool", "system")  # roles whose words nobody says
Worths = Mapping[str, float]  # sentences, and how sure the model is that each is worth keeping
ALONE: Worths = {}
_TAIL = re.compile(
    r"\s*(?:[–—]|-+ |; |,? (?:and|but|so|which) (?=it\b|it['’]s|is\b|was\b|they were|I was so)).*$"
)
_PROPER = re.compile(r"\d|[a-z,;:] [\"'“‘(]?[A-Z][\w'’]+|\b[A-Z][a-z]*[A-Z]|[\"“]\w")
_POSSESSIVE = re.compile(r"\b[A-Z]\w*['’]s\b")
_LETS_NEVER = re.compile(r"^let['’]?s never ", re.IGNORECASE)
_ADDRESS = re.compile(r"\b\d[\w-]*(?: [A-Z]\w+){1,3}, [A-Z][\w ]+[.!]*$")  # "14 Elm Street, Austin"
_ALL = ("people", "everyone", "everybody")
_NAME = r"(?!I['’])[A-Z][\w'’]+(?: [A-Z][\w'’]+)?"
_CALLED = re.compile(
    rf"^{_NAME}[,!]\s+|,\s+{_NAME}(?=[.!]+$)|,\s+(?:right|you know|haha|lol)(?=[.!]*$)"
)


# "[shares a photo: a photo of a dog]", "[image: a red door]": what else nobody says is left out.
_PICTURE = re.compile(
    r"\[(?:\w+ (?:an? |the )?)?(?:photo|picture|image|video|screenshot)\w*: "
    r"(?P<what>[^\]\n]{5,200})\]",
    re.IGNORECASE,
)
_OF_WHAT = re.compile(
    r"^(?:an? )?(?:\w+ )?(?:photo\w*|picture|image|video|screenshot) of ", re.IGNORECASE
)
# "Hi, I'm Ann": after a greeting that is a name, elsewhere it may be French.
_INTRODUCED = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon|day)|greetings)\b[^.!,?]{0,20}[.!,]+\s+"
    r"(?:I['’]m|I am|this is) (?P<name>(?-i:[A-Z])\w+(?: (?-i:[A-Z])\w+)?)(?=[,.!]|$| and )",
    re.IGNORECASE,
)
# "So much has happened - I went to Rome": two sentences.
_DASH = re.compile(r"(?<=\w)\s*[-–—]+\s+(?=(?:I|we|my|our|he|she|they)\b)")

_log = logging.getLogger(__name__)


class Rules:
    """Greetings, questions, hedges, refusals and instructions give nothing; statements stay."""

    name = "rules"

    def extract(self, turns: Sequence[Turn], now: datetime) -> list[Learning]:
        """What lasts of the turns."""
        worth = worths(turns)
        found: dict[str, Learning] = {}
        asked: str | None = None
        played = False
        for number, turn in enumerate(turns):
            played = not signs.ENDS_PLAY.search(turn.text) if played else _plays(turn)
            if played:
                asked = None
                continue
            for learning in learned(turn, number, now, asked, worth):
                found.setdefault(learning.content.casefold(), learning)
            asked = _question(turn)
        return list(found.values())


def _plays(turn: Turn) -> bool:
    """True if a turn begins to play roles: what is said in them is true of nobody."""
    return turn.role == "user" and signs.PLAY.search(sentences.spoken(turn.text)) is not None


def _question(turn: Turn) -> str | None:
    """What a turn asks last, if it asks; "" if that is too long to be told beside its answer."""
    if "?" not in turn.text:
        return None
    spoken = sentences.split(sentences.spoken(turn.text))
    asked = [_CALLED.sub("", it) for it in spoken if signs.QUESTION.search(it)]
    if not asked or suspicion.found(asked[-1]) or turn.role in ("tool", "system"):
        return ""
    fits = len(asked[-1].split()) <= MOST_ASKED and '"' not in asked[-1]
    return asked[-1] if fits else ""


def worths(turns: Sequence[Turn]) -> Worths:
    """What the model makes of each sentence that could be a statement; nothing without it."""
    said = ((one, _bare(one)) for turn in turns if turn.role not in SILENT for one in _said(turn))
    asked = ((one, bare) for one, bare in said if _stands(bare) and not _refused(one, bare))
    told = list({bare: None for _, bare in asked if not _says_something(bare, asked=False)})
    model = taught.opened() if told else None
    if model is None:
        return {}
    try:
        return dict(zip(told, model.worth(told), strict=True))
    except Exception:  # a model that fails must not keep anybody from learning
        _log.warning("What reads sentences failed; rules decide alone.", exc_info=True)
        return {}


def learned(
    turn: Turn, number: int, now: datetime, asked: str | None = None, worth: Worths = ALONE
) -> Iterator[Learning]:
    """What lasts of one turn; `asked` is what the turn before it asks, if it does."""
    if turn.role in SILENT:
        return
    at = turn.at or now
    found = list(_told(turn, number, at, asked, worth))
    for picture in _shown(turn, number, at):
        place = _seen_in(found, picture)
        if place is None:
            yield _with_words(picture, turn, at)
        else:
            whole = f"{sentences.ended(found[place].content)} {picture.content}"
            found[place] = replace(found[place], content=whole)
    yield from found


def _told(
    turn: Turn, number: int, at: datetime, asked: str | None, worth: Worths
) -> Iterator[Learning]:
    """What is said in a turn, each with the sentences that only go on about it."""
    last: Learning | None = None
    before = ""
    for sentence in _said(turn):
        bare = _bare(sentence)
        goes_on = signs.GOES_ON.match(bare) or substance.leans(bare)
        goes_on = goes_on and not speech.strays(bare, before)
        if last is not None and goes_on:
            if _adds(sentence, bare, turn):
                since = number if asked is None else number - 1
                last = _joined(last, when.resolved(_named(bare, turn), at), since)
            continue
        told = statement(sentence, turn.role, asked is not None, worth)
        first = asked if asked is None or before == "" else ""  # only that answers the question
        first = "" if first and turn.role == "agent" else first  # an agent's answers are advice
        if told is None and first and _answers(sentence, bare):
            told = bare
        if told is not None and not first and substance.leans(told):
            told = None
        if told is None and _between(bare):
            continue
        yield from [last] if last is not None else ()
        last, before = None, bare
        for part in _parts(told) if told is not None else ():
            yield from [last] if last is not None else ()
            last = _learning(part, turn, number, at, first)
    yield from [last] if last is not None else ()


def _between(bare: str) -> bool:
    """True for what comes between two sentences and has nothing that "it" could mean."""
    return substance.void(bare) or len(bare.split()) < 3 or signs.GREETING.match(bare) is not None


def _seen_in(found: Sequence[Learning], picture: Learning) -> int | None:
    """Which of the statements a picture goes with: the last that points at it, names it, or tells
    what "we" did."""
    who = f"{picture.about}"
    shown = set(text.terms(picture.content.removeprefix(who)))
    for place in range(len(found) - 1, -1, -1):
        told = found[place].content
        ours = told.startswith((f"{who}: ", f"{who}, asked "))
        if ours or signs.POINTS_AT.search(told) or shown & set(text.terms(told.replace(who, ""))):
            return place
    return None


def _with_words(picture: Learning, turn: Turn, at: datetime) -> Learning:
    """A picture beside the most that is said with it, though that would tell nothing alone."""
    pairs = [(one, _bare(one)) for one in _said(turn)]
    said = [bare for one, bare in pairs if not _refused(one, bare) and not substance.void(bare)]
    fullest = max(said, key=lambda it: len(text.terms(it)), default="")
    if len(text.terms(fullest)) < BESIDE_TERMS:
        return picture
    words = sentences.ended(when.resolved(_named(fullest, turn), at))
    return replace(picture, content=f"{words[:1].upper()}{words[1:]} {picture.content}")


def _named(told: str, turn: Turn) -> str:
    return speech.resolved(told, turn.speaker or (AGENT if turn.role == "agent" else USER))


def _adds(sentence: str, told: str, turn: Turn) -> bool:
    """True if a sentence says more of what the one before is about: "It has two doors"."""
    if turn.role == "agent" or _refused(sentence, told) or signs.TO_YOU.search(told):
        return False
    empty = signs.ASSURING.search(told) or _holds_always(told)
    return substance.adds(told) and not empty


def _joined(known: Learning, more: str, since: int) -> Learning:
    """A learning with a sentence that would tell nobody anything without it."""
    kind = "lesson" if signs.AVOID.search(more) else known.kind
    return replace(
        known,
        content=f"{sentences.ended(known.content)} {sentences.ended(more)}",
        kind=kind,
        turns=tuple(sorted({since, *known.turns})),
        avoid=known.avoid or kind == "lesson",
    )


def _said(turn: Turn) -> Iterator[str]:
    """The sentences of a turn, each saying whom it is about; none of what it asks to make up."""
    spoken = _INTRODUCED.sub(r"My name is \g<name>", sentences.spoken(turn.text))
    before, supposed = "", False
    for one in map(speech.capital, sentences.split(spoken)):
        if signs.FICTION.search(one):
            break
        asks = signs.QUESTION.search(one) is not None
        supposed = (supposed and not signs.IN_FACT.match(one)) or (not asks and _supposes(one))
        if supposed:
            continue
        if signs.TAKES_BACK.match(one):
            before = ""
            continue
        for part in _DASH.split(one):
            if (better := speech.amended(before, part)) is not None:
                before = better
                continue
            if before and signs.SECOND_THOUGHT.match(part):
                before = f"{sentences.ended(before)} {part}"
                continue
            yield from [before] if before else ()
            before = speech.followed(part, _bare(before))
    yield from [before] if before else ()


def _supposes(sentence: str) -> bool:
    return signs.SUPPOSED.match(signs.LEAD.sub("", sentence)) is not None


def _shown(turn: Turn, number: int, at: datetime) -> Iterator[Learning]:
    """What is said to be seen on a picture that goes with a turn."""
    speaker = turn.speaker or (AGENT if turn.role == "agent" else USER)
    for found in _PICTURE.finditer(turn.text):
        what = _OF_WHAT.sub("", found["what"]).strip(" .")
        content = f"{speaker} shows {what}."
        yield Learning(content=content, kind="fact", turns=(number,), about=speaker, happened_at=at)


def _parts(told: str) -> list[str]:
    """A statement of two facts as two, so that each can be corrected by itself."""
    parts = slots.clauses(told)
    if len(parts) > 1 and all(map(_of_its_own, parts)):
        return [f"{part[:1].upper()}{part[1:]}" for part in parts]
    return [told]


def _of_its_own(part: str) -> bool:
    # Alone, nobody would know who "she" is.
    if signs.TO_YOU.search(part) or signs.POINTING.match(part):
        return False
    return _readable(part) and (_lasting(part) or not substance.idle(part))


def _of_team(told: str) -> bool:
    return any(slot.who == readings.US for slot in slots.of(told) if not slot.weak)


def _answers(sentence: str, told: str) -> bool:
    """True for no more than a name or a number: "Luna and Oliver!"."""
    if _refused(sentence, told) or signs.TO_YOU.search(told) or signs.GOES_ON.match(told):
        return False
    short = len(text.terms(told)) <= NEWS_TERMS and not signs.VERB.search(
        _POSSESSIVE.sub(" ", told)
    )
    return short and _PROPER.search(told) is not None


def _learning(told: str, turn: Turn, number: int, at: datetime, asked: str | None) -> Learning:
    speaker = turn.speaker or (AGENT if turn.role == "agent" else USER)
    kind = kind_of(told)
    foreign = tongues.foreign(told)
    own = tongues.own(told) if foreign else speech.first_person(told)
    about = speaker if own else None
    content = told if foreign else when.resolved(_named(told, turn), at)
    # "It was in Rome" says what it is about only beside the question that it answers, and "we
    # went to Rome" whom it is about only beside a name; a choice of a team is the team's.
    answer = asked is not None and not _tells_itself(told)
    ours = (
        turn.speaker
        and kind in ("fact", "preference")
        and speech.of_us(told)
        and not _of_team(told)
    )
    if answer and asked:
        content = f'{speaker}, asked "{asked}": {content}'
    elif (about is None and (answer or ours)) or (foreign and turn.speaker):
        content = f"{speaker}: {content}"
    content = content[:1].upper() + content[1:]
    return Learning(
        content=content,
        kind=kind,
        turns=(number - 1, number) if answer else (number,),
        about=about,
        happened_at=when.happened(told, at),
        avoid=kind == "lesson" and signs.AVOID.search(told) is not None,
    )


def _tells_itself(told: str) -> bool:
    """True unless only the question that it answers says what it is about."""
    own = speech.first_person(told)
    verb = own or signs.VERB.search(_POSSESSIVE.sub(" ", told)) or tongues.foreign(told)
    points = signs.GOES_ON.match(told) or (signs.POINTING.match(told) and not own)
    points = points or substance.leans(told)
    return bool(verb) and not points


def statement(
    sentence: str, role: str = "user", asked: bool = False, worth: Worths = ALONE
) -> str | None:
    """The sentence as a statement worth keeping, without its lead-in; None if it is none."""
    wish = wishes.standing(sentence) if role == "user" else None
    if wish is not None and not suspicion.found(wish):
        return wish
    sentence = signs.ASKED_TO_KEEP_THAT.sub(r"\g<what>.", sentence)
    if tongues.foreign(sentence):
        kept = role != "agent" and not _refused(sentence, "") and tongues.states(sentence)
        return sentence if kept else None
    told = _bare(sentence)
    if role == "user" and signs.TO_DO.match(told) and not _refused(sentence, ""):
        return told
    if _refused(sentence, told) or not _worth_it(told, asked, worth):
        return None
    return told if role != "agent" or _of_agent(told) else None


def _refused(sentence: str, told: str) -> bool:
    """True for what is no statement at all, or none that is meant so."""
    nothing = (signs.QUESTION, signs.REFUSAL, signs.SARCASM, signs.LEADS_ON)
    if any(sign.search(sentence) for sign in nothing) or suspicion.found(sentence):
        return True
    if signs.ABOUT_MEMORY.search(told) or signs.ASKING.match(told) or _hedged(told):
        return True
    return bool(signs.GREETING.match(told) or signs.INSTRUCTION.match(told))


def _holds_always(told: str) -> bool:
    """True for what is said of everybody; what people did once is not."""
    found = signs.HOLDS_ALWAYS.search(told)
    return found is not None and not (found[0].lower() in _ALL and signs.PAST.search(told))


def _hedged(told: str) -> bool:
    """True if a statement is put as no more than possible; what follows on a fact may be."""
    found = signs.HEDGE.search(told)
    return found is not None and not signs.PAST.search(told[: found.start()])


def _with_subject(told: str) -> str:
    """The statement with the "I" that was left out: "Researching agencies"."""
    found = signs.LEFT_OUT.match(told)
    if found is None or (found["doing"] and signs.DOING.search(told)):
        return told
    verb = "am " if found["doing"] else "have " if found["been"] else ""
    told = re.sub(r"^[Gg]onna\b", "am going to", told)
    return f"I {verb}{told[:1].lower()}{told[1:]}"


def _bare(sentence: str) -> str:
    told = signs.CALL_ME.sub(r"I go by \g<name>", signs.REMIND.sub("I need to", sentence))
    told = signs.ASKED_TO_KEEP.sub("", told).lstrip(" ,:")
    before = None
    while before != told:
        before = told
        told = _LETS_NEVER.sub("Never ", signs.LEAD.sub("", told))
        told = told if _ADDRESS.search(told) else _CALLED.sub("", told).strip()
        told = told.lstrip("-–— ")
    return _with_subject(_without_tail(told[:1].upper() + told[1:]))


def _without_tail(told: str) -> str:
    """The statement without a last clause that only says how it felt."""
    found = _TAIL.search(told)
    if found is None or _PROPER.search(found[0]) or len(text.terms(told[: found.start()])) < 3:
        return told
    clause = found[0].lstrip(" –—-;,")
    if signs.LESSON.search(clause) or signs.AVOID.search(clause):
        return told
    fades = signs.FADES.match(clause) or signs.FEELING.search(clause)
    return f"{told[: found.start()].rstrip()}." if fades else told


def _worth_it(told: str, asked: bool, worth: Worths) -> bool:
    return _says_something(told, asked) or worth.get(told, 0.0) >= WORTH


def _stands(told: str) -> bool:
    """True for a whole sentence that needs no other to be understood."""
    points = signs.FRAGMENT.match(told) or signs.POINTING.match(told) or signs.GOES_ON.match(told)
    return not points and _clause(told) and len(told) <= MOST_LETTERS and not substance.leans(told)


def _says_something(told: str, asked: bool) -> bool:
    terms = text.terms(told)
    if len(terms) > MOST_TERMS:
        return False
    if signs.FRAGMENT.match(told) or (
        signs.ADVICE_TO.match(told) and not signs.RULED_OUT.match(told)
    ):
        return False
    if len(terms) <= SHORT_TERMS and _lasting(told):
        return True
    if len(terms) < LEAST_TERMS:
        return False
    if not re.search(r"\s", told):
        return False
    slight = len(terms) <= FULL_TERMS
    if len(terms) <= NEWS_TERMS and (_of_somebody(told) or _of_health(told)):
        return True
    if not (_clause(told) or signs.AS_A_RULE.match(told) or _readable(told)):
        return False
    if signs.EMPTY.match(told) or signs.ASSURING.search(told) or (slight and _slight(told)):
        return False
    if len(terms) <= NEWS_TERMS and _news(told) and not substance.unsaid(told):
        return not substance.void(told)
    if signs.RULED_OUT.match(told):
        return True
    if substance.idle(told):
        return False
    if signs.POINTING.match(told):
        full = asked and len(terms) >= FULL_TERMS and not _holds_always(told)
        full = full or (signs.BESIDES.search(told) is not None and substance.full(told))
        named = _PROPER.search(told) is not None and (asked or _known_again(told))
        return (full or named) and not signs.TO_YOU.search(told)
    if slight and signs.TO_YOU.search(told) and not _PROPER.search(told):
        return False
    return speech.first_person(told) or _anchored(told)


def _known_again(told: str) -> bool:
    """True unless an "it" or a "she" is all that says what it is about."""
    ours = speech.first_person(told) or speech.of_us(told)
    return ours or _readable(told) or signs.GOES_ON.match(told) is None


def _clause(told: str) -> bool:
    """True if somebody or something does it: not "Left at 11, no water", "Toast with jam at 7"."""
    verbs = list(signs.VERB.finditer(_POSSESSIVE.sub(" ", told)))
    if re.search(r"\b(?:I|[Ww]e)\b", told) or signs.AVOID.search(told) or signs.GOES_ON.match(told):
        return True
    if speech.first_person(told) or speech.of_us(told):
        return bool(verbs)
    return any("'" in it[0] or "’" in it[0] or (it.start() and it[0][-3:] != "ing") for it in verbs)


def _readable(told: str) -> bool:
    """True if a relation is told in a form of its own: whatever its verb is, it has one."""
    return any(map(slots.formed, slots.of(told)))


def _lasting(told: str) -> bool:
    """True for what says who somebody is, however short: "I'm vegan", "Bob works at Aldi"."""
    if signs.TO_YOU.search(told) or signs.POINTING.match(told) or signs.EMPTY.match(told):
        return False
    said = [slot.attribute for slot in slots.of(told) if not slot.weak]
    short = signs.IDENTITY.match(told) or signs.OWNING.match(told) or _in_state(told)
    return bool(short) or any(map(_relation, said))


def _in_state(told: str) -> bool:
    """True for which of two states something of ours is in: "The heating is on"."""
    about = (slot.topic for slot in slots.of(told) if slot.topic is not None)
    if signs.OURS.match(told) is None:
        return False
    named = any(slots.of_state(slot) for slot in slots.of(told))  # "The pool reopened"
    return named or any("state" in dict(it.values) and it.phrases for it in about)


def _news(told: str) -> bool:
    """True for what says that something is no longer as it was: "Tom no longer plays chess"."""
    if signs.TO_YOU.search(told) or signs.FEELING.search(told):
        return False
    if signs.POINTING.match(told):
        return signs.THEY_ALTERED.match(told) is not None and _altered(told)
    new = signs.NEWS.search(told, 1) is not None and not re.search(r"\b(?:it|this|that)\b", told)
    ended = any(slot.ended and slot.value != ends.ANY for slot in slots.of(told))
    formed = (slot for slot in slots.of(told) if slot.topic is None)
    return ended or (new and any(slot.changed for slot in formed)) or _altered(told)


def _altered(told: str) -> bool:
    """True for a change that names what is altered, and to what or from what."""
    about = (slot.topic for slot in slots.of(told) if slot.topic is not None and slot.changed)
    return any(it.displaced or (it.values and it.phrases) for it in about)


def _of_somebody(told: str) -> bool:
    """True for what is told of a person or a thing that is named: "Rosa teaches biology"."""
    if signs.TO_YOU.search(told) or _holds_always(told) or signs.POINTING.match(told):
        return False
    return signs.SOMEBODY.match(told) is not None and any(not it.weak for it in slots.of(told))


def _of_health(told: str) -> bool:
    """True for what somebody must not have, whatever else is asked for beside it."""
    return any(it.attribute.startswith("allergic ") for it in slots.of(told) if not it.weak)


def _relation(attribute: str) -> bool:
    first, _, rest = attribute.partition(" ")
    return attribute in LASTING or first in MANY_LASTING or (first == "has" and rest in MANY_NOUNS)


def _slight(told: str) -> bool:
    """True for the few words that only say how one feels, or that something will be."""
    found = signs.FEELING.search(told) or signs.VAGUE.search(told) or signs.SOFT.match(told)
    return found is not None and not substance.full(told)


def _anchored(told: str) -> bool:
    """True if a sentence without an "I" still speaks of something that can be told apart."""
    if signs.OF_US.match(told) and substance.full(told) and not signs.TO_YOU.search(told):
        return True
    if signs.TO_YOU.search(told) or _holds_always(told):
        return False
    ours = speech.of_us(told) and (signs.HAPPENED.search(told) or signs.REGULAR.match(told))
    if len(text.terms(told)) >= FULL_TERMS and signs.PAST.search(told):
        return True
    rule = signs.SETTLED.match(told) or signs.AS_A_RULE.match(told)
    return bool(ours or rule or _PROPER.search(told))


def _of_agent(told: str) -> bool:
    """Of an assistant's words only what it did, decided or learned lasts; advice does not."""
    ours = speech.first_person(told) or speech.of_us(told)
    if ours:
        return bool(signs.DECISION.search(told) or signs.LESSON.search(told))
    failed = (signs.AVOID.search(told) and signs.PAST.search(told)) or signs.FAILS.search(told)
    return bool(failed) and not (signs.TO_YOU.search(told) or signs.ADVICE.search(told))


def kind_of(told: str) -> str:
    """What a statement is: a lesson, a decision, a preference, a task, or else a fact."""
    if wishes.standing(told) is not None:
        return "preference"
    for kind, sign in KINDS.items():
        if sign.search(told):
            return kind
    return "preference" if tongues.foreign(told) and tongues.PREFERENCE.search(told) else "fact"


KINDS = {
    "lesson": signs.LESSON,
    "decision": signs.DECISION,
    "preference": signs.PREFERENCE,
    "task": signs.TASK,
}
