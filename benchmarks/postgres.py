"""How fast on PostgreSQL: verbs at several sizes, beside one plain pgvector query in the same run.

Vectors come from `workload.Free`: what is timed is the library and the database, no embedder. The
floor is a table with the same vectors and an HNSW index, asked for the nearest ten by a prepared
statement: no words, no filters, no ranking, no tenant. Each size is searched in memory and in the
database, or only there if it is large (engine/postgres/large.py). Then many small scopes; then one
server process and four, with 64 clients, on one database. `--fill --folder F` fills the stores
first, so that the measurement need not wait for it.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import bulk, corpora, page, results, timing
from benchmarks.corpora import ROOT, Query
from benchmarks.postgres_stores import EACH, PLAIN, Stores, Urls, stores, written
from benchmarks.quality import short
from benchmarks.scoring import evaluated
from benchmarks.served import SERVE, process
from benchmarks.sized import SCOPE, drafts
from benchmarks.stores import DEFAULT, Store, remembered
from benchmarks.workload import Free, Texts
from holdfast import Memory
from holdfast.embed import open_embedder
from holdfast.engine import Key
from holdfast.engine import postgres as engine
from holdfast.engine.postgres import large, near

RESULTS = ROOT / "benchmarks" / "results" / "postgres.json"
CLIENTS, PROCESSES, FIRST_PORT = 64, 4, 8480
KINDS = ("state get", "state set", "remember", "recall")
TARGET = 3.0  # recall against one plain HNSW query
WARMED = 50  # questions that are asked before


def size(stores: Stores, count: int, times: int) -> dict[str, Any]:
    """Asks a scope: in memory if it is not too large for it, and in the database."""
    found: dict[str, Any] = {}
    if count <= large.LARGE:
        found |= stores.sized(count)
        found["in memory"] = asked(stores.urls(f"size{count}"), count, times)
    urls = stores.urls(f"graph{count}")
    with bound(0):
        found["in the database"] = stores.graph(count) | asked(urls, count, times)
    found["in the database"]["recall@10"] = nearest_found(urls, count, min(times, 50))
    used = found.get("in memory", found["in the database"])
    over = round(used["recall"]["p50_ms"] / used["plain"]["p50_ms"], 2)
    return found | {"recall": used["recall"], "plain": used["plain"], "recall over plain": over}


def graph(db: psycopg.Connection[Any]) -> str:
    """The table of a scope's graph."""
    row = db.execute("SELECT scope FROM holdfast.scopes WHERE name = %s", (SCOPE,)).fetchone()
    assert row is not None
    return f"holdfast.near_{row[0]}"


def nearest_found(urls: Urls, count: int, times: int) -> float:
    """The share of the ten nearest that the graph finds, of those that comparing all finds."""
    vectors = Free().embed(Texts().questions(times, count))
    hits = 0
    with psycopg.connect(urls.admin) as db:
        nearest = f"SELECT row FROM {graph(db)} ORDER BY vector <#> %s::halfvec LIMIT "
        db.execute("SELECT set_config('hnsw.ef_search', %s, false)", (near.sought(large.NEAREST),))
        for vector in vectors:
            told = (written(vector),)
            found = db.execute(f"{nearest} {large.NEAREST}".encode(), told).fetchall()
            db.execute("SET LOCAL enable_indexscan = off")
            exact = db.execute(f"{nearest} 10".encode(), told).fetchall()
            db.execute("SET LOCAL enable_indexscan = on")
            hits += len({*found} & {*exact})
    return round(hits / (10 * times), 4)


def asked(urls: Urls, count: int, times: int) -> dict[str, Any]:
    """Asks a scope that is full, and writes a little to it.

    A recall and a plain query come in turn, so that a noisy moment is bad for both; both are
    warmed by questions that are not asked again.
    """
    texts = Texts()
    every = texts.questions(times + WARMED, count)
    questions, before = every[:times], every[times:]
    with plain(urls, count, every) as query, Memory(SCOPE, urls.owner, embedder=Free()) as memory:
        found: dict[str, Any] = {}
        found["first recall"] = {"p50_ms": 1000 * timing.seconds(lambda: memory.recall("nothing"))}
        found["bytes each"] = memory.stats().file_bytes / count
        for at, one in enumerate(before, times):
            query(at)
            memory.recall(one)
        pair: dict[str, timing.Call] = {
            "plain": query,
            "recall": lambda at: memory.recall(questions[at]),
        }
        taken = timing.in_turn(times, pair, block=20)
        new = iter(drafts(texts, secrets.randbelow(10**9), times))
        calls: dict[str, timing.Call] = {
            "recall again": lambda at: memory.recall(questions[at]),
            "recall, filter 5 %": lambda at: memory.recall(questions[at], tags=["some"]),
            "recall, filter .5 %": lambda at: memory.recall(questions[at], tags=["few"]),
            "remember": lambda at: memory.remember(next(new).content),
            "state set": lambda at: memory.set(f"key {at % 50}", {"row": at}),
            "state get": lambda at: memory.get(f"key {at % 50}"),
        }
        taken |= {name: timing.each(times, call) for name, call in calls.items()}
        for name, some in taken.items():
            found[name] = timing.summary(some)
            print(f"  {count:,} {name} {found[name]['p50_ms']:.3f} ms", flush=True)
    return found


@contextmanager
def plain(urls: Urls, count: int, questions: Sequence[str]) -> Iterator[timing.Call]:
    """One plain pgvector query over as many vectors: the ten nearest to a question.

    Where a second graph would take too long to make, it asks that of the scope: as a superuser,
    whom no policy binds.
    """
    told = [written(vector) for vector in Free().embed(questions)]
    own = count <= large.LARGE
    with psycopg.connect(urls.owner if own else urls.admin, autocommit=True) as db:
        table = PLAIN if own else graph(db)
        sql = f"SELECT row FROM {table} ORDER BY vector <#> %s::halfvec LIMIT 10".encode()
        yield lambda at: db.execute(sql, (told[at],), prepare=True).fetchall()


def small_scopes(stores: Stores, scopes: int, times: int) -> dict[str, Any]:
    """Asks many small scopes, one after the other, each for the first time and then again."""
    found = {"scopes": scopes, "each": EACH} | stores.small(scopes)
    texts, chosen = Texts(), range(0, scopes, max(1, scopes // times))[:times]
    first = [number % bulk.UNLIKE * EACH for number in chosen]
    said = [" ".join(texts.some(number, 1)[0].split()[:4]) for number in first]
    with Memory(SCOPE, stores.urls(f"scopes{scopes}").owner, embedder=Free()) as memory:

        def call(at: int) -> object:
            return memory.recall(said[at], scopes=[f"{SCOPE}{chosen[at]}"])

        for name in ("recall, scope not in memory", "recall"):
            found[name] = timing.summary(timing.each(len(chosen), call))
            print(f"  {scopes:,} scopes of {EACH}: {name} {found[name]['p50_ms']:.3f} ms")
    return found


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


def checks(found: dict[str, Any]) -> dict[str, float]:
    """What is to be reached: recall beside a plain query, and the same quality as on SQLite."""
    told = {
        f"recall at {count} over a plain HNSW query": size["recall over plain"]
        for count, size in found["sizes"].items()
    }
    for name in ("postgres", "by graphs") if "quality" in found else ():
        one, other = found["quality"]["sqlite"], found["quality"][name]
        apart = max(abs(one[metric] - other[metric]) for metric in one)
        told[f"largest difference to SQLite's quality, {name}"] = round(apart, 4)
    return told


def main(words: list[str] | None = None) -> int:
    """Runs, prints, writes the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.postgres", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--scopes", type=int, default=10_000, help="small ones; 0 leaves them out")
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seconds", type=float, default=5.0, help="of load; 0 leaves it out")
    parser.add_argument("--stores", type=int, default=3, help="of LoCoMo; 0 leaves it out")
    parser.add_argument("--folder", type=Path, help="where stores are kept, once they are filled")
    parser.add_argument("--fill", action="store_true", help="only fill them")
    parser.add_argument("--add", action="store_true", help="to the results that are there")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(words)
    quick = max(options.sizes, default=0) < 100_000
    head = results.header(0, quick=quick, module="benchmarks.postgres")
    found: dict[str, Any] = {"run": head, "cores": os.cpu_count(), "sizes": {}}
    if options.add:
        found = (results.read(options.json.parent, options.json.stem) or found) | {"run": head}
    with stores(options.folder) as filled:
        for count in options.sizes:
            if count <= large.LARGE:
                filled.sized(count)
            filled.graph(count)
        if options.scopes:
            filled.small(options.scopes)
        if options.fill:
            return 0
        of = {"commit": head["commit"], "date": head["date"], "load": head["machine"]["load_1min"]}
        found["sizes"] |= {
            str(count): size(filled, count, options.times) | {"run": of} for count in options.sizes
        }
        if options.scopes:
            told = small_scopes(filled, options.scopes, options.times)
            found["small scopes"] = told | {"run": of}
        if options.stores:
            told = quality(filled.empty("quality").owner, options.stores)
            found["quality"] = told | {"run": of}
        if options.seconds:
            found["served"] = served(filled.empty("served").owner, options.seconds)
    found["checks"] = checks(found)
    print(json.dumps(found["checks"], indent=1))
    results.write(options.json.parent, options.json.stem, found)
    if options.json == RESULTS:
        page.update()
    return 0


if __name__ == "__main__":
    sys.exit(main())
