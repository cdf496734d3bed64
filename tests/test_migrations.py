"""SQL is code: the schema, the migrations, the statements, and the files of older versions."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

import pytest

from holdfast import Memory, NotFound, StoreBroken
from holdfast.backend import open_backend
from holdfast.engine.sqlite import connections
from holdfast.engine.sqlite.statements import migrations, statements
from holdfast.testing import FakeClock
from tests.markdown import ROOT

ENGINE = ROOT / "src" / "holdfast" / "engine" / "sqlite"
DATA = ROOT / "tests" / "data"
SQL = statements()
SCOPED = (
    *("memories", "changes", "states", "answers", "links", "tellings", "slots", "slotted"),
    *("heard", "held", "policies", "jobs"),
)
# Upkeep of the whole store: what these give is shown to no caller.
WHOLE_STORE = {
    *("rows_after", "count_rows_after", "all_waiting", "terms_between"),
    *("put_coming", "take_coming", "odd_vectors", "no_vectors", "drop_old_answers"),
    *("drop_changes", "first_change", "next_job", "next_due"),
    *(
        "expired_memories",
        "expired_entries",
        "next_expiry",
        "blank_stale_answers",
        "count_memories",
    ),
    "count_open_work",
}
# What a server keeps is bound to a tenant instead, but for what its owner asks or a key proves.
TENANTED = ("keys", "audit", "errands", "days")
OWNERS = {"api_key", "all_api_keys", "any_api_key", "use_api_key", "prune_all_notes"}
OWNERS |= {"open_errands", "count_open_work", "tenant_holds"}
# Found by a key that is a digest of tenant, scope and name.
DIGESTED = {"answer"}


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as db:
        for _, sql in migrations():
            db.executescript(sql)
        yield db


def schema(db: sqlite3.Connection) -> dict[str, str]:
    """Every table and index, without comments and blanks."""
    found = db.execute("SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    return {name: " ".join(re.sub(r"--.*", "", sql).split()) for name, sql in found}


def plain(sql: str) -> str:
    """A statement without its comments."""
    return re.sub(r"--.*", "", sql)


# --- schema and migrations ---


def test_the_schema_is_what_the_migrations_leave(db: sqlite3.Connection) -> None:
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.executescript((ENGINE / "schema.sql").read_text())
        assert schema(db) == schema(fresh)
    assert len(schema(db)) > 10


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in migrations()] == list(range(1, len(migrations()) + 1))


def test_an_older_store_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, steps = f"sqlite:///{tmp_path}/memory.db", migrations()
    with Memory("s", url, embedder="hashing") as memory:
        memory.remember("likes tea")
    later = [
        *steps,
        (len(steps) + 1, "CREATE TABLE extra (a TEXT); -- a step\nINSERT INTO extra VALUES (';');"),
    ]
    monkeypatch.setattr(connections, "migrations", lambda: later)
    with Memory("s", url, embedder="hashing") as memory:
        assert [hit.content for hit in memory.recall("likes tea")] == ["likes tea"]
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == len(later)
        assert db.execute("SELECT a FROM extra").fetchone()[0] == ";"


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, steps = f"sqlite:///{tmp_path}/memory.db", migrations()
    with Memory("s", url, embedder="hashing") as memory:
        memory.remember("likes tea")
    bad = [*steps, (len(steps) + 1, "CREATE TABLE extra (a TEXT);\nDROP TABLE no_such_table;\n")]
    with monkeypatch.context() as patched:
        patched.setattr(connections, "migrations", lambda: bad)
        with pytest.raises(StoreBroken, match="no_such_table"):
            Memory("s", url, embedder="hashing")
    with closing(sqlite3.connect(tmp_path / "memory.db")) as db:
        assert db.execute("PRAGMA user_version").fetchone()[0] == len(steps)
        assert "table extra" not in schema(db)
    with Memory("s", url, embedder="hashing") as memory:
        assert len(memory.list()) == 1


# --- statements ---


@pytest.mark.parametrize("name", SQL)
def test_every_statement_prepares(db: sqlite3.Connection, name: str) -> None:
    wanted = "parameters"
    for count in range(40):
        try:
            db.execute(f"EXPLAIN {SQL[name]}", [None] * count)
            break
        except sqlite3.ProgrammingError as error:
            wanted = str(error)
    else:
        pytest.fail(wanted)


def sources() -> str:
    files = [*sorted(ENGINE.glob("*.py")), *sorted(ENGINE.parent.glob("*.py"))]
    return "\n".join(file.read_text() for file in files)


def test_every_statement_is_used_and_every_one_used_is_there() -> None:
    code = sources()
    unused = [name for name in SQL if f'"{name}"' not in code]
    assert unused == []
    used = set(re.findall(r'(?:SQL\[|_one\(|_all\(|_do\(|_count\()\s*"(\w+)"', code))
    assert len(used) > 20
    assert used - set(SQL) == set()


def touched(sql: str) -> set[str]:
    """The scoped tables that a statement reads or writes."""
    return {table for table in SCOPED if re.search(rf"\b(FROM|INTO|UPDATE|JOIN) {table}\b", sql)}


@pytest.mark.parametrize("name", sorted(set(SQL) - WHOLE_STORE - DIGESTED - {"tenant_holds"}))
def test_every_statement_on_a_scoped_table_names_its_scope(name: str) -> None:
    sql = plain(SQL[name])
    if touched(sql):
        bound = r"INSERT.*\bscope\b" if sql.lstrip().startswith("INSERT") else r"\bscope = "
        assert re.search(bound, sql, re.DOTALL)


@pytest.mark.parametrize("name", sorted(set(SQL) - OWNERS))
def test_every_statement_on_a_tenants_table_names_the_tenant(name: str) -> None:
    sql = plain(SQL[name])
    if re.search(rf"\b(FROM|INTO|UPDATE|JOIN) ({'|'.join(TENANTED)})\b", sql):
        bound = r"INSERT.*\btenant\b" if sql.lstrip().startswith("INSERT") else r"\btenant = "
        assert re.search(bound, sql, re.DOTALL)


def test_the_exceptions_are_real_ones() -> None:
    assert set(SQL) >= WHOLE_STORE | DIGESTED
    for name in WHOLE_STORE:
        assert touched(plain(SQL[name])), name


def test_statements_written_in_python_name_their_scope_too() -> None:
    strings = re.findall(r'(?:SELECT|UPDATE|DELETE|INSERT)[^"]*"(?:\s*f?"[^"]*")*', sources())
    found = [sql for sql in strings if touched(sql)]
    assert len(found) >= 3
    assert [sql for sql in found if "scope" not in sql] == []


# --- files of older versions ---

FORMATS = [number for number, _ in migrations()]


@pytest.fixture(params=FORMATS, ids=lambda number: f"format-{number}")
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str]:
    """A copy of a store of an older version, and its export."""
    stored = DATA / f"format-{request.param}.db"
    if not stored.exists():
        pytest.fail(f"{stored} is missing: run .venv/bin/python tests/data/make_store.py")
    path = tmp_path / "memory.db"
    shutil.copy(stored, path)
    return path, stored.with_suffix(".jsonl").read_text()


@pytest.fixture
def memory(old: tuple[Path, str]) -> Iterator[Memory]:
    clock = FakeClock(datetime(2026, 5, 4, 9, 30, tzinfo=timezone.utc))
    with Memory("ann", backend=open_backend(f"sqlite:///{old[0]}", "hashing", clock)) as memory:
        yield memory


def test_an_old_store_has_todays_schema_once_it_was_opened(
    memory: Memory, old: tuple[Path, str], db: sqlite3.Connection
) -> None:
    with closing(sqlite3.connect(old[0])) as stored:
        assert schema(stored) == schema(db)


def test_an_old_store_exports_what_it_exported_then(memory: Memory, old: tuple[Path, str]) -> None:
    assert "".join(f"{line}\n" for line in memory.export()) == old[1]


def test_an_old_export_is_imported_equal(
    memory: Memory, old: tuple[Path, str], tmp_path: Path
) -> None:
    clock = FakeClock(datetime(2026, 5, 4, 9, 30, tzinfo=timezone.utc))
    url = f"sqlite:///{tmp_path / 'new.db'}"
    with Memory("copy", backend=open_backend(url, "hashing", clock)) as copy:
        copy.import_(old[1].splitlines())
        assert "".join(f"{line}\n" for line in copy.export()) == old[1]


def test_an_old_store_answers(memory: Memory) -> None:
    assert memory.recall("green tea")[0].id == "tea"
    assert memory.recall("东京")[0].id == "tokyo"
    assert memory.recall("main store PostgreSQL")[0].content == "The main store is PostgreSQL"
    then = datetime(2026, 5, 3, 12, tzinfo=timezone.utc)
    assert memory.recall("main store", as_of=then)[0].content == "The main store is MongoDB"
    assert [it.content for it in memory.history("db")] == [
        "The main store is MongoDB",
        "The main store is PostgreSQL",
    ]
    assert {it.id for it in memory.list(limit=1000)} == (
        {"db", "tea", "tokyo", "friday", "while", "long", "gone"}
    )
    assert memory.context("deploy on Friday").splitlines()[1] == "## Avoid"
    with pytest.raises(NotFound):
        memory.read("forgotten")


def test_an_old_store_keeps_its_state_and_its_answers(memory: Memory) -> None:
    assert memory.get("cursor") == {"row": 8000, "seen": [None, 1.5, "é"]}
    assert memory.keys() == ("cursor", "log", "nothing")
    assert memory.append("log", "second", idempotency_key="told-log").value == ["first", "second"]
    assert memory.get("log") == ["first", "second"]
    assert memory.set("deleted", 2, if_version=0).version > 1


def test_an_old_store_goes_on(memory: Memory, old: tuple[Path, str]) -> None:
    assert memory.remember("told to the old store").created
    assert memory.revise("tea", "Ann likes black tea").version == 2
    assert memory.forget("tokyo").memories == 1
    assert memory.doctor().findings == ()
    with Memory("bob", f"sqlite:///{old[0]}", embedder="hashing") as other:
        assert [it.id for it in other.list()] == ["car"]
