"""The native REST API: each verb where `routes` says, and a little beside the verbs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

from holdfast import check, keeping, ops, portable, routes, wire
from holdfast.access import READS
from holdfast.engine import Place, Snapshot
from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.model import Entry
from holdfast.server import transcript
from holdfast.server.app import Endpoint
from holdfast.server.exchange import JSON, LINES, Call, Reply, as_json
from holdfast.server.openapi import About
from holdfast.server.router import Router

LAST = 2**62
ONE_ROW = (ops.Get, ops.Read)
SCOPES, AUDIT, JOB, WHO = "/v1/scopes", "/v1/audit", "/v1/jobs/{id}", "/v1/key"
CONVERSATIONS = routes.ROOT + "conversations"
MARKS = routes.ROOT + "memories/{id}/marks"
TAKES = {
    "conversation": About({"messages": "list?", "content": "text?"}, status=202),
    "scopes": About(query={"prefix": "text?", "after": "text?", "limit": "whole?"}),
    "audit": About(query={"cursor": "text?", "limit": "whole?"}),
    "prune": About(query={"before": "time"}),
}


class Changed(Conflict):
    """The key no longer has the version of If-Match; nothing was done."""

    status = 412


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
    for route in routes.ROUTES:
        name = route.op.__name__.lower()
        endpoint = Endpoint(
            name,
            _answer(route),
            reads=route.op in READS,
            one_row=route.op in ONE_ROW,
            imports=route.op is ops.Import,
        )
        router.add(route.method, route.path, endpoint)
    told = Endpoint("conversation", conversation, about=TAKES["conversation"])
    router.add("POST", CONVERSATIONS, told)
    router.add("GET", MARKS, Endpoint("marks", marks, reads=True))
    router.add("GET", JOB, Endpoint("job", job, reads=True))
    router.add("GET", SCOPES, Endpoint("scopes", scopes, reads=True, about=TAKES["scopes"]))
    router.add("GET", AUDIT, Endpoint("audit", audit, reads=True, about=TAKES["audit"]))
    router.add("DELETE", AUDIT, Endpoint("prune", prune, about=TAKES["prune"]))
    router.add("GET", WHO, Endpoint("key", who, reads=True))


# --- the verbs ---


def _answer(route: routes.Route) -> Callable[[Call], Reply]:
    special = {ops.Get: _get, ops.Export: _export, ops.Import: _import}
    if route.op in special:
        return lambda call: special[route.op](route, call)
    return lambda call: _plain(route, call)


def _plain(route: routes.Route, call: Call) -> Reply:
    op = routes.op(route, call.path, call.query, _body(route, call), call.headers)
    return _told(route, _done(call, op))


def _body(route: routes.Route, call: Call) -> Any:
    return None if route.in_query else call.data


def _done(call: Call, op: ops.Op[Any]) -> Any:
    try:
        return call.do(op)
    except Conflict as error:
        if getattr(op, "if_version", None) is None:
            raise
        raise Changed(error.message, error.advice) from None


def _told(route: routes.Route, answer: Any) -> Reply:
    reply = as_json(routes.reply(route, answer))
    if isinstance(answer, Entry):
        reply.headers.append(("etag", f'"{answer.version}"'))
    return reply


def _get(route: routes.Route, call: Call) -> Reply:
    """The entry under a key; 304 if the caller has this version."""
    if call.raw_query:
        entry = call.do(routes.op(route, call.path, call.query, None, {}))
    else:
        entry = call.do(_state(call.path["scope"], call.path["key"]))
    if routes.NONE_MATCH in call.headers and routes.known(call.headers, entry.version):
        return Reply(status=304, headers=[("etag", f'"{entry.version}"')])
    return _told(route, entry)


@lru_cache(maxsize=1024)
def _state(scope: str, key: str) -> ops.Get:
    """What asks for a key; keys are asked for again and again."""
    return ops.Get(scope=scope, key=key)


def _export(route: routes.Route, call: Call) -> Reply:
    """The scope as JSON Lines; in parts, with a cursor, for who asks for JSON."""
    op = routes.op(route, call.path, call.query, None, call.headers)
    assert isinstance(op, ops.Export)
    first = call.do(op)
    if JSON in call.headers.get("accept", ""):
        return as_json(routes.reply(route, first))
    return Reply(_lines(call, op, first), media=LINES)


def _lines(call: Call, op: ops.Export, part: Any) -> Iterator[bytes]:
    while True:
        if part.lines:
            yield "".join(f"{line}\n" for line in part.lines).encode()
        if part.cursor is None:
            return
        part = call.do(replace(op, cursor=part.cursor))


def _import(route: routes.Route, call: Call) -> Reply:
    """Takes JSON Lines, or JSON with `lines`."""
    if JSON in call.headers.get("content-type", ""):
        return _plain(route, call)
    lines = [line for line in call.text.split("\n") if line.strip()]
    return _told(route, call.do(ops.Import(scope=call.path["scope"], lines=tuple(lines))))


# --- beside the verbs ---


def conversation(call: Call) -> Reply:
    """Accepts a conversation to learn from: `messages`, or `content` as text."""
    told = call.fields
    unknown = sorted(set(told) - {"messages", "content"})
    if unknown or len(told) != 1:
        raise Invalid("A conversation is messages or content.", 'Send {"messages": [{…}]}.')
    said = told.get("messages", told.get("content"))
    return as_json(accepted(call, check.scope(call.path["scope"]), said), 202)


def accepted(call: Call, scope: str, said: Any) -> dict[str, Any]:
    """A job that learns from a conversation and keeps its turns, as the caller sees it."""
    turns, once = transcript.turns(said), routes.once(call.headers)
    op = ops.Extract(scope=scope, turns=turns, keep="both", idempotency_key=once)
    made = call.host.accept(call, op)
    return {"job_id": made.id, "status": made.status}


def marks(call: Call) -> Reply:
    """What a recall would tell beside a memory: who contradicts, outdates or confirms it."""
    op = ops.Read(scope=call.path["scope"], id=call.path["id"])
    record, place = call.do(op), Place(call.caller.tenant, op.scope)

    def work(seen: Snapshot) -> keeping.Marks:
        return keeping.marks(seen, place, record, seen.any_links(place))

    return as_json(call.host.engine.read(work))


def job(call: Call) -> Reply:
    """What became of a job."""
    return as_json(found_job(call, call.path["id"]))


def found_job(call: Call, id: str) -> dict[str, Any]:
    """A job as its caller sees it; one of another tenant is not there."""
    call.caller.may("read")
    found = call.host.jobs.find(call.caller.tenant, check.name("id", id))
    if found is None or not found.place.scope.startswith(call.caller.prefix):
        raise NotFound("There is no such job here.", "Jobs are told by the id they were given.")
    times = {"created_at": wire.dump(found.created_at), "updated_at": wire.dump(found.updated_at)}
    return {"job_id": found.id, "status": found.status, **times, **(found.result or {})}


def scopes(call: Call) -> Reply:
    """The names of the scopes there are, in order."""
    call.caller.may("read")
    after, limit = call.asked("after") or "", _limit(call)
    prefix = call.asked("prefix") or ""
    if not prefix.startswith(call.caller.prefix):
        prefix = call.caller.prefix
    names = call.host.ledger.scopes(
        call.caller.tenant, check.sane("prefix", prefix), check.sane("after", after), limit
    )
    return as_json({"scopes": names})


def audit(call: Call) -> Reply:
    """The audit log of the caller's tenant, newest first, page by page."""
    call.caller.rules()
    mark, limit = call.asked("cursor"), _limit(call)
    before = LAST if mark is None else portable.place_of(check.cursor(mark) or "", int)[0]
    lines = call.host.ledger.noted(call.caller.tenant, before, limit)
    cursor = portable.cursor(lines[-1][0]) if len(lines) == limit else None
    told = [{k: v for k, v in wire.dump(it).items() if k != "tenant"} for _, it in lines]
    return as_json({"lines": told, "cursor": cursor})


def prune(call: Call) -> Reply:
    """Removes lines of the audit log that are older than `before`."""
    call.caller.rules()
    before = check.moment("before", wire.moment(call.asked("before"), "before"))
    assert before is not None
    removed = call.host.ledger.prune(call.caller.tenant, before)
    call.host.note(call, "prune audit")
    return as_json({"removed": removed})


def who(call: Call) -> Reply:
    """Whose key this is, and what it may do."""
    caller = call.caller
    told = {"key": caller.key, "tenant": caller.tenant, "rights": sorted(caller.rights)}
    return as_json({**told, "prefix": caller.prefix, "home": caller.home, "role": caller.role})


def _limit(call: Call, default: int = 100) -> int:
    text = call.asked("limit")
    limit = default if text is None else routes.value(int, [text])
    return check.whole("limit", limit, 1, check.LIMIT)
