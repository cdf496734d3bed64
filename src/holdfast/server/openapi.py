"""The API described as OpenAPI 3.1, out of the very routes that answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast import ops, routes, schema
from holdfast.schema import Schema

if TYPE_CHECKING:
    from holdfast.server.app import Endpoint
    from holdfast.server.router import Router

JSON, LINES, PROBLEM = "application/json", "application/x-ndjson", "application/problem+json"
# The words in which the paths beside the verbs, and those of dialects, say what they take.
WORDS: dict[str, Schema] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "whole": {"type": "integer"},
    "flag": {"type": "boolean"},
    "object": {"type": "object"},
    "list": {"type": "array"},
    "time": {"type": "string", "format": "date-time"},
    "any": {},
}


@dataclass(frozen=True)
class About:
    """What a path takes and gives; a type with `?` may be left out."""

    body: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    status: int = 200
    media: str = JSON
    gives: str = "object"


def describe(router: Router[Endpoint], version: str) -> dict[str, Any]:
    """The whole description."""
    known: dict[str, Schema] = {"Problem": _problem()}
    paths: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    by_path = {(route.method, route.path): route for route in routes.ROUTES}
    for method, pattern, endpoint in router.patterns:
        route = by_path.get((method, pattern))
        told = _verb(route, known) if route else _plain(pattern, endpoint)
        about = {
            "operationId": _id(endpoint.verb, seen),
            "summary": _summary(endpoint, route),
            "tags": [_tag(endpoint.verb)],
            "security": [] if endpoint.keyless else [{"key": []}, {"bearer": []}, {"basic": []}],
        }
        told["responses"]["default"] = _error()
        paths.setdefault(pattern.replace("*}", "}"), {})[method.lower()] = {**about, **told}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": version,
            "description": "Long-term memory for AI agents.",
        },
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": known,
            "securitySchemes": {
                "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
                "bearer": {"type": "http", "scheme": "bearer"},
                "basic": {"type": "http", "scheme": "basic"},
            },
        },
    }


def _id(verb: str, seen: Counter[str]) -> str:
    """A name for a function of a generated client; of several paths to one verb, with a number."""
    seen[verb] += 1
    number = f"_{seen[verb]}" if seen[verb] > 1 else ""
    return f"{verb.replace('.', '_')}{number}"


def _tag(verb: str) -> str:
    return verb.partition(".")[0] if "." in verb else "holdfast"


def _summary(endpoint: Endpoint, route: routes.Route | None) -> str:
    return route.summary if route else (endpoint.answer.__doc__ or "").partition("\n")[0]


# --- verbs ---


def _verb(route: routes.Route, known: dict[str, Schema]) -> dict[str, Any]:
    known_arguments = routes.arguments(route.op, route.names)
    told: dict[str, Any] = {"parameters": [*_names(route), *_headers(route.op)]}
    if route.in_query:
        told["parameters"] += [_asked(it, known) for it in known_arguments]
    else:
        media = {JSON: {"schema": _body(known_arguments, known)}}
        if route.op is ops.Import:
            media[LINES] = {"schema": {"type": "string"}}
        required = any(it.required for it in known_arguments)
        told["requestBody"] = {"required": required, "content": media}
    told["responses"] = {"200": _reply(route, known)}
    if route.op is ops.Get:
        told["responses"]["304"] = {"description": "The caller has this version."}
    return told


def _names(route: routes.Route) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": schema.NAMED[name]}
        for name in route.names
    ]


def _headers(op: Any) -> list[dict[str, Any]]:
    fields = op.__dataclass_fields__
    found = []
    if "idempotency_key" in fields:
        found.append(("Idempotency-Key", "A retry with the same key gets the first answer."))
    if "if_version" in fields:
        found.append(("If-Match", "Only over this version, an ETag."))
        found.append(("If-None-Match", "`*`: only if the key does not exist yet."))
    return [
        {"name": name, "in": "header", "description": said, "schema": {"type": "string"}}
        for name, said in found
    ]


def _asked(it: routes.Argument, known: dict[str, Schema]) -> dict[str, Any]:
    told = schema.argument(it.name, it.kind, known)
    told = next((part for part in told.get("anyOf", ()) if part.get("type") != "null"), told)
    if told.get("type") == "object":
        told = {"type": "string", "description": "a JSON object"}
    return {"name": it.name, "in": "query", "required": it.required, "schema": told}


def _body(known_arguments: Any, known: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": {it.name: schema.argument(it.name, it.kind, known) for it in known_arguments},
        "required": [it.name for it in known_arguments if it.required],
        "additionalProperties": False,
    }


def _reply(route: routes.Route, known: dict[str, Schema]) -> dict[str, Any]:
    told = schema.of(route.answer, known)
    if route.wraps is not None:
        told = {"type": "object", "properties": {route.wraps: told}, "required": [route.wraps]}
    media = {JSON: {"schema": told}}
    if route.op is ops.Export:
        media[LINES] = {"schema": {"type": "string"}}
    return {"description": route.summary, "content": media}


# --- the rest ---


def _plain(pattern: str, endpoint: Endpoint) -> dict[str, Any]:
    about = endpoint.about
    names = [part.strip("{*}") for part in pattern.split("/") if part.startswith("{")]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": schema.NAME} for name in names
    ]
    for name, word in about.query.items():
        required = not word.endswith("?")
        told = WORDS[word.rstrip("?")]
        parameters.append({"name": name, "in": "query", "required": required, "schema": told})
    found: dict[str, Any] = {"parameters": parameters}
    if about.body:
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": _object(about)}}}
    media = {about.media: {"schema": WORDS[about.gives]}}
    found["responses"] = {str(about.status): {"description": "Done.", "content": media}}
    return found


def _object(about: About) -> Schema:
    return {
        "type": "object",
        "properties": {
            name: WORDS[word]
            if not word.endswith("?")
            else {"anyOf": [WORDS[word[:-1]], {"type": "null"}]}
            for name, word in about.body.items()
        },
        "required": [name for name, word in about.body.items() if not word.endswith("?")],
    }


def _error() -> dict[str, Any]:
    told = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {"description": "What went wrong, and what to do.", "content": {PROBLEM: told}}


def _problem() -> Schema:
    text = {"type": "string"}
    return {
        "type": "object",
        "description": "An error: RFC 9457, or as the dialect tells it.",
        "properties": {
            "type": text,
            "title": text,
            "status": {"type": "integer"},
            "detail": text,
            "advice": text,
            "retry": {"type": "boolean"},
            "request_id": text,
            "error": text,
            "message": text,
        },
        "required": ["request_id"],
        "additionalProperties": False,
    }
