"""What a run found, as a table for people and as JSON for the record."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks.faults.check import KINDS
from benchmarks.faults.rounds import Tally

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "faults.md"
QUOTED = re.compile(r"(?<=```text\n).*?(?=\n```)", re.DOTALL)
COLUMNS = ("runs", "kills", "in flight", "acknowledged", *KINDS)


def figures(tally: Tally) -> list[int]:
    """The numbers of one row, in the order of the columns."""
    plain = [tally.runs, tally.kills, tally.in_flight, tally.acknowledged]
    return plain + [tally.bad[kind] for kind in KINDS]


def results(tallies: Mapping[str, Tally], **run: Any) -> dict[str, Any]:
    """Everything about a run that another may want to check."""
    rows = {
        fault: dict(zip(COLUMNS, figures(tally), strict=True)) for fault, tally in tallies.items()
    }
    total = {name: sum(row[name] for row in rows.values()) for name in COLUMNS}
    return {**run, "total": total, "faults": rows}


def table(found: Mapping[str, Any]) -> str:
    """The table of a run: a row per fault, and all of them together."""
    rows = {**found["faults"], "all": found["total"]}
    first = max(len(fault) for fault in rows)
    lines = ["  ".join([" " * first, *COLUMNS])]
    for fault, row in rows.items():
        cells = (f"{row[name]:,}".rjust(len(name)) for name in COLUMNS)
        lines.append("  ".join([fault.ljust(first), *cells]))
    return "\n".join(lines)


def heading(found: Mapping[str, Any]) -> str:
    """The run in one line."""
    bad = sum(found["total"][kind] for kind in KINDS)
    return (
        f"{found['total']['kills']:,} kills, {found['total']['acknowledged']:,} operations "
        f"acknowledged, {bad} faults found; seed {found['seed']}, {found['seconds']:.0f} seconds, "
        f"{found['machine']}"
    )


def where() -> dict[str, Any]:
    """What was run, on what."""
    return {
        "at": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "command": " ".join(["python", *sys.argv]),
        "machine": f"{os.cpu_count()} cores, {_processor()}, {platform.system()} "
        f"{platform.machine()}",
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
    }


def commit() -> str:
    """The commit of this tree, and whether it was changed since."""

    def git(*words: str) -> str:
        told = subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=False
        )
        return told.stdout.strip()

    if not shutil.which("git"):
        return "unknown"
    changed = git("status", "--porcelain", "--", "src")
    return (git("rev-parse", "HEAD") or "unknown") + (" and changes" if changed else "")


def _processor() -> str:
    names = Path("/proc/cpuinfo")
    for line in names.read_text().splitlines() if names.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def quote(found: Mapping[str, Any]) -> None:
    """Puts the results on their page, in the place of the last ones."""
    quoted = f"{table(found)}\n\n{heading(found)}"
    PAGE.write_text(QUOTED.sub(lambda _: quoted, PAGE.read_text(), count=1))


def save(found: Mapping[str, Any], path: Path) -> None:
    """Writes the results."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
