"""Runs tests on a PostgreSQL behind pgbouncer, where a connection is held for one transaction.

`make pooled PGBOUNCER=…` names the program, of version 1.21 or newer. There are fewer connections
to the server than to the pooler, so that whatever outlived a transaction would show in another's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import psycopg

from tools.postgres import ROLE, UNSAFE, Postgres, run_as

SUITES = "contract_postgres congruence postgres postgres_large moving".split()
# What a pooler cannot do: pass LISTEN on, and connect anew when a setting of the database changes.
NOT_THERE = (
    "test_a_job_rings_for_who_listens_wherever_it_is_accepted",
    "test_a_replica_says_that_it_only_reads",
)
SETTINGS = """[databases]
* = host={folder}
[pgbouncer]
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
auth_type = trust
auth_file = {folder}/users
pool_mode = transaction
max_prepared_statements = 400
default_pool_size = 3
max_client_conn = 1000
"""


def main(words: list[str]) -> int:
    """Gives what pytest gives."""
    server = Postgres(None, *UNSAFE).start()
    pooler = subprocess.Popen(
        [os.environ.get("PGBOUNCER", "pgbouncer"), "-q", str(_settings(server.folder))], **run_as()
    )
    try:
        admin = server.url("postgres", "postgres")
        pooled = f"{admin}&port=6432"
        _wait(pooled)
        told = {"HOLDFAST_TEST_POSTGRES": admin, "HOLDFAST_TEST_POOLER": pooled}
        suites = words or [f"tests/test_{name}.py" for name in SUITES]
        left_out = [f"--deselect=tests/test_postgres.py::{name}" for name in NOT_THERE]
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadgroup", *left_out, *suites],
            env={**os.environ, **told},
            check=False,
        ).returncode
    finally:
        pooler.kill()
        pooler.wait()
        server.stop()


def _settings(folder: Path) -> Path:
    (folder / "users").write_text(f'"postgres" ""\n"{ROLE}" "{ROLE}"\n')
    path = folder / "pgbouncer.ini"
    path.write_text(SETTINGS.format(folder=folder))
    return path


def _wait(url: str) -> None:
    """Until the pooler answers, as long as it may take to start."""
    give_up = time.monotonic() + 30
    while True:
        try:
            return psycopg.connect(url).close()
        except psycopg.OperationalError:
            if time.monotonic() > give_up:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
