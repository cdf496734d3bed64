"""`Memory(namespace)` with set, get, delete and keys, as BotWire has it.

Two things are as its texts say rather than as its client does: setting a key to None deletes it,
and a number comes back as a number.
"""

from __future__ import annotations

from typing import Any

from holdfast import Memory as Holdfast


class Memory:
    """Values under keys, in a namespace."""

    def __init__(self, namespace: str, url: str | None = None, api_key: str | None = None) -> None:
        self._memory = Holdfast(namespace, url, api_key=api_key)

    def set(self, key: str, value: Any) -> None:
        """Keeps any JSON value; None deletes the key."""
        if value is None:
            self._memory.delete(key)
        else:
            self._memory.set(key, value)

    def get(self, key: str, default: Any = None) -> Any:
        """The value under a key, or the default."""
        return self._memory.get(key, default)

    def delete(self, key: str) -> bool:
        """Removes a key; says whether it was there."""
        return self._memory.delete(key)

    def keys(self) -> list[str]:
        """All keys, in order."""
        found: list[str] = []
        while part := self._memory.keys(after=found[-1] if found else ""):
            found.extend(part)
        return found

    def __contains__(self, key: str) -> bool:
        return key in self._memory.keys(key, limit=1)

    def close(self) -> None:
        """Lets go of the store."""
        self._memory.close()
