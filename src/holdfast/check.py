"""What may be asked: one function per kind of argument.

Each gives the value in its normal form, or raises `Invalid` saying what is wrong and what to do.
"""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from math import isfinite
from pathlib import Path
from typing import Any

from holdfast.errors import Invalid, TooLarge
from holdfast.model import ROLES, Source, Turn, Weights

CONTENT_BYTES = 32 * 1024
NAME_CHARS = 256
KEY_CHARS = 512
TAGS = 64
META_BYTES = 64 * 1024
STATE_BYTES = 1024 * 1024
JSON_DEPTH = 64
LIMIT = 1000
BATCH = 10_000
BUDGET_TOKENS = 1_000_000
TTL_YEARS = 1000
MOST_INT = 10**4000
CURSOR_CHARS = 8192
TURN_BYTES = 1024 * 1024


def sane(what: str, value: Any) -> str:
    """The text itself, if it is text that every engine can keep: no NUL, no lone surrogate."""
    if not isinstance(value, str):
        raise Invalid(f"{what} must be text, not {type(value).__name__}.")
    if "\x00" in value:
        raise Invalid(f"{what} holds a NUL character.", "Remove it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Invalid(
            f"{what} holds half of a surrogate pair, which is not text.",
            "Decode the input with errors='replace'.",
        ) from None
    return value


def content(value: Any, what: str = "content") -> str:
    """Words worth storing or asking: not blank, at most 32 KiB."""
    text = sane(what, value)
    if not text.strip():
        raise Invalid(f"{what} is empty.", "Give it at least one word.")
    size = len(text.encode())
    if size > CONTENT_BYTES:
        raise TooLarge(
            f"{what} is {size} bytes long; the limit is {CONTENT_BYTES}.",
            "Split it into several, or store a summary.",
        )
    return text


def name(what: str, value: Any, limit: int = NAME_CHARS) -> str:
    """A short printable name: no control characters, no blanks around it."""
    text = sane(what, value)
    if not text or len(text) > limit:
        raise Invalid(f"{what} must have 1 to {limit} characters, not {len(text)}.")
    if text != text.strip():
        raise Invalid(f"{what} {text!r} begins or ends with a blank.", "Strip it.")
    if not text.isprintable() and any(
        unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") for char in text
    ):
        raise Invalid(f"{what} {text!r} holds a control or invisible character.", "Remove it.")
    return text


def scope(value: Any) -> str:
    """The name of a scope."""
    return name("scope", value)


def maybe_name(what: str, value: Any) -> str | None:
    """A name, or None."""
    return None if value is None else name(what, value)


def kind(value: Any) -> str:
    """One lower-case word."""
    text = name("kind", value, 64).lower()
    if len(text.split()) > 1:
        raise Invalid(f"kind {text!r} is not one word.", "Join it with '-' or '_'.")
    return text


def names(what: str, values: Any) -> tuple[str, ...]:
    """Distinct names, in the order given."""
    if isinstance(values, tuple) and not values:
        return ()
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise Invalid(f"{what} must be a list of names, not {type(values).__name__}.")
    found = tuple(dict.fromkeys(name(what, value) for value in values))
    if len(found) > TAGS:
        raise Invalid(f"{what} has {len(found)} names; the limit is {TAGS}.")
    return found


def kinds(values: Any) -> tuple[str, ...]:
    """Distinct kinds, in the order given."""
    return tuple(dict.fromkeys(kind(value) for value in names("kinds", values)))


def source(value: Any) -> Source | None:
    """A source; a plain text names its writer."""
    if value is None:
        return None
    if isinstance(value, str):
        value = Source(value)
    if not isinstance(value, Source):
        raise Invalid(f"source must be a name or a Source, not {type(value).__name__}.")
    if value.role not in ROLES:
        raise Invalid(
            f"source role {value.role!r} is not known.", f"Use one of {', '.join(ROLES)}."
        )
    via = maybe_name("source via", value.via)
    nobody = via is not None and value.writer == ""
    writer = "" if nobody else name("source writer", value.writer)
    return Source(writer, value.role, maybe_name("source message", value.message), via)


def turn(value: Any) -> Turn:
    """What one said in a conversation."""
    if not isinstance(value, Turn):
        raise Invalid(f"a turn must be a Turn, not {type(value).__name__}.")
    text = sane("a turn", value.text)
    if len(text.encode()) > TURN_BYTES:
        raise TooLarge(f"A turn is longer than {TURN_BYTES} bytes.", "Split it.")
    one_of("a turn's role", value.role, (*ROLES, "system"))
    speaker = maybe_name("a turn's speaker", value.speaker)
    at, id = moment("a turn's time", value.at), maybe_name("a turn's id", value.id)
    return Turn(text, speaker, value.role, at, id)


def flag(what: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise Invalid(f"{what} must be True or False, not {_shown(value)}.")
    return value


def one_of(what: str, value: Any, known: Sequence[str]) -> str:
    """One of the words there are."""
    if not isinstance(value, str) or value not in known:
        raise Invalid(f"{what} cannot be {_shown(value)}.", f"Use one of {', '.join(known)}.")
    return value


def whole(what: str, value: Any, low: int, high: int) -> int:
    """A whole number between two others, both included."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Invalid(f"{what} must be a whole number, not {_shown(value)}.")
    if not low <= value <= high:
        raise Invalid(f"{what} must be from {low} to {high}, not {_shown(value)}.")
    return value


def number(what: str, value: Any, low: float, high: float) -> float:
    """A finite number between two others, both included."""
    plainly = isinstance(value, int | float) and not isinstance(value, bool)
    if not plainly or not abs(value) <= MOST_INT:
        raise Invalid(f"{what} must be a finite number, not {_shown(value)}.")
    if not low <= value <= high:
        raise Invalid(f"{what} must be from {low:g} to {high:g}, not {_shown(value)}.")
    return float(value)


def _shown(value: Any) -> str:
    """A value as a message can show it: some values cannot even be printed."""
    try:
        return repr(value)[:80]
    except (ValueError, RecursionError):
        return f"this {type(value).__name__}"


def weights(value: Any) -> Weights:
    """Weights that keep a score in 0..1."""
    if not isinstance(value, Weights):
        raise Invalid(f"weights must be Weights, not {type(value).__name__}.")
    parts = [
        number(f"weights.{part}", getattr(value, part), 0, 1)
        for part in ("similarity", "recency", "frequency")
    ]
    if abs(sum(parts) - 1) > 1e-6:
        raise Invalid(
            f"weights add up to {sum(parts):g}, not 1.", "Scale them, so that scores stay in 0..1."
        )
    return Weights(*parts)


def moment(what: str, value: Any) -> datetime | None:
    """A point in time, in UTC. A time without a zone could mean anything, so it is refused."""
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise Invalid(f"{what} must be a datetime, not {type(value).__name__}.")
    if value.utcoffset() is None:
        raise Invalid(
            f"{what} {value.isoformat()} has no time zone.",
            "Say which, e.g. datetime.now(timezone.utc) or value.astimezone().",
        )
    try:
        moved = value.astimezone(timezone.utc)
    except OverflowError:
        raise Invalid(f"{what} {value.isoformat()} is outside the calendar.") from None
    if not 1 < moved.year < 9999:
        raise Invalid(f"{what} {value.isoformat()} is outside the years 2 to 9998.")
    return moved


def span(since: Any, until: Any) -> tuple[datetime | None, datetime | None]:
    """The start and the end of a time range, in that order."""
    start, end = moment("since", since), moment("until", until)
    if start and end and start >= end:
        raise Invalid("since is not before until, so nothing can match.", "Swap them.")
    return start, end


def ttl(value: Any) -> timedelta | None:
    """How long something lives: a timedelta, or seconds."""
    if value is None:
        return None
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    most = timedelta(days=365 * TTL_YEARS).total_seconds()
    if number("ttl", seconds, 0, most) == 0:
        raise Invalid("ttl must be more than 0 seconds.", "Leave it out to keep for ever.")
    return timedelta(seconds=seconds)


def meta(value: Any) -> Mapping[str, Any]:
    """A JSON object of at most 64 KiB."""
    if value is None or value == {}:
        return {}
    if not isinstance(value, Mapping):
        raise Invalid(f"meta must be a dict, not {type(value).__name__}.")
    return dict(plain("meta", dict(value), META_BYTES))


def meta_filter(value: Any) -> Mapping[str, Any]:
    """Keys of meta with the plain values they must have."""
    wanted = meta(value)
    for key, item in wanted.items():
        if isinstance(item, dict | list):
            raise Invalid(
                f"meta[{key!r}] is compared with a {type(item).__name__}.",
                "Filter by text, numbers, true, false or null.",
            )
        if isinstance(item, int) and not -(2**63) <= item < 2**63:
            raise Invalid(f"meta[{key!r}] is compared with a number of more than 64 bits.")
    return wanted


def plain(what: str, value: Any, limit: int = STATE_BYTES) -> Any:
    """A value that is the same after a trip through JSON."""
    _walk(what, value, 0)
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    if size > limit:
        raise TooLarge(f"{what} is {size} bytes of JSON; the limit is {limit}.", "Split it.")
    return value


def _walk(what: str, value: Any, depth: int) -> None:
    if depth > JSON_DEPTH:
        raise Invalid(f"{what} is nested more than {JSON_DEPTH} deep.")
    if isinstance(value, str):
        sane(what, value)
    elif isinstance(value, float) and not isfinite(value):
        raise Invalid(f"{what} holds {value}, which JSON has no word for.")
    elif isinstance(value, dict):
        for key, item in value.items():
            sane(f"a key of {what}", key)
            _walk(what, item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            _walk(what, item, depth + 1)
    elif isinstance(value, int) and abs(value) > MOST_INT:
        raise Invalid(f"{what} holds a whole number of more than 4,000 digits.")
    elif value is not None and not isinstance(value, bool | int | float):
        raise Invalid(
            f"{what} holds a {type(value).__name__}, which is not JSON.",
            "Use dict, list, str, numbers, True, False and None.",
        )


def path(value: Any) -> str:
    """The path of a file, with ~ in full."""
    if not isinstance(value, str | os.PathLike):
        raise Invalid(f"path must be text or a Path, not {type(value).__name__}.")
    try:
        return str(Path(sane("path", os.fspath(value))).expanduser())
    except RuntimeError as error:
        raise Invalid(f"path {value!r} is no path: {error}") from None


def lines(values: Any) -> tuple[str, ...]:
    """Lines of text."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise Invalid("lines must be a list of lines.", "Split a text with splitlines().")
    return tuple(sane("a line", line) for line in values)


def cursor(value: Any) -> str | None:
    """A mark of a place in a list, or None."""
    if value is None:
        return None
    if len(sane("cursor", value)) > CURSOR_CHARS:
        raise Invalid("The cursor is not one of ours.", "Pass it back as it was given.")
    return str(value)


def batch(what: str, values: Any) -> tuple[Any, ...]:
    """At least one and at most 10,000 things."""
    if isinstance(values, str | bytes) or not isinstance(values, Sequence):
        raise Invalid(f"{what} must be a list, not {type(values).__name__}.")
    if not values:
        raise Invalid(f"{what} is empty.", "Give at least one.")
    if len(values) > BATCH:
        raise TooLarge(f"{what} has {len(values)} items; the limit is {BATCH}.", "Split it.")
    return tuple(values)
