"""How PostgreSQL answers our statements: by an index, in one partition, in one scope.

Plans are asked for with sequential scans made dear: where one is left, there is no other way.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from holdfast import ops
from holdfast.embed.hashing import Hashing
from holdfast.engine import Look, Place, open_engine
from holdfast.engine.postgres import Postgres, near
from holdfast.engine.postgres.search import condition, in_sight, sight
from holdfast.engine.postgres.statements import of_large as statements_on_large
from holdfast.engine.postgres.statements import statements
from holdfast.model import Filter
from holdfast.service import Service, utc_now
from tests.markdown import ROOT
from tools.postgres import database_url, drop_database, make_database

ENGINE = ROOT / "src" / "holdfast" / "engine" / "postgres"
SQL = statements()
NO_TABLE = {
    *("begin_read", "begin_write", "set_tenant", "ring", "size", "lock_spaces", "lock_scopes"),
    *("seek", "any_halfvec", "left_over"),
}
# About the whole store: upkeep, the queue, and what a key proves before its tenant is known.
WHOLE_STORE = {
    *(
        "every_scope",
        "every_scope_counted",
        "every_scope_sized",
        *("any_lost", "lost_version", "lost_answer"),
        "empty_scopes",
        "rows_after",
        "rows_left",
        "count_rows",
        "count_rows_left",
    ),
    *("all_waiting", "drop_all_coming", "take_coming", "places_answered", "drop_old_answers"),
    *(
        "expired_scopes",
        "next_expiry",
        "odd_vectors",
        "next_job",
        "next_due",
        "count_memories",
        "open_errands",
    ),
    *("count_open_errands", "api_key", "all_api_keys", "any_api_key", "use_api_keys"),
    *("prune_all_notes", "current_space", "coming_space", "add_space", "reach_space"),
    *("drop_space", "switch_space", "near_scopes", "api_keys"),  # a store has few keys
}
OF_TENANT = sorted(set(SQL) - NO_TABLE - WHOLE_STORE)
KINDS = {
    **{"text": "x", "bigint": 1, "integer": 1, "bytea": b"x"},
    **{"text[]": ["x"], "bigint[]": [1], "integer[]": [1]},
}
LARGE = "s0"  # the scope that has a table of its own


@pytest.fixture(scope="module")
def filled(postgres: str, template: str) -> Iterator[str]:
    """A store in which one tenant has many scopes, and others a few memories."""
    make_database(postgres, "holdfast_plans", template)
    url = database_url(postgres, "holdfast_plans")
    engine = open_engine(url)
    service = Service(engine, Hashing())
    for tenant, scopes, each in (("big", 12, 300), *((f"t{n}", 2, 20) for n in range(16))):
        for scope in range(scopes):
            drafts = tuple(
                ops.Draft(content=f"memory {n} of {scope}: word{n % 40}", session=f"s{n % 9}")
                for n in range(each)
            )
            service.do(ops.RememberMany(scope=f"s{scope}", drafts=drafts), tenant)
    assert isinstance(engine, Postgres)
    assert engine.index_large(Place("big", LARGE))
    service.close()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("SELECT set_config('holdfast.tenant', 'big', false)")
        db.execute(
            "INSERT INTO holdfast.slots SELECT tenant, scope, id, sha256(id::bytea), "
            "sha256(left(id, 30)::bytea), sha256(right(id, 2)::bytea) FROM holdfast.memories"
        )
        db.execute(
            "INSERT INTO holdfast.errands SELECT tenant, id, left(id, 34), NULL, 'complete', "
            "NULL, 0, 0 FROM holdfast.memories"
        )
        db.execute("ANALYZE")
    yield url
    drop_database(postgres, "holdfast_plans")


@pytest.fixture(scope="module")
def db(filled: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(filled, cursor_factory=psycopg.RawCursor) as db:
        db.execute("SET enable_seqscan = off")
        db.execute("SELECT set_config('holdfast.tenant', 'big', false)")
        yield db
        db.rollback()


@pytest.fixture(scope="module")
def number(db: psycopg.Connection[Any]) -> int:
    row = db.execute("SELECT scope FROM holdfast.scopes WHERE name = 's3'").fetchone()
    assert row is not None
    return int(row[0])


def values(db: psycopg.Connection[Any], name: str, number: int) -> list[Any]:
    """Values of the right kinds for a statement: those of the tenant, of one of its scopes."""
    sql = plain(SQL[name])
    with db.transaction(force_rollback=True):
        db.execute(f"PREPARE asked AS {sql}".encode())
        row = db.execute(
            "SELECT parameter_types::text[] FROM pg_prepared_statements WHERE name = 'asked'"
        ).fetchone()
        db.execute("DEALLOCATE asked")
    assert row is not None
    given = [KINDS[kind] for kind in row[0]]
    for at, value in enumerate(given):
        if f"tenant = ${at + 1}" in sql or (value == "x" and at == 0):
            given[at] = "big"
        if f"scope = ${at + 1}" in sql and value == 1:
            given[at] = number
    return given


def plain(sql: str) -> str:
    """A statement without its comments."""
    return re.sub(r"--.*", "", sql)


def plan(db: psycopg.Connection[Any], sql: str, given: list[Any]) -> list[dict[str, Any]]:
    """Every node of the plan of a statement."""
    with db.transaction(force_rollback=True):
        row = db.execute(f"EXPLAIN (FORMAT JSON) {sql}".encode(), given).fetchone()
    assert row is not None
    tree = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return list(nodes(tree[0]["Plan"]))


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from nodes(child)


def tables(found: list[dict[str, Any]]) -> set[str]:
    return {node["Relation Name"] for node in found if "Relation Name" in node}


@pytest.mark.parametrize("name", OF_TENANT)
def test_a_statement_of_a_tenant_stays_in_its_partition_and_needs_no_scan(
    db: psycopg.Connection[Any], number: int, name: str
) -> None:
    found = plan(db, SQL[name], values(db, name, number))
    parts = [re.sub(r"_\d$", "", table) for table in tables(found) if table[-1].isdigit()]
    assert len(parts) == len(set(parts)), tables(found)
    scanned = {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"}
    assert scanned <= {"spaces"}  # has a row for each embedder, that is one
    for node in found:
        if "Index Cond" in node:
            assert "tenant = " in node["Index Cond"], node


@pytest.mark.parametrize(
    "where",
    [Filter(session="s1"), Filter(kinds=("fact",)), Filter(tags=("x",)), Filter(avoid=True)],
)
def test_so_does_a_filter(db: psycopg.Connection[Any], number: int, where: Filter) -> None:
    seen, more = in_sight(None, utc_now(), 3)
    sql, given = condition(where, 4)
    found = plan(
        db,
        "SELECT row FROM holdfast.memories WHERE tenant = $1 AND scope = $2 "
        f"AND {seen} AND {sql} ORDER BY row DESC",
        ["big", number, *more, *given],
    )
    assert len(tables(found)) == 1
    assert not any(node["Node Type"] == "Seq Scan" for node in found)


def test_a_plan_made_for_any_tenant_is_pruned_when_it_runs(
    db: psycopg.Connection[Any], number: int
) -> None:
    with db.transaction(force_rollback=True):
        db.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        db.execute(f"PREPARE twin (text, bigint, bytea) AS {plain(SQL['twin'])}".encode())
        row = db.execute(
            f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE twin ('big', {number}, 'x')".encode()
        ).fetchone()
        db.execute("DEALLOCATE twin")
    assert row is not None
    removed = [node.get("Subplans Removed", 0) for node in nodes(row[0][0]["Plan"])]
    assert max(removed) == 7


def test_every_index_is_used_by_a_statement(
    db: psycopg.Connection[Any], postgres: str, number: int
) -> None:
    used: set[str] = set()
    for name in sorted(set(SQL) - NO_TABLE):
        tenant = " *" if name in WHOLE_STORE else "big"
        db.execute("SELECT set_config('holdfast.tenant', $1, false)", (tenant,))
        given = values(db, name, number)
        used |= {n["Index Name"] for n in plan(db, SQL[name], given) if "Index Name" in n}
    sql, given = condition(Filter(session="s1"), 3)
    asked = f"SELECT row FROM holdfast.memories WHERE tenant = $1 AND scope = $2 AND {sql}"
    used |= {n["Index Name"] for n in plan(db, asked, ["big", number, *given]) if "Index Name" in n}
    used |= {index for found in plans_on_large(db).values() for index in indexes_in(found)}
    whole = dict(indexes(db))
    unused = set(whole.values()) - {whole[index] for index in used}
    assert unused == set()


def indexes(db: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """Every index, and of which it is a part; itself if of none."""
    return db.execute(
        "SELECT c.relname, coalesce(p.relname, c.relname) FROM pg_class c "
        "JOIN pg_namespace n ON n.oid = c.relnamespace "
        "LEFT JOIN pg_inherits i ON i.inhrelid = c.oid LEFT JOIN pg_class p ON p.oid = i.inhparent "
        "WHERE n.nspname = 'holdfast' AND c.relkind IN ('i', 'I')"
    ).fetchall()


# --- the table of a large scope: no other's rows are in it ---


def of_large(db: psycopg.Connection[Any]) -> dict[str, tuple[str, list[Any]]]:
    """What is asked of the table of a large scope, with values."""
    row = db.execute("SELECT scope FROM holdfast.scopes WHERE near = 2").fetchone()
    assert row is not None
    at = "big", int(row[0])
    vector = "[" + ",".join(["0.1"] * Hashing().dimension) + "]"
    look = Look((), lambda: None, None, Filter(), None, utc_now(), 200)
    seen, now = sight(look, 4)
    later, then = sight(look, 5)
    return {
        "nearest": (near.text("nearest", at, seen=seen, most="100"), [*at, vector, *now]),
        "nearest_of": (
            near.text("nearest_of", at, seen=later, most="100"),
            [*at, vector, [1, 2], *then],
        ),
        "rows": (near.text("rows", at, seen=seen), [*at, [1, 2], *now]),
        "between": (near.text("between", at), [1, 2, 3]),
        "marked": (near.text("marked", at), [[1]]),
        "let_go": (near.text("let_go", at), [[1], [1], [0]]),
    }


def plans_on_large(db: psycopg.Connection[Any]) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for name, (asked, given) in of_large(db).items():
        sorts = "off" if name == "nearest" else "on"  # as it is when it is asked
        db.execute("SELECT set_config('enable_sort', $1, false)", (sorts,))
        found[name] = plan(db, asked, given)
    return found


def indexes_in(found: list[dict[str, Any]]) -> set[str]:
    return {node["Index Name"] for node in found if "Index Name" in node}


def test_the_table_of_a_large_scope_is_asked_by_its_indexes(db: psycopg.Connection[Any]) -> None:
    db.execute("SELECT set_config('holdfast.tenant', 'big', false)")
    expected = {
        "nearest": {"vector", "memories"},
        "nearest_of": {"pkey", "memories"},
        "rows": {"memories"},
        "between": {"happened"},
        "marked": {"pkey"},
        "let_go": {"pkey"},
    }
    for name, found in plans_on_large(db).items():
        assert not any(node["Node Type"] == "Seq Scan" for node in found), name
        kinds = {re.sub(r"^near_\d+_|_\d_pkey$", "", index) for index in indexes_in(found)}
        assert kinds == expected[name], name
        assert len([one for one in tables(found) if one.startswith("memories")]) <= 1


def test_every_statement_on_it_is_used() -> None:
    code = "\n".join(file.read_text() for file in sorted(ENGINE.glob("*.py")))
    assert [name for name in statements_on_large() if f'text("{name}"' not in code] == []


# --- the shape ---


def test_every_key_and_index_begins_with_the_tenant(db: psycopg.Connection[Any]) -> None:
    found = db.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'holdfast'"
    ).fetchall()
    assert len(found) > 100
    first = {name: re.search(r"\((\w+)(?:, (\w+))?", text) for name, text in found}
    first = {name: begins for name, begins in first.items() if not re.match(r"near_\d", name)}
    odd = {name for name, begins in first.items() if begins is None or begins[1] != "tenant"}
    assert odd == {
        "keys_pkey",
        "spaces_pkey",
    }  # a key tells its tenant; embedders have none
    second = {begins[2] for begins in first.values() if begins and begins[1] == "tenant"}
    assert second == {"scope", "place", "name", "id", "seq", "day", "updated_at"}


def test_the_docs_distribute_every_table(db: psycopg.Connection[Any]) -> None:
    """Those of a tenant by tenant, on Citus, and the others to every node."""
    page = (ROOT / "docs" / "scale.md").read_text().partition("## Sharding")[2]
    block = page.split("```")[1]
    everywhere = set(re.findall(r"create_reference_table\('holdfast\.(\w+)'\)", block))
    listed = re.search(r"each of: ([\w\s-]+)", block)
    assert listed is not None
    by_tenant = {"scopes", *listed[1].replace("--", "").split("SELECT")[0].split()}
    found = db.execute(
        "SELECT relname, EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = c.oid "
        "AND attname = 'tenant') FROM pg_class c WHERE relnamespace = 'holdfast'::regnamespace "
        "AND relkind IN ('r', 'p') AND NOT relispartition AND relname !~ '^near_'"
    ).fetchall()
    tenants = {name for name, has in found if has}
    assert by_tenant | everywhere == {name for name, _ in found}
    assert everywhere == {"format", "spaces", "keys"}
    assert by_tenant == tenants - {"keys"}  # looked up before its tenant is known


def test_there_is_no_sequence(db: psycopg.Connection[Any]) -> None:
    assert db.execute("SELECT * FROM pg_sequences WHERE schemaname = 'holdfast'").fetchall() == []


# --- the statements ---


def test_every_statement_is_used_and_every_one_used_is_there() -> None:
    files = [*ENGINE.glob("*.py"), *ENGINE.parent.glob("*.py")]
    code = "\n".join(file.read_text() for file in sorted(files))
    assert [name for name in SQL if f'"{name}"' not in code] == []
    own = "\n".join(file.read_text() for file in sorted(ENGINE.glob("*.py")))
    used = set(re.findall(r'(?:_one|_all|_do|_count|\.one|\.all|\.do)\(\s*"(\w+)"', own))
    assert len(used) > 60
    assert used - set(SQL) == set()


@pytest.mark.parametrize("name", OF_TENANT)
def test_every_statement_names_its_tenant(name: str) -> None:
    sql = plain(SQL[name])
    bound = r"INSERT.*\btenant\b" if sql.lstrip().startswith("INSERT") else r"\btenant = \$"
    assert re.search(bound, sql, re.DOTALL)
