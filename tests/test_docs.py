"""Documentation cannot lie: its code runs, its links lead somewhere, and nothing is left out."""

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer.main

from holdfast import Memory
from holdfast.cli import app
from tests.markdown import ROOT, blocks, pages, prose

RUN = pages("README.md", "docs/**/*.md")
LINKED = pages("*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/**/*.md", ".github/*.md")
DODGES = {"bash", "py", "pycon", "python3", "sh", "shell", "zsh"}  # would pass unrun
COMMAND = re.compile(r"^\$ (?P<command>(?:.*\\\n)*.*)$", re.MULTILINE)
SHELL = "shell=True, check=True, stdin=-3"  # -3 is DEVNULL: nobody is there to answer
LINK = re.compile(r"\]\((?![a-z]+:|#)(?P<path>[^)#\s]+)")


def program(page: str) -> str:
    """The page as one Python program, every block on its own lines so that tracebacks fit it."""
    lines = [""] * len(page.splitlines())
    for block in blocks(page):
        if block.not_run is not None:
            assert block.not_run, f"line {block.line}: `not run` needs a reason"
        elif block.language == "python":
            code = block.code.splitlines()
            lines[block.line - 1 : block.line - 1 + len(code)] = code
        elif block.language == "console":
            for found in COMMAND.finditer(block.code):
                at = block.line - 1 + block.code.count("\n", 0, found.start())
                lines[at] = f"__import__('subprocess').run({found['command']!r}, {SHELL})"
        else:
            assert block.language not in DODGES, f"line {block.line}: write python or console"
    return "\n".join(lines)


def run(page: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a page where a reader would: an empty folder, a fresh HOME, a fresh store."""
    work, script = folder / "work", folder / "script" / "page.py"
    work.mkdir()
    script.parent.mkdir()
    script.write_text(program(page))
    return subprocess.run(
        [sys.executable, "-W", "error", script],
        cwd=work,
        env={
            **os.environ,
            "HOLDFAST_URL": f"sqlite:///{folder / 'page.db'}",
            **more,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("page", RUN, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_of_the_page_runs(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = page.read_text()
    more = {}
    if "DATABASE_URL" in text:  # the page is about PostgreSQL
        more["DATABASE_URL"] = str(request.getfixturevalue("postgres_url"))
    done = run(text, tmp_path, **more)
    assert done.returncode == 0, f"{page}:\n{done.stdout}"


def test_there_are_pages_to_run() -> None:
    assert {page.name for page in RUN} >= {"README.md", "library.md", "cli.md"}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 140


def commands(command: Any, path: str = "holdfast") -> Iterator[str]:
    """Every command a person can type, groups walked."""
    for name, inner in getattr(command, "commands", {}).items():
        if not inner.hidden:
            yield from commands(inner, f"{path} {name}")
    if not hasattr(command, "commands"):
        yield path


@pytest.mark.parametrize("command", list(commands(typer.main.get_command(app))))
def test_every_command_is_documented(command: str) -> None:
    assert re.search(rf"\b{command}\b", (ROOT / "docs" / "cli.md").read_text())


def verbs(api: type) -> list[str]:
    return [name for name, _ in inspect.getmembers(api, inspect.isfunction) if name[0] != "_"]


def real_calls(verb: str, docstring: str) -> Iterator[ast.Call]:
    """Every `memory.verb(…)` in what parses as Python: prompts, fences and paragraphs of code."""
    chunks = [example.source for example in doctest.DocTestParser().get_examples(docstring)]
    chunks += re.split(r"\n\s*\n|^Examples?:+$|^ *```.*$", docstring, flags=re.MULTILINE)
    for chunk in chunks:
        with suppress(SyntaxError):
            for node in ast.walk(ast.parse(textwrap.dedent(chunk))):
                match node:
                    case ast.Call(func=ast.Attribute(ast.Name("memory"), attr)) if attr == verb:
                        yield node


@pytest.mark.parametrize("verb", verbs(Memory))
def test_every_verb_shows_a_real_call_and_is_documented(verb: str) -> None:
    function = getattr(Memory, verb)
    calls = list(real_calls(verb, inspect.getdoc(function) or ""))
    assert calls, f"the docstring of {verb} has no example with `memory.{verb}(…)`"
    for call in calls:
        names = {word.arg: word for word in call.keywords if word.arg}
        inspect.signature(function).bind("self", *call.args, **names)
    assert re.search(rf"\b{verb}\(", (ROOT / "docs" / "library.md").read_text())


def dead_links(page: Path) -> list[str]:
    found = (link["path"] for link in LINK.finditer(prose(page.read_text())))
    return [path for path in found if not (page.parent / path).exists()]


@pytest.mark.parametrize("page", LINKED, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    assert dead_links(page) == []


GOOD = """# A page
```python
x = 1
```
Then:

1. In a list

   ```python
   x += 1
   assert x == 2
   ```

<!-- not run: needs a card -->

```python
raise SystemExit(3)
```

```console
$ holdfast --help > help.txt
Usage: …
$ test -s \\
    help.txt
```

```python
open("help.txt").close(); print("to the end")
```
"""


def test_blocks_share_a_session_and_may_be_left_out_with_a_reason(tmp_path: Path) -> None:
    done = run(GOOD, tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.endswith("to the end\n")


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("\n```python\nassert 1 == 2\n```\n", 'page.py", line 3'),
        ("```python\nx = 1\n```\n\n```python\nx += y\n```\n", "name 'y' is not defined"),
        ("```console\n$ true\n$ exit 4\n```\n", "exit status 4"),
        ("```python\nimport warnings; warnings.warn('old')\n```\n", "UserWarning: old"),
    ],
)
def test_a_page_that_lies_is_caught(page: str, words: str, tmp_path: Path) -> None:
    done = run(page, tmp_path)
    assert done.returncode != 0
    assert words in done.stdout


@pytest.mark.parametrize("page", ["<!-- not run: -->\n```python\n```\n", "```bash\nls\n```\n"])
def test_a_block_is_not_left_out_without_a_reason(page: str) -> None:
    with pytest.raises(AssertionError):
        program(page)


@pytest.mark.parametrize(
    ("docstring", "calls"),
    [
        ("Get it.\n\n    value = memory.get('cursor')\n\nIt is quick.", 1),
        ("Get it.\n\nfor value in memory.get('cursor'):\n    memory.get(value)", 2),
        ("Get it.\n\n>>> memory.get('cursor')\n8000", 1),
        ("Get it.\n\n```python\nmemory.get('cursor')\n```", 1),
        ("Get it.\n\nExample:\n    memory.get('cursor')", 1),
        ("Call memory.get('cursor') to get it.", 0),
        ("Get it.\n\n    memory.get_all()", 0),
    ],
)
def test_a_call_in_prose_is_not_an_example(docstring: str, calls: int) -> None:
    assert len(list(real_calls("get", docstring))) == calls


def test_a_dead_link_is_caught(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[a](page.md#top) [b](gone.md) [c](https://example.org) `[d](code.md)` [e](#e)")
    assert dead_links(page) == ["gone.md"]


def _thresholds() -> Iterator[tuple[str, str, str]]:
    """Name, value and module of every threshold in the table of docs/learning.md."""
    for line in (ROOT / "docs" / "learning.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if len(cells) == 4 and cells[3].startswith("`") and cells[0].startswith("`"):
            names, values = cells[0].split(", "), cells[1].split(", ")
            if len(names) == len(values):
                for name, value in zip(names, values, strict=True):
                    yield name.strip("`"), value, cells[3].strip("` |").removesuffix(".py")


def test_the_thresholds_of_learning_are_those_of_the_code() -> None:
    told = {(module, name): value for name, value, module in _thresholds()}
    for (module, name), value in told.items():
        held = getattr(import_module(f"holdfast.{module.replace('/', '.')}"), name)
        if re.fullmatch(r"[\d.]+", value):
            assert held == float(value), (module, name)
    deciding = "extract/rules extract/substance extract/tongues extract/reconcile".split()
    deciding += ["extract/paraphrase", "readings", "slots"]
    for module in deciding:
        constants = vars(import_module(f"holdfast.{module.replace('/', '.')}"))
        own = (ROOT / "src" / "holdfast" / f"{module}.py").read_text()
        for name, held in constants.items():
            if name.isupper() and type(held) in (int, float) and f"\n{name} = " in own:
                assert (module, name) in told
