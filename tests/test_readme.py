"""A stranger with curl: from `make serve` to a memory, in the three commands of the README."""

import json
import os
import re
import signal
import socket
import subprocess

import pytest

from tests.markdown import ROOT
from tests.waiting import until


@pytest.mark.slow
def test_three_commands_store_and_recall_a_memory() -> None:
    block = re.search(
        r"## As a server.*?```console\n(.*?)```", (ROOT / "README.md").read_text(), re.S
    )
    assert block
    serve, remember, recall = (line.removeprefix("$ ") for line in block[1].splitlines())
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    # Another port, so that a server of the developer's own is left alone.
    runs = subprocess.Popen(
        f"{serve} PORT={port}",
        shell=True,
        cwd=ROOT,
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert json.loads(_run(remember.replace("8420", str(port))))["created"] is True
        found_it = json.loads(_run(recall.replace("8420", str(port))))
        assert found_it["hits"][0]["memory"]["content"] == "The staging server is called heron"
        assert "console/console.js" in _run(f"curl http://127.0.0.1:{port}/")
    finally:
        os.killpg(runs.pid, signal.SIGTERM)
        runs.wait(30)


def _run(command: str) -> str:
    tries: list[subprocess.CompletedProcess[str]] = []

    def done() -> bool:
        tries.append(
            subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        )
        return tries[-1].returncode == 0

    until(done, lambda: tries[-1].stderr)
    return tries[-1].stdout
