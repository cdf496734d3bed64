"""A writer process: lanes of operations on one open store, told to their journals, until killed."""

from __future__ import annotations

import inspect
import itertools
import json
import os
import random
import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import psycopg

from benchmarks.faults import acts, homes, plants
from benchmarks.faults.embedders import FAILING
from benchmarks.faults.marks import MARK, scope_of
from benchmarks.faults.model import Intent, Lane, Memo
from benchmarks.faults.store import Clock, Open, blame, recall
from holdfast import EmbedderMismatch, HoldfastError, Memory, NotFound
from holdfast.embed import Embedder
from holdfast.embed.guard import Guarded
from holdfast.engine import uses

LOOK = 0.25  # so often a lane looks at what it has just done
TWICE = 0.08  # so often an operation is delivered twice, as by a client that lost the answer
TRY_AGAIN = 0.3  # so often a refused operation is tried again
SPRINT = 20  # operations a lane does at full speed
PACE = 0.02  # seconds it rests after each one then, at most: a store must stay checkable
BACK_OFF = 0.005  # seconds a refused lane waits
JUMP = 0.15  # so often a jumping clock jumps
BUSY_SECONDS = 0.2  # how long a writer waits for a foreign lock, instead of the library's thirty
PATIENCE = 0.2  # seconds given to an embedder that hangs, instead of the library's ten
FLUSH_SECONDS = 0.02  # counted uses are written this often, so that a short life sees it too
NOT_TWICE = {"purge", "backup", "reembed", "import"}  # take no idempotency key
MAY_BE_REFUSED = {
    "locked by another": {"Busy"},
    "disk full": {"StoreFull", "Unavailable"},
    "kill in reembed": {"EmbedderMismatch"},
    "kill in purge": {"Busy"},  # of the purge: somebody reads all the time
    "clock jumps": {"Busy"},
}


@dataclass
class Orders:
    """What a writer process is to do."""

    url: str
    lanes: list[Lane]
    seed: object
    fault: str
    mixes: list[Mapping[str, int]]  # of operations, for each lane
    mode: str = ""  # of the embedder
    offset: float = 0.0  # of the clock, seconds
    jumps: bool = False
    plant: str | None = None
    die_at: int = 0  # at this SQL statement; 0 is never
    file_bytes: int = 0  # no file may grow beyond; 0 is no limit
    rng: random.Random = field(default_factory=random.Random)


def write(orders: Orders) -> NoReturn:
    """The life of a writer process."""
    code = 1
    try:
        _prepare(orders)
        store = Open(orders.url, Clock(orders.offset), orders.mode)
        lanes = [
            _Lane(orders, lane, mix, store)
            for lane, mix in zip(orders.lanes, orders.mixes, strict=True)
        ]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        code = 0
    except HoldfastError as error:
        for lane_model in orders.lanes:
            _told_at_opening(orders, lane_model, error)
        code = 0
    except BaseException as error:
        tell(orders.lanes[0], bad="wrong", what=blame(error))
    os._exit(code)


def _told_at_opening(orders: Orders, lane: Lane, error: HoldfastError) -> None:
    if type(error).__name__ not in MAY_BE_REFUSED.get(orders.fault, ()):
        tell(lane, bad="wrong", what=f"cannot open: {blame(error)}")


def _prepare(orders: Orders) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver ends us, not the terminal
    if orders.plant:
        plants.plant(orders.plant)
    assert hasattr(uses, "FLUSH_SECONDS")
    uses.FLUSH_SECONDS = FLUSH_SECONDS
    if orders.file_bytes:
        resource.setrlimit(resource.RLIMIT_FSIZE, (orders.file_bytes, orders.file_bytes))
    if orders.mode == "hanging":
        _lose_patience()
    if orders.fault == "locked by another":
        _connect_with(timeout=BUSY_SECONDS, factory=_Impatient)
    if orders.die_at and homes.is_file(orders.url):
        _connect_with(factory=_mortal(orders.die_at))
    elif orders.die_at:
        _die_at(orders.die_at)


def _lose_patience() -> None:
    """Makes the guard give up an embedder that hangs after a moment, not after ten seconds."""
    make = Guarded.__init__
    assert "patience" in inspect.signature(make).parameters

    def made(self: Guarded, embedder: Embedder, *args: Any, **named: Any) -> None:
        make(self, embedder, *args, **{"patience": PATIENCE, **named})

    Guarded.__init__ = made  # type: ignore[method-assign]  # for this process only


def _connect_with(**changed: Any) -> None:
    """Makes SQLite's connections of this process other than the library asks for."""
    connect = sqlite3.connect
    sqlite3.connect = lambda *args, **named: connect(*args, **{**named, **changed})


class _Impatient(sqlite3.Connection):
    """Waits for a lock no longer than we do, whatever it is told."""

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        if sql.startswith("PRAGMA busy_timeout"):
            sql = f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}"
        return super().execute(sql, *values)


def _mortal(countdown: int) -> type[sqlite3.Connection]:
    """Connections that kill this process as SQLite begins the nth statement of all of them."""
    left = [countdown]

    class Mortal(sqlite3.Connection):
        def __init__(self, *args: Any, **named: Any) -> None:
            super().__init__(*args, **named)
            self.set_trace_callback(count)

    def count(_: str) -> None:
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    return Mortal


def _die_at(countdown: int) -> None:
    """Kills this process as it sends the nth statement to a PostgreSQL."""
    send, left = psycopg.Connection.execute, [countdown]

    def counted(self: psycopg.Connection[Any], *args: Any, **named: Any) -> Any:
        left[0] -= 1
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return send(self, *args, **named)

    psycopg.Connection.execute = counted  # type: ignore[method-assign]  # for this process only


def tell(lane: Lane, **line: Any) -> None:
    """Appends a line to the journal in one call, so that a kill loses nothing once told."""
    descriptor = os.open(lane.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, b"\n" + json.dumps(line).encode() + b"\n")
    finally:
        os.close(descriptor)


class _Lane(threading.Thread):
    """One lane at work."""

    def __init__(self, orders: Orders, lane: Lane, mix: Mapping[str, int], store: Open) -> None:
        super().__init__(name=lane.name, daemon=True)
        self._orders = orders
        self._lane = lane
        self._store = store
        self._rng = random.Random(f"{orders.seed}/{lane.name}/{lane.number}/look")
        self._plan = acts.Planner(lane, orders.seed, mix, store.clock.seconds)

    def run(self) -> None:
        try:
            for done in itertools.count():
                if self._lane.pending is not None:
                    self._act({**self._lane.pending, "at": self._store.clock.seconds()})
                else:
                    self._act(self._plan.next())
                if done > SPRINT:
                    time.sleep(self._rng.uniform(0, PACE))
        except OSError:
            return  # the journal cannot be written: nothing can be done any more
        except BaseException as error:
            self._bad("wrong", f"a lane ended: {blame(error)}")

    def _bad(self, kind: str, what: str) -> None:
        tell(self._lane, bad=kind, what=what)

    def _act(self, intent: Intent, tries: int = 2) -> None:
        if self._orders.jumps and self._rng.random() < JUMP:
            self._store.clock.offset = self._rng.choice((-acts.DAY, 0.0, acts.DAY))
            intent["at"] = self._store.clock.seconds()
        memory = self._store.memory(intent["scope"])
        if intent["do"] == "cas" and "if_version" not in intent:
            intent["if_version"] = acts.seen_version(memory, intent["key"])
        tell(self._lane, **intent)
        self._lane.begin(intent)
        told = self._ask(memory, intent)
        tell(self._lane, **told)
        self._lane.end(told)
        if "ok" in told:
            self._after(intent, told["ok"])
        elif "error" in told:
            time.sleep(BACK_OFF)
            if tries and not self._lane.pending and self._rng.random() < TRY_AGAIN:
                self._act(intent, tries - 1)

    def _ask(self, memory: Memory, intent: Intent) -> dict[str, Any]:
        answer: dict[str, Any]
        try:
            answer = {"ok": acts.perform(memory, intent)}
        except HoldfastError as error:
            answer = {"error": type(error).__name__}
            self._judge_refusal(intent, error)
        except Exception as error:
            answer = {"surprise": intent["do"]}
            self._bad("wrong", f"{intent['do']}: {blame(error)}")
        return {"n": intent["n"], "at": self._store.clock.seconds(), **answer}

    def _judge_refusal(self, intent: Intent, error: HoldfastError) -> None:
        name = type(error).__name__
        if isinstance(error, EmbedderMismatch):
            self._store.reopen()
        if name in MAY_BE_REFUSED.get(self._orders.fault, ()):
            return
        if intent["do"] == "cas" and name == "Conflict":
            return
        if name == "NotFound" and _may_be_over(intent):
            return
        self._bad("wrong", f"{intent['do']} was refused: {blame(error)}")

    # --- looking at what was done ---

    def _after(self, intent: Intent, answer: dict[str, Any]) -> None:
        self._judge_answer(intent, answer)
        try:
            memory = self._store.memory(intent["scope"])
            if self._rng.random() < TWICE:
                self._deliver_twice(memory, intent, answer)
            if self._rng.random() < LOOK:
                self._look(memory, intent)
        except EmbedderMismatch:
            self._store.reopen()
        except Exception as error:  # a reader need not wait for a lock, or for room on a disk
            self._bad("wrong", f"looking after {intent['do']}: {blame(error)}")

    def _judge_answer(self, intent: Intent, answer: dict[str, Any]) -> None:
        do = intent["do"]
        if do in ("remember", "remember_many") and not all(answer["created"]):
            self._bad("duplicate", f"{do} {intent['n']} of new words was told they are known")
        if do == "again" and (
            any(answer["created"]) or answer["ids"] != [self._lane.memos[intent["memo"]].id]
        ):
            self._bad("duplicate", f"the same words again made {answer}")
        if do == "import" and answer["taken"] != len(intent["items"]):
            self._bad("lost", f"import took {answer['taken']} of {len(intent['items'])}")
        if do == "revise" and answer["content"] != intent["content"]:
            self._bad("lost", f"revise answered with other words: {answer}")

    def _deliver_twice(self, memory: Memory, intent: Intent, answer: dict[str, Any]) -> None:
        if intent["do"] in NOT_TWICE:
            return
        try:
            again = acts.perform(memory, intent)
        except HoldfastError as error:
            self._judge_refusal(intent, error)
            return
        if again != answer:
            self._bad("duplicate", f"{intent['do']} told twice: {answer}, then {again}")

    def _look(self, memory: Memory, intent: Intent) -> None:
        """Reads its own writes, by every way that is cheap."""
        for memo in self._lane.meant(intent)[:2]:
            if memo.lives is None:
                self._find(memory, memo)
        gone = [memo for memo in self._lane.memos.values() if memo.status == "gone"]
        if gone:
            memo = self._rng.choice(gone)
            self._miss(self._store.memory(memo.scope), memo)

    def _find(self, memory: Memory, memo: Memo) -> None:
        if memo.status != "alive" or memo.id is None:
            return
        if memory.read(memo.id).content != memo.texts[-1]:
            self._bad("lost", f"read({memo.id}) gives other words than were acknowledged")
        hits = recall(memory, memo.marks[-1], limit=5)
        if memo.id not in [hit.id for hit in hits]:
            self._bad("lost", f"recall({memo.marks[-1]!r}) does not find what this lane wrote")
        if self._orders.mode in FAILING and hits.degraded is None:
            self._bad("wrong", f"recall does not say degraded: the embedder is {self._orders.mode}")
        self._only_mine(memory, [hit.content for hit in hits])

    def _miss(self, memory: Memory, memo: Memo) -> None:
        assert memo.id is not None
        if _there(lambda: memory.read(memo.id or "")):
            self._bad("undead", f"read({memo.id}) gives a forgotten memory")
        hits = recall(memory, memo.texts[-1], limit=5)
        if any(memo.mark in hit.content for hit in hits):
            self._bad("undead", f"recall gives forgotten {memo.mark}")
        self._only_mine(memory, [hit.content for hit in hits])

    def _only_mine(self, memory: Memory, texts: list[str]) -> None:
        for found in MARK.findall(" ".join(texts)):
            if scope_of(found) != memory.scope:
                self._bad("leaked", f"{memory.scope} was shown {found}")


def _may_be_over(intent: Intent) -> bool:
    """Whether what an earlier try wrote may have expired before this one."""
    return bool(intent.get("ttl") or any(item["ttl"] for item in intent.get("items", ())))


def _there(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except NotFound:
        return False
    return True
