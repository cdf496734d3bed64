"""What was said, as turns of which each can be a memory: long ones come in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from holdfast.conversation import parsed
from holdfast.errors import Invalid
from holdfast.model import Turn

PART_CHARS = 4000


def turns(conversation: Any) -> tuple[Turn, ...]:
    """The turns of a list of messages, or of text in which lines such as `Ann: …` begin one."""
    if not isinstance(conversation, str | list):
        raise Invalid(
            "A conversation is a list of messages, or text.", 'Send [{"role", "content"}].'
        )
    found = [
        replace(turn, text=part) for turn in parsed(conversation) for part in _parts(turn.text)
    ]
    if not found:
        raise Invalid("There is nothing to learn from.", "Send at least one message.")
    return tuple(found)


def _parts(text: str) -> Iterator[str]:
    """A text in parts, cut where a line or a sentence ends."""
    rest = text.strip()
    while len(rest) > PART_CHARS:
        cut = max(rest.rfind(mark, 1, PART_CHARS) for mark in ("\n", ". ", "! ", "? ", " "))
        cut = PART_CHARS if cut <= 0 else cut + 1
        yield rest[:cut].strip()
        rest = rest[cut:].strip()
    if rest:
        yield rest
