"""How fast on PostgreSQL: verbs at several sizes, beside one plain pgvector query in the same run.

Vectors come from `workload.Free`: what is timed is the library and the database, no embedder. The
floor is a table with the same vectors and an HNSW index, asked for the nearest ten by a prepared
statement: no words, no filters, no ranking, no tenant. Each size is searched in memory and in the
database, or only there if it is large (engine/postgres/large.py); large ones are filled by COPY.
Then many small scopes; then one server process and four, with 64 clients, on one database.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from benchmarks import bulk, corpora, page, results, timing, workload
from benchmarks.corpora import ROOT, Query
from benchmarks.quality import short
from benchmarks.scoring import evaluated
from benchmarks.served import SERVE, process
from benchmarks.sized import BATCH, SCOPE, drafts
from benchmarks.stores import DEFAULT, Store, remembered
from benchmarks.workload import Free, Texts
from holdfast import Memory
from holdfast.embed import open_embedder
from holdfast.engine import Key, Place
from holdfast.engine import postgres as engine
from holdfast.engine.postgres import large
from tools.postgres import Postgres, add_pgvector, make_database, make_role

RESULTS = ROOT / "benchmarks" / "results" / "postgres.json"
CLIENTS, PROCESSES, FIRST_PORT = 64, 4, 8480
KINDS = ("state get", "state set", "remember", "recall")
TARGET = 3.0  # recall against one plain HNSW query


@contextmanager
def database() -> Iterator[tuple[str, str]]:
    """URLs of an empty database at a server of our own, that syncs what it writes.

    The second one is a superuser's.
    """
    folder = Path(tempfile.mkdtemp(prefix="hfpg"))
    server = Postgres(folder, "shared_buffers=2GB", "max_wal_size=8GB").start()
    admin = server.url("postgres", "postgres")
    try:
        make_role(admin)
        make_database(admin, "bench")
        add_pgvector(admin, "bench")
        yield server.url("bench"), server.url("bench", "postgres")
    finally:
        server.stop()


def fill(url: str, admin: str, scope: str, count: int) -> dict[str, Any]:
    """Fills a scope: by remembering, or by COPY if that would take too long."""
    if count > large.LARGE:
        return {"copy_s": timing.seconds(lambda: bulk.fill(url, admin, scope, count))}
    texts, taken = Texts(), 0.0
    with Memory(scope, url, embedder=Free()) as memory:
        for start, some in workload.batches(count, BATCH):
            told = drafts(texts, start, some)
            taken += timing.seconds(lambda told=told: memory.remember_many(told))  # type: ignore[misc]
    with psycopg.connect(admin, autocommit=True) as db:
        db.execute("VACUUM ANALYZE")  # as autovacuum does within a minute
    return {"per_second": count / taken}


def size(urls: tuple[str, str], count: int, times: int) -> dict[str, Any]:
    """Fills a scope, and asks it: in memory if it is not too large for it, and in the database."""
    scope = f"{SCOPE}{count}"
    found: dict[str, Any] = {"fill": fill(*urls, scope, count)}
    if count <= large.LARGE:
        found |= {"in memory": asked(urls[0], scope, count, times)}
    found |= {"in the database": in_the_database(urls[0], scope, count, times)}
    used = found.get("in memory", found["in the database"])
    return found | {"recall": used["recall"]}


def in_the_database(url: str, scope: str, count: int, times: int) -> dict[str, Any]:
    """The same with the scope's own graph, whatever its size."""
    with closing(engine.Postgres(url)) as store:
        built = timing.seconds(lambda: store.index_large(Place("local", scope)))
    with bound(0):
        found = asked(url, scope, count, times)
    share = nearest_found(url, scope, count, min(times, 50))
    print(f"  {count:,} graph made in {built:.0f} s; finds {share:.3f} of the nearest ten")
    return found | {"index_s": built, "recall@10": share}


def nearest_found(url: str, scope: str, count: int, times: int) -> float:
    """The share of the ten nearest that the graph finds, of those that comparing all finds."""
    vectors = Free().embed(Texts().questions(times, count))
    hits = 0
    with psycopg.connect(url) as db:
        db.execute("SELECT set_config('holdfast.tenant', 'local', false)")
        row = db.execute("SELECT scope FROM holdfast.scopes WHERE name = %s", (scope,)).fetchone()
        assert row is not None
        nearest = f"SELECT row FROM holdfast.near_{row[0]} ORDER BY vector <#> %s::halfvec LIMIT "
        db.execute("SELECT set_config('hnsw.ef_search', %s, false)", (str(large.NEAREST),))
        for vector in vectors:
            told = (_text(vector),)
            graph = db.execute(f"{nearest} {large.NEAREST}".encode(), told).fetchall()
            db.execute("SET LOCAL enable_indexscan = off")
            exact = db.execute(f"{nearest} 10".encode(), told).fetchall()
            db.execute("SET LOCAL enable_indexscan = on")
            hits += len({*graph} & {*exact})
    return round(hits / (10 * times), 4)


def asked(url: str, scope: str, count: int, times: int) -> dict[str, Any]:
    """Asks a scope that is full, and writes a little to it."""
    texts = Texts()
    with Memory(scope, url, embedder=Free()) as memory:
        found: dict[str, Any] = {}
        found["first recall"] = {"p50_ms": 1000 * timing.seconds(lambda: memory.recall("nothing"))}
        questions = texts.questions(times, count)
        new = iter(drafts(texts, secrets.randbelow(10**9), times))
        calls: dict[str, timing.Call] = {
            "recall": lambda at: memory.recall(questions[at]),
            "recall again": lambda at: memory.recall(questions[at]),
            "recall, filter 5 %": lambda at: memory.recall(questions[at], tags=["some"]),
            "recall, filter .5 %": lambda at: memory.recall(questions[at], tags=["few"]),
            "remember": lambda at: memory.remember(next(new).content),
            "state set": lambda at: memory.set(f"key {at % 50}", {"row": at}),
            "state get": lambda at: memory.get(f"key {at % 50}"),
        }
        found["bytes each"] = memory.stats().file_bytes / count
        for name, call in calls.items():
            found[name] = timing.summary(timing.each(times, call))
            print(f"  {count:,} {name} {found[name]['p50_ms']:.3f} ms", flush=True)
    return found


def small_scopes(urls: tuple[str, str], scopes: int, each: int, times: int) -> dict[str, Any]:
    """Asks many small scopes, one after the other, each for the first time and then again."""
    taken = timing.seconds(lambda: bulk.fill_scopes(*urls, SCOPE, scopes, each))
    texts, chosen = Texts(), range(0, scopes, max(1, scopes // times))[:times]
    said = [" ".join(texts.some(number * each, 1)[0].split()[:4]) for number in chosen]
    with Memory(SCOPE, urls[0], embedder=Free()) as memory:

        def call(at: int) -> object:
            return memory.recall(said[at], scopes=[f"{SCOPE}{chosen[at]}"])

        first, again = (timing.summary(timing.each(len(chosen), call)) for _ in range(2))
    print(
        f"  {scopes:,} scopes of {each}: {first['p50_ms']:.3f} ms, {again['p50_ms']:.3f} ms again"
    )
    names = {"copy_s": taken, "recall, scope not in memory": first, "recall": again}
    return {"scopes": scopes, "each": each} | names


def plain(url: str, count: int, times: int) -> dict[str, Any]:
    """One plain pgvector query over as many vectors."""
    free = Free()
    texts = Texts()
    asked = free.embed(texts.questions(times, count))
    name = f"plain{count}"
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(f"CREATE TABLE {name} (id bigint, v halfvec({free.dimension}))".encode())
        with db.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as copy:
            for start, some in workload.batches(count, BATCH):
                for at, vector in enumerate(free.embed(texts.some(start, some)), start):
                    copy.write_row((at, _text(vector)))
        db.execute("SET maintenance_work_mem = '1GB'")
        built = timing.seconds(
            lambda: db.execute(f"CREATE INDEX ON {name} USING hnsw (v halfvec_ip_ops)".encode())
        )
        sql = f"SELECT id FROM {name} ORDER BY v <#> %s::halfvec LIMIT 10".encode()
        told = [_text(vector) for vector in asked]

        def call(at: int) -> object:
            return db.execute(sql, (told[at],), prepare=True).fetchall()

        timing.each(min(times, 50), call)
        found = timing.summary(timing.each(times, call)) | {"build_s": built}
        db.execute(f"DROP TABLE {name}".encode())
    print(f"  {count:,} plain HNSW {found['p50_ms']:.3f} ms", flush=True)
    return found


def _text(vector: np.ndarray[Any, Any]) -> str:
    return "[" + ",".join(f"{value:.5g}" for value in vector) + "]"


class Unworn(engine.Postgres):
    """A store that does not count uses."""

    def use(self, keys: Sequence[Key], now: datetime) -> None:
        """Does nothing."""


def quality(url: str, stores: int) -> dict[str, Any]:
    """The figures of recall on LoCoMo: of both engines, and of graphs however small the scopes."""
    corpus = corpora.some(corpora.load("locomo"), stores)
    embedder = open_embedder("fast")
    found: dict[str, Any] = {"stores": stores, "questions": len(corpus.queries)}
    orders: dict[str, list[list[str]]] = {}
    with remembered(corpus, embedder) as filled:
        found["sqlite"], orders["sqlite"] = answered(filled)
    store = Unworn(url)
    with remembered(corpus, embedder, elsewhere=store) as filled:
        found["postgres"], orders["postgres"] = answered(filled)
        for place, _ in store.house().look(lambda it: it.places()):
            store.index_large(place)
        with bound(0):
            found["by graphs"], orders["by graphs"] = answered(filled)
    for name in ("postgres", "by graphs"):
        pairs = zip(orders["sqlite"], orders[name], strict=True)
        found[f"answers that differ, {name}"] = sum(a != b for a, b in pairs)
    print(f"  {json.dumps(found)}", flush=True)
    return found


def answered(filled: Any) -> tuple[dict[str, Any], list[list[str]]]:
    """The figures of a filled store, and the hits of every question."""
    told: list[list[str]] = []

    def asker(store: Store) -> Callable[[Query], list[str]]:
        def ask(query: Query) -> list[str]:
            told.append([hit.id for hit in store.recall(query, DEFAULT)])
            return told[-1]

        return ask

    return short(evaluated(filled, asker)), told


@contextmanager
def bound(rows: int) -> Iterator[None]:
    """Lets scopes of more than so many rows be searched in the database."""
    before, large.LARGE = large.LARGE, rows
    try:
        yield
    finally:
        large.LARGE = before


def served(url: str, seconds: float) -> dict[str, Any]:
    """Calls a second of 64 clients on one server process, and on four."""
    with Memory("bench", url, embedder="hashing") as memory:
        memory.remember_many([f"the green tea of shop {n} costs {n} euros" for n in range(10_000)])
        memory.set("cursor", {"row": 8000})
    found: dict[str, Any] = {}
    for count in (1, PROCESSES):
        with ExitStack() as stack:
            ports = range(FIRST_PORT, FIRST_PORT + count)
            words = [[sys.executable, "-c", SERVE, str(port), url, "hashing"] for port in ports]
            urls = [stack.enter_context(process(*pair)) for pair in zip(words, ports, strict=True)]
            found[str(count)] = {kind: _load(urls, kind, seconds) for kind in KINDS}
        print(f"  {count} processes: {json.dumps(found[str(count)])}", flush=True)
    return found


def _load(urls: list[str], kind: str, seconds: float) -> dict[str, float]:
    """All clients at once, spread over the servers."""
    tasks = [
        {"url": url, "kind": kind, "clients": CLIENTS // len(urls), "seconds": seconds}
        for url in urls
    ]
    runs = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load", json.dumps(task)],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for task in tasks
    ]
    told = [json.loads(run.communicate()[0]) for run in runs]
    failed = sum(n for one in told for status, n in one["statuses"].items() if int(status) >= 500)
    return {
        "per_second": round(sum(one["per_second"] for one in told), 1),
        "p50_ms": max(one["p50_ms"] for one in told),
        "failed": failed,
    }


def main(words: list[str] | None = None) -> int:
    """Runs, prints, writes the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.postgres", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--scopes", type=int, default=10_000, help="small ones; 0 leaves them out")
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=5.0, help="of load; 0 leaves it out")
    parser.add_argument("--stores", type=int, default=3, help="of LoCoMo; 0 leaves it out")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(words)
    quick = max(options.sizes, default=0) < 100_000
    head = results.header(0, quick=quick, module="benchmarks.postgres")
    found: dict[str, Any] = {"run": head, "cores": os.cpu_count(), "sizes": {}}
    for count in options.sizes:
        with database() as urls:
            floor = plain(urls[0], count, options.times)
            told = size(urls, count, options.times) | {"plain": floor}
        told["recall over plain"] = round(told["recall"]["p50_ms"] / floor["p50_ms"], 2)
        found["sizes"][str(count)] = told
    found["checks"] = {
        f"recall at {count} over a plain HNSW query": told["recall over plain"]
        for count, told in found["sizes"].items()
    }
    if options.scopes:
        with database() as urls:
            found["small scopes"] = small_scopes(urls, options.scopes, 100, options.times)
    if options.stores:
        with database() as (url, _):
            found["quality"] = quality(url, options.stores)
    if options.seconds:
        with database() as (url, _):
            found["served"] = served(url, options.seconds)
    print(json.dumps(found["checks"], indent=1))
    results.write(options.json.parent, options.json.stem, found)
    if options.json == RESULTS:
        page.update()
    return 0


if __name__ == "__main__":
    sys.exit(main())
