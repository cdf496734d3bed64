"""Corpora made here, by a seed: what the recorded conversations have too little of.

paraphrases: questions that share no telling word with their answer; only meaning finds it.
identifiers: tickets, hashes, versions; only words find them.
answers: long answers of an assistant, asked for in short. parts: questions in two parts, one of
which is repeated everywhere. changes: facts that a later one makes untrue.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta, timezone
from itertools import product

from benchmarks import texts
from benchmarks.corpora import Corpus, Instance, Item, Query
from holdfast.text import terms

BEGIN = datetime(2024, 1, 1, 10, tzinfo=timezone.utc)
NOW = datetime(2024, 3, 1, tzinfo=timezone.utc)
SEED = 1

Question = tuple[str, Sequence[str]]  # its text, and the texts that answer it


def all_of(seed: int = SEED, share: float = 1.0) -> list[Corpus]:
    """Every generated corpus; a smaller `share` makes smaller ones."""
    return [make(random.Random(seed), share) for make in MAKERS]


def _timed(contents: Iterable[str], turns: int) -> list[Item]:
    """Contents as items, a few minutes apart, in sessions of so many turns."""
    return [
        Item(f"m{at}", content, BEGIN + timedelta(minutes=47 * at), f"s{at // turns}")
        for at, content in enumerate(contents)
    ]


def _corpus(name: str, items: list[Item], questions: Iterable[Question]) -> Corpus:
    by_text = {item.text: item for item in items}
    queries = [
        _query(f"{name}{at}", name, text, [by_text[answer] for answer in answers])
        for at, (text, answers) in enumerate(questions)
    ]
    return Corpus(name, (Instance(name, tuple(items), tuple(queries)),), ("generated",))


def _query(id: str, category: str, text: str, gold: Sequence[Item], stale: str = "") -> Query:
    ids = tuple(item.id for item in gold)
    sessions = tuple(dict.fromkeys(item.session for item in gold))
    newest, old = (ids, (stale,)) if stale else ((), ())
    return Query(id, text, category, ids, sessions, newest, old, NOW)


def _paraphrases(chance: random.Random, share: float) -> Corpus:
    lines = texts.PARAPHRASES.splitlines()
    pairs = list(zip(lines[::2], lines[1::2], strict=True))
    apart = [(said, asked) for said, asked in pairs if not set(terms(said)) & set(terms(asked))]
    chatter = [f"{who} {did} {what}." for who, did, what in product(*_CHATTER)]
    contents = [said for said, _ in pairs] + chance.sample(chatter, int(400 * share))
    chance.shuffle(contents)
    questions = [(asked, [said]) for said, asked in apart]
    return _corpus("paraphrases", _timed(contents, 12), questions)


_CHATTER = (texts.PEOPLE, texts.DOINGS, texts.TOPICS)


def _identifiers(chance: random.Random, share: float) -> Corpus:
    known = list(dict.fromkeys(_identifier(chance) for _ in range(int(450 * share))))
    contents = [_ticket(chance, name) for name in known]
    forms = ("What do we know about {}?", "{}", "Why did the ticket on {} fail?")
    questions = [
        (chance.choice(forms).format(name), [content])
        for name, content in list(zip(known, contents, strict=True))[::4]
    ]
    return _corpus("identifiers", _timed(contents, 10), questions)


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
    return _corpus("answers", _timed(contents, 1000), questions)


def _padded(chance: random.Random, telling: Sequence[str]) -> str:
    """A long answer: the sentences that tell something, in the midst of ones that do not."""
    padding = chance.sample(texts.PADDING, chance.randrange(4, 9))
    for sentence in telling:
        padding.insert(chance.randrange(len(padding)), sentence.rstrip(".") + ".")
    return " ".join(padding)


def _parts(chance: random.Random, share: float) -> Corpus:
    told: dict[tuple[str, str], str] = {}
    contents: list[str] = []
    for who, (habit, (form, values, chatter, _)) in product(texts.NAMES, texts.HABITS.items()):
        told[who, habit] = form.format(who=who, value=chance.choice(values))
        contents += [told[who, habit], *(line.format(who=who) for line in chatter)]
    chance.shuffle(contents)
    questions = []
    for _ in range(int(60 * share)):
        one, two = (
            (who, chance.choice(list(texts.HABITS))) for who in chance.sample(texts.NAMES, 2)
        )
        asked = " and ".join(texts.HABITS[what][3].format(who=who) for who, what in (one, two))
        questions.append((f"{asked[0].upper()}{asked[1:]}?", [told[one], told[two]]))
    return _corpus("parts", _timed(contents, 12), questions)


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
    items = _timed(contents, 20)
    by_text = {item.text: item for item in items}
    queries = [
        _query(f"changes{at}", "changes", asked, [by_text[new]], by_text[old].id)
        for at, (asked, old, new) in enumerate(pairs)
    ]
    return Corpus("changes", (Instance("changes", tuple(items), tuple(queries)),), ("generated",))


MAKERS: tuple[Callable[[random.Random, float], Corpus], ...] = (
    _paraphrases,
    _identifiers,
    _answers,
    _parts,
    _changes,
)
