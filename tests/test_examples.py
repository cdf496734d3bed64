"""The examples run as they are: a new process, a fresh HOME, nothing set."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.markdown import ROOT

EXAMPLES = ROOT / "examples"


def run(name: str, folder: Path) -> str:
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=folder,
        env={**env, "HOME": str(folder / "home")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return done.stdout


SAID = {
    "team.py": [
        "team/ana finds:\n  [team",
        "[team/ana] Ana deploys with the blue script",
        "ana asks for bo's secret: There is no memory",
        "## Avoid\n- [",
        "forgotten: 1; the team still has 1",
    ],
    "handover.py": [
        "jobs done: 12 of 12",
        "each once: True",
        "remembered: 12",
        " imported file-07",
    ],
    "moving.py": [
        "exported 5 lines",
        "Imported(added=3, known=0, states=1)",
        "now:    The office closes at five",
        "before: The office closes at six",
        "state:  42",
        "again:  Imported(added=0, known=3, states=0)",
    ],
    "fan_out.py": [
        "free: 10 customers\nbasic: 10 customers\npremium: 10 customers",
        "customer-17: The account was opened in 2007, with voucher V-17",
    ],
}


@pytest.mark.parametrize("name", SAID)
def test_the_example_says_what_it_shows(name: str, tmp_path: Path) -> None:
    said = run(name, tmp_path)
    assert [words for words in SAID[name] if words not in said] == [], said


def test_the_private_scope_stays_private(tmp_path: Path) -> None:
    ana = run("team.py", tmp_path).partition("team/bo finds:")[0]
    assert "blue script" in ana
    assert "another job" not in ana


def test_the_agent_knows_its_user_in_the_second_run(tmp_path: Path) -> None:
    first, second = run("agent.py", tmp_path), run("agent.py", tmp_path)
    assert "run 1; I hold 0 memories" in first
    assert "run 2; I hold 2 memories" in second
    assert second.endswith("agent: Yes, take an apple.\n")


def test_no_example_is_left_out() -> None:
    there = {file.name for file in EXAMPLES.glob("*.py")}
    assert there == {*SAID, "agent.py"}
    readme = (EXAMPLES / "README.md").read_text()
    assert [name for name in sorted(there) if f"]({name})" not in readme] == []
