"""Other systems beside us: the same data, the same vectors, each in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import replace
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
SUBSET = 12  # stores of longmemeval: mem0 takes minutes for each
PATIENCE_SECONDS = 3 * 3600


class Rivals:
    """One run."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.sizes = [1_000] if options.quick else [1_000, 10_000]
        self.times = 30 if options.quick else 100
        self.found: dict[str, Any] = {"notes": [], "quality": {}, "speed": {}, "versions": {}}

    def note(self, said: str) -> None:
        """Says something, and keeps it with the results."""
        print(f"note: {said}", flush=True)
        self.found["notes"].append(said)

    def run(self) -> dict[str, Any]:
        """Every system on the same data; one that cannot be had is told and left out."""
        embedder = cached("minilm", self.options.cache)
        data = {corpus.name: corpus for corpus in self._data()}
        with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
            for corpus in data.values():
                hand_over(corpus, embedder, Path(folder))
            hand_over_speed(
                Path(folder), max(self.sizes) + len(self.sizes) * self.times, self.times
            )
            answers = {name: self._system(name, data, Path(folder)) for name in [OURS, *PACKAGES]}
        self._score(data, embedder, {name: found for name, found in answers.items() if found})
        self.found["checks"] = targets.rivals(self.found)
        return self.found

    def _data(self) -> list[Corpus]:
        found = []
        for name in ("locomo", "longmemeval"):
            if name in corpora.missing():
                self.note(f"{name} is not in {corpora.DATA}: left out")
            elif self.options.data is None or name in self.options.data:
                found.append(self._part(corpora.load(name)))
        return found or generated.all_of(self.options.seed)[:2]

    def _part(self, corpus: Corpus) -> Corpus:
        some = SUBSET if corpus.name == "longmemeval" else len(corpus.instances)
        some = min(some, 2) if self.options.quick else some
        step = len(corpus.instances) // some
        chosen = corpus.instances[::step][:some]
        if len(chosen) < len(corpus.instances):
            self.note(f"{corpus.name}: {len(chosen)} of {len(corpus.instances)} stores")
        return replace(corpus, instances=chosen)

    def _system(self, name: str, data: dict[str, Corpus], folder: Path) -> dict[str, Any] | None:
        python = Path(sys.executable) if name == OURS else self._python(name)
        if python is None:
            return None
        print(f"  {name} …", flush=True)
        task = {
            "system": name,
            "folder": str(folder),
            "data": list(data),
            "sizes": self.sizes,
            "times": self.times,
        }
        answer = answered(python, task, folder)
        if "error" in answer:
            self.note(f"{name} did not run to its end: {answer['error'][:300]}")
        self.found["versions"][name] = answer.get("version")
        if "speed" in answer:
            self.found["speed"][name] = answer["speed"]
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

    def _score(
        self, data: dict[str, Corpus], embedder: Cached, answers: dict[str, dict[str, Any]]
    ) -> None:
        for name, corpus in data.items():
            systems = self.found["quality"].setdefault(name, {})
            with remembered(corpus, embedder) as stores:
                for label, weights in (("default", DEFAULT), ("relevance", RELEVANCE)):
                    systems[f"{OURS}, {label}"] = evaluated(stores, _library(weights))
                for rival, answer in answers.items():
                    if rival != OURS and name in answer["quality"]:
                        systems[rival] = evaluated(stores, _told(answer["quality"][name]))


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
