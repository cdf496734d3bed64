"""Every method of the `kronvex` client 0.5.x, sync, async and its CLI, against $URL."""

import asyncio
import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from kronvex import Kronvex
from kronvex.exceptions import AgentNotFoundError, AuthenticationError, KronvexError

URL, KEY, WRONG = os.environ["URL"], os.environ["KEY"], os.environ["WRONG"]


def raises(kind: type[BaseException], call: Any) -> None:
    try:
        call()
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


def sync() -> None:
    with Kronvex(KEY, base_url=URL) as kx:
        made = kx.create_agent("Support", "answers mail")
        agent = kx.agent(f"free form: {uuid.uuid4()}@example.org")
        stored = agent.remember(
            "Use PostgreSQL, not MongoDB, for the main store",
            memory_type="decision",
            session_id="s1",
            metadata={"by": "ann"},
        )
        agent.remember("Batch 4421 goes on at row 8000", memory_type="temporary", ttl_days=1)
        agent.remember("British spelling", memory_type="preference", pinned=True)
        hits = agent.recall("PostgreSQL or MongoDB for the main store?", top_k=2)
        assert hits[0]["id"] == stored["id"], hits
        assert (hits[0]["memory_type"], hits[0]["metadata"]) == ("decision", {"by": "ann"})
        assert 0 < hits[0]["score"] <= 1
        assert hits[0]["score"] == hits[0]["confidence"]
        assert agent.recall("main store PostgreSQL", session_id="s2") == []
        assert agent.recall("main store PostgreSQL", memory_type="preference") == []
        assert len(agent.recall("main store PostgreSQL", threshold=0.0, top_k=9)) == 3
        assert "PostgreSQL" in agent.inject_context("which main store, PostgreSQL?")
        assert agent.recall("quantum chromodynamics lectures") == []
        assert "PostgreSQL" in agent.inject_context("what lies ahead")  # it primes a prompt
        assert agent.sessions() == [{"session_id": "s1", "count": 1}]
        assert len(agent.memories()) == 3
        assert [m["id"] for m in agent.memories(session_id="s1")] == [stored["id"]]
        assert len(agent.memories(limit=2, offset=2)) == 1
        if hasattr(agent, "delete_memory"):
            agent.delete_memory(stored["id"])
            raises(AgentNotFoundError, lambda: agent.delete_memory(stored["id"]))
        assert agent.clear()["deleted"] >= 2
        assert agent.memories() == []
        assert (
            made["id"] in {it["id"] for it in kx.list_agents()} if isinstance(made, dict) else True
        )
        if hasattr(kx, "delete_agent"):  # from 0.5.2 on
            kx.delete_agent(_id(made))
            assert _id(made) not in {it["id"] for it in kx.list_agents()}
            raises(AgentNotFoundError, lambda: kx.delete_agent(_id(made)))
        raises(KronvexError, lambda: agent.remember(" "))
    raises(AuthenticationError, lambda: Kronvex(WRONG, base_url=URL).list_agents())


def _id(agent: Any) -> str:
    return str(agent["id"] if isinstance(agent, dict) else agent.id)


async def asynchronous() -> None:
    from kronvex.async_client import AsyncKronvex

    async with AsyncKronvex(KEY, base_url=URL) as kx:
        await kx.create_agent("Async")
        agent = kx.agent(f"async-{uuid.uuid4()}")
        await agent.remember("The staging server is called heron", session_id="s")
        told = await asyncio.gather(
            *(agent.recall("what is the staging server called?") for _ in range(8))
        )
        assert all(hits[0]["content"] == "The staging server is called heron" for hits in told)
        assert "heron" in await agent.inject_context("name of the staging server")
        assert await agent.sessions() == [{"session_id": "s", "count": 1}]
        assert len(await agent.memories()) == 1
        assert (await agent.clear())["deleted"] == 1
        assert isinstance(await kx.list_agents(), list)


def cli(*args: str) -> Any:
    command = Path(sys.executable).with_name("kronvex")
    done = subprocess.run(
        [command, "--api-key", KEY, "--base-url", URL, *args],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def command_line() -> None:
    agent = f"cli-{uuid.uuid4()}"
    made = json.loads(cli("agent", "create", "From the shell", "--description", "d"))
    cli("remember", agent, "Deploys happen on Tuesday", "--memory-type", "semantic")
    assert "Tuesday" in cli("recall", agent, "when do deploys happen?", "--top-k", "3")
    assert "Tuesday" in cli("memories", "list", agent, "--limit", "5")
    assert agent in cli("agents", "list")
    cli("agent", "delete", made["id"])


sync()
asyncio.run(asynchronous())
if "--cli" in sys.argv:
    command_line()
