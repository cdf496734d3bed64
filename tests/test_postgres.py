"""The PostgreSQL engine alone: its walls, its locks, and what happens when it is let down."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import psycopg
import pytest

from holdfast import (
    Busy,
    Closed,
    Conflict,
    Invalid,
    Memory,
    StoreBroken,
    StoreReadOnly,
    StoreTooNew,
    Unavailable,
    ops,
)
from holdfast.backend import open_backend
from holdfast.embed.hashing import Hashing
from holdfast.engine import Engine, Place, Transaction, open_engine
from holdfast.engine.ledger import Job
from holdfast.engine.postgres import Postgres, connections, schema
from holdfast.engine.postgres.rows import Rows
from holdfast.engine.postgres.statements import migrations
from holdfast.service import Service
from tests.proxy import Proxy
from tools.postgres import database_url

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
VALUES = {"text": "x", "bigint": 1, "integer": 1, "bytea": b"x", "ARRAY": []}


@pytest.fixture
def engine(postgres_url: str) -> Iterator[Postgres]:
    engine = Postgres(postgres_url)
    yield engine
    engine.close()


def admin(postgres: str, url: str) -> psycopg.Connection[Any]:
    """A superuser's connection to the same database."""
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    return psycopg.connect(postgres, dbname=str(name), autocommit=True)


def owned(db: psycopg.Connection[Any]) -> dict[str, dict[str, str]]:
    """Every table of a tenant's, with its columns and their types; partitions are tables, too."""
    tables: dict[str, dict[str, str]] = {}
    for table, column, kind in db.execute(
        "SELECT table_name, column_name, data_type FROM information_schema.columns "
        "WHERE table_schema = 'holdfast' ORDER BY table_name, ordinal_position"
    ):
        tables.setdefault(table, {})[column] = kind
    return {table: columns for table, columns in tables.items() if "tenant" in columns}


def insert(db: psycopg.Connection[Any], table: str, columns: dict[str, str], tenant: str) -> None:
    told = {name: VALUES[kind] for name, kind in columns.items()} | {"tenant": tenant}
    if "id" in told:
        told["id"] = tenant
    marks = ",".join(["%s"] * len(told))
    db.execute(
        f"INSERT INTO holdfast.{table} ({','.join(told)}) VALUES ({marks})".encode(),
        list(told.values()),
    )


# --- the second wall ---


def test_a_transaction_sees_the_rows_of_its_tenant_in_every_table(
    postgres: str, postgres_url: str
) -> None:
    with admin(postgres, postgres_url) as db:
        tables = {name: kinds for name, kinds in owned(db).items() if not name[-1].isdigit()}
        for table, columns in tables.items():
            for tenant in ("ann", "bob"):
                insert(db, table, columns, tenant)
    assert len(tables) >= 20
    with psycopg.connect(postgres_url) as db:
        for table in owned(db):  # each partition by itself, too
            asked = f"SELECT DISTINCT tenant FROM holdfast.{table}".encode()
            db.execute("SELECT set_config('holdfast.tenant', '', true)")
            assert db.execute(asked).fetchall() == [], table
            db.execute("SELECT set_config('holdfast.tenant', 'ann', true)")
            assert db.execute(asked).fetchall() in ([("ann",)], []), table
            assert db.execute(asked).fetchall() == [("ann",)] or table not in tables
            db.execute("SELECT set_config('holdfast.tenant', ' *', true)")
            assert set(db.execute(asked).fetchall()) <= {("ann",), ("bob",)}


def test_no_row_can_be_written_for_another_tenant(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as db:
        for table, columns in owned(db).items():
            if table[-1].isdigit():
                continue
            db.execute("SELECT set_config('holdfast.tenant', 'ann', false)")
            with pytest.raises(psycopg.errors.InsufficientPrivilege), db.transaction():
                insert(db, table, columns, "bob")
            insert(db, table, columns, "ann")


def test_the_wall_stands_even_where_a_statement_forgets_its_tenant(engine: Postgres) -> None:
    service = Service(engine, Hashing())
    for tenant in ("ann", "bob"):
        service.do(ops.Remember(scope="s", draft=ops.draft(f"{tenant} likes tea")), tenant)
    with engine._connections.session("begin_read") as db:
        db.enter("ann")
        found = db.run("SELECT content FROM holdfast.memories").fetchall()
    assert found == [("ann likes tea",)]


# --- the schema ---


def test_many_may_open_a_new_database_at_once(bare_url: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        engines = list(pool.map(lambda _: open_engine(bare_url), range(8)))
    with psycopg.connect(bare_url) as db:
        assert db.execute("SELECT count(*) FROM holdfast.format").fetchone() == (1,)
    for engine in engines:
        engine.close()


def test_a_store_of_a_newer_version_is_refused(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as db:
        db.execute("UPDATE holdfast.format SET version = 99")
    with pytest.raises(StoreTooNew, match="format 99"):
        open_engine(postgres_url)


def test_a_foreign_schema_of_the_same_name_is_left_alone(bare_url: str) -> None:
    with psycopg.connect(bare_url) as db:
        db.execute("CREATE SCHEMA holdfast")
    with pytest.raises(StoreBroken, match="not ours"):
        open_engine(bare_url)


def test_a_migration_that_fails_leaves_nothing(
    bare_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = [*migrations(), (2, "CREATE TABLE holdfast.more (); SELECT 1 / 0")]
    monkeypatch.setattr(schema, "migrations", lambda: steps)
    with pytest.raises(StoreBroken):
        open_engine(bare_url)
    with psycopg.connect(bare_url) as db:
        assert db.execute("SELECT to_regnamespace('holdfast')").fetchone() == (None,)


def test_an_older_store_is_brought_up_to_date(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_one = migrations()[-1][0] + 1
    steps = [*migrations(), (next_one, "CREATE TABLE holdfast.more ()")]
    monkeypatch.setattr(schema, "migrations", lambda: steps)
    open_engine(postgres_url).close()
    with psycopg.connect(postgres_url) as db:
        assert db.execute("SELECT version FROM holdfast.format").fetchone() == (next_one,)
        db.execute("SELECT * FROM holdfast.more")


def test_the_planner_notes_nothing_that_was_said(postgres: str, postgres_url: str) -> None:
    """Its notes are values of columns, and would outlive a purge."""
    with Memory("s", postgres_url, embedder="hashing") as memory:
        memory.remember_many([{"content": f"platypus{n}", "tags": ["otter"]} for n in range(300)])
        memory.set("platypus", "platypus")
    with psycopg.connect(
        postgres, dbname=psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"]
    ) as db:
        db.execute("ANALYZE")
        noted = db.execute(
            "SELECT stats::text FROM pg_stats AS stats WHERE schemaname = 'holdfast'"
        )
        told = " ".join(row[0] for row in noted)
    assert "local" in told  # there are notes
    assert "platypus" not in told
    assert "otter" not in told


# --- what cannot be opened ---


def test_a_store_of_the_first_format_knows_how_much_it_holds(postgres_url: str) -> None:
    with Memory("s", postgres_url, embedder="hashing") as memory:
        memory.remember_many([f"note {n} about tea" for n in range(20)])
    with psycopg.connect(postgres_url) as db:  # as the first format was
        for step in (
            "ALTER TABLE holdfast.scopes DROP COLUMN held, DROP COLUMN terms, DROP COLUMN near",
            "DROP TABLE holdfast.marks",
            "ALTER TABLE holdfast.keys DROP COLUMN role",
            "ALTER TABLE holdfast.memories DROP COLUMN via",
            "ALTER TABLE holdfast.tellings DROP COLUMN via",
            "UPDATE holdfast.format SET version = 1",
        ):
            db.execute(step.encode())
    with Memory("s", postgres_url, embedder="hashing") as memory:
        assert memory.recall("note 7", 1)[0].content == "note 7 about tea"
        assert memory.doctor().findings == ()


def test_bad_urls_are_told_apart(postgres: str, postgres_url: str) -> None:
    for url, said in (
        (database_url(postgres, "nowhere_at_all"), "There is no PostgreSQL nowhere_at_all"),
        ("postgresql://?nonsense=1", "not a URL"),
    ):
        with pytest.raises(Invalid, match=said):
            Memory("s", url)


def test_an_error_shows_no_password(postgres: str) -> None:
    with pytest.raises(Invalid) as caught:
        Memory("s", database_url(postgres, "nowhere") + "&application_name=secret")
    assert "secret" not in str(caught.value)


def test_a_replica_says_that_it_only_reads(postgres: str, postgres_url: str) -> None:
    with Memory("s", postgres_url, embedder="hashing") as memory:
        memory.remember("likes tea")
    name = str(psycopg.conninfo.conninfo_to_dict(postgres_url)["dbname"])
    with admin(postgres, postgres_url) as db:
        db.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    with Memory("s", postgres_url, embedder="hashing") as memory:
        assert memory.recall("tea")[0].content == "likes tea"
        with pytest.raises(StoreReadOnly, match="primary"):
            memory.remember("likes coffee")


# --- many at once ---


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What each of many threads got, all started together."""
    gate = threading.Barrier(count)

    def run(number: int) -> Any:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


@pytest.fixture
def two(postgres_url: str) -> Iterator[list[Memory]]:
    """The same scope in two engines, as two processes would have it."""
    clocks = [lambda: datetime.now(timezone.utc) for _ in range(2)]
    memories = [Memory("s", backend=open_backend(postgres_url, "hashing", c)) for c in clocks]
    yield memories
    for memory in memories:
        memory.close()


def test_of_many_that_compare_and_set_one_wins(two: list[Memory]) -> None:
    version = two[0].set("leader", None).version

    def claim(number: int) -> bool:
        try:
            two[number % 2].set("leader", number, if_version=version)
        except Conflict:
            return False
        return True

    won = in_threads(12, claim)
    assert sum(won) == 1
    assert two[0].get("leader") == won.index(True)


def test_of_many_that_create_a_key_in_a_new_scope_one_wins(postgres_url: str) -> None:
    clocks = [lambda: NOW for _ in range(2)]
    opened = [Memory("new", backend=open_backend(postgres_url, "hashing", c)) for c in clocks]

    def create(number: int) -> bool:
        try:
            opened[number % 2].set("leader", number, if_version=0)
        except Conflict:
            return False
        return True

    assert sum(in_threads(8, create)) == 1
    for memory in opened:
        memory.close()


def test_one_idempotency_key_writes_once_wherever_it_comes_in(two: list[Memory]) -> None:
    done = in_threads(12, lambda n: two[n % 2].increment("n", idempotency_key="once"))
    assert {entry.value for entry in done} == {1}


def test_the_same_words_from_everywhere_are_one_memory(two: list[Memory]) -> None:
    done = in_threads(12, lambda n: two[n % 2].remember("the tea is green"))
    assert len({one.id for one in done}) == 1
    assert sum(one.created for one in done) == 1


def test_every_entry_of_a_shared_log_is_kept(two: list[Memory]) -> None:
    in_threads(8, lambda n: [two[n % 2].append("log", [n, i]) for i in range(10)])
    log = two[0].get("log")
    assert len(log) == 80
    assert all([i for m, i in log if m == n] == list(range(10)) for n in range(8))


def test_what_one_writes_the_other_recalls_at_once(two: list[Memory]) -> None:
    for n in range(30):
        two[n % 2].remember(f"the number of the day is secret{n}")
        assert two[(n + 1) % 2].recall(f"secret{n}", 1)[0].content.endswith(f"secret{n}")
    two[0].forget(two[0].recall("secret7", 1)[0].id)
    assert not any("secret7" in hit.content for hit in two[1].recall("secret7"))


def test_what_did_not_change_is_searched_while_the_server_is_asked(
    two: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And once only; what others wrote since is found, though it was searched before."""
    searched: list[str] = []
    for name in ("_candidates", "_found"):
        monkeypatch.setattr(Rows, name, noted(searched, name, getattr(Rows, name)))

    def steps(memory: Memory, query: str) -> tuple[list[str], list[str]]:
        searched.clear()
        hits = [hit.content for hit in memory.recall(query)]
        return [*searched], hits

    two[0].remember("the tea is green")
    asked_first = ["_found", "_candidates"]
    assert steps(two[0], "tea") == (asked_first, ["the tea is green"])
    assert steps(two[0], "tea") == (asked_first, ["the tea is green"])  # the same as before
    assert steps(two[0], "tea") == (asked_first[::-1], ["the tea is green"])
    two[1].remember("the tea is hot")
    twice, hits = steps(two[0], "tea")
    assert twice == ["_candidates", *asked_first]
    assert {*hits} == {"the tea is green", "the tea is hot"}
    two[1].forget(two[1].recall("hot", 1)[0].id)
    assert steps(two[0], "tea") == (asked_first, ["the tea is green"])  # it changes: no guess


def noted(said: list[str], name: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """A method that says when it is called."""

    def noting(self: Rows, *values: Any) -> Any:
        said.append(name)
        return call(self, *values)

    return noting


def test_a_job_is_taken_by_one(postgres_url: str) -> None:
    engines = [open_engine(postgres_url) for _ in range(2)]

    def enqueue(tx: Transaction) -> None:
        for n in range(20):
            tx.enqueue(Place("local", "s"), f"job{n}", None, "{}", NOW)

    engines[0].write(enqueue)

    def take(number: int) -> list[str]:
        taken, lost_at = [], NOW.replace(year=2027)
        while task := engines[number % 2].write(lambda tx: tx.take_job(NOW, lost_at)):
            taken.append(task.id)
        return taken

    taken = [id for some in in_threads(6, take) for id in some]
    assert sorted(taken) == sorted(f"job{n}" for n in range(20))
    for engine in engines:
        engine.close()


def test_a_job_rings_for_who_listens_wherever_it_is_accepted(postgres_url: str) -> None:
    engines = [open_engine(postgres_url) for _ in range(2)]
    rung = threading.Event()
    engines[0].listen(rung.set)
    assert rung.wait(60)  # once, when it begins to listen
    for accept in (
        lambda: engines[1].write(
            lambda tx: tx.enqueue(Place("local", "s"), "job", None, "{}", NOW)
        ),
        lambda: (
            engines[1]
            .ledger()
            .add_job(
                Job(
                    id="j",
                    place=Place("local", "s"),
                    status="accepted",
                    created_at=NOW,
                    updated_at=NOW,
                )
            )
        ),
    ):
        rung.clear()
        accept()
        assert rung.wait(60)
    for engine in engines:
        engine.close()


def test_a_backup_is_a_store_in_a_file(postgres_url: str, tmp_path: Path) -> None:
    with Memory("s", postgres_url, embedder="hashing") as memory:
        memory.remember("likes tea")
        memory.set("k", 1)
        assert memory.backup(str(tmp_path / "b.db")) == (tmp_path / "b.db").stat().st_size
        with pytest.raises(Conflict, match="exists already"):
            memory.backup(str(tmp_path / "b.db"))
        lines = list(memory.export())
    with Memory("s", f"sqlite:///{tmp_path / 'b.db'}", embedder="hashing") as copy:
        assert list(copy.export()) == lines
    assert [file.name for file in tmp_path.glob("b.db*")] == ["b.db"]


# --- what is in the way ---


def test_a_pool_that_is_used_up_says_so(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "POOL_SECONDS", 0.2)
    engine: Engine = Postgres(postgres_url, pool=1)
    held, done = threading.Event(), threading.Event()

    def hold(seen: Any) -> None:
        held.set()
        done.wait(60)

    thread = threading.Thread(target=engine.read, args=(hold,))
    thread.start()
    assert held.wait(60)
    with pytest.raises(Busy, match="No connection"):
        engine.read(lambda seen: seen.next_due())
    done.set()
    thread.join()
    assert engine.read(lambda seen: seen.next_due()) is None
    engine.close()


def test_a_closed_engine_says_so(postgres_url: str) -> None:
    engine = open_engine(postgres_url)
    engine.close()
    engine.close()
    with pytest.raises(Closed):
        engine.read(lambda seen: None)


def test_connections_that_are_cut_are_replaced(postgres: str, postgres_url: str) -> None:
    with Memory("s", postgres_url, embedder="hashing") as memory:
        memory.remember("likes tea")
        for n in range(3):
            with admin(postgres, postgres_url) as db:
                db.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            assert memory.increment("n").value == n + 1
            assert memory.recall("tea")[0].content == "likes tea"


@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("key", [None, "once"])
def test_a_connection_lost_at_the_commit_writes_once(
    postgres: str, postgres_url: str, moment: str, key: str | None
) -> None:
    with Proxy(postgres_url) as proxy, Memory("s", proxy.url, embedder="hashing") as memory:
        memory.increment("n")
        for expected in range(2, 6):
            proxy.cut_next_commit(moment)
            told = None if key is None else f"{key}{expected}"
            assert memory.increment("n", idempotency_key=told).value == expected
            assert memory.get("n") == expected
        assert proxy.cuts == 4


def test_a_commit_in_doubt_in_a_new_scope_writes_once(postgres_url: str) -> None:
    with Proxy(postgres_url) as proxy:
        for n in range(4):
            with Memory(f"new{n}", proxy.url, embedder="hashing") as memory:
                proxy.cut_next_commit("after" if n % 2 else "before")
                assert memory.increment("n").value == 1
                assert memory.get("n") == 1
        assert proxy.cuts == 4


def test_a_server_that_stays_away_is_unavailable(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.engine.postgres.AWAY_SECONDS", 0.5)
    monkeypatch.setattr(connections, "POOL_SECONDS", 0.5)
    with Proxy(postgres_url) as proxy, Memory("s", proxy.url, embedder="hashing") as memory:
        memory.remember("likes tea")
        proxy.refuse()
        start = time.monotonic()
        with pytest.raises(Unavailable):
            memory.recall("tea")
        assert time.monotonic() - start < 20  # half a minute is what it would be else
