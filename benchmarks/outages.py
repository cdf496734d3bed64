"""`make faults`, over HTTP: servers and agents killed, replies cut off; count what is lost.

Two servers on one file (with `--postgres`, on one PostgreSQL), a way to them that is cut now and
then between request and reply, and agents with eight writers and one outbox. Any of them is killed
with SIGKILL and started again, and so is every process of the PostgreSQL.
At the end everything is sent, and every journal is compared with the store.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks import results
from benchmarks.corpora import ROOT
from benchmarks.outage_writer import FORGET, begun, note
from holdfast import HoldfastError, Memory, NotFound
from holdfast.access import Access
from holdfast.engine import open_engine
from holdfast.service import utc_now
from tools.postgres import Postgres, make_database, make_role

KINDS = ("lost", "duplicate", "phantom", "torn", "undead", "leaked")
RESULTS = ROOT / "benchmarks" / "results" / "outages.json"
RESULTS_POSTGRES = RESULTS.with_name("outages_postgres.json")
LANES = 4  # of each agent
AGENTS = 2
LONG, LONG_POSTGRES = 500, 200  # kills of servers in a long run
CUT = 0.02  # so often a reply is cut off
SERVE = """
import sys, logging
from holdfast.server import logs
from holdfast.server.run import server
from holdfast.server.settings import Settings
logs.begin(logging.ERROR)
server(Settings(url=sys.argv[2], embedder="hashing", port=int(sys.argv[1]))).run()
"""


class Way:
    """A port that leads to whichever server is there, and cuts some replies off."""

    def __init__(self, ports: list[int]) -> None:
        self._ports = ports
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._socket.getsockname()[1]
        self.cuts = 0
        self.cutting = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            here, _ = self._socket.accept()
            threading.Thread(target=self._carry, args=(here,), daemon=True).start()

    def _carry(self, here: socket.socket) -> None:
        with here, suppress(OSError):
            there = self._reach()
            if there is None:
                return
            for end in (here, there):  # parts of a request must not wait for each other
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with there:
                threading.Thread(target=_pump, args=(here, there), daemon=True).start()
                while reply := there.recv(1 << 20):
                    if self.cutting and random.random() < CUT:
                        self.cuts += 1
                        here.shutdown(socket.SHUT_RDWR)
                        return
                    here.sendall(reply)

    def _reach(self) -> socket.socket | None:
        for port in random.sample(self._ports, len(self._ports)):
            with suppress(OSError):
                return socket.create_connection(("127.0.0.1", port))
        return None


def _pump(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while data := here.recv(1 << 20):
            there.sendall(data)
    with suppress(OSError):
        there.shutdown(socket.SHUT_RDWR)


class Run:
    """Servers, agents and the way between them."""

    def __init__(self, folder: Path, servers: int = 2, database: Postgres | None = None) -> None:
        self.folder = folder
        self.database = database
        self.store = f"sqlite:///{folder / 'm.db'}"
        if database is not None:
            make_role(database.url("postgres", "postgres"))
            make_database(database.url("postgres", "postgres"), "outages")
            self.store = database.url("outages")
        self.outbox = str(folder / "outbox.db")
        self.kills: Counter[str] = Counter()
        self.key, self.stranger = self._keys()
        self.ports = [_free_port() for _ in range(servers)]
        self.way = Way(self.ports)
        self.url = f"http://127.0.0.1:{self.way.port}"
        self.lanes = [[f"a{a}l{n}" for n in range(LANES)] for a in range(AGENTS)]
        self.servers = [self._server(port) for port in self.ports]
        self.agents = [self._agent(lanes) for lanes in self.lanes]

    def _keys(self) -> tuple[str, str]:
        engine = open_engine(self.store)
        access = Access(engine.ledger(), utc_now)
        keys = access.create("agents")[1], access.create("stranger", tenant="stranger")[1]
        engine.close()
        return keys

    def _server(self, port: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-c", SERVE, str(port), self.store], cwd=ROOT)

    def _agent(self, lanes: list[str]) -> subprocess.Popen[bytes]:
        task = {"lanes": lanes, "url": self.url, "key": self.key, "outbox": self.outbox}
        words = json.dumps({**task, "folder": str(self.folder)})
        return subprocess.Popen([sys.executable, "-m", "benchmarks.outage_writer", words], cwd=ROOT)

    def kill(self) -> None:
        """Kills a server, or now and then an agent or the database, and starts it again."""
        if self.database is not None and random.random() < 0.15:
            self.database.kill()
            time.sleep(random.random())
            self.database.start()
            self.kills["postgres"] += 1
        elif random.random() < 0.25:
            at = random.randrange(AGENTS)
            self._end(self.agents[at], "agent")
            self.agents[at] = self._agent(self.lanes[at])
        else:
            at = random.randrange(len(self.servers))
            self._end(self.servers[at], "server")
            self.servers[at] = self._server(self.ports[at])

    def _end(self, process: subprocess.Popen[bytes], what: str) -> None:
        if process.poll() is not None:
            raise RuntimeError(f"the {what} ended by itself, with {process.returncode}")
        process.send_signal(signal.SIGKILL)
        process.wait()
        self.kills[what] += 1

    def finish(self) -> None:
        """Kills the agents, brings a server back, and sends all that waits."""
        for agent in self.agents:
            self._end(agent, "agent")
        self.way.cutting = False
        for port, server in zip(self.ports, self.servers, strict=True):
            _wait(port, server)
        with Memory("drain", self.url, api_key=self.key, outbox=self.outbox) as memory:
            give_up = time.monotonic() + 900
            while memory.outbox is not None and memory.outbox.pending:
                if time.monotonic() > give_up:
                    raise RuntimeError(f"{memory.outbox.pending} writes are still waiting")
                time.sleep(0.1)
            refused = [] if memory.outbox is None else memory.outbox.refused
        # A note that was forgotten and told of twice is refused the second time, rightly.
        for it in refused:
            print(f"  refused: {type(it.op).__name__} {it.error}")

    def close(self) -> None:
        """Ends the servers."""
        for server in self.servers:
            server.kill()
            server.wait()


def check(run: Run) -> tuple[Counter[str], int]:
    """Compares every journal with the store; gives what is wrong, and what was acknowledged."""
    bad: Counter[str] = Counter()
    acknowledged = 0
    for lane in (name for lanes in run.lanes for name in lanes):
        journal = run.folder / f"{lane}.log"
        lines = journal.read_text().splitlines() if journal.exists() else []
        acked = {int(line.split()[1]) for line in lines if line.startswith("!")}
        acknowledged += len(acked)
        with Memory(lane, run.url, api_key=run.key) as memory:
            bad += _lane(memory, lane, acked, begun(journal))
        with Memory(lane, run.url, api_key=run.stranger) as memory:
            seen = memory.stats()
            bad["leaked"] += seen.memories + seen.states + len(memory.recall("note"))
    with Memory("check", run.store, embedder="hashing") as memory:
        bad["torn"] += not memory.doctor().healthy
    return bad, acknowledged


def _lane(memory: Memory, lane: str, acked: set[int], last: int) -> Counter[str]:
    bad: Counter[str] = Counter()
    tried = range(last + 1)
    log = memory.get("log", [])
    bad["lost"] += len({n for n in acked if n % 4 == 0} - set(log))
    bad["duplicate"] += len(log) - len(set(log))
    bad["phantom"] += len(set(log) - {n for n in tried if n % 4 == 0})
    bad["torn"] += log != sorted(log)  # in order, too
    count = memory.get("count", 0)
    bad["lost"] += max(0, sum(n % 4 == 2 for n in acked) - count)
    bad["duplicate"] += max(0, count - sum(n % 4 == 2 for n in tried))
    for n in tried:
        if n % 4 == 1 or (n % 4 == 3 and n % FORGET == 0):
            bad += _note(memory, lane, n, n in acked)
    return bad


def _note(memory: Memory, lane: str, n: int, acked: bool) -> Counter[str]:
    bad: Counter[str] = Counter()
    try:
        record = memory.read(f"{lane}-{n}")
    except NotFound:
        bad["lost"] += acked and n % 4 == 1
        return bad
    bad["undead"] += acked and n % 4 == 3
    bad["torn"] += record.content != note(lane, n)
    bad["duplicate"] += len(memory.history(record.id)) != 1
    return bad


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + 60
    while time.monotonic() < give_up and process.poll() is None:
        with suppress(OSError):
            urlopen(f"http://127.0.0.1:{port}/health").close()
            return
        time.sleep(0.05)
    raise RuntimeError("a server did not come back")


def main(words: list[str] | None = None) -> int:
    """Runs, prints, judges; gives the exit code."""
    parser = argparse.ArgumentParser(prog="benchmarks.outages", description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="of servers; agents are killed too")
    parser.add_argument("--pause", type=float, default=0.8, help="seconds between kills")
    parser.add_argument("--postgres", action="store_true", help="on PostgreSQL, killed as well")
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--json", type=Path, help=f"default for long runs: {RESULTS.name}")
    options = parser.parse_args(words)
    begun_at = time.monotonic()
    long = LONG_POSTGRES if options.postgres else LONG
    head = results.header(0, quick=options.kills < long, module="benchmarks.outages")
    with tempfile.TemporaryDirectory(prefix="holdfast-outages-") as folder:
        database = Postgres(Path(tempfile.mkdtemp())).start() if options.postgres else None
        run = Run(Path(folder), options.servers, database)
        try:
            for port, server in zip(run.ports, run.servers, strict=True):
                _wait(port, server)
            while run.kills["server"] < options.kills:
                time.sleep(options.pause * random.uniform(0.3, 1.7))
                run.kill()
            run.finish()
            bad, acknowledged = check(run)
        finally:
            for process in (*run.agents, *run.servers):
                with suppress(ProcessLookupError, HoldfastError):
                    os.kill(process.pid, signal.SIGKILL)
                process.wait()
            if database is not None:
                database.stop()
    found: dict[str, Any] = {
        "run": head,
        "kills": dict(run.kills),
        "replies cut": run.way.cuts,
        "acknowledged": acknowledged,
        "seconds": round(time.monotonic() - begun_at),
        **{kind: bad[kind] for kind in KINDS},
    }
    print(json.dumps(found))
    where = RESULTS_POSTGRES if options.postgres else RESULTS
    path = options.json or (where if options.kills >= long else None)
    if path:
        path.write_text(json.dumps(found, indent=1) + "\n")
    return 1 if any(bad[kind] for kind in KINDS) else 0


if __name__ == "__main__":
    sys.exit(main())
