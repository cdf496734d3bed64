"""What a server keeps beside memories: API keys, the audit log, jobs, and counts by tenant.

A port like `Engine`, and part of every engine: what is noted along with a write is in that
write's transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from holdfast.engine import Place, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """An API key as it is stored: everything but the secret, of which there is a digest."""

    id: str
    tenant: str
    name: str
    digest: bytes
    rights: tuple[str, ...]
    prefix: str
    role: str = "user"  # the class of writers that it speaks for
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """One line of the audit log: who did what to which thing, and when; never the content."""

    tenant: str
    at: datetime
    act: str
    key: str | None = None
    scope: str | None = None
    subject: str | None = None
    request: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Work that was accepted and is done later; `task` is empty once it is done."""

    id: str
    place: Place
    status: str
    created_at: datetime
    updated_at: datetime
    task: Mapping[str, Any] | None = None
    result: Mapping[str, Any] | None = None


Along = Callable[[Transaction], None]


class Ledger(Protocol):
    """The books of a server, in the same store as the memories."""

    def key(self, id: str) -> ApiKey | None:
        """The API key with this public part, revoked or not."""

    def keys(self, tenant: str | None = None) -> list[ApiKey]:
        """The API keys of a tenant, or of all, in the order of their names."""

    def any_key(self) -> bool:
        """Whether a key was ever made here."""

    def put_key(self, key: ApiKey) -> None:
        """Writes a key; `Conflict` if its name is taken."""

    def used(self, times: Mapping[str, datetime]) -> None:
        """Writes when keys were last used."""

    def note(self, lines: Sequence[Noted], tx: Transaction | None = None) -> None:
        """Writes lines of the audit log, along with a transaction or by themselves."""

    def noted(self, tenant: str, before: int, limit: int) -> list[tuple[int, Noted]]:
        """Lines of a tenant, newest first, each with its number; only those under `before`."""

    def prune(self, tenant: str | None, before: datetime) -> int:
        """Removes lines older than a moment, of a tenant or of all; gives how many."""

    def count_write(self, tenant: str, day: int, tx: Transaction) -> int:
        """Counts a write of a tenant along with it; gives how many there are on that day."""

    def add_job(self, job: Job, along: Along | None = None) -> None:
        """Accepts a job, and what is written along: it is on disk when this returns."""

    def job(self, tenant: str, id: str) -> Job | None:
        """A job of a tenant."""

    def open_jobs(self, untouched_since: datetime, limit: int) -> list[Job]:
        """Jobs that are to be done and that nobody has taken since, oldest first."""

    def take_job(self, job: Job, now: datetime) -> bool:
        """Takes a job, unless somebody else took it meanwhile."""

    def end_job(self, job: Job) -> None:
        """Writes what became of a job."""

    def drop_jobs(self, place: Place, tx: Transaction) -> None:
        """Removes every job of a place along with a transaction."""

    def scopes(self, tenant: str, prefix: str, after: str, limit: int) -> list[str]:
        """The names of a tenant's scopes that begin with a prefix, in order."""

    def sessions(self, place: Place, now: datetime) -> list[tuple[str, int]]:
        """The sessions of a place with how many memories each has, in order."""

    def held(self, tenant: str) -> tuple[int, int]:
        """How many memories a tenant has, past versions too, and their bytes and its state's."""

    def totals(self) -> tuple[int, int]:
        """How many memories the store has, and how many jobs wait, of the queue's too."""
