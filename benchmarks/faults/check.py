"""Is it all there, and nothing else? The model against the store, by every way into it."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from benchmarks.faults import acts, homes, raw
from benchmarks.faults.marks import MARK, SCOPES, first_mark, scope_of
from benchmarks.faults.model import ALIVE, GONE, REFUSED, Key, Lane, Memo, Slot
from benchmarks.faults.store import Clock, Open, recall
from holdfast import Memory, NotFound
from holdfast.model import Record

KINDS = ("lost", "duplicate", "phantom", "torn", "undead", "leaked", "index", "wrong")
RECENT = 6  # operations of a lane that the quick check looks at
LATELY = 3  # memories of those, by lane and scope, that it looks for by their words
SAMPLE = 20  # memories tried in another scope, and closely looked for in the raw bytes
SOUGHT = {ALIVE: 5, GONE: 2, REFUSED: 1}  # by lane and scope: memories looked for by their words
SOON = 1.0  # seconds around an expiry in which either is right

Bad = tuple[str, str]
Line = dict[str, Any]


@dataclass
class View:
    """What a scope shows: every version by its mark, the current ones, and the state."""

    scope: str
    versions: dict[str, list[Line]] = field(default_factory=dict)
    listed: Counter[str] = field(default_factory=Counter)
    states: dict[str, Any] = field(default_factory=dict)


def view(memory: Memory) -> View:
    """The whole of a scope, by export and by list."""
    seen = View(memory.scope)
    for text in memory.export():
        line = json.loads(text)
        if line["type"] == "memory":
            seen.versions.setdefault(first_mark(line["content"]), []).append(line)
        elif line["type"] == "state":
            seen.states[line["key"]] = line["value"]
    seen.listed.update(first_mark(record.content) for record in listed(memory))
    return seen


def listed(memory: Memory, **filters: Any) -> Iterator[Record]:
    """All memories of a scope, page by page."""
    cursor: str | None = None
    while True:
        page = memory.list(limit=200, cursor=cursor, **filters)
        yield from page
        cursor = page.cursor
        if cursor is None:
            return


def glimpse(memory: Memory, memos: Iterable[Memo]) -> View:
    """What a scope shows of some memories, by list and by history."""
    seen = View(memory.scope)
    ids: dict[str, None] = {}
    for group in {memo.group for memo in memos}:
        for record in listed(memory, tags=[group]):
            seen.listed[first_mark(record.content)] += 1
            ids[record.id] = None
    ids |= dict.fromkeys(memo.id for memo in memos if memo.id)
    for id in ids:
        for line in _history(memory, id):
            seen.versions.setdefault(first_mark(line["content"]), []).append(line)
    return seen


def _history(memory: Memory, id: str) -> list[Line]:
    try:
        found = memory.history(id)
    except NotFound:
        return []
    return [
        {"id": r.id, "version": r.version, "content": r.content, "until": r.until} for r in found
    ]


def _there(way: Callable[[str], object], id: str) -> bool:
    try:
        way(id)
    except NotFound:
        return False
    return True


def _ways_by_id(memory: Memory) -> list[Callable[[str], object]]:
    def explain(id: str) -> object:
        return memory.explain(id, "any words")

    return [memory.read, memory.history, explain]


class Checker:
    """Compares what lanes know with what the store shows; collects what is bad."""

    def __init__(self, store: Open, lanes: Sequence[Lane], seed: object) -> None:
        self.bads: list[Bad] = []
        self._store = store
        self._lanes = lanes
        self._rng = random.Random(f"{seed}/check")
        self._horizon = max(lane.horizon for lane in lanes)
        self._known = set().union(*(lane.marks() for lane in lanes))

    def bad(self, kind: str, what: str) -> None:
        self.bads.append((kind, what))

    # --- quick: after every kill, while others go on ---

    def quick(self, lanes: Sequence[Lane]) -> None:
        """What the killed lanes did last: by list, history, id and recall."""
        for lane in lanes:
            recent = [
                memo
                for memo in lane.memos.values()
                if memo.touched >= lane.number - RECENT and memo.lives is None
            ]
            for scope in {memo.scope for memo in recent}:
                memory = self._store.memory(scope)
                memos = [memo for memo in recent if memo.scope == scope]
                seen = glimpse(memory, memos)
                for memo in memos:
                    self._memo(memory, memo, seen)
                for memo in self._rng.sample(memos, min(len(memos), LATELY)):
                    self._look_up(memory, memo)
                self._together(lane, scope, seen)

    # --- whole: when nobody writes ---

    def whole(self, since: dict[str, int]) -> None:
        """Everything, in every scope; `since` tells what each lane had done at the last check."""
        self.contents()
        for scope in SCOPES:
            memory = self._store.memory(scope)
            for lane in self._lanes:
                for memo in self._sought(lane, scope, since.get(lane.name, 0)):
                    self._look_up(memory, memo)
        self._leaks()
        self._later()

    def contents(self) -> None:
        """Everything by list, export and id; and the indexes."""
        for scope in SCOPES:
            self._scope(self._store.memory(scope))
        self._index()

    def _sought(self, lane: Lane, scope: str, since: int) -> Iterator[Memo]:
        """Some memories of each status, at random, those touched lately first."""
        for status, most in SOUGHT.items():
            mine = [
                memo
                for memo in lane.memos.values()
                if memo.scope == scope and memo.lives is None and memo.status == status
            ]
            self._rng.shuffle(mine)
            yield from sorted(mine, key=lambda memo: memo.touched < since)[:most]

    def _scope(self, memory: Memory) -> None:
        seen = view(memory)
        self._strangers(seen)
        for lane in self._lanes:
            for memo in lane.memos.values():
                if memo.scope == memory.scope:
                    self._memo(memory, memo, seen)
            self._together(lane, memory.scope, seen)
            for (scope, key), slot in lane.slots.items():
                if scope == memory.scope:
                    self._slot(lane, key, slot, seen)
        self._shared(memory, seen)

    def _strangers(self, seen: View) -> None:
        """Marks that nobody sent, or that were sent to another scope; words listed but not kept."""
        shown = json.dumps([seen.versions, seen.states, seen.listed])
        for mark in set(MARK.findall(shown)):
            if scope_of(mark) != seen.scope:
                self.bad("leaked", f"{seen.scope} holds {mark} of {scope_of(mark)}")
            elif mark not in self._known:
                self.bad("phantom", f"{seen.scope} holds {mark}, which nobody sent")
        for mark in set(seen.listed) - set(seen.versions):
            self.bad("torn", f"{mark} is listed in {seen.scope} but not exported")

    # --- one memory ---

    def _life(self, lives: tuple[float, float] | None) -> set[bool]:
        """Whether something may be alive now; close to its expiry, or after a purge, it is both."""
        now = self._store.clock.seconds()
        if lives is None or max(now, self._horizon) < lives[0] - SOON:
            return {True}
        return {False} if now >= lives[1] + SOON else {True, False}

    def _counts(self, memo: Memo) -> set[int]:
        """How many versions of a memory may be seen now."""
        alive = self._life(memo.lives)
        return (memo.counts() if True in alive else set()) | ({0} if False in alive else set())

    def _memo(self, memory: Memory, memo: Memo, seen: View) -> None:
        found = [line for mark in memo.marks for line in seen.versions.get(mark, ())]
        counts = self._counts(memo)
        if len({(line["id"], line["version"]) for line in found}) < len(found) or any(
            len(seen.versions.get(mark, ())) > 1 for mark in memo.marks
        ):
            self.bad("duplicate", f"{memo.mark}: {[_short(line) for line in found]}")
        elif len(found) not in counts:
            self.bad(_missing(memo, len(found)), f"{_told(memo)}: {len(found)} of {counts}")
        elif found:
            self._shape(memory, memo, found, seen)

    def _shape(self, memory: Memory, memo: Memo, found: list[Line], seen: View) -> None:
        """Versions follow each other, only the last one is current, and every way shows that."""
        found = sorted(found, key=lambda line: line["version"])
        texts = [*memo.texts, *filter(None, [memo.coming])][: len(found)]
        if [line["version"] for line in found] != list(range(1, len(found) + 1)) or len(
            {line["id"] for line in found}
        ) > 1:
            self.bad("torn", f"{_told(memo)}: {[_short(line) for line in found]}")
        elif [line["content"] for line in found] != texts:
            self.bad("lost", f"{_told(memo)} has other words than were acknowledged")
        elif [line.get("until") is None for line in found] != [False] * (len(found) - 1) + [True]:
            self.bad("torn", f"{_told(memo)}: a version ended wrong: {found}")
        shown = [seen.listed[mark] for mark in memo.marks[: len(found)]]
        if shown != [0] * (len(found) - 1) + [1] and not memo.lives:
            kind = "lost" if not shown[-1] else "torn"
            self.bad(kind, f"{_told(memo)} is listed {shown} times, by version")
        self._by_id(memory, memo, found[-1])

    def _by_id(self, memory: Memory, memo: Memo, last: Line) -> None:
        if memo.id not in (None, last["id"]):
            self.bad("duplicate", f"{_told(memo)} is kept under the id {last['id']}")
        try:
            record = memory.read(last["id"])
        except NotFound:
            if memo.lives is None:
                self.bad("lost", f"read({last['id']}) does not find {_told(memo)}")
            return
        if record.content != last["content"]:
            self.bad("torn", f"read({last['id']}) and export tell different words")

    def _look_up(self, memory: Memory, memo: Memo) -> None:
        """By its words: found if it is there, and by no way if it is gone."""
        if memo.status in (GONE, REFUSED):
            self._absent(memory, memo)
        elif memo.status == ALIVE and memo.coming is None and not memo.leaving:
            hits = recall(memory, memo.marks[-1], limit=5)
            if memo.id not in [hit.id for hit in hits]:
                self.bad("lost", f"recall({memo.marks[-1]!r}) does not find {_told(memo)}")
            stale = [mark for mark in memo.marks[:-1] for hit in hits if mark in hit.content]
            if stale:
                self.bad("wrong", f"recall gives words that were revised: {stale}")

    def _absent(self, memory: Memory, memo: Memo) -> None:
        kind = "undead" if memo.status == GONE else "phantom"
        ways: dict[str, Callable[[], str]] = {
            "recall by its words": lambda: _said(recall(memory, memo.marks[-1], limit=10)),
            "recall by its meaning": lambda: _said(recall(memory, memo.texts[-1], limit=10)),
            "recall as of then": lambda: _said(recall(memory, memo.mark, as_of=_when(memo))),
            "context": lambda: memory.context(memo.marks[-1], budget=60),
            "list by tag": lambda: _all(memory.list(tags=[memo.group], limit=200)),
            "list as of then": lambda: _all(memory.list(session=memo.group, as_of=_when(memo))),
        }
        for name, ask in ways.items():
            shown = ask()
            if any(mark in shown for mark in memo.marks):
                self.bad(kind, f"{name} shows {_told(memo)}")
        if memo.id is None:
            return
        for way in _ways_by_id(memory):
            if _there(way, memo.id):
                self.bad(kind, f"{way.__name__}({memo.id}) shows {_told(memo)}")

    def _together(self, lane: Lane, scope: str, seen: View) -> None:
        """An operation on many memories that was not answered has touched all of them or none."""
        intent = lane.pending
        if intent is None or intent.get("scope") != scope:
            return
        memos = [memo for memo in lane.meant(intent) if memo.lives is None]
        there = {any(mark in seen.versions for mark in memo.marks) for memo in memos}
        if len(memos) > 1 and len(there) > 1:
            self.bad("torn", f"half of {intent['do']} {intent['n']} of {lane.name} is there")

    # --- state ---

    def _slot(self, lane: Lane, key: str, slot: Slot, seen: View) -> None:
        held = seen.states.get(key)
        value = held["value"] if held else None
        if slot.open and key.endswith("/ttl"):
            return  # whose life, the old value's or the new one's, is not known
        alive = self._life(slot.lives)
        allowed = (slot.allowed() if True in alive else set()) | (
            {None} if False in alive else set()
        )
        if value in allowed:
            return
        if value is None:
            self.bad("lost", f"{key} of {seen.scope} is not there")
        elif allowed == {None}:
            self.bad("undead", f"{key} of {seen.scope} is there, but was deleted or expired")
        else:
            kind = "phantom" if value in lane.refused else "lost"
            self.bad(kind, f"{key} of {seen.scope} has {value}, not one of {allowed}")

    def _shared(self, memory: Memory, seen: View) -> None:
        """Keys that all lanes write: sums add up, items are there once, each version has one."""
        mine = {key for lane in self._lanes for scope, key in lane.slots if scope == seen.scope}
        shared = {key for key in seen.states if key.startswith("shared/")}
        for key in set(seen.states) - mine - shared:
            self.bad("phantom", f"{key} of {seen.scope} was set by nobody")
        if set(memory.keys()) != set(seen.states):
            apart = set(memory.keys()) ^ set(seen.states)
            if not any(key.endswith("/ttl") for key in apart):
                self.bad("wrong", f"keys and export of {seen.scope} differ: {apart}")
        told = {key for lane in self._lanes for _, key in [*lane.added, *lane.items]}
        for key in told | shared:
            if key == "shared/count":
                self._sum((seen.scope, key), seen.states.get(key, 0))
            elif key.startswith("shared/list"):
                self._list((seen.scope, key), seen.states.get(key, []))
        self._cas((seen.scope, "shared/cas"), seen.states.get("shared/cas"))

    def _open(self, key: Key) -> Iterator[dict[str, Any]]:
        for lane in self._lanes:
            told = lane.pending
            if told and (told.get("scope"), told.get("key")) == key:
                yield told

    def _sum(self, key: Key, value: int) -> None:
        least = sum(lane.added.get(key, 0) for lane in self._lanes)
        maybe = sum(told["by"] for told in self._open(key))
        if value < least:
            self.bad("lost", f"{key} is {value}: {least - value} were acknowledged but not added")
        elif value > least + maybe:
            self.bad("duplicate", f"{key} is {value}, over {least} and {maybe} not answered")

    def _list(self, key: Key, items: list[str]) -> None:
        count = Counter(items)
        told = {item for lane in self._lanes for item in lane.items.get(key, ())}
        maybe = {intent["value"] for intent in self._open(key)}
        for item in told - set(count):
            self.bad("lost", f"{item} was acknowledged but is not in {key}")
        for item in set(count) - told - maybe:
            self.bad("phantom", f"{item} is in {key}")
        for item, times in count.items():
            if times > 1:
                self.bad("duplicate", f"{item} is {times} times in {key}")

    def _cas(self, key: Key, value: str | None) -> None:
        wins = [
            (version, mark)
            for lane in self._lanes
            for scope, name, version, mark in lane.wins
            if (scope, name) == key
        ]
        for version, times in Counter(version for version, _ in wins).items():
            if times > 1:
                self.bad("duplicate", f"version {version} of {key} was won {times} times")
        last = max(wins)[1] if wins else None
        maybe = {intent["value"] for intent in self._open(key)}
        if value != last and value not in maybe:
            self.bad(
                "lost" if value is None or value in dict(wins).values() else "phantom",
                f"{key} has {value}, not {last} that won last",
            )

    # --- apart, indexes, time ---

    def _leaks(self) -> None:
        """Another scope's memories, asked for by word, by id and by filter."""
        memos = [memo for lane in self._lanes for memo in lane.living()]
        for memo in self._rng.sample(memos, min(len(memos), SAMPLE)):
            other = self._store.memory(self._rng.choice([s for s in SCOPES if s != memo.scope]))
            shown = _said(recall(other, memo.texts[-1], limit=10)) + other.context(
                memo.mark, budget=60
            )
            shown += _all(other.list(tags=[memo.group]))
            if any(scope_of(mark) != other.scope for mark in MARK.findall(shown)):
                self.bad("leaked", f"{other.scope} was shown {memo.mark}")
            for way in _ways_by_id(other):
                if _there(way, memo.id or ""):
                    self.bad("leaked", f"{other.scope} knows the id of {memo.mark}")

    def _index(self) -> None:
        memory = self._store.memory(SCOPES[0])
        findings = memory.doctor().findings
        wrong = [finding for finding in findings if "wait" not in finding.what]
        for finding in wrong:
            self.bad("index", f"{finding.what}: {finding.count}")
        if findings and not wrong and not memory.doctor(repair=True).healthy:
            self.bad("index", "memories wait for a vector, and the doctor cannot embed them")

    def _later(self) -> None:
        """With a clock a day ahead: nothing is shown that has expired by then."""
        store = Open(self._store.url, Clock(acts.DAY + SOON))
        lasting = {m.mark: m for lane in self._lanes for m in lane.memos.values() if m.lives}
        for scope in SCOPES:
            memory = store.memory(scope)
            now = store.clock()
            shown = [
                *listed(memory),
                *(
                    hit.memory
                    for m in lasting.values()
                    if m.scope == scope
                    for hit in recall(memory, m.mark, limit=3)
                ),
            ]
            over = {r.id for r in shown if r.expires_at is not None and r.expires_at <= now}
            if over:
                self.bad("undead", f"expired, yet shown a day later: {sorted(over)}")
            self._expired_by(memory, store.clock.seconds())
        store.close()

    def _expired_by(self, memory: Memory, now: float) -> None:
        exported = " ".join(memory.export())
        for lane in self._lanes:
            for memo in lane.memos.values():
                if memo.lives and memo.lives[1] <= now and memo.mark in exported:
                    self.bad("undead", f"expired, yet exported a day later: {_told(memo)}")
            for (scope, key), slot in lane.slots.items():
                over = scope == memory.scope and slot.lives and slot.lives[1] <= now
                if over and not slot.open and key in memory.keys(key):
                    self.bad("undead", f"expired, yet a key a day later: {key}")

    # --- gone from the disk ---

    def purge(self) -> float:
        """Purges, and looks for what is buried in the raw bytes; gives the time of the purge."""
        at = time.time()
        self._store.memory(SCOPES[0]).purge()
        marks = sorted(set().union(*(lane.buried_marks(at) for lane in self._lanes)))
        memos = [memo for lane in self._lanes for memo in lane.memos.values()]
        gone = [text for memo in memos if memo.status == GONE for text in memo.texts]
        live = [memo.texts[-1] for lane in self._lanes for memo in lane.living()]
        closely = self._rng.sample(gone, min(len(gone), SAMPLE))
        found = raw.remains(raw.Raw(homes.files(self._store.url)), marks, closely, live[-SAMPLE:])
        for what in found:
            self.bad("undead", f"in the bytes on disk after a purge: {what}")
        return at


def _missing(memo: Memo, found: int) -> str:
    """What it is called when so many versions of a memory are there, but should not be."""
    if memo.status == GONE:
        return "undead"
    if memo.status == REFUSED:
        return "phantom"
    if memo.lives is not None and found:
        return "undead"
    return "lost" if found < max(memo.counts()) else "phantom"


def _told(memo: Memo) -> str:
    return f"{memo.mark} ({memo.status}, {len(memo.texts)} versions, id {memo.id})"


def _short(line: Line) -> str:
    return f"{line['id']} v{line['version']}"


def _when(memo: Memo) -> datetime:
    return datetime.fromtimestamp(memo.born or time.time(), timezone.utc)


def _said(hits: Iterable[Any]) -> str:
    return " ".join(hit.content for hit in hits)


def _all(records: Iterable[Record]) -> str:
    return " ".join(record.content for record in records)
