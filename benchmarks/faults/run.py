"""The run: rounds of faults until enough writers were killed, then a table and a verdict."""

from __future__ import annotations

import argparse
import itertools
import json
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random

from benchmarks import results
from benchmarks.faults import homes, report
from benchmarks.faults.check import KINDS, Bad
from benchmarks.faults.plants import PLANTS
from benchmarks.faults.rounds import FAULTS, OWN_STORE, Made, Round, Store, Tally
from tools.postgres import Postgres

KILLS = 1000
KILLS_ON_POSTGRES = 200  # are a long run too: each takes far longer
RESULTS = report.ROOT / "benchmarks" / "results" / "faults.json"
ON_POSTGRES = RESULTS.with_name("faults_postgres.json")
ROUNDS_PER_STORE = 4  # then a new file: an old one only makes the checks slower
MOST = ("kill at any moment", "kill at any moment", "kill between statements")
LEAST_KILLS, MOST_KILLS = 4, 15  # in one round
SHOWN = 12  # bad things told in full


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    """The options of a run."""
    parser = argparse.ArgumentParser(prog="benchmarks/faults.py", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS, help="end after so many kills")
    parser.add_argument(
        "--seconds", type=float, default=1e9, help="end after so long at the latest"
    )
    parser.add_argument("--seed", type=int, help="of every random choice (default: a new one)")
    parser.add_argument("--faults", help="only these, by name, with commas between")
    parser.add_argument("--postgres", action="store_true", help="databases instead of files")
    parser.add_argument("--plant", choices=PLANTS, help="put this bug in: the run must find it")
    parser.add_argument("--json", type=Path, help=f"write results here (long runs: {RESULTS.name})")
    parser.add_argument("--folder", type=Path, help="where the stores are made")
    parser.add_argument("--keep", type=Path, help="copy stores in which something is wrong here")
    parser.add_argument("--quote", action="store_true", help="only put the results on their page")
    options = parser.parse_args(words)
    options.faults = options.faults.split(",") if options.faults else list(FAULTS)
    if unknown := set(options.faults) - set(FAULTS):
        parser.error(f"no such fault: {', '.join(unknown)}; there are {', '.join(FAULTS)}")
    return options


class Run:
    """A run in progress."""

    def __init__(self, options: argparse.Namespace, folder: Path, made: Made | None) -> None:
        self.options = options
        self._made = made
        self.seed = secrets.randbelow(10**6) if options.seed is None else options.seed
        self.tallies = {name: Tally() for name in FAULTS if name in options.faults}
        self.bads: list[Bad] = []
        self.kills = 0
        self._folder = folder
        self._rng = Random(self.seed)
        self._begun = time.monotonic()
        self._store: Store | None = None
        self._stores = itertools.count()

    def plan(self) -> Iterator[str]:
        """The faults in turn: each at least once, plain kills most."""
        names = list(self.tallies)
        self._rng.shuffle(names)
        yield from names
        while True:
            more = names + [name for name in MOST if name in names]
            self._rng.shuffle(more)
            yield from more

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._begun

    def over(self) -> bool:
        """True when enough was done; with a planted bug, when it is found."""
        if self.options.plant and self.found(PLANTS[self.options.plant][1]):
            return True
        return bool(self.kills >= self.options.kills or self.seconds > self.options.seconds)

    def found(self, kind: str) -> int:
        """How many bad things of a kind were found."""
        return sum(tally.bad[kind] for tally in self.tallies.values())

    def all(self) -> None:
        """Does rounds until it is over."""
        each = min(MOST_KILLS, max(LEAST_KILLS, self.options.kills // len(self.tallies)))
        try:
            for fault in self.plan():
                self.round(fault, each)
                if self.over():
                    return
        finally:
            if self._store is not None:
                self._store.end()

    def _a_store(self, fault: str) -> Store:
        if fault in OWN_STORE:
            return self._new_store(veteran=False)
        if self._store is None or self._store.rounds >= ROUNDS_PER_STORE:
            if self._store is not None:
                self._store.end()
            self._store = self._new_store(veteran=True)
        self._store.rounds += 1
        return self._store

    def _new_store(self, veteran: bool) -> Store:
        number = next(self._stores)
        return Store(self._folder / f"store{number}", f"{self.seed}-{number}", veteran, self._made)

    def round(self, fault: str, kills: int) -> None:
        """One round, counted."""
        store, began = self._a_store(fault), self.seconds
        here = Round(fault, store, self._rng, kills, self.options.plant)
        before = here.count()
        crew = FAULTS[fault](here)
        often = fault == "kill in purge" or store.rounds % 2 == 0 or bool(self.options.plant)
        here.whole(crew, purge=often)
        tally = self.tallies[fault]
        tally.runs += 1
        tally.kills += crew.kills
        tally.in_flight += crew.in_flight
        tally.acknowledged += here.count() - before
        self.kills += crew.kills
        self._take(here, fault)
        if fault in OWN_STORE:
            here.store.end()
        print(
            f"[{self.kills:5}/{self.options.kills} kills, {self.seconds:5.0f} s] {fault}: "
            f"{crew.kills} kills, {crew.in_flight} in flight, {here.count() - before} "
            f"acknowledged, {len(here.bads)} bad, {self.seconds - began:.1f} s",
            flush=True,
        )

    def _take(self, here: Round, fault: str) -> None:
        if here.bads and self.options.keep:
            copy = self.options.keep / f"{self.seed}-{self.kills}-{fault.replace(' ', '-')}"
            shutil.copytree(here.store.folder, copy, dirs_exist_ok=True)
        for kind, what in here.bads:
            self.tallies[fault].bad[kind] += 1
            if len(self.bads) < SHOWN:
                print(f"    {kind.upper()} [{fault}] {what}", flush=True)
            self.bads.append((kind, what))


@contextmanager
def running() -> Iterator[Postgres]:
    """A PostgreSQL of the run's own."""
    server = Postgres().start()
    try:
        yield server
    finally:
        server.stop()


def main(words: list[str] | None = None) -> int:
    """Runs, prints and judges; gives the exit code."""
    options = arguments(words)
    if options.quote:
        report.quote(json.loads(RESULTS.read_text()))
        return 0
    with ExitStack() as stack:
        where = report.where()  # the tree may change meanwhile
        head = results.header(0, quick=False) | {"command": where["command"]}
        temporary = tempfile.TemporaryDirectory(prefix="holdfast-faults-", dir=options.folder)
        folder = Path(stack.enter_context(temporary))
        folder.chmod(0o755)  # a server runs as somebody else
        made = homes.served(stack.enter_context(running())) if options.postgres else None
        run = Run(options, folder, made)
        print(f"seed {run.seed}; the stores are in {folder}", flush=True)
        run.all()
    found = report.results(
        run.tallies, seed=run.seed, seconds=round(run.seconds, 1), plant=options.plant, **where
    )
    print(f"\n{report.table(found)}\n\n{report.heading(found)}")
    enough = KILLS_ON_POSTGRES if options.postgres else KILLS
    long = options.kills >= enough and not options.plant and len(run.tallies) == len(FAULTS)
    path = options.json or ((ON_POSTGRES if options.postgres else RESULTS) if long else None)
    if path:
        head = {**head, "seed": run.seed, "quick": not long}
        report.save({"run": head, **found} if options.postgres else found, path)
        print(f"written to {path}")
    if path == RESULTS:
        report.quote(found)
    return 1 if any(run.found(kind) for kind in KINDS) else 0


if __name__ == "__main__":
    sys.exit(main())
