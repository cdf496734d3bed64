"""The stores that `benchmarks.postgres` asks: filled once, in a folder that can be kept.

To fill a million takes many times as long as to ask it. So it is a step of its own that may be
done before, while others use the machine; what it took is noted beside the stores.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from benchmarks import bulk, timing, workload
from benchmarks.sized import BATCH, SCOPE, drafts
from benchmarks.workload import Free, Texts
from holdfast import Memory
from holdfast.engine import Place
from holdfast.engine import postgres as engine
from holdfast.engine.postgres import large
from tools.postgres import Postgres, add_pgvector, drop_database, make_database, make_role

SETTINGS = ("shared_buffers=3GB", "max_wal_size=8GB")
EACH = 100  # memories of a small scope
PLAIN = "plain"  # the table that one plain query of pgvector asks


class Urls(NamedTuple):
    """Of one database: as its owner, and as a superuser."""

    owner: str
    admin: str


@dataclass(frozen=True)
class Stores:
    """Databases at a server of our own, that syncs what it writes."""

    server: Postgres

    @property
    def _notes(self) -> Path:
        return self.server.folder / "filled.json"

    def filled(
        self, name: str, fill: Callable[[Urls], dict[str, Any]], like: str = "template1"
    ) -> dict[str, Any]:
        """What filling a database took, which is done unless it was before."""
        notes = json.loads(self._notes.read_text()) if self._notes.exists() else {}
        if name not in notes:
            notes[name] = fill(self.empty(name, like))
            print(f"  {name}: {json.dumps(notes[name])}", flush=True)
            self._notes.write_text(json.dumps(notes))
        return dict(notes[name])

    def empty(self, name: str, like: str = "template1") -> Urls:
        """A new database with pgvector and nothing else, in the place of any of this name."""
        admin = self.server.url("postgres", "postgres")
        with psycopg.connect(admin) as db:
            there = db.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if there:
            drop_database(admin, name)
        make_database(admin, name, like)
        add_pgvector(admin, name)
        return self.urls(name)

    def urls(self, name: str) -> Urls:
        """The URLs of a database."""
        return Urls(self.server.url(name), self.server.url(name, "postgres"))

    def sized(self, count: int) -> dict[str, Any]:
        """A scope of one size, and the same vectors in a table of their own."""
        return self.filled(f"size{count}", lambda urls: _sized(urls, count))

    def graph(self, count: int) -> dict[str, Any]:
        """The same scope with its graph; one so large that it is never without has no other."""
        if count > large.LARGE:
            return self.filled(f"graph{count}", lambda urls: _sized(urls, count) | _graph(urls))
        return self.filled(f"graph{count}", _graph, like=f"size{count}")

    def small(self, scopes: int) -> dict[str, Any]:
        """Many small scopes."""

        def fill(urls: Urls) -> dict[str, Any]:
            took = timing.seconds(lambda: bulk.fill_scopes(*urls, SCOPE, scopes, EACH))
            return {"copy_s": took}

        return self.filled(f"scopes{scopes}", fill)


@contextmanager
def stores(folder: Path | None) -> Iterator[Stores]:
    """The stores of a folder, which is kept; without one, new ones that are gone at the end."""
    place = folder or Path(tempfile.mkdtemp(prefix="hfpg"))
    server = Postgres(place, *SETTINGS).start()
    make_role(server.url("postgres", "postgres"))
    try:
        yield Stores(server)
    finally:
        server.stop(keep=folder is not None)


def _sized(urls: Urls, count: int) -> dict[str, Any]:
    taken: dict[str, Any] = {"fill": _fill(urls, count)}
    if count <= large.LARGE:
        taken["build_s"] = _make_plain(urls.owner, count)
    return taken


def _graph(urls: Urls) -> dict[str, Any]:
    with closing(engine.Postgres(urls.owner)) as store:
        return {"index_s": timing.seconds(lambda: store.index_large(Place("local", SCOPE)))}


def _fill(urls: Urls, count: int) -> dict[str, float]:
    """Fills a scope: by remembering, or by COPY if that would take too long."""
    if count > large.LARGE:
        return {"copy_s": timing.seconds(lambda: bulk.fill(*urls, SCOPE, count))}
    texts, taken = Texts(), 0.0
    with Memory(SCOPE, urls.owner, embedder=Free()) as memory:
        for start, some in workload.batches(count, BATCH):
            told = drafts(texts, start, some)
            taken += timing.seconds(lambda told=told: memory.remember_many(told))  # type: ignore[misc]
    with psycopg.connect(urls.admin, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")  # as autovacuum does within a minute
    return {"per_second": count / taken}


def _make_plain(url: str, count: int) -> float:
    """Makes the plain table; gives the seconds that its graph took."""
    free, texts = Free(), Texts()
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"CREATE TABLE {PLAIN} (row bigint, vector halfvec({free.dimension}))".encode())
        with db.cursor() as cursor, cursor.copy(f"COPY {PLAIN} FROM STDIN".encode()) as copy:
            for start, some in workload.batches(count, BATCH):
                for at, vector in enumerate(free.embed(texts.some(start, some)), start):
                    copy.write_row((at, written(vector)))
        db.execute("SET maintenance_work_mem = '1GB'")
        make = f"CREATE INDEX ON {PLAIN} USING hnsw (vector halfvec_ip_ops)".encode()
        took = timing.seconds(lambda: db.execute(make))
        db.execute(f"VACUUM ANALYZE {PLAIN}".encode())
    return took


def written(vector: workload.Vectors) -> str:
    """A vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5g}" for value in vector) + "]"
