"""The connections to a PostgreSQL: a pool, transactions, errors in our words."""

from __future__ import annotations

import re
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors as said
from psycopg.conninfo import conninfo_to_dict

from holdfast.engine.postgres.pipeline import Answer, Pipeline, Row
from holdfast.engine.postgres.statements import statements
from holdfast.errors import (
    Busy,
    Closed,
    HoldfastError,
    Invalid,
    StoreBroken,
    StoreFull,
    StoreReadOnly,
    TooLarge,
    Unavailable,
)

SQL = statements()
POOL = 16  # connections of one process, at most
POOL_SECONDS = 30.0  # how long to wait for one
CONNECT_SECONDS = 10
EVERY = " *"  # in the place of a tenant: all of them. No tenant's name begins with a blank

# What is over when it is tried again at once: others were in the way.
IN_THE_WAY = (said.SerializationFailure, said.DeadlockDetected, said.UniqueViolation)
# What is over when the server is back; and whatever is about the connection, as poolers say it.
AWAY = (said.AdminShutdown, said.CrashShutdown, said.CannotConnectNow)
CONNECTION = "08"

# Connections of a parent process: a forked child must not touch them, not even to close them.
_abandoned: list[Any] = []


class Session:
    """One transaction: named statements, and the tenant whose rows they see."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._tenant: str | None = None

    def enter(self, tenant: str) -> None:
        """Lets the statements that follow see the rows of a tenant, and no others."""
        if tenant != self._tenant:
            self.do("set_tenant", tenant)
            self._tenant = tenant

    def run(self, sql: str, values: Any = ()) -> Answer:
        """Sends a statement."""
        return self._pipeline.send(sql, values)

    def do(self, name: str, *values: Any) -> Answer:
        """Sends a statement by its name."""
        return self._pipeline.send(SQL[name], values)

    def go(self) -> None:
        """Lets the server answer while something else is done."""
        self._pipeline.go()

    def one(self, name: str, *values: Any) -> Row | None:
        """The first row of an answer."""
        return self.do(name, *values).fetchone()

    def all(self, name: str, *values: Any) -> list[Row]:
        """All rows of an answer."""
        return self.do(name, *values).fetchall()


class Connections:
    """The pool of one store.

    Whoever finds none idle connects in its own thread: so a server that is away is known at once,
    and one that is back is used at once.
    """

    def __init__(self, url: str, size: int = POOL) -> None:
        self._url = url
        self._size = size
        try:
            parts = conninfo_to_dict(url)
        except psycopg.ProgrammingError:
            raise Invalid(
                "This is not a URL of a PostgreSQL.", "Write postgresql://user@host/database."
            ) from None
        self.where = f"PostgreSQL {parts.get('dbname') or parts.get('user') or 'database'}"
        self.closed = False
        self._begin()

    def _begin(self) -> None:
        self._free = threading.Semaphore(self._size)
        self._idle: deque[Pipeline] = deque()

    def _connect(self, **how: Any) -> psycopg.Connection[Any]:
        # Transactions begin with statements of ours, so nothing else may begin one.
        told = {"connect_timeout": CONNECT_SECONDS, "application_name": "holdfast", **how}
        return psycopg.connect(self._url, autocommit=True, **told)

    @contextmanager
    def _borrowed(self) -> Iterator[Pipeline]:
        if self.closed:
            raise Closed("This Memory was closed.", "Open a new one.")
        if not self._free.acquire(timeout=POOL_SECONDS):
            raise Busy(f"No connection to {self.where} was free for too long.", "Try again.")
        try:
            pipeline = self._taken()
            try:
                yield pipeline
            finally:
                self._give_back(pipeline)
        finally:
            self._free.release()

    def _taken(self) -> Pipeline:
        try:
            return self._idle.pop()
        except IndexError:
            return Pipeline(self._connect())

    def _give_back(self, pipeline: Pipeline) -> None:
        if pipeline.usable and not self.closed:
            self._idle.append(pipeline)
        else:
            pipeline.close()

    def drop_idle(self) -> None:
        """Closes the connections that nobody uses: the server they led to may be gone."""
        while self._idle:
            with suppress(IndexError):
                self._idle.pop().close()

    def abandon(self) -> None:
        """Starts anew in a forked child."""
        _abandoned.append(self._idle)
        self._begin()

    @contextmanager
    def session(self, begin: str) -> Iterator[Session]:
        """A transaction that is committed when this ends well, and rolled back when not."""
        with self._borrowed() as pipeline:
            try:
                pipeline.begin(SQL[begin])
                yield Session(pipeline)
                pipeline.commit(wait=begin != "begin_read")
            except Exception:
                with suppress(psycopg.Error):  # then it is not used again
                    pipeline.roll_back()
                raise

    @contextmanager
    def alone(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection outside of the pool and of any transaction."""
        db = self._connect()
        try:
            yield db
        finally:
            db.close()

    def close(self) -> None:
        """Closes every connection."""
        self.closed = True
        self.drop_idle()


def is_away(error: BaseException) -> bool:
    """True if it was the connection that failed, or the server that stopped."""
    code = getattr(error, "sqlstate", None)
    if isinstance(error, AWAY) or (code or "").startswith(CONNECTION):
        return True
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return lost and code is None and not _is_refusal(error)


def _is_refusal(error: BaseException) -> bool:
    """True if the server is there, and will not have us; libpq gives such errors no code."""
    said = str(error)
    refused = ("authentication failed", "no password", "does not exist", "no pg_hba.conf entry")
    return any(words in said for words in refused)


@contextmanager
def errors(where: str) -> Iterator[None]:
    """Turns what PostgreSQL says into our errors; its own words may hold values, and stay here."""
    try:
        yield
    except psycopg.Error as error:
        raise translated(error, where) from error


def translated(error: psycopg.Error, where: str) -> HoldfastError:
    """What PostgreSQL said, as one of our errors."""
    code = getattr(error, "sqlstate", None) or ""
    kind = type(error).__name__
    if isinstance(error, said.DiskFull):
        return StoreFull(f"No room left on the disk of {where}.", "Free some, then try again.")
    if isinstance(error, said.QueryCanceled):
        return Busy(f"A statement took too long for {where}.", "Try again, or let it take longer.")
    if isinstance(error, (*IN_THE_WAY, said.LockNotAvailable, said.TooManyConnections)):
        return Busy(f"Others were in the way at {where} for too long ({kind}).", "Try again.")
    if isinstance(error, said.ProgramLimitExceeded):
        return TooLarge(f"A name is too long for an index of {where}.", "Use a shorter one.")
    if isinstance(error, said.ReadOnlySqlTransaction):
        return StoreReadOnly(f"{where} only reads: it is a replica.", "Write to the primary.")
    if isinstance(error, said.InsufficientPrivilege):
        return StoreReadOnly(f"The role may not do this at {where}.", "See docs/postgres.md.")
    if code == "3D000" or re.search('database ".*" does not exist', str(error)):
        return Invalid(f"There is no {where}.", "Create the database first.")
    if code[:2] == "28" or (not code and _is_refusal(error)):
        return Invalid(f"{where} does not let this role in.", "Check the user and the password.")
    if is_away(error) or code[:2] in ("53", "58", "57"):
        return Unavailable(f"{where} cannot be reached ({kind}).", "Try again when it is back.")
    return StoreBroken(f"{where} refused a statement ({kind} {code}).", "Run `holdfast doctor`.")
