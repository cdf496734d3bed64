"""Other systems beside us: the same data, the same vectors, each in an environment of its own.

`Rivals` asks how well they find, `Race` how fast they are; a race wants the machine for itself.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import corpora, generated, targets
from benchmarks.corpora import ROOT, Corpus
from benchmarks.embedding import Cached, cached
from benchmarks.options import Options
from benchmarks.scoring import Ask, evaluated
from benchmarks.stores import DEFAULT, DEPTH, RELEVANCE, Store, remembered
from benchmarks.workload import Free, Texts
from holdfast import Weights

PACKAGES = {"chromadb": "chromadb==1.5.9", "mem0": "mem0ai==2.2.1", "txtai": "txtai==9.14.0"}
OURS = "holdfast"
PATIENCE_SECONDS = 3 * 3600


class Field:
    """Every system, each asked in a process of its own; one that cannot be had is told."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.found: dict[str, Any] = {"notes": [], "versions": {}}

    def note(self, said: str) -> None:
        """Says something, and keeps it with the results."""
        print(f"note: {said}", flush=True)
        self.found["notes"].append(said)

    def answers(self, names: Sequence[str], folder: Path, **task: Any) -> dict[str, Any]:
        """What each system answers to a task."""
        told = {name: self._system(name, folder, task) for name in names}
        return {name: answer for name, answer in told.items() if answer}

    def _system(self, name: str, folder: Path, more: dict[str, Any]) -> dict[str, Any] | None:
        python = Path(sys.executable) if name == OURS else self._python(name)
        if python is None:
            return None
        print(f"  {name} …", flush=True)
        task = {"system": name, "folder": str(folder), **more}
        answer = answered(python, task, folder)
        if "error" in answer:
            self.note(f"{name} did not run to its end: {answer['error'][:300]}")
        self.found["versions"][name] = answer.get("version")
        return answer

    def _python(self, name: str) -> Path | None:
        """The Python of an environment with this system, made now if there is none."""
        place = self.options.cache / "rivals" / name
        python = place / "bin" / "python"
        try:
            if not python.exists():
                print(f"  making an environment for {name} …", flush=True)
                subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            wanted = [PACKAGES[name], "numpy"]
            pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, *wanted], check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            said = [line for line in (error.stderr or "").splitlines() if "WARNING" not in line]
            self.note(f"{name} could not be installed: {said[-1] if said else error}")
            return None
        return python


class Rivals(Field):
    """How well the others find, on data that they are given whole."""

    def run(self) -> dict[str, Any]:
        """Every system on the same data."""
        embedder = cached("minilm", self.options.cache)
        data = {corpus.name: corpus for corpus in self._data()}
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            for corpus in data.values():
                hand_over(corpus, embedder, Path(folder))
            answers = self.answers(list(PACKAGES), Path(folder), data=list(data))
        self._score(data, embedder, answers)
        return self.found

    def _data(self) -> list[Corpus]:
        found = []
        for name in corpora.FILES:
            if name in corpora.missing():
                self.note(f"{name} is not in {corpora.DATA}: left out")
            elif self.options.data is None or name in self.options.data:
                found.append(corpora.some(corpora.load(name), self.options.stores))
        chosen = self.options.made
        made = generated.all_of(self.options.seed)
        return found + [one for one in made if chosen is None or one.name in chosen]

    def _score(
        self, data: dict[str, Corpus], embedder: Cached, answers: dict[str, dict[str, Any]]
    ) -> None:
        for name, corpus in data.items():
            systems = self.found.setdefault("quality", {}).setdefault(name, {})
            with remembered(corpus, embedder) as stores:
                for label, weights in (("default", DEFAULT), ("relevance", RELEVANCE)):
                    systems[f"{OURS}, {label}"] = evaluated(stores, _library(weights))
                for rival, answer in answers.items():
                    if name in answer["quality"]:
                        systems[rival] = evaluated(stores, _told(answer["quality"][name]))


class Race(Field):
    """How fast the others are, outside embedding."""

    def run(self) -> dict[str, Any]:
        """Every system, and ours, on the same store."""
        sizes = [1_000] if self.options.quick else [1_000, 10_000]
        times = 30 if self.options.quick else 100
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            hand_over_speed(Path(folder), max(sizes) + len(sizes) * times, times)
            answers = self.answers(
                [OURS, *PACKAGES], Path(folder), data=[], sizes=sizes, times=times
            )
        self.found["speed"] = {
            name: answer["speed"] for name, answer in answers.items() if "speed" in answer
        }
        self.found["checks"] = targets.race(self.found)
        return self.found


def answered(python: Path, task: dict[str, Any], folder: Path) -> dict[str, Any]:
    """What a system says, in its own process."""
    task_file = folder / f"task-{task['system']}.json"
    answer_file = folder / f"answer-{task['system']}.json"
    task_file.write_text(json.dumps(task))
    words = [str(python), "-I", str(ROOT / "benchmarks" / "rival.py")]
    try:
        done = subprocess.run(
            [*words, str(task_file), str(answer_file)],
            check=False,
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"quality": {}, "error": f"not done after {PATIENCE_SECONDS} seconds"}
    if not answer_file.exists():
        said = done.stderr.strip().splitlines()
        return {"quality": {}, "error": said[-1] if said else f"exit {done.returncode}"}
    found: dict[str, Any] = json.loads(answer_file.read_text())
    return found


def hand_over(corpus: Corpus, embedder: Cached, folder: Path) -> None:
    """Writes texts and vectors where every system can read them; one vector a text."""
    told, items, queries = [], [], []
    for instance in corpus.instances:
        asked = [query for query in instance.queries if query.gold]
        told.append(
            {
                "id": instance.id,
                "ids": [item.id for item in instance.items],
                "texts": [item.text for item in instance.items],
                "query_ids": [query.id for query in asked],
                "questions": [query.text for query in asked],
            }
        )
        items.append(embedder.embed([item.text for item in instance.items]))
        queries.append(embedder.embed([query.text for query in asked]))
    (folder / f"{corpus.name}.json").write_text(json.dumps(told))
    np.savez(
        folder / f"{corpus.name}.npz", items=np.concatenate(items), queries=np.concatenate(queries)
    )


def hand_over_speed(folder: Path, size: int, times: int) -> None:
    """The same for the store whose speed is measured."""
    texts, free = Texts(4), Free()
    told = texts.some(0, size)
    questions = texts.questions(times, size)
    (folder / "speed.json").write_text(json.dumps({"texts": told, "questions": questions}))
    np.savez(folder / "speed.npz", items=free.embed(told), queries=free.embed(questions))


def _library(weights: Weights) -> Any:
    def asker(store: Store) -> Ask:
        return lambda query: [hit.id for hit in store.recall(query, weights, DEPTH)]

    return asker


def _told(orders: dict[str, dict[str, list[str]]]) -> Any:
    """A system by what it answered; ids of equal content are joined, as ours are."""

    def asker(store: Store) -> Ask:
        return lambda query: store.ids(orders[store.instance.id][query.id])

    return asker
