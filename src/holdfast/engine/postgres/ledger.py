"""The ledger of a PostgreSQL store."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

from holdfast.engine import Place, Transaction, columns
from holdfast.engine.columns import (
    after_all,
    compact,
    maybe_stamp,
    stamp,
)
from holdfast.engine.ledger import Along, ApiKey, Job, Noted
from holdfast.engine.postgres.connections import EVERY, Session
from holdfast.engine.postgres.rows import Rows
from holdfast.errors import Conflict

T = TypeVar("T")
DAYS_KEPT = 7  # of counted writes
LANES = 16  # in which the writes of a tenant are counted


class PostgresLedger:
    """The books of a server, in the database of its memories."""

    def __init__(
        self,
        read: Callable[[Callable[[Rows], Any]], Any],
        write: Callable[[Callable[[Rows], Any]], Any],
    ) -> None:
        self._reading = read
        self._writing = write

    def _read(self, tenant: str, work: Callable[[Session], T]) -> T:
        return cast(T, self._reading(lambda rows: work(_seen_by(rows, tenant))))

    def _write(self, tenant: str, work: Callable[[Session], T]) -> T:
        return cast(T, self._writing(lambda rows: work(_seen_by(rows, tenant))))

    # --- keys ---

    def key(self, id: str) -> ApiKey | None:
        """The API key with this public part, revoked or not."""
        row = self._read(EVERY, lambda db: db.one("api_key", id))
        return None if row is None else columns.api_key(row)

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        """The API keys of a tenant, or of all, in the order of their names."""
        if tenant is None:
            rows = self._read(EVERY, lambda db: db.all("all_api_keys"))
        else:
            rows = self._read(tenant, lambda db: db.all("api_keys", tenant))
        return [columns.api_key(row) for row in rows]

    def any_key(self) -> bool:
        """Whether a key was ever made here."""
        row = self._read(EVERY, lambda db: db.one("any_api_key"))
        return bool(row and row[0])

    def put_key(self, key: ApiKey) -> None:
        """Writes a key; `Conflict` if its name is taken."""
        names = (key.id, key.tenant, key.name, key.digest, " ".join(key.rights), key.prefix)
        times = (key.expires_at, key.revoked_at, key.last_used_at)

        def work(db: Session) -> None:
            if db.one("same_name", key.tenant, key.name, key.id):
                raise Conflict(f"There is a key {key.name!r} already.", "Rotate or revoke it.")
            db.do("put_api_key", *names, key.role, stamp(key.created_at), *map(maybe_stamp, times))

        self._write(key.tenant, work)

    def used(self, times: Mapping[str, datetime]) -> None:
        """Writes when keys were last used."""
        ids, last = sorted(times), [stamp(times[id]) for id in sorted(times)]
        self._write(EVERY, lambda db: db.do("use_api_keys", ids, last))

    # --- the audit log ---

    def note(self, lines: Sequence[Noted], tx: Transaction | None = None) -> None:
        """Writes lines of the audit log, along with a transaction or by themselves."""
        if tx is not None:
            _note(cast(Rows, tx).db, lines)
        elif lines:
            self._write(lines[0].tenant, lambda db: _note(db, lines))

    def noted(self, tenant: str, before: int, limit: int) -> list[tuple[int, Noted]]:
        """Lines of a tenant, newest first, each with its number; only those under `before`."""
        rows = self._read(tenant, lambda db: db.all("notes", tenant, before, limit))
        return [(row["seq"], columns.noted(row)) for row in rows]

    def prune(self, tenant: str | None, before: datetime) -> int:
        """Removes lines older than a moment, of a tenant or of all; gives how many."""
        at = stamp(before)
        if tenant is None:
            return self._write(EVERY, lambda db: _removed(db, "prune_all_notes", at))
        return self._write(tenant, lambda db: _removed(db, "prune_notes", tenant, at))

    def count_write(self, tenant: str, day: int, tx: Transaction) -> int:
        """Counts a write of a tenant along with it; gives how many there are on that day."""
        db = _seen_by(cast(Rows, tx), tenant)
        db.do("count_write", tenant, day, secrets.randbelow(LANES))
        row = db.one("writes_of_day", tenant, day)
        count = int(row[0]) if row else 0
        if count == 1:
            db.do("drop_days", tenant, day - DAYS_KEPT)
        return count

    # --- jobs ---

    def add_job(self, job: Job, along: Along | None = None) -> None:
        """Accepts a job, and what is written along: it is on disk when this returns."""
        times = stamp(job.created_at), stamp(job.updated_at)
        values = (job.id, job.place.tenant, job.place.scope, compact(job.task), job.status, None)

        def work(rows: Rows) -> None:
            db = _seen_by(rows, job.place.tenant)
            db.do("put_errand", *values, *times)
            db.do("ring")
            if along is not None:
                along(rows)

        self._writing(work)

    def job(self, tenant: str, id: str) -> Job | None:
        """A job of a tenant."""
        row = self._read(tenant, lambda db: db.one("errand", tenant, id))
        return None if row is None else columns.job(row)

    def open_jobs(self, untouched_since: datetime, limit: int) -> list[Job]:
        """Jobs that are to be done and that nobody has taken since, oldest first."""
        values = stamp(untouched_since), limit
        return [
            columns.job(row)
            for row in self._read(EVERY, lambda db: db.all("open_errands", *values))
        ]

    def take_job(self, job: Job, now: datetime) -> bool:
        """Takes a job, unless somebody else took it meanwhile."""
        tenant = job.place.tenant
        values = stamp(now), tenant, job.id, stamp(job.updated_at)
        return self._write(tenant, lambda db: db.one("take_errand", *values)) is not None

    def end_job(self, job: Job) -> None:
        """Writes what became of a job."""
        where = job.place.tenant, job.id
        values = job.status, compact(job.result), stamp(job.updated_at), *where
        self._write(job.place.tenant, lambda db: db.do("end_errand", *values))

    def drop_jobs(self, place: Place, tx: Transaction) -> None:
        """Removes every job of a place along with a transaction."""
        _seen_by(cast(Rows, tx), place.tenant).do("drop_errands", place.tenant, place.scope)

    # --- counts ---

    def scopes(self, tenant: str, prefix: str, after: str, limit: int) -> list[str]:
        """The names of a tenant's scopes that begin with a prefix, in order."""
        values = tenant, after, prefix, after_all(prefix), limit
        return [row[0] for row in self._read(tenant, lambda db: db.all("scope_names", *values))]

    def sessions(self, place: Place, now: datetime) -> list[tuple[str, int]]:
        """The sessions of a place with how many memories each has, in order."""
        rows = self._reading(
            lambda seen: seen.db.all("count_by_session", *seen.scope(place), stamp(now))
        )
        return [(session, count) for session, count in rows]

    def held(self, tenant: str) -> tuple[int, int]:
        """How many memories a tenant has, past versions too, and their bytes."""
        row = self._read(tenant, lambda db: db.one("tenant_holds", tenant))
        return (row[0], row[1]) if row else (0, 0)

    def totals(self) -> tuple[int, int]:
        """How many memories the store has, and how many jobs wait."""
        names = ("count_memories", "count_open_errands")
        found = self._read(EVERY, lambda db: [db.one(name) for name in names])
        memories, jobs = (int(row[0]) if row else 0 for row in found)
        return memories, jobs


def _seen_by(rows: Rows, tenant: str) -> Session:
    rows.db.enter(tenant)
    return rows.db


def _note(db: Session, lines: Sequence[Noted]) -> None:
    for it in lines:
        db.enter(it.tenant)
        told = (it.tenant, stamp(it.at), it.key, it.act, it.scope, it.subject, it.request)
        db.do("add_note", *told)


def _removed(db: Session, name: str, *values: Any) -> int:
    """How many rows a statement removed."""
    return db.do(name, *values).rowcount
