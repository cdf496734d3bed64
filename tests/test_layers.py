"""The layer rule of ARCHITECTURE.md: imports go one way, and thinking touches nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.markdown import ROOT

LAYERS = {
    "words": {"model", "errors", "check", "ops"},
    "thinking": {
        "text",
        "dates",
        "question",
        "small_words",
        "rank",
        "order",
        "lifetime",
        "context",
        "explain",
        "states",
        "wire",
        "conversation",
        "sentences",
        "speech",
        "when",
        "forms",
        "meanings",
        "subjects",
        "ends",
        "nouns",
        "readings",
        "slots",
        "topics",
        "trust",
        "suspicion",
        "routes",
        "schema",
        "overlay",
    },
    "at rest": {"engine", "embed", "extract", "beside"},
    "doing": {
        "service",
        "answering",
        "embedding",
        "portable",
        "keeping",
        "drafting",
        "learning",
        "consolidation",
        "jobs",
        "sweeping",
        "judging",
        "replacing",
        "access",
    },
    "where": {"backend", "remote", "outbox"},
    "api": {"api"},
    "window": {"holdfast"},
    "doors": {"server", "compat", "cli", "integrations", "testing", "__main__"},
}
ORDER = list(LAYERS)
LAYER = {room: layer for layer, rooms in LAYERS.items() for room in rooms}

# What a pure function has no business with.
WORLD = {"asyncio", "concurrent", "http", "io", "logging", "multiprocessing", "os", "pathlib"}
WORLD |= {"queue", "random", "secrets", "shutil", "signal", "socket", "sqlite3", "ssl"}
WORLD |= {"subprocess", "sys", "tempfile", "threading", "time", "urllib", "uuid"}
WORLDLY_CALLS = {"open", "print", "input"}
WORLDLY_ATTRIBUTES = {"now", "utcnow", "today", "random"}  # datetime.now(), numpy.random …


def modules(root: Path) -> dict[str, Path]:
    """Every module under src/holdfast by its dotted name; a package by the name of its folder."""
    source = root / "src"
    files = source.joinpath("holdfast").rglob("*.py")
    named = {".".join(file.relative_to(source).with_suffix("").parts): file for file in files}
    return {name.removesuffix(".__init__"): file for name, file in named.items()}


def room(module: str) -> str:
    """The part of a dotted name that the rule speaks of; `holdfast` itself is the shop window."""
    return module.split(".")[1] if "." in module else module


def imports(module: str, path: Path, known: set[str]) -> Iterator[tuple[int, str]]:
    """Line and full name of every import, wherever it stands: TYPE_CHECKING and functions too."""
    package = module.split(".") if path.stem == "__init__" else module.split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                near = package[: len(package) - node.level + 1] if node.level else []
                source = ".".join([*near, *filter(None, [node.module])])
                for alias in node.names:
                    inner = f"{source}.{alias.name}"
                    yield node.lineno, inner if inner in known else source
            case ast.Call(
                func=ast.Name("import_module" | "__import__") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(str(name)), *_],
            ):
                yield node.lineno, name


def forbidden(module: str, target: str) -> str | None:
    """Why `module` may not import `target`, both ours."""
    here, there = room(module), room(target)
    if unknown := {here, there} - set(LAYER):
        return f"{unknown.pop()} is in no layer: find its place in LAYERS"
    if here == there:
        return None
    if here == "integrations" and there != "holdfast":
        return "integrations see only what `from holdfast import …` gives"
    if here == "holdfast" and LAYER[there] not in {"words", "thinking", "api"}:
        return "the shop window shows the api, the words and what only thinks"
    seen = {"holdfast.engine", "holdfast.engine.ledger", "holdfast.embed", "holdfast.embed.guard"}
    if LAYER[here] == "doing" and there in {"engine", "embed"} and target not in seen:
        return "the service sees protocols, never a concrete adapter"
    if ORDER.index(LAYER[there]) > ORDER.index(LAYER[here]):
        return f"{LAYER[here]} may not import {LAYER[there]}"
    return None


def worldly(path: Path) -> Iterator[tuple[int, str]]:
    """Calls that reach for the world without an import of their own."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Call(func=ast.Name(name)) if name in WORLDLY_CALLS:
                yield node.lineno, f"{name}()"
            case ast.Call(func=ast.Attribute(attr=name)) if name in WORLDLY_ATTRIBUTES:
                yield node.lineno, f".{name}()"
            case ast.Attribute(value=ast.Attribute(attr="random")):
                yield node.lineno, f".random.{node.attr}"


def offences(root: Path) -> Iterator[str]:
    known = modules(root)
    for module, path in sorted(known.items()):
        pure = LAYER.get(room(module)) == "thinking"
        for line, target in imports(module, path, set(known)):
            top = target.partition(".")[0]
            if top == "holdfast" and (why := forbidden(module, target)):
                yield f"{module}:{line} imports {target}: {why}"
            if target == "urllib.parse":
                continue  # text in, text out
            if pure and (top in WORLD or target.startswith("numpy.random")):
                yield f"{module}:{line} imports {target}: thinking has no I/O, clock or randomness"
        if pure:
            for line, what in worldly(path):
                yield f"{module}:{line} {what}: thinking has no I/O, clock or randomness"


def test_imports_go_one_way() -> None:
    assert len(modules(ROOT)) > 10
    assert list(offences(ROOT)) == []


def plant(root: Path, name: str, code: str) -> Path:
    """A small clean tree, with one module in it that has `code`."""
    clean = {
        "__init__": "from holdfast.api import Memory\nfrom holdfast.model import Hit",
        "model": "from datetime import datetime",
        "ops": "from holdfast.model import Hit\nfrom .errors import Invalid",
        "errors": "import os",
        "rank": "import math\nfrom holdfast import model, text",
        "text": "def f(now: float, hit) -> None:\n    hit.now",
        "engine/__init__": "from ..model import Hit\ndef f(): from holdfast.engine import sqlite",
        "engine/sqlite": "import sqlite3\nfrom . import Engine\nfrom ..rank import rank",
        "embed/__init__": "",
        "embed/hashing": "",
        "service": "from holdfast.engine import Engine\nfrom .embed import Embedder",
        "backend": "from holdfast.service import Service",
        "api/__init__": "from holdfast.backend import open_backend",
        "cli": "import holdfast\nfrom holdfast import Memory\nfrom holdfast.engine import sqlite",
        "integrations/autogen": "from holdfast import Memory",
    }
    for module, text in {**clean, name: code}.items():
        path = root / "src" / "holdfast" / f"{module}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_clean_tree_passes(tmp_path: Path) -> None:
    assert list(offences(plant(tmp_path, "lifetime", "import math"))) == []


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("model", "from holdfast import rank", "words may not import thinking"),
        ("text", "from .engine import Engine", "thinking may not import at rest"),
        ("text", "if TYPE_CHECKING:\n    import holdfast.service", "may not import doing"),
        ("engine/sqlite", "from ..service import Service", "at rest may not import doing"),
        ("engine/sqlite", "def f():\n    from holdfast import Memory", "may not import window"),
        ("service", "from holdfast.engine import sqlite", "sees protocols"),
        ("service", "from .engine.sqlite import Sqlite", "sees protocols"),
        ("service", "from holdfast.embed import hashing", "sees protocols"),
        ("service", "import_module('holdfast.engine.sqlite')", "sees protocols"),
        ("service", "import importlib\nimportlib.import_module('holdfast.cli')", "import doors"),
        ("backend", "from holdfast.api import Memory", "where may not import api"),
        ("api/sync", "from ..cli import app", "api may not import doors"),
        ("__init__", "from .service import Service", "the shop window shows"),
        ("integrations/autogen", "from holdfast.model import Hit", "integrations see only"),
        ("integrations/autogen", "from ..api import Memory", "integrations see only"),
        ("memory", "import math\nimport holdfast.model", "memory is in no layer"),
        ("rank", "import time", "no I/O"),
        ("rank", "from os import path", "no I/O"),
        ("rank", "from numpy.random import default_rng", "no I/O"),
        ("rank", "import numpy as np\nnp.random.rand()", "no I/O"),
        ("rank", "def f():\n    import sqlite3", "no I/O"),
        ("lifetime", "from datetime import datetime\ndatetime.now()", "no I/O"),
        ("lifetime", "import datetime\ndatetime.date.today()", "no I/O"),
        ("context", "open('x')", "no I/O"),
    ],
)
def test_a_planted_offender_is_caught(name: str, code: str, why: str, tmp_path: Path) -> None:
    found = list(offences(plant(tmp_path, name, code)))
    assert found
    assert all(why in offence for offence in found)
