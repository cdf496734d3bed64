"""Two processes share the work through state: each job is done once, whoever takes it.

A job is taken by compare-and-set, done, and counted; what was learned is remembered.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from holdfast import Conflict, Memory

JOBS = [f"file-{number:02}" for number in range(12)]


def take(memory: Memory, worker: str) -> str | None:
    """The next job, ours alone; None when there is none left."""
    while True:
        queue = memory.entry("queue")
        if not queue.value:
            return None
        job, *rest = queue.value
        try:
            memory.set("queue", rest, if_version=queue.version)
        except Conflict:
            continue  # the other one was faster: look again
        memory.set(f"owner/{job}", worker)
        return str(job)


def work(url: str, worker: str) -> None:
    with Memory("importer", url) as memory:
        while job := take(memory, worker):
            memory.remember(f"{worker} imported {job}", kind="episodic", session="import")
            memory.increment("done")
            memory.append("order", job)


def main(url: str) -> None:
    with Memory("importer", url) as memory:
        memory.set("queue", JOBS)
        workers = [
            subprocess.Popen([sys.executable, __file__, url, name]) for name in ("heron", "osprey")
        ]
        assert [worker.wait() for worker in workers] == [0, 0]

        # What two other processes wrote is here, in the next call.
        print(f"jobs done: {memory.get('done')} of {len(JOBS)}")
        print(f"each once: {sorted(memory.get('order')) == JOBS}")
        print(f"remembered: {memory.stats().memories}")
        print(f"who had file-07? {memory.recall('who imported file-07?', limit=1)[0].content}")
        assert memory.get("owner/file-07") in ("heron", "osprey")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(*sys.argv[1:])
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(f"sqlite:///{Path(folder) / 'handover.db'}")
