"""Making a database a store, and bringing an older store up to date: one process at a time."""

from __future__ import annotations

from typing import Any

import psycopg

from holdfast.engine.postgres.connections import Connections
from holdfast.engine.postgres.statements import migrations
from holdfast.errors import StoreBroken, StoreTooNew

LOCK = 0x486F6C64  # "Hold": whoever migrates has it until the transaction ends


def prepare(connections: Connections) -> None:
    """Does the migrations that are missing, all or none."""
    with connections.alone() as db:
        if _version(db, connections.where) == migrations()[-1][0]:
            return
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            _migrate(db, _version(db, connections.where))


def _version(db: psycopg.Connection[Any], where: str) -> int:
    """The format of a store; 0 for a database without one."""
    # Rows of the catalog, not `to_regclass`: that may answer from before we waited for the lock.
    found = db.execute(
        "SELECT n.nspname, c.relname FROM pg_namespace n LEFT JOIN pg_class c "
        "ON c.relnamespace = n.oid AND c.relname = 'format' WHERE n.nspname = 'holdfast'"
    ).fetchone()
    if found is None:
        return 0
    row = db.execute("SELECT version FROM holdfast.format").fetchone() if found[1] else None
    if row is None:
        raise StoreBroken(
            f"{where} has a schema named holdfast that is not ours.", "Choose another database."
        )
    newest = migrations()[-1][0]
    if row[0] > newest:
        raise StoreTooNew(
            f"{where} has format {row[0]}; this Holdfast knows up to {newest}.",
            "Upgrade Holdfast.",
        )
    return int(row[0])


def _migrate(db: psycopg.Connection[Any], version: int) -> None:
    for number, sql in migrations():
        if number > version:
            db.execute(sql.encode())
    newest = migrations()[-1][0]
    if version == 0:
        db.execute("INSERT INTO holdfast.format (version) VALUES (%s)", (newest,))
    elif version < newest:
        db.execute("UPDATE holdfast.format SET version = %s", (newest,))
