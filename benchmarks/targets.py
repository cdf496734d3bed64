"""What is to be reached, and whether it is: every requirement a row with its figure and verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import metrics, scoring

# Level, category, measure and a short name: the figures by which systems are compared.
SHORT = (
    ("turn", "all", "mrr", "MRR"),
    ("turn", "all", "hit@10", "hit@10"),
    ("turn", "all", "recall@10", "recall@10"),
    ("turn", "all", "recall_all@10", "recall_all@10"),
    ("turn", "all", "ndcg@10", "NDCG@10"),
    ("turn", "multi-hop", "recall_all@10", "multi-hop recall_all@10"),
    ("session", "all", "recall_all@5", "session recall_all@5"),
    ("update", "all", "newest_first", "newest first"),
)
WEIGHTS = ("default", "relevance")
RANKED = (*WEIGHTS, "relevance, never abstaining")
PLAIN = ("cosine", "BM25")  # never below these

# Corpus, level, category, measure, at least.
QUALITY = (
    ("locomo", "turn", "all", "hit@10", 0.80),
    ("locomo", "turn", "all", "recall@10", 0.73),
    ("locomo", "turn", "all", "mrr", 0.50),
    ("locomo", "turn", "multi-hop", "recall_all@10", 0.25),
    ("locomo", "session", "all", "recall_all@5", 0.82),
    ("longmemeval", "session", "all", "recall_all@5", 0.95),
    ("longmemeval", "turn", "all", "recall_all@10", 0.88),
)
AUROC = 0.90
OWN_ABSTAINED = 0.10
CHANCE = 0.05  # what chance alone does more often than this is put down to it


@dataclass(frozen=True)
class Check:
    """One requirement: its figure beside its bound. `passed` is None when it was not measured.

    `questions` is how many the figure is a mean over: the fewer, the more of it is chance.
    `chance` is how likely that alone puts it so far below.
    """

    what: str
    value: float | None
    bound: float
    at_least: bool = True
    questions: int | None = None
    chance: float | None = None

    @property
    def passed(self) -> bool | None:
        if self.value is None:
            return None
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    @property
    def noise(self) -> float | None:
        """About one standard error of such a share, or of any mean between 0 and 1 at most."""
        if self.questions is None:
            return None
        spread = self.bound * (1 - self.bound)
        return max(math.sqrt(spread / self.questions), 1 / self.questions)

    def row(self) -> dict[str, Any]:
        """As it stands in a results file."""
        return asdict(self) | {"passed": self.passed, "noise": self.noise}


def quality(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Every requirement on quality."""
    checks = [
        Check(f"{corpus}, {level}, {category}: {measure}, {weights}", value, bound)
        for corpus, level, category, measure, bound in QUALITY
        for weights in WEIGHTS
        for value in [_figure(found, corpus, weights, level, category, measure)]
    ]
    for corpus in every_corpus(found):
        checks += never_below(found, corpus)
    checks += _abstention(found["abstention"])
    return [check.row() for check in checks]


def every_corpus(found: dict[str, Any]) -> dict[str, Any]:
    """The corpora, and those of a kind put together."""
    together = {f"{kind}, together": one for kind, one in found.get("together", {}).items()}
    return {**found["corpora"], **together}


def _figure(found: dict[str, Any], corpus: str, system: str, *keys: str) -> float | None:
    value: Any = every_corpus(found).get(corpus, {}).get("systems", {}).get(system)
    for key in keys:
        value = None if value is None else value.get(key)
    return None if value is None else float(value)


def never_below(found: dict[str, Any], corpus: str) -> list[Check]:
    """On each figure the library is at least as good as the better of the plain ones."""
    checks = []
    chances = every_corpus(found)[corpus].get("chance", {})
    for level, category, measure, label in SHORT:
        plain = [_figure(found, corpus, name, level, category, measure) for name in PLAIN]
        bounds = [value for value in plain if value is not None]
        asked = _figure(found, corpus, PLAIN[0], level, category, "n")
        for weights in RANKED if bounds else ():
            value = _figure(found, corpus, weights, level, category, measure)
            what = f"{corpus}: {label} at least as plain cosine and BM25, {weights}"
            chance = chances.get(weights, {}).get(label)
            checks.append(Check(what, value, max(bounds), True, int(asked or 1), chance))
    return checks


def chances(rows: Mapping[str, Sequence[scoring.Row]]) -> dict[str, dict[str, float]]:
    """For each figure that is below a plain one: how likely chance alone puts it there.

    The better of the plain ones is taken, question by question, as if it had been chosen before.
    """
    told: dict[str, dict[str, float]] = {weights: {} for weights in RANKED if weights in rows}
    for level, category, measure, label in SHORT:
        plain = [scoring.column(rows[name], level, category, measure) for name in PLAIN]
        better = max(plain, key=sum)
        for weights, found in told.items():
            ours = scoring.column(rows[weights], level, category, measure)
            if sum(ours) < sum(better):
                found[label] = metrics.by_chance(ours, better)
    return told


def _abstention(found: dict[str, Any]) -> list[Check]:
    checks = []
    for name in dict.fromkeys(("locomo", "longmemeval", *found)):
        figures = found.get(name, {})
        auroc, share = figures.get("auroc_similarity"), figures.get("own_abstained")
        checks.append(Check(f"{name}: abstention AUROC", auroc, AUROC))
        checks.append(Check(f"{name}: own questions abstained", share, OWN_ABSTAINED, False))
    return checks


def speed(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Every requirement on speed."""
    writing = found["writing"]
    checks = [
        Check("remember, durable, over fsync", writing.get("remember_over_fsync"), 2.0, False),
        Check("eight writers over one", writing.get("threads_over_alone"), 4.0),
        Check("recall at 100,000, p50 ms", _p50(found, "100000"), 5.0, False),
        Check("recall at 1,000,000, p50 ms", _p50(found, "1000000"), 25.0, False),
    ]
    beside = found["embedders"].get("minilm", {})
    whole = beside.get("whole_over_embedding") if beside.get("size") == 10_000 else None
    share = beside.get("batch_share_of_embedding")
    checks.append(Check("whole recall at 10,000 over embedding the query", whole, 1.5, False))
    checks.append(Check("batch remember, share of the embedder's own rate", share, 0.9))
    return [check.row() for check in checks]


def _p50(found: dict[str, Any], size: str) -> float | None:
    value: float | None = found["sizes"].get(size, {}).get("recall", {}).get("p50_ms")
    return value


def search(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Recall of the exact ten nearest, always."""
    return [
        Check(
            f"{one['vectors']}, {one['size']:,}, filter {one['filter']}: recall of the exact ten",
            one["recall"],
            0.98,
        ).row()
        for one in found["tables"]
    ]


def race(found: dict[str, Any]) -> list[dict[str, Any]]:
    """What is to be reached beside others, in a store of 10,000, embedding excluded."""

    def times(name: str, what: str) -> float | None:
        ours = found["speed"].get("holdfast", {}).get("10000", {}).get(what)
        other = found["speed"].get(name, {}).get("10000", {}).get(what)
        return None if not ours or not other else other / ours

    return [
        Check("recall, times as fast as mem0 at 10,000", times("mem0", "search_ms"), 20.0).row(),
        Check("remember, times as fast as chromadb", times("chromadb", "add_ms"), 5.0).row(),
        Check("remember, times as fast as mem0", times("mem0", "add_ms"), 1.0).row(),
    ]
