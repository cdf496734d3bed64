"""A memory server with moods: well, down, slow, broken (500) or garbled; well again, it goes on."""

import http.client
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.serving import serving

MOODS = ("down", "slow", "broken", "garbled")
SLOW = 30.0  # seconds
FRAMEWORK = 5.0  # seconds that a turn may take without us, on the busiest machine
LATE = 2.0  # seconds by which such a machine may wake whoever waited long enough


@contextmanager
def in_time(turns: int, seconds: float) -> Iterator[None]:
    """Turns of a chat: memory may take `seconds` of each; a busy machine far more, but not 30."""
    began = time.monotonic()
    yield
    assert time.monotonic() - began < turns * (seconds + FRAMEWORK)


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow; whoever uses this has a process of their own."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


class Troubled:
    """In front of a real server; `mood` says what it does with a request."""

    def __init__(self, behind: str) -> None:
        self.behind = behind.removeprefix("http://")
        self.mood = "well"
        self.well = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _front(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def recover(self) -> None:
        self.mood = "well"
        self.well.set()

    def close(self) -> None:
        self.well.set()
        self._server.shutdown()
        self._server.server_close()


def _front(trouble: Troubled) -> type[BaseHTTPRequestHandler]:
    class Front(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if trouble.mood == "down":
                self.close_connection = True
                self.connection.close()
            elif trouble.mood == "slow":
                trouble.well.wait(SLOW)
                self._say(503, b"{}")
            elif trouble.mood == "broken":
                self._say(500, b"Internal Server Error")
            elif trouble.mood == "garbled":
                self._say(200, b"<html>Welcome to your new router</html>")
            else:
                self._forward(body)

        do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _any  # noqa: N815

        def _forward(self, body: bytes) -> None:
            to = http.client.HTTPConnection(trouble.behind, timeout=30)
            headers = {k: v for k, v in self.headers.items() if k.lower() != "host"}
            to.request(self.command, self.path, body, headers)
            reply = to.getresponse()
            self._say(reply.status, reply.read(), reply.headers.get("content-type"))
            to.close()

        def _say(self, status: int, body: bytes, kind: str | None = None) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind or "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    return Front


@contextmanager
def troubled(folder: Path) -> Iterator[Troubled]:
    """A real server on a store in this folder, behind one with moods."""
    with serving(f"sqlite:///{folder / 'served.db'}") as served:
        front = Troubled(served.url)
        yield front
        front.close()
