"""A language model that says what a script tells it: OpenAI's API on a port of this machine.

Chat completions and responses, whole or streamed, with tool calls, old function calls and the
choice of the next speaker. It needs nothing but Python, and it writes down what it was asked.
"""

import json
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Call:
    """A tool that the model wants to use."""

    name: str
    arguments: dict[str, Any]


def call(name: str, **arguments: Any) -> Call:
    return Call(name, arguments)


@dataclass(frozen=True)
class Asked:
    """What the model was asked."""

    path: str
    body: dict[str, Any]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Every message with its role and its text, instructions first."""
        told = self.body.get("messages")
        if told is None:
            told = self.body.get("input") or []
            told = [{"role": "user", "content": told}] if isinstance(told, str) else told
            if self.body.get("instructions"):
                told = [{"role": "system", "content": self.body["instructions"]}, *told]
        return [
            {**one, "role": one.get("role", one.get("type")), "text": _text(one)} for one in told
        ]

    @property
    def system(self) -> str:
        """All that was said to the model before the conversation."""
        said = [one["text"] for one in self.messages if one["role"] in ("system", "developer")]
        return "\n".join(said)

    @property
    def last(self) -> str:
        """The last message."""
        return str(self.messages[-1]["text"]) if self.messages else ""

    @property
    def text(self) -> str:
        """Everything, as one text."""
        return "\n".join(one["text"] for one in self.messages)

    @property
    def tools(self) -> list[str]:
        """The names of the tools that may be used."""
        offered = [*self.body.get("tools", ()), *self.body.get("functions", ())]
        return [one.get("name") or one.get("function", {}).get("name") for one in offered]

    @property
    def chooses_speaker(self) -> bool:
        """True for a group chat's question who is to speak next."""
        return "select the next" in self.text.lower()


Reply = str | Call | Sequence[Call]
Brain = Callable[[Asked], Reply]


class ScriptedModel:
    """A model on a port of this machine; `with ScriptedModel(["Hello"]) as model: model.url`.

    A script is a list of replies, the last of which stays, or a function of what was asked.
    `speakers` are the answers to a group chat's question who is to speak next.
    """

    def __init__(self, script: Sequence[Reply] | Brain, speakers: Sequence[str] = ()) -> None:
        self.asked: list[Asked] = []
        self._script = script if callable(script) else list(script)
        self._speakers = list(speakers)
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _answering(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """What an OpenAI client calls its base URL."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def config(self) -> dict[str, Any]:
        """An `llm_config` for classic AutoGen."""
        one = {"model": "scripted", "api_key": "none", "base_url": self.url, "price": [0, 0]}
        return {"config_list": [one], "cache_seed": None}

    def __enter__(self) -> "ScriptedModel":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            if asked.chooses_speaker and self._speakers:
                return self._speakers.pop(0) if len(self._speakers) > 1 else self._speakers[0]
            if callable(self._script):
                return self._script(asked)
            return self._script.pop(0) if len(self._script) > 1 else self._script[0]


def config_for(model: ScriptedModel) -> dict[str, Any]:
    """An `llm_config`: the scripted model's, or a real one's if `OPENAI_API_KEY` is set."""
    key = os.environ.get("OPENAI_API_KEY")
    if not key:
        return model.config
    named = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
    return {"config_list": [{"model": named, "api_key": key}], "cache_seed": None}


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return str(content or message.get("output") or message.get("arguments") or "")


def _answering(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Answering(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._whole({"object": "list", "data": [{"id": "scripted", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = Asked(self.path, body)
            reply = model.reply(asked)
            said = _completion if "completions" in self.path else _response
            events, whole = said(asked, reply, len(model.asked))
            if body.get("stream"):
                self._stream(events)
            else:
                self._whole(whole)

        def _whole(self, answer: dict[str, Any]) -> None:
            self._send("application/json", json.dumps(answer).encode())

        def _stream(self, events: Iterator[dict[str, Any]]) -> None:
            lines = []
            for event in events:
                named = f"event: {event['type']}\n" if "type" in event else ""
                lines.append(f"{named}data: {json.dumps(event)}\n\n")
            self._send("text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode())

        def _send(self, kind: str, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing."""

    return Answering


def _calls(reply: Reply) -> list[Call]:
    if isinstance(reply, str):
        return []
    return [reply] if isinstance(reply, Call) else list(reply)


# --- chat completions ---


def _completion(
    asked: Asked, reply: Reply, number: int
) -> tuple[Iterator[dict[str, Any]], dict[str, Any]]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    reason = "stop"
    if isinstance(reply, str):
        message["content"] = reply
    elif "functions" in asked.body:
        one = _calls(reply)[0]
        message["function_call"] = {"name": one.name, "arguments": json.dumps(one.arguments)}
        reason = "function_call"
    else:
        message["tool_calls"] = [
            _tool_call(one, f"call_{number}_{at}") for at, one in _numbered(reply)
        ]
        reason = "tool_calls"
    head = {"id": f"chat-{number}", "created": 1, "model": "scripted"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    whole = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return _chunks(head, message, reason, usage), whole


def _numbered(reply: Reply) -> list[tuple[int, Call]]:
    return list(enumerate(_calls(reply)))


def _tool_call(one: Call, id: str) -> dict[str, Any]:
    function = {"name": one.name, "arguments": json.dumps(one.arguments)}
    return {"id": id, "type": "function", "function": function}


def _chunks(
    head: dict[str, Any], message: dict[str, Any], reason: str, usage: dict[str, int]
) -> Iterator[dict[str, Any]]:
    def chunk(delta: dict[str, Any], why: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": why}
        return {**head, "object": "chat.completion.chunk", "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for word in _pieces(message["content"] or ""):
        yield chunk({"content": word})
    for at, one in enumerate(message.get("tool_calls", ())):
        yield chunk({"tool_calls": [{"index": at, **one}]})
    if "function_call" in message:
        yield chunk({"function_call": message["function_call"]})
    yield chunk({}, reason)
    yield {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}


def _pieces(text: str) -> list[str]:
    return [text[at : at + 8] for at in range(0, len(text), 8)]


# --- responses ---


def _response(
    asked: Asked, reply: Reply, number: int
) -> tuple[Iterator[dict[str, Any]], dict[str, Any]]:
    output: list[dict[str, Any]] = []
    if isinstance(reply, str):
        part = {"type": "output_text", "text": reply, "annotations": []}
        said = {"type": "message", "id": f"msg_{number}", "status": "completed"}
        output.append({**said, "role": "assistant", "content": [part]})
    for at, one in _numbered(reply):
        ids = {"id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}"}
        made = {"name": one.name, "arguments": json.dumps(one.arguments), "status": "completed"}
        output.append({"type": "function_call", **ids, **made})
    whole = {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "model": "scripted",
        "status": "completed",
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "temperature": 1,
        "top_p": 1,
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 1,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 2,
        },
    }
    return _events(whole), whole


def _events(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number, event in enumerate(_unnumbered(whole)):
        yield {**event, "sequence_number": number}


def _unnumbered(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {**whole, "output": [], "status": "in_progress"}}
    for at, item in enumerate(whole["output"]):
        where = {"output_index": at, "item_id": item["id"]}
        empty = {**item, "status": "in_progress"}
        if item["type"] == "message":
            yield {"type": "response.output_item.added", **where, "item": {**empty, "content": []}}
            yield from _text_events(item, {**where, "content_index": 0})
        else:
            yield {
                "type": "response.output_item.added",
                **where,
                "item": {**empty, "arguments": ""},
            }
            told = {"arguments": item["arguments"], "name": item["name"]}
            delta = {"delta": item["arguments"]}
            yield {"type": "response.function_call_arguments.delta", **where, **delta}
            yield {"type": "response.function_call_arguments.done", **where, **told}
        yield {"type": "response.output_item.done", **where, "item": item}
    yield {"type": "response.completed", "response": whole}


def _text_events(item: dict[str, Any], where: dict[str, Any]) -> Iterator[dict[str, Any]]:
    part = item["content"][0]
    yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
    for piece in _pieces(part["text"]):
        yield {"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": part}
