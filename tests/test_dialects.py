"""The published clients of other services, unchanged, against a running server."""

import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from holdfast.server.limits import Limits
from holdfast.testing import FakeClock
from tests.clients.environments import python
from tests.serving import Served, serving
from tests.waiting import until

SCRIPTS = Path(__file__).parent / "clients"
DRIVEN = [
    ("kronvex-0.3.0", "drive_kronvex_0_3.py", ()),
    ("kronvex-0.5.1", "drive_kronvex.py", ()),
    ("kronvex-0.5.2", "drive_kronvex.py", ("--cli",)),
    ("kronvex-0.5.2", "drive_httpx.py", ()),
    ("botwire-0.2.1", "drive_botwire.py", ()),
    ("zerolatency-0.1.0", "drive_zerolatency.py", ()),
    ("zerolatency-0.2.1", "drive_zerolatency.py", ("--wrapper",)),
    ("requests", "drive_memstore.py", ()),
]


@pytest.fixture(params=["url", "postgres_url"], ids=["sqlite", "postgres"])
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    with serving(request.getfixturevalue(request.param)) as served:
        yield served


def drive(served: Served, client: str, script: str, args: tuple[str, ...], key: str) -> None:
    address = served.url.removeprefix("http://")
    done = subprocess.run(
        [python(client), SCRIPTS / script, *args],
        env={
            **os.environ,
            "URL": served.url,
            "KEY": key,
            "WRONG": "hf_0123456789ab_wrong",
            "BOTWIRE_URL": f"http://:{key}@{address}",
            "HOME": os.environ["HOME"],
        },
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("client", "script", "args"), DRIVEN)
def test_the_published_client_runs_unchanged(
    served: Served, client: str, script: str, args: tuple[str, ...]
) -> None:
    drive(served, client, script, args, served.key("agent"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("why", "limits"),
    [("memories", Limits(memories=1)), ("rate", Limits(rate=0.1, burst=1)), ("busy", Limits())],
)
def test_the_client_of_kronvex_tells_limits_by_its_own_errors(
    url: str, why: str, limits: Limits
) -> None:
    with serving(url, limits=limits) as served:
        if why == "busy":
            served.host.tenants._at_work["local"] = limits.concurrent
        drive(served, "kronvex-0.5.2", "drive_kronvex_limits.py", (why,), served.key("agent"))


@pytest.mark.slow
def test_a_client_that_has_no_key_is_served_by_an_open_door(served: Served) -> None:
    drive(served, "botwire-0.2.1", "drive_botwire.py", (), "any")


def test_the_two_calls_of_the_0latency_tutorial_with_curl(served: Served) -> None:
    key = served.key("agent")

    def curl(path: str, body: str) -> str:
        head = ["-H", f"Authorization: Bearer {key}", "-H", "Content-Type: application/json"]
        url = f"{served.url}{path}"
        done = subprocess.run(
            ["curl", "-sS", "--fail-with-body", "-X", "POST", url, *head, "-d", body],
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout

    said = "Coder: let us use FastAPI with Pydantic models\\nReviewer: agreed, validate the input"
    assert '"accepted"' in curl("/v1/extract", f'{{"agent_id": "team", "content": "{said}"}}')
    ask = '{"agent_id": "team", "query": "use FastAPI or not?", "max_tokens": 200}'
    until(lambda: "Pydantic" in curl("/v1/recall", ask))


def test_kronvex_scores_follow_its_published_formula(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        path = "/api/v1/agents/a"
        http.post(f"{path}/remember", json={"content": "likes green tea"})
        for uses in range(4):
            found = http.post(f"{path}/recall", json={"query": "green tea"}).json()
            memory = found["memories"][0]
            recency, frequency = 1 / (1 + 2.718281828459045 ** (0.05 * -30)), [0, 0.289, 0.458]
            if uses < len(frequency):
                total = 0.6 * memory["similarity"] + 0.2 * recency + 0.2 * frequency[uses]
                assert memory["confidence"] == pytest.approx(total, abs=1e-3)
            nested = found["results"][0]
            assert nested["memory"]["id"] == memory["id"]
            assert nested["confidence"] == memory["confidence"]


def test_a_reply_with_a_budget_keeps_within_it(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        facts = [f"the tea of shop {n} is green and costs {n} euros" for n in range(40)]
        http.post("/memories/seed", json={"agent_id": "a", "facts": facts}).raise_for_status()
        for budget in (1, 60, 200):
            body = {"agent_id": "a", "query": "green tea", "max_tokens": budget, "limit": 40}
            found = http.post("/v1/recall", json=body).json()
            assert found["tokens_used"] <= budget
            assert len(found["memories"]) == found["memories_used"] == len(found["memory_ids"])
        assert found["memories_used"] > 1


def test_kronvex_tells_what_was_written_today(url: str) -> None:
    clock = FakeClock()
    with (
        serving(url, clock, limits=Limits(writes_a_day=3)) as served,
        httpx2.Client(base_url=served.url) as http,
    ):
        path = "/api/v1/agents/a/remember"
        http.post(path, json={"content": "yesterday's"})
        clock.advance(days=1)
        for n in range(3):
            assert http.post(path, json={"content": f"note {n}"}).status_code == 201
        http.post("/api/v1/agents/a/recall", json={"query": "note"})
        told = http.get("/api/v1/usage/today").json()
        assert (told["used"], told["limit"], told["remaining"]) == (3, 3, 0)
        assert told["date"] == clock().date().isoformat()
        refused = http.post(path, json={"content": "one more"})
        assert refused.status_code == 429
        assert "daily_quota" in refused.json()["detail"]
        assert int(refused.headers["retry-after"]) > 1


def test_a_key_of_some_scopes_is_told_of_what_was_written_in_them(served: Served) -> None:
    mine = {"x-api-key": served.key("mine", prefix="mine/")}
    all_ = {"x-api-key": served.key("all")}
    with httpx2.Client(base_url=served.url) as http:
        for agent, key in (("mine%2Fa", mine), ("other", all_)):
            path = f"/api/v1/agents/{agent}/remember"
            assert http.post(path, json={"content": "x"}, headers=key).status_code == 201
        used = [http.get("/api/v1/usage/today", headers=it).json()["used"] for it in (mine, all_)]
    assert used == [1, 2]


@pytest.mark.parametrize(
    ("limits", "status", "code"),
    [
        (Limits(content=10), 400, "content_too_long"),
        (Limits(memories=1), 429, "ops_limit_reached"),
        (Limits(writes_a_day=1), 429, "ops_limit_reached"),
        (Limits(rate=0.1, burst=1), 429, "hourly_rate_limit"),
    ],
    ids=["content", "memories", "day", "rate"],
)
def test_memstore_tells_what_is_too_much_in_its_own_words(
    url: str, limits: Limits, status: int, code: str
) -> None:
    with serving(url, limits=limits) as served, httpx2.Client(base_url=served.url) as http:
        for content in ("short", "tea", "more than ten bytes"):
            reply = http.post("/v1/memory/remember", json={"content": content})
        assert (reply.status_code, reply.json()["error"]) == (status, code)


def test_a_value_of_botwire_has_its_times(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        http.put("/memory/space/key", json={"value": "5"})
        told = http.get("/memory/space/key").json()
    assert told["value"] == "5"
    assert told["created_at"] == told["updated_at"] == pytest.approx(time.time(), abs=60)


def test_what_others_keep_in_a_channels_place_is_no_entry_of_it(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        said = {"agent_id": "ann", "type": "status", "data": {"row": 8}}
        http.post("/channels/work/create", json={"agent_id": "ann"}).raise_for_status()
        http.post("/channels/work/post", json=said).raise_for_status()
        for name, value in (("foo", 1), ("foo", said), (f"{7:017d}-{7:08x}", "bar")):
            place = f"/v1/scopes/botwire%2Fchannel%2Fwork/state/entry%2F{name}"
            http.put(place, json={"value": value}).raise_for_status()
        (entry,) = http.get("/channels/work/messages").json()["entries"]
        assert said.items() <= entry.items()
        for name, agent in (("x", 1), ("y", {"capabilities": 5})):
            place = f"/v1/scopes/botwire%2Fagents/state/{name}"
            http.put(place, json={"value": agent}).raise_for_status()
        assert http.get("/identity/search?capability=x").json()["results"] == []


def test_0latency_sums_up_what_says_the_same(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        facts = ["Ann lives in Lisbon", "Ann is living in Lisbon"]
        http.post("/v1/memory/seed", json={"agent_id": "a", "facts": facts})
        done = http.post("/v1/memory/consolidate", json={"agent_id": "a"})
        assert (done.status_code, done.json()["sources"]) == (200, 2)
        left = http.get("/v1/memory", params={"agent_id": "a"}).json()
    assert left["count"] == 1


@pytest.mark.parametrize(
    ("path", "body", "block"),
    [
        ("/api/v1/agents/a/inject-context", {"query": "general context", "limit": 8}, "context"),
        ("/v1/recall", {"query": "past work", "max_tokens": 200}, "context_block"),
        ("/recall", {"conversation_context": "Hi", "budget_tokens": 500}, "context_block"),
    ],
)
def test_what_primes_a_prompt_gets_what_comes_nearest(
    served: Served, path: str, body: dict[str, Any], block: str
) -> None:
    """Such a query asks for nothing in particular; these services always answer it."""
    body = {**body, "agent_id": "a"}
    with httpx2.Client(base_url=served.url) as http:
        assert http.post(path, json=body).json()[block] == ""
        facts = ["Deployments go to Railway", "The user likes TypeScript"]
        http.post("/memories/seed", json={"agent_id": "a", "facts": facts}).raise_for_status()
        told = http.post(path, json=body).json()
        assert "Railway" in told[block]
        assert told["memories_used"] == 2
        asked = {"agent_id": "a", "query": "general context"}
        assert http.post("/recall", json=asked).json()["memories"] == []


def test_the_pages_of_kronvex(served: Served) -> None:
    """What its unpublished clients read: pages, orders, words, and what an agent holds."""
    with httpx2.Client(base_url=f"{served.url}/api/v1/agents/a") as http:
        for n in range(5):
            told = {"content": f"note {n}", "session_id": f"s{n % 2}", "memory_type": "semantic"}
            stored = http.post("/remember", json=told)
            assert "x-dedup-hit" not in stored.headers
        again = http.post("/remember", json=told)
        assert (again.headers["x-dedup-hit"], again.json()["deduplicated"]) == ("true", True)
        assert again.json()["id"] == stored.json()["id"]

        def page(**asked: Any) -> dict[str, Any]:
            return dict(http.get("/memories", params=asked).raise_for_status().json())

        def notes(**asked: Any) -> list[str]:
            return [it["content"][-1] for it in page(**asked)["memories"]]

        first = page(limit=2, offset=2)
        assert (first["total"], first["limit"], first["offset"]) == (5, 2, 2)
        assert (first["has_more"], page(limit=2, offset=3)["has_more"]) == (True, False)
        assert notes(limit=2, offset=1) == ["3", "2"]
        assert notes(page=2, per_page=2, sort="recent") == ["2", "1"]
        assert notes(sort="date_asc") == notes(sort="oldest") == list("01234")
        assert notes(q="NOTE 3") == notes(search="note 3") == ["3"]
        assert notes(session_id="s1", memory_type="semantic") == ["3", "1"]
        for _ in range(3):  # note 4 was told twice: that is a use
            http.post("/recall", json={"query": "note 2", "top_k": 1})
        assert notes(sort="access_count")[0] == "2"
        held = http.get("/analytics", params={"days": 7}).json()
        assert held == {"total_memories": 5, "by_type": {"semantic": 5}, "sessions": 2}
        assert http.post("/remember", json={"content": "x", "ttl_seconds": 60}).json()["expires_at"]
        pinned = {"content": "y", "ttl_days": 1, "pinned": True}
        assert http.post("/remember", json=pinned).json()["expires_at"] is None


def test_memstore_signs_up_and_lists(served: Served) -> None:
    with httpx2.Client(base_url=served.url) as http:
        wanted = {"name": "Researcher", "email": "r@example.org"}
        assert http.post("/v1/agents", json=wanted).status_code == 403  # nobody needs one yet
        admin = {"authorization": f"Bearer {served.key('admin', rights=('admin',))}"}
        made = http.post("/v1/agents", json=wanted, headers=admin)
        assert (made.status_code, made.json()["name"]) == (201, "Researcher")
        assert made.json()["agent_id"]
        http.headers["authorization"] = f"Bearer {made.json()['api_key']}"
        for n in range(3):
            kept = {"content": f"finding {n}", "session": f"s{n % 2}", "tags": ["t"]}
            told = http.post("/v1/memory/remember", json=kept).json()
            assert (told["session"], told["tags"], told["metadata"]) == (f"s{n % 2}", ["t"], {})
        page = http.get("/v1/memory/list", params={"limit": 1, "offset": 1}).json()
        assert ([it["content"] for it in page["memories"]], page["total"]) == (["finding 1"], 3)
        assert http.get("/v1/memory/list", params={"session": "s0"}).json()["total"] == 2
        near = http.get("/v1/memory/recall", params={"q": "finding 2", "threshold": 0.999}).json()
        assert (near["query"], near["count"]) == ("finding 2", len(near["memories"]))
        assert http.get("/v1/memory/list", headers=admin).json()["total"] == 0  # a key is a space


def test_the_calls_of_0latencys_own_helpers(served: Served) -> None:
    """Paths of the clients it never published; some of them take 200 only."""
    with httpx2.Client(base_url=served.url) as http:
        pair = {"human_message": "Ann lives in Lisbon", "agent_message": "Noted"}
        job = http.post("/v1/memory/extract", json={"agent_id": "a", **pair})
        assert (job.status_code, job.json()["status"]) == (200, "accepted")
        where = f"/memories/extract/{job.json()['job_id']}"
        until(lambda: http.get(where).json()["status"] == "complete")
        assert http.get(where).json()["job_type"] == "extract"
        assert http.post("/extract", json={"agent_id": "b", **pair}).status_code == 202
        facts = {"agent_id": "a", "facts": ["The sky is blue", {"text": "Tea is hot"}]}
        seeded = http.post("/v1/memory/seed", json=facts).json()
        assert (seeded["memories_stored"], seeded["deduplicated_count"]) == (2, 0)
        assert http.post("/memories/seed", json=facts).json()["deduplicated_count"] == 2
        for path in ("/v1/memory/search", "/memories/search", "/v1/memories/recall"):
            asked = {"agent_id": "a", "q": "sky blue", "query": "sky blue", "limit": "1"}
            (found,) = http.get(path, params=asked).json()["memories"]
            assert (found["content"], found["id"]) == ("The sky is blue", seeded["memory_ids"][0])
        before = http.get("/memories", params={"agent_id": "a"}).json()["count"]
        gone = f"/v1/memory/{found['id']}"
        assert http.delete(gone, params={"agent_id": "a"}).json()["deleted"] is True
        again = http.delete(gone, params={"agent_id": "a"})
        assert (again.status_code, "detail" in again.json()) == (404, True)
        assert http.get("/v1/memory", params={"agent_id": "a"}).json()["count"] == before - 1
        assert http.get("/v1/health").json() == http.get("/health").json()
