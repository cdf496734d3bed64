"""How fast: every verb beside the floors of the machine, at several sizes."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks import floors, sized, targets, timing
from benchmarks.corpora import ROOT
from benchmarks.options import Options
from benchmarks.sized import THREADS, drafts
from benchmarks.workload import Texts
from holdfast import Memory

SCOPES, IN_EACH = 10_000, 100
BLOCK = 20  # durable writes of a kind, one after the other


class Speed:
    """One run: its options, and what it has found."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.times = 50 if options.quick else 300
        self.found: dict[str, Any] = {"notes": [], "sizes": {}}

    def note(self, said: str) -> None:
        """Says something, and keeps it with the results."""
        print(f"note: {said}", flush=True)
        self.found["notes"].append(said)

    def run(self) -> dict[str, Any]:
        """Everything, one after the other: nothing here runs beside anything else of ours."""
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            self._run(Path(folder))
        self.found["checks"] = targets.speed(self.found)
        return self.found

    def _run(self, folder: Path) -> None:
        self.found["floors"] = floors.measured(folder, self.times, self.options.sizes)
        self.found["writing"] = writing(folder, self.times)
        say("writing", self.found["writing"])
        self.found["embedders"] = {}
        for name in self.options.embedders:
            self._embedder(name)
        for size in self.options.sizes:
            self.found["sizes"][str(size)] = self._size(folder / f"{size}.db", size)
        if self.options.large:
            self.found["scopes"] = self._scopes(folder / "scopes.db")

    def _embedder(self, name: str) -> None:
        size = 1_000 if self.options.quick else 10_000
        task = {"name": name, "cache": str(self.options.cache), "size": size, "times": self.times}
        try:
            found = child("benchmarks.embedded", task)
        except subprocess.CalledProcessError as error:
            self.note(f"embedder {name} left out: {error.stderr.strip().splitlines()[-1]}")
            return
        self.found["embedders"][name] = {"size": size} | found
        say(name, found)

    def _size(self, file: Path, size: int) -> dict[str, Any]:
        filled = child("benchmarks.sized", {"task": "fill", "file": str(file), "size": size})
        task = {"task": "ask", "file": str(file), "size": size, "times": self.times}
        found = {"fill": filled} | child("benchmarks.sized", task)
        say(f"{size:,}", found)
        file.unlink()
        return found

    def _scopes(self, file: Path) -> dict[str, Any]:
        task = {"file": str(file), "size": IN_EACH, "scopes": SCOPES}
        filled = child("benchmarks.sized", task | {"task": "fill"})
        asked = child("benchmarks.sized", task | {"task": "ask_scopes", "times": 1000})
        found = {"scopes": SCOPES, "in_each": IN_EACH, "fill": filled} | asked
        say(f"{SCOPES:,} scopes", found)
        return found


def child(module: str, task: dict[str, Any]) -> dict[str, Any]:
    """What a module finds in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", module, json.dumps(task)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def writing(folder: Path, times: int) -> dict[str, Any]:
    """Durable writes with the hashing embedder, in turn with the floors of the disk."""
    texts = Texts(3)
    disk, table = floors.Disk(folder), floors.Table(folder)
    with Memory("bench", f"sqlite:///{folder / 'writing.db'}", embedder="hashing") as memory:
        memory.remember_many(drafts(texts, 0, 1000))
        told = iter(drafts(texts, 1_000_000, 4 * times + 6 * times * THREADS + 5000))

        def one(_: int = 0) -> object:
            return memory.remember(next(told).content)

        taken = timing.in_turn(
            times,
            {
                "fsync": disk.fsync,
                "fdatasync": disk.fdatasync,
                "sqlite insert": table.insert,
                "remember": one,
                "state set": lambda at: memory.set("cursor", {"row": at}),
                "state get": lambda at: memory.get("cursor"),
            },
            BLOCK,
        )
        found: dict[str, Any] = {name: timing.summary(some) for name, some in taken.items()}
        found |= _together(one, times)
        batches = timing.each(3, lambda _: memory.remember_many([next(told) for _ in range(1000)]))
        found["batch_per_second"] = 1000 / timing.middle(batches)
    disk.close()
    table.close()
    found["remember_over_fsync"] = found["remember"]["p50_ms"] / found["fsync"]["p50_ms"]
    return found


def _together(one: timing.Call, times: int) -> dict[str, Any]:
    """Eight threads against one, in turn; each three times, the middle one counts."""
    alone, together = [], []
    for _ in range(3):
        alone.append(times / sum(call.wall for call in timing.each(times, one)))
        together.append(sized.threads_rate(lambda: one(0), times // 2))
    return {
        "alone_per_second": median(alone),
        "threads_per_second": median(together),
        "threads_over_alone": median(together) / median(alone),
    }


def say(title: str, found: dict[str, Any]) -> None:
    """One line, so that a person who waits sees something."""
    print(f"  {title}: " + "; ".join(sized.lines(found)), flush=True)
