"""What a writer does: the next operation of a lane, and how it is asked of the library."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.faults.embedders import VERSIONS, Dense
from benchmarks.faults.marks import GROUP, SCOPES, TEXT, VALUE, content, first_mark, mark
from benchmarks.faults.model import ALIVE, Intent, Lane, Memo
from holdfast import Memory
from holdfast.errors import NotFound

DAY = 86_400.0
TTLS = (0.05, 0.4, 3_600.0, 25 * 3_600.0)  # seconds: soon over, over after a jump, and beyond it
GROUP_SIZE = 6
KEYS = 3  # of its own a lane has per scope
ROTATE = 30  # a shared list is left for a new one after so many operations of a lane
MIX: Mapping[str, int] = {
    "remember": 20,
    "remember_many": 10,
    "revise": 12,
    "forget": 8,
    "forget_group": 4,
    "again": 4,
    "set": 6,
    "set_ttl": 3,
    "delete": 4,
    "append": 6,
    "increment": 6,
    "cas": 6,
    "import": 2,
}
MIXES: Mapping[str, Mapping[str, int]] = {
    "kill in purge": {"purge": 8, "remember": 6, "remember_many": 2, "forget": 6, "set_ttl": 2},
    "kill in reembed": {"reembed": 1},
    "kill in backup": {"backup": 4, "remember": 1, "forget": 1},
    "kill in import": {"import": 8, "revise": 2, "forget": 1, "forget_group": 1},
    "clock jumps": {**MIX, "remember": 30, "set_ttl": 8, "purge": 2},
}


class Planner:
    """Chooses what a lane does next; the same seed and history give the same choice."""

    def __init__(self, lane: Lane, seed: object, mix: Mapping[str, int], now: Callable[[], float]):
        self._lane = lane
        self._seed = seed
        self._mix = mix
        self._now = now
        self._rng = random.Random(f"{seed}/{lane.name}/{lane.number}")

    def next(self) -> Intent:
        """The next operation; all in it is made up from the seed, the lane and its number."""
        while True:
            do = self._rng.choices(list(self._mix), list(self._mix.values()))[0]
            parts = getattr(self, f"_{do}")()
            if parts is not None:
                name = f"{self._seed}-{self._lane.name}-{self._lane.number}"
                base = {"n": self._lane.number, "do": do, "once": name, "at": self._now()}
                return {**base, **parts}

    def _new(self, scope: str, kind: str, part: int = 0) -> str:
        return mark(scope, kind, self._seed, self._lane.name, self._lane.number, part)

    def _scope(self) -> str:
        return self._rng.choice(SCOPES)

    def _item(self, scope: str, group: str, part: int, lasting: bool) -> dict[str, Any]:
        ttl = None if lasting or self._rng.random() < 0.85 else self._rng.choice(TTLS)
        named = self._rng.random() < 0.3
        bits = self._rng.getrandbits(128)
        return {
            "content": content(self._new(scope, TEXT, part), group, self._rng),
            "group": group,
            "ttl": ttl,
            "id": str(uuid.UUID(int=bits)) if named else None,
        }

    def _group(self, scope: str) -> str:
        sizes: dict[str, int] = {}
        for memo in self._lane.memos.values():
            if memo.scope == scope and memo.status == ALIVE:
                sizes[memo.group] = sizes.get(memo.group, 0) + 1
        free = [group for group, size in sizes.items() if size < GROUP_SIZE]
        return self._rng.choice(free) if free else self._new(scope, GROUP)

    def _remember(self) -> Intent:
        scope = self._scope()
        return {"scope": scope, "items": [self._item(scope, self._group(scope), 0, False)]}

    def _remember_many(self) -> Intent:
        scope = self._scope()
        group, size = self._new(scope, GROUP), self._rng.randint(2, 8)
        return {"scope": scope, "items": [self._item(scope, group, i, True) for i in range(size)]}

    def _import(self) -> Intent:
        told = self._remember_many()
        for item in told["items"]:
            item["id"] = item["id"] or str(uuid.UUID(int=self._rng.getrandbits(128)))
        return told

    def _living(self) -> Memo | None:
        living = self._lane.living()
        return self._rng.choice(living) if living else None

    def _revise(self) -> Intent | None:
        memo = self._living()
        if memo is None or memo.id is None or len(memo.texts) > 4:
            return None
        words = content(self._new(memo.scope, TEXT), memo.group, self._rng)
        return {"scope": memo.scope, "memo": memo.mark, "id": memo.id, "content": words}

    def _forget(self) -> Intent | None:
        memo = self._living()
        return None if memo is None else {"scope": memo.scope, "memo": memo.mark, "id": memo.id}

    def _forget_group(self) -> Intent | None:
        memo = self._living()
        by = self._rng.choice(("tags", "session"))
        return None if memo is None else {"scope": memo.scope, "group": memo.group, "by": by}

    def _again(self) -> Intent | None:
        memo = self._living()
        if memo is None:
            return None
        return {
            "scope": memo.scope,
            "memo": memo.mark,
            "content": memo.texts[-1],
            "group": memo.group,
        }

    def _set(self) -> Intent:
        scope = self._scope()
        key = f"{self._lane.name}/key{self._rng.randrange(KEYS)}"
        return {"scope": scope, "key": key, "value": self._new(scope, VALUE)}

    def _set_ttl(self) -> Intent:
        told = self._set()
        return {**told, "do": "set", "key": f"{told['key']}/ttl", "ttl": self._rng.choice(TTLS)}

    def _delete(self) -> Intent | None:
        held = [key for key, slot in self._lane.slots.items() if slot.value and not slot.lives]
        if not held:
            return None
        scope, key = self._rng.choice(held)
        return {"scope": scope, "key": key}

    def _append(self) -> Intent:
        scope = self._scope()
        turn = self._lane.number // ROTATE
        return {"scope": scope, "key": f"shared/list{turn}", "value": self._new(scope, VALUE)}

    def _increment(self) -> Intent:
        return {"scope": self._scope(), "key": "shared/count", "by": self._rng.randint(1, 9)}

    def _cas(self) -> Intent:
        scope = self._scope()
        return {"scope": scope, "key": "shared/cas", "value": self._new(scope, VALUE)}

    def _purge(self) -> Intent:
        return {"scope": SCOPES[0]}

    def _reembed(self) -> Intent:
        return {"scope": SCOPES[0]}

    def _backup(self) -> Intent:
        path = self._lane.journal.with_name(f"{self._lane.name}-{self._lane.number}.backup")
        return {"scope": SCOPES[0], "path": str(path)}


def version_of(memory: Memory) -> str:
    """The version of the dense embedder the store belongs to."""
    said = memory.stats().embedder
    return next(version for version in VERSIONS if said.startswith(f"{Dense.name} {version} "))


def draft(item: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of remember, with the marks everywhere words can go."""
    own = first_mark(item["content"])
    return {
        "content": item["content"],
        "tags": [item["group"], "load"],
        "meta": {"mark": own, "deep": {"marks": [own]}},
        "session": item["group"],
        "source": f"w-{own}",
        "ttl": item["ttl"],
        "id": item["id"],
    }


def export_of(drafts: Iterable[Mapping[str, Any]]) -> list[str]:
    """The lines of an export that holds these memories."""
    lines: list[dict[str, Any]] = [{"type": "holdfast", "format": 1}]
    for told in drafts:
        kept = {name: value for name, value in told.items() if name not in ("ttl", "source")}
        source = {"writer": told["source"], "role": "import"}
        times = dict.fromkeys(("created_at", "happened_at"), "2026-05-03T09:30:00Z")
        lines.append({"type": "memory", **kept, **times, "source": source})
    return [json.dumps(line) for line in lines]


def perform(memory: Memory, intent: Intent) -> dict[str, Any]:
    """Does an operation; gives what the model and the judge want to know of the answer."""
    doing = DOING[intent["do"]]
    return doing(memory, intent, intent["once"])


def _remember(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    done = memory.remember(**draft(told["items"][0]), idempotency_key=once)
    return {"ids": [done.id], "created": [done.created]}


def _remember_many(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    done = memory.remember_many([draft(item) for item in told["items"]], idempotency_key=once)
    return {"ids": [one.id for one in done], "created": [one.created for one in done]}


def _import(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    done = memory.import_(export_of([draft(item) for item in told["items"]]))
    return {"ids": [item["id"] for item in told["items"]], "taken": done.added + done.known}


def _revise(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    done = memory.revise(told["id"], told["content"], idempotency_key=once)
    return {"version": done.version, "content": done.content}


def _forget(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    return {"memories": memory.forget(told["id"], idempotency_key=once).memories}


def _forget_group(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    if told["by"] == "tags":
        done = memory.forget(tags=[told["group"]], idempotency_key=once)
    else:
        done = memory.forget(session=told["group"], idempotency_key=once)
    return {"memories": done.memories}


def _again(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    done = memory.remember(f"  {told['content']} ", tags=[told["group"]], idempotency_key=once)
    return {"ids": [done.id], "created": [done.created]}


def _set(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    value = {"value": told["value"], "list": [told["value"]]}
    done = memory.set(told["key"], value, ttl=told.get("ttl"), idempotency_key=once)
    return {"version": done.version}


def _delete(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    return {"was": memory.delete(told["key"], idempotency_key=once)}


def _append(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    return {"version": memory.append(told["key"], told["value"], idempotency_key=once).version}


def _increment(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    return {"value": memory.increment(told["key"], told["by"], idempotency_key=once).value}


def _cas(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    done = memory.set(
        told["key"], told["value"], if_version=told["if_version"], idempotency_key=once
    )
    return {"version": done.version}


def seen_version(memory: Memory, key: str) -> int:
    """The version a compare-and-set starts from."""
    try:
        return memory.entry(key).version
    except NotFound:
        return 0


def _purge(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    return {"memories": memory.purge().memories}


def _reembed(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    other = VERSIONS[1 - VERSIONS.index(version_of(memory))]
    return {"total": memory.reembed(Dense(other)).total, "version": other}


def _backup(memory: Memory, told: Intent, once: str) -> dict[str, Any]:
    copy = Path(told["path"])
    if copy.exists():  # a retry finds the copy it was killed after
        return {"bytes": copy.stat().st_size}
    return {"bytes": memory.backup(told["path"])}


DOING: Mapping[str, Callable[[Memory, Intent, str], dict[str, Any]]] = {
    "remember": _remember,
    "remember_many": _remember_many,
    "import": _import,
    "revise": _revise,
    "forget": _forget,
    "forget_group": _forget_group,
    "again": _again,
    "set": _set,
    "delete": _delete,
    "append": _append,
    "increment": _increment,
    "cas": _cas,
    "purge": _purge,
    "reembed": _reembed,
    "backup": _backup,
}
