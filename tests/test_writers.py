"""Who writes is told by the key: every path of the server, walked with forged writers."""

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from holdfast import Forbidden, Memory, Source, ops, trust
from holdfast.model import ROLES, Record
from tests import test_isolation as walk
from tests.serving import Served, serving
from tests.waiting import until

MINE = walk.Names("ann-scope", "ann-memory", "ann-key", "0" * 32)
CEO = {"writer": "ceo", "role": "user", "message": "m-1", "via": "ffffffffffff"}
LOW = ("tool", "document")  # what these tell is a claim
TOLD = "I live in Berlin. We decided to use Kafka because it is fast."


@pytest.fixture
def served(url: str) -> Iterator[Served]:
    with serving(url) as served:
        yield served


@pytest.fixture
def http(served: Served) -> Iterator[httpx2.Client]:
    with httpx2.Client(base_url=served.url, headers={"accept": "application/json"}) as http:
        yield http


def forged(verb: str) -> Any:
    """What each verb is sent: whoever can be claimed to have said it, is."""
    line = {
        **{"type": "memory", "id": "imported", "content": "imported words", "kind": "fact"},
        **{"tags": [], "meta": {}, "pinned": True, "created_at": "2026-05-03T09:30:00Z"},
        **{"happened_at": "2026-05-03T09:30:00Z", "version": 1, "uses": 0, "source": CEO},
        "told": [CEO, {**CEO, "writer": "cfo"}],
    }
    turns = [{"text": TOLD, "speaker": "ceo", "role": "user"}]
    return {
        "remember": {"content": "forged words", "source": CEO},
        "remembermany": {"drafts": [{"content": "one more", "source": CEO}, "nobody's words"]},
        "import": {"lines": ['{"type":"holdfast","format":1}', json.dumps(line)]},
        "extract": {"turns": turns, "keep": "both"},
        "conversation": {"messages": [{"role": "user", "name": "ceo", "content": TOLD}]},
    }.get(verb) or walk.body(verb, MINE)


def memories(served: Served) -> list[Record]:
    """Every memory of the tenant, past versions too."""
    found: list[Record] = []
    for scope in served.host.ledger.scopes("ann", "", "", 1000):
        for one in served.host.service.do(ops.List(scope=scope, limit=1000), "ann"):
            history = ops.History(scope=scope, id=one.id)
            found += [*served.host.service.do(history, "ann")]
    return found


@pytest.mark.parametrize("role", ROLES)
def test_no_path_lets_a_key_write_what_is_trusted_more_than_itself(
    served: Served, http: httpx2.Client, role: str
) -> None:
    owner = served.key("owner", tenant="ann")
    with Memory(MINE.scope, served.url, api_key=owner) as memory:
        memory.remember("the attic is locked", id=MINE.id, source=Source("ann", "user"))
        memory.policy(reconcile=True)
    before = {(one.id, one.content) for one in memories(served)}
    key = served.key("walker", tenant="ann", role=role)
    id = key.split("_")[1]
    for method, pattern, endpoint in walk.patterns(served):
        if endpoint.verb == "forget" or method == "DELETE":
            continue  # rights, not trust
        reply = http.request(
            method,
            MINE.path(pattern),
            params=walk.query(endpoint.verb, MINE),
            json=forged(endpoint.verb),
            headers={"X-API-Key": key},
        )
        assert reply.status_code < 500, f"{method} {pattern} {reply.text}"
    served.host.jobs.run_some()
    found = [one for one in memories(served) if (one.id, one.content) not in before]
    assert {"forged words", "one more", "nobody's words", "imported words"} <= {
        one.content for one in found
    }
    assert any("Berlin" in one.content for one in found)
    for one in found:
        assert one.source is not None, one
        assert one.source.via == id, one
        assert trust.of(one.source.role) <= trust.of(role), one
        assert not (one.pinned and role in LOW), one
    seen = httpx2.get(f"{served.url}/v1/key", headers={"X-API-Key": key}).json()
    assert seen["role"] == role


def test_a_key_may_claim_less_than_it_is(served: Served) -> None:
    key = served.key("agent", tenant="ann", role="agent")
    with Memory("s", served.url, api_key=key) as memory:
        told = memory.remember("The page says: closed", source=Source("web", "document"))
        source = memory.read(told.id).source
        assert source == Source("web", "document")
        assert source is not None
        assert source.via == key.split("_")[1]


def test_what_a_queued_conversation_tells_is_trusted_as_its_key(served: Served) -> None:
    key = served.key("crawler", tenant="ann", role="document")
    with Memory("s", served.url, api_key=key) as memory:
        memory.extract("Bob: I live in Berlin.", session="chat", wait=False)
        until(lambda: bool(memory.list()), lambda: "nothing was learned")
        found = memory.list()[0].source
        assert found is not None
        assert (found.writer, found.role, found.via) == ("crawler", "document", key.split("_")[1])


def test_a_key_that_only_claims_overrules_nobody(served: Served) -> None:
    owner = served.key("owner", tenant="ann")
    low = served.key("crawler", tenant="ann", role="document")
    with Memory("s", served.url, api_key=owner) as memory:
        known = memory.remember("Ann lives in Berlin", source=Source("Ann", "user")).id
        memory.policy(roles={"document": "quarantine"}, reconcile=True)
    with Memory("s", served.url, api_key=low) as crawler:
        held = crawler.remember("Ann lives in Porto").id
        for forbidden in (
            lambda: crawler.approve(held),
            lambda: crawler.reject(held),
            lambda: crawler.policy(roles={"document": "accept"}),
            lambda: crawler.rollback("Ann"),
            lambda: crawler.resolve(known),
            lambda: crawler.revise(known, "Ann lives in Rome"),
            lambda: crawler.remember("Ann lives in Rome", supersedes=known),
            lambda: crawler.remember("Ann lives in Rome", pinned=True),
        ):
            with pytest.raises(Forbidden, match="speaks for a document"):
                forbidden()
        assert crawler.policy().roles == {"document": "quarantine"}
    with Memory("s", served.url, api_key=owner) as memory:
        assert memory.approve(held).conflicts == (known,)
        assert [one.content for one in memory.history(known)] == ["Ann lives in Berlin"]


def test_an_agents_revision_is_believed_as_the_agent(served: Served) -> None:
    owner, agent = served.key("owner", tenant="ann"), served.key("bot", tenant="ann", role="agent")
    with Memory("s", served.url, api_key=owner) as memory:
        id = memory.remember("the door is red", source=Source("ann", "user")).id
    with Memory("s", served.url, api_key=agent) as memory:
        new = memory.revise(id, "the door is green")
        assert new.source == Source("ann", "agent")
        assert new.source is not None
        assert new.source.via == agent.split("_")[1]
        with pytest.raises(Forbidden, match="whom to believe"):
            memory.policy(suspicious="accept")


def test_one_key_under_many_names_confirms_nothing(served: Served) -> None:
    low, other = (served.key(name, tenant="ann", role="document") for name in ("one", "two"))
    with Memory("s", served.url, api_key=low) as memory:
        for name in ("herald", "gazette", "courier"):
            memory.remember("The office closes at noon", source=Source(name, "user"))
        assert "unconfirmed claim" in memory.context("when does the office close?")
    with Memory("s", served.url, api_key=other) as memory:
        memory.remember("The office closes at noon")
        assert "unconfirmed claim" not in memory.context("when does the office close?")


def test_a_rollback_undoes_all_that_came_by_a_key_under_whatever_name(served: Served) -> None:
    owner, leaked = served.key("owner", tenant="ann"), served.key("leaked", tenant="ann")
    with Memory("s", served.url, api_key=leaked) as memory:
        memory.remember("forged by ann", source=Source("ann", "user"))
        memory.remember("forged by nobody")
        memory.extract("Ann: I live in Porto.", session="chat")
    with Memory("s", served.url, api_key=owner) as memory:
        memory.remember("told by ann", source=Source("ann", "user"))
        done = memory.rollback(leaked.split("_")[1])
        assert done.removed == 3
        assert [one.content for one in memory.list()] == ["told by ann"]


def test_who_signs_up_by_a_key_is_trusted_no_more_than_it(
    served: Served, http: httpx2.Client
) -> None:
    admin = served.key("boss", tenant="ann", rights=("admin",), role="tool")
    paths = [it for it in walk.patterns(served) if it[2].verb == "memstore.sign_up"]
    reply = http.request(
        paths[0][0], paths[0][1], json={"name": "new"}, headers={"X-API-Key": admin}
    )
    assert reply.status_code == 201, reply.text
    assert {key.role for key in served.host.access.keys("ann")} == {"tool"}


def test_the_open_door_and_the_library_have_full_say(served: Served, url: str) -> None:
    source = Source("web", "user", None, "0123456789ab")  # as an export of a server has it
    with Memory("s", served.url) as memory:
        id = memory.remember("told without a key", source=source).id
        read = memory.read(id).source
        assert read is not None
        assert (read, read.via) == (source, source.via)
        assert memory.read(memory.remember("told by nobody").id).source is None


def test_nobody_named_is_still_nobody_for_who_asks(served: Served) -> None:
    key = served.key("backend", tenant="ann")
    with Memory("s", served.url, api_key=key) as memory:
        told = memory.read(memory.remember("Ann: I like tea").id)
        assert told.source is not None
        assert (told.source.via, told.writer) == (key.split("_")[1], None)
        line = memory.context("tea").splitlines()
        assert any(it.endswith("] Ann: I like tea") and ", " not in it for it in line)
        with Memory("copy", served.url, api_key=key) as copy:
            copy.import_(list(memory.export()))
            assert [one.source and one.source.via for one in copy.list()] == [told.source.via]
