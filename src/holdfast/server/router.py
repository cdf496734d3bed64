"""From method and path to the function that answers.

Paths are matched before they are decoded, segment by segment, so that a name may hold any
character, a slash (as %2F) too. `{name}` is one segment, `{name*}` at the end is the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from urllib.parse import unquote_to_bytes

from holdfast.errors import HoldfastError, Invalid, NotFound

T = TypeVar("T")
KNOWN_PATHS, KNOWN_BYTES = 4096, 256  # paths found before, and how long they may be


class WrongMethod(HoldfastError):
    """The path is known, the method is not."""

    status = 405
    allowed: tuple[str, ...] = ()

    @classmethod
    def but(cls, allowed: Sequence[str]) -> WrongMethod:
        """The error, with the methods that would be right."""
        error = cls("This path does not take this method.", f"Use {', '.join(allowed)}.")
        error.allowed = tuple(allowed)
        return error


class Nowhere(NotFound):
    """Nobody answers here; nothing was done."""


@dataclass
class _Node(Generic[T]):
    literal: dict[str, _Node[T]] = field(default_factory=dict)
    any: _Node[T] | None = None
    rest: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)
    ends: dict[str, tuple[T, tuple[str, ...]]] = field(default_factory=dict)


class Router(Generic[T]):
    """What answers which path."""

    def __init__(self) -> None:
        self._root: _Node[T] = _Node()
        self._known: dict[tuple[str, bytes], tuple[T, Mapping[str, str]]] = {}
        self.patterns: list[tuple[str, str, T]] = []

    def add(self, method: str, pattern: str, target: T) -> None:
        """Makes a target answer a method on a path; no two may answer the same."""
        node, names = self._root, []
        self.patterns.append((method, pattern, target))
        parts = pattern.split("/")[1:]
        for part in parts:
            if not part.startswith("{"):
                node = node.literal.setdefault(part, _Node())
                continue
            names.append(part.strip("{*}"))
            if not part.endswith("*}"):
                node.any = node.any or _Node()
                node = node.any
        found = node.rest if parts[-1].endswith("*}") else node.ends
        if method in found:
            raise ValueError(f"two answers to {method} {pattern}")
        found[method] = target, tuple(names)

    def find(self, method: str, raw: bytes) -> tuple[T, Mapping[str, str]]:
        """The target for a path as it came over the wire, and the names in it."""
        known = self._known.get((method, raw))
        if known is None:
            known = self._find(method, raw)
            if len(self._known) >= KNOWN_PATHS:
                self._known.clear()
            if len(raw) <= KNOWN_BYTES:
                self._known[method, raw] = known
        return known

    def _find(self, method: str, raw: bytes) -> tuple[T, Mapping[str, str]]:
        segments = _segments(raw)
        allowed: set[str] = set()
        for targets, values in _matches(self._root, segments, ()):
            if method in targets:
                target, names = targets[method]
                return target, dict(zip(names, values, strict=True))
            allowed |= set(targets)
        if allowed:
            raise WrongMethod.but(sorted(allowed))
        raise Nowhere("There is nothing at this path.", "See /docs for what there is.")


def _matches(
    node: _Node[T], segments: Sequence[str], values: tuple[str, ...]
) -> Iterator[tuple[dict[str, tuple[T, tuple[str, ...]]], tuple[str, ...]]]:
    """Every set of targets that a path fits, the most literal first."""
    if not segments:
        if node.ends:
            yield node.ends, values
        return
    first, rest = segments[0], segments[1:]
    if first in node.literal:
        yield from _matches(node.literal[first], rest, values)
    if node.any is not None:
        yield from _matches(node.any, rest, (*values, first))
    if node.rest:
        yield node.rest, (*values, "/".join(segments))


def _segments(raw: bytes) -> list[str]:
    if b"%" not in raw and raw.isascii():
        return raw.decode().split("/")[1:]
    try:
        return [unquote_to_bytes(part).decode() for part in raw.split(b"/")[1:]]
    except UnicodeDecodeError:
        raise Invalid("The path is not UTF-8.", "Percent-encode names as UTF-8.") from None
