"""One system in its own environment: it is filled, asked and timed, with vectors it is given.

Run as a file (`python -I rival.py task.json answer.json`) by whatever Python the system is
installed in; it imports nothing of ours but, where that is the system, Holdfast.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

TOP = 100  # what is asked for where quality is measured
NEAREST = 10  # and where speed is
BATCH = 1000


class Vectors:
    """The vector of each text, as if an embedder had just made it; some systems strip theirs."""

    def __init__(self) -> None:
        self._of: dict[str, Any] = {}

    def learn(self, texts: list[str], vectors: Any) -> None:
        """Takes the vectors of some texts."""
        self._of.update(zip(map(str.strip, texts), vectors, strict=True))

    def __call__(self, texts: list[str]) -> Any:
        return np.stack([self._of[text.strip()] for text in texts]).astype(np.float32)


class Chroma:
    """chromadb: a collection for each store, on disk."""

    package = "chromadb"

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        chromadb = importlib.import_module("chromadb")
        settings = importlib.import_module("chromadb.config").Settings
        self._client = chromadb.PersistentClient(
            str(folder), settings=settings(anonymized_telemetry=False)
        )
        self._vectors = vectors
        self._of: dict[str, Any] = {}

    def _store(self, store: str) -> Any:
        if store not in self._of:
            name = f"store-{len(self._of)}"
            config = {"hnsw": {"space": "cosine"}}
            self._of[store] = self._client.create_collection(
                name, configuration=config, embedding_function=None
            )
        return self._of[store]

    def fill(self, store: str, ids: list[str], texts: list[str]) -> None:
        """Adds many."""
        for at in range(0, len(ids), BATCH):
            some = slice(at, at + BATCH)
            vectors = self._vectors(texts[some])
            self._store(store).add(ids=ids[some], documents=texts[some], embeddings=vectors)

    def add(self, store: str, id: str, text: str) -> None:
        """Adds one."""
        self._store(store).add(ids=[id], documents=[text], embeddings=self._vectors([text]))

    def search(self, store: str, text: str, top: int) -> list[str]:
        """Ids, best first."""
        held = self._store(store)
        found = held.query(query_embeddings=self._vectors([text]), n_results=top)
        return list(found["ids"][0])


class Mem0:
    """mem0 without its language model: `infer=False`, qdrant on disk, a user for each store."""

    package = "mem0ai"

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "none"}
        qdrant = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        self._memory = importlib.import_module("mem0").Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": qdrant},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _Given(vectors)

    def fill(self, store: str, ids: list[str], texts: list[str]) -> None:
        """Adds many, one by one: it knows no other way."""
        for id, text in zip(ids, texts, strict=True):
            self.add(store, id, text)

    def add(self, store: str, id: str, text: str) -> None:
        """Adds one."""
        self._memory.add(text, user_id=store, infer=False, metadata={"item": id})

    def search(self, store: str, text: str, top: int) -> list[str]:
        """Ids, best first; its threshold is lowered so that it returns what it finds."""
        found = self._memory.search(text, filters={"user_id": store}, top_k=top, threshold=0.0)
        return [hit["metadata"]["item"] for hit in found["results"]]


class _Given:
    """What mem0 takes for an embedder."""

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self.config = type("Config", (), {"embedding_dims": 384})()

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """The vector of a text."""
        vector: list[float] = self._vectors([text])[0].tolist()
        return vector

    def embed_batch(self, texts: list[str], memory_action: str | None = None) -> Any:
        """The vectors of texts."""
        return self._vectors(texts).tolist()


class Txtai:
    """txtai, hybrid: its own BM25 beside vectors; an index for each store."""

    package = "txtai"

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        self._folder = folder
        self._vectors = vectors
        self._new = importlib.import_module("txtai").Embeddings
        self._of: dict[str, Any] = {}

    def _store(self, store: str) -> Any:
        if store not in self._of:
            self._of[store] = self._new(
                {
                    "method": "external",
                    # It takes an object for a class, and calls it: a function it must be.
                    "transform": lambda texts: self._vectors(texts),  # noqa: PLW0108
                    "hybrid": True,
                    "content": False,
                }
            )
        return self._of[store]

    def fill(self, store: str, ids: list[str], texts: list[str]) -> None:
        """Indexes many, and saves."""
        self._store(store).index(list(zip(ids, texts, strict=True)))
        self._save(store)

    def add(self, store: str, id: str, text: str) -> None:
        """Adds one, and saves: without that it is lost with the process."""
        self._store(store).upsert([(id, text)])
        self._save(store)

    def _save(self, store: str) -> None:
        self._of[store].save(str(self._folder / f"{list(self._of).index(store)}"))

    def search(self, store: str, text: str, top: int) -> list[str]:
        """Ids, best first."""
        return [id for id, _ in self._store(store).search(text, top)]


class Holdfast:
    """Ourselves, with the same vectors, by the same calls."""

    package = "holdfast"

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        memory = importlib.import_module("holdfast").Memory
        self._memory = memory("bench", f"sqlite:///{folder / 'bench.db'}", embedder=_Port(vectors))

    def fill(self, store: str, ids: list[str], texts: list[str]) -> None:
        """Remembers many."""
        self._memory.scope = store
        for at in range(0, len(ids), BATCH):
            pairs = zip(ids[at : at + BATCH], texts[at : at + BATCH], strict=True)
            self._memory.remember_many([{"id": id, "content": text} for id, text in pairs])

    def add(self, store: str, id: str, text: str) -> None:
        """Remembers one; on disk when this returns."""
        self._memory.scope = store
        self._memory.remember(text, id=id)

    def search(self, store: str, text: str, top: int) -> list[str]:
        """Ids, best first."""
        self._memory.scope = store
        return [hit.id for hit in self._memory.recall(text, top)]


class _Port:
    """What Holdfast takes for an embedder."""

    name, version, dimension, local = "given", "1", 384, True

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors

    def embed(self, texts: list[str]) -> Any:
        """One row per text."""
        return self._vectors(list(texts))


SYSTEMS: dict[str, Any] = {
    "chromadb": Chroma,
    "mem0": Mem0,
    "txtai": Txtai,
    "holdfast": Holdfast,
}


def quality(system: Any, vectors: Vectors, folder: Path, data: str) -> dict[str, Any]:
    """The order of every answer: store, then question, then ids."""
    asked = json.loads((folder / f"{data}.json").read_text())
    made = np.load(folder / f"{data}.npz")
    orders: dict[str, dict[str, list[str]]] = {}
    at = put = 0
    for store in asked:
        vectors.learn(store["texts"], made["items"][at : at + len(store["texts"])])
        vectors.learn(store["questions"], made["queries"][put : put + len(store["questions"])])
        at, put = at + len(store["texts"]), put + len(store["questions"])
        system.fill(store["id"], store["ids"], store["texts"])
        orders[store["id"]] = {
            id: system.search(store["id"], text, min(TOP, len(store["ids"])))
            for id, text in zip(store["query_ids"], store["questions"], strict=True)
        }
    return orders


def speed(
    system: Any, vectors: Vectors, folder: Path, sizes: list[int], times: int
) -> dict[str, Any]:
    """Milliseconds of one add and one search in a store of each size."""
    asked = json.loads((folder / "speed.json").read_text())
    made = np.load(folder / "speed.npz")
    vectors.learn(asked["texts"], made["items"])
    vectors.learn(asked["questions"], made["queries"])
    texts = asked["texts"]
    found = {}
    held, extra = 0, max(sizes)
    for size in sizes:
        start = time.perf_counter()
        ids = [f"i{number}" for number in range(held, size)]
        system.fill("speed", ids, texts[held:size])
        filling = time.perf_counter() - start
        more = range(extra, extra + times)
        adds = _times(lambda n: system.add("speed", f"i{n}", texts[n]), more)
        questions = asked["questions"][:times]
        system.search("speed", questions[0], NEAREST)
        searches = _times(lambda q: system.search("speed", q, NEAREST), questions)
        found[str(size)] = {
            "add_ms": median(adds),
            "search_ms": median(searches),
            "search_p95_ms": sorted(searches)[int(0.95 * (len(searches) - 1))],
            "filled_per_second": len(ids) / filling,
        }
        held, extra = size, extra + times
    return found


def _times(call: Any, values: Any) -> list[float]:
    taken = []
    for value in values:
        start = time.perf_counter()
        call(value)
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def main(task_file: str, answer_file: str) -> None:
    """Does what the task says; what fails is told, not raised."""
    task = json.loads(Path(task_file).read_text())
    kind = SYSTEMS[task["system"]]
    answer: dict[str, Any] = {"system": task["system"], "quality": {}}
    folder = Path(task["folder"])
    try:
        answer["version"] = importlib.metadata.version(kind.package)
        for data in task["data"]:
            vectors = Vectors()
            system = kind(Path(tempfile.mkdtemp(dir=folder)), vectors)
            answer["quality"][data] = quality(system, vectors, folder, data)
            print(f"{task['system']}: {data} done", flush=True)
        if "sizes" in task:
            vectors = Vectors()
            system = kind(Path(tempfile.mkdtemp(dir=folder)), vectors)
            answer["speed"] = speed(system, vectors, folder, task["sizes"], task["times"])
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"
    Path(answer_file).write_text(json.dumps(answer))
    sys.stdout.flush()
    os._exit(0)  # some of these have threads that would not end


if __name__ == "__main__":
    main(*sys.argv[1:3])
