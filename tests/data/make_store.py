"""Write format-<n>.db, a store as today's Holdfast leaves it, and format-<n>.jsonl, its export.

Run once for each format, when its schema is settled: `.venv/bin/python tests/data/make_store.py`.
The two files are committed and never written again: every later Holdfast must open them.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from holdfast import Memory, Source
from holdfast.backend import open_backend
from holdfast.testing import FakeClock

FOLDER = Path(__file__).parent


def fill(memory: Memory, clock: FakeClock) -> None:
    """Something of everything a store can hold."""
    memory.remember("The main store is MongoDB", kind="decision", tags=["db"], id="db")
    memory.remember(
        "Ann likes green tea",
        kind="preference",
        tags=["drink", "ann"],
        meta={"n": 1, "null": None, "nested": {"a": [1.5, True]}},
        session="chat-1",
        source=Source("ann", "user", "message-9"),
        id="tea",
        idempotency_key="told-tea",
    )
    memory.remember("我们把服务器放在东京", id="tokyo", happened_at=clock.advance(days=-30))
    clock.advance(days=31)
    memory.revise("db", "The main store is PostgreSQL")
    memory.remember("never deploy on Friday", kind="lesson", pinned=True, id="friday")
    memory.remember("for a while", kind="temporary", id="while", session="chat-2")
    memory.remember("gone by tomorrow", ttl=3600, id="gone")
    crawled = Source("crawler", "document", None, "0123456789ab")
    story = "a long story " + "about the river and the old bridge " * 80
    memory.remember(story, id="long", source=crawled)
    memory.remember("Ann likes green tea")
    memory.remember("soon forgotten", id="forgotten")
    memory.forget("forgotten")
    memory.set("cursor", {"row": 8000, "seen": [None, 1.5, "é"]})
    memory.append("log", "first")
    memory.append("log", "second", idempotency_key="told-log")
    memory.set("nothing", None)
    memory.set("deleted", 1)
    memory.delete("deleted")


def main(folder: Path = FOLDER) -> int:
    """Write the store and its export; refuse to write over one that is there."""
    new = folder / "new.db"
    clock = FakeClock()
    with Memory("ann", backend=open_backend(f"sqlite:///{new}", "hashing", clock)) as memory:
        fill(memory, clock)
        memory.recall("green tea")
        with Memory("bob", backend=open_backend(f"sqlite:///{new}", "hashing", clock)) as other:
            other.remember("Bob drives a red car", id="car")
        memory.purge()
    with closing(sqlite3.connect(new)) as db:
        (number,) = db.execute("PRAGMA user_version").fetchone()
    target = folder / f"format-{number}.db"
    if target.exists():
        new.unlink()
        print(f"{target} is there already: it must open for ever, so it is never written again.")
        return 1
    new.rename(target)
    with Memory("ann", backend=open_backend(f"sqlite:///{target}", "hashing", clock)) as memory:
        target.with_suffix(".jsonl").write_text("".join(f"{line}\n" for line in memory.export()))
    print(f"{target}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
