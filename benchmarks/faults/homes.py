"""Where the stores under test are: files, or databases of a PostgreSQL that the run starts."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NoReturn

import psycopg
from psycopg.conninfo import conninfo_to_dict

from benchmarks.faults import raw
from tools.postgres import Postgres, add_pgvector, make_database, make_role

SQLITE = "sqlite:///"


def is_file(url: str) -> bool:
    """Whether a store is a file."""
    return url.startswith(SQLITE)


def is_there(url: str) -> bool:
    """Whether a store can be opened: its file was made, or its server runs."""
    if is_file(url):
        return Path(url.removeprefix(SQLITE)).exists()
    return (Path(str(conninfo_to_dict(url)["host"])) / ".s.PGSQL.5432").exists()


def served(server: Postgres) -> Callable[[str], str]:
    """What makes a database of a name at a server, and gives its URL."""
    admin = server.url("postgres", "postgres")
    make_role(admin)

    def made(name: str) -> str:
        make_database(admin, name)
        add_pgvector(admin, name)
        return server.url(name)

    return made


def files(url: str) -> list[Path]:
    """All files that a store is in: of a database, all but the log that is written ahead."""
    if is_file(url):
        return raw.files_of(Path(url.removeprefix(SQLITE)))
    with _admin(url) as db:
        db.execute("CHECKPOINT")
        found = db.execute(
            "SELECT oid, current_setting('data_directory') FROM pg_database "
            "WHERE datname = current_database()"
        ).fetchone()
    assert found is not None
    return sorted(file for file in (Path(found[1]) / "base" / str(found[0])).iterdir())


def lock(url: str, rng: Random) -> NoReturn:
    """Holds what writers need, as a foreign program would, now and then."""
    begin, run = _locking(url)
    while True:
        for statement in begin:
            run(statement)
        time.sleep(rng.uniform(0.01, 0.35))
        run("ROLLBACK")
        time.sleep(rng.uniform(0.01, 0.1))


def _locking(url: str) -> tuple[Sequence[str], Callable[[str], object]]:
    """What takes the lock, and who runs it."""
    if is_file(url):
        path = url.removeprefix(SQLITE)
        return ["BEGIN IMMEDIATE"], sqlite3.connect(path, timeout=30, isolation_level=None).execute
    server = _admin(url)
    taken = ["BEGIN", "LOCK TABLE holdfast.scopes IN EXCLUSIVE MODE"]
    return taken, lambda statement: server.execute(statement.encode())


def _admin(url: str) -> psycopg.Connection[Any]:
    """A connection of the superuser to the same database."""
    parts = conninfo_to_dict(url) | {"user": "postgres"}
    return psycopg.connect(**parts, autocommit=True)  # type: ignore[arg-type]
