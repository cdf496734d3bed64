"""The ledger of a SQLite store."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar, cast

from holdfast.engine import Place, Transaction, columns
from holdfast.engine.columns import compact, maybe_stamp, stamp
from holdfast.engine.ledger import Along, ApiKey, Job, Noted
from holdfast.engine.sqlite.rows import SQL, Rows
from holdfast.errors import Conflict

if TYPE_CHECKING:
    from holdfast.engine.sqlite import SQLite

T = TypeVar("T")
DAYS_KEPT = 7  # of counted writes


class SQLiteLedger:
    """The books of a server, in the file of its memories."""

    def __init__(self, engine: SQLite) -> None:
        self._engine = engine

    def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._engine.read(lambda seen: work(cast(Rows, seen).db))

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        return self._engine.write(lambda tx: work(_db(tx)))

    # --- keys ---

    def key(self, id: str) -> ApiKey | None:
        """The API key with this public part, revoked or not."""
        row = self._read(lambda db: db.execute(SQL["api_key"], (id,)).fetchone())
        return None if row is None else columns.api_key(row)

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        """The API keys of a tenant, or of all, in the order of their names."""
        which = ("all_api_keys", ()) if tenant is None else ("api_keys", (tenant,))
        rows = self._read(lambda db: db.execute(SQL[which[0]], which[1]).fetchall())
        return [columns.api_key(row) for row in rows]

    def any_key(self) -> bool:
        """Whether a key was ever made here."""
        return bool(self._read(lambda db: db.execute(SQL["any_api_key"]).fetchone()[0]))

    def put_key(self, key: ApiKey) -> None:
        """Writes a key; `Conflict` if its name is taken."""

        def work(db: sqlite3.Connection) -> None:
            if db.execute(SQL["same_name"], (key.tenant, key.name, key.id)).fetchone():
                raise Conflict(f"There is a key {key.name!r} already.", "Rotate or revoke it.")
            times = (key.expires_at, key.revoked_at, key.last_used_at)
            db.execute(
                SQL["put_api_key"],
                (
                    *(key.id, key.tenant, key.name, key.digest, " ".join(key.rights), key.prefix),
                    *(key.role, stamp(key.created_at)),
                    *map(maybe_stamp, times),
                ),
            )

        self._write(work)

    def used(self, times: Mapping[str, datetime]) -> None:
        """Writes when keys were last used."""
        values = [(stamp(at), id) for id, at in times.items()]
        self._write(lambda db: db.executemany(SQL["use_api_key"], values))

    # --- the audit log ---

    def note(self, lines: Sequence[Noted], tx: Transaction | None = None) -> None:
        """Writes lines of the audit log, along with a transaction or by themselves."""
        values = [
            (it.tenant, stamp(it.at), it.key, it.act, it.scope, it.subject, it.request)
            for it in lines
        ]
        if tx is not None:
            _db(tx).executemany(SQL["add_note"], values)
        elif values:
            self._write(lambda db: db.executemany(SQL["add_note"], values))

    def noted(self, tenant: str, before: int, limit: int) -> list[tuple[int, Noted]]:
        """Lines of a tenant, newest first, each with its number; only those under `before`."""
        rows = self._read(lambda db: db.execute(SQL["notes"], (tenant, before, limit)).fetchall())
        return [(row["seq"], columns.noted(row)) for row in rows]

    def prune(self, tenant: str | None, before: datetime) -> int:
        """Removes lines older than a moment, of a tenant or of all; gives how many."""
        at = stamp(before)
        which = ("prune_all_notes", (at,)) if tenant is None else ("prune_notes", (tenant, at))
        return self._write(lambda db: db.execute(SQL[which[0]], which[1]).rowcount)

    def count_write(self, tenant: str, day: int, tx: Transaction) -> int:
        """Counts a write of a tenant along with it; gives how many there are on that day."""
        count = int(_db(tx).execute(SQL["count_write"], (tenant, day)).fetchone()[0])
        if count == 1:
            _db(tx).execute(SQL["drop_days"], (tenant, day - DAYS_KEPT))
        return count

    # --- jobs ---

    def add_job(self, job: Job, along: Along | None = None) -> None:
        """Accepts a job, and what is written along: it is on disk when this returns."""
        times = stamp(job.created_at), stamp(job.updated_at)
        values = (job.id, job.place.tenant, job.place.scope, compact(job.task), job.status, None)

        def work(tx: Transaction) -> None:
            _db(tx).execute(SQL["put_errand"], (*values, *times))
            if along is not None:
                along(tx)

        self._engine.write(work)

    def job(self, tenant: str, id: str) -> Job | None:
        """A job of a tenant."""
        row = self._read(lambda db: db.execute(SQL["errand"], (tenant, id)).fetchone())
        return None if row is None else columns.job(row)

    def open_jobs(self, untouched_since: datetime, limit: int) -> list[Job]:
        """Jobs that are to be done and that nobody has taken since, oldest first."""
        values = stamp(untouched_since), limit
        return [
            columns.job(row)
            for row in self._read(lambda db: db.execute(SQL["open_errands"], values).fetchall())
        ]

    def take_job(self, job: Job, now: datetime) -> bool:
        """Takes a job, unless somebody else took it meanwhile."""
        values = stamp(now), job.place.tenant, job.id, stamp(job.updated_at)
        return self._write(lambda db: db.execute(SQL["take_errand"], values).rowcount) == 1

    def end_job(self, job: Job) -> None:
        """Writes what became of a job."""
        where = job.place.tenant, job.id
        values = job.status, compact(job.result), stamp(job.updated_at), *where
        self._write(lambda db: db.execute(SQL["end_errand"], values))

    def drop_jobs(self, place: Place, tx: Transaction) -> None:
        """Removes every job of a place along with a transaction."""
        _db(tx).execute(SQL["drop_errands"], (place.tenant, place.scope))

    # --- counts ---

    def scopes(self, tenant: str, prefix: str, after: str, limit: int) -> list[str]:
        """The names of a tenant's scopes that begin with a prefix, in order."""
        values = tenant, after, len(prefix), prefix, limit
        rows = self._read(lambda db: db.execute(SQL["scope_names"], values).fetchall())
        return [row[0] for row in rows]

    def sessions(self, place: Place, now: datetime) -> list[tuple[str, int]]:
        """The sessions of a place with how many memories each has, in order."""
        rows = self._engine.read(
            lambda seen: (
                cast(Rows, seen)
                .db.execute(SQL["count_by_session"], (cast(Rows, seen).scope(place), stamp(now)))
                .fetchall()
            )
        )
        return [(session, count) for session, count in rows]

    def held(self, tenant: str) -> tuple[int, int]:
        """How many memories a tenant has, past versions too, and their bytes and its state's."""
        named = {"tenant": tenant}
        count, size = self._read(lambda db: db.execute(SQL["tenant_holds"], named).fetchone())
        return count, size

    def totals(self) -> tuple[int, int]:
        """How many memories the store has, and how many jobs wait."""
        return self._read(
            lambda db: (
                db.execute(SQL["count_memories"]).fetchone()[0],
                db.execute(SQL["count_open_work"]).fetchone()[0],
            )
        )


def _db(tx: Transaction) -> sqlite3.Connection:
    return cast(Rows, tx).db
