"""The connections to a PostgreSQL: a pool, transactions, errors in our words.

Statements of a transaction go out in a pipeline: only those whose answer is read wait for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import psycopg
from psycopg import errors as said
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

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
NO_ROW: dict[str, int] = {}

# What is over when it is tried again at once: others were in the way.
IN_THE_WAY = (said.SerializationFailure, said.DeadlockDetected, said.UniqueViolation)
# What is over when the server is back. A pool that cannot connect times out.
AWAY = (said.AdminShutdown, said.CrashShutdown, said.CannotConnectNow, said.ConnectionException)

# Pools of a parent process: a forked child must not touch them, not even to close them.
_abandoned: list[Any] = []


class Row(tuple[Any, ...]):
    """A row whose values have names, too."""

    at = NO_ROW
    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return tuple.__getitem__(self, self.at[key] if isinstance(key, str) else key)


@lru_cache(maxsize=256)
def _named(names: tuple[str, ...]) -> type[Row]:
    return type("Row", (Row,), {"at": {name: i for i, name in enumerate(names)}, "__slots__": ()})


def _rows(cursor: psycopg.Cursor[Any]) -> Any:
    """How psycopg makes a row."""
    return _named(tuple(column.name for column in cursor.description or ()))


class Session:
    """One transaction: named statements, and the tenant whose rows they see."""

    def __init__(self, db: psycopg.Connection[Row]) -> None:
        self.db = db
        self._tenant: str | None = None

    def enter(self, tenant: str) -> None:
        """Lets the statements that follow see the rows of a tenant, and no others."""
        if tenant != self._tenant:
            self.do("set_tenant", tenant)
            self._tenant = tenant

    def run(self, sql: str, values: Any = ()) -> psycopg.Cursor[Row]:
        """Sends a statement."""
        return self.db.execute(sql, values, binary=True)

    def do(self, name: str, *values: Any) -> psycopg.Cursor[Row]:
        """Sends a statement by its name."""
        return self.db.execute(SQL[name], values, binary=True)

    def one(self, name: str, *values: Any) -> Row | None:
        """The first row of an answer."""
        return self.do(name, *values).fetchone()

    def all(self, name: str, *values: Any) -> list[Row]:
        """All rows of an answer."""
        return self.do(name, *values).fetchall()


class Connections:
    """The pool of one store."""

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
        with errors(self.where):
            self._connect().close()  # a wrong password or name is said at once, not by a timeout
        self._pool = self._make()

    def _connect(self, **how: Any) -> psycopg.Connection[Any]:
        return psycopg.connect(self._url, connect_timeout=CONNECT_SECONDS, **how)

    def _make(self) -> ConnectionPool[psycopg.Connection[Row]]:
        how: dict[str, Any] = {
            "autocommit": True,  # transactions begin with statements of ours
            "cursor_factory": psycopg.RawCursor,
            "row_factory": _rows,
            "connect_timeout": CONNECT_SECONDS,
            "application_name": "holdfast",
        }
        # The smallest is 1: a pool keeps what it opened, and opens more when they are needed.
        return ConnectionPool(
            self._url, kwargs=how, min_size=1, max_size=self._size, timeout=POOL_SECONDS, open=True
        )

    def abandon(self) -> None:
        """Starts anew in a forked child."""
        _abandoned.append(self._pool)
        if not self.closed:
            self._pool = self._make()

    @contextmanager
    def session(self, begin: str) -> Iterator[Session]:
        """A transaction that is committed when this ends well, and rolled back when not."""
        if self.closed:
            raise Closed("This Memory was closed.", "Open a new one.")
        with self._pool.connection() as db:
            try:
                with db.pipeline():
                    session = Session(db)
                    session.do(begin)
                    yield session
                    db.execute("COMMIT", prepare=False)
            except BaseException:
                if not db.broken:
                    db.rollback()
                raise

    @contextmanager
    def alone(self) -> Iterator[psycopg.Connection[Any]]:
        """A connection outside of the pool and of any transaction."""
        with errors(self.where):
            db = self._connect(autocommit=True)
            try:
                yield db
            finally:
                db.close()

    def close(self) -> None:
        """Closes every connection."""
        if not self.closed:
            self.closed = True
            self._pool.close()


def is_away(error: BaseException) -> bool:
    """True if it was the connection that failed, or the server that stopped."""
    if isinstance(error, AWAY):
        return True
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and (
        error.sqlstate is None and not isinstance(error, PoolTimeout | PoolClosed)
    )


@contextmanager
def errors(where: str) -> Iterator[None]:
    """Turns what PostgreSQL says into our errors; its own words may hold values, and stay here."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed) as error:
        raise translated(error, where) from error


def translated(error: Exception, where: str) -> HoldfastError:
    """What PostgreSQL said, as one of our errors."""
    if isinstance(error, PoolClosed):
        return Closed("This Memory was closed.", "Open a new one.")
    if isinstance(error, PoolTimeout):
        return Busy(f"No connection to {where} was free for too long.", "Try again.")
    code = getattr(error, "sqlstate", None) or ""
    kind = type(error).__name__
    if isinstance(error, said.DiskFull):
        return StoreFull(f"No room left on the disk of {where}.", "Free some, then try again.")
    if isinstance(error, (*IN_THE_WAY, said.LockNotAvailable, said.TooManyConnections)):
        return Busy(f"Others were in the way at {where} for too long ({kind}).", "Try again.")
    if isinstance(error, said.ProgramLimitExceeded):
        return TooLarge(f"A name is too long for an index of {where}.", "Use a shorter one.")
    if isinstance(error, said.ReadOnlySqlTransaction):
        return StoreReadOnly(f"{where} only reads: it is a replica.", "Write to the primary.")
    if isinstance(error, said.InsufficientPrivilege):
        return StoreReadOnly(f"The role may not do this at {where}.", "See docs/postgres.md.")
    if code[:2] == "28" or "authentication failed" in str(error) or "no password" in str(error):
        return Invalid(f"{where} does not let this role in.", "Check the user and the password.")
    if code == "3D000" or ("database" in str(error) and "does not exist" in str(error)):
        return Invalid(f"There is no {where}.", "Create the database first.")
    if is_away(error) or code[:2] in ("53", "58", "57"):
        return Unavailable(f"{where} cannot be reached ({kind}).", "Try again when it is back.")
    return StoreBroken(f"{where} refused a statement ({kind} {code}).", "Run `holdfast doctor`.")
