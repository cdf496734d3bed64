"""0Latency: `agent_id` names a scope, or else the caller's own; both generations of its paths."""

from __future__ import annotations

from typing import Any

from holdfast import check, context, ops, text, wire
from holdfast.errors import Invalid
from holdfast.model import Hit, Record
from holdfast.server import native
from holdfast.server.app import Endpoint
from holdfast.server.dialects import Answer, add_paths, fields
from holdfast.server.exchange import Call, Reply, as_json
from holdfast.server.openapi import About
from holdfast.server.router import Router

BUDGET = 4000  # tokens of a context block, if none is named
QUERY_CHARS = 2000  # of a long conversation, its end is the question
FACTS = 500


ASK = {"agent_id": "text?", "limit": "whole?", "max_tokens": "whole?"}
SAY = {"agent_id": "text?", "content": "text?", "conversation": "list?"}
SAY |= {"human_message": "text?", "agent_message": "text?"}
TAKES = {
    "seed": About(
        {"agent_id": "text?", "content": "text?", "facts": "list?", "metadata": "object?"}
    ),
    "recall": About(
        {**ASK, "query": "text?", "conversation_context": "text?", "budget_tokens": "whole?"}
    ),
    "search": About(query={**ASK, "query": "text?", "q": "text?"}),
    "extract": About(SAY, status=202),
    "extract_plainly": About(SAY),
    "list_": About(query={"agent_id": "text?", "limit": "whole?"}),
    "consolidate": About({"agent_id": "text?"}),
    "forget": About(query={"agent_id": "text?"}),
}


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
    seeds = [("POST", path) for path in ("/memories/seed", "/v1/memories", "/v1/memory/seed")]
    recalls = [("POST", path) for path in ("/recall", "/v1/recall", "/v1/memory/recall")]
    asks = [("GET", path) for path in ("/v1/memories/recall", "/v1/memory/search")]
    asks.append(("GET", "/memories/search"))
    extracts = [("POST", path) for path in ("/memories/extract", "/v1/memories/extract")]
    extracts += [("POST", "/v1/extract"), ("POST", "/extract")]
    jobs = [("GET", path) for path in ("/memories/extract/{job}", "/v1/memories/extract/{job}")]
    lists = [("GET", path) for path in ("/memories", "/v1/memory")]
    drops = [("DELETE", path) for path in ("/memories/{id}", "/v1/memory/{id}")]
    answers: dict[Answer, list[tuple[str, str]]] = {
        seed: seeds,
        recall: recalls,
        search: asks,
        extract: extracts,
        extract_plainly: [("POST", "/v1/memory/extract")],
        consolidate: [("POST", "/v1/memory/consolidate")],
        status: jobs,
        list_: lists,
        forget: drops,
    }
    paths = {path: answer for answer, found in answers.items() for path in found}
    add_paths(router, "zerolatency", paths, TAKES, fields.detail)


def _scope(call: Call, told: fields.Fields) -> str:
    return told.text("agent_id") or call.caller.home


# --- keeping ---


def seed(call: Call) -> Reply:
    """Stores facts, or one content, as they are."""
    told = fields.body(call)
    drafts = _drafts(told)
    stored = call.do(
        ops.RememberMany(
            scope=_scope(call, told), drafts=tuple(drafts), idempotency_key=fields.once(call)
        )
    )
    ids, new = [it.id for it in stored], sum(it.created for it in stored)
    counts = {"memories_stored": len(ids), "new_count": new, "deduplicated_count": len(ids) - new}
    return as_json({"id": ids[0], "memory_id": ids[0], "memory_ids": ids, **counts})


def _drafts(told: fields.Fields) -> list[ops.Draft]:
    facts = told.any("facts")
    if facts is None:
        meta = told.mapping("metadata")
        return [ops.Draft(content=told.any("content"), meta=meta)]
    if not isinstance(facts, list) or not 1 <= len(facts) <= FACTS:
        raise Invalid(f"facts must be a list of 1 to {FACTS}.")
    return [_fact(item) for item in facts]


def _fact(item: Any) -> ops.Draft:
    if isinstance(item, str):
        return ops.Draft(content=item)
    if not isinstance(item, dict):
        raise Invalid("A fact must be text, or an object with text.")
    told = fields.Fields(item)
    weight = told.number("importance")
    meta = told.mapping("metadata") | ({} if weight is None else {"importance": weight})
    kind = fields.kind(told.text("category"), "fact")
    return ops.Draft(content=told.any("text", "content"), kind=kind, meta=meta)


def extract(call: Call) -> Reply:
    """Accepts a conversation to learn from; what becomes of it is told by its job."""
    told = fields.body(call)
    return as_json(native.accepted(call, _scope(call, told), _said(told)), 202)


def extract_plainly(call: Call) -> Reply:
    """The same, for a client that takes 200 only."""
    reply = extract(call)
    reply.status = 200
    return reply


def _said(told: fields.Fields) -> Any:
    pair = [("user", told.text("human_message")), ("assistant", told.text("agent_message"))]
    messages = [{"role": by, "content": said} for by, said in pair if said]
    return told.any("conversation", "messages") or messages or told.text("content") or ""


def status(call: Call) -> Reply:
    """What became of a job."""
    return as_json({"job_type": "extract", **native.found_job(call, call.path["job"])})


def consolidate(call: Call) -> Reply:
    """Makes one memory of those that say the same, and of long sessions."""
    told = fields.body(call)
    done = call.do(ops.Consolidate(scope=_scope(call, told)))
    return as_json({"status": "complete", **wire.dump(done)})


def forget(call: Call) -> Reply:
    """Forgets one memory."""
    call.do(ops.Forget(scope=_scope(call, fields.query(call)), id=call.path["id"]))
    return as_json({"deleted": True, "id": call.path["id"]})


# --- finding ---


def recall(call: Call) -> Reply:
    """Finds memories, as a list and as a block within the budget."""
    return _recalled(call, fields.body(call))


def search(call: Call) -> Reply:
    """The same, by a query."""
    return _recalled(call, fields.query(call))


def _recalled(call: Call, told: fields.Fields) -> Reply:
    scope = _scope(call, told)
    query = told.text("query", "q", "conversation_context") or ""
    budget = told.whole(BUDGET, 1, check.BUDGET_TOKENS, "budget_tokens", "max_tokens")
    limit = told.whole(10, 1, 100, "limit")
    op = ops.Recall(scope=scope, query=query[-QUERY_CHARS:], limit=limit)
    hits = fields.nearest(call, op) if _has_budget(told) else call.do(op).hits
    chosen = context.chosen(hits, budget)
    block = context.render(chosen)
    listed = [_memory(hit) for hit in (chosen if _has_budget(told) else hits)]
    return as_json(
        {
            "query": op.query,
            "memories": listed,
            "count": len(listed),
            "context_block": block,
            "context": block,
            "memories_used": len(chosen),
            "memory_ids": [hit.id for hit in chosen],
            "tokens_used": text.tokens(block) if block else 0,
            "recall_details": [
                {"id": hit.id, "composite_score": hit.score, "why": str(hit.why)} for hit in chosen
            ],
        }
    )


def _has_budget(told: fields.Fields) -> bool:
    return told.any("budget_tokens", "max_tokens") is not None


def list_(call: Call) -> Reply:
    """Memories, newest first."""
    told = fields.query(call)
    limit = told.whole(50, 1, check.LIMIT, "limit")
    page = call.do(ops.List(scope=_scope(call, told), limit=limit))
    shown = [_record(record) for record in page]
    return as_json({"memories": shown, "count": len(shown)})


def _memory(hit: Hit) -> dict[str, Any]:
    return {**_record(hit.memory), "relevance": hit.why.similarity, "score": hit.score}


def _record(record: Record) -> dict[str, Any]:
    return {
        "id": record.id,
        "agent_id": record.scope,
        "content": record.content,
        "text": record.content,
        "category": record.kind,
        "metadata": dict(record.meta),
        "created_at": wire.dump(record.created_at),
    }
