"""Writes kept on disk while a server is away, and sent later: in order, each once, none lost.

A file of its own, shared by all agents of a user. Every write carries an idempotency key, so
that one whose reply was lost can be sent again. Who holds the lock of a destination sends for
it; the lock is the operating system's, so a process that dies lets go of it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from holdfast import check, ops, overlay, wire
from holdfast.errors import (
    Forbidden,
    HoldfastError,
    Invalid,
    LimitReached,
    Unauthenticated,
    Unavailable,
)

MOST_WRITES = 100_000
MOST_BYTES = 256 * 1024 * 1024
# A server knows an idempotency key for a week; what is older could be done twice.
OLDEST = timedelta(days=6)
FIRST_REST, LONGEST_REST = 0.5, 30.0  # seconds between attempts
TOGETHER = 64  # writes that are sent before they are taken out of the file
CLOSE_SECONDS = 5.0  # spent on sending when a memory is closed
# What may yet change: a key can be given its right, a tenant its room.
WAITS = (Unauthenticated, Forbidden, LimitReached)

SCHEMA = """
CREATE TABLE IF NOT EXISTS writes (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    destination BLOB NOT NULL,
    scope       TEXT NOT NULL,
    verb        TEXT NOT NULL,
    op          TEXT NOT NULL,
    at          REAL NOT NULL,
    refused     TEXT
);
CREATE INDEX IF NOT EXISTS writes_destination ON writes (destination, refused, seq);
"""
VERBS: dict[str, type[ops.Write[Any]]] = {kind.__name__: kind for kind in overlay.CAN_WAIT}
Send = Callable[[ops.Write[Any]], Any]


@dataclass(frozen=True, slots=True)
class Refused:
    """A write that the server would not do, and why."""

    op: ops.Write[Any]
    error: str


class Outbox:
    """The writes that wait for one server."""

    def __init__(self, path: str | os.PathLike[str], destination: str) -> None:
        self._path = Path(check.path(path)).absolute()
        self._destination = hashlib.blake2b(destination.encode(), digest_size=16).digest()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._pid = os.getpid()

    # --- what waits ---

    @property
    def pending(self) -> int:
        """How many writes wait to be sent."""
        with self._file() as db:
            return int(db.execute(_COUNT, (self._destination,)).fetchone()[0])

    @property
    def refused(self) -> list[Refused]:
        """The writes that the server would not do; they are kept until `clear_refused`."""
        with self._file() as db:
            rows = db.execute(_REFUSED, (self._destination,)).fetchall()
        return [Refused(_op(verb, op), error) for verb, op, error in rows]

    def clear_refused(self) -> None:
        """Removes the writes that the server would not do."""
        with self._file() as db:
            db.execute(
                "DELETE FROM writes WHERE destination = ? AND refused IS NOT NULL",
                (self._destination,),
            )

    def waiting(self, scope: str) -> list[ops.Write[Any]]:
        """The writes to a scope that wait, oldest first."""
        with self._file() as db:
            rows = db.execute(_WAITING, (self._destination, scope)).fetchall()
        return [_op(verb, op) for verb, op in rows]

    def put(self, op: ops.Write[Any]) -> None:
        """Keeps a write; it is on disk when this returns."""
        with self._file() as db:
            count, size = db.execute(_SIZE, (self._destination,)).fetchone()
            text = wire.dumps(op)
            if count >= MOST_WRITES or (size or 0) + len(text) > MOST_BYTES:
                raise Unavailable(
                    "The server cannot be reached, and the outbox is full.",
                    "Bring the server back; nothing that waits is lost.",
                )
            values = self._destination, op.scope, type(op).__name__, text, time.time()
            db.execute(_PUT, values)
        self._wake.set()

    # --- sending ---

    def start(self, send: Send) -> None:
        """Sends in the background from now on."""
        with self._lock:
            if self._thread is not None and self._pid == os.getpid():
                return
            self._pid, self._stop, self._wake = os.getpid(), threading.Event(), threading.Event()
            self._thread = threading.Thread(
                target=self._run, args=(send,), name="holdfast-outbox", daemon=True
            )
            self._thread.start()

    def close(self, send: Send) -> None:
        """Sends what can be sent at once, and stops."""
        with contextlib.suppress(HoldfastError):
            self.drain(send, CLOSE_SECONDS)
        self._stop.set()
        self._wake.set()
        if self._thread is not None and self._pid == os.getpid():
            self._thread.join(CLOSE_SECONDS)
            self._thread = None

    def drain(self, send: Send, seconds: float = 60.0) -> int:
        """Sends what waits, in order, until none is left or one cannot be sent; gives what is."""
        give_up = time.monotonic() + seconds
        with self._turn() as ours:
            while ours and (rows := self._first()):
                settled: list[tuple[str | None, int]] = []
                try:
                    for seq, verb, text, at in rows:
                        if time.monotonic() > give_up:
                            return self.pending
                        settled.append((self._sent(send, verb, text, at), seq))
                finally:
                    self._settle(settled)
        return self.pending

    def _run(self, send: Send) -> None:
        rest = FIRST_REST
        while not self._stop.is_set():
            try:
                left = self.drain(send)
                rest = FIRST_REST
            except HoldfastError:
                left, rest = 1, min(rest * 2, LONGEST_REST)
            self._wake.wait(rest if left else None)
            self._wake.clear()

    def _first(self) -> list[tuple[int, str, str, float]]:
        with self._file() as db:
            return db.execute(_FIRST, (self._destination, TOGETHER)).fetchall()

    def _sent(self, send: Send, verb: str, text: str, at: float) -> str | None:
        """Sends a write; gives why the server would not do it, if so."""
        if time.time() - at > OLDEST.total_seconds():
            return "It waited so long that it could be done twice."
        try:
            send(_op(verb, text))
        except WAITS as failure:
            raise Unavailable(failure.message, failure.advice) from None
        except HoldfastError as failure:
            if failure.retry or failure.status >= 500:
                raise
            return str(failure)
        return None

    def _settle(self, settled: list[tuple[str | None, int]]) -> None:
        """Removes what was sent; should we die before, it is sent again, and does nothing."""
        if not settled:
            return
        with self._file() as db:
            db.executemany(
                "DELETE FROM writes WHERE seq = ?", [(seq,) for error, seq in settled if not error]
            )
            refused = [(error, seq) for error, seq in settled if error]
            db.executemany("UPDATE writes SET refused = ? WHERE seq = ?", refused)

    @contextmanager
    def _turn(self) -> Iterator[bool]:
        """True for the one who may send to this destination now."""
        lock = self._path.with_name(f"{self._path.name}.{self._destination.hex()[:16]}.lock")
        lock.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                yield False
                return
            yield True

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """The file, inside a transaction; opened each time, so that forks and threads are safe."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.closing(sqlite3.connect(self._path, 30.0, isolation_level=None)) as db:
                # What was sent leaves no bytes behind: deleted rows are zeroed, the journal too.
                db.execute("PRAGMA secure_delete = ON")
                db.execute("PRAGMA synchronous = FULL")
                if not db.execute("PRAGMA user_version").fetchone()[0]:
                    self._make(db)
                db.execute("BEGIN IMMEDIATE")
                yield db
                db.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(
                f"The outbox {self._path} cannot be used: {error}.", "Check its folder and disk."
            ) from error

    def _make(self, db: sqlite3.Connection) -> None:
        db.executescript(SCHEMA)
        db.execute("PRAGMA user_version = 1")
        self._path.chmod(0o600)


_COUNT = "SELECT count(*) FROM writes WHERE destination = ? AND refused IS NULL"
_SIZE = "SELECT count(*), sum(length(op)) FROM writes WHERE destination = ?"
_REFUSED = (
    "SELECT verb, op, refused FROM writes WHERE destination = ? AND refused IS NOT NULL "
    "ORDER BY seq"
)
_WAITING = (
    "SELECT verb, op FROM writes WHERE destination = ? AND scope = ? AND refused IS NULL "
    "ORDER BY seq"
)
_FIRST = (
    "SELECT seq, verb, op, at FROM writes WHERE destination = ? AND refused IS NULL "
    "ORDER BY seq LIMIT ?"
)
_PUT = "INSERT INTO writes (destination, scope, verb, op, at) VALUES (?, ?, ?, ?, ?)"


def outbox_path() -> Path:
    """The outbox of this user."""
    folder = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share"
    return Path(folder) / "holdfast" / "outbox.db"


def _op(verb: str, text: str) -> ops.Write[Any]:
    if verb not in VERBS:
        raise Invalid(f"The outbox holds {verb!r}, which is no write.", "Upgrade Holdfast.")
    return wire.loads(VERBS[verb], text)
