"""Rows and the records they hold: reading and writing inside one SQLite transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

from holdfast.engine import Draft, Found, Kept, Key, Look, Place, Space, columns
from holdfast.engine.cache.index import Indexes
from holdfast.engine.cache.search import search as search_sources
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
from holdfast.engine.sqlite import search, words
from holdfast.engine.sqlite.statements import statements
from holdfast.engine.statements import RECORD
from holdfast.engine.uses import UNUSED, Uses
from holdfast.model import Entry, Filter, Record

SQL = statements()
NO_SCOPE = -1  # matches no row
CHANGES_KEPT = 20_000  # a cache further behind than this loads anew


class Rows(Holding):
    """A transaction on one connection; both `Snapshot` and `Transaction` of the engine port."""

    def __init__(
        self, db: sqlite3.Connection, indexes: Indexes, uses: Uses = MappingProxyType({})
    ) -> None:
        self.db = db
        self._indexes = indexes
        self._uses = uses
        self._scopes: dict[Place, int] = {}
        self._policies = {}
        self._spaces: set[Space | None] = set()  # that vectors may be of

    def _one(self, name: str, *values: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self.db.execute(SQL[name], values).fetchone()
        return row

    def _all(self, name: str, *values: Any) -> list[sqlite3.Row]:
        return self.db.execute(SQL[name], values).fetchall()

    def _do(self, name: str, *values: Any) -> sqlite3.Cursor:
        return self.db.execute(SQL[name], values)

    def scope(self, place: Place) -> int:
        """The number of a place; one that matches no row if there is no such place."""
        number = self._scopes.get(place, NO_SCOPE)
        if number == NO_SCOPE:
            number = self._scopes[place] = self._find_scope(place)
        return number

    def _find_scope(self, place: Place) -> int:
        row = self._one("find_scope", place.tenant, place.scope)
        if row is None:
            return NO_SCOPE
        number, policy, *space = row
        self._policies[place] = policy
        self._spaces.add(Space(*space))
        return int(number)

    def _policy(self, place: Place) -> str | None:
        self.scope(place)  # which finds the policy, too
        return self._policies.get(place)

    def _make_scope(self, place: Place) -> int:
        number = self.scope(place)
        if number == NO_SCOPE:
            number = self._do("add_scope", place.tenant, place.scope).lastrowid or NO_SCOPE
            self._scopes[place] = number
        return number

    def make_scope(self, place: Place) -> int:
        """The number of a place, which is made if there is none."""
        return self._make_scope(place)

    def forget_scope(self, place: Place) -> None:
        """Lets go of the number of a place that was removed."""
        self._scopes.pop(place, None)

    def _record(self, row: sqlite3.Row, scope: str) -> Record:
        """The record of a row, with the uses that are counted but not written yet."""
        number, place = row[:2]
        counted = self._uses.get(place)
        return columns.record(row, scope, counted.get(number, UNUSED) if counted else UNUSED)

    # --- reading ---

    def versions(self, place: Place, id: str) -> list[Record]:
        """Every version of a memory, oldest first, expired or not."""
        rows = self._all("versions", self.scope(place), id)
        return [self._record(row, place.scope) for row in rows]

    def twin(self, place: Place, fingerprint: bytes) -> Record | None:
        """The current memory with these words, expired or not."""
        row = self._one("twin", self.scope(place), fingerprint)
        return None if row is None else self._record(row, place.scope)

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
        sql, values = search.condition(where)
        seen, more = search.in_sight(as_of, now)
        rows = self.db.execute(
            f"SELECT {RECORD} FROM memories WHERE scope = ? AND row < ? AND {seen} AND {sql} "
            "ORDER BY row DESC LIMIT ?",
            (self.scope(place), before, *more, *values, limit),
        )
        return [(row["row"], self._record(row, place.scope)) for row in rows]

    def dump(self, place: Place, now: datetime, after: int, limit: int) -> list[tuple[int, Record]]:
        """Every version of unexpired memories, oldest row first, each with its row."""
        rows = self.db.execute(
            f"SELECT {RECORD} FROM memories WHERE scope = ? AND row > ? "
            "AND (expires_at IS NULL OR expires_at > ?) ORDER BY row LIMIT ?",
            (self.scope(place), after, stamp(now), limit),
        )
        return [(row["row"], self._record(row, place.scope)) for row in rows]

    def search(self, places: Sequence[Place], look: Look) -> Found:
        """Candidates for a ranking."""
        numbered = [(at, self.scope(place)) for at, place in enumerate(places)]
        held = [(at, search.Source(self.db, scope)) for at, scope in numbered if scope != NO_SCOPE]
        space = search.space_number(self.db, look.space) if look.space else 0
        return search_sources(self._indexes, space, self._uses, held, look)

    def fetch(self, places: Sequence[Place], keys: Sequence[Key]) -> list[Record | None]:
        """The records of some keys of a search over these places; None where one is gone."""
        found: dict[tuple[int, int], Record] = {}
        for at, scope in {key[:2] for key in keys}:
            asked = compact([row for each, _, row in keys if each == at])
            for row in self._all("memories", scope, asked):
                found[at, row["row"]] = self._record(row, places[at].scope)
        return [found.get((at, row)) for at, _, row in keys]

    def entry(self, place: Place, key: str) -> Entry | None:
        """The entry under a key, expired or not."""
        row = self._one("entry", place.tenant, place.scope, key)
        return None if row is None else columns.entry(row)

    def keys(self, place: Place, prefix: str, after: str, now: datetime, limit: int) -> list[str]:
        """Unexpired keys that begin with a prefix, in order."""
        end = after_all(prefix)
        values = (self.scope(place), after, prefix, end, end, stamp(now), limit)
        return [row[0] for row in self._all("keys", *values)]

    def answer(self, place: Place, key: str) -> Kept | None:
        """What an idempotency key was answered."""
        row = self._one("answer", _answer_key(place, key))
        return None if row is None else Kept(row["digest"], row["answer"])

    # --- writing ---

    def insert(self, place: Place, draft: Draft) -> None:
        """Adds a version of a memory."""
        scope = self._make_scope(place)
        self._check_space(draft)
        row = self._add(scope, draft.record, packed(draft.vectors), *words_of(draft))
        words.added(self.db, row)

    def _add(self, scope: int, rec: Record, vectors: bytes | None, *told: Any) -> int:
        values = (scope, rec.id, rec.version, vectors, *told, *changeable(rec))
        row = self._do("add_memory", *values).lastrowid
        assert row is not None
        return row

    def revise(self, place: Place, past: Record, draft: Draft) -> None:
        """Gives a memory new words in its old row, and keeps its past in a new one.

        So a memory keeps its place in every list.
        """
        scope, new = self.scope(place), draft.record
        self._check_space(draft)
        row, terms, vectors, *told = self._all("row_of", scope, past.id, past.version)[0]
        self._do("new_words", new.version, packed(draft.vectors), *words_of(draft), scope, row)
        self.change(place, new)
        words.change(self.db, scope, row, terms, " ".join(draft.terms))
        old = self._add(scope, past, vectors, *told)
        self._do("move_coming", old, row)
        words.added(self.db, old)
        self._do("drop_slots", scope, new.id)

    def _check_space(self, draft: Draft) -> None:
        """Makes sure that vectors are of the embedder the store belongs to."""
        if draft.vectors is not None and draft.space not in self._spaces:
            search.space_number(self.db, draft.space)
            self._spaces.add(draft.space)

    def change(self, place: Place, record: Record) -> None:
        """Writes everything of a version but its words."""
        scope = self.scope(place)
        row = self._one("change_memory", *changeable(record), scope, record.id, record.version)
        if row is not None:
            self.note_change(scope, row[0])
        expires_at = maybe_stamp(record.expires_at)
        for other in self._all("share_expiry", expires_at, scope, record.id):
            self.note_change(scope, other[0])

    def count_uses(self, scope: Any, counted: Mapping[int, tuple[int, int]]) -> None:
        """Writes how often rows were used since they were last written."""
        for row, (times, at) in counted.items():
            if self._do("use_memory", times, at, scope, row).rowcount:
                self.note_change(scope, row)

    def forget(self, place: Place, id: str) -> None:
        """Removes every version of a memory from every index."""
        self.drop(self.scope(place), id)

    def drop(self, scope: int, id: str) -> None:
        """Removes every version of a memory of a scope, given by number, from every index."""
        for row, terms in self._all("terms_of", scope, id):
            words.change(self.db, scope, row, terms, "")
            self._do("drop_coming", row)
            self._do("drop_memory", scope, row)
            self.note_change(scope, row)
        self.drop_learned(scope, id)
        self._do("blank_answers", scope, digest(f"memory {id}"))

    def note_change(self, scope: int, row: int) -> None:
        """Tells every cache of the scope, in every process, to look at a row again."""
        seq = self._do("add_change", scope, row).lastrowid or 0
        if seq % 1024 == 0:
            self._do("drop_changes", seq - CHANGES_KEPT)

    def forget_all(self, place: Place) -> int:
        """Removes the place, its state, and what kept answers tell of it; gives the state keys."""
        scope = self.scope(place)
        keys = self._all("all_entries", scope)
        for key, version in keys:
            self.drop_key(scope, key, version)
        self._do("blank_all_answers", scope)
        self.drop_all_learned(scope)
        self._do("drop_scope", scope)
        self._scopes.pop(place, None)
        self._policies.pop(place, None)
        return len(keys)

    def matching(self, place: Place, where: Filter) -> list[str]:
        """The ids of all memories, past and expired ones too, of which a version matches."""
        sql, values = search.condition(where)
        rows = self.db.execute(
            f"SELECT DISTINCT id FROM memories WHERE scope = ? AND {sql} ORDER BY id",
            (self.scope(place), *values),
        )
        return [row[0] for row in rows]

    def put_entry(self, place: Place, entry: Entry) -> None:
        """Writes an entry."""
        times = stamp(entry.updated_at), maybe_stamp(entry.expires_at)
        scope = self._make_scope(place)
        self._do("put_entry", scope, entry.key, compact(entry.value), entry.version, *times)

    def drop_entry(self, place: Place, entry: Entry) -> None:
        """Removes an entry, and its value from kept answers."""
        self.drop_key(self.scope(place), entry.key, entry.version)

    def drop_key(self, scope: int, key: str, version: int) -> None:
        """Removes a key of a scope, given by number, and its value from kept answers."""
        self._do("drop_entry", scope, key)
        self._do("retire", _digest_of(*self._all("name_scope", scope)[0]), version)
        self._do("blank_answers", scope, digest(f"state {key}"))

    def next_version(self, place: Place) -> int:
        """The version of a new key: higher than that of any key deleted before."""
        return self._count("retired", _digest_of(place.tenant, place.scope)) + 1

    def keep_answer(
        self, place: Place, key: str, kept: Kept, about: str | None, now: datetime
    ) -> None:
        """Keeps the answer to an idempotency key."""
        told = None if about is None else digest(about)
        values = (kept.digest, self.scope(place), told, kept.answer, stamp(now))
        self._do("keep_answer", _answer_key(place, key), *values)


def _answer_key(place: Place, key: str) -> bytes:
    """The key goes in as a digest: it may name somebody, and outlives what it wrote."""
    return _digest_of(place.tenant, place.scope, key)


def _digest_of(*names: str) -> bytes:
    return digest(compact(names))
