"""The REST API as data: one row per verb, read by server, client, OpenAPI and docs alike.

An op travels as method, path, query, headers and a JSON body. What a verb takes is named as in
the library: the fields of a draft or a filter lie beside the others, not inside them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, get_type_hints
from urllib.parse import quote, unquote

from holdfast import ops, wire
from holdfast.errors import Invalid
from holdfast.model import (
    Consolidated,
    Diagnosis,
    Entry,
    Explanation,
    Exported,
    Extracted,
    Filter,
    Held,
    Imported,
    Job,
    Page,
    Policy,
    Purged,
    Recalled,
    Receipt,
    Record,
    Remembered,
    RolledBack,
    Stats,
)

ROOT = "/v1/scopes/{scope}/"
INLINE = {"draft": ops.Draft, "where": Filter}
NOT_IN_BODY = ("idempotency_key", "if_version", "voice")  # in headers, or told by the key alone
LIST = tuple[str, ...]  # what may be given again and again
ONCE, MATCH, NONE_MATCH = "idempotency-key", "if-match", "if-none-match"


@dataclass(frozen=True)
class Route:
    """Where a verb is found, and what it answers; `wraps` names an answer that is no object."""

    op: Any  # its class
    method: str
    path: str
    answer: Any
    wraps: str | None = None
    names: tuple[str, ...] = field(init=False)  # fields that are part of the path

    def __post_init__(self) -> None:
        parts = self.path.split("/")
        names = tuple(part.strip("{*}") for part in parts if part.startswith("{"))
        object.__setattr__(self, "names", names)

    @property
    def in_query(self) -> bool:
        """True if arguments travel in the query: there is no body."""
        return self.method in ("GET", "DELETE")

    @property
    def summary(self) -> str:
        """What the verb does, in one line."""
        return (self.op.__doc__ or "").partition("\n")[0]


def _route(op: Any, method: str, tail: str, answer: Any, wraps: str | None = None) -> Route:
    return Route(op, method, ROOT + tail, answer, wraps)


ROUTES = (
    _route(ops.Remember, "POST", "remember", Remembered),
    _route(ops.RememberMany, "POST", "batch", tuple[Remembered, ...], "remembered"),
    _route(ops.Recall, "POST", "recall", Recalled),
    _route(ops.Context, "POST", "context", str, "context"),
    _route(ops.Explain, "POST", "explain", Explanation),
    _route(ops.List, "GET", "memories", Page),
    _route(ops.Read, "GET", "memories/{id}", Record),
    _route(ops.Revise, "PUT", "memories/{id}", Record),
    _route(ops.History, "GET", "memories/{id}/history", tuple[Record, ...], "versions"),
    _route(ops.Forget, "POST", "forget", Receipt),
    _route(ops.Extract, "POST", "extract", Extracted),
    _route(ops.Resolve, "POST", "resolve", Remembered),
    _route(ops.Rollback, "POST", "rollback", RolledBack),
    _route(ops.Review, "GET", "quarantine", tuple[Held, ...], "held"),
    _route(ops.Approve, "POST", "quarantine/{id}/approve", Remembered),
    _route(ops.Reject, "POST", "quarantine/{id}/reject", bool, "rejected"),
    _route(ops.SetPolicy, "POST", "policy", Policy),
    _route(ops.Consolidate, "POST", "consolidate", Consolidated),
    _route(ops.Dissolve, "POST", "dissolve", int, "sources"),
    _route(ops.Jobs, "GET", "jobs", tuple[Job, ...], "jobs"),
    _route(ops.Replay, "POST", "jobs/{id}/replay", bool, "replayed"),
    _route(ops.Work, "POST", "work", int, "done"),
    _route(ops.Keys, "GET", "state", tuple[str, ...], "keys"),
    _route(ops.Get, "GET", "state/{key*}", Entry),
    _route(ops.Set, "PUT", "state/{key*}", Entry),
    _route(ops.Delete, "DELETE", "state/{key*}", bool, "deleted"),
    _route(ops.Append, "POST", "append/{key*}", Entry),
    _route(ops.Increment, "POST", "increment/{key*}", Entry),
    _route(ops.Count, "GET", "stats", Stats),
    _route(ops.Export, "GET", "export", Exported),
    _route(ops.Import, "POST", "import", Imported),
    _route(ops.Purge, "POST", "purge", Purged),
    _route(ops.Doctor, "POST", "doctor", Diagnosis),
)
BY_OP = {route.op: route for route in ROUTES}


@dataclass(frozen=True)
class Parcel:
    """An op on its way: what an HTTP request is made of."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Argument:
    """One thing that a verb takes beside its path and headers."""

    name: str
    kind: Any
    required: bool
    inside: str | None = None  # the field of the op that it is a part of


@cache
def arguments(op: Any, names: tuple[str, ...] = ("scope",)) -> tuple[Argument, ...]:
    """What an op takes in its query or body."""
    return tuple(_arguments(op, {*names, *NOT_IN_BODY}))


@cache
def _named(op: Any, names: tuple[str, ...]) -> dict[str, Argument]:
    return {it.name: it for it in arguments(op, names)}


def _arguments(op: type[Any], elsewhere: set[str]) -> Iterator[Argument]:
    hints = get_type_hints(op)
    for part in dataclasses.fields(op):
        if part.name in INLINE:
            inner = INLINE[part.name]
            yield from (
                dataclasses.replace(it, inside=part.name) for it in _arguments(inner, set())
            )
        elif part.name not in elsewhere:
            no = dataclasses.MISSING
            required = part.default is no and part.default_factory is no
            yield Argument(part.name, hints[part.name], required)


# --- an op into a parcel, and an answer out of a reply ---


def parcel(op: ops.Op[Any]) -> Parcel:
    """The request that carries an op."""
    route = BY_OP.get(type(op))
    if route is None:
        raise Invalid(
            f"{type(op).__name__.lower()} is done where the store's file is, not over HTTP.",
            "Open the store by its sqlite:/// URL there.",
        )
    path = "/".join(_segment(part, op) for part in route.path.split("/"))
    told = _told(op, route)
    headers = dict(_headers(op))
    if route.in_query:
        return Parcel(route.method, path, tuple(_query(told)), None, headers)
    return Parcel(route.method, path, (), told, headers)


def _segment(part: str, op: ops.Op[Any]) -> str:
    if not part.startswith("{"):
        return part
    text = quote(getattr(op, part.strip("{*}")), safe="")
    return text.replace(".", "%2E") if text in (".", "..") else text


def _told(op: ops.Op[Any], route: Route) -> dict[str, Any]:
    """What is not the default, as JSON."""
    told = {}
    for it in arguments(route.op, route.names):
        holder: Any = op if it.inside is None else getattr(op, it.inside)
        value = getattr(holder, it.name)
        kind: Any = type(holder)
        if it.required or value != _default(kind, it.name):
            told[it.name] = wire.dump(value)
    return told


@cache
def _default(kind: Any, name: str) -> Any:
    found = kind.__dataclass_fields__[name]
    no = dataclasses.MISSING
    return found.default_factory() if found.default_factory is not no else found.default


def _headers(op: ops.Op[Any]) -> Iterator[tuple[str, str]]:
    once = getattr(op, "idempotency_key", None)
    if once is not None:
        yield ONCE, quote(once, safe=" !#$&'()*+,/:;=?@[]\"<>^`{|}\\")
    version = getattr(op, "if_version", None)
    if version is not None:
        yield (NONE_MATCH, "*") if version == 0 else (MATCH, f'"{version}"')


def _query(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in told.items():
        if isinstance(value, list):
            yield from ((name, item) for item in value)
        else:
            yield name, value if isinstance(value, str) else wire.dumps(value)


def answer(op: ops.Op[Any], data: Any) -> Any:
    """What a verb answered, out of the JSON of a reply."""
    route = BY_OP[type(op)]
    if route.wraps is None:
        return wire.load(route.answer, data)
    if not isinstance(data, dict) or route.wraps not in data:
        raise Invalid(f"The answer has no {route.wraps!r}.")
    return wire.load(route.answer, data[route.wraps])


# --- a request into an op, and an answer into a reply ---


def op(
    route: Route,
    path: Mapping[str, str],
    query: Mapping[str, Sequence[str]],
    body: Any,
    headers: Mapping[str, str],
) -> ops.Op[Any]:
    """The op a request carries; `Invalid` says where it does not fit."""
    known = _named(route.op, route.names)
    told = _asked(known, query) if route.in_query else _object(body)
    whole: dict[str, Any] = {**path, **_from_headers(route.op, headers)}
    if not (known or told):  # its path and headers are all it takes
        made: ops.Op[Any] = route.op(**whole)
        return made
    if not known.keys() >= told.keys():
        unknown = ", ".join(sorted(told.keys() - known.keys()))
        raise Invalid(f"{unknown[:200]} is not taken here.", _takes(known))
    lacks = [name for name, it in known.items() if it.required and name not in told]
    if lacks:
        raise Invalid(f"This needs {' and '.join(lacks)}.", _takes(known))
    for name, value in told.items():
        it = known[name]
        holder = whole if it.inside is None else whole.setdefault(it.inside, {})
        holder[name] = wire.load(it.kind, _spelled_out(it, value), name)
    for name in INLINE.keys() & whole.keys():
        whole[name] = INLINE[name](**whole[name])
    return _checked(route.op(**whole))


def _takes(known: Mapping[str, Argument]) -> str:
    return f"This takes: {', '.join(known) or 'nothing'}."


def _object(body: Any) -> dict[str, Any]:
    if body is None:
        return {}
    if not isinstance(body, dict):
        raise Invalid("The body must be a JSON object.", 'Write {"name": value, …}.')
    return body


def _spelled_out(it: Argument, value: Any) -> Any:
    """A value in its long form: a source may be given as its writer, a draft as its content."""
    if it.inside == "draft" and it.name == "source" and isinstance(value, str):
        return {"writer": value}
    if it.name == "drafts" and isinstance(value, list):
        return [_draft(item) for item in value]
    return value


def _draft(item: Any) -> Any:
    if isinstance(item, str):
        return {"content": item}
    if isinstance(item, dict) and isinstance(item.get("source"), str):
        return {**item, "source": {"writer": item["source"]}}
    return item


def _asked(known: Mapping[str, Argument], query: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """The arguments of a query, by the types they must have."""
    kinds = {name: known[name].kind if name in known else str for name in query}
    for name, values in query.items():
        if len(values) > 1 and kinds[name] != LIST:
            raise Invalid(f"{name[:200]} is given twice.", "Give it once.")
    return {name: value(kinds[name], values) for name, values in query.items()}


def value(kind: Any, values: Sequence[str]) -> Any:
    """What a name in a query stands for, by the type it must have."""
    if kind == LIST:
        return list(values)
    if kind in (str, str | None, datetime | None):
        return values[-1]
    try:
        return wire.parse(values[-1])
    except Invalid:  # told as what it must be, not as JSON, which nobody wrote
        return values[-1]


def _from_headers(kind: type[Any], headers: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    names = kind.__dataclass_fields__
    if "idempotency_key" in names and ONCE in headers:
        found["idempotency_key"] = once(headers)
    if "if_version" in names:
        if headers.get(NONE_MATCH) == "*":
            found["if_version"] = 0
        elif MATCH in headers:
            found["if_version"] = version(headers[MATCH])
    return found


def once(headers: Mapping[str, str]) -> str | None:
    """The idempotency key of a request, if it has one."""
    text = headers.get(ONCE)
    try:
        return None if text is None else unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise Invalid("The idempotency key is not UTF-8.", "Percent-encode it.") from None


def version(tag: str) -> int:
    """The version that an ETag names."""
    text = tag.removeprefix("W/").strip('"')
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise Invalid(f"{tag[:40]!r} is not an ETag of ours.", 'Send If-Match: "3".')
    return int(text)


def known(headers: Mapping[str, str], version: int) -> bool:
    """Whether who asks says that they have this version: If-None-Match, one tag or several."""
    tags = (tag.strip().removeprefix("W/") for tag in headers.get(NONE_MATCH, "").split(","))
    return any(tag in ("*", f'"{version}"') for tag in tags)


def _checked(made: ops.Op[Any]) -> ops.Op[Any]:
    """The op with its filter checked as the library checks it."""
    where = getattr(made, "where", None)
    if not where:
        return made
    parts = {it.name: getattr(where, it.name) for it in dataclasses.fields(where)}
    return dataclasses.replace(made, where=ops.where(**parts))  # type: ignore[call-arg]


def reply(route: Route, answer: Any) -> Any:
    """What is sent of an answer."""
    return answer if route.wraps is None else {route.wraps: answer}
