"""Types as JSON Schema, the way `wire` writes and reads them."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Union, get_args, get_origin, get_type_hints

from holdfast import check

Schema = dict[str, Any]

PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    Any: {},
    datetime: {"type": "string", "format": "date-time"},
    timedelta: {"type": "number", "exclusiveMinimum": 0, "description": "seconds"},
}
NAME: Schema = {"type": "string", "minLength": 1, "maxLength": check.NAME_CHARS}
KEY: Schema = {"type": "string", "minLength": 1, "maxLength": check.KEY_CHARS}
WORDS: Schema = {"type": "string", "minLength": 1, "maxLength": check.CONTENT_BYTES}
# What an argument of this name must be, beyond its type.
NAMED: dict[str, Schema] = {
    "content": WORDS,
    "query": WORDS,
    "id": NAME,
    "scope": NAME,
    "key": KEY,
    "session": NAME,
    "limit": {"type": "integer", "minimum": 1, "maximum": check.LIMIT},
    "budget": {"type": "integer", "minimum": 1, "maximum": check.BUDGET_TOKENS},
    "min_score": {"type": "number", "minimum": 0, "maximum": 1},
    "cursor": {"type": "string", "maxLength": check.CURSOR_CHARS},
}


def of(kind: Any, known: dict[str, Schema]) -> Schema:
    """The schema of a type; dataclasses are put into `known` and referred to by their names."""
    if kind in PLAIN:
        return dict(PLAIN[kind])
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        some = [of(part, known) for part in parts if part is not type(None)]
        some += [{"type": "null"}] if type(None) in parts else []
        return some[0] if len(some) == 1 else {"anyOf": some}
    if origin is tuple:
        return {"type": "array", "items": of(parts[0], known)}
    if origin is not None and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": of(parts[1], known)}
    return _dataclass(kind, known)


def _dataclass(kind: Any, known: dict[str, Schema]) -> Schema:
    name = kind.__name__
    if name not in known:
        known[name] = {}  # so that a type may hold itself
        hints = get_type_hints(kind)
        parts = dataclasses.fields(kind)
        known[name] = {
            "type": "object",
            "description": (kind.__doc__ or "").partition("\n")[0],
            "properties": {it.name: of(hints[it.name], known) for it in parts},
            "required": [it.name for it in parts if _always(it)],
            "additionalProperties": False,
        }
    return {"$ref": f"#/components/schemas/{name}"}


def _always(part: dataclasses.Field[Any]) -> bool:
    """Whether a field is written even when it is empty: only None with a default is left out."""
    return part.default is not None


def argument(name: str, kind: Any, known: dict[str, Schema]) -> Schema:
    """The schema of an argument of a verb."""
    if name not in NAMED:
        return of(kind, known)
    return _or_null(NAMED[name]) if type(None) in get_args(kind) else dict(NAMED[name])


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [dict(schema), {"type": "null"}]}
