"""The client: what it tries again, what it does not, and what it makes of odd servers."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast import (
    AsyncMemory,
    Closed,
    HoldfastError,
    Invalid,
    LimitReached,
    Memory,
    RateLimited,
    StoreFull,
    Unavailable,
    ops,
    remote,
)
from holdfast.errors import Conflict
from holdfast.server.connection import Connection
from tests.markdown import ROOT
from tests.serving import serving
from tests.waiting import until

OK: tuple[int, str, dict[str, str]] = (200, '{"id": "m", "created": true}', {})


@contextmanager
def answering(*replies: tuple[int, str, dict[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """A server that gives these replies, the last of them for ever; and the keys it was sent."""
    keys: list[str] = []

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            keys.append(self.headers.get("idempotency-key", ""))
            status, body, headers = replies[min(len(keys), len(replies)) - 1]
            self.send_response(status)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *args: object) -> None:
            """Says nothing."""

    server = HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", keys
    finally:
        server.shutdown()
        server.server_close()


def problem(kind: str) -> str:
    return f'{{"type": "urn:holdfast:error:{kind}", "detail": "It broke.", "advice": "Mend it."}}'


@pytest.mark.parametrize(
    "reply", [(503, problem("Busy"), {}), (502, "<html>", {}), (429, "", {"retry-after": "0"})]
)
def test_what_may_succeed_later_is_tried_again_with_the_same_key(
    reply: tuple[int, str, dict[str, str]],
) -> None:
    with answering(reply, reply, OK) as (url, keys), Memory("s", url) as memory:
        assert memory.remember("tea").id == "m"
        assert len(keys) == 3
        assert len(set(keys)) == 1
        assert keys[0]


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (409, problem("Conflict"), Conflict),
        (402, problem("LimitReached"), LimitReached),
        (507, problem("StoreFull"), StoreFull),
        (500, problem("HoldfastError"), HoldfastError),
        (500, "Internal Server Error", HoldfastError),
        (404, problem("__class__"), HoldfastError),
        (404, '{"type": 5}', HoldfastError),
        (301, "", HoldfastError),
        (200, "<html>a page</html>", HoldfastError),
        (200, '{"id": 5}', HoldfastError),
        (200, "[]", HoldfastError),
    ],
)
def test_what_cannot_is_told_at_once(status: int, body: str, kind: type[HoldfastError]) -> None:
    with answering((status, body, {})) as (url, keys), Memory("s", url) as memory:
        with pytest.raises(kind) as told:
            memory.remember("tea")
        assert type(told.value) is kind
        assert len(keys) == 1


def test_it_waits_as_long_as_it_is_told() -> None:
    busy = (429, problem("RateLimited"), {"retry-after": "1"})
    with answering(busy, OK) as (url, _), Memory("s", url) as memory:
        start = time.monotonic()
        assert memory.remember("tea").created
        assert time.monotonic() - start >= 1


def test_pauses_grow_and_are_not_the_same_for_all() -> None:
    def pauses() -> list[float]:
        talk = remote.ask(ops.Recall(scope="s", query="tea"))
        waited: list[float] = []
        step = next(talk)
        with suppress(Unavailable):
            while True:
                if isinstance(step, remote.Wait):
                    waited.append(step.seconds)
                step = talk.send(httpx2.ConnectError("nobody is there"))
        return waited

    told = [pauses() for _ in range(20)]
    assert {len(it) for it in told} == {remote.ATTEMPTS - 1}
    for attempt, waited in enumerate(zip(*told, strict=True)):
        middle = min(remote.LONGEST_WAIT, remote.FIRST_WAIT * 2**attempt)
        assert middle / 2 <= min(waited) < max(waited) <= 1.5 * middle


def test_a_connection_is_used_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Connection] = []
    begin = Connection.connection_made

    def count(connection: Connection, transport: Any) -> None:
        made.append(connection)
        begin(connection, transport)

    monkeypatch.setattr(Connection, "connection_made", count)
    with serving(url) as served, Memory("s", served.url) as memory:
        before = len(made)
        for n in range(10):
            memory.set("n", n)
        assert memory.get("n") == 9
        assert len(made) == before + 1


def test_it_does_not_wait_until_tomorrow() -> None:
    full = (429, problem("RateLimited"), {"retry-after": "50000"})
    with answering(full) as (url, keys), Memory("s", url) as memory:
        with pytest.raises(RateLimited) as told:
            memory.remember("tea")
        assert told.value.retry_after == 50000
        assert len(keys) == 1


def test_nobody_there_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "FIRST_WAIT", 0.001)
    with Memory("s", "http://127.0.0.1:9") as memory, pytest.raises(Unavailable):
        memory.recall("tea")


@pytest.mark.parametrize("url", ["http://", "http://host?x=1", "https:///path", "http://h#f"])
def test_a_wrong_url_is_refused(url: str) -> None:
    with pytest.raises(Invalid):
        Memory("s", url)
    with pytest.raises(Invalid):
        Memory("s", "http://host", api_key="ключ")


def test_a_closed_memory_is_closed(url: str) -> None:
    with serving(url) as served:
        memory = Memory("s", served.url)
        memory.close()
        memory.close()
        with pytest.raises(Closed):
            memory.recall("tea")


WAITS = (503, problem("Busy"), {"retry-after": "20"})


def test_a_call_that_waits_when_its_memory_is_closed_ends_at_once() -> None:
    with answering(WAITS) as (url, keys), ThreadPoolExecutor(1) as pool:
        memory = Memory("s", url)
        asked = pool.submit(memory.remember, "tea")
        until(lambda: keys)
        memory.close()
        with pytest.raises(Closed):
            asked.result(15)


def test_a_write_that_waits_when_its_memory_is_closed_goes_into_the_outbox(tmp_path: Path) -> None:
    file = tmp_path / "outbox.db"
    with answering(WAITS) as (url, keys), ThreadPoolExecutor(1) as pool:
        memory = Memory("s", url, outbox=str(file))
        asked = pool.submit(memory.remember, "tea")
        until(lambda: keys)
        memory.close()
        assert asked.result(15).id
    outbox = remote.open_outbox(str(file), url, None)
    assert outbox is not None
    assert outbox.pending == 1


def test_a_call_that_waits_on_a_loop_when_its_memory_is_closed_ends() -> None:
    async def main(url: str, keys: list[str]) -> None:
        memory = AsyncMemory("s", url)
        asked = asyncio.create_task(memory.remember("tea"))
        while not keys:
            await asyncio.sleep(0.01)
        await memory.close()
        with pytest.raises(Closed):
            await asked

    busy = (503, problem("Busy"), {"retry-after": "0.5"})
    with answering(busy, OK) as (url, keys):
        asyncio.run(main(url, keys))


def test_what_needs_the_file_is_refused(url: str, tmp_path: object) -> None:
    with serving(url) as served, Memory("s", served.url) as memory:
        for call in (lambda: memory.backup("x.db"), lambda: memory.reembed("hashing")):
            with pytest.raises(Invalid, match="where the store's file is"):
                call()


def test_a_forked_child_has_connections_of_its_own(url: str) -> None:
    code = (
        "import os, sys, holdfast\n"
        "memory = holdfast.Memory('s', sys.argv[1])\n"
        "memory.set('parent', 1)\n"
        "if (child := os.fork()) == 0:\n"
        "    for n in range(20): memory.increment('n')\n"
        "    os._exit(0)\n"
        "for n in range(20): memory.increment('n')\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert memory.get('n') == 40\n"
    )
    with serving(url) as served:
        subprocess.run([sys.executable, "-c", code, served.url], check=True, cwd=ROOT, timeout=60)
