"""A load generator that costs little: keep-alive connections, bytes out, bytes in, times taken."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import socket
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

QUERIES = ["green tea of shop 7", "which shop sells honey?", "the price of coffee"]
DIMENSION = 384  # of the vectors that a rival is given ready made
JSON = "content-type: application/json\r\n"


def request(method: str, path: str, body: Any = None, headers: str = "") -> bytes:
    """The bytes of a request."""
    data = b"" if body is None else json.dumps(body).encode()
    length = f"content-length: {len(data)}\r\n" if data else ""
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{headers}{length}\r\n".encode() + data


class Connection(asyncio.Protocol):
    """One client: sends the next request when the last was answered."""

    def __init__(
        self, make: Callable[[int], bytes], until: float, done: asyncio.Future[None]
    ) -> None:
        self._make, self._until, self._done = make, until, done
        self._begun, self._count, self._data = 0.0, 0, b""
        self.times: list[float] = []
        self.statuses: dict[int, int] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport: Any = transport
        self._next()

    def _next(self) -> None:
        self._begun = time.perf_counter()
        self._transport.write(self._make(self._count))
        self._count += 1

    def data_received(self, data: bytes) -> None:
        self._data += data
        if not _whole(self._data):
            return
        status = int(self._data[9:12])
        self.statuses[status] = self.statuses.get(status, 0) + 1
        now = time.perf_counter()
        if status < 400:
            self.times.append(now - self._begun)
        self._data = b""
        if now < self._until:
            self._next()
        else:
            self._finish()

    def connection_lost(self, error: Exception | None) -> None:
        self._finish()

    def _finish(self) -> None:
        if not self._done.done():
            self._done.set_result(None)
        self._transport.close()


async def load(
    url: str, make: Callable[[int, int], bytes], clients: int, seconds: float
) -> dict[str, Any]:
    """What so many clients measure in so many seconds."""
    place, loop = _place(url), asyncio.get_running_loop()
    begun = time.perf_counter()
    ends, connections = [], []
    for number in range(clients):
        ends.append(loop.create_future())
        connections.append(Connection(partial(make, number), begun + seconds, ends[-1]))
        await loop.create_connection(partial(_same, connections[-1]), *place)
    await asyncio.gather(*ends)
    took = time.perf_counter() - begun
    times = sorted(it for made in connections for it in made.times)
    statuses: dict[int, int] = {}
    for made in connections:
        for status, count in made.statuses.items():
            statuses[status] = statuses.get(status, 0) + count
    return {
        "clients": clients,
        "per_second": round(len(times) / took, 1),
        "p50_ms": round(1000 * times[len(times) // 2], 3) if times else None,
        "p99_ms": round(1000 * times[int(0.99 * (len(times) - 1))], 3) if times else None,
        "statuses": statuses,
    }


class Caller:
    """One client that waits for each answer, as most programs do."""

    def __init__(self, url: str, kind: str) -> None:
        self._socket = socket.create_connection(_place(url))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._make, self._count = requests(kind), itertools.count()

    def __call__(self) -> None:
        """Asks once, and reads the answer."""
        self._socket.sendall(self._make(0, next(self._count)))
        data = b""
        while not _whole(data):
            data += self._socket.recv(65536)
        if data[9:10] != b"2":
            raise RuntimeError(data.decode())

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()


def _place(url: str) -> tuple[str, int]:
    address = urlsplit(url)
    return address.hostname or "", address.port or 80


def _same(made: Connection) -> Connection:
    return made


def _whole(data: bytes) -> bool:
    """Whether a reply has come in full."""
    head, end, rest = data.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return bool(end) and len(rest) >= int(length or 0)


def requests(kind: str) -> Callable[[int, int], bytes]:
    """The requests of one kind: by the number of the client, and of the request."""
    scope = "/v1/scopes/bench"
    fixed = {
        "echo": request("POST", "/echo", {"value": 1}),
        "state get": request("GET", f"{scope}/state/cursor"),
        "health": request("GET", "/health"),
    }
    if kind in fixed:
        return lambda client, count: fixed[kind]
    if kind == "state set":
        return lambda client, count: request(
            "PUT", f"{scope}/state/c{client}", {"value": {"row": count}}
        )
    if kind == "remember":
        mark = time.time_ns()
        return lambda client, count: request(
            "POST",
            f"{scope}/remember",
            {"content": f"note {mark} {client} {count} of the tea shop"},
        )
    asked = [request("POST", f"{scope}/{kind}", {"query": query}) for query in QUERIES]
    return lambda client, count: asked[count % len(asked)]


def chroma_requests(kind: str, path: str) -> Callable[[int, int], bytes]:
    """The requests to Chroma's collection at a path."""
    if kind == "chroma query":
        body = {"query_embeddings": [_vector(7)], "n_results": 5}
        asked = request("POST", f"{path}/query", body, JSON)
        return lambda client, count: asked
    mark = time.time_ns()
    return lambda client, count: request(
        "POST", f"{path}/add", _batch([f"{mark} {client} {count}"]), JSON
    )


def fill_chroma(url: str, size: int) -> str:
    """Fills a collection of Chroma's server; gives its path."""
    root = "/api/v2/tenants/default_tenant/databases/default_database/collections"
    made = _post(f"{url}{root}", {"name": "bench", "get_or_create": True})
    path = f"{root}/{made['id']}"
    ids = [str(n) for n in range(size)]
    for start in range(0, size, 500):
        _post(f"{url}{path}/add", _batch(ids[start : start + 500]))
    return path


def _batch(ids: list[str]) -> dict[str, Any]:
    texts = [f"the green tea of shop {id}" for id in ids]
    return {"ids": ids, "embeddings": [_vector(hash(id)) for id in ids], "documents": texts}


def _vector(seed: int) -> list[float]:
    chance = random.Random(seed)
    return [round(chance.uniform(-1, 1), 4) for _ in range(DIMENSION)]


def _post(url: str, body: Any) -> Any:
    asked = Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urlopen(asked, timeout=60) as reply:
        return json.loads(reply.read() or b"null")


def main() -> None:
    """Reads a task, prints what it found."""
    task = json.loads(sys.argv[1])
    kind, path = task["kind"], urlsplit(task["url"]).path
    make = chroma_requests(kind, path) if kind.startswith("chroma") else requests(kind)
    found = asyncio.run(load(task["url"], make, task["clients"], task["seconds"]))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
