"""Write the synchronous API from the asynchronous one by word rules, or check that it was."""

import argparse
import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = Path("src/holdfast/api/asynchronous.py")
TARGET = Path("src/holdfast/api/synchronous.py")
# Each source and its twin; the verbs of learning are in a file of their own.
PAIRS = (
    (SOURCE, TARGET),
    (
        Path("src/holdfast/api/asynchronous_learning.py"),
        Path("src/holdfast/api/synchronous_learning.py"),
    ),
)
HEADER = "# Generated from {}\n# by tools/unasync.py: edit that, `make generate`.\n"

# Pattern and replacement, in order. A rule that matches nothing fails the run: add the rule with
# the first line that needs it, and take it out with the last.
RULES = [
    (r"\basync (def|with|for)\b", r"\1"),
    (r"\bawait ", ""),
    (r"\bAsyncMemory\b", "Memory"),
    (r"\bAsyncBackend\b", "Backend"),
    (r"\bAsyncIterator\b", "Iterator"),
    (r"\bopen_async_backend\b", "open_backend"),
    (r", for callers with an event loop", ""),
    (r"\nThis file is the source of its synchronous twin[^\n]*\n", ""),
    (r"\b__a(enter|exit)__\b", r"__\1__"),
    (r"\basynchronous_learning\b", "synchronous_learning"),
    (r"\bAsyncLearning\b", "Learning"),
]
# The verbs of learning have no use for the others.
FEWER = [
    (pattern, word)
    for pattern, word in RULES
    if any(
        used in pattern for used in ("async (def", "await", "AsyncBackend", "Learning", "source")
    )
]
COLOUR = (ast.AsyncFunctionDef, ast.AsyncWith, ast.AsyncFor, ast.Await)


class Stale(Exception):
    """The rules and the source no longer fit each other."""


def translate(source: str, rules: list[tuple[str, str]] = RULES, origin: Path = SOURCE) -> str:
    """Return the synchronous text of an asynchronous module, not yet formatted."""
    for pattern, replacement in rules:
        source, count = re.subn(pattern, replacement, source)
        if not count:
            raise Stale(f"the rule {pattern!r} matches nothing any more")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, COLOUR) or (isinstance(node, ast.comprehension) and node.is_async):
            raise Stale(f"no rule for: {ast.unparse(node).splitlines()[0]}")
    return HEADER.format(origin) + source


def formatted(text: str) -> str:
    """Return the text as ruff would have it, import order included."""
    name = ["--stdin-filename", str(ROOT / TARGET), "-"]
    for command in (["check", "--fix-only", "--select", "I,RUF022"], ["format"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--quiet", *name],
            input=text,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
    return text


def main(arguments: list[str] | None = None) -> int:
    """Generate or check; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if they differ")
    parser.add_argument("--root", type=Path, default=ROOT, help="another tree to work on")
    options = parser.parse_args(arguments)
    results = [_pair(options.root, *pair, options.check) for pair in PAIRS]
    return max(results)


def _pair(root: Path, source: Path, target: Path, check: bool) -> int:
    """Generate or check one twin; return the exit code."""
    rules = RULES if source == SOURCE else FEWER
    try:
        twin = formatted(translate((root / source).read_text(), rules, source))
    except Stale as stale:
        print(f"tools/unasync.py: {stale}", file=sys.stderr)
        return 1
    if not check:
        (root / target).write_text(twin)
    elif not (root / target).exists() or (root / target).read_text() != twin:
        print(f"{target} is not what {source} gives: run `make generate`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
