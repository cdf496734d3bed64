"""Files that are no stores, stores that are damaged, disks that are full, locks that stay."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import (
    Busy,
    HoldfastError,
    Memory,
    StoreBroken,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
)
from holdfast.engine import sqlite, uses
from holdfast.engine.sqlite import connections

NOBODY = 65534
STORY = ["Ann likes green tea", "the car is red", "we meet on Monday"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def opened(path: Path) -> Memory:
    return Memory("s", f"sqlite:///{path}", embedder="hashing")


def filled(path: Path, many: bool = False) -> list[str]:
    """A store with a few things in it; gives its export."""
    with opened(path) as memory:
        memory.remember_many([{"content": it, "tags": ["x"], "meta": {"n": 1}} for it in STORY])
        memory.revise(memory.remember("first words").id, "second words")
        if many:  # so that the word index has taken some in
            memory.remember_many([f"chapter {number}" for number in range(100)])
        memory.set("k", {"a": [1]})
        return list(memory.export())


# --- no store ---


@pytest.mark.parametrize(
    "content",
    [
        b"dear diary, today I remembered nothing\n" * 50,
        b"{}",
        bytes(4096),
        random.Random(7).randbytes(10_000),
        b"SQLite format 3\0" + random.Random(8).randbytes(5000),
    ],
    ids=["text", "json", "zeros", "noise", "noise with our heading"],
)
def test_what_is_no_store_is_refused_and_left_as_it_was(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(StoreBroken, match=r"memory\.db") as refused:
        opened(path)
    assert refused.value.advice
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir() if each.is_file()] == ["memory.db"]


def test_an_empty_file_becomes_a_store(path: Path) -> None:
    path.touch()
    assert len(filled(path)) == 7


@pytest.mark.parametrize("version", [0, 1, 99])
def test_a_foreign_database_is_refused_and_left_as_it_was(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")
        db.execute("INSERT INTO recipes VALUES ('soup')")
        db.execute(f"PRAGMA user_version = {version}")
        db.commit()
    before = path.read_bytes()
    with pytest.raises(StoreBroken, match="not a Holdfast store") as refused:
        opened(path)
    assert refused.value.advice
    assert path.read_bytes() == before
    assert [each.name for each in path.parent.iterdir() if each.is_file()] == ["memory.db"]


def test_a_newer_store_is_refused_and_left_as_it_was(path: Path) -> None:
    lines = filled(path)
    with closing(sqlite3.connect(path)) as db:
        (format_now,) = db.execute("PRAGMA user_version").fetchone()
        db.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(StoreTooNew, match=rf"format 99.* up to {format_now}.*Upgrade"):
        opened(path)
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {format_now}")
    with opened(path) as memory:
        assert list(memory.export()) == lines


def test_a_folder_is_no_file(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StoreReadOnly, match=r"memory\.db") as refused:
        opened(path)
    assert refused.value.advice


def test_a_file_is_no_folder(path: Path) -> None:
    path.write_text("in the way")
    with pytest.raises(StoreReadOnly, match="cannot be opened"):
        opened(path / "memory.db")
    assert path.read_text() == "in the way"


# --- damage ---


def used(path: Path) -> None:
    """Every verb once; each may answer, or raise an error of ours."""
    calls: list[Callable[[Memory], object]] = [
        lambda memory: memory.doctor(),
        lambda memory: memory.recall("green tea", as_of=memory.list()[0].created_at),
        lambda memory: list(memory.export()),
        lambda memory: memory.context("red car", tags=["x"], meta={"n": 1}),
        lambda memory: [memory.history(it.id) for it in memory.list()],
        lambda memory: (memory.get("k"), memory.keys(), memory.stats()),
        lambda memory: (memory.remember("more tea"), memory.append("k2", 1)),
        lambda memory: memory.forget(tags=["x"]),
        lambda memory: memory.doctor(repair=True),
        lambda memory: memory.purge(),
    ]
    for call in calls:
        try:
            with opened(path) as memory:
                call(memory)
        except HoldfastError as error:
            said = str(error)
            assert said


@pytest.mark.slow  # purge of some of these waits 30 s, as for a reader
@pytest.mark.parametrize("seed", range(60))
def test_flipped_bytes_give_typed_errors_or_answers(path: Path, seed: int) -> None:
    filled(path)
    chance, data = random.Random(seed), bytearray(path.read_bytes())
    text = [at for at in range(len(data)) if 32 < data[at] < 127]
    for _ in range(chance.choice([1, 3, 30])):
        at = chance.choice(text) if chance.random() < 0.6 else chance.randrange(100, len(data))
        data[at] ^= chance.randrange(1, 256)
    path.write_bytes(data)
    used(path)


@pytest.mark.parametrize("kept", [0.99, 0.9, 0.5, 0.1, 0.02])
def test_a_truncated_store_gives_typed_errors(path: Path, kept: float) -> None:
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    used(path)


def test_a_page_of_noise_is_seen_by_the_doctor(path: Path) -> None:
    filled(path)
    data = bytearray(path.read_bytes())
    data[4096 * 3 : 4096 * 4] = random.Random(1).randbytes(4096)
    path.write_bytes(data)
    try:
        with opened(path) as memory:
            healthy = memory.doctor().healthy
    except StoreBroken:
        healthy = False
    assert not healthy


@pytest.mark.parametrize(
    ("damage", "finding"),
    [
        ("INSERT INTO words (words) VALUES ('delete-all')", "words missing"),
        ("INSERT INTO words (rowid, terms) VALUES (77, '1:ghost')", "of no memory"),
        ("UPDATE memories SET vectors = substr(vectors, 2)", "vectors of a wrong length"),
        ("UPDATE memories SET vectors = NULL", "wait for their vector"),
    ],
)
def test_the_doctor_finds_planted_damage_and_repairs_it(
    path: Path, damage: str, finding: str
) -> None:
    lines = filled(path, many=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute(damage)
        db.commit()
    with opened(path) as memory, opened(path) as other:
        found = memory.doctor()
        other.recall("green tea")
        assert not found.healthy
        assert any(finding in it.what for it in found.findings)
        assert memory.doctor(repair=True).healthy
        assert memory.doctor().findings == ()
        assert [it.content for it in other.recall("green tea")] == ["Ann likes green tea"]
        plain = [json.loads(line) | {"uses": 0, "last_used_at": None} for line in memory.export()]
        assert plain == [json.loads(line) | {"uses": 0, "last_used_at": None} for line in lines]


# --- no permission ---


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(code: str, path: Path) -> str:
    """What code prints that runs without root's rights, with a memory to open at a path."""
    script = f"""
import os, sys
from pathlib import Path
from holdfast import HoldfastError, Memory
import holdfast.engine.sqlite, holdfast.embed.hashing
if os.geteuid() == 0:
    os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})
def opened():
    return Memory("s", "sqlite:///{path}", embedder="hashing")
try:
{code}
except HoldfastError as error:
    print(type(error).__name__, bool(error.advice))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or done.stderr


def test_a_folder_that_cannot_be_written_is_said_so(open_folder: Path) -> None:
    open_folder.chmod(0o555)
    for path in (open_folder / "memory.db", open_folder / "new" / "memory.db"):
        assert as_nobody("    opened()", path) == "StoreReadOnly True"
    assert list(open_folder.iterdir()) == []


def test_a_file_that_cannot_be_written_is_said_so_and_kept(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    lines = filled(path)
    path.chmod(0o444)
    open_folder.chmod(0o555)
    before = path.read_bytes()
    assert as_nobody("    opened().remember('more')", path) == "StoreReadOnly True"
    assert path.read_bytes() == before
    open_folder.chmod(0o755)
    path.chmod(0o644)
    with opened(path) as memory:
        assert list(memory.export()) == lines
        assert memory.remember("more").created


def test_a_file_that_cannot_be_read_is_said_so(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    filled(path)
    path.chmod(0o000)
    assert as_nobody("    opened()", path) == "StoreReadOnly True"


def test_a_backup_to_where_nothing_can_be_written_is_said_so(open_folder: Path) -> None:
    path = open_folder / "memory.db"
    os.chown(open_folder, NOBODY, NOBODY) if os.geteuid() == 0 else None
    forbidden = "/proc/no/such/backup.db"
    said = as_nobody(f"    opened().backup({forbidden!r})", path)
    assert said == "StoreReadOnly True"


# --- no room ---


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 1 MiB; where mounting is not allowed, the test says so and fails."""
    folder = tmp_path / "small"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def mounts() -> bool:
    probe = tempfile.mkdtemp()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "tmpfs", probe], capture_output=True, check=False
    )
    if done.returncode == 0:
        subprocess.run(["umount", probe], check=True)
    Path(probe).rmdir()
    return done.returncode == 0


needs_mount = pytest.mark.skipif(not mounts(), reason="may not mount; see the limited file instead")


def fill_up(memory: Memory) -> list[str]:
    """Remembers until there is no room; gives what was acknowledged."""
    kept: list[str] = []
    while len(kept) < 10_000:
        try:
            kept.append(memory.remember(f"{len(kept)} " + "green tea " * 500).id)
        except StoreFull as full:
            said = full.message, full.advice
            break
    assert all(said)
    return kept


@needs_mount
def test_a_full_disk_loses_nothing_and_reads_go_on(small_disk: Path) -> None:
    with opened(small_disk / "memory.db") as memory:
        kept = fill_up(memory)
        assert len(kept) > 5
        assert {it.id for it in memory.list(limit=1000)} == set(kept)
        assert memory.recall("green tea")
        assert memory.context("green tea", budget=9000)
        with pytest.raises(StoreFull):
            memory.set("k", "x" * 100_000)
        assert memory.keys() == ()


@needs_mount
def test_with_room_again_everything_goes_on(small_disk: Path) -> None:
    with opened(small_disk / "memory.db") as memory:
        kept = fill_up(memory)
        subprocess.run(["mount", "-o", "remount,size=8m", small_disk], check=True)
        kept.append(memory.remember("room again").id)
        assert memory.doctor().findings == ()
    with opened(small_disk / "memory.db") as memory:
        assert {it.id for it in memory.list(limit=1000)} == set(kept)


@needs_mount
def test_a_full_store_can_be_reopened_and_read(small_disk: Path) -> None:
    with opened(small_disk / "memory.db") as memory:
        kept = fill_up(memory)
    with opened(small_disk / "memory.db") as memory:
        assert {it.id for it in memory.list(limit=1000)} == set(kept)
        assert memory.doctor().healthy


@needs_mount
def test_no_room_for_a_new_store_is_said_so(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(bytes(1024 * 1024 - 8192))
    with pytest.raises(StoreFull):
        opened(small_disk / "memory.db").remember("x" * 30_000)


@needs_mount
def test_a_backup_without_room_leaves_nothing_behind(path: Path, small_disk: Path) -> None:
    with opened(path) as memory:
        memory.remember_many([f"{n} " + "green tea " * 500 for n in range(300)])
        with pytest.raises(StoreFull):
            memory.backup(str(small_disk / "copy.db"))
        assert list(small_disk.iterdir()) == []
        assert memory.doctor().healthy


LIMITED = """
import resource, signal, sys
from holdfast import HoldfastError, Memory, StoreFull, Unavailable
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Memory("s", sys.argv[1], embedder="hashing")
memory.remember("first of all")
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000))
kept = 1
try:
    while kept < 5000:
        memory.remember(f"{kept} " + "green tea " * 500)
        kept += 1
except (StoreFull, Unavailable):
    print(kept, len(memory.list(limit=1000)), len(memory.recall("green tea", 1000)) > 0)
"""


def test_a_file_that_may_not_grow_loses_nothing(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, url], capture_output=True, text=True, check=False
    )
    kept, listed, found = done.stdout.split() or [done.stderr, "", ""]
    assert (kept == listed, found) == (True, "True"), done.stderr
    with Memory("s", url) as memory:
        assert len(memory.list(limit=1000)) == int(kept)
        assert memory.doctor().healthy
        assert memory.remember("and on it goes").created


# --- no turn ---


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers wait for others for a fifth of a second, not for half a minute."""
    monkeypatch.setattr(connections, "BUSY_SECONDS", 0.2)
    monkeypatch.setattr(sqlite.SQLite._transact, "__defaults__", (0.2,))


@pytest.fixture
def lock(path: Path, _impatient: None) -> Iterator[sqlite3.Connection]:
    """A store with something in it, and a connection that can lock it."""
    filled(path)
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as db:
        yield db


def test_a_locked_store_is_busy_to_writers_and_open_to_readers(
    path: Path, lock: sqlite3.Connection
) -> None:
    with opened(path) as memory:
        lock.execute("BEGIN EXCLUSIVE")
        with pytest.raises(Busy, match="locked") as busy:
            memory.remember("too early", idempotency_key="a")
        assert (busy.value.retry, bool(busy.value.advice)) == (True, True)
        assert [hit.content for hit in memory.recall("green tea")] == ["Ann likes green tea"]
        assert (memory.get("k"), len(memory.list())) == ({"a": [1]}, 4)
        lock.execute("ROLLBACK")
        assert len(memory.list()) == 4
        assert memory.remember("too early", idempotency_key="a").created
        assert memory.doctor().findings == ()


def test_a_locked_store_can_be_opened_and_closed(path: Path, lock: sqlite3.Connection) -> None:
    lock.execute("BEGIN EXCLUSIVE")
    with opened(path) as memory:
        assert memory.recall("green tea")
    lock.execute("ROLLBACK")


def test_counting_uses_never_holds_up_a_recall(
    path: Path, lock: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uses, "FLUSH_SECONDS", -1.0)
    with opened(path) as memory:
        memory.recall("green tea")
        lock.execute("BEGIN EXCLUSIVE")
        assert memory.recall("green tea")
        lock.execute("ROLLBACK")
        found = memory.recall("green tea")[0]
        assert memory.read(found.id).uses == 3


def test_many_writers_behind_a_lock_all_hear_soon(path: Path, lock: sqlite3.Connection) -> None:
    said: list[str] = []

    def write(n: int) -> None:
        try:
            said.append(memory.remember(f"note {n}").id)
        except Busy:
            said.append("busy")

    with opened(path) as memory:
        lock.execute("BEGIN EXCLUSIVE")
        threads = [threading.Thread(target=write, args=(n,)) for n in range(64)]
        started = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        waited = time.monotonic() - started
        lock.execute("ROLLBACK")
        assert said == ["busy"] * 64
        assert waited < 8.0  # one after the other it would be 12.8 seconds and more
        assert len(memory.list()) == 4


def test_a_short_lock_is_waited_for(
    path: Path, lock: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_SECONDS", 30.0)  # what is short is the lock
    monkeypatch.setattr(sqlite.SQLite._transact, "__defaults__", (30.0,))
    with opened(path) as memory:
        lock.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(0.05, lambda: lock.execute("ROLLBACK"))
        release.start()
        assert memory.remember("a moment later").created
        release.join()


def test_a_reader_elsewhere_makes_purge_say_what_is_left_to_do(
    path: Path, lock: sqlite3.Connection
) -> None:
    with opened(path) as memory:
        memory.remember("soon gone", id="g")
        lock.execute("BEGIN")
        lock.execute("SELECT count(*) FROM memories").fetchone()
        memory.forget("g")
        with pytest.raises(Busy, match="purge again"):
            memory.purge()
        lock.execute("ROLLBACK")
        memory.purge()
        assert memory.doctor().findings == ()
    assert b"soon gone" not in path.read_bytes()
