"""One store from outside: where it is, who shares it, its copies, what is left of the forgotten."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from holdfast import AsyncMemory, Closed, Conflict, Memory, Source
from holdfast.backend import open_backend
from holdfast.embed.hashing import Hashing
from holdfast.testing import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def memory(url: str, clock: FakeClock) -> Iterator[Memory]:
    with Memory("s", backend=open_backend(url, "hashing", clock)) as memory:
        yield memory


# --- where it is ---


def test_without_a_url_it_is_in_the_users_data_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    with Memory("s", embedder="hashing") as memory:
        memory.remember("at home")
    assert (Path.home() / ".local/share/holdfast/memory.db").exists()


def test_the_data_folder_may_be_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    Memory("s", embedder="hashing").close()
    assert (tmp_path / "data/holdfast/memory.db").exists()


def test_the_environment_may_name_the_store(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_URL", url)
    with Memory("s", embedder="hashing") as memory, Memory("s", url, embedder="hashing") as same:
        memory.remember("likes tea")
        assert len(same.list()) == 1


def test_a_path_may_be_relative_or_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Memory("s", "sqlite:///here.db", embedder="hashing") as memory:
        memory.remember("likes tea")
        monkeypatch.chdir("/")
        assert len(memory.list()) == 1
    Memory("s", "sqlite:///~/there.db", embedder="hashing").close()
    assert (tmp_path / "here.db").exists()
    assert (Path.home() / "there.db").exists()


# --- who shares it ---


def test_memories_of_one_store_share_it_until_the_last_closes(url: str) -> None:
    one, two = Memory("a", url, embedder="hashing"), Memory("b", url, embedder="hashing")
    one.remember("likes tea")
    one.close()
    with pytest.raises(Closed):
        one.list()
    two.remember("likes coffee")
    two.close()
    with Memory("a", url, embedder="hashing") as again:
        assert [it.content for it in again.list()] == ["likes tea"]


def test_a_memory_says_whose_it_is(memory: Memory) -> None:
    assert (repr(memory), memory.scope) == ("Memory('s')", "s")


def test_to_use_holdfast_nothing_of_its_tests_is_imported() -> None:
    code = (
        "import holdfast, sys; print({'pytest', 'hypothesis', 'holdfast.testing'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_an_event_loop_runs_many_verbs_at_once(url: str) -> None:
    async def work() -> tuple[int, int, list[str]]:
        async with AsyncMemory("s", url, embedder="hashing") as memory:
            told = await asyncio.gather(*(memory.remember(f"note {n}") for n in range(50)))
            found = await asyncio.gather(*(memory.recall(f"note {n}", 1) for n in range(50)))
            lines = [line async for line in memory.export()]
        return len({each.id for each in told}), len(lines), [hits[0].content for hits in found]

    assert asyncio.run(work()) == (50, 51, [f"note {n}" for n in range(50)])


def test_an_event_loop_is_never_held_up(url: str) -> None:
    started, release = threading.Event(), threading.Event()

    class Slow(Hashing):
        def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if "wait" in texts[0]:
                started.set()
                assert release.wait(30)
            return super().embed(texts)

    async def work() -> bool:
        async with AsyncMemory("s", url, embedder=Slow()) as memory:
            slow = asyncio.create_task(memory.remember("wait for it"))
            while not started.is_set():
                await asyncio.sleep(0)
            waited = not slow.done()
            release.set()
            return waited and (await slow).created

    assert asyncio.run(work())


# --- its copies ---


def test_a_backup_is_an_equal_store(memory: Memory, tmp_path: Path, clock: FakeClock) -> None:
    id = memory.remember("likes tea", tags=["x"]).id
    memory.revise(id, "likes coffee")
    memory.set("k", {"a": None})
    memory.recall("coffee")
    size = memory.backup(str(tmp_path / "new" / "copy.db"))
    assert size == (tmp_path / "new" / "copy.db").stat().st_size
    memory.forget(everything=True)
    url = f"sqlite:///{tmp_path / 'new' / 'copy.db'}"
    with Memory("s", backend=open_backend(url, "hashing", clock)) as copy:
        assert [it.content for it in copy.history(id)] == ["likes tea", "likes coffee"]
        assert copy.recall("likes coffee", tags=["x"])[0].memory.uses == 1
        assert copy.get("k") == {"a": None}
        assert copy.doctor().findings == ()
        assert copy.remember("goes on").created
    assert memory.list().memories == ()


def test_a_backup_never_writes_over_a_file(memory: Memory, tmp_path: Path) -> None:
    target = tmp_path / "precious.txt"
    target.write_text("precious")
    with pytest.raises(Conflict, match="exists already"):
        memory.backup(str(target))
    assert target.read_text() == "precious"


def test_a_backup_is_whole_while_others_write(memory: Memory, tmp_path: Path) -> None:
    memory.remember_many([f"note {n}" for n in range(3000)])
    over = threading.Event()

    def write() -> None:
        n = 0
        while not over.is_set():
            n += 1
            memory.remember_many([f"pair {n} left", f"pair {n} right"])

    writer = threading.Thread(target=write)
    writer.start()
    memory.backup(str(tmp_path / "copy.db"))
    over.set()
    writer.join()
    with Memory("s", f"sqlite:///{tmp_path / 'copy.db'}", embedder="hashing") as copy:
        assert copy.stats().memories % 2 == 0
        assert copy.stats().memories >= 3000
        assert copy.doctor().findings == ()


# --- what is left of the forgotten ---


def raw(tmp_path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in tmp_path.glob("memory.db*"))


def tell(memory: Memory) -> str:
    source = Source("writerxyzzy", "user", "messagexyzzy")
    id = memory.remember(
        "the contentxyzzy is long " * 80,
        kind="kindxyzzy",
        tags=["tagxyzzy"],
        meta={"keyxyzzy": "metaxyzzy"},
        session="sessionxyzzy",
        source=source,
        id="idxyzzy",
        idempotency_key="oncexyzzy",
    ).id
    memory.revise(id, "the revisionxyzzy", idempotency_key="againxyzzy")
    memory.set("statexyzzy", {"xyzzy": "valuexyzzy"}, idempotency_key="setxyzzy")
    memory.recall("contentxyzzy")
    return id


def test_nothing_of_a_forgotten_scope_is_left_in_the_file(url: str, tmp_path: Path) -> None:
    with Memory("other", url, embedder="hashing") as other:
        other.remember("the car is red")
        with Memory("scopexyzzy", url, embedder="hashing") as memory:
            tell(memory)
            assert raw(tmp_path).lower().count(b"xyzzy") > 10
            memory.forget(everything=True)
            memory.purge()
            assert b"xyzzy" not in raw(tmp_path).lower()
        assert [hit.content for hit in other.recall("red car")] == ["the car is red"]


def test_nothing_of_a_forgotten_memory_is_left_in_the_file(memory: Memory, tmp_path: Path) -> None:
    memory.forget(tell(memory))
    memory.delete("statexyzzy")
    memory.purge()
    assert b"xyzzy" not in raw(tmp_path).lower()


def test_nothing_of_what_expired_is_left_in_the_file(
    memory: Memory, clock: FakeClock, tmp_path: Path
) -> None:
    memory.remember("the contentxyzzy", tags=["tagxyzzy"], ttl=60, idempotency_key="oncexyzzy")
    memory.set("statexyzzy", "valuexyzzy", ttl=60, idempotency_key="setxyzzy")
    clock.advance(seconds=60)
    done = memory.purge()
    assert (done.memories, done.states) == (1, 1)
    assert b"xyzzy" not in raw(tmp_path).lower()


def test_purge_gives_room_back(memory: Memory) -> None:
    memory.remember_many([f"{n} " + "green tea " * 300 for n in range(300)])
    before = memory.stats().file_bytes
    memory.forget(everything=True)
    freed = memory.purge().freed_bytes
    assert freed > before / 2
    assert memory.stats().file_bytes < before / 2


def test_a_retry_is_known_for_a_week_purge_or_not(memory: Memory, clock: FakeClock) -> None:
    first = memory.append("log", "once", idempotency_key="a")
    clock.advance(days=6)
    memory.purge()
    assert memory.append("log", "once", idempotency_key="a") == first
    assert memory.get("log") == ["once"]


def test_a_clock_that_jumps_back_harms_nothing(memory: Memory, clock: FakeClock) -> None:
    id = memory.remember("likes tea", ttl=3600).id
    memory.set("k", 1, ttl=3600)
    clock.advance(days=-1)
    assert memory.revise(id, "likes coffee").version == 2
    assert memory.set("k", 2).version == 2
    assert [hit.content for hit in memory.recall("likes coffee")] == ["likes coffee"]
    assert [it.content for it in memory.history(id)] == ["likes tea", "likes coffee"]
    lines = list(memory.export())
    with Memory("copy", backend=memory._backend) as copy:
        copy.import_(lines)
        assert list(copy.export()) == lines
        assert copy.doctor().findings == ()
