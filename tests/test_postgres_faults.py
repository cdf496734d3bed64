"""PostgreSQL let down by the world: killed under load, out of disk, and what is left then."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

from benchmarks import outages
from benchmarks.faults.check import KINDS
from holdfast import (
    Busy,
    HoldfastError,
    Invalid,
    Memory,
    NotFound,
    StoreBroken,
    StoreFull,
    StoreReadOnly,
    TooLarge,
    Unavailable,
)
from holdfast.backend import open_backend
from holdfast.engine import Place, open_engine
from holdfast.engine.postgres import Postgres as Engine
from holdfast.engine.postgres.connections import translated
from holdfast.model import Record
from holdfast.service import utc_now
from tests.markdown import ROOT
from tests.waiting import until
from tools.postgres import Postgres, add_pgvector, make_database, make_role

KILLS = 4
BETWEEN = 50  # writes at least, from one kill to the next
WRITERS = 6


@pytest.fixture
def server() -> Iterator[Postgres]:
    """A server of the test's own, that syncs what it writes."""
    server = Postgres().start()
    make_role(server.url("postgres", "postgres"))
    make_database(server.url("postgres", "postgres"), "faults")
    yield server
    server.stop()


class Writer:
    """Writes until it is stopped, and notes what was acknowledged."""

    def __init__(self, memory: Memory, name: int, stop: threading.Event) -> None:
        self.memory = memory
        self.name = name
        self.stop = stop
        self.counted = 0
        self.remembered: list[str] = []
        self.forgotten: list[str] = []

    def run(self) -> None:
        n = 0
        while not self.stop.is_set():
            n += 1
            self.memory.increment(f"count{self.name}")  # without a key: the engine must know
            self.counted += 1
            self.memory.append("log", [self.name, n], idempotency_key=f"{self.name}-{n}")
            id = self.memory.remember(f"writer {self.name} says number {n}").id
            if n % 5:
                self.remembered.append(id)
            else:
                self.memory.forget(id)
                self.forgotten.append(id)


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_when_postgres_is_killed_under_load(server: Postgres) -> None:
    url, stop = server.url("faults"), threading.Event()
    clocks = [partial(utc_now) for _ in range(2)]  # two engines, as two processes have them
    memories = [Memory("s", backend=open_backend(url, "hashing", clock)) for clock in clocks]
    writers = [Writer(memories[n % 2], n, stop) for n in range(WRITERS)]
    with ThreadPoolExecutor(WRITERS) as pool:
        running = [pool.submit(writer.run) for writer in writers]
        for turn in range(1, KILLS + 2):
            until(partial(_far_enough, writers, running, BETWEEN * turn))
            if turn <= KILLS:
                server.kill()
                server.start()
        stop.set()
        for one in running:
            one.result()  # a failure that was not waited out is told here
    memory = memories[0]
    assert [memory.get(f"count{w.name}") for w in writers] == [w.counted for w in writers]
    log = memory.get("log")
    assert len(log) == len({tuple(entry) for entry in log}) == sum(w.counted for w in writers)
    kept = {it.id for it in _all(memory)}
    assert kept == {id for w in writers for id in w.remembered}
    for writer in writers:
        for id in writer.forgotten:
            with pytest.raises(NotFound):
                memory.read(id)
    assert memory.doctor().healthy
    for memory in memories:
        memory.close()


def _far_enough(writers: list[Writer], running: list[Future[None]], count: int) -> bool:
    """True when so much was written, or a writer failed."""
    return sum(writer.counted for writer in writers) > count or any(it.done() for it in running)


def _all(memory: Memory) -> Iterator[Record]:
    page = memory.list(limit=1000)
    while True:
        yield from page.memories
        if page.cursor is None:
            return
        page = memory.list(limit=1000, cursor=page.cursor)


@pytest.mark.slow
def test_servers_agents_and_postgres_are_killed_and_nothing_is_lost() -> None:
    assert outages.main(["--postgres", "--kills", "6", "--pause", "0.6"]) == 0


@pytest.mark.slow
def test_a_forked_child_connects_anew(postgres_url: str) -> None:
    with Memory("s", postgres_url, embedder="hashing") as memory:
        memory.remember("said by the parent")
        child = os.fork()
        if child == 0:
            try:
                memory.remember("said by the child")
                os._exit(0 if len(memory.list()) == 2 else 1)
            except BaseException:
                os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        assert {it.content for it in memory.list()} == {"said by the parent", "said by the child"}


@pytest.mark.parametrize(
    ("said", "ours"),
    [
        (errors.DiskFull, StoreFull),
        (errors.TooManyConnections, Busy),
        (errors.DeadlockDetected, Busy),
        (errors.QueryCanceled, Busy),
        (errors.AdminShutdown, Unavailable),
        (errors.ProtocolViolation, Unavailable),  # pgbouncer, of a server that is gone
        (errors.OutOfMemory, Unavailable),
        (errors.ReadOnlySqlTransaction, StoreReadOnly),
        (errors.ProgramLimitExceeded, TooLarge),
        (errors.InvalidPassword, Invalid),
        (errors.UndefinedTable, StoreBroken),
    ],
)
def test_what_postgres_says_in_our_words(
    said: type[psycopg.Error], ours: type[HoldfastError]
) -> None:
    found = translated(said("DETAIL: the key (tenant)=(bob) of bob"), "PostgreSQL x")
    assert type(found) is ours
    assert "bob" not in str(found)
    assert found.advice


@pytest.fixture
def small_disk(server: Postgres, tmp_path: Path) -> Iterator[Path]:
    """A disk of 48 MB, with a database on it; the log lies elsewhere."""
    disk = server.folder / "disk"
    disk.mkdir()
    mount("-t", "tmpfs", "-o", "size=48m", "tmpfs", str(disk))
    space = disk / "space"
    space.mkdir()
    owner = server.folder.stat()
    os.chown(space, owner.st_uid, owner.st_gid)
    with psycopg.connect(server.url("postgres", "postgres"), autocommit=True) as db:
        db.execute(f"CREATE TABLESPACE small LOCATION '{space}'".encode())
        db.execute("CREATE DATABASE small OWNER holdfast TABLESPACE small")
    yield disk
    server.kill()
    subprocess.run(["umount", "-l", str(disk)], check=True)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def may_mount() -> bool:
    """Whether this process has CAP_SYS_ADMIN."""
    status = Path("/proc/self/status").read_text()
    return bool(int(status.partition("CapEff:")[2].split()[0], 16) >> 21 & 1)


def in_a_namespace(test: str) -> None:
    """Runs a test again where we may mount, though we are not root: in a namespace of our own."""
    own = ["unshare", "--user", "--map-current-user", "--keep-caps", "--mount"]
    asked = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", f"{__file__}::{test}"]
    done = subprocess.run([*own, *asked], check=False, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


@pytest.mark.slow
def test_a_full_disk_is_said_and_what_was_written_stays(request: pytest.FixtureRequest) -> None:
    if not may_mount():
        in_a_namespace(request.node.name)
        return
    server, small_disk = map(request.getfixturevalue, ("server", "small_disk"))
    written = 0
    with Memory("s", server.url("small"), embedder=None) as memory:
        with pytest.raises(StoreFull, match="No room left"):  # noqa: PT012  # which write is full?
            for n in range(10_000):
                memory.set(f"key{n}", os.urandom(50_000).hex())
                written += 1
        assert written > 50
        assert len(memory.keys(limit=1000)) == min(written, 1000)
        mount("-o", "remount,size=200m", str(small_disk))
        memory.set("more", 1)
        assert memory.get("more") == 1
        assert memory.doctor().healthy


@pytest.fixture
def little_shared() -> Iterator[Postgres]:
    """A server whose processes can share some megabytes, as in many a container."""
    server = Postgres(None, "dynamic_shared_memory_type=mmap", "min_parallel_table_scan_size=0")
    shared = server.folder / "data" / "pg_dynshmem"
    owner = f"uid={shared.stat().st_uid},gid={shared.stat().st_gid}"
    mount("-t", "tmpfs", "-o", f"size=16m,mode=700,{owner}", "tmpfs", str(shared))
    server.start()
    make_role(server.url("postgres", "postgres"))
    make_database(server.url("postgres", "postgres"), "faults")
    add_pgvector(server.url("postgres", "postgres"), "faults")
    yield server
    server.kill()
    subprocess.run(["umount", "-l", str(shared)], check=True)
    server.stop()


@pytest.mark.slow
def test_a_graph_is_made_where_processes_can_share_little_memory(
    request: pytest.FixtureRequest,
) -> None:
    if not may_mount():
        in_a_namespace(request.node.name)
        return
    server = request.getfixturevalue("little_shared")
    with Memory("s", server.url("faults"), embedder="hashing") as memory:
        memory.remember_many([f"the tea{n} of a shop" for n in range(1000)])
    engine = open_engine(server.url("faults"))
    assert isinstance(engine, Engine)
    assert engine.index_large(Place("local", "s"))
    engine.close()
    assert "could not resize shared memory" in (server.folder / "log").read_text()


FAULTS = "kill at any moment,kill between statements,kill in purge,disk full"


@pytest.mark.timeout(900)
def test_nothing_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    """The fault test of the library, on databases: `make faults` has the long run."""
    results = tmp_path / "results.json"
    words = ["--postgres", "--kills", "16", "--faults", FAULTS, "--json", str(results)]
    done = subprocess.run(
        [sys.executable, "benchmarks/faults.py", *words, "--folder", str(tmp_path)],
        cwd=ROOT,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    found = json.loads(results.read_text())
    assert {kind: found["total"][kind] for kind in KINDS} == dict.fromkeys(KINDS, 0), done.stdout
    assert found["total"]["kills"] >= 16
    assert all(row["runs"] for row in found["faults"].values()), done.stdout
