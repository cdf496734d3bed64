"""What this machine can do at best: the disk, SQLite, memory, and arithmetic, without us."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import timing, workload

PAGE = 4096
BANDWIDTH_BYTES = 256 << 20


class Disk:
    """A file that is written and made durable, page by page."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / "floor.bin", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        self._page = os.urandom(PAGE)

    def fsync(self, _: int = 0) -> None:
        """Appends a page and waits for the disk."""
        os.write(self._file, self._page)
        os.fsync(self._file)

    def fdatasync(self, _: int = 0) -> None:
        """Appends a page and waits for the disk, as SQLite does where it can."""
        os.write(self._file, self._page)
        os.fdatasync(self._file)

    def close(self) -> None:
        """Lets go of the file."""
        os.close(self._file)


class Table:
    """A bare SQLite table: WAL, `synchronous=FULL`, nothing but a text in a row."""

    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(folder / "floor.db", isolation_level=None)
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("CREATE TABLE IF NOT EXISTS told (id INTEGER PRIMARY KEY, said TEXT)")

    def insert(self, number: int) -> None:
        """One durable row."""
        self._db.execute("INSERT INTO told (said) VALUES (?)", (f"{number} said " * 10,))

    def close(self) -> None:
        """Lets go of the file."""
        self._db.close()


def bandwidth() -> float:
    """Gigabytes read and written in a second by a copy in memory, one core."""
    source = np.ones(BANDWIDTH_BYTES // 8)
    target = np.empty_like(source)
    best = min(timing.each(7, lambda _: np.copyto(target, source))).wall
    return 2 * BANDWIDTH_BYTES / best / 1e9


def exact_scan(size: int, queries: int = 20) -> dict[str, float]:
    """The ten nearest of so many vectors of 384 floats, by numpy, all in memory."""
    chance = np.random.default_rng(3)
    vectors = workload.shaped(chance, size)
    asked = workload.shaped(chance, queries)

    def search(at: int) -> object:
        near = vectors @ asked[at]
        return np.argpartition(near, -10)[-10:] if size > 10 else near

    search(0)
    return timing.summary(timing.each(queries, search))


def run(folder: Path, times: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """The floors alone, as a results file."""
    return {"floors": measured(folder, times, sizes)}


def measured(folder: Path, times: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """Every floor; those of the disk in turn."""
    disk, table = Disk(folder), Table(folder)
    try:
        calls: dict[str, timing.Call] = {
            "fsync": disk.fsync,
            "fdatasync": disk.fdatasync,
            "sqlite insert": table.insert,
        }
        taken = timing.in_turn(times, calls)
    finally:
        disk.close()
        table.close()
    found: dict[str, Any] = {name: timing.summary(some) for name, some in taken.items()}
    found["copy_gb_per_second"] = bandwidth()
    found["exact scan"] = {str(size): exact_scan(size) for size in sizes}
    return found
