"""The calls that users of Kronvex make with `httpx`, by themselves and in a fan-out."""

import asyncio
import os
import uuid
from typing import Any

import httpx

URL, KEY = os.environ["URL"], {"X-API-Key": os.environ["KEY"]}
KINDS = ("interaction", "preference", "fact", "decision", "context", "temporary")


def by_hand() -> None:
    agent = f"autogen-prod-{uuid.uuid4()}"
    with httpx.Client(base_url=URL, headers=KEY, timeout=10.0) as http:
        for kind in KINDS:
            told = {"content": f"A {kind} about the payment flow", "memory_type": kind}
            days = {"ttl_days": 7} if kind == "temporary" else {}
            reply = http.post(f"/api/v1/agents/{agent}/remember", json={**told, **days})
            reply.raise_for_status()
            assert bool(reply.json()["expires_at"]) == (kind == "temporary")
        ask: dict[str, Any] = {"query": "the payment flow", "limit": 4}
        found = http.post(f"/api/v1/agents/{agent}/recall", json=ask)
        assert len(found.json()["memories"]) == 4
        assert all("payment flow" in memory["content"] for memory in found.json()["memories"])
        block = http.post(f"/api/v1/agents/{agent}/inject-context", json=ask)
        assert "payment flow" in block.json()["context"]


async def at_once() -> None:
    team = f"autogen-team-{uuid.uuid4()}"
    async with httpx.AsyncClient(base_url=URL, headers=KEY, timeout=10.0) as http:
        path = f"/api/v1/agents/{team}"
        told = [f"Style rule {n}: write short sentences" for n in range(10)]
        await asyncio.gather(*(http.post(f"{path}/remember", json={"content": it}) for it in told))
        queries = ["style rule sentences", "short sentences", "write sentences"]
        replies = await asyncio.gather(
            *(http.post(f"{path}/recall", json={"query": it, "limit": 10}) for it in queries)
        )
        assert [len(reply.json()["memories"]) for reply in replies] == [10, 10, 10]


by_hand()
asyncio.run(at_once())
