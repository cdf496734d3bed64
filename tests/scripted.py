"""A language model on this machine that says what it is told to, for tests."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Script = list[Callable[["Handler"], None]]


class Handler(BaseHTTPRequestHandler):
    """Answers each request with the next step of a script; the last step stays."""

    script: Script
    asked: list[dict[str, Any]]
    keys: list[str | None]

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body)
        self.keys.append(self.headers.get("Authorization"))
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        step(self)

    def say(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def said(content: str) -> Callable[[Handler], None]:
    """A whole answer of a model."""
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    body = {"choices": [{"message": {"content": content}}], "usage": usage}
    return lambda handler: handler.say(json.dumps(body).encode())


def raw(body: bytes, status: int = 200) -> Callable[[Handler], None]:
    return lambda handler: handler.say(body, status)


def slow(handler: Handler) -> None:
    """A model that says something all the time, and nothing whole before a minute is over."""
    handler.send_response(200)
    handler.end_headers()
    with suppress(ConnectionError):  # whoever asked has long gone
        for _ in range(1200):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)


Start = Callable[..., tuple[str, type[Handler]]]


@contextmanager
def models() -> Iterator[Start]:
    """A function that starts a model with a script; gives its address and what it was asked."""
    servers: list[ThreadingHTTPServer] = []

    def start(*script: Callable[[Handler], None]) -> tuple[str, type[Handler]]:
        kind = type("Scripted", (Handler,), {"script": list(script), "asked": [], "keys": []})
        server = ThreadingHTTPServer(("127.0.0.1", 0), kind)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}/v1", kind

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
