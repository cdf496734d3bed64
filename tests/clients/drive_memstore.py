"""The calls that Memstore's users make with `requests`, against the server at $URL."""

import os
import uuid
from typing import Any

import requests

ROOT = f"{os.environ['URL']}/v1/memory"
BEARER = {"Authorization": f"Bearer {os.environ['KEY']}"}


def remember(content: str, **more: Any) -> str:
    reply = requests.post(f"{ROOT}/remember", json={"content": content, **more}, headers=BEARER)
    reply.raise_for_status()
    return str(reply.json()["id"])


def recall(query: str, **more: Any) -> list[str]:
    reply = requests.get(f"{ROOT}/recall", params={"q": query, **more}, headers=BEARER)
    reply.raise_for_status()
    return [memory["content"] for memory in reply.json()["memories"]]


def main() -> None:
    mark = uuid.uuid4().hex
    tea, coffee = f"Alice drinks green tea {mark}", f"Bob drinks coffee {mark}"
    id = remember(tea, tags=["user:alice", "preference"])
    remember(coffee, tags=["user:bob", "preference"], session="s1", metadata={"n": 1})
    remember("soon gone", ttl=3600)
    assert set(recall(f"who drinks what {mark}", limit=5)) == {tea, coffee}
    assert recall(f"drinks {mark}", tags="user:alice") == [tea]
    assert recall(f"drinks {mark}", tags="user:alice,preference") == [tea]
    assert recall(f"drinks {mark}", tags=["preference", "user:bob"]) == [coffee]
    assert recall(f"drinks {mark}", session="s1") == [coffee]
    assert len(recall(f"drinks {mark}", top_k=1)) == 1
    listed = requests.get(f"{ROOT}/list", params={"limit": 2}, headers=BEARER).json()
    assert len(listed["memories"]) == 2
    assert listed["total"] >= 3
    gone = requests.delete(f"{ROOT}/forget/{id}", headers=BEARER)
    assert gone.json() == {"deleted": True, "id": id}
    assert requests.delete(f"{ROOT}/forget/{id}", headers=BEARER).status_code == 404
    wrong: list[tuple[str, str, Any, int, str]] = [
        ("post", "/remember", {"json": {"content": " "}}, 400, "invalid_content"),
        ("post", "/remember", {"json": {"content": "x" * 40000}}, 400, "content_too_long"),
        ("get", "/recall", {}, 400, "missing_query"),
    ]
    for method, path, more, status, code in wrong:
        reply = requests.request(method, ROOT + path, headers=BEARER, **more)
        assert (reply.status_code, reply.json()["error"]) == (status, code), reply.text
        assert reply.json()["message"]
    for headers, code in (
        ({}, "missing_api_key"),
        ({"Authorization": f"Bearer {os.environ['WRONG']}"}, "invalid_api_key"),
    ):
        reply = requests.get(f"{ROOT}/recall", params={"q": "x"}, headers=headers)
        assert (reply.status_code, reply.json()["error"]) == (401, code), reply.text


main()
