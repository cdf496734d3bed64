"""Conversations as they come, in one form: turns, each with who said what, and when.

Taken are lists of messages (AutoGen's and OpenAI's, as dicts or objects), lists of texts, lines
of `Name: text`, and plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from typing import Any

from holdfast import check, wire
from holdfast.errors import Invalid, TooLarge
from holdfast.model import Turn

MESSAGES = 10_000
ROLES = {
    **dict.fromkeys(("user", "human"), "user"),
    **dict.fromkeys(("assistant", "agent", "ai", "model", "bot"), "agent"),
    **dict.fromkeys(("tool", "function", "observation", "tool_result"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("document", "import"), "document"),
}
TIMES = ("happened_at", "timestamp", "created_at", "date", "time")
_NAMED = re.compile(r"([^\W\d_][\w .'’-]{0,30}?): +(\S.*)", re.DOTALL)
_NO_NAMES = frozenset(
    """note todo warning error example http https ps fyi tip re subject from to cc sent date info
    debug correction update edit reminder question answer summary reason goal decision result plan
    status news fact spoiler the my our his her their this that these here let's let’s i we it what
    how why also so one first second third last yes no and but""".split()
)
# What messengers write before a name: "[9:01 AM] Ann: …", "12/05/2026, 09:01 - Ann: …".
_DATED = re.compile(r"\s*\[?(\d{4}-\d\d-\d\d)[T ,]+(\d\d:\d\d(?::\d\d)?)\b")
_STAMP = re.compile(
    r"\s*(?:\[[\d:./, -]{4,25}(?:[AaPp][Mm])?\]|(?:\d{1,4}[./-]\d\d?[./-]\d{2,4},? )?"
    r"\d\d?:\d\d(?::\d\d)?(?: ?[AaPp][Mm])?)(?: -)? +(?=[^\W\d_][\w .'’-]{0,30}?: )"
)


def parsed(conversation: Any) -> tuple[Turn, ...]:
    """The turns of a conversation, in order; what has no words is left out."""
    if isinstance(conversation, str):
        return _of_text(_bounded(conversation))
    if isinstance(conversation, Mapping):
        raise Invalid("A conversation is a list of messages, not one.", "Put it in a list.")
    if not isinstance(conversation, Iterable) or isinstance(conversation, bytes):
        raise Invalid(
            f"A conversation cannot be a {type(conversation).__name__}.",
            "Give a list of messages, or text.",
        )
    messages = list(conversation)
    if len(messages) > MESSAGES:
        raise TooLarge(
            f"The conversation has {len(messages)} messages; the limit is {MESSAGES}.", "Split it."
        )
    turns = [turn for at, message in enumerate(messages) for turn in _turns(message, at)]
    return tuple(turns)


def _bounded(said: Any) -> str:
    text = check.sane("a message", said)
    if len(text.encode()) > check.TURN_BYTES:
        raise TooLarge(f"A message is longer than {check.TURN_BYTES} bytes.", "Split it.")
    return text


def _of_text(text: str) -> tuple[Turn, ...]:
    """Lines of `Name: text` as turns; a line without a name goes on with the one before."""
    turns: list[Turn] = []
    fenced = False
    for line in text.splitlines():
        found = None if fenced else _named(line)
        fenced ^= line.lstrip().startswith("```")
        if found:
            turns.append(found)
        elif turns:
            last = turns[-1]
            turns[-1] = replace(last, text=f"{last.text}\n{line}")
        elif line.strip():
            turns.append(Turn(line))
    return tuple(turns)


def _named(text: str) -> Turn | None:
    """A turn whose text begins with who says it."""
    found = _NAMED.match(_STAMP.sub("", text, count=1))
    if found is None or len(found[1].split()) > 3:
        return None
    role, words = ROLES.get(found[1].casefold()), found[1].split()
    if words[0].casefold() in _NO_NAMES or found[1].endswith(("Error", "Exception")):
        return None
    if role is None and len(words) > 1 and not all(it[0].isupper() for it in words[::2]):
        return None  # "My plan: we ship on Friday"
    return Turn(found[2], None if role else found[1].strip(), role or "user", _stamped(text))


def _stamped(text: str) -> datetime | None:
    """When a line was written, if a whole date and time stand before its name; else None."""
    found = _DATED.match(text)
    try:
        return datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00") if found else None
    except ValueError:
        return None  # the 30th of February


def _turns(message: Any, at: int) -> list[Turn]:
    if isinstance(message, Turn):
        return [message]
    if isinstance(message, str):
        return list(_of_text(_bounded(message)))
    field = _reader(message, at)
    text = _words(field("content"), at)
    if not text.strip():
        return []
    kind = str(field("type") or "")
    name = field("name") or field("source") or field("speaker") or field("sender")
    role = _role(field("role"), name, kind)
    if isinstance(name, str) and name.casefold() in ROLES:
        name = None
    when, id = _moment(field, at), field("id") or field("message_id")
    speaker = None if name is None else check.name("a message's name", str(name))
    turn = Turn(text, speaker, role, when, None if id is None else str(id)[: check.NAME_CHARS])
    told = _named(text) if speaker is None and role == "user" and "\n" not in text else None
    if told is None:
        return [turn]
    return [replace(told, at=turn.at or told.at, id=turn.id)]


def _reader(message: Any, at: int) -> Any:
    """Reads a field of a message, whatever it is made of."""
    if isinstance(message, Mapping):
        return message.get
    if hasattr(message, "content"):
        return lambda name: getattr(message, name, None)
    raise Invalid(
        f"Message {at} is a {type(message).__name__}, not a message.",
        "Give dicts or objects with `content`, or text.",
    )


def _words(content: Any, at: int) -> str:
    """The text of a content: the text parts, where it is a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return _bounded(content)
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        parts = [part.get("text") if isinstance(part, Mapping) else part for part in content]
        return _bounded("\n".join(part for part in parts if isinstance(part, str)))
    raise Invalid(f"The content of message {at} is a {type(content).__name__}, not text.")


def _role(role: Any, name: Any, kind: str) -> str:
    """What a message's writer is: by its type, its role, or its name."""
    if "Tool" in kind or kind in ("tool_result", "function_call_output"):
        return "tool"
    for said in (role, name):
        if isinstance(said, str) and said.casefold() in ROLES:
            return ROLES[said.casefold()]
    return "agent" if "assistant" in str(name).casefold() else "user"


def _moment(field: Any, at: int) -> datetime | None:
    """When a message was written: a datetime, ISO 8601 text, or seconds since 1970."""
    value = next((found for name in TIMES if (found := field(name)) is not None), None)
    if isinstance(value, str):
        value = wire.moment(value, f"the time of message {at}")
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            value = datetime.fromtimestamp(value, timezone.utc)
        except (ValueError, OverflowError, OSError):
            raise Invalid(f"The time of message {at} is outside the calendar.") from None
    return check.moment(f"the time of message {at}", value)
