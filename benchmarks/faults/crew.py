"""Processes: writers that are started and killed, a foreign lock, a reader that stays, a judge."""

from __future__ import annotations

import json
import os
import select
import signal
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.faults import homes
from benchmarks.faults.check import Bad
from benchmarks.faults.marks import MARK, scope_of
from benchmarks.faults.model import Lane, Memo
from benchmarks.faults.store import Open, blame, recall
from benchmarks.faults.writer import Orders, write
from holdfast import EmbedderMismatch

PATIENCE = 180.0  # seconds for a check: a store that hangs is as bad as one that lies


def forked(run: Callable[[], object]) -> int:
    """Starts a process that does one thing and ends; gives its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        run()
        code = 0
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def ended(pid: int, seconds: float = 0.0) -> bool:
    """True once a process of ours has ended; waits so long for it."""
    until = time.monotonic() + seconds
    while True:
        if os.waitpid(pid, os.WNOHANG)[0]:
            return True
        if time.monotonic() >= until:
            return False
        time.sleep(0.001)


def killed(pid: int) -> None:
    """Ends a process at once, wherever it is."""
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def judged(work: Callable[[], dict[str, Any]], seconds: float = PATIENCE) -> dict[str, Any]:
    """What a function gives in a process of its own; a hang or a crash is `wrong`."""
    out, into = os.pipe()

    def run() -> None:
        os.close(out)
        try:
            answer = work()
        except BaseException as error:
            answer = {"bads": [("wrong", f"a check failed: {blame(error)}")]}
        with os.fdopen(into, "w") as told:
            json.dump(answer, told)

    pid = forked(run)
    os.close(into)
    data = _read_all(out, time.monotonic() + seconds)
    if data is None:
        killed(pid)
        return {"bads": [("wrong", f"a check hung for {seconds:g} seconds")]}
    os.waitpid(pid, 0)
    found: dict[str, Any] = json.loads(data)
    return found


def _read_all(descriptor: int, until: float) -> bytes | None:
    parts: list[bytes] = []
    with os.fdopen(descriptor, "rb", buffering=0) as told:
        while select.select([told], [], [], max(0.0, until - time.monotonic()))[0]:
            part = told.read(1 << 16)
            if not part:
                return b"".join(parts)
            parts.append(part)
    return None


class Crew:
    """The writers of a round, by slot."""

    def __init__(self, orders: Callable[[int], Orders], slots: int) -> None:
        self._orders = orders
        self._pids: dict[int, int] = {}
        self._told: dict[int, Orders] = {}
        self.slots = range(slots)
        self.kills = 0
        self.in_flight = 0
        self.bads: list[Bad] = []

    def start(self, slot: int) -> Orders:
        """Starts the writer of a slot; it goes on where its lanes were."""
        orders = self._told[slot] = self._orders(slot)
        self._pids[slot] = forked(lambda: write(orders))
        return orders

    def lanes(self, slot: int) -> list[Lane]:
        return self._told[slot].lanes

    def alive(self, slot: int) -> bool:
        """True while a writer lives; one that has killed itself is counted."""
        if slot in self._pids:
            done, status = os.waitpid(self._pids[slot], os.WNOHANG)
            if done:
                del self._pids[slot]
                if os.WIFSIGNALED(status):
                    self._count(slot)
        return slot in self._pids

    def signal(self, slot: int, number: int) -> None:
        os.kill(self._pids[slot], number)

    def kill(self, slot: int) -> bool:
        """Kills a writer at once; False if it had ended by itself."""
        before = self.kills
        if self.alive(slot):
            killed(self._pids.pop(slot))
            self._count(slot)
        return self.kills > before

    def await_suicide(self, slot: int, seconds: float) -> bool:
        """Waits for a writer that kills itself, or kills it in the end."""
        before, until = self.kills, time.monotonic() + seconds
        while time.monotonic() < until:
            if not self.alive(slot):
                return self.kills > before
            time.sleep(0.001)
        return self.kill(slot)

    def _count(self, slot: int) -> None:
        self.kills += 1
        self.catch_up(slot)
        self.in_flight += any(lane.pending for lane in self.lanes(slot))

    def catch_up(self, slot: int) -> None:
        """Takes in the journals of a writer."""
        for lane in self.lanes(slot):
            lane.catch_up()
            self.bads += lane.bads
            lane.bads.clear()

    def kill_all(self) -> None:
        """Kills every writer, as nearly at once as can be."""
        living = [slot for slot in self.slots if self.alive(slot)]
        for slot in living:
            os.kill(self._pids[slot], signal.SIGKILL)
        for slot in living:
            os.waitpid(self._pids.pop(slot), 0)
            self._count(slot)
        for slot in self._told:
            self.catch_up(slot)

    def acting(self, slot: int, do: str, seconds: float) -> bool:
        """Waits until a writer has begun an operation of a kind."""
        until = time.monotonic() + seconds
        sizes = [lane.journal.stat().st_size for lane in self.lanes(slot)]
        while time.monotonic() < until and self.alive(slot):
            for lane, size in zip(self.lanes(slot), sizes, strict=True):
                with lane.journal.open("rb") as told:
                    told.seek(size)
                    if f'"do": "{do}"'.encode() in told.read():
                        return True
            time.sleep(0.0005)
        return False


class Locker:
    """A foreign program that holds what writers need, now and then."""

    def __init__(self, url: str, seed: object) -> None:
        self._pid = forked(lambda: homes.lock(url, Random(f"{seed}/lock")))

    def end(self) -> None:
        killed(self._pid)


class Veteran:
    """A reader with an old cache: it lives through all kills, and must know what happened.

    Its threads ask for what is being written at that very moment, told by the journals.
    """

    def __init__(self, url: str, folder: Path, seed: object) -> None:
        out, self._ask = os.pipe()
        self._answer, into = os.pipe()

        def run() -> None:
            os.close(self._ask)
            os.close(self._answer)
            _Watch(url, folder, seed).serve(os.fdopen(out), os.fdopen(into, "w"))

        self._pid = forked(run)
        os.close(out)
        os.close(into)
        self._told, self._says = os.fdopen(self._ask, "w"), os.fdopen(self._answer)

    def ask(self, **question: Any) -> list[Bad]:
        """Asks it something: to `rest`, to go on, or what it knows of some memories."""
        try:
            self._told.write(json.dumps(question) + "\n")
            self._told.flush()
        except BrokenPipeError:
            return [("wrong", "the reader that stays has died")]
        if not select.select([self._says], [], [], PATIENCE)[0]:
            return [("wrong", f"the reader that stays hung on {list(question)}")]
        answer = self._says.readline()
        if not answer:
            return [("wrong", "the reader that stays has died")]
        return [(kind, what) for kind, what in json.loads(answer)]

    def end(self) -> None:
        with suppress(BrokenPipeError):
            self._told.close()
        self._says.close()
        if not ended(self._pid):
            killed(self._pid)


class _Watch:
    """The veteran's own side."""

    def __init__(self, url: str, folder: Path, seed: object) -> None:
        self._folder = folder
        self._rng = Random(f"{seed}/watch")
        self._store = Open(url)
        self._goes = threading.Event()
        self._resting = threading.Barrier(3)
        self._bads: list[Bad] = []

    def serve(self, questions: Any, answers: Any) -> None:
        for _ in range(2):
            threading.Thread(target=self._watch, daemon=True).start()
        for line in questions:
            answers.write(json.dumps(self._do(json.loads(line))) + "\n")
            answers.flush()

    def _do(self, question: dict[str, Any]) -> list[Bad]:
        if "watch" in question:
            self._goes.set()
        elif "rest" in question:
            if self._goes.is_set():
                self._goes.clear()
                self._resting.wait()
        else:
            for scope, mark, id in question["find"]:
                self._know(scope, mark, id)
        told, self._bads = self._bads[:20], []
        return told

    def _watch(self) -> None:
        """Asks for what is just being written, as long as it may."""
        while True:
            self._goes.wait()
            while self._goes.is_set():
                for mark in self._in_flight():
                    self._know(scope_of(mark), mark, "")
                time.sleep(0.008)
            self._resting.wait()

    def _in_flight(self) -> list[str]:
        journals = sorted(self._folder.glob("*.journal"))
        if not journals:
            return []
        data = self._rng.choice(journals).read_bytes()[-600:]
        return list(dict.fromkeys(MARK.findall(data.decode("utf-8", "ignore"))))[-1:]

    def _know(self, scope: str, mark: str, id: str | None) -> None:
        """Asks for a mark; `id` is who has it: None for nobody, "" for whoever."""
        try:
            hits = recall(self._store.memory(scope), mark)
        except EmbedderMismatch:
            self._store.reopen()
            return self._know(scope, mark, id)
        except Exception as error:
            self._bads.append(("wrong", f"the reader that stays: {blame(error)}"))
            return None
        shown = " ".join(hit.content for hit in hits)
        if any(scope_of(found) != scope for found in MARK.findall(shown)):
            self._bads.append(("leaked", f"the reader that stays sees {shown} in {scope}"))
        if id and id not in [hit.id for hit in hits]:
            self._bads.append(("lost", f"the reader that stays does not find {mark}"))
        if id is None and mark in shown:
            self._bads.append(("undead", f"the reader that stays still finds {mark}"))
        return None


def questions(lanes: list[Lane], rng: Random, most: int) -> list[tuple[str, str, str | None]]:
    """What a veteran is asked: memories that are there, and some that are gone."""
    memos = [memo for lane in lanes for memo in lane.memos.values() if memo.lives is None]
    there = [m for m in memos if m.status == "alive" and m.counts() == {len(m.texts)}]
    gone = [memo for memo in memos if memo.status == "gone"]
    picked: list[tuple[str, str, str | None]] = []
    for some, alive in ((there, True), (gone, False)):
        chosen: list[Memo] = rng.sample(some, min(len(some), most))
        picked += [(m.scope, m.marks[-1], m.id if alive else None) for m in chosen]
    return picked
