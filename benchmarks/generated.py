"""Corpora made here, by a seed: what the recorded conversations have too little of.

paraphrases: questions that share no telling word with their answer; only meaning finds it.
identifiers: tickets, hashes, versions; only words find them.
answers: long answers of an assistant, asked for in short. parts: questions in two parts, one of
which is repeated everywhere. changes: facts that a later one makes untrue.
decisions: a log in which a later entry takes back an earlier one in other, mostly more, words.
tickets: short complaints, long replies, asked for in a third wording. languages: facts in eight
languages. hasty: short messages full of typos. topics: one fact amid chatter in its words.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import timedelta
from itertools import product

from benchmarks import statements, texts, unseen
from benchmarks.corpora import Corpus, Instance, Item
from benchmarks.making import BEGIN, Question, corpus, query, timed
from holdfast.text import terms

SEED = 1


def all_of(seed: int = SEED, share: float = 1.0) -> list[Corpus]:
    """Every generated corpus; a smaller `share` makes smaller ones."""
    makers = (*MAKERS, *unseen.FIRST, *unseen.SECOND)
    return [make(random.Random(seed), share) for make in makers]


def _paraphrases(chance: random.Random, share: float) -> Corpus:
    lines = texts.PARAPHRASES.splitlines()
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    apart = [(said, asked) for said, asked in pairs if not set(terms(said)) & set(terms(asked))]
    chatter = [f"{who} {did} {what}." for who, did, what in product(*_CHATTER)]
    contents = [said for said, _ in pairs] + chance.sample(chatter, int(400 * share))
    chance.shuffle(contents)
    questions = [(asked, [said]) for said, asked in apart]
    return corpus("paraphrases", timed(contents, 12), questions)


_CHATTER = (texts.PEOPLE, texts.DOINGS, texts.TOPICS)


def _identifiers(chance: random.Random, share: float) -> Corpus:
    known = list(dict.fromkeys(_identifier(chance) for _ in range(int(450 * share))))
    contents = [_ticket(chance, name) for name in known]
    forms = ("What do we know about {}?", "{}", "Why did the ticket on {} fail?")
    questions = [
        (chance.choice(forms).format(name), [content])
        for name, content in list(zip(known, contents, strict=True))[::4]
    ]
    return corpus("identifiers", timed(contents, 10), questions)


def _identifier(chance: random.Random) -> str:
    letters = "".join(chance.choices("ABCDEFGHKLMNPQ", k=2))
    part = chance.choice("retry limit cache queue".split())
    return chance.choice(
        [
            f"{letters}-{chance.randrange(1000, 9999)}",
            f"{chance.randrange(16**8):08x}",
            f"{chance.choice(texts.SERVICES)}_{part}_{chance.randrange(10, 99)}",
            f"v{chance.randrange(9)}.{chance.randrange(30)}.{chance.randrange(30)}",
        ]
    )


def _ticket(chance: random.Random, name: str) -> str:
    where, end = chance.choice(texts.SERVICES), chance.choice(texts.ENDS)
    day = chance.choice(("monday", "tuesday", "friday"))
    return f"Ticket about {name} in {where} {end} a timeout on {day}."


def _answers(chance: random.Random, share: float) -> Corpus:
    topics = [
        topic.replace("\n", "").split(" | ")
        for domain in texts.ANSWERS.values()
        for topic in domain.strip().replace("\n ", " ").splitlines()
    ]
    chance.shuffle(topics)
    contents: list[str] = []
    questions: list[Question] = []
    for asked, told in topics[: max(6, int(len(topics) * share))]:
        answer = "assistant: " + _padded(chance, told.split(". "))
        contents += ["user: " + chance.choice(texts.OPENINGS) + f" ({len(contents)})", answer]
        questions.append((asked, [answer]))
    return corpus("answers", timed(contents, 1000), questions)


def _padded(chance: random.Random, telling: Sequence[str]) -> str:
    """A long answer: the sentences that tell something, in the midst of ones that do not."""
    padding = chance.sample(texts.PADDING, chance.randrange(4, 9))
    for sentence in telling:
        padding.insert(chance.randrange(len(padding)), sentence.rstrip(".") + ".")
    return " ".join(padding)


Habit = tuple[str, str]  # who has it, and which it is


def _habits(chance: random.Random) -> tuple[list[str], dict[Habit, str]]:
    """Everybody's habits amid chatter in the same words, and the sentence that tells each."""
    told: dict[Habit, str] = {}
    contents: list[str] = []
    for who, (habit, (form, values, chatter, _)) in product(texts.NAMES, texts.HABITS.items()):
        told[who, habit] = form.format(who=who, value=chance.choice(values))
        contents += [told[who, habit], *(line.format(who=who) for line in chatter)]
    chance.shuffle(contents)
    return contents, told


def _asked_for(*habits: Habit) -> str:
    asked = " and ".join(texts.HABITS[what][3].format(who=who) for who, what in habits)
    return f"{asked[0].upper()}{asked[1:]}?"


def _parts(chance: random.Random, share: float) -> Corpus:
    contents, told = _habits(chance)
    questions = []
    for _ in range(int(60 * share)):
        one, two = (
            (who, chance.choice(list(texts.HABITS))) for who in chance.sample(texts.NAMES, 2)
        )
        questions.append((_asked_for(one, two), [told[one], told[two]]))
    return corpus("parts", timed(contents, 12), questions)


def _topics(chance: random.Random, share: float) -> Corpus:
    contents, told = _habits(chance)
    questions = [(_asked_for(habit), [fact]) for habit, fact in told.items()]
    return corpus("topics", timed(contents, 12), questions[: int(60 * share)])


def _changes(chance: random.Random, share: float) -> Corpus:
    contents: list[str] = []
    pairs: list[tuple[str, str, str]] = []
    for who, (form, values, asked) in product(texts.NAMES, texts.CHANGES.values()):
        old, new = (form.format(who=who, value=value) for value in chance.sample(values, 2))
        pairs.append((asked.format(who=who), old, new))
    chance.shuffle(pairs)
    pairs = pairs[: max(10, int(len(pairs) * share))]
    contents = [old for _, old, _ in pairs] + chance.sample(
        [new for _, _, new in pairs], len(pairs)
    )
    items = timed(contents, 20)
    by_text = {item.text: item for item in items}
    queries = [
        query(f"changes{at}", "changes", asked, [by_text[new]], by_text[old].id)
        for at, (asked, old, new) in enumerate(pairs)
    ]
    return Corpus("changes", (Instance("changes", tuple(items), tuple(queries)),), ("generated",))


def _decisions(chance: random.Random, share: float) -> Corpus:
    told = _triples(statements.DECISIONS)
    events = [
        form.format(module=module, n=n)
        for form, module, n in product(statements.EVENTS, statements.MODULES, range(2, 9))
    ]
    others = chance.sample(events, int(200 * share))
    first = [old for old, _, _ in told] + others[::2]
    then = [new for _, new, _ in told] + others[1::2]
    log = [*chance.sample(first, len(first)), *chance.sample(then, len(then))]
    items = [
        Item(f"m{at}", content, BEGIN + timedelta(hours=6 * at), f"s{at}")
        for at, content in enumerate(log)
    ]
    by_text = {item.text: item for item in items}
    queries = [
        query(f"decisions{at}", "decisions", asked, [by_text[new]], by_text[old].id)
        for at, (old, new, asked) in enumerate(told)
    ]
    instance = Instance("decisions", tuple(items), tuple(queries))
    return Corpus("decisions", (instance,), ("generated",))


def _triples(lines: str) -> list[tuple[str, str, str]]:
    whole = lines.replace("\n ", " ").splitlines()
    return list(zip(whole[::3], whole[1::3], whole[2::3], strict=True))


def _tickets(chance: random.Random, share: float) -> Corpus:
    told = _triples(statements.TICKETS)
    contents: list[str] = []
    questions: list[Question] = []
    for complaint, reply, asked in chance.sample(told, max(6, int(len(told) * share))):
        contents += [f"customer: {complaint}", f"support: {reply}"]
        questions.append((asked, [f"support: {reply}"]))
    return corpus("tickets", timed(contents, 2), questions)


def _languages(chance: random.Random, share: float) -> Corpus:
    questions: list[Question] = []
    for at, line in enumerate(statements.LANGUAGES.splitlines()):
        said, asked = line.split("|")
        for who in statements.SPEAKERS[at // 4]:
            questions.append((asked.format(who), [said.format(who)]))
    contents = [said for _, (said,) in questions]
    chance.shuffle(contents)
    return corpus("languages", timed(contents, 8), questions[: int(64 * share)])


def _hasty(chance: random.Random, share: float) -> Corpus:
    lines = statements.HASTY.splitlines()
    contents = lines[::2] + statements.SMALL_TALK
    chance.shuffle(contents)
    questions = [(asked, [said]) for said, asked in zip(lines[::2], lines[1::2], strict=True)]
    return corpus("hasty", timed(contents, 30), questions[: max(6, int(24 * share))])


MAKERS: tuple[Callable[[random.Random, float], Corpus], ...] = (
    _paraphrases,
    _identifiers,
    _answers,
    _parts,
    _changes,
    _decisions,
    _tickets,
    _languages,
    _hasty,
    _topics,
)
