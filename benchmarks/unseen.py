"""More corpora made here: scenes of everyday use, asked as people ask.

The first eleven were written before the ranking was last changed, the others after it.
manuals: long notes, asked for in two or three words. people: the same attributes of many. meetings:
two questions in one, answered weeks apart. lines: code, configuration, logs. counsel: long advice,
asked for in other words. register: formal notes asked for plainly, slang asked for formally.
misspelt: names typed wrong. single: one word. diary: by the day. wishes: what somebody prefers.
beginnings: stores of one to twenty memories, and the first questions asked of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import product

from benchmarks import beginnings, scenes, texts
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
    """Every week each topic has a line; two weeks settle something about it."""
    topics = _pairs(scenes.MEETINGS)
    weeks: list[list[str]] = [[] for _ in range(12)]
    questions: list[Question] = []
    for topic, one, two, asked in topics:
        settled = [f"On {topic} we agreed: {one}.", f"On {topic} we agreed: {two}."]
        early, late = sorted(chance.sample(range(len(weeks)), 2))
        for at, week in enumerate(weeks):
            noise = chance.choice(scenes.MEETING_NOISE).format(topic=topic)
            week.append({early: settled[0], late: settled[1]}.get(at, f"{noise} ({at})"))
        questions.append((asked, settled))
    items = [
        Item(f"m{at}.{n}", line, BEGIN + timedelta(days=4 * at, minutes=n), f"w{at}")
        for at, week in enumerate(weeks)
        for n, line in enumerate(chance.sample(week, len(week)))
    ]
    return corpus("meetings", items, questions[: max(6, int(len(questions) * share))])


def _lines(chance: random.Random, share: float) -> Corpus:
    told = _few(_pairs(scenes.LINES), share)
    noise = [
        form.format(service=service, n=n)
        for form, service, n in product(scenes.LINE_NOISE, texts.SERVICES, range(1, 9))
    ]
    contents = [said for said, _ in told] + chance.sample(noise, int(150 * share))
    chance.shuffle(contents)
    return corpus("lines", timed(contents, 6), [(asked, [said]) for said, asked in told])


def _counsel(chance: random.Random, share: float) -> Corpus:
    contents: list[str] = []
    questions: list[Question] = []
    for said, advice, asked in _few(_pairs(scenes.COUNSEL), share):
        small = chance.choice(texts.OPENINGS)
        contents += [f"user: {small} ({len(contents)})", f"user: {said}", f"assistant: {advice}"]
        questions.append((asked, [f"assistant: {advice}"]))
    return corpus("counsel", timed(contents, 3), questions)


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
    _counsel,
    _told("register", scenes.REGISTER, 6),
    _misspelt,
    _told("single", scenes.SINGLE, 5),
    _diary,
    _told("wishes", scenes.WISHES, 5),
    _beginnings,
)
