"""The HTTP embedder against a real server on this machine that behaves well, or badly."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from holdfast.embed import Embedder
from holdfast.embed.http import HttpEmbedder
from holdfast.errors import EmbedderFailed, Invalid
from tests.waiting import until

KEY = "sk-very-secret-123"


class Call(BaseHTTPRequestHandler):
    """One request; what is done with it is the next item of the server's script."""

    server: "Server"
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.calls.append(self)
        script = self.server.script
        (script.pop(0) if len(script) > 1 else script[0])(self)

    def answer(self, content: object, status: int = 200, **headers: str) -> None:
        text = content if isinstance(content, str) else json.dumps(content)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


class Server(ThreadingHTTPServer):
    """A server that follows a script, the last item of it for ever."""

    daemon_threads = True
    script: list[Callable[[Call], None]]

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Call)
        self.script, self.calls = [good], list[Call]()
        self.url = f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: object) -> None:
        """A client that hangs up is part of the script."""


def vector(text: str) -> list[float]:
    """A vector by which a test knows its text."""
    return [3.0, 4.0, float(len(text))]


def rows(call: Call) -> list[dict[str, Any]]:
    texts = enumerate(call.body["input"])
    return [{"index": index, "embedding": vector(text)} for index, text in texts]


def good(call: Call) -> None:
    call.answer({"object": "list", "data": rows(call)})


def shuffled(call: Call) -> None:
    call.answer({"data": rows(call)[::-1]})


def without_index(call: Call) -> None:
    call.answer({"data": [{"embedding": row["embedding"]} for row in rows(call)]})


def slow(call: Call) -> None:
    """Says nothing before it is left."""
    with suppress(ConnectionError):
        call.rfile.read(1)


def dripping(call: Call) -> None:
    call.send_response(200)
    call.send_header("Content-Length", "1000")
    call.end_headers()
    with suppress(ConnectionError):  # until whoever asked has gone
        for _ in range(1000):
            call.wfile.write(b" ")
            call.wfile.flush()
            time.sleep(0.05)


def broken_off(call: Call) -> None:
    call.send_response(200)
    call.send_header("Content-Length", "1000")
    call.end_headers()
    call.wfile.write(b'{"data": [')
    call.close_connection = True


def hung_up(call: Call) -> None:
    call.close_connection = True


def status(code: int, text: str = "", **headers: str) -> Callable[[Call], None]:
    return lambda call: call.answer(text, code, **headers)


def data(*embeddings: object) -> Callable[[Call], None]:
    given = [{"index": index, "embedding": row} for index, row in enumerate(embeddings)]
    return lambda call: call.answer({"data": given})


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
        yield running
        running.shutdown()


def embedder(server: Server, **settings: Any) -> HttpEmbedder:
    defaults: dict[str, Any] = {"api_key": KEY, "timeout": 5.0, "backoff": 0.01}
    return HttpEmbedder(server.url, "some-model", 3, **(defaults | settings))


def failure(server: Server, *script: Callable[[Call], None], **settings: Any) -> str:
    """What the embedder says when it fails."""
    server.script[:] = script
    with pytest.raises(EmbedderFailed) as caught:
        embedder(server, **settings).embed(["a text"])
    return str(caught.value)


def expected(texts: list[str]) -> Any:
    wanted = np.array([vector(text) for text in texts])
    return wanted / np.linalg.norm(wanted, axis=1, keepdims=True)


def test_it_is_an_embedder(server: Server) -> None:
    found: Embedder = embedder(server)
    assert (found.name, found.version, found.dimension) == ("http", "some-model", 3)
    assert not found.local


@pytest.mark.parametrize("answer", [good, shuffled, without_index])
def test_each_text_gets_its_own_unit_vector(server: Server, answer: Callable[[Call], None]) -> None:
    server.script[:] = [answer]
    texts = ["a", "bbb", "cc"]
    found = embedder(server).embed(texts)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected(texts), rtol=1e-6)


def test_huge_and_tiny_numbers_are_only_a_matter_of_scale(server: Server) -> None:
    server.script[:] = [data([3e300, 4e300, 0.0], [3e-300, 4e-300, 0.0])]
    found = embedder(server).embed(["a", "b"])
    np.testing.assert_allclose(found, [[0.6, 0.8, 0.0]] * 2, rtol=1e-6)


def test_what_is_sent(server: Server) -> None:
    embedder(server).embed(["a", ""])
    [call] = server.calls
    assert call.path == "/v1/embeddings"
    assert call.headers["Authorization"] == f"Bearer {KEY}"
    # An empty text is refused by some, so a blank stands for it.
    assert call.body == {"model": "some-model", "input": ["a", " "], "encoding_format": "float"}


def test_without_a_key_no_header(server: Server) -> None:
    embedder(server, api_key=None).embed(["a"])
    assert "Authorization" not in server.calls[0].headers


def test_texts_go_in_batches(server: Server) -> None:
    texts = ["x" * n for n in range(1, 8)]
    found = embedder(server, batch=3).embed(texts)
    assert [len(call.body["input"]) for call in server.calls] == [3, 3, 1]
    np.testing.assert_allclose(found, expected(texts), rtol=1e-6)


def test_no_texts_no_request(server: Server) -> None:
    assert embedder(server).embed([]).shape == (0, 3)
    assert not server.calls


@pytest.mark.parametrize("trouble", [status(500), status(503), status(429), broken_off, hung_up])
def test_a_trouble_that_passes_is_not_noticed(
    server: Server, trouble: Callable[[Call], None]
) -> None:
    server.script[:] = [trouble, trouble, good]
    np.testing.assert_allclose(embedder(server).embed(["a"]), expected(["a"]), rtol=1e-6)
    assert len(server.calls) == 3


def test_a_trouble_that_stays_is_told_after_the_last_attempt(server: Server) -> None:
    said = failure(server, status(500, "out of\n memory"), retries=2)
    assert "HTTP 500 Internal Server Error. out of memory" in said
    assert len(server.calls) == 3


def test_the_server_says_how_long_to_wait(server: Server) -> None:
    server.script[:] = [status(429, Retry_After="0.3"), good]
    started = time.monotonic()
    embedder(server).embed(["a"])
    assert time.monotonic() - started >= 0.3


def test_the_server_may_name_a_date(server: Server) -> None:
    past = formatdate(time.time() - 60, usegmt=True)
    server.script[:] = [status(503, Retry_After=past), good]
    embedder(server, backoff=20.0).embed(["a"])
    assert len(server.calls) == 2


def test_nobody_waits_an_hour(server: Server) -> None:
    assert "HTTP 429" in failure(server, status(429, Retry_After="3600"))
    assert len(server.calls) == 1


def test_a_slow_server_is_tried_again_and_given_up(server: Server) -> None:
    said = failure(server, slow, timeout=0.1, retries=1)
    assert "timed out" in said
    until(lambda: len(server.calls) == 2)  # a busy machine hears of it when nobody waits any more


def test_an_answer_that_drips_is_given_up(server: Server) -> None:
    assert "no whole answer in 1 seconds" in failure(server, dripping, timeout=1.0, retries=0)


def test_a_server_that_is_not_there(server: Server) -> None:
    nobody = HttpEmbedder("http://127.0.0.1:1/v1", "m", 3, retries=0)
    with pytest.raises(EmbedderFailed, match="refused"):
        nobody.embed(["a"])


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (data([1.0, 2.0]), "its vectors have 2 numbers, not 3"),
        (data([1.0, float("nan"), 2.0]), "NaN or infinity"),
        (data([1.0, float("inf"), 2.0]), "NaN or infinity"),
        (data([0.0, 0.0, 0.0]), "nothing but zeros"),
        (data(), "0 answers came for 1 texts"),
        (data([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), "2 answers came for 1 texts"),
        (data("abc"), "not a list of vectors"),
        (data([1.0, None, 3.0]), "NaN or infinity"),
        (status(200, "<html>"), "not a list of vectors"),
        (status(200, "[1, 2]"), "not a list of vectors"),
        (status(200, '{"data": 5}'), "not a list of vectors"),
        (status(200, '{"data": [{"index": 7, "embedding": [1, 2, 3]}]}'), "not a list of vectors"),
        (status(200, "[" * 100_000), "not a list of vectors"),
        (status(200, " " * 1_000_000), "longer than"),
        (status(401, "bad key"), "HTTP 401 Unauthorized. bad key"),
        (status(302, Location="http://127.0.0.1:1/elsewhere"), "HTTP 302"),
    ],
)
def test_a_wrong_answer_is_an_error_at_once(
    server: Server, answer: Callable[[Call], None], says: str
) -> None:
    assert says in failure(server, answer)
    assert len(server.calls) == 1


def test_the_key_is_told_to_nobody(server: Server) -> None:
    found = embedder(server)
    assert KEY not in repr(found)
    assert KEY not in failure(server, status(401, f"Incorrect key: {KEY}"))
    assert KEY not in failure(server, status(500, f"Incorrect key: {KEY}"), retries=0)
    with pytest.raises(Invalid) as caught:
        embedder(server, api_key=f"{KEY}\r\nX-Evil: 1")
    assert KEY not in str(caught.value)


def test_what_an_address_holds_beside_the_place_is_not_shown(server: Server) -> None:
    found = HttpEmbedder(f"{server.url}?key=hidden", "m", 3, retries=0)
    found.embed(["a"])
    assert server.calls[0].path == "/v1/embeddings?key=hidden"
    assert "hidden" not in repr(found)


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "localhost:80", "", "http://", "http://me:word@localhost/v1"]
)
def test_an_address_must_be_one(address: str) -> None:
    with pytest.raises(Invalid) as caught:
        HttpEmbedder(address, "m", 3)
    assert "word" not in str(caught.value).replace("password", "")


@pytest.mark.parametrize("settings", [{"dimension": 0}, {"batch": 0}, {"timeout": 0}])
def test_settings_must_make_sense(settings: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"base_url": "http://localhost/v1", "model": "m", "dimension": 3}
    with pytest.raises(Invalid):
        HttpEmbedder(**(usual | settings))
