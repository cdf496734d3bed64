"""A PostgreSQL that is not as one would wish: who may come in, and what ends before its time."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from holdfast import Busy, Invalid, Memory, StoreReadOnly, ops
from holdfast.embed.hashing import Hashing
from holdfast.engine import Place, open_engine
from holdfast.engine.postgres import Postgres
from holdfast.service import Service
from tools.postgres import Postgres as Server
from tools.postgres import make_database, make_role

SCOPES = 40
MOVE = [sys.executable, "-m", "holdfast", "migrate-store"]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of our own, whose roles come and go."""
    own = Server().start()
    admin = own.url("postgres", "postgres")
    make_role(admin)
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute("CREATE ROLE guest LOGIN")
        db.execute("CREATE ROLE locked LOGIN PASSWORD 'right'")
    yield own
    own.stop()


@pytest.fixture
def store(server: Server) -> Iterator[str]:
    """The name of a database with a store in it, of two tenants."""
    admin = server.url("postgres", "postgres")
    make_database(admin, "team")
    engine = open_engine(server.url("team"))
    for tenant in ("ann", "local"):
        told = ops.Remember(scope="s", draft=ops.draft(f"{tenant} likes tea"))
        Service(engine, Hashing()).do(told, tenant)
    engine.close()
    yield "team"
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute("ALTER ROLE guest RESET ALL")
        db.execute("DROP DATABASE team WITH (FORCE)")


def granted(server: Server, store: str, rights: str) -> str:
    """The URL of a guest, who owns nothing and has these rights."""
    with psycopg.connect(server.url(store, "postgres")) as db:
        db.execute("GRANT USAGE ON SCHEMA holdfast TO guest")
        db.execute(f"GRANT {rights} ON ALL TABLES IN SCHEMA holdfast TO guest".encode())
    return server.url(store, "guest")


def test_a_wrong_password_is_told_and_not_shown(server: Server, store: str) -> None:
    rules = server.folder / "data" / "pg_hba.conf"
    rules.write_text("local all locked scram-sha-256\n" + rules.read_text())
    with psycopg.connect(server.url("postgres", "postgres")) as db:
        db.execute("SELECT pg_reload_conf()")
    for who in ("locked:wr0ng", "locked"):
        with pytest.raises(Invalid, match="user and the password") as caught:
            open_again_and_again(server.url(store, who))
        assert "wr0ng" not in str(caught.value)


def open_again_and_again(url: str) -> None:
    """The rules of a server are read anew soon, not at once."""
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up:
        Memory("s", url, embedder="hashing").close()


def test_the_wall_binds_a_role_that_owns_nothing(server: Server, store: str) -> None:
    url = granted(server, store, "SELECT, INSERT, UPDATE, DELETE")
    with Memory("s", url, embedder="hashing") as memory:
        assert memory.remember("a guest likes coffee").created
        assert {hit.content for hit in memory.recall("likes")} == {
            "local likes tea",
            "a guest likes coffee",
        }
    with psycopg.connect(url) as db:
        asked = "SELECT DISTINCT tenant FROM holdfast.memories"
        assert db.execute(asked).fetchall() == []
        db.execute("SELECT set_config('holdfast.tenant', 'ann', true)")
        assert db.execute(asked).fetchall() == [("ann",)]


def test_a_role_without_rights_is_told_so(server: Server, store: str) -> None:
    with pytest.raises(StoreReadOnly, match="may not"):
        Memory("s", server.url(store, "guest"), embedder="hashing")
    with Memory("s", granted(server, store, "SELECT"), embedder="hashing") as memory:
        assert memory.recall("tea")[0].content == "local likes tea"
        with pytest.raises(StoreReadOnly, match="may not"):
            memory.remember("a guest likes coffee")


def test_a_statement_that_may_take_no_longer_is_busy(server: Server, store: str) -> None:
    url = granted(server, store, "SELECT, INSERT, UPDATE, DELETE")
    with psycopg.connect(server.url(store, "postgres"), autocommit=True) as db:
        db.execute("ALTER ROLE guest SET statement_timeout = '200ms'")
        with Memory("s", url, embedder="hashing") as memory, db.transaction():
            db.execute("SELECT * FROM holdfast.scopes FOR UPDATE")
            with pytest.raises(Busy, match="too long"):
                memory.remember("a guest likes coffee")
        with Memory("s", url, embedder="hashing") as memory:
            assert memory.remember("a guest likes coffee").created


def test_nothing_outlives_a_transaction(server: Server, store: str) -> None:
    """So that a pooler may give each transaction another connection."""
    make = server.url(store, "postgres")
    with psycopg.connect(make) as db:
        db.execute("CREATE EXTENSION vector")
    engine = Postgres(server.url(store), pool=1)
    service = Service(engine, Hashing())
    service.do(ops.Remember(scope="s", draft=ops.draft("likes green tea")))
    service.do(ops.Recall(scope="s", query="tea"))
    assert engine.index_large(Place("local", "s"))
    with engine._connections._borrowed() as pipeline:
        left = pipeline.send(
            "SELECT current_setting('holdfast.tenant', true), "
            "(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() "
            "AND locktype = 'advisory'), "
            "(SELECT count(*) FROM pg_listening_channels()), "
            "(SELECT count(*) FROM pg_settings WHERE source = 'session')"
        ).fetchone()
    assert left is not None
    assert (left[0] or "", *left[1:]) == ("", 0, 0, 0)
    engine.close()


# --- moving house, killed ---


def sizes(url: str) -> dict[str, Any]:
    """What a store holds, scope by scope."""
    engine = open_engine(url)
    try:
        return {place.scope: rows for place, rows in engine.house().look(lambda it: it.places())}
    finally:
        engine.close()


@pytest.mark.parametrize("back", [False, True])
def test_a_move_that_is_killed_goes_on(url: str, postgres_url: str, back: bool) -> None:
    old, new = (postgres_url, url) if back else (url, postgres_url)
    with Memory("s", old, embedder="hashing") as memory:
        for n in range(SCOPES):
            memory.scope = f"s{n}"
            memory.remember_many([f"note {n} {i} about tea" for i in range(40)])
    open_engine(new).close()
    kills, there = 0, 0
    while there < SCOPES:
        run = subprocess.Popen([*MOVE, old, new], stdout=subprocess.DEVNULL)
        while run.poll() is None and (now := len(sizes(new))) < min(there + 8, SCOPES):
            time.sleep(0.005)
        if run.poll() is None:
            run.kill()
            kills += 1
        run.wait()
        there = max(now, len(sizes(new)))
    assert kills > 1
    done = subprocess.run([*MOVE, old, new, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["places"] == SCOPES
    assert sizes(new) == sizes(old)
    with Memory("s7", new, embedder="hashing") as memory:
        assert memory.recall("note 7 3", 1)[0].content == "note 7 3 about tea"
        assert memory.doctor().findings == ()
