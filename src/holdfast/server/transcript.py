"""What was said, as drafts of memories: one for each message, long ones in parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from holdfast.errors import Invalid
from holdfast.ops import Draft

PART_CHARS = 4000
SPEAKER = re.compile(r"^[^\W\d_][\w .'-]{0,39}: \S")


def messages(text: str) -> list[dict[str, Any]]:
    """The messages of a written conversation: a line such as `Ann: …` begins a new one."""
    found: list[str] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        if found and not SPEAKER.match(line):
            found[-1] += f"\n{line}"
        else:
            found.append(line)
    return [{"content": said} for said in found]


def checked(conversation: Any) -> list[dict[str, Any]]:
    """A list of messages, each with a content and perhaps a role or a name."""
    if not isinstance(conversation, list) or not conversation:
        raise Invalid("conversation must be a list of messages.", 'Send [{"role", "content"}].')
    return [_message(item) for item in conversation]


def _message(item: Any) -> dict[str, Any]:
    if isinstance(item, str):
        return {"content": item}
    if not isinstance(item, dict) or not isinstance(item.get("content"), str):
        raise Invalid("A message needs a content of text.", 'Send {"role": …, "content": …}.')
    by = item.get("name") or item.get("role")
    named = {"by": by} if isinstance(by, str) and by.strip() else {}
    return {"content": item["content"], **named}


def drafts(said: Iterable[Mapping[str, Any]]) -> list[Draft]:
    """The memories of a conversation, as interactions."""
    return [
        Draft(content=part, kind="interaction", source=message.get("by"))
        for message in said
        for part in _parts(message["content"])
    ]


def _parts(text: str) -> Iterator[str]:
    """A text in parts that a memory can hold, cut where a line or a sentence ends."""
    rest = text.strip()
    while len(rest) > PART_CHARS:
        cut = max(rest.rfind(mark, 1, PART_CHARS) for mark in ("\n", ". ", "! ", "? ", " "))
        cut = PART_CHARS if cut <= 0 else cut + 1
        yield rest[:cut].strip()
        rest = rest[cut:].strip()
    if rest:
        yield rest
