"""The real frameworks, each in its own environment, against a scripted model on this machine."""

import os
import subprocess
from pathlib import Path

import psycopg
import pytest

from examples.autogen.scripted_model import ScriptedModel
from tests.frameworks.environments import FLAVOURS, matrix, python
from tests.markdown import ROOT, blocks

FOLDER = ROOT / "tests" / "frameworks"
EVERYTHING = bool(os.environ.get("HOLDFAST_MATRIX"))  # read before any test takes it away


def drive(flavour: str, version: str, folder: Path, *args: str, **env: str) -> str:
    scripts = [FOLDER / f"{name}.py" for name in FLAVOURS[flavour].tests]
    done = subprocess.run(
        [python(flavour, version), "-m", "pytest", "-c", FOLDER / "pytest.ini", *scripts, *args],
        cwd=folder,
        env={**os.environ, **env},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.xdist_group("frameworks")
@pytest.mark.parametrize(("flavour", "version"), matrix(EVERYTHING))
def test_the_framework_remembers(flavour: str, version: str, tmp_path: Path) -> None:
    said = drive(flavour, version, tmp_path)
    assert " passed" in said
    assert "skipped" not in said


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.xdist_group("frameworks")
@pytest.mark.parametrize(("flavour", "version"), matrix(EVERYTHING))
def test_one_process_learns_and_another_answers_on_postgresql(
    flavour: str, version: str, tmp_path: Path, postgres_url: str
) -> None:
    """The first ends by SIGKILL."""
    only = ("-k", "test_a_new_process_answers_from_what_a_killed_one_learned")
    said = drive(flavour, version, tmp_path, *only, HOLDFAST_DRIVE_STORE=postgres_url)
    assert "1 passed" in said
    with psycopg.connect(postgres_url) as db:  # it was there that it was learned
        db.execute("SELECT set_config('holdfast.tenant', 'local', false)")
        found = db.execute("SELECT count(*) FROM holdfast.memories").fetchone()
    assert found is not None
    assert found[0] >= 2


def test_what_is_always_run_is_what_we_say() -> None:
    always = {name for name, _ in matrix(everything=False)}
    assert always == {"autogen-0.14", "agentchat-0.7.5", "agent-framework-1.23"}
    assert {name for name, _ in matrix(everything=True)} == set(FLAVOURS)


# --- examples and pages ---

RECIPES = {
    "hook_memory.py": ["user] Let us use PostgreSQL, not MongoDB, for the main store."],
    "tool_memory.py": ["remembered: [decision, by assistant] The main store is PostgreSQL"],
    "hooks_and_tools.py": ["[preference, by assistant] Ines", "[interaction, by user] I am Ines"],
    "group_memory.py": ["Researcher] Competitors charge nine euros", "the writer's: True"],
    "priming.py": ["## Preferences\n- [", "Alice writes TypeScript"],
    "learning_as_it_goes.py": ["learned so far: ", "[preference] The user prefers trains"],
    "persistent_agent.py": ["['My name is Sarah.', 'Hello!', 'What is my name?', 'Hello!']"],
    "persistent_group.py": ["ended with -9", "['coder', 'reviewer', 'planner', 'coder']"],
    "kinds_and_ttl.py": ["[temporary, until ", "[preference, for good] Always use British"],
    "fan_out.py": ["legal: ['Articles about databases need a disclaimer']"],
    "handoff.py": ["writer: took {'topic': 'FastAPI'", "Pydantic.", "latecomer: took None"],
    "agentchat_team.py": ["goes on: True", "remembered: [user] Competitors charge nine euros"],
    "framework_agent.py": ["the session has 4 messages", "Ines, and I prefer trains"],
    "ag2_agent.py": ["[preference, by assistant] The user prefers trains", "agent: Train."],
}
FLAVOUR_OF = {
    **dict.fromkeys(RECIPES, "autogen-0.14"),
    "agentchat_team.py": "agentchat-0.7.5",
    "framework_agent.py": "agent-framework-1.23",
    "ag2_agent.py": "ag2-1.2",
}


def run(flavour: str, script: Path, folder: Path, **more: str) -> str:
    """Runs a program with a flavour's Python, as a reader would: no key, a fresh HOME."""
    gone = ("PYTHON", "HOLDFAST_", "OPENAI_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(gone)}
    done = subprocess.run(
        [python(flavour), script],
        cwd=folder,
        env={**env, "HOME": str(folder), "PYTHONPATH": str(ROOT / "src"), **more},
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=200,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.xdist_group("frameworks")
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_recipe_runs_without_a_key(recipe: str, tmp_path: Path) -> None:
    said = run(FLAVOUR_OF[recipe], ROOT / "examples" / "autogen" / recipe, tmp_path)
    assert [words for words in RECIPES[recipe] if words not in said] == [], said


@pytest.mark.slow
@pytest.mark.xdist_group("frameworks")
@pytest.mark.parametrize("recipe", RECIPES)
def test_the_recipe_runs_with_a_key(recipe: str, tmp_path: Path) -> None:
    """One variable sets it; the other one is only here, so that nobody is asked far away."""
    script = ROOT / "examples" / "autogen" / recipe
    with ScriptedModel(["That is as I said."], speakers=["Writer"]) as model:
        run(FLAVOUR_OF[recipe], script, tmp_path, OPENAI_API_KEY="a-key", OPENAI_BASE_URL=model.url)
        assert {asked.body["model"] for asked in model.asked} == {"gpt-4o-mini"}


def test_no_recipe_is_left_out() -> None:
    folder = ROOT / "examples" / "autogen"
    there = {file.name for file in folder.glob("*.py")} - {"scripted_model.py"}
    assert there == set(RECIPES)
    readme = (ROOT / "examples" / "README.md").read_text()
    assert [name for name in sorted(there) if f"](autogen/{name})" not in readme] == []


PAGES = {
    "autogen.md": "autogen-0.14",
    "autogen_core.md": "agentchat-0.7.5",
    "agent_framework.md": "agent-framework-1.23",
    "ag2.md": "ag2-1.2",
}


@pytest.mark.parametrize("page", PAGES)
def test_the_page_begins_with_what_is_installed(page: str) -> None:
    """And with a table to tell: what Python finds, and which page is whose."""
    begins = (ROOT / "docs" / page).read_text().split("\n## ")[1]
    assert begins.startswith("What have I installed?\n")
    rows = [line for line in begins.splitlines() if line.startswith("| `")]
    found = [row.split("`")[1] for row in rows]
    assert found == ["autogen", "autogen_agentchat", "agent_framework", "ag2"]
    others = [name for name, row in zip(PAGES, rows, strict=True) if f"]({name})" in row]
    assert others == [name for name in PAGES if name != page]


@pytest.mark.slow
@pytest.mark.xdist_group("frameworks")
@pytest.mark.parametrize("page", PAGES)
def test_the_page_runs_with_its_framework(page: str, tmp_path: Path) -> None:
    """What `test_docs.py` leaves to us: the blocks that need a framework."""
    needs = f"needs {PAGES[page]}"
    found = [it for it in blocks((ROOT / "docs" / page).read_text()) if it.not_run == needs]
    assert found
    script = tmp_path / "page.py"
    script.write_text("\n".join(block.code for block in found))
    with ScriptedModel(lambda asked: f"I heard {len(asked.messages)} messages.") as model:
        run(PAGES[page], script, tmp_path, OPENAI_BASE_URL=model.url, OPENAI_API_KEY="none")
        assert model.asked
