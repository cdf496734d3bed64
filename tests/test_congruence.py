"""The same random history, told to SQLite and to PostgreSQL: the same answers, to the last digit.

`Both` does each verb on both engines, with one clock and ids that count, and compares.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from random import Random
from typing import Any

import pytest

from holdfast import HoldfastError, Memory, wire
from holdfast.backend import Here
from holdfast.embed.hashing import Hashing
from holdfast.engine import open_engine
from holdfast.model import Page
from holdfast.service import Service
from holdfast.testing import FakeClock

PEOPLE = "Ann Bob Cid Dora".split()
VERBS = "likes hates bought moved to works at lives in repaired".split()
THINGS = (
    "tea coffee Paris a red car the blue house chess pgvector v1.2 東京 café user_id 42".split()
)
STEPS = 150


class Both:
    """Two memories that must never differ."""

    def __init__(self, first: Memory, second: Memory) -> None:
        self._pair = first, second

    def __getattr__(self, verb: str) -> Any:
        def call(*args: Any, **named: Any) -> Any:
            told = [_told(getattr(memory, verb), *args, **named) for memory in self._pair]
            assert told[0] == told[1], (verb, args, named)
            return told[0][1]

        return call


def _told(verb: Any, *args: Any, **named: Any) -> tuple[str, Any]:
    """The answer as JSON and as it is; an error by its type and words."""
    try:
        answer = verb(*args, **named)
    except HoldfastError as error:
        return f"{type(error).__name__}: {error}", None
    if isinstance(answer, Iterator):
        answer = list(answer)
    if isinstance(answer, Page):  # where the next page begins is each engine's own affair
        answer = replace(answer, cursor=answer.cursor and "more")
    return wire.dumps(answer), answer


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def both(url: str, postgres_url: str, clock: FakeClock) -> Iterator[dict[str, Both]]:
    services = []
    for store in (url, postgres_url):
        ids = count(1)
        services.append(
            Service(open_engine(store), Hashing(), clock, lambda ids=ids: f"id{next(ids):05}")  # type: ignore[misc]
        )
    backends = [Here(service, lambda: None) for service in services]
    yield {
        scope: Both(*(Memory(scope, backend=backend) for backend in backends))
        for scope in ("ann", "team")
    }
    for service in services:
        service.close()


class History:
    """Random steps, each done on both engines."""

    def __init__(self, seed: int, both: dict[str, Both], clock: FakeClock) -> None:
        self.chance = Random(seed)
        self.both = both
        self.clock = clock
        self.ids: list[str] = ["nobody"]

    def sentence(self) -> str:
        chance = self.chance
        words = [chance.choice(PEOPLE), chance.choice(VERBS), *chance.choices(THINGS, k=3)]
        return " ".join(words)

    def draft(self) -> dict[str, Any]:
        chance = self.chance
        return {
            "content": self.sentence(),
            "kind": chance.choice(["fact", "decision", "interaction", "temporary"]),
            "tags": chance.sample(["red", "round", "big"], chance.randint(0, 2)),
            "meta": chance.choice([{}, {"n": 1}, {"n": 1.0}, {"n": True}, {"n": "1", "deep": [1]}]),
            "session": chance.choice([None, "s1", "s2", "s3"]),
            "ttl": chance.choice([None, None, 50_000]),
            "avoid": chance.random() < 0.1,
        }

    def filters(self) -> dict[str, Any]:
        chance, now = self.chance, self.clock()
        return chance.choice(
            [
                *({}, {}, {"tags": ["red"]}, {"session": "s1"}, {"kinds": ["fact", "decision"]}),
                *({"meta": {"n": 1}}, {"meta": {"n": True}}, {"since": now - timedelta(hours=9)}),
                {"until": now - timedelta(hours=3), "tags": ["big"]},
            ]
        )

    def step(self) -> None:
        memory = self.both[self.chance.choice(["ann", "ann", "team"])]
        getattr(self, self.chance.choice(STEPS_OF))(memory)
        self.clock.advance(seconds=self.chance.randint(0, 4000))

    def remember(self, memory: Both) -> None:
        done = memory.remember(**self.draft(), source=self.chance.choice([None, "user", "agent:x"]))
        self.ids += [done.id] if done else []

    def remember_many(self, memory: Both) -> None:
        done = memory.remember_many([self.draft() for _ in range(self.chance.randint(1, 30))])
        self.ids += [one.id for one in done or ()]

    def recall(self, memory: Both) -> None:
        limit = self.chance.choice([1, 5, 50])
        memory.recall(self.sentence(), limit, **self.filters())
        memory.recall(self.sentence(), limit, min_score=0.0, scopes=["ann", "team"])

    def past(self, memory: Both) -> None:
        then = self.clock() - timedelta(seconds=self.chance.randint(0, 40_000))
        memory.recall(self.sentence(), 20, as_of=then, min_score=0.0)
        memory.list(limit=50, as_of=then)

    def tell(self, memory: Both) -> None:
        memory.context(self.sentence(), budget=300)
        memory.explain(self.sentence(), self.chance.choice(self.ids))
        memory.list(limit=self.chance.choice([3, 100]), **self.filters())
        memory.history(self.chance.choice(self.ids))

    def revise(self, memory: Both) -> None:
        memory.revise(self.chance.choice(self.ids), self.sentence())

    def forget(self, memory: Both) -> None:
        which = self.chance.choice([{"id": self.chance.choice(self.ids)}, {"session": "s3"}])
        memory.forget(**which)

    def extract(self, memory: Both) -> None:
        name = self.chance.choice(PEOPLE)
        memory.extract(f"{name}: I live in {self.chance.choice(THINGS)}. We decided to use chess.")

    def state(self, memory: Both) -> None:
        key = self.chance.choice(["k", "ключ", "log", "Z", "a"])
        memory.set(key, {"v": self.chance.random()}, ttl=self.chance.choice([None, 3000]))
        memory.increment("n")
        memory.append("log2", self.chance.choice(THINGS), idempotency_key=str(len(self.ids)))
        memory.delete(self.chance.choice(["k", "none"]), if_version=self.chance.choice([None, 1]))
        memory.keys(prefix=self.chance.choice(["", "l"]))
        memory.get("k", None)

    def whole(self, memory: Both) -> None:
        memory.export()
        memory.review()
        memory.jobs()

    def purge(self, memory: Both) -> None:
        for one in memory._pair:  # how many bytes that frees is each engine's own affair
            one.purge()


STEPS_OF = (
    *("remember", "remember", "remember_many", "recall", "recall", "recall", "past", "tell"),
    *("revise", "forget", "extract", "state", "state", "whole", "purge"),
)


@pytest.mark.parametrize("seed", range(4))
def test_both_engines_answer_alike(seed: int, both: dict[str, Both], clock: FakeClock) -> None:
    history = History(seed, both, clock)
    for _ in range(STEPS):
        history.step()
    for memory in both.values():
        history.whole(memory)
        assert all(one.doctor().healthy for one in memory._pair)


@pytest.mark.slow
def test_both_engines_answer_alike_in_a_large_scope(
    both: dict[str, Both], clock: FakeClock
) -> None:
    history = History(99, both, clock)
    memory = both["ann"]
    for _ in range(6):
        memory.remember_many(
            [{**history.draft(), "content": f"{history.sentence()} {n}"} for n in range(400)]
        )
        for _ in range(10):
            history.recall(memory)
            history.past(memory)
            history.revise(memory)
            history.forget(memory)
