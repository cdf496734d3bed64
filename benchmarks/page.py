"""The tables of `PAGES`, between their marks, are as measured."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks import results, tables
from benchmarks.cells import Found
from benchmarks.corpora import ROOT

PAGE = ROOT / "docs" / "benchmarks.md"
CORPORA = ROOT / "docs" / "benchmarks_corpora.md"
MISSES = ROOT / "docs" / "benchmarks_misses.md"
SERVER = ROOT / "docs" / "server.md"
PAGES = (PAGE, CORPORA, MISSES, SERVER)
PLOTS = ROOT / "docs" / "plots"
MARKED = re.compile(r"<!-- table:(?P<name>[a-z: ]+) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
NOTHING = "Not measured yet: `make bench` fills this in.\n"


def filled(text: str, folder: Path = results.FOLDER) -> str:
    """A page with every table made anew."""
    return MARKED.sub(lambda mark: _filled(mark["name"], folder), text)


def _filled(name: str, folder: Path) -> str:
    file, _, title = name.partition(":")
    found = results.read(folder, file)
    body = NOTHING
    if found is not None:
        body = (about(found) if title == "run" else tables.TABLES[file][title](found)) + "\n"
    return f"<!-- table:{name} -->\n{body}<!-- end -->"


def about(found: Found) -> str:
    """Where, when and how: the header of a results file as a sentence or two."""
    run, machine = found["run"], found["run"]["machine"]
    said = [
        f"`{run['command']}` at {run['commit']}, {run['date']}, seed {run['seed']}"
        + (" (a quick run: fewer repetitions, smaller sizes)." if run["quick"] else "."),
        f"{machine['cpu']}, {machine['cores']} cores, {machine['ram_gb']} GB, "
        f"Python {machine['python']}, SQLite {machine['sqlite']}, NumPy {machine['numpy']}; "
        f"load at the start {machine['load_1min']}.",
    ]
    return " ".join([*said, *(f"Note: {note}." for note in found.get("notes", []))])


def update(page: Path = PAGE, folder: Path = results.FOLDER) -> bool:
    """Writes the page's tables; says whether there is a page."""
    if not page.is_file():
        return False
    page.write_text(filled(page.read_text(), folder))
    return True


def unmarked(text: str) -> str:
    """The page without its tables: what people wrote."""
    return MARKED.sub("", text)
