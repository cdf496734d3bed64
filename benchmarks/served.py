"""How fast over HTTP: verbs at 1, 8 and 64 clients, beside the bare framework in the same run."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.corpora import ROOT
from holdfast import Memory

KINDS = ("state get", "state set", "remember", "recall", "context")
CLIENTS = (1, 8, 64)
RESULTS = ROOT / "benchmarks" / "results" / "served.json"
ECHO = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def echo(request): return JSONResponse(await request.json())
app = Starlette(routes=[Route("/echo", echo, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="warning", date_header=False)
"""
SERVE = """
import sys, logging
from holdfast.server import logs
from holdfast.server.run import server
from holdfast.server.settings import Settings
logs.begin(logging.WARNING)
server(Settings(url=sys.argv[2], embedder=sys.argv[3], port=int(sys.argv[1]))).run()
"""


@contextmanager
def process(code: str, port: int, *args: str) -> Iterator[str]:
    """A server in a process of its own."""
    url = f"http://127.0.0.1:{port}"
    runs = subprocess.Popen([sys.executable, "-c", code, str(port), *args], cwd=ROOT)
    try:
        _wait(url)
        yield url
    finally:
        runs.terminate()
        runs.wait(30)


def _wait(url: str) -> None:
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        try:
            urlopen(f"{url}/health").close()
            return
        except OSError as error:
            if getattr(error, "code", 0):
                return  # it answers, if not here
            time.sleep(0.05)
    raise RuntimeError(f"nobody answers at {url}")


def measured(url: str, kind: str, clients: int, seconds: float) -> dict[str, Any]:
    """What the load generator finds, in a process of its own."""
    task = {"url": url, "kind": kind, "clients": clients, "seconds": seconds}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", json.dumps(task)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(seconds: float, size: int, embedder: str) -> dict[str, Any]:
    """Everything, floor and verbs in turn."""
    found: dict[str, Any] = {"embedder": embedder, "memories": size, "rows": []}
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        url = f"sqlite:///{Path(folder) / 'm.db'}"
        with Memory("bench", url, embedder=embedder) as memory:
            memory.remember_many(
                [f"the green tea of shop {n} costs {n} euros" for n in range(size)]
            )
            memory.set("cursor", {"row": 8000})
        with process(ECHO, 8471) as bare, process(SERVE, 8472, url, embedder) as ours:
            for clients in CLIENTS:
                for kind in ("echo", *KINDS):
                    row = measured(bare if kind == "echo" else ours, kind, clients, seconds)
                    found["rows"].append({"kind": kind, **row})
                    print(f"  {kind:10} {json.dumps(row)}", flush=True)
    found["checks"] = checks(found["rows"])
    return found


def checks(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The targets, and whether they are met."""
    by = {(row["kind"], row["clients"]): row for row in rows}
    floor, get = by["echo", 1], by["state get", 1]
    return {
        "state get over the bare framework, 1 client": round(
            get["per_second"] / floor["per_second"], 2
        ),
        "state get over the bare framework, 64 clients": round(
            by["state get", 64]["per_second"] / by["echo", 64]["per_second"], 2
        ),
        "state get p50 at one client, ms": get["p50_ms"],
        "errors": sum(
            count for row in rows for status, count in row["statuses"].items() if int(status) >= 500
        ),
    }


def main() -> int:
    """Runs, prints, writes the results."""
    parser = argparse.ArgumentParser(prog="benchmarks.served", description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--embedder", default="hashing")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args()
    found = run(options.seconds, options.size, options.embedder)
    found["cores"] = os.cpu_count()
    print(json.dumps(found["checks"], indent=1))
    options.json.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
