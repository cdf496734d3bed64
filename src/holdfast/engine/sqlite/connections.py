"""The connections to a store's file: one writer, a pool of readers, errors in our words."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.engine.sqlite.statements import migrations
from holdfast.errors import (
    Busy,
    Closed,
    HoldfastError,
    StoreBroken,
    StoreFull,
    StoreReadOnly,
    StoreTooNew,
    Unavailable,
)

APPLICATION = 0x486F6C64  # "Hold": marks a file as ours
BUSY_SECONDS = 30.0
OLDEST_SQLITE = (3, 37, 0)  # the first with STRICT tables

FORK_SECONDS = 5.0  # how long a fork waits for reads and writes under way to end

# Connections of a parent process that could not be closed before a fork: a child must not touch
# them, not even to close them.
_abandoned: list[Any] = []


class Connections:
    """The writer and the readers of one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._reading = 0
        self._paused = False
        self._lock = threading.Condition()
        self._writer: sqlite3.Connection | None = None
        self._patience = BUSY_SECONDS
        self.closed = False
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreBroken(f"SQLite {sqlite3.sqlite_version} is too old.", "Use 3.37 or newer.")
        with errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = _connect(path)
            _prepare(self._writer, path)

    def pause(self) -> None:
        """Closes everything before a fork, so that the child inherits nothing of SQLite's state."""
        with self._lock:
            self._paused = True
            if self._lock.wait_for(lambda: not self._reading, FORK_SECONDS):
                self._close_idle()

    def resume(self) -> None:
        """Goes on after a fork."""
        with self._lock:
            self._paused = False
            self._lock.notify_all()

    def abandon(self) -> None:
        """Starts anew in a forked child."""
        _abandoned.append((self._writer, self._idle))
        self._writer, self._idle = None, []
        self._reading, self._paused = 0, False
        self._lock = threading.Condition()

    def reader(self, alone: bool = False) -> Reading:
        """A connection inside a read transaction, used by one thread at a time.

        A statement that is alone is a transaction by itself.
        """
        return Reading(self, self._path, alone)

    def borrow(self) -> sqlite3.Connection:
        """A connection of the pool, for one thread."""
        with self._lock:
            if self._paused:
                self._lock.wait_for(lambda: not self._paused)
            self._must_be_open()
            db = self._idle.pop() if self._idle else _connect(self._path)
            self._reading += 1
            return db

    def give_back(self, db: sqlite3.Connection) -> None:
        """Takes a connection back into the pool."""
        with self._lock:
            self._reading -= 1
            if self._paused:
                self._lock.notify_all()
            if not self.closed:
                self._idle.append(db)
                return
        db.close()

    @contextmanager
    def writer(self, patience: float) -> Iterator[sqlite3.Connection]:
        """The writing connection inside a transaction that is on disk when this ends.

        `patience` is how many seconds to wait for other processes' writes.
        """
        with errors(self._path), self._writing() as db:
            if patience != self._patience:
                db.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
                self._patience = patience
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                db.rollback()
                raise

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """The writing connection, taken out: SQLite crashes when one in use is closed."""
        with self._lock:
            self._must_be_open()
            db, self._writer = self._writer, None
        if db is None:
            db, self._patience = _connect(self._path), BUSY_SECONDS
        try:
            yield db
        finally:
            with self._lock:
                if self.closed:
                    db.close()
                else:
                    self._writer = db

    def _must_be_open(self) -> None:
        if self.closed:
            raise Closed("This Memory was closed.", "Open a new one.")

    def compact(self) -> None:
        """Rewrites the file with nothing in it but what is stored, and empties its log."""
        with errors(self._path), self._writing() as db:
            db.execute("INSERT INTO words (words) VALUES ('optimize')")
            db.execute("VACUUM")
            busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            if busy:
                raise Busy(
                    "The log could not be emptied, because another process reads the store.",
                    "What is stored is safe; purge again when it is done.",
                )

    def close(self) -> None:
        """Closes every connection that is not in use; those in use close when given back."""
        with self._lock:
            self.closed = True
            self._close_idle()

    def _close_idle(self) -> None:
        for db in [*self._idle, self._writer]:
            if db is not None:
                db.close()
        self._writer, self._idle = None, []


class Reading:
    """A connection that is borrowed for a while; a class, as `errors` is, and for its reason."""

    __slots__ = ("_alone", "_connections", "_db", "_path")

    def __init__(self, connections: Connections, path: Path, alone: bool) -> None:
        self._connections, self._path, self._alone = connections, path, alone

    def __enter__(self) -> sqlite3.Connection:
        with errors(self._path):
            self._db = self._connections.borrow()
        if not self._alone:
            self._db.execute("BEGIN")  # which touches no file, and so cannot fail
        return self._db

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if not self._alone:
                self._db.rollback()
        except sqlite3.Error as failed:
            error = error or failed
        self._connections.give_back(self._db)
        ours = None if error is None else _ours(error, self._path)
        if ours is not None:
            raise ours from error


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA synchronous = FULL")
    # What is deleted inside a page is zeroed at once; whole freed pages go with the next purge.
    db.execute("PRAGMA secure_delete = FAST")
    db.execute("PRAGMA cache_size = -16384")
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Makes a new file a store, brings an older one up to date, refuses any other untouched."""
    give_up = time.monotonic() + BUSY_SECONDS
    while _version(db, path) != migrations()[-1][0]:
        try:
            _upgrade(db, path)
        except sqlite3.OperationalError as error:
            # Where several make one file at once, SQLite does not wait by itself.
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


def _upgrade(db: sqlite3.Connection, path: Path) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("BEGIN IMMEDIATE")
    try:
        _migrate(db, _version(db, path))
        db.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise


def _version(db: sqlite3.Connection, path: Path) -> int:
    """The format of a store; 0 for a file that is empty."""
    empty = not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if empty:
        return 0
    _must_be_ours(db, path)
    version, newest = db.execute("PRAGMA user_version").fetchone()[0], migrations()[-1][0]
    if version > newest:
        raise StoreTooNew(
            f"{path} has format {version}; this Holdfast knows up to {newest}.",
            "Upgrade Holdfast.",
        )
    return int(version)


def _migrate(db: sqlite3.Connection, version: int) -> None:
    for number, sql in migrations():
        if number > version:
            for statement in _split(sql):
                db.execute(statement)
            # The number is in the file's header: it commits with the step it records.
            db.execute(f"PRAGMA user_version = {number}")
    db.execute(f"PRAGMA application_id = {APPLICATION}")


def _must_be_ours(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION:
        raise StoreBroken(
            f"{path} is a SQLite file, but not a Holdfast store.", "Choose another path."
        )


def _split(script: str) -> Iterator[str]:
    """The statements of a script, one by one, so that they stay in one transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


class errors:  # noqa: N801  # reads as a word: `with errors(path)`
    """Turns what SQLite and the file system say into our errors.

    A class, since it is around every read and write: as a generator it takes five times as long.
    """

    __slots__ = ("_path",)

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        ours = None if error is None else _ours(error, self._path)
        if ours is not None:
            raise ours from error


def _ours(error: BaseException, path: Path) -> HoldfastError | None:
    """An error in our words; None if it is one already, or none of a store's."""
    if isinstance(error, sqlite3.Error):
        return _translated(error, path)
    if isinstance(error, (UnicodeDecodeError, json.JSONDecodeError, OverflowError)):
        return StoreBroken(
            f"{path} is damaged ({error}).", "Restore a backup, or choose another path."
        )
    if isinstance(error, OSError):
        if error.errno == errno.ENOSPC:
            return _full(path)
        return StoreReadOnly(
            f"{path} cannot be opened: {error.strerror}.", "Choose a path you can write."
        )
    return None


def _translated(error: sqlite3.Error, path: Path) -> HoldfastError:
    name = getattr(error, "sqlite_errorname", "") or ""
    said = str(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")) or "is locked" in said:
        return Busy(f"Another process kept {path} locked for too long.", "Try again.")
    if name.startswith("SQLITE_FULL") or "disk is full" in said:
        return _full(path)
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")) or (
        "readonly" in said or "unable to open" in said
    ):
        return StoreReadOnly(
            f"{path} cannot be opened for writing ({said}).",
            "Check that its folder exists and can be written.",
        )
    broken = name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))
    if broken or "malformed" in said or "not a database" in said:
        return StoreBroken(
            f"{path} is damaged or not a SQLite file ({said}).",
            "Restore a backup, or choose another path.",
        )
    if name.startswith("SQLITE_IOERR") or "disk I/O" in said:
        room = os.statvfs(path.parent).f_bavail if path.parent.exists() else 1
        return _full(path) if not room else Unavailable(f"The disk of {path} failed ({said}).")
    return StoreBroken(f"{path}: {said}.", "Run `holdfast doctor`.")


def _full(path: Path) -> StoreFull:
    return StoreFull(f"No room left on the disk of {path}.", "Free some, then try again.")
