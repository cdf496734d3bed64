"""A large JSON value under a name, on the state verbs: in pieces, and there all at once."""

from __future__ import annotations

import json
import uuid
from contextlib import suppress
from typing import Any

from holdfast import Memory, NotFound

PIECE_CHARS = 200_000  # 800 KB, should each letter take four bytes; a state value may have 1 MiB


def save(memory: Memory, name: str, value: Any) -> None:
    """Stores a value; whoever loads meanwhile gets the old one or the new one, whole."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    pieces = [text[at : at + PIECE_CHARS] for at in range(0, len(text), PIECE_CHARS)]
    before, id = memory.get(name), uuid.uuid4().hex
    for number, piece in enumerate(pieces):
        memory.set(f"{name}/{id}/{number:06d}", piece)
    memory.set(name, {"id": id, "pieces": len(pieces)})
    if before:
        _remove(memory, name, before)


def load(memory: Memory, name: str) -> Any:
    """The value under a name; `NotFound` if there is none."""
    held = memory.entry(name).value
    keys = [f"{name}/{held['id']}/{number:06d}" for number in range(held["pieces"])]
    return json.loads("".join(memory.entry(key).value for key in keys))


def remove(memory: Memory, name: str) -> bool:
    """Removes a value; says whether there was one."""
    held = memory.get(name)
    if not held:
        return False
    memory.delete(name)
    _remove(memory, name, held)
    return True


def _remove(memory: Memory, name: str, held: dict[str, Any]) -> None:
    for number in range(held["pieces"]):
        with suppress(NotFound):
            memory.delete(f"{name}/{held['id']}/{number:06d}")
