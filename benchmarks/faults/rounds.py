"""One fault at a time: a round starts a crew, hurts it, and then has everything checked."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.faults import acts, homes
from benchmarks.faults.check import KINDS, Bad, Checker
from benchmarks.faults.crew import Crew, Locker, Veteran, judged, questions
from benchmarks.faults.embedders import MODES
from benchmarks.faults.marks import MARK, SCOPES
from benchmarks.faults.model import ALIVE, GONE, Lane
from benchmarks.faults.store import Open
from benchmarks.faults.writer import Orders
from holdfast import EmbedderMismatch
from tools.postgres import Postgres

WRITERS = 3
LANES = 2  # in one writer process: threads that share a commit
WARM_UP = 0.5  # seconds in which a new store is filled, before the first kill
LIFE = (0.0, 0.15)  # seconds a writer lives before it is killed
TMPFS_BYTES = 6 << 20
SERVER_BYTES = 192 << 20  # an empty PostgreSQL takes a third of it
VETERAN_ASKED = 30  # memories a veteran is asked about


Made = Callable[[str], str]  # makes a database of a name, gives its URL


@dataclass
class Tally:
    """What became of the rounds of one fault."""

    runs: int = 0
    kills: int = 0
    in_flight: int = 0
    acknowledged: int = 0
    bad: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))


class Store:
    """A store under test: its file, its lanes, and a reader that stays."""

    def __init__(self, folder: Path, seed: object, veteran: bool, made: Made | None) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.seed = seed
        self.made = made  # makes databases, if it is not to be a file
        self.url = f"sqlite:///{folder / 'memory.db'}" if made is None else made(folder.name)
        self.lanes: dict[str, Lane] = {}
        self.rounds = 0
        self.checked: dict[str, int] = {}  # by lane: its number at the last whole check
        self._wants_veteran = veteran
        self._veteran: Veteran | None = None

    def lane(self, name: str) -> Lane:
        """The lane of a name; a small disk is a folder below, so the journal has room."""
        if name not in self.lanes:
            journal = self.folder / f"{name}.journal"
            journal.touch()
            self.lanes[name] = Lane(name, journal)
        return self.lanes[name]

    def ask_veteran(self, **question: Any) -> list[Bad]:
        """Asks the reader that stays, who comes with the first file."""
        if self._veteran is None and self._wants_veteran and homes.is_there(self.url):
            self._veteran = Veteran(self.url, self.folder, self.seed)
        return [] if self._veteran is None else self._veteran.ask(**question)

    def end(self) -> None:
        if self._veteran is not None:
            self._veteran.end()
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Round:
    """One round: a fault, a store, and what is found."""

    fault: str
    store: Store
    rng: Random
    kills: int
    plant: str | None = None
    bads: list[Bad] = field(default_factory=list)
    file_bytes: int = 0  # no file of a writer may grow beyond; 0 is no limit
    acknowledged: int = 0  # in stores that were left behind

    def count(self) -> int:
        """How many operations were acknowledged so far."""
        lanes = self.store.lanes.values()
        return self.acknowledged + sum(lane.acknowledged for lane in lanes)

    def orders(self, slot: int) -> Orders:
        """What the writer of a slot is told when it is started."""
        mode = self.fault.removeprefix("embedder ")
        jumps = self.fault == "clock jumps"
        names = [f"w{slot}{'ab'[i]}" for i in range(1 if jumps else LANES)]
        return Orders(
            url=self.store.url,
            lanes=[self.store.lane(name) for name in names],
            seed=self.store.seed,
            fault=self.fault,
            mixes=[self._mix(name) for name in names],
            mode=mode if mode in MODES else "",
            offset=self.rng.choice((-acts.DAY, 0.0, acts.DAY)) if jumps else 0.0,
            jumps=jumps,
            plant=self.plant,
            die_at=self._statement() if self.fault == "kill between statements" else 0,
            file_bytes=self.file_bytes,
        )

    def _mix(self, lane: str) -> Mapping[str, int]:
        """The special work of a round is done by one lane, unless it is everybody's."""
        special = lane == "w0a" or self.fault == "clock jumps"
        return acts.MIXES.get(self.fault, acts.MIX) if special else acts.MIX

    def _statement(self) -> int:
        """The statement a writer dies at: the first ones open the store."""
        return int(10 ** self.rng.uniform(0.5, 2.6))

    # --- checks ---

    def quick(self, lanes: list[Lane]) -> None:
        """Looks at what some lanes did last, in a fresh process, while others go on."""
        self._judge(lambda checker: checker.quick(lanes))

    def whole(self, crew: Crew, purge: bool = False) -> None:
        """Looks at everything, in a fresh process, when nobody writes."""
        crew.kill_all()
        self.bads += crew.bads
        crew.bads = []
        if not homes.is_there(self.store.url):
            return
        self.bads += self.store.ask_veteran(rest=True)
        self._judge(lambda checker: checker.whole(self.store.checked))
        if purge:
            at = self._judge(Checker.purge)
            for lane in self.store.lanes.values():
                lane.horizon = max(lane.horizon, at or 0.0)
            self._judge(Checker.contents)
        asked = questions(list(self.store.lanes.values()), self.rng, VETERAN_ASKED)
        self.bads += self.store.ask_veteran(find=asked)
        self.store.checked = {name: lane.number for name, lane in self.store.lanes.items()}

    def _judge(self, look: Callable[[Checker], Any]) -> Any:
        def work() -> dict[str, Any]:
            for _ in range(8):  # a re-embedding may move the store while we look
                checker = Checker(
                    Open(self.store.url), list(self.store.lanes.values()), self.store.seed
                )
                with suppress(EmbedderMismatch):
                    given = look(checker)
                    return {"bads": checker.bads, "given": given}
            return {"bads": [("wrong", "the embedder changed all the time")]}

        found = judged(work)
        self.bads += [(kind, what) for kind, what in found["bads"]]
        return found.get("given")


def crew_of(round: Round, slots: int = WRITERS) -> Crew:
    """A crew with every writer started."""
    crew = Crew(round.orders, slots)
    for slot in crew.slots:
        crew.start(slot)
    if round.store.rounds == 1:
        time.sleep(WARM_UP)
    round.bads += round.store.ask_veteran(watch=True)
    return crew


def killing(round: Round, crew: Crew, kill: Callable[[int], bool]) -> None:
    """Kills one writer after another, looks at what it did, and starts it again."""
    for _ in range(round.kills * 5):  # a writer may end by itself, when it may not even open
        if crew.kills + WRITERS >= round.kills:
            return  # the rest die together, before the whole check
        slot = round.rng.choice(crew.slots)
        if kill(slot):
            round.quick(crew.lanes(slot))
        if not crew.alive(slot):
            crew.start(slot)


def at_any_moment(round: Round, crew: Crew) -> Callable[[int], bool]:
    def kill(slot: int) -> bool:
        time.sleep(round.rng.uniform(*LIFE))
        return crew.kill(slot)

    return kill


def plain(round: Round) -> Crew:
    """Writers are killed at any moment."""
    crew = crew_of(round)
    killing(round, crew, at_any_moment(round, crew))
    return crew


def between_statements(round: Round) -> Crew:
    """Writers kill themselves as a statement begins."""
    crew = crew_of(round)
    killing(round, crew, lambda slot: crew.await_suicide(slot, 5.0))
    return crew


def all_at_once(round: Round) -> Crew:
    """All writers are killed together, again and again, with a whole check between."""
    crew = crew_of(round)
    while True:
        time.sleep(round.rng.uniform(*LIFE) + 0.15)  # all of them have to open the file first
        if crew.kills + WRITERS >= round.kills:
            return crew
        round.whole(crew)
        for slot in crew.slots:
            crew.start(slot)


def stopped(round: Round) -> Crew:
    """A writer stands still for a while, wherever it was, and then goes on or dies."""
    crew = crew_of(round)

    def kill(slot: int) -> bool:
        time.sleep(round.rng.uniform(*LIFE))
        if not crew.alive(slot):
            return False
        crew.signal(slot, signal.SIGSTOP)
        time.sleep(round.rng.uniform(0.02, 0.4))
        if round.rng.random() < 0.6:
            crew.signal(slot, signal.SIGCONT)
            time.sleep(round.rng.uniform(*LIFE))
        return crew.kill(slot)

    killing(round, crew, kill)
    return crew


def locked(round: Round) -> Crew:
    """Another program holds the lock for longer than writers care to wait."""
    crew = crew_of(round)
    while not homes.is_there(round.store.url):
        time.sleep(0.01)
    locker = Locker(round.store.url, round.store.seed)
    try:
        killing(round, crew, at_any_moment(round, crew))
    finally:
        locker.end()
    return crew


def upkeep(do: str) -> Callable[[Round], Crew]:
    """The first writer is killed in the middle of one kind of work, the others go on."""

    def run(round: Round) -> Crew:
        crew = crew_of(round)
        while crew.kills + WRITERS < round.kills:
            if not crew.alive(0):
                crew.start(0)
            if not crew.acting(0, do, 5.0):
                break  # it ended by itself: the whole check tells why
            time.sleep(round.rng.uniform(0.0, 0.04))
            if crew.kill(0):
                round.quick(crew.lanes(0))
        crew.kill_all()
        if do == "backup":
            backups(round)
        if do == "reembed":
            round.store.lane("w0a").pending = None  # left half done: no other round goes on with it
        return crew

    return run


def backups(round: Round) -> None:
    """Every copy that has its name is whole: what was acknowledged before it is in it."""
    lanes = list(round.store.lanes.values())
    for lane in lanes:
        for copy in lane.backups:
            path = Path(copy["path"])
            if not path.exists():
                continue

            def look(path: Path = path, at: float = copy["since"]) -> dict[str, Any]:
                return {"bads": copied(f"sqlite:///{path}", lanes, at)}

            round.bads += [(kind, f"backup: {what}") for kind, what in judged(look)["bads"]]
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()


def copied(url: str, lanes: list[Lane], at: float) -> list[Bad]:
    """What is wrong with a copy of the store that was begun at a time."""
    store, bads = Open(url), []
    found: set[str] = set()
    for scope in SCOPES:
        found |= set(MARK.findall(" ".join(store.memory(scope).export())))
    if not all("wait" in f.what for f in store.memory(SCOPES[0]).doctor().findings):
        bads.append(("index", "its doctor is not content"))
    for memo in (memo for lane in lanes for memo in lane.memos.values() if memo.lives is None):
        if memo.status == ALIVE and memo.born < at and memo.mark not in found and not memo.leaving:
            bads.append(("lost", f"{memo.mark} was acknowledged before"))
        if memo.status == GONE and memo.died < at and memo.mark in found:
            bads.append(("undead", f"{memo.mark} was forgotten before"))
    return bads


def creation(round: Round) -> Crew:
    """Several processes make the file together, and are killed before they are well begun."""
    kills = in_flight = 0
    while True:
        crew = crew_of(round)
        crew.kills, crew.in_flight = kills, in_flight
        time.sleep(round.rng.uniform(0.0, 0.3))
        if kills + WRITERS >= round.kills:
            return crew
        round.whole(crew)
        kills, in_flight = crew.kills, crew.in_flight
        round.acknowledged = round.count()
        folder = round.store.folder.with_name(f"{round.store.folder.name}n")
        round.store.end()
        round.store = Store(folder, round.store.seed, False, round.store.made)


def disk_full(round: Round) -> Crew:
    """The disk has no room; then it has; and so on."""
    served = not homes.is_file(round.store.url)
    with _Disk(round.store.folder, SERVER_BYTES if served else TMPFS_BYTES) as disk:
        if served:
            return disk_of_server_full(round, disk)
        round.store.url = f"sqlite:///{disk.folder / 'memory.db'}"
        round.file_bytes = 0 if disk.mounted else TMPFS_BYTES // 8
        return _in_need(round, disk, lambda: None)


def disk_of_server_full(round: Round, disk: _Disk) -> Crew:
    """The same of a server's disk: when it cannot even log, it ends, and is started again."""
    server = Postgres(disk.folder / "server", "shared_buffers=16MB", "max_wal_size=64MB").start()
    try:
        round.store.url = homes.served(server)(round.store.folder.name)
        return _in_need(round, disk, server.revive)
    finally:
        server.stop()


def _in_need(round: Round, disk: _Disk, revive: Callable[[], object]) -> Crew:
    crew = crew_of(round)
    kill = at_any_moment(round, crew)

    def in_need(slot: int) -> bool:
        disk.fill(leave=round.rng.randrange(0, 200_000))
        time.sleep(round.rng.uniform(0.05, 0.2))
        done = kill(slot)
        disk.empty()
        revive()
        return done

    killing(round, crew, in_need)
    disk.widen()
    revive()
    round.whole(crew, purge=True)
    return crew


class _Disk:
    """A small disk: a tmpfs where we may mount one, or else a plain folder."""

    def __init__(self, folder: Path, bytes: int) -> None:
        # Not below the stores: whoever a server runs as may not get there.
        self.folder = Path(tempfile.mkdtemp(prefix=f"{folder.name}-disk"))
        self._bytes = bytes
        mount = ["mount", "-t", "tmpfs", "-o", f"size={bytes}", "tmpfs", str(self.folder)]
        self.mounted = (
            bool(shutil.which("mount"))
            and not subprocess.run(mount, check=False, capture_output=True).returncode
        )
        self.folder.chmod(0o755)

    def __enter__(self) -> _Disk:
        return self

    def __exit__(self, *_: object) -> None:
        if self.mounted:
            subprocess.run(["umount", "--lazy", str(self.folder)], check=False)
        shutil.rmtree(self.folder, ignore_errors=True)

    def fill(self, leave: int) -> None:
        """Takes all room but so many bytes."""
        if not self.mounted:
            return
        room = os.statvfs(self.folder)
        with suppress(OSError), (self.folder / "ballast").open("wb") as ballast:
            ballast.write(b"\0" * max(0, room.f_bavail * room.f_bsize - leave))

    def empty(self) -> None:
        (self.folder / "ballast").unlink(missing_ok=True)

    def widen(self) -> None:
        """Room enough for a check: a purge writes everything once more."""
        if self.mounted:
            more = f"remount,size={self._bytes * 20}"
            subprocess.run(["mount", "-o", more, str(self.folder)], check=True)


OWN_STORE = ("kill at creation", "disk full")  # rounds that cannot go on with a store in use
FAULTS: Mapping[str, Callable[[Round], Crew]] = {
    "kill at any moment": plain,
    "kill between statements": between_statements,
    "kill all at once": all_at_once,
    "stopped and killed": stopped,
    "locked by another": locked,
    "disk full": disk_full,
    **{f"embedder {mode}": plain for mode in MODES},
    "clock jumps": plain,
    "kill in purge": upkeep("purge"),
    "kill in reembed": upkeep("reembed"),
    "kill in backup": upkeep("backup"),
    "kill in import": upkeep("import"),
    "kill at creation": creation,
}
