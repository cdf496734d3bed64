"""Every method of the `zerolatency` client (0.1.0 or 0.2.1), against the server at $URL."""

import json
import os
import sys
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

from zerolatency import Memory
from zerolatency.errors import AuthenticationError

URL, KEY, WRONG = os.environ["URL"], os.environ["KEY"], os.environ["WRONG"]


def until(check: Any, seconds: float = 60.0) -> Any:
    give_up = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < give_up, "it never came"
        time.sleep(0.05)
    return found


def client() -> None:
    memory, agent = Memory(KEY, base_url=URL), f"team-{uuid.uuid4()}"
    assert memory.health()["status"] == "ok"
    stored = memory.add("The user prefers dark mode", agent_id=agent, metadata={"n": 1})
    assert stored["id"]
    found = memory.recall("does the user prefer dark mode?", agent_id=agent, limit=3)
    assert found["memories"][0]["content"] == "The user prefers dark mode"
    assert found["memories"][0]["metadata"] == {"n": 1}
    assert found["memories"][0]["relevance"] > 0
    memory.add(f"The code word is swordfish {agent}")
    assert "swordfish" in json.dumps(memory.recall(f"code word swordfish {agent}"))
    said = [
        {"role": "user", "content": "We chose FastAPI over Flask"},
        {"role": "assistant", "content": "Because of its async support, noted"},
    ]
    job = memory.extract(said, agent_id=agent)["job_id"]
    done = until(lambda: _complete(memory.extract_status(job)))
    assert done["memories_stored"] == 2, done
    found = memory.recall("did we choose FastAPI or Flask?", agent_id=agent)
    assert "FastAPI" in found["memories"][0]["content"]
    assert memory.recall("FastAPI", agent_id=f"other-{agent}")["memories"] == []
    try:
        Memory(WRONG, base_url=URL).recall("anything")
    except AuthenticationError:
        pass
    else:
        raise AssertionError("a wrong key came in")


def _complete(status: dict[str, Any]) -> dict[str, Any] | None:
    return status if status["status"] == "complete" else None


class Model(BaseHTTPRequestHandler):
    """A language model that says one thing, and keeps what it was asked."""

    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        self.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        message = {"role": "assistant", "content": "Then heron it is."}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        head = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        answer = json.dumps({**head, "choices": [choice]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: Any) -> None:
        """Says nothing."""


def wrapper() -> None:
    from zerolatency.wrappers.openai import OpenAIWithMemory

    model = HTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    os.environ["OPENAI_BASE_URL"] = f"http://127.0.0.1:{model.server_port}/v1"
    agent = f"wrapped-{uuid.uuid4()}"
    ai = OpenAIWithMemory("key", KEY, agent, zl_base_url=URL)
    ask = [{"role": "user", "content": "The staging server is called heron"}]
    ai.chat.completions.create(model="m", messages=list(ask))
    memory = Memory(KEY, base_url=URL)
    until(lambda: memory.recall("staging server heron", agent_id=agent)["memories"])
    ask = [{"role": "user", "content": "what is the staging server called?"}]
    ai.chat.completions.create(model="m", messages=list(ask))
    system = Model.asked[-1]["messages"][0]
    assert system["role"] == "system"
    assert "called heron" in system["content"]


client()
if "--wrapper" in sys.argv:
    wrapper()
