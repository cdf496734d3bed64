"""Servers that run as a role which owns none of the tables, with the rights that the docs name."""

import re
from collections.abc import Iterator

import psycopg
import pytest

from holdfast import Memory, StoreReadOnly
from holdfast.backend import Here
from holdfast.embed.hashing import Hashing
from holdfast.engine import Place, open_engine
from holdfast.engine.postgres import Postgres, large
from holdfast.service import Service
from tests.markdown import ROOT
from tools.postgres import Postgres as Server
from tools.postgres import add_pgvector, drop_database, make_database, make_role

HERE = Place("local", "s")
ROWS = 60


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """A server of our own, where a role can be made."""
    own = Server().start()
    admin = own.url("postgres", "postgres")
    make_role(admin)
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute("CREATE ROLE app LOGIN")
    yield own
    own.stop()


@pytest.fixture
def owner(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Postgres]:
    """The store of the owner, who has granted what the docs say."""
    monkeypatch.setattr(large, "LARGE", 10)
    admin = server.url("postgres", "postgres")
    make_database(admin, "roles")
    add_pgvector(admin, "roles")
    store = opened(server.url("roles"))
    with psycopg.connect(server.url("roles")) as db:
        db.execute(grants().encode())
    yield store
    store.close()
    drop_database(admin, "roles")


@pytest.fixture
def app(server: Server, owner: Postgres) -> Iterator[Postgres]:
    """The same store, opened by a role that owns nothing."""
    store = opened(server.url("roles", "app"))
    yield store
    store.close()


def opened(url: str) -> Postgres:
    store = open_engine(url)
    assert isinstance(store, Postgres)
    return store


def grants() -> str:
    """The statements of docs/postgres.md that let `app` in."""
    page = (ROOT / "docs" / "postgres.md").read_text()
    found = [block for block in re.findall(r"```sql\n(.*?)```", page, re.S) if "TO app" in block]
    assert len(found) == 1
    return str(found[0])


def memory(store: Postgres) -> Memory:
    return Memory("s", backend=Here(Service(store, Hashing()), lambda: None))


def fill(store: Postgres) -> None:
    memory(store).remember_many([{"content": f"the tea{n}", "id": f"id{n}"} for n in range(ROWS)])


@pytest.mark.parametrize("maker", ["app", "owner"])
def test_both_use_a_large_scope_whoever_made_its_table(
    owner: Postgres, app: Postgres, maker: str, server: Server
) -> None:
    fill(app)
    assert {"app": app, "owner": owner}[maker].index_large(HERE)
    for n, store in enumerate((app, owner)):
        told = memory(store)
        told.remember(f"the coffee{n}", id=f"more{n}")
        told.forget(f"id{n}")
        assert told.recall(f"coffee{n}", 1)[0].id == f"more{n}"
        assert told.recall("tea7", 1)[0].id == "id7"
        assert all(hit.id != f"id{n}" for hit in told.recall(f"tea{n}", 100))
    assert memory(app).doctor().findings == ()
    memory(owner).purge()
    for role in ("app", "holdfast"):
        assert {tenant: seen(server, role, tenant) for tenant in ("local", "ann", "")} == {
            **{"local": ROWS},
            **dict.fromkeys(("ann", ""), 0),
        }


def seen(server: Server, role: str, tenant: str) -> int:
    """How many rows of the table of a large scope a role sees, for a tenant."""
    with psycopg.connect(server.url("roles", role)) as db:
        table = db.execute("SELECT relname FROM pg_class WHERE relname ~ '^near_[0-9]+$'")
        (name,) = table.fetchone() or ("",)
        db.execute("SELECT set_config('holdfast.tenant', %s, true)", (tenant,))
        found = db.execute(f"SELECT count(*) FROM holdfast.{name}".encode()).fetchone()
    assert found is not None
    return int(found[0])


def test_forgetting_all_empties_a_table_that_is_the_owners_who_removes_it(
    owner: Postgres, app: Postgres, server: Server
) -> None:
    fill(app)
    assert owner.index_large(HERE)
    memory(app).forget(everything=True)
    assert seen(server, "holdfast", " *") == 0
    memory(app).remember("anew")
    assert memory(app).recall("anew")[0].content == "anew"
    memory(owner).purge()
    with psycopg.connect(server.url("roles")) as db:
        left = db.execute("SELECT count(*) FROM pg_class WHERE relname ~ '^near_[0-9]+$'")
        assert left.fetchone() == (0,)


def test_a_role_that_may_make_no_table_searches_in_memory(
    owner: Postgres, app: Postgres, server: Server
) -> None:
    with psycopg.connect(server.url("roles")) as db:
        db.execute("REVOKE CREATE ON SCHEMA holdfast FROM app")
    fill(app)
    with pytest.raises(StoreReadOnly, match="role may not"):
        app.index_large(HERE)
    assert memory(app).recall("tea7", 1)[0].id == "id7"


def test_who_may_not_rewrite_the_tables_is_told_that_nothing_was_purged(app: Postgres) -> None:
    fill(app)
    with pytest.raises(StoreReadOnly, match="role may not"):
        memory(app).purge()
