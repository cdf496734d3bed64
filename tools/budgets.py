"""Check that functions and files stay small, say what they return, and are named for their work."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
MEDIAN, P95, LONGEST = 10, 45, 80  # lines of a function
FILE, README = 600, 140  # lines
FORBIDDEN = {"base", "common", "handler", "helper", "manager", "misc", "util"}  # and their plurals

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Measure:
    """What was found in a tree: sizes in lines, and what breaks a budget."""

    functions: list[int] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    readme: int = 0
    offenders: list[str] = field(default_factory=list)

    @property
    def median(self) -> float:
        """The size of the function in the middle."""
        return median(self.functions or [0])

    @property
    def p95(self) -> int:
        """The size that 95 of 100 functions keep within."""
        return sorted(self.functions or [0])[int(0.95 * (len(self.functions) - 1))]

    def __str__(self) -> str:
        return (
            f"{len(self.functions)} functions: median {self.median:g}, p95 {self.p95}, "
            f"longest {max(self.functions, default=0)} lines | {len(self.files)} files: "
            f"longest {max(self.files, default=0)} lines | README {self.readme} lines"
        )


def functions(tree: ast.AST) -> Iterator[tuple[Function, int]]:
    """Yield every function, nested ones too, with its size from `def` to its last line."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


def file_offences(path: Path, lines: int) -> Iterator[str]:
    """Yield what is wrong with a module as a whole."""
    if lines > FILE:
        yield f"{path}: {lines} lines, over {FILE}"
    for part in path.with_suffix("").parts:
        if part.strip("_").rstrip("s") in FORBIDDEN:
            yield f"{path}: '{part}' says where it stands, not what it does"


def function_offences(node: Function, size: int) -> Iterator[str]:
    """Yield what is wrong with one function."""
    if size > LONGEST:
        yield f"{size} lines, over {LONGEST}"
    if node.returns is None:
        yield "no return annotation"


def total_offences(found: Measure) -> Iterator[str]:
    """Yield what is wrong with the tree as a whole."""
    if not found.functions:
        yield "no functions found: is this the right tree?"
    if found.median > MEDIAN:
        yield f"median function of {found.median:g} lines, over {MEDIAN}"
    if found.p95 > P95:
        yield f"95th percentile of functions {found.p95} lines, over {P95}"
    if found.readme > README:
        yield f"README.md: {found.readme} lines, over {README}"


def measure(root: Path) -> Measure:
    """Return the measure of src/holdfast and README.md under `root`."""
    found = Measure()
    source = root / "src" / "holdfast"
    for file in sorted(source.rglob("*.py")):
        text, path = file.read_text(), file.relative_to(source)
        found.files.append(len(text.splitlines()))
        found.offenders += file_offences(path, found.files[-1])
        for node, size in functions(ast.parse(text)):
            found.functions.append(size)
            where = f"{path}:{node.lineno} {node.name}"
            found.offenders += (f"{where}: {what}" for what in function_offences(node, size))
    readme = root / "README.md"
    found.readme = len(readme.read_text().splitlines()) if readme.exists() else 0
    found.offenders += total_offences(found)
    return found


def main(root: Path = ROOT) -> int:
    """Print the measure and what breaks it; return the exit code."""
    found = measure(root)
    print(found)
    for offender in found.offenders:
        print(f"  {offender}", file=sys.stderr)
    return 1 if found.offenders else 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
