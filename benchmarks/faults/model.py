"""What must be in the store: a dictionary per lane, kept by what was asked and what was answered.

A lane is one sequence of operations, each written to the lane's journal before it is begun and
after it is answered. Only a lane itself changes what it made, so its model is exact: everything
answered counts, and at most one operation is open, done as a whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.faults.marks import MARK, first_mark

Intent = dict[str, Any]
Key = tuple[str, str]  # of the state: scope and key

ASKED, ALIVE, GONE, REFUSED = "asked", "alive", "gone", "refused"
DEFINITE = ("Conflict", "NotFound", "Invalid")  # refusals that know of any earlier try
PURGE_LAG = 30.0  # seconds after its intent in which a purge may still look at the clock


@dataclass
class Memo:
    """A memory as it should be; `lives` bounds the moment of its expiry."""

    scope: str
    group: str
    texts: list[str]
    made_by: int
    id: str | None = None
    status: str = ASKED
    coming: str | None = None  # the words of a revision not answered yet
    leaving: bool = False  # a forget is not answered yet
    lives: tuple[float, float] | None = None
    touched: int = 0
    born: float = 0.0  # the clock when it was acknowledged
    died: float = 0.0  # the clock when its forget was

    @property
    def mark(self) -> str:
        return first_mark(self.texts[0])

    @property
    def marks(self) -> list[str]:
        """The marks of all its versions, one that is coming included."""
        return [first_mark(text) for text in [*self.texts, *filter(None, [self.coming])]]

    def counts(self) -> set[int]:
        """How many versions of it may be there; 0 is none of it."""
        if self.status in (GONE, REFUSED):
            return {0}
        counts = {len(self.texts)}
        if self.status == ASKED or self.leaving:
            counts.add(0)
        if self.coming is not None:
            counts.add(len(self.texts) + 1)
        return counts


@dataclass
class Slot:
    """A state key of one lane: the value it has, or the one it may have by now."""

    value: str | None = None
    open: bool = False
    coming: str | None = None
    since: float = 0.0  # the clock when the open operation was first tried
    past: list[str] = field(default_factory=list)
    lives: tuple[float, float] | None = None

    def allowed(self) -> set[str | None]:
        return {self.value, self.coming} if self.open else {self.value}


class Lane:
    """One sequence of operations and what it has done to the store."""

    def __init__(self, name: str, journal: Path) -> None:
        self.name = name
        self.journal = journal
        self.number = 0
        self.pending: Intent | None = None
        self.memos: dict[str, Memo] = {}
        self.groups: dict[str, str] = {}  # group: scope
        self.slots: dict[Key, Slot] = {}
        self.added: dict[Key, int] = {}
        self.items: dict[Key, list[str]] = {}
        self.wins: list[tuple[str, str, int, str]] = []
        self.values: set[str] = set()  # every value ever sent
        self.buried: set[str] = set()  # values of deleted keys
        self.refused: set[str] = set()  # values that were turned down
        self.backups: list[Intent] = []
        self.horizon = 0.0  # the latest clock of any purge: what expired before may be gone
        self.acknowledged = 0
        self.bads: list[tuple[str, str]] = []
        self._read = 0
        self._retried = False

    # --- the journal ---

    def catch_up(self) -> None:
        """Takes in what the writer has told since."""
        with self.journal.open("rb") as told:
            told.seek(self._read)
            data = told.read()
        end = data.rfind(b"\n") + 1
        self._read += end
        for line in data[:end].splitlines():
            try:
                self.take(json.loads(line))
            except ValueError:
                continue  # cut by a kill: its operation was not begun, or its answer is unknown

    def take(self, told: dict[str, Any]) -> None:
        """Takes in one line: an intent, an answer, or something wrong the writer saw itself."""
        if "bad" in told:
            self.bads.append((told["bad"], f"{self.name}: {told['what']}"))
        elif "do" in told:
            self.begin(told)
        elif self.pending is not None and self.pending["n"] == told["n"]:
            self.end(told)

    def begin(self, intent: Intent) -> None:
        """An operation is about to be done, perhaps for the second time."""
        first = self.pending is None or self.pending["n"] != intent["n"]
        self._retried = not first
        intent["since"] = self.pending["since"] if self.pending and not first else intent["at"]
        self.pending = intent
        self.number = intent["n"] + 1
        for memo in self._made(intent) if first else ():
            self.memos[memo.mark] = memo
            self.groups[memo.group] = memo.scope
        for memo in self.meant(intent):
            self._open(memo, intent)
        self._begin_state(intent, first)
        if intent["do"] == "purge":
            self.horizon = max(self.horizon, intent["at"] + PURGE_LAG)

    def end(self, told: dict[str, Any]) -> None:
        """The operation was answered: done, or refused with nothing done."""
        if self._retried and told.get("error", DEFINITE[0]) not in DEFINITE:
            return  # this try was refused, but the first one may have been done
        intent, self.pending = self.pending, None
        assert intent is not None
        if "surprise" in told:
            return  # nobody promised what that means: it stays open for ever
        done = "ok" in told
        if self._retried and told.get("error") == "NotFound":
            self._over(intent)
            return
        self.acknowledged += done
        for memo in self.meant(intent):
            self._close(memo, intent, done, told["at"])
        if done:
            self._name(intent, told["ok"], told["at"])
        self._end_state(intent, told, done)
        if done and intent["do"] == "backup":
            self.backups.append(intent)

    def _over(self, intent: Intent) -> None:
        """A retry was told that what the first try wrote has expired, and was swept, since."""
        for memo in self.meant(intent):
            memo.status = GONE
        if intent["do"] == "set":
            slot = self.slots[intent["scope"], intent["key"]]
            slot.open, slot.value, slot.lives = False, None, None

    # --- memories ---

    def _made(self, intent: Intent) -> Iterator[Memo]:
        for item in intent.get("items", ()):
            yield Memo(intent["scope"], item["group"], [item["content"]], intent["n"], item["id"])

    def meant(self, intent: Intent) -> list[Memo]:
        """The memories an operation is about."""
        if "items" in intent:
            return [self.memos[first_mark(item["content"])] for item in intent["items"]]
        if "memo" in intent:
            return [self.memos[intent["memo"]]]
        if intent["do"] == "forget_group":
            alive = (memo for memo in self.memos.values() if memo.status == ALIVE)
            return [memo for memo in alive if memo.group == intent["group"]]
        return []

    def _open(self, memo: Memo, intent: Intent) -> None:
        memo.touched = intent["n"]
        memo.coming = intent["content"] if intent["do"] == "revise" else None
        memo.leaving = intent["do"] in ("forget", "forget_group")
        self.refused.discard(first_mark(memo.coming or ""))
        for item in intent.get("items", ()):
            if item["ttl"] and first_mark(item["content"]) == memo.mark:
                end = intent["at"] + item["ttl"]
                memo.lives = (min(end, memo.lives[0]) if memo.lives else end, float("inf"))

    def _close(self, memo: Memo, intent: Intent, done: bool, at: float) -> None:
        if "items" in intent:
            memo.status, memo.born = ALIVE if done else REFUSED, at
        elif intent["do"] in ("forget", "forget_group") and done:
            memo.status, memo.died = GONE, at
        elif intent["do"] == "revise" and done:
            memo.texts.append(intent["content"])
        elif intent["do"] == "revise":
            self.refused.add(first_mark(intent["content"]))
        memo.coming, memo.leaving = None, False

    def _name(self, intent: Intent, answer: Any, at: float) -> None:
        """Learns ids, and by when a memory with a ttl has expired."""
        for index, item in enumerate(intent.get("items", ())):
            memo = self.memos[first_mark(item["content"])]
            memo.id = memo.id or answer["ids"][index]
            if memo.lives is not None:
                memo.lives = (memo.lives[0], at + item["ttl"])

    def living(self) -> list[Memo]:
        """The memories that are there for sure and stay."""
        return [m for m in self.memos.values() if m.status == ALIVE and m.lives is None]

    # --- state ---

    def _begin_state(self, intent: Intent, first: bool) -> None:
        if "value" in intent:
            self.values.add(intent["value"])
            self.refused.discard(intent["value"])
        if intent["do"] in ("set", "delete"):
            slot = self.slots.setdefault((intent["scope"], intent["key"]), Slot())
            slot.open, slot.coming = True, intent.get("value")
            slot.since = intent["at"] if first else min(slot.since, intent["at"])

    def _end_state(self, intent: Intent, told: dict[str, Any], done: bool) -> None:
        do = intent["do"]
        key = intent.get("scope", ""), intent.get("key", "")
        if not done and "value" in intent:
            self.refused.add(intent["value"])
        if do in ("set", "delete"):
            self._end_slot(self.slots[key], intent, told["at"], done)
        elif done and do == "increment":
            self.added[key] = self.added.get(key, 0) + intent["by"]
        elif done and do == "append":
            self.items.setdefault(key, []).append(intent["value"])
        elif done and do == "cas":
            self.wins.append((*key, told["ok"]["version"], intent["value"]))

    def _end_slot(self, slot: Slot, intent: Intent, at: float, done: bool) -> None:
        slot.open = False
        if not done:
            return
        slot.value = intent.get("value")
        if slot.value is not None:
            slot.past.append(slot.value)
            life = intent.get("ttl")
            slot.lives = (slot.since + life, at + life) if life else None
        else:
            self.buried.update(slot.past)
            slot.past.clear()
            slot.lives = None

    # --- words ---

    def marks(self) -> set[str]:
        """Every mark this lane has ever sent."""
        texts = {mark for memo in self.memos.values() for mark in memo.marks}
        refused = {mark for mark in self.refused if MARK.fullmatch(mark)}
        return texts | refused | set(self.groups) | self.values

    def buried_marks(self, purged_at: float) -> set[str]:
        """The marks that no byte of the file may hold after a purge at that time."""
        gone = {
            mark for memo in self.memos.values() if _over(memo, purged_at) for mark in memo.marks
        }
        held = {memo.group for memo in self.memos.values() if not _over(memo, purged_at)}
        return gone | (set(self.groups) - held) | self.buried | self.refused


def _over(memo: Memo, at: float) -> bool:
    if memo.status in (GONE, REFUSED):
        return True
    return memo.status == ALIVE and memo.lives is not None and memo.lives[1] <= at
