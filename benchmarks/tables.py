"""Results as tables: the same text for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from benchmarks import quality_tables
from benchmarks.cells import Cell, Found, table
from benchmarks.quality_tables import short
from benchmarks.targets import CHANCE, SHORT


def checks(found: Found) -> str:
    """Every requirement, with its figure and its verdict; and what is chance, where it is known."""
    noisy = any(one.get("noise") is not None for one in found["checks"])
    paired = any(one.get("chance") is not None for one in found["checks"])
    rows = [
        [
            one["what"],
            one["value"],
            ("≥ " if one["at_least"] else "≤ ") + f"{one['bound']:.3f}",
            *([one.get("noise")] if noisy else []),
            *([one.get("chance")] if paired else []),
            _verdict(one),
        ]
        for one in found["checks"]
    ]
    known = [*(["noise ±"] if noisy else []), *(["chance"] if paired else [])]
    return table(["requirement", "measured", "to reach", *known, ""], rows)


def _verdict(one: Found) -> str:
    if one["passed"] is None:
        return "not measured"
    if one["passed"]:
        return "pass"
    if one.get("chance") is not None:
        return "below, by chance" if one["chance"] > CHANCE else "BELOW"
    within = abs(one["value"] - one["bound"]) <= (one.get("noise") or 0.0)
    return "below, within noise" if within else "FAIL"


def aims(found: Found) -> str:
    """The requirements that are figures of their own, not comparisons."""
    return checks({"checks": [one for one in found["checks"] if one.get("noise") is None]})


def verdict(found: Found) -> str:
    """How many requirements are met, and where plain search is better in anything."""
    some = _missed(found)
    met = sum(one["passed"] is True for one in found["checks"])
    return " ".join([f"{met} of {met + len(some)} requirements are met.", *_below(some)])


def missed(found: Found) -> str:
    """The requirements that are not met."""
    return checks({"checks": _missed(found)})


def _missed(found: Found) -> list[Found]:
    return [one for one in found["checks"] if one["passed"] is False]


def _below(some: Sequence[Found]) -> list[str]:
    """Which corpora are below plain cosine or BM25 in anything, and which by more than chance."""
    paired = [one for one in some if one.get("chance") is not None]
    if not paired:
        return []
    where = {True: dict[str, None](), False: dict[str, None]()}
    for one in paired:
        where[one["chance"] <= CHANCE][one["what"].partition(":")[0]] = None
    told = [f"Below in some figure: {', '.join(where[True] | where[False])}."]
    sure = ", ".join(where[True])
    return [*told, f"By more than chance: {sure}." if sure else "None by more than chance."]


LATENCIES = (
    "recall",
    "recall again",
    "recall common words",
    "recall, filter 5 %",
    "recall, filter .5 %",
    "context",
    "list",
    "remember",
    "state set",
    "state get",
)


def sizes(found: Found) -> str:
    """Times by the size of the store, embedding excluded."""
    of = found["sizes"]
    rows: list[list[Cell]] = [
        [f"{name}, {q.removesuffix('_ms')} ms", *(one[name][q] for one in of.values())]
        for name in LATENCIES
        for q in ("p50_ms", "p95_ms", "cpu_ms")
    ]
    rows += [
        ["open, ms", *(one["open_ms"] for one in of.values())],
        ["first recall after open, ms", *(one["first_recall_ms"] for one in of.values())],
        [
            "remember_many, a second",
            *(_whole(one["remember_many 1000"]["per_second"]) for one in of.values()),
        ],
        ["fill, a second", *(_whole(one["fill"]["per_second"]) for one in of.values())],
        ["memory of the store, MB", *(_whole(one["rss_mb"]) for one in of.values())],
        ["memory of the process, MB", *(_whole(one["process_mb"]) for one in of.values())],
        ["file, MB", *(_whole(one["file_mb"]) for one in of.values())],
        ["floor: numpy exact scan, p50 ms", *(_floor(found, size) for size in of)],
    ]
    return table(["", *(f"{int(size):,}" for size in of)], rows)


def _whole(value: float) -> int:
    return round(value)


def _floor(found: Found, size: str) -> float | None:
    value: float | None = found["floors"]["exact scan"].get(size, {}).get("p50_ms")
    return value


def writing(found: Found) -> str:
    """Durable writes beside the disk's floor, measured in turn."""
    told = found["writing"]
    floor = told["fsync"]["p50_ms"]
    rows: list[list[Cell]] = [
        [name, one["p50_ms"], one["p95_ms"], one["cpu_ms"], one["p50_ms"] / floor]
        for name, one in told.items()
        if isinstance(one, dict)
    ]
    return table(["", "p50 ms", "p95 ms", "CPU ms", "p50 over fsync"], rows)


def floors(found: Found) -> str:
    """What the machine can do without us."""
    told = found["floors"]
    rows: list[list[Cell]] = [
        [name, told[name]["p50_ms"], told[name]["p95_ms"]]
        for name in ("fsync", "fdatasync", "sqlite insert")
    ]
    rows += [
        [f"numpy exact scan of {int(size):,}", one["p50_ms"], one["p95_ms"]]
        for size, one in told["exact scan"].items()
    ]
    rows.append([f"copy in memory: {told['copy_gb_per_second']:.1f} GB a second", None, None])
    return table(["", "p50 ms", "p95 ms"], rows)


RATES = {
    "alone_per_second": "remember, one thread",
    "threads_per_second": "remember, eight threads",
    "threads_over_alone": "eight threads over one",
    "batch_per_second": "remember_many of 1,000, memories",
}


def rates(found: Found) -> str:
    """How many durable writes in a second."""
    told = found["writing"]
    rows = [[label, told[name]] for name, label in RATES.items()]
    rows.append(["floor: copy in memory, GB", found["floors"]["copy_gb_per_second"]])
    return table(["", "a second"], rows, digits=1)


def embedders(found: Found) -> str:
    """What is the library's and what the embedder's, measured in turn."""
    of = found["embedders"]
    timed = ("embed a query", "whole recall", "remember")
    rows: list[list[Cell]] = [
        [f"{name}, {q.removesuffix('_ms')} ms", *(one[name][q] for one in of.values())]
        for name in timed
        for q in ("p50_ms", "cpu_ms")
    ]
    rows += [
        [label, *(one[name] for one in of.values())]
        for name, label in (
            ("whole_over_embedding", "whole recall over embedding"),
            ("embedded_per_second", "embedded in batches, a second"),
            ("remembered_per_second", "remembered in batches, a second"),
            ("batch_share_of_embedding", "remembered over embedded"),
        )
    ]
    return table(["", *(f"{name}, {one['size']:,} memories" for name, one in of.items())], rows)


def scopes(found: Found) -> str:
    """Many small scopes in one file."""
    told = found.get("scopes")
    if not told:
        return "Not measured in this run (`--large`)."
    rows: list[list[Cell]] = [
        [f"{name}, {q.removesuffix('_ms')} ms", told[name][q]]
        for name in ("recall, scope not in memory", "recall")
        for q in ("p50_ms", "p95_ms")
    ]
    rows += [
        ["fill, a second", told["fill"]["per_second"]],
        ["memory for the scopes asked, MB", told["rss_mb"]],
        ["file, MB", told["file_mb"]],
    ]
    return table(["", f"{told['scopes']:,} scopes of {told['in_each']}"], rows)


def search(found: Found) -> str:
    """What the search in a large table misses."""
    rows = [
        [one["vectors"], one["size"], one["filter"]]
        + [one[key] for key in ("recall", "worst", "p50_ms", "cpu_ms")]
        for one in found["tables"]
    ]
    head = [
        "vectors",
        "size",
        "filter",
        "recall of the exact 10",
        "worst query",
        "p50 ms",
        "CPU ms",
    ]
    return table(head, rows)


def rivals_quality(found: Found) -> str:
    """Every system on the same data with the same vectors."""
    rows = [
        [corpus, system, tables["turn"]["all"]["n"], *short(tables)]
        for corpus, systems in found["quality"].items()
        for system, tables in systems.items()
    ]
    return table(["corpus", "system", "n", *(label for *_, label in SHORT)], rows)


def race(found: Found) -> str:
    """Milliseconds of one add and one search, embedding excluded."""
    measures = ("add_ms", "search_ms", "search_p95_ms", "filled_per_second")
    rows = [
        [f"{system} {found['versions'][system]}", int(size), *(one[name] for name in measures)]
        for system, sizes in found["speed"].items()
        for size, one in sizes.items()
    ]
    head = ["system", "memories", "add, p50 ms", "search, p50 ms", "search, p95 ms"]
    return table([*head, "filled, a second"], rows)


# Results file, then name of the table: as the page's marks name them.
def contradictions(found: Found) -> str:
    """The contradiction suite by category."""
    rows = found["contradictions"]["rows"]
    names = ("cases", "hit", "missed", "wrong", "precision", "recall")
    order = sorted(rows, key=lambda name: (name.startswith("over all"), name.startswith("met")))
    return table(["category", *names], [[name, *(rows[name][n] for n in names)] for name in order])


def misses(found: Found) -> str:
    """Every case of the suite that went wrong."""
    rows = [
        [it["what"], it["category"], it["first"], it["second"]]
        for it in found["contradictions"]["misses"]
    ]
    return table(["what", "category", "first", "second"], rows)


def updates(found: Found) -> str:
    """Newest above stale, on recorded data."""
    rows: list[list[Any]] = [
        [name, it["questions"], it["newest first"], it["stale out of recall"]]
        for name, it in found["facts"].items()
    ]
    if "updates" in found:
        it = found["updates"]
        name = "longmemeval, knowledge updates"
        rows.append([name, it["questions"], it["newest first"], None])
        ways = ("by turn", "by similarity alone", "raw turns")
        rows += [[f"{name}, {way}", it["questions"], it[way], None] for way in ways if way in it]
    return table(["data", "questions", "newest first", "stale out of recall"], rows)


KEPT = ("learned", "raw turns", "share of evidence", "kept of what raw turns find")


def extraction(found: Found) -> str:
    """What extraction keeps of LoCoMo, and at what size."""
    it = found.get("extraction")
    if it is None:
        return "LoCoMo was not there."
    rows = [[depth, *(it[name][depth] for name in KEPT)] for depth in it["learned"]]
    head = ["depth", "learnings", "raw turns", "share", "kept of what raw turns find"]
    said = (
        f"{it['memories']:,} memories, {it['share of tokens']:.1%} of the tokens of the raw turns; "
        f"junk {it['junk']['share']:.1%} of a sample of {it['junk']['sample']}, "
        f"{it['junk']['labelled']} of it labelled; "
        f"{it['growth when replayed']} memories more when ten sessions are told again."
    )
    return f"{table(head, rows)}\n\n{said}"


def poisoning(found: Found) -> str:
    """Attacks that were stored, that showed in the first five, and that showed as fact."""
    rows = []
    for store in ("empty", "filled", "filled, no policy"):
        for name, it in found["poisoning"][store].items():
            rows.append([store, name, it["cases"], it["stored"], it["exposed"], it["as fact"]])
    wrongly, across = found["poisoning"]["false positives"], found["poisoning"]["cross-tenant"]
    said = (
        f"Benign writings held: {wrongly['held']} of {wrongly['cases']}. "
        f"Attacks seen from another scope: {across['seen']} of {across['cases']}."
    )
    return f"{table(['store', 'attack', 'cases', 'stored', 'exposed', 'as fact'], rows)}\n\n{said}"


def agent_turns(found: Found) -> str:
    """What memory takes of an agent's turn."""
    head = ["memory", "flavour", "p50 ms", "p95 ms"]
    rows = [[row["system"], row["flavour"], row["p50"], row["p95"]] for row in found["rows"]]
    return table(head, rows, digits=1)


# --- PostgreSQL ---

WAYS = ("in memory", "in the database")
ON_POSTGRES = (
    *("first recall", "recall", "recall again", "recall, filter 5 %", "recall, filter .5 %"),
    *("remember", "state set", "state get"),
)


def postgres_sizes(found: Found) -> str:
    """Times by the size of the scope and by where it is searched, embedding excluded."""
    of = found["sizes"]
    rows: list[list[Cell]] = [
        [f"{name}, {way}, p50 ms", *(_deep(one, way, name, "p50_ms") for one in of.values())]
        for way in WAYS
        for name in ON_POSTGRES
    ]
    rows += [
        ["graph made, s", *(_deep(one, WAYS[1], "index_s") for one in of.values())],
        [
            "of the ten nearest the graph finds",
            *(_deep(one, WAYS[1], "recall@10") for one in of.values()),
        ],
        ["one plain HNSW query, p50 ms", *(_deep(one, "plain", "p50_ms") for one in of.values())],
        ["recall over a plain query, times", *(one["recall over plain"] for one in of.values())],
        ["measured at commit", *(_deep(one, "run", "commit") for one in of.values())],
        ["load at the start", *(_deep(one, "run", "load") for one in of.values())],
    ]
    return table(["", *(f"{int(size):,}" for size in of)], rows)


def postgres_scopes(found: Found) -> str:
    """Many small scopes."""
    told = found.get("small scopes")
    if not told:
        return "Not measured."
    names = ("recall, scope not in memory", "recall")
    head = f"{told['scopes']:,} scopes of {told['each']}"
    return table([head, "p50 ms", "p95 ms"], [[n, *_times(told[n])] for n in names])


def _times(one: Mapping[str, float]) -> tuple[float, float]:
    return one["p50_ms"], one["p95_ms"]


def postgres_quality(found: Found) -> str:
    """The figures of recall on both engines."""
    told = found.get("quality")
    if not told:
        return "Not measured."
    ways = ("sqlite", "postgres", "by graphs")
    rows: list[list[Cell]] = [[name, *(told[way][name] for way in ways)] for name in told["sqlite"]]
    differ = [told[f"answers that differ, {way}"] for way in ways[1:]]
    rows.append(["answers that differ", 0, *differ])
    head = f"{told['questions']} questions of LoCoMo"
    return table([head, "SQLite", "PostgreSQL", "in the database"], rows)


def postgres_servers(found: Found) -> str:
    """64 clients on one server process, and on several."""
    told = found.get("served")
    if not told:
        return "Not measured."
    rows = [[kind, *(one[kind]["per_second"] for one in told.values())] for kind in told["1"]]
    failed = [sum(kind["failed"] for kind in one.values()) for one in told.values()]
    return table(["calls a second, by processes", *told], [*rows, ["failed", *failed]])


def served_rates(found: Found) -> str:
    """Calls in a second over HTTP, p50 and p99, by clients."""
    rows: dict[str, list[Cell]] = {}
    for row in found["rows"]:
        times = f"{row['p50_ms']:.1f} / {row['p99_ms']:.1f} ms"
        rows.setdefault(row["kind"], []).append(f"{row['per_second']:,.0f}/s, {times}")
    return table(["by clients", "1", "8", "64"], [[kind, *rows[kind]] for kind in rows])


def served_aims(found: Found) -> str:
    """The share of the bare framework's rate, and what the server adds."""
    rates = found["state get over echo"].items()
    rows: list[list[Cell]] = [[f"state get over echo, {n}", x, None, None, 0.6] for n, x in rates]
    for name, it in found["in process"].items():
        half = " to ".join(f"{edge:.3f}" for edge in it["middle_ms"])
        rows.append([f"{name}, added ms", it["added_ms"], half, it["bare_ms"], 1.0])
    return table(["", "measured", "middle half", "of it a bare echo", "aim"], rows)


def _deep(found: Mapping[str, Any], *names: str) -> Cell:
    """A figure inside of others; None where it was not taken."""
    value: Any = found
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return cast(Cell, value)


TABLES: dict[str, dict[str, Callable[[Found], str]]] = {
    "quality": {
        **quality_tables.TABLES,
        **quality_tables.by_kind({"aims": aims}),
        "verdict": verdict,
        "missed": missed,
        "checks": checks,
    },
    "postgres": {
        "sizes": postgres_sizes,
        "scopes": postgres_scopes,
        "quality": postgres_quality,
        "servers": postgres_servers,
    },
    "served": {"rates": served_rates, "aims": served_aims},
    "floors": {"floors": floors},
    "vectors": {"search": search, "checks": checks},
    "learning": {
        "contradictions": contradictions,
        "misses": misses,
        "updates": updates,
        "extraction": extraction,
        "poisoning": poisoning,
    },
    "rivals": {"quality": rivals_quality},
    "race": {"speed": race, "checks": checks},
    "agents": {"turns": agent_turns, "checks": checks},
    "speed": {
        "floors": floors,
        "sizes": sizes,
        "writing": writing,
        "rates": rates,
        "embedders": embedders,
        "scopes": scopes,
        "checks": checks,
    },
}
