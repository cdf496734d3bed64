"""A store and a dictionary, told the same random history, must say the same."""

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, assume, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from holdfast import Conflict, Invalid, Memory, NotFound
from holdfast.backend import open_backend
from holdfast.embed import Embedder
from holdfast.embed.hashing import Hashing
from holdfast.testing import FakeClock
from holdfast.text import normalise, terms
from tools.postgres import database_url, drop_database, make_database

SHM = Path("/dev/shm")  # where a sync costs nothing: what is at stake here is not the disk
SCOPES = st.sampled_from(["ann", "bob"])
WORDS = st.sampled_from(
    [
        *("green tea", " green  tea", "Green tea", "black coffee", "red car", "café", "cafe\u0301"),
        *("东京的服务器", "user_id is 7", "the the", "!?", "3.11.2", "x" * 700 + " tail"),
    ]
)
KINDS = st.sampled_from(["fact", "decision", "rumour"])
TAGS = st.lists(st.sampled_from(["red", "round", "big"]), max_size=2, unique=True)
SESSIONS = st.sampled_from([None, "s1", "s2"])
LIVES = st.sampled_from([None, None, 5, 60, "pinned"])
KEYS = st.sampled_from(["k", "log", "n", "ключ"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text("aé🎉", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=4,
)


@dataclass
class Told:
    """One version of a memory in the model."""

    content: str
    since: datetime
    until: datetime | None = None


@dataclass
class Known:
    """One memory in the model."""

    kind: str
    tags: set[str]
    session: str | None
    expires: datetime | None
    pinned: bool
    told: list[Told]


@dataclass
class Held:
    """One scope in the model: memories by id, state by key, and every version a key ever had."""

    memories: dict[str, Known] = field(default_factory=dict)
    states: dict[str, tuple[Any, int, datetime | None]] = field(default_factory=dict)
    versions: dict[str, set[int]] = field(default_factory=dict)


class Histories(RuleBasedStateMachine):
    """Random histories, through two doors on one file that share nothing in this process."""

    def __init__(self) -> None:
        super().__init__()
        self.url = self.make_store()
        self.clock = FakeClock()
        self.model = {"ann": Held(), "bob": Held()}
        self.copies = 0
        self.open()

    def make_store(self) -> str:
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-", dir=SHM if SHM.exists() else None))
        return f"sqlite:///{self.folder / 'memory.db'}"

    def drop_store(self) -> None:
        shutil.rmtree(self.folder)

    def open(self) -> None:
        embedders: list[Embedder | str] = ["hashing", Hashing()]
        self.doors = {
            (scope, door): Memory(scope, backend=open_backend(self.url, embedder, self.clock))
            for door, embedder in enumerate(embedders)
            for scope in ("ann", "bob")
        }
        self.turn = 0

    def memory(self, scope: str) -> Memory:
        """The scope's memory by one door, then by the other."""
        self.turn += 1
        return self.doors[scope, self.turn % 2]

    def close(self) -> None:
        for memory in self.doors.values():
            memory.close()

    def teardown(self) -> None:
        try:
            memory = self.memory("ann")
            assert memory.doctor().findings == ()
            assert Memory("nobody", backend=memory._backend).stats().versions == 0
        finally:
            self.close()
            self.drop_store()

    def alive(self, scope: str) -> dict[str, Known]:
        now = self.clock()
        known = self.model[scope].memories
        return {id: it for id, it in known.items() if it.expires is None or now < it.expires}

    def entries(self, scope: str) -> dict[str, tuple[Any, int, datetime | None]]:
        now, held = self.clock(), self.model[scope].states
        return {key: it for key, it in held.items() if it[2] is None or now < it[2]}

    def twin(self, scope: str, content: str) -> str | None:
        same = normalise(content)
        alive = self.alive(scope).items()
        return next((id for id, it in alive if normalise(it.told[-1].content) == same), None)

    # --- memories ---

    @rule(scope=SCOPES, content=WORDS, kind=KINDS, tags=TAGS, session=SESSIONS, life=LIVES)
    def remember(
        self, scope: str, content: str, kind: str, tags: list[str], session: str | None, life: Any
    ) -> None:
        pinned = life == "pinned"
        ttl = None if pinned else life
        known = self.twin(scope, content)
        answer = self.memory(scope).remember(
            content, kind, tags, session=session, ttl=ttl, pinned=pinned
        )
        assert answer.created == (known is None)
        ends = None if ttl is None else self.clock() + timedelta(seconds=ttl)
        if known is None:
            told = [Told(content, self.clock())]
            self.model[scope].memories[answer.id] = Known(
                kind, set(tags), session, ends, pinned, told
            )
            return
        assert answer.id == known
        it = self.alive(scope)[known]
        it.tags |= set(tags)
        it.pinned |= pinned
        if it.expires is not None:
            it.expires = None if it.pinned or ends is None else max(it.expires, ends)

    @rule(scope=SCOPES, content=WORDS, data=st.data())
    def revise(self, scope: str, content: str, data: st.DataObject) -> None:
        alive = self.alive(scope)
        assume(alive)
        id, other = data.draw(st.sampled_from(sorted(alive))), self.twin(scope, content)
        if other not in (None, id):
            with pytest.raises(Conflict):
                self.memory(scope).revise(id, content)
            return
        answer = self.memory(scope).revise(id, content)
        told = alive[id].told
        if other is None:
            told[-1].until = self.clock()
            told.append(Told(content, self.clock()))
        assert (answer.version, answer.content) == (len(told), told[-1].content)

    @rule(scope=SCOPES, data=st.data())
    def forget_one(self, scope: str, data: st.DataObject) -> None:
        known = self.model[scope].memories
        assume(known)
        id = data.draw(st.sampled_from(sorted(known)))
        if id in self.alive(scope):
            assert self.memory(scope).forget(id).memories == 1
            del known[id]
        else:
            with pytest.raises(NotFound):
                self.memory(scope).forget(id)

    @rule(scope=SCOPES, kind=st.none() | KINDS, tags=TAGS, session=SESSIONS)
    def forget_some(
        self, scope: str, kind: str | None, tags: list[str], session: str | None
    ) -> None:
        assume(kind or tags or session)
        kinds = [] if kind is None else [kind]
        self.memory(scope).forget(kinds=kinds, tags=tags, session=session)
        known = self.model[scope].memories
        for id, it in list(known.items()):
            same = session in (None, it.session) and kind in (None, it.kind)
            if same and set(tags) <= it.tags:
                del known[id]

    @rule(scope=SCOPES)
    @precondition(lambda self: self.turn % 5 == 0)
    def forget_everything(self, scope: str) -> None:
        self.memory(scope).forget(everything=True)
        self.model[scope].memories.clear()
        self.model[scope].states.clear()

    @rule(scope=SCOPES, data=st.data())
    def exact_words_are_found(self, scope: str, data: st.DataObject) -> None:
        alive = self.alive(scope)
        assume(alive)
        id = data.draw(st.sampled_from(sorted(alive)))
        words = alive[id].told[-1].content
        if terms(words):
            assert id in {hit.id for hit in self.memory(scope).recall(words, 1000)}
        everything = self.memory(scope).recall(words, 1000, min_score=0)
        assert {hit.id for hit in everything} == set(alive)
        assert all(hit.content == alive[hit.id].told[-1].content for hit in everything)

    @rule(scope=SCOPES, kind=st.none() | KINDS, tags=TAGS, session=SESSIONS)
    def filters_are_exact(
        self, scope: str, kind: str | None, tags: list[str], session: str | None
    ) -> None:
        expected = {
            id
            for id, it in self.alive(scope).items()
            if kind in (None, it.kind) and session in (None, it.session) and set(tags) <= it.tags
        }
        where: Any = {"kinds": [kind] if kind else [], "tags": tags, "session": session}
        assert {it.id for it in self.memory(scope).list(**where)} == expected
        found = self.memory(scope).recall("tea", 1000, min_score=0, **where)
        assert {hit.id for hit in found} == expected

    @rule(scope=SCOPES, seconds=st.integers(0, 90))
    def what_was_true_then(self, scope: str, seconds: int) -> None:
        at = self.clock() - timedelta(seconds=seconds)
        expected = {
            (id, told.content)
            for id, it in self.alive(scope).items()
            for told in it.told
            if told.since <= at and (told.until is None or at < told.until)
        }
        assert {(it.id, it.content) for it in self.memory(scope).list(as_of=at)} == expected
        found = self.memory(scope).recall("tea", 1000, min_score=0, as_of=at)
        assert {(hit.id, hit.content) for hit in found} == expected

    # --- state ---

    @rule(scope=SCOPES, key=KEYS, value=JSON, ttl=st.sampled_from([None, 5, 60]))
    def set_a_value(self, scope: str, key: str, value: Any, ttl: int | None) -> None:
        ends = None if ttl is None else self.clock() + timedelta(seconds=ttl)
        self.changed(scope, key, value, ends, self.memory(scope).set(key, value, ttl=ttl))

    @rule(scope=SCOPES, key=KEYS, value=JSON)
    def append(self, scope: str, key: str, value: Any) -> None:
        self.grow(scope, key, list, [value], lambda memory: memory.append(key, value))

    @rule(scope=SCOPES, key=KEYS, by=st.integers(-5, 5))
    def increment(self, scope: str, key: str, by: int) -> None:
        self.grow(scope, key, (int, float), by, lambda memory: memory.increment(key, by))

    def grow(self, scope: str, key: str, kind: Any, by: Any, call: Callable[[Memory], Any]) -> None:
        held, _, ends = self.entries(scope).get(key, (None, 0, None))
        if isinstance(held, kind) and not isinstance(held, bool):
            self.changed(scope, key, held + by, ends, call(self.memory(scope)))
        elif held is None:
            self.changed(scope, key, by, ends, call(self.memory(scope)))
        else:
            with pytest.raises(Invalid):
                call(self.memory(scope))

    def changed(self, scope: str, key: str, value: Any, ends: Any, answer: Any) -> None:
        held, seen = self.entries(scope), self.model[scope].versions.setdefault(key, set())
        assert (answer.value, answer.expires_at) == (value, ends)
        assert answer.version not in seen
        if key in held:
            assert answer.version == held[key][1] + 1
        seen.add(answer.version)
        self.model[scope].states[key] = (value, answer.version, ends)

    @rule(scope=SCOPES, key=KEYS, off=st.sampled_from([0, 0, 1, -1]))
    def compare_and_set(self, scope: str, key: str, off: int) -> None:
        held = self.entries(scope)
        version = max(0, (held[key][1] if key in held else 0) + off)
        if version == (held[key][1] if key in held else 0):
            answer = self.memory(scope).set(key, "won", if_version=version)
            self.changed(scope, key, "won", None, answer)
        else:
            with pytest.raises(Conflict):
                self.memory(scope).set(key, "lost", if_version=version)

    @rule(scope=SCOPES, key=KEYS)
    def delete(self, scope: str, key: str) -> None:
        assert self.memory(scope).delete(key) == (key in self.entries(scope))
        self.model[scope].states.pop(key, None)

    # --- the world ---

    @rule(seconds=st.sampled_from([0.000001, 1, 5, 59, 61]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds=seconds)

    @rule()
    @precondition(lambda self: self.turn % 3 == 0)
    def purge(self) -> None:
        self.memory("ann").purge()

    @rule()
    def reopen(self) -> None:
        self.close()
        self.open()

    @rule(scope=SCOPES)
    def move_house(self, scope: str) -> None:
        self.copies += 1
        lines, name = list(self.memory(scope).export()), f"copy-{self.copies}"
        with Memory(name, backend=open_backend(self.url, "hashing", self.clock)) as copy:
            assert copy.import_(lines).known == 0
            assert list(copy.export()) == lines
            assert {it.id for it in copy.list(limit=1000)} == set(self.alive(scope))

    # --- always ---

    @invariant()
    def both_doors_say_what_the_model_says(self) -> None:
        for (scope, _), memory in self.doors.items():
            alive = self.alive(scope)
            said = {(it.id, it.content, it.scope) for it in memory.list(limit=1000)}
            assert said == {(id, it.told[-1].content, scope) for id, it in alive.items()}
            entries = self.entries(scope)
            assert memory.keys() == tuple(sorted(entries))
            assert {key: memory.get(key) for key in entries} == {
                k: v[0] for k, v in entries.items()
            }
            assert memory.stats().memories == len(alive)


class HistoriesOnPostgres(Histories):
    """The same in a database."""

    server: ClassVar[tuple[str, str]]  # a superuser's URL, and the database to copy

    def make_store(self) -> str:
        admin, template = self.server
        self.name = f"holdfast_{uuid4().hex[:12]}"
        make_database(admin, self.name, template)
        return database_url(admin, self.name)

    def drop_store(self) -> None:
        drop_database(self.server[0], self.name)


@pytest.fixture(scope="module", autouse=True)
def _server(postgres: str, template: str) -> None:
    HistoriesOnPostgres.server = postgres, template


Histories.TestCase.settings = settings(
    max_examples=25,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
HistoriesOnPostgres.TestCase.settings = settings(Histories.TestCase.settings, max_examples=8)
TestHistories = pytest.mark.slow(Histories.TestCase)
TestHistoriesOnPostgres = pytest.mark.slow(HistoriesOnPostgres.TestCase)
