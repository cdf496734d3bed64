import os
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from holdfast.engine import open_engine
from tools.postgres import (
    UNSAFE,
    Postgres,
    add_pgvector,
    database_url,
    drop_database,
    make_database,
    make_role,
)

settings.register_profile(  # disks and machines differ: time is no failure here
    "holdfast", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("holdfast")
pytest.register_assert_rewrite("holdfast.testing")
OWN_POSTGRES = os.environ.get("HOLDFAST_TEST_POSTGRES")  # the URL of a superuser
POOLER = os.environ.get("HOLDFAST_TEST_POOLER")  # the same, by way of a pgbouncer


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test, and no process it starts, can touch the developer's own memories."""
    for name in os.environ:
        if name.startswith(("HOLDFAST_", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a superuser at a PostgreSQL with pgvector: `$HOLDFAST_TEST_POSTGRES`, or ours."""
    if OWN_POSTGRES:
        make_role(OWN_POSTGRES)
        yield OWN_POSTGRES
        return
    server = Postgres(None, *UNSAFE).start()
    make_role(server.url("postgres", "postgres"))
    yield server.url("postgres", "postgres")
    server.stop()


@pytest.fixture(scope="session")
def template(postgres: str) -> Iterator[str]:
    """The name of a database with an empty store, to be copied."""
    name = f"holdfast_template_{uuid4().hex[:12]}"
    make_database(postgres, name)
    add_pgvector(postgres, name)
    open_engine(database_url(postgres, name)).close()
    yield name
    drop_database(postgres, name)


@pytest.fixture
def postgres_url(postgres: str, template: str) -> Iterator[str]:
    """The URL of a new store in PostgreSQL, for a role that is no superuser."""
    name = f"holdfast_{uuid4().hex[:12]}"
    make_database(postgres, name, template)
    yield database_url(POOLER or postgres, name)
    drop_database(postgres, name)


@pytest.fixture
def bare_url(postgres: str) -> Iterator[str]:
    """The URL of a database in which nothing is, pgvector neither."""
    name = f"holdfast_{uuid4().hex[:12]}"
    make_database(postgres, name)
    yield database_url(postgres, name)
    drop_database(postgres, name)


# Whole suites that start servers, databases, processes or frameworks: `make quick` leaves them out.
LONG = """benchmarks congruence console contract_http contract_postgres dialects docs examples
    frameworks hostile isolation moving outbox postgres postgres_faults postgres_large
    postgres_plans postgres_roles postgres_servers processes server_fuzz""".split()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem.removeprefix("test_") in LONG:
            item.add_marker(pytest.mark.slow)
