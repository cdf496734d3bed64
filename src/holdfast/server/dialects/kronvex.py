"""Kronvex: agents are scopes, made by the first write to them.

Replies have the fields of every published client at once: flat `memories` with their scores for
the newer ones, nested `results` for the older, `context` and `context_block`.
"""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

from holdfast import check, context, ops, wire
from holdfast.access import OWNERS, READS
from holdfast.engine import Place
from holdfast.errors import HoldfastError, NotFound
from holdfast.model import Hit, Record
from holdfast.routes import ROUTES
from holdfast.server import native
from holdfast.server.app import Endpoint
from holdfast.server.dialects import Answer, add_paths, fields
from holdfast.server.exchange import Call, Reply, as_json
from holdfast.server.limits import DayUsedUp
from holdfast.server.openapi import About
from holdfast.server.router import Router
from holdfast.service import new_id

ROOT = "/api/v1/agents"
AGENTS = "kronvex/agents"  # the scope whose state holds what agents are called
DAY = timedelta(days=1)
ORDERS = {"date_asc", "oldest", "access_count"}
WRITES = {it.op.__name__.lower() for it in ROUTES if it.op not in (*READS, *OWNERS)}
MOST_COUNTED = 100_000  # lines of the audit log, for the writes of a day


ASK = {"query": "text?", "message": "text?", "top_k": "whole?", "limit": "whole?"}
ASK |= {"memory_type": "text?", "session_id": "text?", "threshold": "number?"}
TAKES = {
    "agents": About(gives="list"),
    "create_agent": About({"name": "text?", "description": "text?"}, status=201),
    "remember": About(
        {"content": "text", "memory_type": "text?", "session_id": "text?", "ttl_days": "number?"}
        | {"ttl_seconds": "number?", "pinned": "flag?", "metadata": "object?"},
        status=201,
    ),
    "recall": About(ASK),
    "inject_context": About(ASK),
    "memories": About(
        query={"limit": "whole?", "offset": "whole?", "page": "whole?", "per_page": "whole?"}
        | {"session_id": "text?", "memory_type": "text?", "q": "text?", "sort": "text?"}
    ),
}


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
    paths: dict[tuple[str, str], Answer] = {
        ("GET", ROOT): agents,
        ("POST", ROOT): create_agent,
        ("DELETE", ROOT + "/{agent}"): delete_agent,
        ("POST", ROOT + "/{agent}/remember"): remember,
        ("POST", ROOT + "/{agent}/recall"): recall,
        ("POST", ROOT + "/{agent}/inject-context"): inject_context,
        ("GET", ROOT + "/{agent}/sessions"): sessions,
        ("GET", ROOT + "/{agent}/memories"): memories,
        ("DELETE", ROOT + "/{agent}/memories"): clear,
        ("DELETE", ROOT + "/{agent}/memories/{id}"): delete_memory,
        ("GET", ROOT + "/{agent}/analytics"): analytics,
        ("GET", "/api/v1/usage/today"): usage,
    }
    add_paths(router, "kronvex", paths, TAKES, _detail)


def _detail(error: HoldfastError, status: int, request: str) -> dict[str, Any]:
    """An error as Kronvex tells it; by `daily_quota` its clients know that the day is used up."""
    said = fields.detail(error, status, request)
    if isinstance(error, DayUsedUp):
        said["detail"] = f"daily_quota: {said['detail']}"
    return said


# --- agents ---


def agents(call: Call) -> Reply:
    """Every agent: those that were named, and every other scope."""
    caller = call.caller
    caller.may("read")
    names = call.host.ledger.scopes(caller.tenant, caller.prefix, "", check.LIMIT)
    shelf = _shelf(call)
    named = {key: call.do(ops.Get(scope=shelf, key=key)).value for key in _named(call)}
    others = {name: {"name": name, "description": ""} for name in names if name != shelf}
    return as_json([{"id": id, **about} for id, about in (others | named).items()])


def _shelf(call: Call) -> str:
    return f"{call.caller.prefix}{AGENTS}"


def _named(call: Call) -> tuple[str, ...]:
    return call.do(ops.Keys(scope=_shelf(call)))


def create_agent(call: Call) -> Reply:
    """A new agent with a name and an id of its own."""
    told = fields.body(call)
    id = f"{call.caller.prefix}{new_id()}"
    about = {
        "name": told.text("name") or id,
        "description": told.text("description") or "",
        "created_at": wire.dump(call.host.clock()),
    }
    call.do(ops.Set(scope=_shelf(call), key=id, value=about))
    return as_json({"id": id, **about, "memory_count": 0}, 201)


def delete_agent(call: Call) -> Reply:
    """Forgets an agent with all it knows."""
    agent = call.path["agent"]
    known = call.do(ops.Delete(scope=_shelf(call), key=agent))
    gone = call.do(ops.Forget(scope=agent, everything=True))
    if not (known or gone.memories or gone.states):
        raise NotFound("There is no such agent.", "List them to see their ids.")
    return as_json({"deleted": True, "id": agent, "memories": gone.memories})


# --- memories ---


def remember(call: Call) -> Reply:
    """Stores a memory."""
    told, agent = fields.body(call), call.path["agent"]
    pinned = told.flag("pinned")
    days = told.ttl(DAY, "ttl_days") or told.ttl(timedelta(seconds=1), "ttl_seconds")
    draft = ops.Draft(
        content=told.any("content"),
        kind=fields.kind(told.text("memory_type"), "episodic"),
        session=told.text("session_id"),
        ttl=None if pinned else days,
        pinned=pinned,
        meta=told.mapping("metadata"),
    )
    stored = call.do(ops.Remember(scope=agent, draft=draft, idempotency_key=fields.once(call)))
    record = fields.stored(call, agent, stored.id, draft)
    reply = as_json({**_memory(record), "deduplicated": not stored.created}, 201)
    if not stored.created:
        reply.headers.append(("x-dedup-hit", "true"))
    return reply


def recall(call: Call) -> Reply:
    """Finds memories."""
    op, threshold = _asked(call)
    hits = fields.found(call, op, threshold)
    scored = [(hit, _scores(hit, call.host.clock())) for hit in hits]
    scored.sort(key=lambda pair: -pair[1]["confidence"])
    return as_json(
        {
            "query": op.query,
            "memories": [{**_memory(hit.memory), **scores} for hit, scores in scored],
            "results": [{"memory": _memory(hit.memory), **scores} for hit, scores in scored],
            "total_found": len(scored),
        }
    )


def inject_context(call: Call) -> Reply:
    """A block for a prompt, and the memories in it."""
    op, threshold = _asked(call)
    hits = fields.nearest(call, op) if threshold is None else fields.found(call, op, threshold)
    block = context.render(hits)
    now = call.host.clock()
    nested = [{"memory": _memory(hit.memory), **_scores(hit, now)} for hit in hits]
    told = {"context": block, "context_block": block}
    return as_json({**told, "memories_used": len(hits), "memories": nested})


def _asked(call: Call) -> tuple[ops.Recall, float | None]:
    told = fields.body(call)
    query = check.content(told.any("query", "message"), "query")
    where = ops.where(kinds=fields.kinds(told.text("memory_type")), session=told.text("session_id"))
    limit = told.whole(5, 1, 100, "top_k", "limit")
    op = ops.Recall(scope=call.path["agent"], query=query, where=where, limit=limit)
    return op, told.number("threshold")


def sessions(call: Call) -> Reply:
    """The sessions of an agent, with how many memories each has."""
    agent = check.scope(call.path["agent"])
    call.caller.may("read")
    call.caller.opens(agent)
    found = call.host.ledger.sessions(Place(call.caller.tenant, agent), call.host.clock())
    return as_json({"sessions": [{"session_id": name, "count": count} for name, count in found]})


def memories(call: Call) -> Reply:
    """A page of memories, by offset."""
    told, agent = fields.query(call), call.path["agent"]
    limit = told.whole(50, 1, check.LIMIT, "limit", "per_page")
    page = told.whole(1, 1, fields.MOST_LISTED, "page")
    offset = told.whole((page - 1) * limit, 0, fields.MOST_LISTED, "offset")
    where = ops.where(kinds=fields.kinds(told.text("memory_type")), session=told.text("session_id"))
    order, words = told.text("sort"), told.text("q", "search")
    found = list(fields.listed(call, agent, where))
    if words:
        found = [record for record in found if words.lower() in record.content.lower()]
    if order == "access_count":
        found.sort(key=lambda record: -record.uses)
    elif order in ORDERS:
        found.reverse()
    shown = [_memory(record) for record in found[offset : offset + limit]]
    told_page = {"total": len(found), "limit": limit, "offset": offset}
    more = offset + limit < len(found)
    return as_json({"memories": shown, **told_page, "has_more": more})


def delete_memory(call: Call) -> Reply:
    """Forgets one memory."""
    id = call.path["id"]
    call.do(ops.Forget(scope=call.path["agent"], id=id))
    return as_json({"deleted": True, "id": id})


def clear(call: Call) -> Reply:
    """Forgets every memory of an agent."""
    gone = call.do(ops.Forget(scope=call.path["agent"], where=fields.EVER))
    return as_json({"deleted": gone.memories})


def analytics(call: Call) -> Reply:
    """How much an agent holds."""
    found = call.do(ops.Count(scope=call.path["agent"]))
    by_type = dict(found.kinds)
    return as_json(
        {"total_memories": found.memories, "by_type": by_type, "sessions": found.sessions}
    )


def usage(call: Call) -> Reply:
    """How much was written since midnight (UTC), and how much may be."""
    call.caller.may("read")
    today = call.host.clock().replace(hour=0, minute=0, second=0, microsecond=0)
    used, limit = _written(call, today), call.host.settings.limits.writes_a_day
    left = None if limit is None else max(0, limit - used)
    times = {"date": today.date().isoformat(), "resets_at": wire.dump(today + DAY)}
    return as_json({**times, "used": used, "limit": limit, "remaining": left})


def _written(call: Call, since: datetime) -> int:
    """The writes since a time that the audit log tells of, in the caller's scopes."""
    caller, before, count = call.caller, native.LAST, 0
    for _ in range(0, MOST_COUNTED, check.LIMIT):
        lines = call.host.ledger.noted(caller.tenant, before, check.LIMIT)
        late = [line for _, line in lines if line.at >= since and line.act in WRITES]
        count += sum((line.scope or "").startswith(caller.prefix) for line in late)
        if len(lines) < check.LIMIT or lines[-1][1].at < since:
            break
        before = lines[-1][0]
    return count


# --- what they look like ---


def _memory(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "agent_id": record.scope,
        "content": record.content,
        "session_id": record.session,
        "memory_type": record.kind,
        "metadata": dict(record.meta),
        "created_at": wire.dump(record.created_at),
        "access_count": record.uses,
        "expires_at": wire.dump(record.expires_at),
        "pinned": record.pinned,
        "superseded": record.superseded_by is not None,
        "superseded_by": record.superseded_by,
    }


def _scores(hit: Hit, now: datetime) -> dict[str, float]:
    """The scores by the formula that Kronvex publishes."""
    age = max(0.0, (now - hit.memory.created_at) / DAY)
    recency = 1 / (1 + math.exp(min(700.0, 0.05 * (age - 30))))
    frequency = min(1.0, math.log1p(hit.memory.uses) / math.log(11))
    similarity = hit.why.similarity
    score = 0.6 * similarity + 0.2 * recency + 0.2 * frequency
    return {"similarity": similarity, "confidence": score, "score": score}
