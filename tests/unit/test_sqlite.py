"""How the SQLite engine commits: in groups, durably, each failure its own."""

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.embed.hashing import Hashing
from holdfast.engine import Place, Transaction, sqlite
from holdfast.engine.sqlite import SQLite, _Work
from holdfast.engine.sqlite.rows import NO_SCOPE
from holdfast.errors import Closed, NotFound, StoreBroken
from holdfast.model import Entry
from tests.waiting import until

NOW = datetime(2026, 5, 3, tzinfo=timezone.utc)
SLOW = Place("default", "slow")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "memory.db"


@pytest.fixture
def engine(path: Path) -> Iterator[SQLite]:
    engine = SQLite(str(path))
    yield engine
    engine.close()


def test_writes_behind_a_full_group_are_done_before_they_are_answered(
    engine: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "GROUP", 2)
    first, second = threading.Event(), threading.Event()

    def slow(tx: object) -> str:
        first.set()
        assert second.wait(60)
        return "slow"

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(engine.write, slow)]
        assert first.wait(60)
        asked += [pool.submit(engine.write, lambda tx, at=at: at) for at in range(7)]
        until(lambda: len(engine._queue) == 7)
        second.set()
        assert [one.result(60) for one in asked] == ["slow", *range(7)]
    assert engine.write(lambda tx: "and on") == "and on"


@pytest.mark.parametrize("leads", [False, True])
def test_a_caller_who_is_interrupted_while_it_waits_stops_nobody(
    engine: SQLite, leads: bool
) -> None:
    gone = _Work(lambda tx: pytest.fail("nobody waits for this any more"))
    behind = _Work(lambda tx: "behind")
    gone.leads = engine._led = leads
    engine._queue += [gone, behind] if leads else [gone]
    engine._leave(gone)
    assert behind.leads is leads
    if leads:
        assert behind.wake.acquire(timeout=1)
        engine._lead()
        assert behind.answer() == "behind"
    assert engine.write(lambda tx: "mine") == "mine"


def test_a_caller_who_is_interrupted_while_its_group_is_done_is_passed_over(
    engine: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead, begun, left = threading.Event(), threading.Event(), threading.Event()

    class Hasty(_Work[Any]):
        """A work whose caller is interrupted once its group is begun."""

        def __init__(self, run: Any) -> None:
            super().__init__(run)
            if run("who") == "gone":
                self.wake = self  # type: ignore[assignment]

        def acquire(self) -> None:
            assert begun.wait(60)
            raise KeyboardInterrupt

        def release(self) -> None:
            """Nobody waits."""

    def first(tx: object) -> str:
        if tx != "who":
            begun.set()
            assert left.wait(60)
        return "first"

    def write(name: str) -> str:
        try:
            return engine.write(first if name == "first" else lambda tx: name)
        finally:
            if name == "gone":
                left.set()

    monkeypatch.setattr(sqlite, "_Work", Hasty)
    with ThreadPoolExecutor(4) as pool:
        ready = pool.submit(engine.write, lambda tx: tx == "who" or ahead.wait(60))
        until(lambda: engine._led and not engine._queue)
        asked = []
        for number, name in enumerate(("first", "gone", "last"), 1):
            asked.append(pool.submit(write, name))
            until(lambda number=number: len(engine._queue) == number)  # type: ignore[misc]
        ahead.set()
        assert ready.result(60)
        assert (asked[0].result(60), asked[2].result(60)) == ("first", "last")
        with pytest.raises(KeyboardInterrupt):
            asked[1].result(60)


def test_works_that_wait_together_are_one_transaction(engine: SQLite, path: Path) -> None:
    place, entry = Place("local", "s"), Entry(key="k", value=1, version=1, updated_at=NOW)
    works = [_Work(lambda tx: tx.put_entry(place, entry)) for _ in range(5)]
    engine._queue.extend(works)
    begun: list[str] = []
    writer = engine._connections._writer
    assert writer is not None
    writer.set_trace_callback(lambda sql: begun.append(sql) if sql.startswith("BEGIN") else None)
    engine.write(lambda tx: None)
    assert all(work.done for work in works)
    assert begun == ["BEGIN IMMEDIATE"]


def test_who_wrote_in_the_last_group_is_waited_for(
    engine: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "GATHER_SECONDS", 60.0)
    engine._company = 2
    groups: list[int] = []
    commit = engine._commit

    def counted(group: list[Any]) -> None:
        groups.append(len(group))
        commit(group)

    monkeypatch.setattr(engine, "_commit", counted)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(engine.write, lambda tx: "first")
        until(lambda: len(engine._queue) == 1)
        assert engine.write(lambda tx: "second") == "second"
        assert first.result(60) == "first"
    assert groups == [2]


def test_who_does_not_write_again_is_waited_for_once(
    engine: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine._company = 2
    assert engine.write(lambda tx: "alone") == "alone"
    monkeypatch.setattr(sqlite, "GATHER_SECONDS", 600.0)
    assert engine.write(lambda tx: "at once") == "at once"


def test_a_failure_in_a_group_is_its_own(engine: SQLite) -> None:
    def fail(tx: object) -> None:
        raise NotFound("not here")

    works: list[_Work[Any]] = [_Work(lambda tx: 5), _Work(fail), _Work(lambda tx: 7)]
    engine._queue.extend(works)
    assert engine.write(lambda tx: "mine") == "mine"
    assert [type(work.error) for work in works] == [type(None), NotFound, type(None)]
    assert (works[0].answer(), works[2].answer()) == (5, 7)


def test_every_connection_waits_for_the_disk(engine: SQLite, path: Path) -> None:
    with engine._connections.reader() as db:
        assert db.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    writer = engine._connections._writer
    assert writer is not None
    for db in (*engine._connections._idle, writer):
        assert db.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL
        assert db.execute("PRAGMA secure_delete").fetchone()[0] == 2


def test_what_is_asked_alone_is_seen_as_it_is_now_and_holds_nothing(engine: SQLite) -> None:
    for version in (1, 2, 3):
        entry = Entry(key="k", value=[version], version=version, updated_at=NOW)

        def put(tx: Transaction, entry: Entry = entry) -> None:
            tx.put_entry(SLOW, entry)

        engine.write(put)
        assert engine.read(lambda seen: seen.entry(SLOW, "k"), alone=True) == entry
    assert not any(db.in_transaction for db in engine._connections._idle)
    with pytest.raises(StoreBroken):
        engine.read(lambda seen: seen._one("entry", 2**70, "", ""), alone=True)  # type: ignore[attr-defined]
    assert engine._connections._reading == 0


def test_the_file_says_whose_it_is(engine: SQLite, path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA application_id").fetchone()[0] == int.from_bytes(b"Hold", "big")


def test_a_closed_engine_is_closed(engine: SQLite) -> None:
    engine.close()
    engine.close()
    with pytest.raises(Closed):
        engine.read(lambda seen: None)
    with pytest.raises(Closed):
        engine.write(lambda tx: None)


@contextmanager
def under_way(engine: SQLite) -> Iterator[tuple[threading.Event, Future[Any]]]:
    """A write that has begun, what lets it end, and what it answers."""
    begun, end = threading.Event(), threading.Event()

    def slow(tx: Transaction) -> int:
        begun.set()
        assert end.wait(60)
        return tx.make_scope(SLOW)  # type: ignore[attr-defined,no-any-return]

    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(engine.write, slow)
        assert begun.wait(60)
        try:
            yield end, asked
        finally:
            end.set()


def test_a_write_under_way_when_the_store_is_closed_is_kept(engine: SQLite, path: Path) -> None:
    with under_way(engine) as (end, asked):
        engine.close()
        end.set()
        assert asked.result(60)
    with pytest.raises(Closed):
        engine.write(lambda tx: None)
    with closing(SQLite(str(path))) as again:
        assert again.read(lambda seen: seen.scope(SLOW)) != NO_SCOPE  # type: ignore[attr-defined]


def test_closing_while_others_write_crashes_nothing(tmp_path: Path) -> None:
    program = f"""
import threading
from holdfast.engine.sqlite import SQLite
from holdfast.errors import Closed

def write(engine, begun):
    try:
        while True:
            engine.write(lambda tx: None)
            begun.set()
    except Closed:
        pass

for turn in range(40):
    engine, begun = SQLite({str(tmp_path)!r} + f"/{{turn}}.db"), threading.Event()
    thread = threading.Thread(target=write, args=(engine, begun))
    thread.start()
    begun.wait()
    engine.close()
    thread.join()
"""
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], check=True, timeout=240)


def test_a_fork_leaves_the_seat_to_a_writer_that_takes_too_long(
    engine: SQLite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "FORK_SECONDS", 0.01)
    with under_way(engine) as (end, asked):
        engine.before_fork()
        engine.after_fork_in_parent()
        assert engine._seat.locked()
        end.set()
        assert asked.result(60)
    assert engine.write(lambda tx: "and on") == "and on"


def test_a_statement_that_fails_is_a_typed_error_and_leaves_no_transaction(
    engine: SQLite,
) -> None:
    with pytest.raises(StoreBroken, match="no such table"):
        engine.write(lambda tx: tx.db.execute("SELECT * FROM nowhere"))  # type: ignore[attr-defined]
    assert engine.write(lambda tx: 1) == 1


def test_a_forked_child_touches_no_connection_of_its_parent(engine: SQLite) -> None:
    engine.read(lambda seen: None)
    parents = [engine._connections._writer, *engine._connections._idle]
    engine.after_fork_in_child()
    mine = [engine.write(lambda tx: tx.db), engine.read(lambda seen: seen.db)]  # type: ignore[attr-defined]
    assert not any(db is other for db in mine for other in parents)
    for db in parents:
        assert db is not None
        assert db.execute("SELECT 1").fetchone()  # open still: to close it would free its locks
        db.close()


def test_a_use_of_what_another_forgot_leaves_the_index_right(url: str) -> None:
    with (
        Memory("s", url, embedder=Hashing()) as memory,
        Memory("s", url, embedder=Hashing()) as other,
    ):
        told = [memory.remember(f"green tea number {n}").id for n in range(4)]
        assert len(memory.recall("green tea")) == 4
        for id in told[1:]:
            other.forget(id)
        assert len(memory.recall("green tea")) == 1
        memory.remember("what is counted is written along with this")
        for _ in range(3):
            assert [hit.id for hit in memory.recall("green tea")] == told[:1]


class Late:
    """A lock behind which one thread comes late: after the lead was given to it."""

    def __init__(self, engine: SQLite, name: str, go: threading.Event) -> None:
        self._engine, self._lock = engine, engine._queue_lock
        self._name, self._go = name, go

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        mine = self._engine._queue[-1:]
        self._lock.release()
        if threading.current_thread().name == self._name and mine and not self._go.is_set():
            self._go.set()
            until(lambda: mine[0].leads)


def test_a_writer_given_the_lead_before_it_waits_is_woken_once(engine: SQLite) -> None:
    busy, go, done = threading.Event(), threading.Event(), list[str]()

    def slow(tx: Transaction) -> None:
        busy.set()
        assert go.wait(60)

    def write(work: Callable[[Transaction], None]) -> None:
        engine.write(work)
        done.append(threading.current_thread().name)

    engine._queue_lock = Late(engine, "late", go)  # type: ignore[assignment]
    first = threading.Thread(target=write, args=(slow,), name="first")
    late = threading.Thread(target=write, args=(lambda tx: None,), name="late")
    first.start()
    assert busy.wait(60)
    late.start()
    for thread in (first, late):
        thread.join(60)
    assert sorted(done) == ["first", "late"]
    assert not engine._led
