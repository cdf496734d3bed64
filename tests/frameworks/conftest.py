import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.autogen.scripted_model import ScriptedModel
from holdfast import Memory
from tests.frameworks.patience import patient
from tests.frameworks.trouble import Troubled, troubled

ROOT = Path(__file__).resolve().parents[2]
# Where one process learns and another answers; read before any test takes it away.
STORE = os.environ.get("HOLDFAST_DRIVE_STORE", "sqlite:///learned.db")
PATIENT = f"from {patient.__module__} import patient; patient()"


@pytest.fixture(scope="session", autouse=True)
def _patient() -> None:
    """Here alone: whatever else is tested in this process keeps its own time."""
    patient()


@pytest.fixture(autouse=True)
def _away_from_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("HOLDFAST_", "XDG_", "OPENAI_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'memory.db'}"


@pytest.fixture
def memory(url: str) -> Iterator[Memory]:
    with Memory("agent", url, embedder="hashing") as memory:
        yield memory


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Troubled]:
    with troubled(tmp_path) as front:
        yield front


class Processes:
    """Programs in processes of their own, with this flavour's Python."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, script: str, *args: str, killed: bool = False) -> str:
        """Runs a program to its end, or until it kills itself; gives what it printed."""
        found = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        env = {**os.environ, "PYTHONPATH": found, "STORE": STORE}
        done = subprocess.run(
            [sys.executable, "-c", f"{PATIENT}\n{script}", *args],
            cwd=self.folder,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == (-9 if killed else 0), done.stdout + done.stderr
        return done.stdout

    def fill_the_disk(self, script: str) -> None:
        """Eight turns while no file can grow, and then its end: all were answered and are kept."""
        said = self.run(f"{HEAD}\n{script}\n{TAIL}").splitlines()[-1]
        assert said == "replies 8 waited True left 0 kept 9"


# Around eight turns that count `replies` and whether all `waited` for the companion `here`.
HEAD = """
import asyncio, logging
logging.disable()
from holdfast import Memory
from holdfast.integrations.turns import TurnPolicy
from tests.frameworks.trouble import full_disk
memory = Memory("agent", "sqlite:///full.db", embedder="hashing")
memory.remember("something that was known before")
policy = TurnPolicy(seconds=0.3, learn_every=0)
says = [f"Shop {n} sells tea number {n}." for n in range(8)]
replies = 0
"""
TAIL = """
left = here.finish(30)
print("replies", replies, "waited", waited, "left", left, "kept", len(memory.list(limit=100)))
"""


@pytest.fixture
def processes(tmp_path: Path) -> Processes:
    return Processes(tmp_path)


__all__ = ["ScriptedModel"]
