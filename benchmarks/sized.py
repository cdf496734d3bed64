"""One store of one size, in a process of its own, so that its memory is nobody else's.

`python -m benchmarks.sized {"task": "fill" …}` prints what it found as JSON. Vectors come from
`workload.Free`: what is timed here is the library without an embedder.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from benchmarks import timing, workload
from benchmarks.workload import TURNS, Free, Texts
from holdfast import Memory, Weights
from holdfast.ops import Draft

BATCH = 5_000
SCOPE = "bench"
THREADS = 8
RELEVANCE = Weights(1.0, 0.0, 0.0)


def drafts(texts: Texts, start: int, count: int) -> list[Draft]:
    """Memories in sessions of twenty; one in twenty has the tag `some`, one in 200 `few`."""
    return [
        Draft(content=text, session=f"s{number // TURNS}", tags=_tags(number))
        for number, text in enumerate(texts.some(start, count), start)
    ]


def _tags(number: int) -> tuple[str, ...]:
    return ("some",) * (number % 20 == 7) + ("few",) * (number % 200 == 7)


def fill(file: Path, size: int, scopes: int = 1) -> dict[str, Any]:
    """Remembers so many in each scope, in large transactions."""
    texts = Texts()
    with Memory(SCOPE, f"sqlite:///{file}", embedder=Free()) as memory:
        taken = []
        for scope in range(scopes):
            memory.scope = _scope(scope)
            for start, count in workload.batches(size, BATCH):
                some = drafts(texts, scope * size + start, count)
                taken.append(timing.seconds(lambda some=some: memory.remember_many(some)))  # type: ignore[misc]
    return {"per_second": size * scopes / sum(taken)}


def _scope(number: int) -> str:
    return f"{SCOPE}{number}" if number else SCOPE


def resident() -> int:
    """Bytes of memory of this process; where the system does not say, the most it ever had."""
    now = Path("/proc/self/statm")
    if now.exists():
        return int(now.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def ask(file: Path, size: int, times: int) -> dict[str, Any]:
    """Opens a filled store, asks it, and writes a little to it."""
    texts = Texts()
    questions = texts.questions(times, size)
    free = Free()
    free.embed(["ready"])
    before = resident()
    opened: list[Memory] = []
    found: dict[str, Any] = {
        "open_ms": 1000
        * timing.seconds(lambda: opened.append(Memory(SCOPE, f"sqlite:///{file}", embedder=free)))
    }
    memory = opened[0]
    found["first_recall_ms"] = 1000 * timing.seconds(lambda: memory.recall("nothing before this"))
    for name, call in _reads(memory, texts, questions).items():
        found[name] = timing.summary(timing.each(times, call))
    found["rss_mb"] = (resident() - before) / 2**20
    found["process_mb"] = resident() / 2**20
    found |= _writes(memory, texts, size, times)
    memory.close()
    found["file_mb"] = file.stat().st_size / 2**20
    return found


def _reads(memory: Memory, texts: Texts, questions: list[str]) -> dict[str, timing.Call]:
    common = texts.common_questions(len(questions))
    return {
        "recall": lambda at: memory.recall(questions[at]),
        "recall again": lambda at: memory.recall(questions[at]),
        "recall common words": lambda at: memory.recall(common[at]),
        "recall, filter 5 %": lambda at: memory.recall(questions[at], tags=["some"]),
        "recall, filter .5 %": lambda at: memory.recall(questions[at], tags=["few"]),
        "context": lambda at: memory.context(questions[at]),
        "list": lambda at: memory.list(limit=50),
    }


def _writes(memory: Memory, texts: Texts, size: int, times: int) -> dict[str, Any]:
    """Durable writes into a store that is full already."""
    new = iter(drafts(texts, 10**8, 10 * times + 3 * 1000 + 3 * THREADS * times))

    def one(_: int) -> object:
        draft = next(new)
        return memory.remember(draft.content, session=draft.session)

    def many(_: int) -> object:
        return memory.remember_many([next(new) for _ in range(1000)])

    found: dict[str, Any] = {
        "remember": timing.summary(timing.each(times, one)),
        "remember_many 1000": timing.summary(timing.each(3, many)),
        "state set": timing.summary(
            timing.each(times, lambda at: memory.set(f"key {at % 50}", {"row": at}))
        ),
        "state get": timing.summary(timing.each(times, lambda at: memory.get(f"key {at % 50}"))),
    }
    found["remember_many 1000"]["per_second"] *= 1000
    return found


def threads_rate(work: Callable[[], object], each: int, threads: int = THREADS) -> float:
    """Calls in a second by some threads at once."""

    def run() -> None:
        for _ in range(each):
            work()

    crew = [threading.Thread(target=run) for _ in range(threads)]

    def together() -> None:
        for one in crew:
            one.start()
        for one in crew:
            one.join()

    return threads * each / timing.seconds(together)


def ask_scopes(file: Path, size: int, scopes: int, times: int) -> dict[str, Any]:
    """Asks one scope after the other, of many, each for the first time and then again."""
    texts = Texts()
    step = max(1, scopes // times)
    chosen = list(range(0, scopes, step))[:times]
    questions = {number: " ".join(texts.some(number * size, 1)[0].split()[:4]) for number in chosen}
    free = Free()
    free.embed(["ready"])
    before = resident()
    with Memory(SCOPE, f"sqlite:///{file}", embedder=free) as memory:

        def call(at: int) -> object:
            return memory.recall(questions[chosen[at]], scopes=[_scope(chosen[at])])

        first = timing.summary(timing.each(len(chosen), call))
        again = timing.summary(timing.each(len(chosen), call))
        grown = resident() - before
    size_mb = file.stat().st_size / 2**20
    return {
        "recall, scope not in memory": first,
        "recall": again,
        "rss_mb": grown / 2**20,
        "file_mb": size_mb,
    }


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "fill": fill,
    "ask": ask,
    "ask_scopes": ask_scopes,
}


def main(words: list[str]) -> None:
    """Does the task that the first argument describes."""
    task = json.loads(words[0])
    file = Path(task.pop("file"))
    print(json.dumps(TASKS[task.pop("task")](file, **task)))


def lines(found: dict[str, Any]) -> Iterator[str]:
    """What was found, for a person who waits."""
    for name, value in found.items():
        if isinstance(value, dict):
            first = value.get("p50_ms", value["per_second"])
            yield f"{name} {first:.3f} ({value.get('cpu_ms', 0):.2f})"


if __name__ == "__main__":
    main(sys.argv[1:])
