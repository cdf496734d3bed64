"""Every path of the server, walked with the keys of two tenants and with keys that lack rights."""

import json
import re
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

import httpx2
import pytest

from holdfast import Memory, ops
from holdfast.server.app import Endpoint, make_app
from holdfast.testing import FakeClock
from tests.serving import Served, serving

SECRET = "xylophone"  # a word of Ann's that nobody else may ever read
OPEN = re.compile(r"/(v1/)?health|/ready|/openapi\.json|/docs|/|/console/[a-z]+\.(css|js|svg)")
USES = re.compile(r',"uses":.*')  # a recall counts as one
NAMED = re.compile(r"\{(\w+)\*?\}")
READS = {
    *("recall", "context", "explain", "list", "read", "history", "keys", "get", "count", "export"),
    *("marks", "job", "scopes", "key", "metrics", "audit"),
}


@dataclass(frozen=True)
class Names:
    """What a walker calls things."""

    scope: str
    id: str
    key: str
    job: str

    def path(self, pattern: str) -> str:
        known = {"scope": self.scope, "agent": self.scope, "namespace": self.scope}
        known |= {"channel": self.scope, "id": self.id, "key": self.key, "job": self.job}
        return NAMED.sub(lambda found: known[found[1]], pattern)


ANN = Names("ann-scope", "ann-memory", "ann-key", "")
NOBODY = Names("non-scope", "non-memory", "non-key", "01a1e20d-e3dc-7f38-b0ae-64bd64ac57a4")


def body(verb: str, names: Names) -> Any:
    """What each verb is sent; the words are the walker's own."""
    words, ask = {"content": "the walker was here"}, {"query": "xylophone walker"}
    agent = {"agent_id": names.scope}
    return {
        "remember": words,
        "remembermany": {"drafts": ["one", "two"]},
        "recall": ask,
        "context": ask,
        "explain": {**ask, "id": names.id},
        "revise": words,
        "forget": {"id": names.id},
        "set": {"value": 1},
        "append": {"item": 1},
        "increment": {},
        "import": {"lines": ['{"type":"holdfast","format":1}']},
        "purge": {},
        "doctor": {},
        "conversation": words,
        "extract": {"turns": [{"text": "the walker was here"}]},
        "resolve": {"id": names.id},
        "rollback": {"source": "walker"},
        "setpolicy": {},
        "consolidate": {},
        "dissolve": {"id": names.id},
        "kronvex.create_agent": {"name": "walker"},
        "kronvex.remember": words,
        "kronvex.recall": ask,
        "kronvex.inject_context": ask,
        "memstore.remember": words,
        "memstore.sign_up": {"name": names.scope},
        "botwire.put": {"value": "1"},
        "botwire.register": {"name": names.id, "accept_terms": True},
        "botwire.create": agent,
        "botwire.post": {**agent, "type": "data", "data": 1},
        "zerolatency.seed": {**agent, **words},
        "zerolatency.recall": {**agent, **ask},
        "zerolatency.extract": {**agent, **words},
        "zerolatency.extract_plainly": {**agent, **words},
    }.get(verb)


def query(verb: str, names: Names) -> dict[str, str]:
    asked = {"q": "xylophone", "before": "2020-01-01T00:00:00Z", "agent_id": names.scope}
    wanted = {
        "memstore.recall": ["q"],
        "zerolatency.search": ["q", "agent_id"],
        "zerolatency.list": ["agent_id"],
        "zerolatency.forget": ["agent_id"],
        "botwire.join": ["agent_id"],
        "prune": ["before"],
    }
    return {name: asked[name] for name in wanted.get(verb, [])}


def call(
    http: httpx2.Client, method: str, pattern: str, endpoint: Endpoint, names: Names, key: str
) -> httpx2.Response:
    return http.request(
        method,
        names.path(pattern),
        params=query(endpoint.verb, names),
        json=body(endpoint.verb, names),
        headers={"X-API-Key": key, "Accept": "application/json"},
    )


def plain(reply: httpx2.Response, names: Names) -> tuple[int, str]:
    """Status and body, without names, ids, numbers and times."""
    text = reply.text
    for name in {*vars(ANN).values(), *vars(NOBODY).values(), names.job} - {""}:
        text = text.replace(name, "NAME")
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d{17}-[0-9a-f]{8}", "ID", text)
    text = re.sub(r'"(request_id|request|digest|api_key|agent_id|key)":"[^"]*"', r'"\1":""', text)
    return reply.status_code, re.sub(r"\d+", "0", text)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def served(url: str, clock: FakeClock) -> Iterator[Served]:
    with serving(url, clock) as served:
        yield served


@pytest.fixture
def ann(served: Served) -> Names:
    """Ann's things, and the names they have."""
    key = served.key("ann", tenant="ann", rights=("admin",))
    with Memory(ANN.scope, served.url, api_key=key) as memory:
        memory.remember(f"the {SECRET} is in the attic", id=ANN.id, session="s")
        memory.set(ANN.key, SECRET)
    with httpx2.Client(base_url=served.url, headers={"X-API-Key": key}) as http:
        told = http.post(f"/v1/scopes/{ANN.scope}/conversations", json={"content": f"my {SECRET}"})
        agent = {"agent_id": "ann"}
        http.post(f"/channels/{ANN.scope}/create", json=agent)
        post = {**agent, "type": "data", "data": SECRET}
        http.post(f"/channels/{ANN.scope}/post", json=post).raise_for_status()
        http.post("/identity/register", json={"name": ANN.id, "accept_terms": True})
    return replace(ANN, job=told.json()["job_id"])


@pytest.fixture
def http(served: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=served.url) as http:
        yield http


def patterns(served: Served) -> list[tuple[str, str, Endpoint]]:
    found = make_app(served.host).router.patterns
    assert len(found) > 70
    return [it for it in found if not OPEN.fullmatch(it[1])]


def holdings(served: Served, tenant: str) -> dict[str, list[str]]:
    """Everything a tenant has."""
    found = {}
    for scope in served.host.ledger.scopes(tenant, "", "", 1000):
        lines, cursor = [], None
        while True:
            part = served.host.service.do(ops.Export(scope=scope, cursor=cursor), tenant)
            lines += [USES.sub("", line) for line in part.lines]
            if (cursor := part.cursor) is None:
                break
        found[scope] = lines
    return found


def test_what_is_anothers_answers_as_if_it_never_was(
    served: Served, http: httpx2.Client, ann: Names
) -> None:
    served.host.jobs.run_some()
    before = holdings(served, "ann")
    assert len(before) >= 3
    bob = served.key("bob", tenant="bob", rights=("admin",))
    for method, pattern, endpoint in patterns(served):
        theirs = call(http, method, pattern, endpoint, ann, bob)
        nobodys = call(http, method, pattern, endpoint, NOBODY, bob)
        assert plain(theirs, ann) == plain(nobodys, NOBODY), f"{method} {pattern}"
        assert theirs.status_code < 500
        assert f"{SECRET} is" not in theirs.text
        assert f'"{SECRET}"' not in theirs.text.replace(f'"query":"{SECRET}"', "")
    assert holdings(served, "ann") == before


def test_a_key_without_the_right_changes_nothing(
    served: Served, http: httpx2.Client, ann: Names
) -> None:
    served.host.jobs.run_some()
    key = served.key("reader", tenant="ann", rights=("read",))
    before, jobs = holdings(served, "ann"), served.host.ledger.totals()[1]
    for method, pattern, endpoint in patterns(served):
        reply = call(http, method, pattern, endpoint, ann, key)
        assert reply.status_code < 500, f"{method} {pattern}"
        if endpoint.verb in READS - {"metrics", "audit"}:
            assert reply.status_code in (200, 404), f"{method} {pattern} {reply.text}"
    assert holdings(served, "ann") == before
    assert served.host.ledger.totals()[1] == jobs


def test_a_key_that_may_only_write_reads_nothing(
    served: Served, http: httpx2.Client, ann: Names
) -> None:
    key = served.key("writer", tenant="ann", rights=("write",))
    for method, pattern, endpoint in patterns(served):
        reply = call(http, method, pattern, endpoint, ann, key)
        assert SECRET not in reply.text.replace("xylophone walker", ""), f"{method} {pattern}"
        assert reply.status_code < 500, f"{method} {pattern}"


def test_a_key_with_a_prefix_opens_nothing_else(
    served: Served, http: httpx2.Client, ann: Names
) -> None:
    served.host.jobs.run_some()
    key = served.key("team", tenant="ann", rights=("admin",), prefix="team/")
    before = holdings(served, "ann")
    for method, pattern, endpoint in patterns(served):
        theirs = call(http, method, pattern, endpoint, ann, key)
        nobodys = call(http, method, pattern, endpoint, NOBODY, key)
        assert plain(theirs, ann) == plain(nobodys, NOBODY), f"{method} {pattern}"
        assert theirs.status_code < 500, f"{method} {pattern}"
        assert f"{SECRET} is" not in theirs.text
    after = holdings(served, "ann")
    assert {scope: after[scope] for scope in before} == before
    assert all(scope.startswith("team/") for scope in set(after) - set(before))


@pytest.mark.parametrize("why", ["none", "unknown", "wrong secret", "revoked", "expired"])
def test_who_has_no_good_key_gets_the_same_nothing_everywhere(
    served: Served, http: httpx2.Client, ann: Names, clock: FakeClock, why: str
) -> None:
    good = served.key("gone", tenant="ann", rights=("admin",), lasts=timedelta(days=1))
    key = {"none": "", "unknown": f"hf_{'0' * 12}_x", "wrong secret": f"{good[:16]}wrong"}.get(why)
    if why == "revoked":
        served.host.access.revoke("gone", "ann")
    if why == "expired":
        clock.advance(days=1)
    before = holdings(served, "ann")
    bodies = set()
    for method, pattern, endpoint in patterns(served):
        reply = call(http, method, pattern, endpoint, ann, good if key is None else key)
        assert reply.status_code == 401, f"{method} {pattern} {reply.text}"
        assert reply.headers["www-authenticate"].startswith("Bearer")
        told = reply.json()
        bodies.add(told.get("detail") or told.get("message"))
    assert len({said.split(".")[0] for said in bodies}) == 1
    assert holdings(served, "ann") == before


def test_what_is_anothers_takes_as_long_as_what_never_was(
    served: Served, http: httpx2.Client, ann: Names
) -> None:
    bob = served.key("bob", tenant="bob", rights=("admin",))
    paths = ("/v1/scopes/{scope}/memories/{id}", "/v1/scopes/{scope}/state/{key}", "/v1/jobs/{job}")

    def told_apart(path: str) -> float:
        """How many times longer one takes than the other; 1 if they cannot be told apart."""
        times: dict[Names, list[float]] = {ann: [], NOBODY: []}
        for _ in range(300):  # in turn, so that what else the machine does hits both
            for names, taken in times.items():
                start = time.perf_counter()
                http.get(names.path(path), headers={"X-API-Key": bob})
                taken.append(time.perf_counter() - start)
        theirs, nobodys = (statistics.median(taken) for taken in times.values())
        return max(theirs / nobodys, nobodys / theirs)

    for path in paths:  # a real difference is there each time, one of a busy machine is not
        assert any(told_apart(path) < 1.5 for _ in range(3)), path


def test_the_audit_log_and_the_keys_are_each_tenants_own(
    served: Served, http: httpx2.Client, ann: Names
) -> None:
    bob = served.key("bob", tenant="bob", rights=("admin",))
    with Memory("bobs", served.url, api_key=bob) as memory:
        id = memory.remember("bob was here").id
        memory.forget(id)
        list(memory.export())
    served.host._flush()
    told = http.get("/v1/audit", headers={"X-API-Key": bob}).json()["lines"]
    acts = [line["act"] for line in told]
    assert sorted(acts) == ["export", "forget", "remember", "use key"]
    assert {line["subject"] for line in told if line["act"] in ("remember", "forget")} == {id}
    assert "ann" not in json.dumps(told)
    assert "bob was here" not in json.dumps(told)
    first = http.get("/v1/audit?limit=2", headers={"X-API-Key": bob}).json()
    rest = http.get(f"/v1/audit?cursor={first['cursor']}", headers={"X-API-Key": bob}).json()
    assert first["lines"] + rest["lines"] == told
    gone = http.delete("/v1/audit?before=2030-01-01T00:00:00Z", headers={"X-API-Key": bob})
    assert gone.json() == {"removed": 4}
    assert served.host.ledger.noted("ann", 2**62, 100) != []
