"""Writes that cannot be sent wait on disk: in order, each once, visible meanwhile."""

import asyncio
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import AsyncMemory, Conflict, Memory, NotFound, Unavailable, outbox
from holdfast.service import utc_now
from holdfast.testing import FakeClock
from tests.markdown import ROOT
from tests.serving import serving
from tests.waiting import until


@pytest.fixture
def port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(outbox, "FIRST_REST", 0.05)
    monkeypatch.setattr(outbox, "CLOSE_SECONDS", 2.0)
    return str(tmp_path / "outbox.db")


@pytest.fixture
def away(port: int, box: str) -> Iterator[Memory]:
    """A memory whose server is not there."""
    with Memory("s", f"http://127.0.0.1:{port}", outbox=box) as memory:
        yield memory


def pending(memory: Memory | AsyncMemory) -> int:
    assert memory.outbox is not None
    return memory.outbox.pending


def test_what_waits_is_sent_in_order_when_the_server_is_back(
    away: Memory, url: str, port: int
) -> None:
    ids = [away.remember(f"note {n}").id for n in range(5)]
    away.set("cursor", 1), away.set("cursor", 2), away.increment("runs"), away.increment("runs")
    away.append("log", "a"), away.append("log", "b")
    away.set("gone", 1), away.delete("gone")
    away.revise(ids[0], "note zero")
    away.forget(ids[1])
    assert pending(away) == 15
    with serving(url, port=port):
        until(lambda: pending(away) == 0)
        assert [it.id for it in away.list()] == [ids[4], ids[3], ids[2], ids[0]]
        assert away.read(ids[0]).content == "note zero"
        assert away.entry("cursor").value == 2
        assert (away.get("runs"), away.get("log"), away.get("gone")) == (2, ["a", "b"], None)
        assert away.outbox is not None
        assert away.outbox.refused == []


def test_what_waits_is_seen_and_marked(away: Memory) -> None:
    stored = away.remember("Ann likes green tea", tags=["drink"])
    assert stored.created
    away.remember("Bob likes coffee")
    found = away.recall("who likes green tea?")
    assert [hit.content for hit in found] == ["Ann likes green tea"]
    assert (found[0].id, found[0].memory.version) == (stored.id, 0)
    assert "cannot be reached" in str(found.degraded)
    assert len(away.recall("who likes what", tags=["drink"])) == 1
    away.forget(stored.id)
    assert len(away.recall("who likes green tea?")) == 0
    assert away.set("k", {"a": 1}).version == 0
    assert away.get("k") == {"a": 1}
    away.delete("k")
    assert away.get("k") is None
    with pytest.raises(Unavailable):
        away.list()


def test_a_write_that_depends_on_what_is_stored_cannot_wait(away: Memory) -> None:
    for write in (
        lambda: away.set("k", 1, if_version=3),
        lambda: away.resolve("m"),
        lambda: away.rollback("crawler"),
        lambda: away.approve("m"),
        lambda: away.dissolve("m"),
    ):
        with pytest.raises(Unavailable):
            write()
    assert pending(away) == 0


def test_a_conversation_waits_and_is_learned_from_later(away: Memory, url: str, port: int) -> None:
    done = away.extract("Ana: I moved to Lisbon last week.", session="chat")
    assert (done.job, done.learned) == ("outbox", ())
    found = away.recall("who moved to Lisbon?")
    assert [(hit.memory.kind, hit.memory.version) for hit in found] == [("interaction", 0)]
    with serving(url, FakeClock(), port=port):
        until(lambda: pending(away) == 0)
        assert away.outbox is not None
        assert away.outbox.refused == []
        assert [it.content.split(" in ")[0] for it in away.list()] == ["Ana moved to Lisbon"]
        said = away.list()[0].happened_at  # as of the day it was told, whatever the server's is
        assert timedelta(days=1) < utc_now() - said < timedelta(days=20)
        again = away.extract("Ana: I moved to Lisbon last week.", session="chat")
        assert (again.turns, again.learned) == (0, ())


def test_a_prompt_block_has_what_waits(away: Memory, url: str, port: int) -> None:
    away.remember("Ann likes green tea")
    block = away.context("who likes green tea?")
    assert "Ann likes green tea" in block
    assert away.context("who likes green tea?", budget=1) == ""
    with serving(url, port=port) as served:
        until(lambda: pending(away) == 0)
        with Memory("s", served.url) as direct:
            direct.remember("Bob tried green tea: it was bitter", avoid=True)
        assert away.outbox is not None
        away.outbox.put(_remember("Cid likes green tea too"))
        block = away.context("who likes green tea?")
    assert block.index("Bob") < block.index("Ann")
    assert "Cid" in block


def test_nothing_waits_without_an_outbox(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.remote.ATTEMPTS", 1)
    with Memory("s", f"http://127.0.0.1:{port}") as memory:
        assert memory.outbox is None
        with pytest.raises(Unavailable):
            memory.recall("tea")


def test_it_survives_the_agent(url: str, port: int, box: str) -> None:
    server = f"http://127.0.0.1:{port}"
    code = (
        "import os, sys, holdfast\n"
        "memory = holdfast.Memory('s', sys.argv[1], outbox=sys.argv[2])\n"
        "for n in range(20): print(memory.remember(f'note {n}').id, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, server, box],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    told = done.stdout.split()
    assert len(told) == 20
    with serving(url, port=port), Memory("s", server, outbox=box) as memory:
        until(lambda: pending(memory) == 0)
        assert [it.id for it in memory.list()] == told[::-1]


def test_what_is_refused_is_kept_and_told(away: Memory, url: str, port: int) -> None:
    away.remember("taken", id="same")
    away.remember("other words", id="same")
    away.remember("after it")
    with serving(url, port=port):
        until(lambda: pending(away) == 0)
        assert away.outbox is not None
        refused = away.outbox.refused
        assert [(it.op.scope, "taken by other words" in it.error) for it in refused] == [
            ("s", True)
        ]
        assert len(away.list()) == 2
        away.outbox.clear_refused()
        assert away.outbox.refused == []
        with pytest.raises(Conflict):
            away.remember("third words", id="same")


def test_it_has_bounds(away: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbox, "MOST_WRITES", 2)
    away.remember("one"), away.remember("two")
    with pytest.raises(Unavailable, match="outbox is full"):
        away.remember("three")
    assert pending(away) == 2


def test_what_waited_too_long_is_not_sent(
    away: Memory, url: str, port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert away.outbox is not None
    monkeypatch.setattr(outbox, "OLDEST", timedelta(0))
    away.remember("old")
    with serving(url, port=port):
        until(lambda: pending(away) == 0)
        assert "waited so long" in away.outbox.refused[0].error
        assert len(away.list()) == 0


def test_closing_sends_what_it_can(url: str, port: int, box: str) -> None:
    server = f"http://127.0.0.1:{port}"
    memory = Memory("s", server, outbox=box)
    memory.remember("note")
    with serving(url, port=port):
        memory.close()
        with Memory("s", server) as other:
            assert [it.content for it in other.list()] == ["note"]


def test_it_waits_for_a_key_that_is_put_right(url: str, port: int, box: str) -> None:
    server = f"http://127.0.0.1:{port}"
    with serving(url, port=port) as served:
        key = served.key("agent")
        with Memory("s", server, api_key=f"{key[:16]}wrong", outbox=box) as memory:
            assert memory.outbox is not None
            memory.outbox.put(_remember("note"))
            until(lambda: b'status="401"' in served.host.metrics.text())
            assert (pending(memory), memory.outbox.refused) == (1, [])
        with Memory("s", server, api_key=key, outbox=box) as memory:
            until(lambda: pending(memory) == 0)
            assert len(memory.list()) == 1


def _remember(words: str) -> Any:
    from holdfast import ops

    return ops.Remember(scope="s", draft=ops.Draft(content=words), idempotency_key=words)


def _pump(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while data := here.recv(1 << 20):
            there.sendall(data)
        there.shutdown(socket.SHUT_RDWR)


class Cut:
    """A way to a server that is cut between the request and the reply, the first few times."""

    def __init__(self, port: int, cuts: int) -> None:
        self._target, self._cuts = port, cuts
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                here, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._carry, args=(here,), daemon=True).start()

    def _carry(self, here: socket.socket) -> None:
        with here, socket.create_connection(("127.0.0.1", self._target)) as there:
            threading.Thread(target=_pump, args=(here, there), daemon=True).start()
            while reply := there.recv(1 << 20):
                if self._cuts > 0:
                    self._cuts -= 1
                    here.shutdown(socket.SHUT_RDWR)
                    return
                here.sendall(reply)

    def close(self) -> None:
        self._socket.close()


@pytest.mark.parametrize("cuts", [1, 2, 5])
@pytest.mark.parametrize("with_box", [False, True])
def test_a_lost_reply_doubles_nothing(url: str, box: str, cuts: int, with_box: bool) -> None:
    with serving(url) as served:
        way = Cut(int(served.url.rpartition(":")[2]), cuts)
        server = f"http://127.0.0.1:{way.port}"
        with Memory("s", server, outbox=box if with_box else False) as memory:
            for _ in range(3):
                memory.increment("runs")
            memory.append("log", "once")
            if with_box:
                until(lambda: pending(memory) == 0)
            assert (memory.get("runs"), memory.get("log")) == (3, ["once"])
        way.close()


def test_async_memories_have_one_too(url: str, port: int, box: str) -> None:
    server = f"http://127.0.0.1:{port}"

    async def offline() -> str:
        async with AsyncMemory("s", server, outbox=box) as memory:
            id = (await memory.remember("likes tea")).id
            assert pending(memory) == 1
            assert (await memory.recall("who likes tea?"))[0].id == id
            await memory.delete("k")
            with pytest.raises(NotFound):
                await memory.entry("k")
            return id

    id = asyncio.run(offline())
    with serving(url, port=port):

        async def online() -> None:
            async with AsyncMemory("s", server, outbox=box) as memory:
                await asyncio.to_thread(until, lambda: pending(memory) == 0)
                assert (await memory.read(id)).content == "likes tea"

        asyncio.run(online())


def test_sent_words_leave_the_file(away: Memory, url: str, port: int, box: str) -> None:
    away.remember("the xylophone is in the attic")
    assert b"xylophone" in Path(box).read_bytes()
    with serving(url, port=port):
        until(lambda: pending(away) == 0)
    assert b"xylophone" not in Path(box).read_bytes()
    assert oct(Path(box).stat().st_mode & 0o777) == "0o600"
