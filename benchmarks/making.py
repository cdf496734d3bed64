"""From contents and questions to a corpus: what all the generated ones share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone

from benchmarks.corpora import Corpus, Instance, Item, Query

BEGIN = datetime(2024, 1, 1, 10, tzinfo=timezone.utc)
NOW = datetime(2024, 3, 1, tzinfo=timezone.utc)

Question = tuple[str, Sequence[str]]  # its text, and the texts that answer it


def timed(contents: Iterable[str], turns: int) -> list[Item]:
    """Contents as items, a few minutes apart, in sessions of so many turns."""
    return [
        Item(f"m{at}", content, BEGIN + timedelta(minutes=47 * at), f"s{at // turns}")
        for at, content in enumerate(contents)
    ]


def corpus(name: str, items: list[Item], questions: Iterable[Question]) -> Corpus:
    by_text = {item.text: item for item in items}
    queries = [
        query(f"{name}{at}", name, text, [by_text[answer] for answer in answers])
        for at, (text, answers) in enumerate(questions)
    ]
    return Corpus(name, (Instance(name, tuple(items), tuple(queries)),), ("generated",))


def query(id: str, category: str, text: str, gold: Sequence[Item], stale: str = "") -> Query:
    ids = tuple(item.id for item in gold)
    sessions = tuple(dict.fromkeys(item.session for item in gold))
    newest, old = (ids, (stale,)) if stale else ((), ())
    return Query(id, text, category, ids, sessions, newest, old, NOW)
