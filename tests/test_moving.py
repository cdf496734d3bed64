"""Moving house: a whole store from one engine to another and back, in use, broken off, proved."""

import json
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from holdfast import Conflict, Memory, NotFound, ops
from holdfast.access import Access
from holdfast.cli import app
from holdfast.embed.hashing import Hashing
from holdfast.engine import Engine, Place, Transaction, open_engine
from holdfast.engine.house import SCOPED, WHOLE, Line, Opened
from holdfast.engine.ledger import Job, Noted
from holdfast.engine.moving import move
from holdfast.service import Service
from holdfast.testing import FakeClock

NOTES = 300  # more than a block of the word index


class OfTenant:
    """A backend that does verbs for a tenant."""

    outbox = None

    def __init__(self, service: Service, tenant: str) -> None:
        self._service, self._tenant = service, tenant

    def do(self, op: ops.Op[Any]) -> Any:
        return self._service.do(op, self._tenant)

    def close(self) -> None:
        """Nothing is its own."""


def fill(engine: Engine) -> None:
    """Puts something into every table."""
    clock = FakeClock()
    service = Service(engine, Hashing(), clock)
    for tenant in ("local", "acme"):
        for scope in ("team", "user/ann", "only state"):
            memory = Memory(scope, backend=OfTenant(service, tenant))
            memory.set("gone", {"é": [1, None]}, ttl=60)
            memory.append("log", "x", idempotency_key="once")
            memory.delete("gone")
        fill_scope(Memory("team", backend=OfTenant(service, tenant)))
        forget_a_scope(Memory("forgotten", backend=OfTenant(service, tenant)))
    ledger, now, place = engine.ledger(), clock(), Place("local", "team")
    Access(ledger, clock).create("agent")
    ledger.note([Noted(tenant="acme", at=now, act="remember", scope="team")])
    ledger.add_job(
        Job(id="j", place=place, status="accepted", created_at=now, updated_at=now, task={"a": 1})
    )

    def more(tx: Transaction) -> None:
        ledger.count_write("acme", 3, tx)
        tx.enqueue(place, "job", None, "{}", now)
        tx.hold(place, "held", "{}", "[]", now)
        tx.set_policy(place, "{}")
        tx.link(place, "one", "from", "other")

    engine.write(more)
    service.learner.worker.stop()


def fill_scope(memory: Memory) -> None:
    notes = [{"content": f"note {n} about tea{n}", "meta": {"n": n}} for n in range(NOTES)]
    ids = [one.id for one in memory.remember_many(notes)]
    memory.revise(ids[0], "another word", idempotency_key="revised")
    memory.forget(ids[1])
    memory.remember("gone soon", ttl=5, tags=["red"])
    memory.remember("note 2 about tea2", source="bob")
    memory.extract("Ann: I live in Paris.")
    memory.extract("Ann: I live in Rome now.")


def forget_a_scope(memory: Memory) -> None:
    for value in range(3):
        memory.set("key", value)
    memory.remember("forgotten", id="f", idempotency_key="told")
    memory.forget(everything=True, idempotency_key="forgotten")


def laid_open(engine: Engine) -> dict[str, list[Line]]:
    """All that a store holds."""

    def work(house: Opened) -> dict[str, list[Line]]:
        told: dict[str, list[Line]] = {name: house.whole(name) for name in WHOLE}
        for place, _ in sorted(house.places(), key=str):
            told[f"{place}"] = [line for _, line in house.memories(place, 0, 10_000)]
            told |= {f"{place} {name}": house.table(place, name) for name in SCOPED}
        return told

    return engine.house().look(work)


@pytest.fixture(params=["sqlite to postgres", "postgres to sqlite"])
def pair(
    request: pytest.FixtureRequest, url: str, postgres_url: str
) -> Iterator[tuple[Engine, Engine]]:
    urls = [url, postgres_url]
    old, new = map(open_engine, urls if request.param.startswith("sqlite") else urls[::-1])
    yield old, new
    old.close()
    new.close()


def test_everything_is_moved_and_proved(pair: tuple[Engine, Engine]) -> None:
    old, new = pair
    fill(old)
    told = laid_open(old)
    filled = {name.rpartition(" ")[2] for name, lines in told.items() if lines}
    assert filled >= {*SCOPED, *WHOLE}  # every table has something in it
    shown: list[tuple[int, int]] = []
    done = move(old, new, "there", lambda *at: shown.append(at))
    assert laid_open(new) == told
    assert (done.places, done.copied) == (6, 7)  # six scopes, and the books of a server
    assert shown[-1][0] == shown[-1][1] == done.memories
    assert new.check(repair=False) == []


def test_the_moved_store_answers_the_same(pair: tuple[Engine, Engine]) -> None:
    old, new = pair
    fill(old)
    move(old, new, "there")
    answers = []
    for engine in pair:
        service = Service(engine, Hashing(), FakeClock())
        service.learner.worker.stop()  # the jobs that were moved may be done at any time
        memory = Memory("team", backend=OfTenant(service, "local"))
        hits = [(hit.id, hit.score) for hit in memory.recall("tea7 and tea250", 20)]
        history = [memory.history(hit.id) for hit in memory.recall("another word", 1)]
        answers.append((hits, history, list(memory.export()), memory.list(limit=20).memories))
        again = memory.append("log", "x", idempotency_key="once")
        assert again.value == ["x"]  # a retry is known in the new store, too
        assert memory.set("gone", 1).version == 2  # and no version comes again
    assert answers[0] == answers[1]


def test_what_was_forgotten_stays_so_in_the_new_store(pair: tuple[Engine, Engine]) -> None:
    """A write that a client sends again must not bring back what was forgotten before the move."""
    old, new = pair
    fill(old)
    move(old, new, "there")
    told = []
    for engine in pair:
        service = Service(engine, Hashing(), FakeClock())
        memory = Memory("forgotten", backend=OfTenant(service, "acme"))
        receipt = memory.forget(everything=True, idempotency_key="forgotten")
        with pytest.raises(NotFound):
            memory.remember("forgotten", id="f", idempotency_key="told")
        with pytest.raises(NotFound):
            memory.read("f")
        told.append((receipt, memory.set("key", 1).version))
    assert told[0] == told[1]
    assert told[0][1] > 3


def test_there_and_back_again_is_the_same(pair: tuple[Engine, Engine], tmp_path: Path) -> None:
    old, new = pair
    fill(old)
    told = laid_open(old)
    move(old, new, "there")
    third = open_engine(f"sqlite:///{tmp_path / 'third.db'}")
    move(new, third, "back")
    assert laid_open(third) == told
    third.close()


def test_what_is_written_meanwhile_is_moved_too(pair: tuple[Engine, Engine]) -> None:
    old, new = pair
    fill(old)
    memory = Memory("team", backend=OfTenant(Service(old, Hashing(), FakeClock()), "local"))
    writes = threading.Thread(target=lambda: [memory.remember(f"meanwhile {n}") for n in range(60)])

    def begin(done: int, of: int) -> None:
        if writes.ident is None:
            writes.start()

    move(old, new, "there", begin)
    writes.join()
    begun_anew = new.house().look(lambda it: len(it.memories(Place("local", "team"), 0, 10_000)))
    assert begun_anew >= NOTES
    new.house().settle(lambda it: it.clear(Place("local", "team")))
    move(old, new, "there")  # whatever came after the last look
    assert laid_open(new) == laid_open(old)


def test_a_move_that_was_broken_off_goes_on(
    pair: tuple[Engine, Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = pair
    fill(old)
    told: list[tuple[int, int]] = []

    def break_off(*at: int) -> None:
        told.append((at[0], at[1]))
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        move(old, new, "there", break_off)
    assert 0 < len(new.house().look(lambda it: it.places())) < 7
    done = move(old, new, "there")
    assert done.copied == 4  # three were there already
    assert laid_open(new) == laid_open(old)
    assert move(old, new, "there").copied == 0


def test_nothing_of_anybody_else_is_overwritten(pair: tuple[Engine, Engine]) -> None:
    old, new = pair
    fill(old)
    service = Service(new, Hashing(), FakeClock())
    Memory("team", backend=OfTenant(service, "local")).remember("mine")
    before = laid_open(new)
    with pytest.raises(Conflict, match="other memories"):
        move(old, new, "there")
    assert laid_open(new) == before


def test_a_move_into_what_another_move_began_is_refused(pair: tuple[Engine, Engine]) -> None:
    old, new = pair
    fill(old)
    with pytest.raises(KeyboardInterrupt):
        move(old, new, "there", partial(_stop))
    with pytest.raises(Conflict, match="other memories"):
        move(old, new, "elsewhere")


def _stop(done: int, of: int) -> None:
    raise KeyboardInterrupt


def test_the_command_moves_both_ways(url: str, postgres_url: str, tmp_path: Path) -> None:
    with Memory("team", url, embedder="hashing") as memory:
        memory.remember("likes tea")
    back = f"sqlite:///{tmp_path / 'back.db'}"
    digests = set()
    for source, target in ((url, postgres_url), (postgres_url, back)):
        done = CliRunner().invoke(app, ["migrate-store", source, target, "--json"])
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        assert (told["places"], told["memories"]) == (1, 1)
        digests.add(told["digest"])
    assert len(digests) == 1
    said = CliRunner().invoke(app, ["migrate-store", url, postgres_url])
    assert "1 scope with 1 row" in said.stdout
    with Memory("team", back, embedder="hashing") as memory:
        assert memory.recall("tea")[0].content == "likes tea"
