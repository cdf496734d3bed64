"""What each part of the ranking is worth: it is switched off, and everything is asked again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from holdfast import order, rank

Change = Callable[[Any], Any]  # from a constant as it is to one that does nothing
MODULES: dict[str, ModuleType] = {"rank": rank, "order": order}


def _nothing(held: Any) -> Any:
    return dict.fromkeys(held, 0.0) if isinstance(held, Mapping) else 0.0


def _to(value: float) -> Change:
    return lambda held: value


# Part: the constants that switch it off.
PARTS: dict[str, dict[str, Change]] = {
    "words": {"rank.FULL": _nothing},
    "meaning": {"rank.MEANING": _nothing},
    "neighbours": {"rank.LEND_WORDS": _nothing, "rank.LEND_MEANING": _nothing},
    "neighbours' words": {"rank.LEND_WORDS": _nothing},
    "neighbours' meaning": {"rank.LEND_MEANING": _nothing},
    "bound of meaning": {"rank.MEANING_MOST": _to(1e9)},
    "length of memories": {"rank.LEND_LONG": _nothing, "rank.LEAST_TERMS": _to(1e9)},
    "coherence": {"rank.COHERENT_FROM": _to(-3.0), "rank.COHERENT_FULL": _to(-2.0)},
    "unknown words": {"rank.KNOWN": _nothing},
    "parts of a question": {"rank.PARTS": _nothing},
    "speaker": {"rank.SPEAKER": _nothing},
    "role": {"rank.ROLE": _nothing},
    "short": {"rank.SHORT": _nothing},
    "date": {"rank.DATE": _nothing},
    "newest of twins": {"order.TWIN_WORDS": _to(2.0)},
}


def unknown() -> list[str]:
    """Constants named here that are no more: then this table must be brought up to date."""
    named = {name for changes in PARTS.values() for name in changes}
    return sorted(name for name in named if not hasattr(*_place(name)))


def _place(name: str) -> tuple[ModuleType, str]:
    module, _, constant = name.partition(".")
    return MODULES[module], constant


@contextmanager
def without(part: str) -> Iterator[None]:
    """The ranking without one of its parts."""
    held = {name: getattr(*_place(name)) for name in PARTS[part]}
    try:
        for name, change in PARTS[part].items():
            setattr(*_place(name), change(held[name]))
        yield
    finally:
        for name, value in held.items():
            setattr(*_place(name), value)
