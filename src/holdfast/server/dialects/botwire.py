"""BotWire: namespaces are scopes, keys are state, and channels are logs kept in state.

A channel is a scope of its own: what it is lies under `channel`, its members under `member/…`,
its entries under `entry/…`, with a time in their key so that they are in order.
"""

from __future__ import annotations

import re
import secrets
from datetime import datetime, timezone
from typing import Any

from holdfast import check, ops
from holdfast.errors import Conflict, Invalid, NotFound
from holdfast.model import Entry
from holdfast.server.app import Endpoint
from holdfast.server.dialects import Answer, add_paths, fields
from holdfast.server.exchange import Call, Reply, as_json
from holdfast.server.openapi import About
from holdfast.server.router import Router

TYPES = "signal analysis decision alert question response human status data".split()
AGENTS = "botwire/agents"
POSTED = re.compile(r"[0-9]{17}-[0-9a-f]{8}")
MOST_KEYS = 100_000
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


TAKES = {
    "put": About({"value": "any"}),
    "keys": About(query={"limit": "whole?"}),
    "register": About(
        {"name": "text", "description": "text?", "capabilities": "list?", "accept_terms": "flag"}
        | {"wallet_address": "text?"}
    ),
    "search": About(query={"capability": "text?"}),
    "create": About({"agent_id": "text", "visibility": "text?", "description": "text?"}),
    "join": About(query={"agent_id": "text"}),
    "post": About({"agent_id": "text", "type": "text", "data": "any"}),
    "messages": About(query={"limit": "whole?", "type": "text?", "since": "number?"}),
}


def add(router: Router[Endpoint]) -> None:
    """Adds the paths."""
    paths: dict[tuple[str, str], Answer] = {
        ("GET", "/memory/{namespace}"): keys,
        ("PUT", "/memory/{namespace}/{key*}"): put,
        ("GET", "/memory/{namespace}/{key*}"): get,
        ("DELETE", "/memory/{namespace}/{key*}"): delete,
        ("POST", "/identity/register"): register,
        ("GET", "/identity/search"): search,
        ("POST", "/channels/{channel}/create"): create,
        ("POST", "/channels/{channel}/join"): join,
        ("POST", "/channels/{channel}/post"): post,
        ("GET", "/channels/{channel}/messages"): messages,
    }
    add_paths(router, "botwire", paths, TAKES, fields.detail)


# --- keys and values ---


def put(call: Call) -> Reply:
    """Keeps a value as it was sent."""
    told = call.fields
    if "value" not in told:
        raise Invalid("There is no value.", 'Send {"value": …}.')
    space, key = call.path["namespace"], call.path["key"]
    call.do(ops.Set(scope=space, key=key, value=told["value"], idempotency_key=fields.once(call)))
    size = len(str(told["value"]).encode("utf-8", "replace"))
    return as_json({"namespace": space, "key": key, "stored": True, "bytes": size})


def get(call: Call) -> Reply:
    """The value under a key."""
    space, key = call.path["namespace"], call.path["key"]
    entry = call.do(ops.Get(scope=space, key=key))
    at = entry.updated_at.timestamp()
    times = {"created_at": at, "updated_at": at}  # of the value that is held now
    return as_json({"namespace": space, "key": key, "value": entry.value, **times})


def delete(call: Call) -> Reply:
    """Removes a key."""
    space, key = call.path["namespace"], call.path["key"]
    if not call.do(ops.Delete(scope=space, key=key)):
        raise NotFound("Key not found.", "List the namespace to see its keys.")
    return as_json({"deleted": True, "namespace": space, "key": key})


def keys(call: Call) -> Reply:
    """The keys of a namespace, as plain texts."""
    limit = fields.query(call).whole(check.LIMIT, 1, MOST_KEYS, "limit")
    found = _keys(call, call.path["namespace"], "", limit)
    return as_json({"namespace": call.path["namespace"], "count": len(found), "keys": found})


def _keys(call: Call, scope: str, prefix: str, most: int, after: str = "") -> list[str]:
    found: list[str] = []
    while len(found) < most:
        limit = min(check.LIMIT, most - len(found))
        part = call.do(ops.Keys(scope=scope, prefix=prefix, after=after, limit=limit))
        found.extend(part)
        if len(part) < limit:
            break
        after = part[-1]
    return found


# --- who is who ---


def register(call: Call) -> Reply:
    """Notes an agent and what it can do."""
    told = fields.body(call)
    if not told.flag("accept_terms"):
        raise Invalid("The terms were not accepted.", "Send accept_terms: true.")
    name = check.name("name", told.text("name"))
    about = {
        "name": name,
        "agent_id": name,
        "description": told.text("description") or "",
        "capabilities": list(check.names("capabilities", told.any("capabilities") or [])),
        "wallet_address": told.text("wallet_address"),
    }
    call.do(ops.Set(scope=_shelf(call), key=name, value=about))
    return as_json({**about, "registered": True})


def search(call: Call) -> Reply:
    """The agents that can do something, or all of them."""
    wanted = fields.query(call).text("capability")
    names = _keys(call, _shelf(call), "", MOST_KEYS)
    found = [call.do(ops.Get(scope=_shelf(call), key=name)).value for name in names]
    fitting = [it for it in found if _can(it, wanted)]
    return as_json({"results": fitting, "count": len(fitting)})


def _can(agent: Any, wanted: str | None) -> bool:
    """Whether what lies here is an agent that can do something; the shelf is open to others."""
    able = agent.get("capabilities") if isinstance(agent, dict) else None
    return isinstance(able, list) and (not wanted or wanted in able)


def _shelf(call: Call) -> str:
    return f"{call.caller.prefix}{AGENTS}"


# --- channels ---


def create(call: Call) -> Reply:
    """A new channel; 409 if there is one of this name."""
    told, channel = fields.body(call), _channel(call)
    agent = check.name("agent_id", told.text("agent_id"))
    about = {"created_by": agent, "description": told.text("description") or ""}
    about["visibility"] = told.text("visibility") or "public"
    try:
        call.do(ops.Set(scope=channel, key="channel", value=about, if_version=0))
    except Conflict:
        raise Conflict("The channel exists already.", "Join it.") from None
    _enter(call, channel, agent)
    return as_json({"channel": call.path["channel"], "created": True, **about})


def join(call: Call) -> Reply:
    """Makes an agent a member of a channel."""
    agent = check.name("agent_id", fields.query(call).text("agent_id"))
    channel = _existing(call)
    _enter(call, channel, agent)
    return as_json({"channel": call.path["channel"], "agent_id": agent, "joined": True})


def post(call: Call) -> Reply:
    """Adds an entry to a channel."""
    told, channel = fields.body(call), _existing(call)
    agent = check.name("agent_id", told.text("agent_id"))
    kind = told.text("type") or ""
    if kind not in TYPES:
        raise Invalid(f"{kind[:40]!r} is no type of entry.", f"Use {', '.join(TYPES)}.")
    entry = {"agent_id": agent, "type": kind, "data": told.any("data")}
    now = call.host.clock()
    id = f"{_micros(now):017d}-{secrets.token_hex(4)}"
    call.do(ops.Set(scope=channel, key=f"entry/{id}", value=entry))
    about = {"posted": True, "id": id, "channel": call.path["channel"]}
    return as_json({**about, "agent_id": agent, "type": kind, "timestamp": now.timestamp()})


def messages(call: Call) -> Reply:
    """The newest entries of a channel, or the first since a time; oldest of them first.

    Who watches a channel asks for what came since the last entry, and must miss none.
    """
    asked, channel = fields.query(call), _existing(call)
    limit, kind = asked.whole(50, 1, check.LIMIT, "limit"), asked.text("type")
    since = asked.number("since")
    after = "" if since is None else f"entry/{max(0, round(since * 1e6)):017d}-~"
    keys = _keys(call, channel, "entry/", MOST_KEYS, after)
    found: list[dict[str, Any]] = []
    for key in keys if since is not None else reversed(keys):
        entry = _entry(call.do(ops.Get(scope=channel, key=key)))
        if entry and kind in (None, entry["type"]):
            found.append(entry)
        if len(found) == limit:
            break
    found.sort(key=lambda entry: str(entry["id"]))
    return as_json({"channel": call.path["channel"], "count": len(found), "entries": found})


def _channel(call: Call) -> str:
    return f"{call.caller.prefix}botwire/channel/{call.path['channel']}"


def _existing(call: Call) -> str:
    channel = _channel(call)
    try:
        call.do(ops.Get(scope=channel, key="channel"))
    except NotFound:
        raise NotFound("Channel not found.", "Create it first.") from None
    return channel


def _enter(call: Call, channel: str, agent: str) -> None:
    call.do(ops.Set(scope=channel, key=f"member/{agent}", value=True))


def _micros(at: datetime) -> int:
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _entry(held: Entry) -> dict[str, Any] | None:
    """An entry as it is read; None if it is not one that was posted."""
    id = held.key.removeprefix("entry/")
    if not (POSTED.fullmatch(id) and isinstance(held.value, dict) and "type" in held.value):
        return None
    return {"id": id, "timestamp": int(id.partition("-")[0]) / 1e6, **held.value}
