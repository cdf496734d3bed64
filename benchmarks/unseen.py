"""More corpora made here: scenes of everyday use, asked as people ask.

The ranking was last changed with the first eleven in sight; the others were asked after that only.
manuals: long notes, asked for in two or three words. people: the same attributes of many. meetings:
two questions in one, answered weeks apart. lines: code, configuration, logs. counsel: long advice,
asked for in other words. register: formal notes asked for plainly, slang asked for formally.
misspelt: names typed wrong. single: one word. diary: by the day. wishes: what somebody prefers.
beginnings: stores of one to twenty memories, and the first questions asked of them.
lab: long notes again. places: where things are, asked for by other names. standups: two questions
about one person. shell: commands. lessons: a tutor explains. gossip: who is it about? tongues: nine
languages. keywords: no grammar. moves: what was so, and what is so now.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

from benchmarks import afterwards, beginnings, scenes, texts
from benchmarks.corpora import Corpus, Instance, Item
from benchmarks.making import BEGIN, NOW, Question, corpus, query, timed


def _pairs(lines: str) -> list[list[str]]:
    """The fields of each line; a line that begins with a blank goes on with the one before."""
    return [line.split("|") for line in lines.replace("\n ", " ").splitlines()]


def _few(some: list[list[str]], share: float) -> list[list[str]]:
    return some[: max(6, int(len(some) * share))]


def _told(name: str, lines: str, turns: int) -> Callable[[random.Random, float], Corpus]:
    """A corpus of notes and a question about each, and nothing else."""

    def make(chance: random.Random, share: float) -> Corpus:
        told = _few(_pairs(lines), share)
        contents = [said for said, _ in told]
        chance.shuffle(contents)
        return corpus(name, timed(contents, turns), [(asked, [said]) for said, asked in told])

    return make


def _people(chance: random.Random, share: float) -> Corpus:
    contents: list[str] = []
    questions: list[Question] = []
    for who, (fact, values, asked) in product(scenes.STAFF, scenes.PEOPLE_FACTS.values()):
        said = fact.format(who=who, value=chance.choice(values))
        contents.append(said)
        questions.append((asked.format(who=who), [said]))
    chance.shuffle(contents)
    return corpus("people", timed(contents, 8), questions[: int(len(questions) * share)])


def _meetings(chance: random.Random, share: float) -> Corpus:
    told = _few(_pairs(scenes.MEETINGS), share)
    form = "On {0} we agreed: {1}.".format
    noise = [line.replace("{topic}", "{}") for line in scenes.MEETING_NOISE]
    return _rounds("meetings", chance, told, form, noise)


def _standups(chance: random.Random, share: float) -> Corpus:
    told = _few(_pairs(afterwards.STANDUPS), share)
    return _rounds("standups", chance, told, "{}: {}.".format, afterwards.STANDUP_NOISE)


def _rounds(
    name: str,
    chance: random.Random,
    told: list[list[str]],
    form: Callable[[str, str], str],
    noise: list[str],
) -> Corpus:
    """Everybody has a line in each of twelve rounds; two of them tell what is asked for."""
    rounds: list[list[str]] = [[] for _ in range(12)]
    questions: list[Question] = []
    for about, one, two, asked in told:
        telling = [form(about, one), form(about, two)]
        early, late = sorted(chance.sample(range(len(rounds)), 2))
        for at, lines in enumerate(rounds):
            idle = f"{chance.choice(noise).format(about)} ({at})"
            lines.append({early: telling[0], late: telling[1]}.get(at, idle))
        questions.append((asked, telling))
    items = [
        Item(f"m{at}.{n}", line, BEGIN + timedelta(days=4 * at, minutes=n), f"w{at}")
        for at, lines in enumerate(rounds)
        for n, line in enumerate(chance.sample(lines, len(lines)))
    ]
    return corpus(name, items, questions)


def _lines(chance: random.Random, share: float) -> Corpus:
    told = _few(_pairs(scenes.LINES), share)
    noise = [
        form.format(service=service, n=n)
        for form, service, n in product(scenes.LINE_NOISE, texts.SERVICES, range(1, 9))
    ]
    contents = [said for said, _ in told] + chance.sample(noise, int(150 * share))
    chance.shuffle(contents)
    return corpus("lines", timed(contents, 6), [(asked, [said]) for said, asked in told])


def _shell(chance: random.Random, share: float) -> Corpus:
    # A command may have bars of its own: the question is what follows the last one.
    told = [line.rsplit("|", 1) for line in afterwards.SHELL.splitlines()]
    noise = [
        form.format(service, n)
        for form, service, n in product(afterwards.SHELL_NOISE, texts.SERVICES, range(1, 9))
    ]
    contents = [said for said, _ in _few(told, share)] + chance.sample(noise, int(120 * share))
    chance.shuffle(contents)
    asked = [(question, [said]) for said, question in _few(told, share)]
    return corpus("shell", timed(contents, 6), asked)


def _places(chance: random.Random, share: float) -> Corpus:
    told = [
        [f"The {thing} is in this place: {place}.", f"Where is the {other}?"]
        for thing, place, other in _few(_pairs(afterwards.PLACES), share)
    ]
    contents = chance.sample([said for said, _ in told], len(told))
    return corpus("places", timed(contents, 5), [(asked, [said]) for said, asked in told])


def _advised(name: str, lines: str) -> Callable[[random.Random, float], Corpus]:
    """A chat: what a person says, and what an assistant answers at length."""

    def make(chance: random.Random, share: float) -> Corpus:
        contents: list[str] = []
        questions: list[Question] = []
        for said, advice, asked in _few(_pairs(lines), share):
            small = chance.choice(texts.OPENINGS)
            told = f"assistant: {advice}"
            contents += [f"user: {small} ({len(contents)})", f"user: {said}", told]
            questions.append((asked, [told]))
        return corpus(name, timed(contents, 3), questions)

    return make


def _moves(chance: random.Random, share: float) -> Corpus:
    """What was so is told first, and then, in another order, what is so now."""
    told = _few(_pairs(afterwards.MOVES), share)
    first, then = (chance.sample([one[at] for one in told], len(told)) for at in (0, 1))
    items = timed([*first, *then], 1)
    by_text = {item.text: item for item in items}
    queries = [
        query(f"moves{at}", "moves", asked, [by_text[new]], by_text[old].id)
        for at, (old, new, asked) in enumerate(told)
    ]
    return Corpus("moves", (Instance("moves", tuple(items), tuple(queries)),), ("generated",))


def _misspelt(chance: random.Random, share: float) -> Corpus:
    contents: list[str] = []
    questions: list[Question] = []
    for name, typed, does, asked in _few(_pairs(scenes.MISSPELT), share):
        said = f"{name} {does}."
        contents += [said, *(form.format(name) for form in scenes.PASSING)]
        questions.append((asked.format(typed), [said]))
    chance.shuffle(contents)
    return corpus("misspelt", timed(contents, 7), questions)


def _diary(chance: random.Random, share: float) -> Corpus:
    """Three lines a day; asked for by the day."""
    days = int(56 * share)
    did = [f"{verb} {what}" for verb, what in product(scenes.DID, scenes.WHAT)]
    chance.shuffle(did)
    items = [
        Item(f"d{day}.{n}", f"I {did[3 * day + n]}.", _at(day, n), f"d{day}")
        for day in range(days)
        for n in range(3)
    ]
    queries = []
    for at in range(max(6, int(24 * share))):
        item = chance.choice(items)
        asked = scenes.WHEN[at % len(scenes.WHEN)].format(
            verb=scenes.ASKED[item.text.split()[1]],
            ago=(NOW.date() - item.time.date()).days,
            day=item.time.strftime("%d %B").lstrip("0"),
        )
        verb = item.text.split()[1]
        same = [o for o in items if o.session == item.session and o.text.split()[1] == verb]
        queries.append(query(f"diary{at}", "diary", asked, same))
    return Corpus("diary", (Instance("diary", tuple(items), tuple(queries)),), ("generated",))


def _beginnings(chance: random.Random, share: float) -> Corpus:
    made = []
    for at, told in enumerate(beginnings.stores()):
        questions = [(asked, [said]) for said, some in told for asked in some]
        one = corpus("beginnings", timed([said for said, _ in told], 1), questions)
        made.append(replace(one.instances[0], id=f"beginnings-{at}"))
    return Corpus("beginnings", tuple(made), ("generated",))


def _at(day: int, n: int) -> datetime:
    return BEGIN + timedelta(days=day, hours=3 * n)


FIRST: tuple[Callable[[random.Random, float], Corpus], ...] = (
    _told("manuals", scenes.MANUALS, 4),
    _people,
    _meetings,
    _lines,
    _advised("counsel", scenes.COUNSEL),
    _told("register", scenes.REGISTER, 6),
    _misspelt,
    _told("single", scenes.SINGLE, 5),
    _diary,
    _told("wishes", scenes.WISHES, 5),
    _beginnings,
)
SECOND: tuple[Callable[[random.Random, float], Corpus], ...] = (
    _told("lab", afterwards.LAB, 4),
    _places,
    _standups,
    _shell,
    _advised("lessons", afterwards.LESSONS),
    _told("gossip", afterwards.GOSSIP, 6),
    _told("tongues", afterwards.TONGUES, 5),
    _told("keywords", afterwards.KEYWORDS, 6),
    _moves,
)
