"""The tables of quality: of what was recorded, and of each small corpus by itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import budget, metrics
from benchmarks.cells import Cell, Found, table
from benchmarks.quality import TOGETHER
from benchmarks.targets import SHORT

ABOUT = ("stores", "items", "memories", "questions", "without_gold")


def about(found: Found) -> str:
    """The corpora."""
    rows = []
    for name, corpus in found["corpora"].items():
        told = corpus["about"]
        counts = [told[key] for key in ABOUT]
        rows.append([name, *counts, "; ".join(told["notes"]) or None])
    return table(["corpus", *(key.replace("_", " ") for key in ABOUT), "notes"], rows)


def systems(found: Found) -> str:
    """Every system on every corpus, by the few figures that tell most."""
    rows = [
        [corpus, system, *short(tables)]
        for corpus, one in found["corpora"].items()
        for system, tables in one["systems"].items()
    ]
    return table(["corpus", "system", *(label for *_, label in SHORT)], rows)


def together(found: Found) -> str:
    """The small corpora of a kind as one."""
    rows = [
        [kind, system, tables["turn"]["all"]["n"], *short(tables)]
        for kind, one in found.get("together", {}).items()
        for system, tables in one["systems"].items()
    ]
    return table(["corpora", "system", "n", *(label for *_, label in SHORT)], rows)


def short(tables: Found) -> list[float | None]:
    """The few figures that tell most."""
    return [tables[level].get(group, {}).get(measure) for level, group, measure, _ in SHORT]


LEVEL_MEASURES = ("hit", "recall", "recall_all", "ndcg")


def levels(found: Found) -> str:
    """Every measure at every depth, of the library, by level."""
    rows = [
        [
            corpus,
            level,
            weights,
            told["n"],
            told["mrr"],
            *(_depths(told, m) for m in LEVEL_MEASURES),
        ]
        for corpus, one in found["corpora"].items()
        for level in ("turn", "session")
        for weights in ("default", "relevance")
        for told in [one["systems"][weights][level].get("all")]
        if told
    ]
    depths = "/".join(str(k) for k in metrics.KS)
    head = ["corpus", "level", "weights", "n", "MRR", *(f"{m}@{depths}" for m in LEVEL_MEASURES)]
    return table(head, rows)


def _depths(told: Found, measure: str) -> str:
    return " / ".join(f"{told[f'{measure}@{k}']:.3f}" for k in metrics.KS)


CATEGORY_MEASURES = ("mrr", "hit@10", "recall@10", "recall_all@10", "ndcg@10")
CATEGORY_SYSTEMS = ("default", "relevance", "cosine", "BM25")


def categories(found: Found) -> str:
    """The recorded corpora by category."""
    rows = [
        _category(corpus, name, system, one["systems"][system])
        for corpus, one in found["corpora"].items()
        if len(one["systems"]["default"]["turn"]) > 2 and "pooled" not in corpus
        for name in one["systems"]["default"]["turn"]
        for system in CATEGORY_SYSTEMS
    ]
    head = ["corpus", "category", "system", "n", *CATEGORY_MEASURES, "session recall_all@5"]
    return table(head, rows)


def _category(corpus: str, name: str, system: str, of: Found) -> list[Cell]:
    turn = of["turn"][name]
    sessions = of["session"].get(name, {}).get("recall_all@5")
    return [corpus, name, system, turn["n"], *(turn[m] for m in CATEGORY_MEASURES), sessions]


def budgets(found: Found) -> str:
    """The share of the evidence inside a block of so many tokens."""
    rows = [
        [corpus, system, *(shares[str(size)] for size in budget.BUDGETS)]
        for corpus, one in found["corpora"].items()
        for system, shares in one.get("budget", {}).items()
    ]
    return table(["corpus", "order by", *(f"{size} tokens" for size in budget.BUDGETS)], rows)


ABSTENTION = {
    "own": "own questions",
    "foreign": "foreign questions",
    "auroc_similarity": "AUROC, similarity",
    "auroc_score": "AUROC, default score",
    "own_abstained": "own abstained",
    "foreign_abstained": "foreign abstained",
    "adversarial": "adversarial questions",
    "adversarial_abstained": "adversarial abstained",
    "auroc_adversarial": "AUROC against adversarial",
}


def abstention(found: Found) -> str:
    """Whether it knows when it knows nothing."""
    rows = [
        [name, *(one.get(key) for key in ABSTENTION)] for name, one in found["abstention"].items()
    ]
    return table(["corpus", *ABSTENTION.values()], rows)


def ablation(found: Found) -> str:
    """What is lost without each part of the ranking: differences to the whole."""
    rows: list[list[Cell]] = []
    labels = [label for *_, label in SHORT]
    for corpus, parts in found["ablation"].items():
        whole = parts["nothing"]
        rows.append([corpus, "(nothing)", *(whole.get(label) for label in labels)])
        rows += [
            [corpus, part, *(_change(one.get(label), whole.get(label)) for label in labels)]
            for part, one in parts.items()
            if part != "nothing"
        ]
    return table(["corpus", "without", *labels], rows)


def _change(value: float | None, whole: float | None) -> str | None:
    if value is None or whole is None:
        return None
    return f"{round(value - whole, 4):+.3f}" if abs(value - whole) >= 0.0005 else "0"


def smaller(found: Found) -> str:
    """What the static embedder costs: its figures, less those of the first embedder."""
    labels = [label for *_, label in SHORT]
    rows: list[list[Cell]] = []
    for corpus, one in found["corpora"].items():
        for weights in ("default", "relevance"):
            if f"{weights}, fast" in one["systems"]:
                own = short(one["systems"][weights])
                fast = short(one["systems"][f"{weights}, fast"])
                changes = [_change(a, b) for a, b in zip(fast, own, strict=True)]
                rows.append([corpus, weights, *changes])
    return table(["corpus", "weights", *labels], rows)


def of_kind(found: Found, small: bool) -> Found:
    """The results of the small corpora alone, or all but those."""

    def kept(name: str) -> bool:
        notes = found["corpora"].get(name, {}).get("about", {}).get("notes", ())
        return small is not set(TOGETHER).isdisjoint(notes)

    parts = {part: found[part] for part in ("corpora", "abstention", "ablation")}
    chosen = {part: {name: of[name] for name in of if kept(name)} for part, of in parts.items()}
    checks = [one for one in found["checks"] if kept(one["what"].partition(":")[0])]
    return {**found, **chosen, "checks": checks}


Make = Callable[[Found], str]
Tables = dict[str, Make]

BY_CORPUS: Tables = {
    "corpora": about,
    "systems": systems,
    "levels": levels,
    "categories": categories,
    "budgets": budgets,
    "abstention": abstention,
    "ablation": ablation,
    "embedders": smaller,
}


def by_kind(tables: Tables) -> Tables:
    """Each table twice: without the small corpora, and of them alone."""
    told = tables.items()
    large: Tables = {name: partial(_of_kind, make, small=False) for name, make in told}
    small: Tables = {f"small {name}": partial(_of_kind, make, small=True) for name, make in told}
    return large | small


def _of_kind(make: Make, found: Found, small: bool) -> str:
    return make(of_kind(found, small))


TABLES: Tables = by_kind(BY_CORPUS) | {"together": together}
