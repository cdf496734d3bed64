"""Several servers on one PostgreSQL, and a replica beside it: what is written is read at once."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle

import psycopg
import pytest

from benchmarks.outages import SERVE, _free_port, _wait
from holdfast import Memory, StoreReadOnly
from tools.postgres import Postgres, make_database, make_role

SERVERS, CLIENTS, EACH = 4, 64, 3


@pytest.fixture
def servers(postgres_url: str) -> Iterator[list[str]]:
    """Four server processes on one database."""
    ports = [_free_port() for _ in range(SERVERS)]
    with ExitStack() as stack:
        for port in ports:
            runs = subprocess.Popen([sys.executable, "-c", SERVE, str(port), postgres_url])
            stack.callback(runs.wait)
            stack.callback(runs.kill)
            _wait(port, runs)
        yield [f"http://127.0.0.1:{port}" for port in ports]


@pytest.mark.slow
def test_what_is_written_by_one_server_is_read_by_any_other(servers: list[str]) -> None:
    def client(number: int) -> list[str]:
        ways = cycle([*servers[number % SERVERS :], *servers[: number % SERVERS]])
        missed = []
        scope = f"team{number % 16}"
        for n in range(EACH):
            words = f"client {number} tells number{number}x{n}"
            with Memory(scope, next(ways)) as here, Memory(scope, next(ways)) as there:
                id = here.remember(words).id
                found = [hit.content for hit in there.recall(f"number{number}x{n}", 5)]
                if there.read(id).content != words or words not in found:
                    missed.append(words)
                here.increment("count")
        return missed

    with ThreadPoolExecutor(CLIENTS) as pool:
        missed = [words for some in pool.map(client, range(CLIENTS)) for words in some]
    assert missed == []
    with Memory("team0", servers[0]) as memory:
        assert memory.get("count") == CLIENTS // 16 * EACH
        assert memory.stats().memories == CLIENTS // 16 * EACH


@pytest.mark.slow
def test_a_replica_recalls_what_was_just_written() -> None:
    primary = Postgres().start()
    admin = primary.url("postgres", "postgres")
    make_role(admin)
    make_database(admin, "house")
    with Memory("s", primary.url("house"), embedder="hashing") as memory:
        memory.remember("likes tea")
    replica = Postgres(primary=primary).start()
    try:
        with psycopg.connect(admin, autocommit=True) as db:
            db.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
            db.execute("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
            db.execute("SELECT pg_reload_conf()")
        urls = primary.url("house"), replica.url("house")
        memory, copy = (Memory("s", url, embedder="hashing") for url in urls)
        with memory, copy:
            for n in range(20):
                memory.remember(f"the word is secret{n}")
                assert copy.recall(f"secret{n}", 1)[0].content.endswith(f"secret{n}")
            with pytest.raises(StoreReadOnly, match="primary"):
                copy.remember("likes coffee")
    finally:
        replica.stop()
        primary.kill()
        primary.stop()
