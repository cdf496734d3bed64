"""A real server for tests: uvicorn on a free port of this machine, in a thread."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import uvicorn

from holdfast.embed import Embedder
from holdfast.server.host import Host
from holdfast.server.run import server
from holdfast.server.settings import Settings
from holdfast.service import utc_now
from tests.waiting import until


@dataclass
class Served:
    """A server that runs."""

    url: str
    host: Host
    server: uvicorn.Server

    def key(self, name: str, **how: Any) -> str:
        """The text of a new key."""
        text = self.host.access.create(name, **how)[1]
        self.host.access._open = (0.0, False)
        return text


@contextmanager
def serving(
    url: str,
    clock: Callable[[], datetime] = utc_now,
    embedder: Embedder | None = None,
    **how: Any,
) -> Iterator[Served]:
    """A server on a store, until the block ends."""
    settings = Settings(**{"url": url, "embedder": "hashing", "port": 0, **how})
    host = Host(settings, clock, embedder)
    runs = server(settings, host)
    thread = threading.Thread(target=runs.run, daemon=True)
    thread.start()
    until(lambda: runs.started or not thread.is_alive(), lambda: "the server never started")
    port = runs.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(f"http://127.0.0.1:{port}", host, runs)
    finally:
        runs.should_exit = True
        thread.join(30)
        assert not thread.is_alive()
