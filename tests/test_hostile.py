"""Input that means harm: it is refused in words, and the server goes on."""

import base64
import json
import select
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import quote, urlsplit

import httpx2
import pytest

from holdfast import Memory
from holdfast.server import connection
from holdfast.server.limits import Limits
from tests.serving import Served, serving

SQL = ["'; DROP TABLE memories; --", '" OR 1=1 --', "%", "_", "*", "NEAR(a b)", "a AND NOT b"]
SQL += ["x'41'", "\\", "{", "1:tea", "tea²", "terms:tea", '"unbalanced', "(((((", "^tea", "-tea"]
PATHS = [
    "/v1/scopes/../../etc/passwd/stats",
    "/v1/scopes/%2e%2e%2f%2e%2e%2fetc/stats",
    "/v1/scopes/..%2f..%2f/stats",
    "//v1/scopes/a/stats",
    "/v1/scopes//stats",
    "/v1/scopes/a/stats/",
    "/v1/scopes/a%00b/stats",
    "/v1/scopes/%ff%fe/stats",
    "/v1/scopes/a%0d%0aX-Evil:1/stats",
    "/v1/scopes/" + "a" * 5000 + "/stats",
    "/v1/scopes/a;b=c/stats",
    "/memory/a/../../b",
    "/api/v1/agents/%2e%2e/memories",
    "/" + "a/" * 500,
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    url = f"sqlite:///{tmp_path_factory.mktemp('hostile') / 'm.db'}"
    with serving(url, limits=Limits(body=1_000_000), body_seconds=4.0) as served:
        with Memory("a", served.url) as memory:
            memory.remember("likes tea", id="tea")
        yield served
        with Memory("a", served.url) as memory:
            assert memory.read("tea").content == "likes tea"
            assert memory.doctor().healthy


@pytest.fixture
def http(served: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=served.url) as http:
        yield http


def raw(served: Served, data: bytes, seconds: float = 5.0) -> bytes:
    """What the server says to bytes."""
    address = urlsplit(served.url)
    with socket.create_connection((address.hostname, address.port), seconds) as wire:
        wire.sendall(data)
        wire.settimeout(seconds)
        found = b""
        try:
            while part := wire.recv(65536):
                found += part
        except TimeoutError:
            pass
        return found


@pytest.mark.parametrize("path", PATHS)
def test_tricks_with_the_path_reach_nothing(served: Served, path: str) -> None:
    said = raw(
        served, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
    )
    status = int(said.split()[1])
    assert status in (200, 400, 404, 405), said
    assert b"root:" not in said
    assert b"X-Evil" not in said.split(b"\r\n\r\n")[0]


@pytest.mark.parametrize("words", SQL)
def test_metacharacters_are_words_everywhere(served: Served, words: str) -> None:
    with Memory(words, served.url) as memory:
        memory.remember(f"{words} tea", kind="fact", tags=[words], session=words, meta={words: 1})
        memory.set(words, words)
        assert memory.get(words) == words
        assert len(memory.recall(f"{words} tea", tags=[words], session=words, meta={words: 1})) == 1
        assert memory.keys(words) == (words,)
        assert len(memory.list(tags=[words])) == 1
        assert memory.stats().memories == 1
        assert memory.forget(session=words).memories == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"1",
        b"{",
        b'{"content": NaN}',
        b'{"content": "\\ud800"}',
        b'{"content": "a\\u0000b"}',
        b"\xff\xfe{}",
        b'{"content": {"a": 1}}',
        b'{"content": ["x"]}',
        b'{"content": "x", "content_": 1}',
        b'{"content": "x", "ttl": 1e999}',
        b'{"content": "x", "ttl": -1}',
        b'{"content": "x", "pinned": "yes"}',
        b'{"content": "x", "happened_at": "yesterday"}',
        b'{"content": "x", "happened_at": "2026-01-01T00:00:00"}',
        b'{"content": "x", "meta": {"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}}",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"content": "x", "meta": {"n": ' + b"9" * 5000 + b"}}",
        b'{"content": "' + b"x" * 40_000 + b'"}',
        json.dumps({"content": "x", "tags": [str(n) for n in range(1000)]}).encode(),
        json.dumps({"content": "x", "id": "x" * 10_000}).encode(),
        json.dumps({"content": "x", "kind": "two words"}).encode(),
    ],
)
def test_a_wrong_body_is_told_what_is_wrong(http: httpx2.Client, body: bytes) -> None:
    reply = http.post("/v1/scopes/a/remember", content=body)
    assert reply.status_code in (400, 413), reply.text
    told = reply.json()
    assert reply.headers["content-type"] == "application/problem+json"
    assert told["detail"]
    assert told["type"] in ("urn:holdfast:error:Invalid", "urn:holdfast:error:TooLarge")
    assert len(reply.content) < 2000


def test_a_body_over_the_limit_is_not_read(served: Served, http: httpx2.Client) -> None:
    assert http.post("/v1/scopes/a/remember", content=b"x" * 1_000_001).status_code == 413
    head = b"POST /v1/scopes/a/remember HTTP/1.1\r\nHost: localhost\r\n"
    said = raw(served, head + b"Content-Length: 99999999999\r\n\r\n")
    assert said.startswith(b"HTTP/1.1 413")
    chunk = b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n"
    said = raw(served, head + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk)
    assert b"413" in said.split(b"\r\n")[0]


def test_a_strangers_import_is_not_received(url: str) -> None:
    head = b"POST /v1/scopes/a/import HTTP/1.1\r\nHost: localhost\r\nX-API-Key: hf_guessed\r\n"
    with serving(url) as served:
        served.key("somebody")
        said = raw(served, head + b"Content-Length: 200000000\r\n\r\n", 3.0)
    assert said.startswith(b"HTTP/1.1 401")


def test_half_a_body_is_none(served: Served, http: httpx2.Client) -> None:
    lines = '{"type":"holdfast","format":1}\n{"type":"state","key":"k","value":1,"version":1,'
    lines += '"updated_at":"2026-01-01T00:00:00Z"}\n'
    head = f"POST /v1/scopes/half/import HTTP/1.1\r\nHost: localhost\r\nContent-Length: {9999}"
    address = urlsplit(served.url)
    with socket.create_connection((address.hostname, address.port)) as wire:
        wire.sendall(f"{head}\r\n\r\n{lines}".encode())
    time.sleep(0.2)
    assert http.get("/v1/scopes/half/stats").json()["states"] == 0


def test_a_slow_body_is_given_up_and_holds_nobody_up(served: Served, http: httpx2.Client) -> None:
    head = b"POST /v1/scopes/a/remember HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
    address = urlsplit(served.url)
    slow = [socket.create_connection((address.hostname, address.port)) for _ in range(40)]
    for wire in slow:
        wire.sendall(head + b'{"con')
    assert http.get("/v1/scopes/a/stats").status_code == 200
    assert select.select(slow, [], [], 0)[0] == []  # answered before any of them is given up
    for wire in slow:
        wire.settimeout(60)
        assert b"408" in wire.recv(100)
        wire.close()


def test_a_slow_head_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.5)
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with serving(url) as served:
        for first in (b"", b"GET /hea", whole + whole[:20]):  # the second of a connection, too
            assert raw(served, first, 10.0).rpartition(b"HTTP/1.1 ")[2].startswith(b"408")


def test_who_goes_on_sending_a_body_that_was_refused_is_left(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 1.0)
    head = b"POST /v1/scopes/a/remember HTTP/1.1\r\nHost: localhost\r\n"
    with serving(url, limits=Limits(body=100)) as served:
        address = urlsplit(served.url)
        with socket.create_connection((address.hostname, address.port), 30) as wire:
            wire.sendall(head + b"Content-Length: 1000000\r\n\r\n")
            assert wire.recv(65536).startswith(b"HTTP/1.1 413")
            give_up = time.monotonic() + 30
            with suppress(ConnectionError):
                while time.monotonic() < give_up:
                    wire.sendall(b"x")  # a little now and then, so that it is never idle
                    time.sleep(0.05)
            assert time.monotonic() < give_up


def test_what_is_no_http_is_told_so(served: Served) -> None:
    for data in (b"BREW /tea HTTP/1.1\r\n\r\n", b"GET /x HTTP/1.1\r\nno colon\r\n\r\n"):
        head, _, body = raw(served, data).partition(b"\r\n\r\n")
        assert b"\r\ncontent-type: application/problem+json\r\n" in head
        told = json.loads(body)
        assert (told["status"], told["detail"]) == (400, "This is not HTTP/1.1.")


def test_a_head_without_end_is_refused(served: Served) -> None:
    for endless in (b"/" + b"x" * 70_000, b"/health HTTP/1.1\r\nX: " + b"y" * 70_000):
        said = raw(served, b"GET " + endless, 10.0)
        assert said.startswith(b"HTTP/1.1 431")
        assert b"\r\nx-content-type-options: nosniff\r\n" in said


@pytest.mark.parametrize(
    "headers",
    [
        {"X-API-Key": "é".encode().decode("latin-1")},
        {"Authorization": "Bearer"},
        {"Authorization": "Bearer " + "x" * 8000},
        {"Authorization": "Basic !!!"},
        {"Authorization": "Basic " + base64.b64encode(b"\xff:\xfe").decode()},
        {"Authorization": "Digest abc"},
        {"Idempotency-Key": "%ff"},
        {"Idempotency-Key": "x" * 5000},
        {"If-Match": '"-1"'},
        {"If-Match": '"99999999999999999999"'},
        {"If-Match": "abc"},
        {"X-Request-Id": "evil\tid"},
        {"X-Request-Id": "x" * 5000},
        {"Content-Type": "multipart/form-data"},
        {"Content-Encoding": "gzip"},
        {"Accept": "text/html"},
        {"Range": "bytes=0-10"},
        {"X-HTTP-Method-Override": "DELETE"},
        {"X-Forwarded-For": "1.2.3.4"},
    ],
)
def test_odd_headers_do_no_harm(http: httpx2.Client, headers: dict[str, str]) -> None:
    named = {name: value.encode("latin-1") for name, value in headers.items()}
    reply = http.put("/v1/scopes/a/state/k", json={"value": 1}, headers=named)  # type: ignore[arg-type]
    assert reply.status_code in (200, 400, 412), reply.text
    assert len(reply.headers["x-request-id"]) <= 64


def test_garbage_on_the_wire_is_refused(served: Served) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"G" * 100_000,
        b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"POST /v1/scopes/a/remember HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
        b"POST /recall HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
        b"Transfer-Encoding: chunked\r\n\r\nzz",
    ):
        said = raw(served, data, 1.0)
        assert not said or said.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4")), said


def test_a_web_page_cannot_use_an_open_door(served: Served, http: httpx2.Client) -> None:
    port = served.url.rpartition(":")[2]
    for headers in (
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
        {"Origin": "http://localhost:3000"},  # another server on this machine
        {"Origin": f"http://localhost:{port}"},  # to a browser, another place than 127.0.0.1
        {"Host": "evil.example:8420"},
        {"Host": f"evil.example:{port}", "Origin": f"http://evil.example:{port}"},
    ):
        reply = http.post("/v1/scopes/a/remember", content=b'{"content":"x"}', headers=headers)
        assert reply.status_code == 403, headers
        assert "without keys" in reply.json()["title"]
        assert "access-control-allow-origin" not in reply.headers
    for name in ("127.0.0.1", "localhost", "[::1]"):
        own = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}"}
        assert http.get("/v1/scopes/a/stats", headers=own).is_success


def test_a_page_that_was_named_can_use_an_open_door(url: str) -> None:
    named = "http://localhost:3000"
    with serving(url, cors=(named, "*")) as served:
        stats = f"{served.url}/v1/scopes/a/stats"
        assert httpx2.get(stats, headers={"Origin": named}).is_success
        assert httpx2.get(stats, headers={"Origin": "https://evil.example"}).status_code == 403


def test_scopes_that_look_alike_are_apart(served: Served) -> None:
    names = ["a", "A", "a/", "a/b", "a%2Fb", "a b", "a+b", "ａ", "a.", "..", ".", "a?b", "a#b", "é"]
    names += ["e\u0301", "a\\b", "a'b", 'a"b', "%61", "a;b", "a=b&c=d", "~", "state", "memories"]
    for number, name in enumerate(names):
        with Memory(name, served.url) as memory:
            memory.set("who", number)
            memory.set(f"key of {name}/x", number)
    for number, name in enumerate(names):
        with Memory(name, served.url) as memory:
            assert memory.get("who") == number, name
            assert memory.get(f"key of {name}/x") == number
            assert len(memory.keys("key of")) == 1


def test_names_with_slashes_may_also_be_sent_plain(http: httpx2.Client) -> None:
    http.put("/v1/scopes/plain/state/a/b/c", json={"value": 1}).raise_for_status()
    assert http.get(f"/v1/scopes/plain/state/{quote('a/b/c', safe='')}").json()["value"] == 1
    assert http.get("/v1/scopes/plain/state").json() == {"keys": ["a/b/c"]}
