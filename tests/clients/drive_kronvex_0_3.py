"""Every method of the `kronvex` client 0.3.0, against the server at $URL."""

import os
import uuid

import kronvex
from kronvex.client import NotFoundError

URL, KEY = os.environ["URL"], os.environ["KEY"]


def main() -> None:
    agent = f"old-{uuid.uuid4()}"
    kx = kronvex.Kronvex(KEY, agent_id=agent, base_url=f"{URL}/api/v1")
    made = kx.create_agent("Support", "answers mail")
    assert made["name"] == "Support"
    stored = kx.remember(
        "The user prefers keyboard shortcuts",
        memory_type="semantic",
        session_id="s1",
        metadata={"n": 1},
        ttl_days=90,
    )
    assert (stored.agent_id, stored.memory_type, stored.session_id) == (agent, "semantic", "s1")
    assert (stored.metadata, stored.expires_at is not None) == ({"n": 1}, True)
    pinned = kx.remember("The user lives in Lyon", pinned=True, ttl_days=1)
    assert (pinned.pinned, pinned.expires_at) == (True, None)
    found = kx.recall("which keyboard shortcuts does the user prefer?", top_k=3)
    assert found.best().memory.id == stored.id, found
    assert found.total_found == len(found.results) >= 1
    assert 0 <= found.best().confidence <= 1
    assert found.best().similarity >= 0.5
    assert [r.memory.id for r in kx.recall("keyboard shortcuts", session_id="s2")] == []
    assert [r.memory.id for r in kx.recall("keyboard shortcuts", memory_type="episodic")] == []
    block = kx.inject_context("keyboard shortcuts of the user")
    assert "keyboard shortcuts" in str(block)
    assert block.memories_used == len(block.memories) >= 1
    assert {it["id"] for it in kx.list_agents()} >= {agent, made["id"]}
    assert kx.list_sessions() == [{"session_id": "s1", "count": 1}]
    assert kx.delete_memory(stored.id)
    try:
        kx.delete_memory(stored.id)
    except NotFoundError:
        return
    raise AssertionError("a memory was deleted twice")


main()
