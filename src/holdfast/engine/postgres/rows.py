"""Rows and the records they hold: reading and writing inside one PostgreSQL transaction.

Whoever writes to a scope locks its row in `scopes` first. So the writers of one scope take turns,
rows and changes are numbered in the order they are committed in, and those of different scopes
never meet.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from types import MappingProxyType
from typing import Any

from psycopg.errors import UndefinedTable

from holdfast.engine import Draft, Found, Kept, Key, Look, Place, Task, columns
from holdfast.engine.cache.part import Part, together
from holdfast.engine.cache.search import part as in_memory
from holdfast.engine.columns import (
    after_all,
    changeable,
    compact,
    digest,
    maybe_stamp,
    packed,
    stamp,
    words_of,
)
from holdfast.engine.holding import Holding
from holdfast.engine.postgres import large, near, search, words
from holdfast.engine.postgres.connections import EVERY, Session
from holdfast.engine.postgres.pipeline import Answer, Row
from holdfast.engine.postgres.scopes import At, Counters, Shared
from holdfast.engine.postgres.steady import Seen
from holdfast.engine.statements import RECORD
from holdfast.engine.uses import UNUSED, Uses
from holdfast.errors import EmbedderMismatch
from holdfast.model import Entry, Filter, Record

NO_SCOPE = -1  # matches no row
LENGTH = 5  # where a row's length in terms is among its columns
Pending = Callable[[At], Uses]
MARKERS = digest("markers")  # the place of answers that only say: this was committed
LOST = digest("lost")  # of answers that were moved in, of places that were gone already


class Overtaken(Exception):  # not for callers: the engine starts anew
    """Somebody else made the scope meanwhile."""


class Rows(Holding):
    """A transaction on one connection; both `Snapshot` and `Transaction` of the engine port."""

    def __init__(
        self,
        db: Session,
        shared: Shared,
        uses: Uses = MappingProxyType({}),
        pending: Pending | None = None,
        doubt: bytes | None = None,
    ) -> None:
        self.db = db
        self._shared = shared
        self._uses = uses
        self._writes = pending is not None
        self._pending = pending
        self._doubt = doubt  # the marker of a run of which nobody knows whether it was committed
        self._scopes: dict[Place, At] = {}
        self._policies = {}
        self._seen: dict[At, Row] = {}
        self._counters: dict[At, Counters] = {}
        self._space: Sequence[Any] | None = None  # the embedder the store belongs to, if known
        self._kept = False
        self.was_done = False

    def _one(self, name: str, *values: Any) -> Row | None:
        return self.db.one(name, *_flat(values))

    def _all(self, name: str, *values: Any) -> list[Row]:
        return self.db.all(name, *_flat(values))

    def _do(self, name: str, *values: Any) -> Any:
        return self.db.do(name, *_flat(values))

    # --- scopes ---

    def scope(self, place: Place) -> At:
        """What a place is called in statements; a writer locks it."""
        self.db.enter(place.tenant)
        known = self._scopes.get(place)
        if known is not None:
            return known
        return self._found(place, self._ask(place))

    def _ask(self, place: Place) -> Answer:
        self.db.enter(place.tenant)
        name = "lock_scope" if self._writes else "see_scope"
        return self.db.do(name, place.tenant, place.scope)

    def _found(self, place: Place, asked: Answer) -> At:
        row = asked.fetchone()
        at = At(place.tenant, NO_SCOPE if row is None else int(row[0]))
        self._scopes[place] = at
        self._look_for_marker(place.tenant)
        if row is not None and self._writes:
            self._space = row[6:10] if row["space"] is not None else None
            self._locked(at, row)
        elif row is not None:
            self._seen[at] = row
        return at

    def _beside(self, place: Place, name: str, *values: Any) -> Row | None:
        """What a statement finds by a place's name: a writer asks it together with the lock.

        It sees what is committed once the lock is ours, as every statement behind it does.
        """
        self.db.enter(place.tenant)
        locking = self._ask(place) if self._writes and place not in self._scopes else None
        asked = self.db.do(name, place.tenant, place.scope, *values)
        if locking is not None:
            self._found(place, locking)
        if self._writes and self._scopes[place].number == NO_SCOPE:
            return None  # somebody may have made it since: that is not ours to see
        return asked.fetchone()

    def _locked(self, at: At, row: Row) -> None:
        """Begins to count, with what recalls have counted so far: a write must know of it."""
        told = (row[name] for name in ("last_row", "last_change", "held", "terms", "near"))
        self._counters[at] = Counters(*told)
        uses = self._pending(at) if self._pending is not None else {}
        if at in uses:
            self.count_uses(at, uses[at])

    def lock(self, at: At, wait: bool = True) -> bool:
        """Locks a scope that is known by its number; False if it is gone, or not free now."""
        self.db.enter(at.tenant)
        if at not in self._counters:
            row = self._one("lock_number" if wait else "lock_number_now", at)
            if row is None:
                return False
            self._scopes[Place(at.tenant, row["name"])] = at
            self._locked(at, row)
        return True

    def place(self, at: At) -> Place:
        """The place of a scope that is locked."""
        return next(place for place, known in self._scopes.items() if known == at)

    def counters(self, at: At) -> Counters:
        """What is counted of a scope that is locked."""
        return self._counters[at]

    def set_near(self, at: At, near: int) -> None:
        """Notes how far the table of a large scope is, that is locked."""
        self._counters[at].near = near
        self._do("set_near", at, near)

    def recount(self, at: At, held: int, terms: int) -> None:
        """Puts right how much a scope holds, that is locked."""
        counted = self._counters[at]
        counted.held, counted.terms, counted.dirty = held, terms, True

    def counted(self, at: At, seen: int) -> int:
        """The last row of a scope: as it was seen, or as it is since it is locked."""
        return self._counters[at].last_row if at in self._counters else seen

    def _look_for_marker(self, tenant: str) -> None:
        """Whether a run in doubt was committed: its locks are ours now, so that it is over."""
        if self._doubt is not None and self._one("answer", tenant, MARKERS, self._doubt):
            self.was_done = True
            raise Overtaken

    def _make_scope(self, place: Place) -> At:
        at = self.scope(place)
        if at.number == NO_SCOPE:
            made = self._one("add_scope", place.tenant, secrets.randbits(62), place.scope)
            if made is None:  # what we saw of it, nothing, is no longer so
                raise Overtaken
            at = self._scopes[place] = At(place.tenant, int(made[0]))
            self._counters[at] = Counters(0, 0, dirty=True)
        return at

    def make_scope(self, place: Place) -> At:
        """What a place is called, which is made if there is none."""
        return self._make_scope(place)

    def forget_scope(self, place: Place) -> None:
        """Lets go of a place that was removed."""
        self._scopes.pop(place, None)

    def finish(self, marker: bytes, now: int) -> None:
        """Writes how far the scopes are counted; the last thing before a commit."""
        for at, counted in self._counters.items():
            self.db.enter(at.tenant)
            counted.changed += [row[0] for answer in counted.used for row in answer]
            if counted.changed:
                self._note_changes(at, counted)
            if counted.near and counted.written:
                near.follow(self.db, at, self._dimension(), sorted(set(counted.written)))
            if counted.dirty:
                reached = counted.last_row, counted.last_change, counted.held, counted.terms
                self._do("reach_scope", at, *reached)
        if self._counters and not self._kept:
            tenant = next(iter(self._counters)).tenant
            self.db.enter(tenant)
            self._do("keep_answer", tenant, MARKERS, marker, b"", None, None, now)

    def _note_changes(self, at: At, counted: Counters) -> None:
        rows = list(dict.fromkeys(counted.changed))
        first, last = counted.last_change + 1, counted.last_change + len(rows)
        self._do("add_changes", at, list(range(first, last + 1)), rows)
        if first // 1024 != (last + 1) // 1024:
            self._do("drop_changes", at, last - search.CHANGES_KEPT)
        counted.last_change, counted.dirty = last, True

    def _dimension(self) -> int:
        """Of the vectors of the store."""
        row = self.db.one("current_space")
        return int(row["dimension"]) if row else 0

    def note_change(self, at: At, row: int) -> None:
        """Tells every cache of the scope, in every process, to look at a row again."""
        self._counters[at].changed.append(row)
        self._counters[at].written.append(row)

    def _record(self, row: Row, scope: str, tenant: str = "") -> Record:
        """The record of a row, with the uses that are counted but not written yet."""
        counted = self._uses.get(At(tenant, row["scope"]))
        return columns.record(row, scope, counted.get(row["row"], UNUSED) if counted else UNUSED)

    def _records(self, place: Place, rows: Sequence[Row]) -> list[Record]:
        return [self._record(row, place.scope, place.tenant) for row in rows]

    def _numbered(self, place: Place, rows: Sequence[Row]) -> list[tuple[int, Record]]:
        numbers = [row["row"] for row in rows]
        return list(zip(numbers, self._records(place, rows), strict=True))

    # --- reading ---

    def versions(self, place: Place, id: str) -> list[Record]:
        """Every version of a memory, oldest first, expired or not."""
        return self._records(place, self._all("versions", self.scope(place), id))

    def twin(self, place: Place, fingerprint: bytes) -> Record | None:
        """The current memory with these words, expired or not."""
        found = self._records(place, self._all("twin", self.scope(place), fingerprint))
        return found[0] if found else None

    def page(
        self,
        place: Place,
        where: Filter,
        as_of: datetime | None,
        now: datetime,
        before: int,
        limit: int,
    ) -> list[tuple[int, Record]]:
        """Memories in sight, newest row first, each with its row."""
        at = self.scope(place)
        seen, more = search.in_sight(as_of, now, 5)
        sql, values = search.condition(where, 5 + len(more))
        rows = self.db.run(
            f"SELECT {RECORD} FROM holdfast.memories WHERE tenant = $1 AND scope = $2 "
            f"AND row < $3 AND {seen} AND {sql} ORDER BY row DESC LIMIT $4",
            (*at, before, limit, *more, *values),
        ).fetchall()
        return self._numbered(place, rows)

    def dump(self, place: Place, now: datetime, after: int, limit: int) -> list[tuple[int, Record]]:
        """Every version of unexpired memories, oldest row first, each with its row."""
        rows = self._all("dump", self.scope(place), after, stamp(now), limit)
        return self._numbered(place, rows)

    def search(self, places: Sequence[Place], look: Look) -> Found:
        """Candidates for a ranking."""
        new = [place for place in dict.fromkeys(places) if place not in self._scopes]
        asked = [(place, self._ask(place)) for place in new]  # all together
        steady = self._shared.steady
        guess = steady.guess(new) if len(new) == len({*places}) else None
        early = None
        if guess is not None and not any(row and large.is_large(row) for row in guess.values()):
            self.db.go()
            with suppress(EmbedderMismatch):  # or it is so: then it is said below
                early = self._candidates(places, guess, look)
        for place, answer in asked:
            self._found(place, answer)
        seen = {place: self._seen.get(self._scopes[place]) for place in places}
        steady.note(seen)
        return early if early and seen == guess else self._candidates(places, seen, look)

    def _candidates(self, places: Sequence[Place], seen: Seen, look: Look) -> Found:
        """Candidates of places that a snapshot says this of."""
        there = [
            (nth, place.tenant, row) for nth, place in enumerate(places) if (row := seen[place])
        ]
        space = 0
        if look.space and there:
            space = search.space_number(there[0][2][3:7], look.space)
        try:
            parts = [
                self._part(nth, At(tenant, int(row[0])), row, space, look)
                for nth, tenant, row in there
            ]
            return together(parts, self._uses, look.most)
        except UndefinedTable:  # that of a large scope was removed meanwhile
            raise Overtaken from None

    def _part(self, nth: int, at: At, seen: Row, space: int, look: Look) -> Part:
        """A scope's share of a search: of a large one in the database, of others in memory."""
        dimension = look.space.dimension if look.space else 0
        source = search.Source(self.db, at, seen, look.terms)
        if large.is_large(seen):
            usual = self._shared.samples.of(source, space, dimension)
            return large.Large(source, usual, nth, look)
        if seen["held"] > large.LARGE and seen["near"] != near.READY and dimension:
            self._shared.wish(at, dimension)
        return in_memory(self._shared.indexes, space, source, nth, look)

    def fetch(self, places: Sequence[Place], keys: Sequence[Key]) -> Iterator[Record | None]:
        """The records of some keys of a search over these places; None where one is gone.

        They are on their way when this returns, and waited for when the first is looked at.
        """
        asked: dict[int, Answer] = {}
        for nth in {key[0] for key in keys}:
            rows = [row for each, _, row in keys if each == nth]
            asked[nth] = self._do("memories", self.scope(places[nth]), rows)
        self.db.go()
        return self._fetched(places, keys, asked)

    def _fetched(
        self, places: Sequence[Place], keys: Sequence[Key], asked: Mapping[int, Answer]
    ) -> Iterator[Record | None]:
        found: dict[tuple[int, int], Record] = {}
        for nth, answer in asked.items():
            for row, one in self._numbered(places[nth], answer.fetchall()):
                found[nth, row] = one
        for nth, _, row in keys:
            yield found.get((nth, row))

    def any_links(self, place: Place) -> bool:
        """Whether any memory here is linked to another."""
        seen = self._seen.get(self.scope(place))
        return super().any_links(place) if self._writes else bool(seen and seen["links"])

    def any_avoid(self, place: Place) -> bool:
        """Whether any memory here says what to avoid."""
        seen = self._seen.get(self.scope(place))
        return super().any_avoid(place) if self._writes else bool(seen and seen["avoids"])

    def entry(self, place: Place, key: str) -> Entry | None:
        """The entry under a key, expired or not."""
        row = self._beside(place, "entry", key)
        return None if row is None else columns.entry(row)

    def keys(self, place: Place, prefix: str, after: str, now: datetime, limit: int) -> list[str]:
        """Unexpired keys that begin with a prefix, in order."""
        bounds = (after, prefix, after_all(prefix))
        return [row[0] for row in self._all("keys", self.scope(place), *bounds, stamp(now), limit)]

    def answer(self, place: Place, key: str) -> Kept | None:
        """What an idempotency key was answered."""
        self.scope(place)  # a writer must have the lock: a retry may be under way elsewhere
        row = self._one("answer", place.tenant, place_key(place), answer_key(place, key))
        row = row or self._lost(place, "lost_answer", LOST, answer_key(place, key))
        return None if row is None else Kept(row["digest"], row["answer"])

    def _lost(self, place: Place, name: str, *values: Any) -> Row | None:
        """What was moved in of a place that was gone already, so that nobody knew its tenant."""
        if self._shared.lost is False:
            return None
        self.db.enter(EVERY)
        if self._shared.lost is None:
            self._shared.lost = bool(self._count("any_lost"))
        found = self._one(name, *values) if self._shared.lost else None
        self.db.enter(place.tenant)
        return found

    # --- writing ---

    def insert(self, place: Place, draft: Draft) -> None:
        """Adds a version of a memory."""
        at = self._make_scope(place)
        self._check_space(draft)
        self._add(at, draft.record, packed(draft.vectors), *words_of(draft))

    def _add(self, at: At, rec: Record, vectors: bytes | None, *told: Any) -> int:
        marks = search.facets(rec.tags, rec.meta)
        return self.add_line(at, rec.id, rec.version, marks, vectors, *told, *changeable(rec))

    def add_line(self, at: At, *values: Any) -> int:
        """Adds a row behind those there are, given as its columns; gives its number."""
        counted = self._counters[at]
        row = counted.last_row = counted.last_row + 1
        counted.held, counted.terms = counted.held + 1, counted.terms + values[LENGTH]
        counted.written.append(row)
        counted.dirty = True
        self._do("add_memory", at, row, *values)
        if row % words.BLOCK == 0:
            words.take_in(self.db, at, row)
        return row

    def revise(self, place: Place, past: Record, draft: Draft) -> None:
        """Gives a memory new words in its old row, and keeps its past in a new one.

        So a memory keeps its place in every list.
        """
        at, new = self.scope(place), draft.record
        self._check_space(draft)
        row, terms, vectors, *told = self._all("row_of", at, past.id, past.version)[0]
        counted = self._counters[at]
        counted.terms += len(draft.terms) - told[1]  # its length, after who says it
        listed = row <= words.listed_to(counted.last_row)
        self._do("new_words", at, row, new.version, packed(draft.vectors), *words_of(draft))
        self.change(place, new)
        if listed:
            words.change(self.db, at, row, terms, " ".join(draft.terms))
        old = self._add(at, past, vectors, *told)
        self._do("move_coming", at, row, old)
        self._do("drop_slots", at, new.id)

    def _check_space(self, draft: Draft) -> None:
        """Makes sure that vectors are of the embedder the store belongs to."""
        if draft.vectors is not None:
            self._space = self._space or self.db.one("current_space")
            search.space_number(self._space, draft.space)

    def change(self, place: Place, record: Record) -> None:
        """Writes everything of a version but its words."""
        at = self.scope(place)
        marks = search.facets(record.tags, record.meta)
        values = (*changeable(record), marks)
        for row in self._all("change_memory", at, record.id, record.version, *values):
            self.note_change(at, row[0])
        for row in self._all("share_expiry", at, record.id, maybe_stamp(record.expires_at)):
            self.note_change(at, row[0])

    def count_uses(self, at: At, counted: Mapping[int, tuple[int, int]]) -> None:
        """Writes how often rows of a scope were used since they were last written."""
        times, last = zip(*counted.values(), strict=True)
        answer = self._do("use_memories", at, list(counted), list(times), list(last))
        self._counters[at].used.append(answer)

    def forget(self, place: Place, id: str) -> None:
        """Removes every version of a memory from every index."""
        self.drop(self.scope(place), place, id)

    def drop(self, at: At, place: Place, id: str) -> None:
        """Removes every version of a memory of a scope from every index."""
        gone, counted = self._all("drop_memory", at, id), self._counters.get(at)
        for row, terms, length in gone:
            assert counted is not None  # who writes to a scope that is there has its lock
            if row <= words.listed_to(counted.last_row):
                words.change(self.db, at, row, terms, "")
            counted.held, counted.terms = counted.held - 1, counted.terms - length
            self.note_change(at, row)
        if gone:
            self._do("drop_coming", at, [row[0] for row in gone])
        self.drop_learned(at, id)
        self._do("blank_answers", place.tenant, place_key(place), digest(f"memory {id}"))

    def forget_all(self, place: Place) -> int:
        """Removes the place, its state, and what kept answers tell of it; gives the state keys."""
        at = self.scope(place)
        keys = self._all("all_entries", at)
        for key, version in keys:
            self.drop_key(at, place, key, version)
        self._do("blank_all_answers", place.tenant, place_key(place))
        self.drop_all_learned(at)
        self.drop_scope(at)
        self._scopes.pop(place, None)
        self._policies.pop(place, None)
        return len(keys)

    def drop_scope(self, at: At) -> None:
        """Removes a scope in which nothing is left."""
        self._do("drop_all_words", at)
        self._do("drop_scope_changes", at)
        self._do("drop_scope", at)
        if at in self._counters and self._counters[at].near:
            near.remove(self.db, at)
        self._counters[at] = Counters(0, 0)

    def matching(self, place: Place, where: Filter) -> list[str]:
        """The ids of all memories, past and expired ones too, of which a version matches."""
        at = self.scope(place)
        sql, values = search.condition(where, 3)
        rows = self.db.run(
            "SELECT DISTINCT id FROM holdfast.memories "
            f"WHERE tenant = $1 AND scope = $2 AND {sql} ORDER BY id",
            (*at, *values),
        )
        return [row[0] for row in rows]

    def put_entry(self, place: Place, entry: Entry) -> None:
        """Writes an entry."""
        times = stamp(entry.updated_at), maybe_stamp(entry.expires_at)
        at = self._make_scope(place)
        self._do("put_entry", at, entry.key, compact(entry.value), entry.version, *times)

    def drop_entry(self, place: Place, entry: Entry) -> None:
        """Removes an entry, and its value from kept answers."""
        self.drop_key(self.scope(place), place, entry.key, entry.version)

    def drop_key(self, at: At, place: Place, key: str, version: int) -> None:
        """Removes a key of a scope, and its value from kept answers."""
        self._do("drop_entry", at, key)
        self._do("retire", place.tenant, place_key(place), version)
        self._do("blank_answers", place.tenant, place_key(place), digest(f"state {key}"))

    def next_version(self, place: Place) -> int:
        """The version of a new key: higher than that of any key deleted before."""
        lost = self._lost(place, "lost_version", place_key(place))
        known = self._count("retired", place.tenant, place_key(place))
        return max(known, int(lost[0]) if lost else 0) + 1

    def keep_answer(
        self, place: Place, key: str, kept: Kept, about: str | None, now: datetime
    ) -> None:
        """Keeps the answer to an idempotency key."""
        told = None if about is None else digest(about)
        names = (place.tenant, place_key(place), answer_key(place, key))
        self._do("keep_answer", *names, kept.digest, told, kept.answer, stamp(now))
        self._kept = True

    def _policy(self, place: Place) -> str | None:
        row = self._beside(place, "policy")
        return None if row is None else str(row[0])

    def _many(self, values: Sequence[str]) -> Any:
        """Values as one value of a statement."""
        return list(values)

    def _slot_text(self, words: str) -> Any:
        """Words of a slot as a column holds them."""
        return hashlib.sha256(words.encode()).digest()

    # --- jobs ---

    def enqueue(self, place: Place, id: str, session: str | None, work: str, now: datetime) -> int:
        """Adds a job, and rings for whoever does jobs; gives how many wait."""
        count = super().enqueue(place, id, session, work, now)
        self._do("ring")
        return count

    def take_job(self, now: datetime, lost_at: datetime) -> Task | None:
        """Takes up the first job that is due; it is taken for lost at a moment."""
        self.db.enter(EVERY)
        row = self._one("next_job", stamp(now))
        if row is None:
            return None
        at = At(row["tenant"], row["scope"])
        self._do("take_job", at, row["id"], stamp(lost_at))
        return Task(Place(row["tenant"], row["name"]), row["id"], row["work"], row["attempts"] + 1)

    def next_due(self) -> datetime | None:
        """When the next job of the store is due."""
        self.db.enter(EVERY)
        return super().next_due()

    def next_expiry(self) -> datetime | None:
        """When the next memory or state key of the store expires, or did."""
        self.db.enter(EVERY)
        return super().next_expiry()


def place_key(place: Place) -> bytes:
    """A digest of a scope's name, which outlives the scope."""
    return digest(compact((place.tenant, place.scope)))


def answer_key(place: Place, key: str) -> bytes:
    """The key goes in as a digest, the same as in every engine."""
    return digest(compact((place.tenant, place.scope, key)))


def _flat(values: Sequence[Any]) -> list[Any]:
    """Values with each scope as its two parts."""
    flat: list[Any] = []
    for value in values:
        flat.extend(value) if isinstance(value, At) else flat.append(value)
    return flat
