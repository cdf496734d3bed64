"""The server's own ways: versions, streams, limits, jobs, books, health, and how it ends."""

import base64
import json
import logging
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast import Forbidden, LimitReached, Memory, TooLarge, Unauthenticated, ops
from holdfast.errors import EmbedderFailed, HoldfastError
from holdfast.model import Turn
from holdfast.server import crew, logs
from holdfast.server.app import make_app
from holdfast.server.host import Host
from holdfast.server.limits import Limits
from holdfast.server.metrics import Metrics
from holdfast.server.settings import Settings
from holdfast.testing import FakeClock, MoodyEmbedder
from tests.markdown import ROOT
from tests.serving import Served, serving
from tests.waiting import until

STATE = "/v1/scopes/s/state/k"
EXPORTED = b'{"type": "holdfast", "format": 1}\n'
HOUR = timedelta(hours=1)


@pytest.fixture
def served(url: str) -> Iterator[Served]:
    with serving(url) as served:
        yield served


@pytest.fixture
def http(served: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=served.url) as http:
        yield http


def limited(url: str, **limits: Any) -> Any:
    return serving(url, limits=Limits(**limits))


def wire(served: Served) -> socket.socket:
    """A connection without a client library."""
    host, port = served.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


# --- what HTTP has for it ---


def test_a_small_reply_comes_in_one_piece(served: Served) -> None:
    with wire(served) as client:
        for path in ("/health", STATE):  # an error too, and on the same connection
            client.sendall(f"GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
            head, _, body = client.recv(65536).partition(b"\r\n\r\n")
            assert f"content-length: {len(body)}".encode() in head
            assert json.loads(body)["status"] in ("ok", 404)
        client.settimeout(4)  # uvicorn ends an idle connection after five
        for last in ("", "connection: close\r\n"):
            client.sendall(f"HEAD /health HTTP/1.1\r\nhost: localhost\r\n{last}\r\n".encode())
            assert client.recv(65536).endswith(b"\r\n\r\n")
        assert client.recv(1) == b""


@pytest.mark.parametrize("last", ["", "transfer-encoding: chunked\r\n"])
def test_who_asks_for_http_2_is_answered_in_this_one(served: Served, last: str) -> None:
    body = b'{"value": 1}'
    head = f"PUT {STATE} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\n"
    head += "Upgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAAB\r\n"  # as Java does
    if last:
        head, sent = head + last, b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    else:
        head, sent = head + f"content-length: {len(body)}\r\n", body
    with wire(served) as client:
        for version in (1, 2):  # on one connection
            client.sendall(head.encode() + b"\r\n")
            time.sleep(0.05)
            client.sendall(sent)
            assert json.loads(client.recv(65536).partition(b"\r\n\r\n")[2])["version"] == version
        client.sendall(b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.recv(65536).startswith(b"HTTP/1.1 400")


def test_who_asks_first_is_told_to_go_on(served: Served) -> None:
    body = b'{"value": 1}'
    head = f"PUT {STATE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n"
    with wire(served) as client:
        client.sendall(head.encode() + b"expect: 100-continue\r\n\r\n")
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(body)
        assert client.recv(65536).startswith(b"HTTP/1.1 200 OK\r\n")


def test_state_has_etags(http: httpx2.Client) -> None:
    first = http.put(STATE, json={"value": 1}, headers={"If-None-Match": "*"})
    assert (first.status_code, first.headers["etag"]) == (200, '"1"')
    assert http.put(STATE, json={"value": 2}, headers={"If-None-Match": "*"}).status_code == 412
    stale = http.put(STATE, json={"value": 2}, headers={"If-Match": '"7"'})
    assert (stale.status_code, stale.json()["type"]) == (412, "urn:holdfast:error:Conflict")
    assert http.put(STATE, json={"value": 2}, headers={"If-Match": '"1"'}).is_success
    assert http.get(STATE, headers={"If-None-Match": '"2"'}).status_code == 304
    for known in ('"1", W/"2"', "*"):
        same = http.get(STATE, headers={"If-None-Match": known})
        assert (same.status_code, same.headers["etag"], same.content) == (304, '"2"', b"")
    assert http.get(STATE, headers={"If-None-Match": '"1"'}).json()["value"] == 2
    assert http.delete(STATE, headers={"If-Match": '"1"'}).status_code == 412
    assert http.delete(STATE, headers={"If-Match": '"2"'}).json() == {"deleted": True}


def test_a_retry_with_its_key_is_answered_once(http: httpx2.Client) -> None:
    once = {"Idempotency-Key": "a"}
    told = [http.post("/v1/scopes/s/increment/n", json={}, headers=once).json() for _ in range(3)]
    assert told[0] == told[1] == told[2]
    assert http.get("/v1/scopes/s/state/n").json()["value"] == 1
    other = http.post("/v1/scopes/s/increment/n", json={"by": 2}, headers=once)
    assert other.status_code == 409


def test_an_export_is_streamed_and_taken_in_again(http: httpx2.Client) -> None:
    drafts = [f"note {n}" for n in range(1200)]
    http.post("/v1/scopes/a/batch", json={"drafts": drafts}).raise_for_status()
    http.put("/v1/scopes/a/state/k", json={"value": {"é": 1}}).raise_for_status()
    with http.stream("GET", "/v1/scopes/a/export") as reply:
        assert reply.headers["content-type"] == "application/x-ndjson"
        assert "content-length" not in reply.headers
        body = b"".join(reply.iter_bytes())
    assert body.count(b"\n") == 1202
    done = http.post("/v1/scopes/b/import", content=body)
    assert done.json() == {"added": 1200, "known": 0, "states": 1}
    assert http.get("/v1/scopes/b/export").content == body


def test_pages_go_on_by_cursor(http: httpx2.Client) -> None:
    http.post("/v1/scopes/s/batch", json={"drafts": [f"note {n}" for n in range(7)]})
    seen, cursor = [], ""
    while True:
        page = http.get(f"/v1/scopes/s/memories?limit=3{cursor}").json()
        seen += [memory["content"] for memory in page["memories"]]
        if "cursor" not in page:
            break
        cursor = f"&cursor={page['cursor']}"
    assert seen == [f"note {n}" for n in reversed(range(7))]


@pytest.mark.parametrize("path", ["/v1/scopes/s/memories", "/v1/scopes"])
def test_a_wrong_word_in_a_query_is_told_by_its_name(http: httpx2.Client, path: str) -> None:
    for limit in ("many", "1e2", "true", "9" * 5000):
        reply = http.get(path, params={"limit": limit})
        assert reply.status_code == 400
        assert reply.json()["detail"].startswith("limit must be a whole number")


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        ({}, "This needs content."),
        ({"content": 5}, "content must be text."),
        ({"content": "x", "source": {"writer": 5}}, "source.writer must be text."),
        ({"content": "x", "tags": "a"}, "tags must be a list."),
        ({"content": ""}, "content is empty."),
    ],
)
def test_a_wrong_argument_is_told_by_the_name_it_was_sent_under(
    http: httpx2.Client, sent: dict[str, Any], detail: str
) -> None:
    told = http.post("/v1/scopes/s/remember", json=sent).json()
    assert (told["status"], told["detail"]) == (400, detail)
    assert told["advice"]


def test_what_is_given_twice_is_refused(http: httpx2.Client) -> None:
    body = b'{"content": "one", "content": "two"}'
    assert "content is given twice" in http.post("/v1/scopes/s/remember", content=body).text
    assert "limit is given twice" in http.get("/v1/scopes/s/memories?limit=1&limit=2").text
    assert http.get("/v1/scopes/s/memories?tags=a&tags=b").is_success


def test_a_mark_of_byte_order_is_no_part_of_a_body(http: httpx2.Client) -> None:
    mark = b"\xef\xbb\xbf"
    for path, body in (("remember", b'{"content": "marked"}'), ("import", EXPORTED)):
        assert http.post(f"/v1/scopes/marked/{path}", content=mark + body).is_success


def test_an_error_is_a_problem_with_advice(http: httpx2.Client) -> None:
    reply = http.get("/v1/scopes/s/memories/none", headers={"X-Request-Id": "abc-1"})
    told = reply.json()
    assert reply.headers["content-type"] == "application/problem+json"
    assert (reply.status_code, told["status"], told["request_id"]) == (404, 404, "abc-1")
    assert told["type"] == "urn:holdfast:error:NotFound"
    assert told["advice"]
    assert http.get("/nowhere").json()["title"] == "Nobody answers here; nothing was done."
    wrong = http.delete("/v1/scopes/s/recall")
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
    assert (
        http.post("/v1/scopes/s/recall", json={"quary": "x"})
        .json()["advice"]
        .startswith("This takes: query")
    )


def test_each_operation_has_a_name_that_a_generated_client_can_use(http: httpx2.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    names = [told["operationId"] for methods in paths.values() for told in methods.values()]
    assert len(set(names)) == len(names)
    assert all(name.isidentifier() for name in names)
    assert {"remember", "recall", "kronvex_recall", "memstore_remember"} <= set(names)


def test_every_reply_is_safe_for_a_browser(http: httpx2.Client) -> None:
    for path in ("/health", "/docs", "/openapi.json", "/nowhere", "/v1/scopes/s/stats"):
        headers = http.get(path, headers={"Origin": "http://localhost"}).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers
    assert http.head("/health").content == b""
    page = http.get("/docs").text
    assert "src=" not in page
    assert "https://" not in page


def test_cors_is_for_the_origins_that_were_named(url: str) -> None:
    with serving(url, cors=("https://app.example",)) as served:
        served.key("k")
        ask = {"Access-Control-Request-Method": "POST", "Origin": "https://app.example"}
        reply = httpx2.options(f"{served.url}/v1/scopes/s/recall", headers=ask)
        assert reply.headers["access-control-allow-origin"] == "https://app.example"
        other = {**ask, "Origin": "https://evil.example"}
        reply = httpx2.options(f"{served.url}/v1/scopes/s/recall", headers=other)
        assert "access-control-allow-origin" not in reply.headers


# --- keys ---


def test_a_key_is_taken_by_every_way(served: Served, http: httpx2.Client) -> None:
    key = served.key("k")
    basic = base64.b64encode(f":{key}".encode()).decode()
    for headers in (
        {"X-API-Key": key},
        {"Authorization": f"Bearer {key}"},
        {"Authorization": f"bearer {key}"},
        {"Authorization": f"Basic {basic}"},
    ):
        assert http.get("/v1/key", headers=headers).json()["home"] == "k"
    assert http.get("/v1/key").status_code == 401


def test_a_secret_is_nowhere_in_the_store(served: Served, http: httpx2.Client, url: str) -> None:
    key = served.key("k")
    http.get("/v1/key", headers={"X-API-Key": key}).raise_for_status()
    served.host._flush()
    path = Path(url.removeprefix("sqlite:///"))
    for file in path.parent.glob(f"{path.name}*"):
        assert key[16:].encode() not in file.read_bytes()
    assert served.host.ledger.keys()[0].last_used_at is not None


def test_a_secret_is_compared_in_constant_time_even_if_its_key_is_not_there(
    served: Served, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = served.key("k")
    compared: list[tuple[bytes, bytes]] = []

    def compare(held: bytes, shown: bytes) -> bool:
        compared.append((held, shown))
        return held == shown

    monkeypatch.setattr("holdfast.access.hmac.compare_digest", compare)
    wrong = f"{key[:-1]}{'a' if key[-1] != 'a' else 'b'}"
    strange = f"hf_{'0' * 12}_{key[16:]}"
    statuses = [
        http.get("/v1/key", headers={"X-API-Key": it}).status_code
        for it in (key, wrong, strange, "no key of ours")
    ]
    assert statuses == [200, 401, 401, 401]
    assert len(compared) == 4
    assert {len(digest) for pair in compared for digest in pair} == {32}


def test_rights_are_told_in_our_own_errors(served: Served) -> None:
    keys = {right: served.key(right, rights=(right,)) for right in ("read", "write")}
    with Memory("s", served.url, api_key=keys["read"]) as memory, pytest.raises(Forbidden):
        memory.remember("tea")
    with Memory("s", served.url, api_key=keys["write"]) as memory:
        assert memory.remember("tea").created
        with pytest.raises(Forbidden):
            memory.recall("tea")
    with Memory("s", served.url) as memory, pytest.raises(Unauthenticated):
        memory.recall("tea")


def test_a_rotated_key_has_one_secret(served: Served, http: httpx2.Client) -> None:
    old = served.key("k")
    _, new = served.host.access.rotate("k")
    assert http.get("/v1/key", headers={"X-API-Key": old}).status_code == 401
    assert http.get("/v1/key", headers={"X-API-Key": new}).status_code == 200


def test_the_key_is_read_from_the_environment(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_URL", served.url)
    monkeypatch.setenv("HOLDFAST_API_KEY", served.key("k"))
    with Memory("s") as memory:
        assert memory.remember("tea").created


# --- limits ---


def test_sizes_are_limited(url: str) -> None:
    with limited(url, content=100, batch=3, body=2000) as served, Memory("s", served.url) as memory:
        for call in (
            lambda: memory.remember("x" * 101),
            lambda: memory.remember_many(["a", "b", "c", "d"]),
            lambda: memory.set("k", "x" * 3000),
        ):
            with pytest.raises(TooLarge):
                call()
        assert len(memory.list()) == 0


def test_the_rate_is_a_bucket_for_each_tenant(url: str) -> None:
    clock = [0.0]
    with limited(url, rate=5.0, burst=3) as served:
        served.host.tenants.clock = lambda: clock[0]
        ann, bob = (served.key(name, tenant=name) for name in ("ann", "bob"))
        with httpx2.Client(base_url=served.url) as http:
            replies = [http.get("/v1/key", headers={"X-API-Key": ann}) for _ in range(4)]
            assert [it.status_code for it in replies] == [200, 200, 200, 429]
            left = [it.headers["ratelimit-remaining"] for it in replies]
            assert left == ["2", "1", "0", "0"]
            lost = http.get("/v1/scopes/s/memories/none", headers={"X-API-Key": bob})
            assert (lost.status_code, lost.headers["ratelimit-remaining"]) == (404, "2")
            assert [it.headers["ratelimit-limit"] for it in replies] == ["3"] * 4
            assert replies[3].headers["retry-after"] == "1"
            assert http.get("/v1/key", headers={"X-API-Key": bob}).status_code == 200
            clock[0] += 0.3
            assert http.get("/v1/key", headers={"X-API-Key": ann}).status_code == 200


def test_a_client_waits_as_it_is_told(url: str) -> None:
    with limited(url, rate=4.0, burst=1) as served, Memory("s", served.url) as memory:
        for n in range(3):
            memory.set("k", n)
        assert memory.get("k") == 2


def test_what_is_kept_is_limited(url: str) -> None:
    with limited(url, memories=3) as served, Memory("s", served.url) as memory:
        ids = [memory.remember(f"note {n}").id for n in range(3)]
        with pytest.raises(LimitReached, match="memory limit"):
            memory.remember("one more")
        with pytest.raises(LimitReached):
            memory.remember_many(["one more"])
        memory.forget(ids[0])
        memory.remember("one more")
        assert memory.set("k", 1).version == 1


def test_bytes_are_limited_by_whatever_way_they_come(url: str) -> None:
    with limited(url, bytes=100) as served, Memory("s", served.url) as memory:
        long = "the xylophone of Ann is in the attic of the old house by the sea " * 2
        for write in (
            lambda: memory.remember(long),
            lambda: memory.extract(f"Ann: {long}", keep="both"),
            lambda: memory.extract(f"Ann: {long}", wait=False),
            lambda: memory.set("k", long),
            lambda: memory.append("log", long),
            lambda: httpx2.post(
                f"{served.url}/v1/scopes/s/conversations", json={"content": long}
            ).raise_for_status(),
        ):
            with pytest.raises((LimitReached, httpx2.HTTPStatusError), match=r"limit|402"):
                write()
        memory.set("k", "x" * 60)
        served.host.tenants._held.clear()
        with pytest.raises(LimitReached):
            memory.set("k2", "x" * 60)
        assert memory.stats().memories == 0


def test_writes_of_a_day_are_limited(url: str) -> None:
    clock = FakeClock()
    with (
        serving(url, clock, limits=Limits(writes_a_day=2, rate=1000.0, burst=9)) as served,
        httpx2.Client(base_url=served.url) as http,
    ):

        def put(n: int) -> httpx2.Response:
            return http.put(STATE, json={"value": n})

        assert [put(n).status_code for n in range(3)] == [200, 200, 429]
        over = put(3).headers
        assert int(over["retry-after"]) > 1000
        assert over.get_list("ratelimit-limit") == ["9"]  # of the rate, told once
        assert http.get(STATE).json()["value"] == 1
        clock.advance(days=1)
        assert put(4).status_code == 200


def test_too_much_work_is_shed_with_503(url: str) -> None:
    slow = MoodyEmbedder("slow")
    slow.background = (0.0, 0.1)  # type: ignore[attr-defined]
    with (
        serving(url, embedder=slow, threads=2, waiting=2) as served,
        ThreadPoolExecutor(12) as pool,
    ):

        def ask(n: int) -> httpx2.Response:
            path = f"{served.url}/v1/scopes/s/remember"
            return httpx2.post(path, json={"content": f"n {n}"}, timeout=60)

        try:
            asked = [pool.submit(ask, n) for n in range(12)]
            until(lambda: sum(it.done() for it in asked) == 8)
            done = [it.result() for it in asked if it.done()]
            assert [it.status_code for it in done] == [503] * 8
            assert {it.headers["retry-after"] for it in done} == {"1"}
            assert httpx2.get(f"{served.url}/health").status_code == 200
        finally:
            slow.wake.set()
        assert sorted(it.result().status_code for it in asked) == [200] * 4 + [503] * 8


def test_what_waited_too_long_is_shed_and_not_begun(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = MoodyEmbedder("slow")
    slow.background = (0.0, 0.1)  # type: ignore[attr-defined]
    with serving(url, embedder=slow, threads=1) as served, ThreadPoolExecutor(2) as pool:

        def ask(n: int) -> httpx2.Response:
            path = f"{served.url}/v1/scopes/s/remember"
            return httpx2.post(path, json={"content": f"n {n}"}, timeout=60)

        first = pool.submit(ask, 1)
        until(lambda: slow.calls)
        monkeypatch.setattr(crew, "WAIT_SECONDS", 0.2)
        second = pool.submit(ask, 2)
        until(lambda: served.host.queue() == 1)
        time.sleep(0.5)
        slow.wake.set()
        assert [it.result().status_code for it in (first, second)] == [200, 503]
        assert second.result().headers["retry-after"] == "1"
        found = httpx2.get(f"{served.url}/v1/scopes/s/memories").json()
        assert [one["content"] for one in found["memories"]] == ["n 1"]


def test_one_tenant_cannot_take_all_the_threads(url: str) -> None:
    with limited(url, concurrent=1) as served:
        served.host.tenants.begin("local")
        reply = httpx2.get(f"{served.url}/v1/scopes/s/stats")
        served.host.tenants.end("local")
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
        assert httpx2.get(f"{served.url}/v1/scopes/s/stats").is_success


def test_calls_that_wait_for_a_thread_count_too(url: str) -> None:
    """So that one tenant's queue never stands before another's calls."""
    slow = MoodyEmbedder("slow")
    slow.background = (0.0, 0.1)  # type: ignore[attr-defined]
    with (
        serving(url, embedder=slow, threads=1, limits=Limits(concurrent=2)) as served,
        ThreadPoolExecutor(3) as pool,
    ):
        keys = [served.key(f"key of {one}", tenant=one) for one in ("greedy", "modest")]

        def told(key: str, number: int) -> int:
            where, said = f"{served.url}/v1/scopes/s/remember", {"content": f"n {number}"}
            with_key = {"x-api-key": key}
            return httpx2.post(where, json=said, headers=with_key, timeout=60).status_code

        try:
            begun = [pool.submit(told, keys[0], number) for number in range(2)]
            until(lambda: served.host.tenants._at_work.get("greedy") == 2)
            assert told(keys[0], 3) == 503
            modest = pool.submit(told, keys[1], 4)
            until(lambda: served.host.tenants._at_work.get("modest") == 1)
        finally:
            slow.wake.set()
        assert [it.result() for it in (*begun, modest)] == [200, 200, 200]


# --- jobs ---


def test_a_job_is_done_and_tells(http: httpx2.Client) -> None:
    said = [
        {"role": "user", "content": "We chose FastAPI, because it is fast."},
        {"role": "assistant", "content": "ok"},
    ]
    reply = http.post("/v1/scopes/s/conversations", json={"messages": said})
    assert reply.status_code == 202
    told: dict[str, Any] = {}

    def done() -> bool:
        told.update(http.get(f"/v1/jobs/{reply.json()['job_id']}").json())
        return bool(told["status"] == "complete")

    until(done, lambda: told)
    memories = http.get("/v1/scopes/s/memories").json()["memories"]
    assert sorted(told["memory_ids"]) == sorted(it["id"] for it in memories)
    assert told["memories_stored"] == len(memories)
    assert {(it["kind"], it["content"], it["source"]["writer"]) for it in memories} == {
        ("decision", "We chose FastAPI, because it is fast.", "user"),
        ("interaction", "ok", "agent"),
    }


def test_a_conversation_sent_again_with_its_key_is_one_job(served: Served) -> None:
    ann, bob = (served.key(name, tenant=name) for name in ("ann", "bob"))
    with httpx2.Client(base_url=served.url) as http:

        def job(key: str, scope: str, path: str = "/v1/scopes/{}/conversations") -> str:
            headers = {"X-API-Key": key, "Idempotency-Key": "a"}
            said = {"content": "We chose FastAPI."}
            body = said if "{}" in path else {**said, "agent_id": scope}
            reply = http.post(path.format(scope), json=body, headers=headers)
            assert reply.status_code == 202
            return str(reply.json()["job_id"])

        first = job(ann, "s")
        assert job(ann, "s") == first == job(ann, "s", "/v1/extract")
        assert len({first, job(ann, "t"), job(bob, "s")}) == 3


def test_a_conversation_is_a_write_of_the_day_and_a_line_of_the_audit_log(url: str) -> None:
    with limited(url, writes_a_day=1) as served, httpx2.Client(base_url=served.url) as http:
        told = [
            http.post("/v1/scopes/s/conversations", json={"content": f"We chose {name}."})
            for name in ("tea", "coffee")
        ]
        assert [it.status_code for it in told] == [202, 429]
        (line,) = http.get("/v1/audit").json()["lines"]
        assert (line["act"], line["subject"]) == ("extract", told[0].json()["job_id"])


def test_an_accepted_job_survives_a_crash_and_is_done_once(url: str) -> None:
    clock = FakeClock()
    host = Host(Settings(url=url, embedder="hashing"), clock)
    job = host.jobs.accept("local", ops.Extract(scope="s", turns=(Turn("tea"),), keep="both"))
    assert host.ledger.take_job(job, clock())
    host.jobs._extract(job)  # and dies before it is written down
    host.service.close()
    clock.advance(minutes=2)
    with serving(url, clock) as served, Memory("s", served.url) as memory:
        until(lambda: memory.stats().memories)
        assert [it.content for it in memory.list()] == ["tea"]
        assert memory.list()[0].uses == 0


def test_forgetting_a_scope_forgets_its_jobs(url: str) -> None:
    host = Host(Settings(url=url, embedder="hashing"))
    app = make_app(host)
    job = host.jobs.accept("local", ops.Extract(scope="s", turns=(Turn("the xylophone"),)))
    endpoint, names = app.router.find("POST", b"/v1/scopes/s/forget")
    from holdfast.access import OPEN_DOOR
    from holdfast.server.exchange import Call

    endpoint.answer(Call(host, OPEN_DOOR, "r", names, b"", {}, b'{"everything": true}'))
    assert host.jobs.find("local", job.id) is None
    assert host.jobs.run_some() == 0
    app.close()


# --- how it is ---


def test_ready_tells_how_store_embedder_and_door_are(url: str) -> None:
    moody = MoodyEmbedder()
    with serving(url, embedder=moody) as served, httpx2.Client(base_url=served.url) as http:
        told = http.get("/ready").json()
        assert (told["ready"], told["store"], told["embedder"]["state"]) == (
            True,
            "writable",
            "well",
        )
        assert "no key was made" in told["door"]
        moody.mood = "down"
        http.post("/v1/scopes/s/remember", json={"content": "tea"}).raise_for_status()
        assert http.get("/ready").json()["embedder"]["state"] == "failing"
        served.key("k")
        assert http.get("/ready").json()["door"] == "keys"
        assert http.get("/health").json() == {"status": "ok"}


def test_metrics_count_requests_stages_and_memories(http: httpx2.Client) -> None:
    http.post("/v1/scopes/s/remember", json={"content": "tea"}).raise_for_status()
    for verb in ("recall", "context"):
        http.post(f"/v1/scopes/s/{verb}", json={"query": "tea"}).raise_for_status()
    text = http.get("/metrics").text
    for line in (
        'holdfast_requests_total{status="200",verb="remember"} 1.0',
        'holdfast_request_seconds_count{verb="recall"} 1.0',
        'holdfast_stage_seconds_count{stage="write"}',
        'holdfast_stage_seconds_count{stage="embed"}',
        "holdfast_memories 1.0",
        "holdfast_queue_depth 0.0",
        "holdfast_jobs_waiting 0.0",
        "holdfast_degraded_seconds_total 0.0",
        "holdfast_shed_total 0.0",
        "holdfast_query_cache_hits_total 1.0",
        "holdfast_query_cache_misses_total 1.0",
        "holdfast_key_cache_hits_total 0.0",
    ):
        assert line in text, line


def test_a_total_never_falls_though_a_cache_begins_anew() -> None:
    counts = iter((5.0, 7.0, 2.0))
    told = Metrics(dict, lambda: {"query_cache_hits_total": next(counts)})
    for total in (5, 7, 9):
        assert f"holdfast_query_cache_hits_total {total}.0" in told.text().decode()


def test_logs_have_ids_and_no_words(served: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "holdfast.server")
    key = served.key("k")
    with httpx2.Client(base_url=served.url, headers={"X-API-Key": key}) as http:
        http.post("/v1/scopes/attic/remember", json={"content": "the xylophone"})
        http.get("/v1/scopes/attic/state/xylophone")
        http.post("/v1/scopes/attic/recall", content=b"xylophone")
    until(lambda: len(caplog.records) >= 3)
    lines = [logs.Lines().format(record) for record in caplog.records]
    told = [json.loads(line) for line in lines]
    assert [(it["verb"], it["status"]) for it in told] == [
        ("remember", 200),
        ("get", 404),
        ("recall", 400),
    ]
    assert all(len(it["request"]) == 16 for it in told)
    now = datetime.now(timezone.utc)
    assert all(abs(datetime.fromisoformat(it["at"][:-1] + "+00:00") - now) < HOUR for it in told)
    assert "xylophone" not in "".join(lines)
    assert "attic" not in "".join(lines)
    assert key[16:] not in "".join(lines)


def test_a_failure_is_logged_by_its_place_and_kind_not_by_its_words(
    served: Served,
    http: httpx2.Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    words = "-".join(("xylo", "phone"))  # not as a trace would show this line

    def broken(*args: Any) -> None:
        try:
            raise KeyError(words)
        except KeyError as error:
            raise RuntimeError(words) from error

    def mute(*args: Any) -> None:
        raise EmbedderFailed(words)

    for does in (broken, mute):
        monkeypatch.setattr(served.host.service, "stats", does)
        assert http.get("/v1/scopes/s/stats").status_code >= 500
    lines = [json.loads(logs.Lines().format(it)) for it in caplog.records]
    assert words not in str(lines)
    told = [line for line in lines if line["level"] == "error"]
    assert [it["what"] for it in told] == ["unforeseen", "failed"]
    assert told[0]["trace"].index("KeyError\n") < told[0]["trace"].index("RuntimeError\n")
    assert "test_server.py" in told[0]["trace"]
    assert told[1]["error"] == "EmbedderFailed"


def test_what_was_not_foreseen_is_told_to_the_log_only(
    served: Served, http: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise RuntimeError("the secret path is /etc/xylophone")

    monkeypatch.setattr(served.host.service, "stats", broken)
    reply = http.get("/v1/scopes/s/stats")
    assert reply.status_code == 500
    assert "xylophone" not in reply.text
    monkeypatch.setattr(
        served.host.service, "stats", lambda *a: (_ for _ in ()).throw(HoldfastError("/etc/x"))
    )
    assert "/etc/x" not in http.get("/v1/scopes/s/stats").text


def test_a_verb_is_one_line_of_the_audit_log(served: Served) -> None:
    with Memory("s", served.url) as memory:
        memory.policy(reconcile=True)
        memory.remember("Ann lives in Berlin", source="ann")
        new = memory.remember("Ann lives in Rome now", source="ann")
        assert new.superseded
        memory.extract("Ann: I moved to Oslo.", keep="both")
        memory.purge()
    served.host._flush()
    acts = [line.act for _, line in served.host.ledger.noted("local", 2**62, 100)]
    assert sorted(acts) == ["extract", "purge", "remember", "remember", "setpolicy"]


# --- how it begins and ends ---


def test_an_address_that_others_reach_needs_a_key(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "serve", "--host", "0.0.0.0", "--url", url],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2
    assert "there is no key" in done.stderr


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def started(url: str, *more: str) -> tuple[subprocess.Popen[str], str]:
    port = free_port()
    words = ["serve", "--url", url, "--port", str(port), "--embedder", "hashing", *more]
    runs = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *words], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    address = f"http://127.0.0.1:{port}"

    def ready() -> bool:
        assert runs.poll() is None, "it ended by itself"
        try:
            return httpx2.get(f"{address}/ready").is_success
        except httpx2.HTTPError:
            return False

    until(ready, lambda: "it did not start")
    return runs, address


@pytest.mark.slow
def test_it_finishes_what_it_accepted(url: str) -> None:
    runs, address = started(url)
    drafts = {"drafts": [f"note {n} about the tea shop" for n in range(300)]}
    replies: list[int] = []
    begun = 'holdfast_stage_seconds_count{stage="embed"}'
    with (
        closing(sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)) as lock,
        httpx2.Client(base_url=address, timeout=60) as http,
    ):
        work = threading.Thread(
            target=lambda: replies.append(http.post("/v1/scopes/s/batch", json=drafts).status_code)
        )
        lock.execute("BEGIN IMMEDIATE")  # so that it is at work until we say so
        work.start()
        until(lambda: begun in httpx2.get(f"{address}/metrics").text)
        runs.send_signal(signal.SIGTERM)
        lock.execute("ROLLBACK")
        work.join()
    assert runs.wait(30) in (0, -signal.SIGTERM)
    assert replies == [200]
    with Memory("s", url) as memory:
        assert memory.stats().memories == 300
    assert runs.stderr is not None
    with runs.stderr as said:
        assert "OPEN: no key was made" in said.read()


def queries_met(address: str) -> float:
    """How many queries the caches of vectors met, as any worker tells it."""
    lines = httpx2.get(f"{address}/metrics").text.splitlines()
    return sum(float(it.split()[1]) for it in lines if it.startswith("holdfast_query_cache_"))


@pytest.mark.slow
def test_workers_share_one_store(url: str) -> None:
    runs, address = started(url, "--workers", "2")
    try:
        with ThreadPoolExecutor(8) as pool:
            put = lambda n: httpx2.post(f"{address}/v1/scopes/s/increment/n", json={})  # noqa: E731
            assert {it.status_code for it in pool.map(put, range(60))} == {200}
        assert {
            httpx2.get(f"{address}/v1/scopes/s/state/n").json()["value"] for _ in range(20)
        } == {60}
        counted = [
            line
            for line in httpx2.get(f"{address}/metrics").text.splitlines()
            if line.startswith('holdfast_requests_total{status="200",verb="increment"}')
        ]
        assert counted == ['holdfast_requests_total{status="200",verb="increment"} 60.0']
        with ThreadPoolExecutor(8) as pool:  # whoever answers, and whoever tells
            ask = lambda n: httpx2.post(f"{address}/v1/scopes/s/recall", json={"query": "tea"})  # noqa: E731
            assert {it.status_code for it in pool.map(ask, range(40))} == {200}
        until(lambda: {queries_met(address) for _ in range(10)} == {40})
    finally:
        os.kill(runs.pid, signal.SIGTERM)
        runs.wait(30)
        assert runs.stderr is not None
        runs.stderr.close()
