"""Memstore: the key is the memory space, so everything is in the caller's own scope."""

from __future__ import annotations

from datetime import timedelta
from functools import wraps
from typing import Any

from holdfast import check, ops, wire
from holdfast.errors import (
    Forbidden,
    HoldfastError,
    Invalid,
    LimitReached,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
)
from holdfast.model import Record
from holdfast.server.app import Endpoint
from holdfast.server.dialects import Answer, add_paths, fields
from holdfast.server.exchange import Call, Reply, as_json
from holdfast.server.limits import DayUsedUp
from holdfast.server.openapi import About
from holdfast.server.router import Router

SECOND = timedelta(seconds=1)
CODES: tuple[tuple[type[HoldfastError], str], ...] = (
    (TooLarge, "content_too_long"),
    (Invalid, "invalid_request"),
    (Unauthenticated, "invalid_api_key"),
    (Forbidden, "forbidden"),
    (NotFound, "not_found"),
    (LimitReached, "ops_limit_reached"),
    (DayUsedUp, "ops_limit_reached"),
    (RateLimited, "hourly_rate_limit"),
    (HoldfastError, "internal_error"),
)


TAKES = {
    "remember": About(
        {"content": "text", "tags": "list?", "session": "text?", "metadata": "object?"}
        | {"ttl": "number?"},
        status=201,
    ),
    "recall": About(
        query={"q": "text", "limit": "whole?", "top_k": "whole?", "threshold": "number?"}
        | {"session": "text?", "tags": "text?"}
    ),
    "list_": About(
        query={"session": "text?", "limit": "whole?", "offset": "whole?", "tags": "text?"}
    ),
    "sign_up": About({"name": "text", "email": "text?"}, status=201),
}


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
    paths: dict[tuple[str, str], Answer] = {
        ("POST", "/v1/memory/remember"): remember,
        ("GET", "/v1/memory/recall"): recall,
        ("DELETE", "/v1/memory/forget/{id}"): forget,
        ("GET", "/v1/memory/list"): list_,
        ("POST", "/v1/agents"): sign_up,
    }
    there = {path: _as_there(answer) for path, answer in paths.items()}
    add_paths(router, "memstore", there, TAKES, told)


class ContentTooLong(TooLarge):
    """More than may be kept of one memory; nothing was done."""

    status = 400


class OpsLimit(LimitReached):
    """No more may be kept; nothing was done."""

    status = 429
    retry = True


def _as_there(answer: Answer) -> Answer:
    """The same, with the statuses that Memstore has for what is too much."""

    @wraps(answer)
    def answers(call: Call) -> Reply:
        try:
            return answer(call)
        except TooLarge as error:
            raise ContentTooLong(error.message, error.advice) from None
        except LimitReached as error:
            raise OpsLimit(error.message, error.advice) from None

    return answers


def told(error: HoldfastError, status: int, request: str) -> dict[str, Any]:
    """An error as Memstore tells it."""
    code = next(code for kind, code in CODES if isinstance(error, kind))
    if code == "invalid_request" and error.message.startswith("content"):
        code = "invalid_content"
    if code == "invalid_request" and error.message.startswith("query"):
        code = "missing_query"
    if code == "invalid_api_key" and "needs a key" in error.message:
        code = "missing_api_key"
    return {"error": code, "message": str(error), "request_id": request}


def remember(call: Call) -> Reply:
    """Stores a memory."""
    given = fields.body(call)
    draft = ops.Draft(
        content=given.any("content"),
        tags=_tags(given.any("tags")),
        session=given.text("session"),
        meta=given.mapping("metadata"),
        ttl=given.ttl(SECOND, "ttl"),
    )
    home = call.caller.home
    stored = call.do(ops.Remember(scope=home, draft=draft, idempotency_key=fields.once(call)))
    return as_json(_memory(fields.stored(call, home, stored.id, draft)), 201)


def recall(call: Call) -> Reply:
    """Finds memories."""
    asked = fields.query(call)
    query = check.content(asked.text("q", "query") or "", "query")
    where = ops.where(tags=_asked_tags(call), session=asked.text("session"))
    limit = asked.whole(5, 1, 100, "top_k", "limit")
    op = ops.Recall(scope=call.caller.home, query=query, where=where, limit=limit)
    hits = fields.found(call, op, asked.number("threshold"))
    found = [{**_memory(hit.memory), "score": hit.score} for hit in hits]
    return as_json({"memories": found, "count": len(found), "query": query})


def forget(call: Call) -> Reply:
    """Forgets one memory."""
    call.do(ops.Forget(scope=call.caller.home, id=call.path["id"]))
    return as_json({"deleted": True, "id": call.path["id"]})


def list_(call: Call) -> Reply:
    """A page of memories, by offset."""
    asked = fields.query(call)
    limit = asked.whole(20, 1, 100, "limit")
    offset = asked.whole(0, 0, fields.MOST_LISTED, "offset")
    where = ops.where(tags=_asked_tags(call), session=asked.text("session"))
    found = list(fields.listed(call, call.caller.home, where))
    shown = [_memory(record) for record in found[offset : offset + limit]]
    return as_json({"memories": shown, "total": len(found)})


def sign_up(call: Call) -> Reply:
    """A new key with a memory space of its own, for an admin."""
    given = fields.body(call)
    call.caller.may("admin")
    if call.caller.key is None:
        raise Forbidden("No key is needed here.", "`holdfast keys create NAME` makes the first.")
    name = given.text("name") or ""
    key, text = call.host.access.create(
        name,
        call.caller.tenant,
        prefix=f"{call.caller.prefix}agent-{name}/",
        role=call.caller.role,
    )
    call.host.note(call, "create key", subject=key.id)
    about = {"agent_id": key.id, "api_key": text, "name": key.name, "plan": "self-hosted"}
    return as_json({**about, "ops_limit": None, "message": "Keep the key: it is shown once."}, 201)


def _tags(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise Invalid("tags must be a list of texts.")
    return check.names("tags", given)


def _asked_tags(call: Call) -> tuple[str, ...]:
    """Tags of a query, repeated or with commas between them."""
    given = [tag.strip() for text in call.query.get("tags", ()) for tag in text.split(",")]
    return check.names("tags", [tag for tag in given if tag])


def _memory(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "content": record.content,
        "tags": list(record.tags),
        "session": record.session,
        "metadata": dict(record.meta),
        "created_at": wire.dump(record.created_at),
        "expires_at": wire.dump(record.expires_at),
    }
