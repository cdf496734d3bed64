"""Results files: what was measured, of which commit, on what machine, by which command."""

from __future__ import annotations

import json
import math
import os
import platform
import sqlite3
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.corpora import ROOT

FOLDER = ROOT / "benchmarks" / "results"
REQUIRED = ("commit", "machine", "command", "seed", "date", "quick")
DIGITS = 4


def header(seed: int, quick: bool, module: str = "benchmarks") -> dict[str, Any]:
    """What anybody needs to judge, or repeat, a measurement made by a module's command."""
    return {
        "commit": commit(),
        "machine": machine(),
        "command": " ".join([f"python -m {module}", *sys.argv[1:]]),
        "seed": seed,
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "quick": quick,
    }


def commit() -> str:
    """The commit measured; marked when files differ from it."""
    known = _git("rev-parse", "--short=12", "HEAD") or "unknown"
    return known + ("+changes" if _git("status", "--porcelain", "--", "src", "benchmarks") else "")


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.strip()


def machine() -> dict[str, Any]:
    """The machine and the versions that matter."""
    return {
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "ram_gb": round(_ram() / 2**30, 1),
        "load_1min": round(os.getloadavg()[0], 2),
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "numpy": np.__version__,
    }


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _ram() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def write(folder: Path, name: str, found: dict[str, Any]) -> Path:
    """Writes a results file; numbers are rounded, so that noise does not look like news."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.json"
    file.write_text(json.dumps(rounded(found), indent=1) + "\n")
    return file


def read(folder: Path, name: str) -> dict[str, Any] | None:
    """A results file, if there is one."""
    file = folder / f"{name}.json"
    found: dict[str, Any] | None = json.loads(file.read_text()) if file.is_file() else None
    return found


def rounded(value: Any) -> Any:
    """A value with its floats rounded: to so many digits behind the point, or in all if large."""
    if isinstance(value, dict):
        return {str(key): rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one) for one in value]
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else round(float(value), DIGITS)
    return int(value) if isinstance(value, np.integer) else value
