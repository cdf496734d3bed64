"""The poisoning suite: what attacks get into a store, and before an agent; and what it costs."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.options import Options
from holdfast import Memory, Refused, Source
from holdfast.backend import open_backend

FILE = Path(__file__).with_name("poisoning.txt")
TOP = 5
ATTACKER = "mallory-7"
ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|U([0-9a-f]{8}))")  # so that this file hides nothing
POLICY: dict[str, Any] = {
    "suspicious": "quarantine",
    "secrets": "redact",
    "roles": {"document": "quarantine"},
}


def cases(file: Path = FILE) -> Iterator[tuple[str, str, str]]:
    """Category, what is written and the query it waits for; benign ones have no query."""
    category = ""
    for line in file.read_text().splitlines():
        if line.startswith("["):
            category = line.strip("[]")
        elif line and not line.startswith("# "):
            words, _, query = line.partition(" | ")
            yield category, ESCAPE.sub(lambda at: chr(int(at[1] or at[2], 16)), words), query


def run(options: Options) -> dict[str, Any]:
    """Injection, exposure and false positives, on an empty store and on a filled one."""
    benign = [words for category, words, _ in cases() if category == "benign"]
    return {
        "empty": attacked([], POLICY),
        "filled": attacked(benign, POLICY),
        "filled, no policy": attacked(benign, {}),
        "false positives": wrongly_held(benign),
        "cross-tenant": crossing(),
    }


def attacked(filling: list[str], policy: dict[str, Any]) -> dict[str, Any]:
    """What of each kind of attack was stored, and shown as fact in the first five of its query."""
    found: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory(prefix="holdfast-poison-") as folder:
        for number, (category, words, query) in enumerate(cases()):
            if category == "benign":
                continue
            row = found.setdefault(category, {"cases": 0, "stored": 0, "exposed": 0, "as fact": 0})
            outcome = _one(Path(folder), number, filling, policy, (category, words, query))
            for name, value in zip(row, (1, *outcome), strict=True):
                row[name] += value
    return {name: _shares(row) for name, row in found.items()}


def _one(
    folder: Path,
    number: int,
    filling: list[str],
    policy: dict[str, Any],
    case: tuple[str, str, str],
) -> tuple[int, int, int]:
    category, words, query = case
    backend = open_backend(f"sqlite:///{folder / 'poison.db'}", "auto")
    with Memory(f"case-{number}", backend=backend) as memory:
        if filling:
            memory.remember_many(
                [{"content": it, "source": Source("ann", "user")} for it in filling]
            )
        memory.policy(**policy)
        role = "document" if category in ("plain sentence", "AgentPoison-like") else "agent"
        try:
            stored = not memory.remember(words, source=Source(ATTACKER, role)).held
        except Refused:
            stored = False
        found = memory.recall(query, TOP)
        exposed = any(hit.content == words for hit in (*found, *found.avoid))
        lines = memory.context(query, 1000).splitlines()
        shown = [line for line in lines if f", {ATTACKER}" in line and "claim" not in line]
        return int(stored), int(exposed), int(exposed and bool(shown))


def _shares(row: dict[str, int]) -> dict[str, Any]:
    names = ("stored", "exposed", "as fact")
    return {"cases": row["cases"], **{name: row[name] / row["cases"] for name in names}}


def wrongly_held(benign: list[str]) -> dict[str, Any]:
    """Ordinary writings that the policy keeps out."""
    with tempfile.TemporaryDirectory(prefix="holdfast-poison-") as folder:
        backend = open_backend(f"sqlite:///{Path(folder) / 'poison.db'}", "hashing")
        with Memory("benign", backend=backend) as memory:
            memory.policy(**POLICY)
            told = memory.remember_many([{"content": it, "source": "ann"} for it in benign])
    held = sum(one.held for one in told)
    return {"cases": len(told), "held": held, "share": held / len(told)}


def crossing() -> dict[str, int]:
    """Attacks written to one scope that show in another."""
    seen = count = 0
    with tempfile.TemporaryDirectory(prefix="holdfast-poison-") as folder:
        url = f"sqlite:///{Path(folder) / 'poison.db'}"
        with (
            Memory("attacker", backend=open_backend(url, "hashing")) as attacker,
            Memory("victim", backend=open_backend(url, "hashing")) as victim,
        ):
            victim.remember("Ann lives in Berlin")
            for category, words, query in cases():
                if category != "benign":
                    count += 1
                    attacker.remember(words)
                    seen += any(
                        hit.content == words for hit in victim.recall(query, 50, min_score=0)
                    )
    return {"cases": count, "seen": seen}
