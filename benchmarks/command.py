"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import page, plots, results, tables
from benchmarks.options import Options

Run = Callable[[Options], dict[str, Any]]


def _quality(options: Options) -> dict[str, Any]:
    from benchmarks.quality import Quality

    return Quality(options).run()


def _speed(options: Options) -> dict[str, Any]:
    from benchmarks.speed import Speed

    return Speed(options).run()


def _vectors(options: Options) -> dict[str, Any]:
    from benchmarks.vectors import Search

    return Search(options).run()


def _rivals(options: Options) -> dict[str, Any]:
    from benchmarks.rivals import Rivals

    return Rivals(options).run()


def _race(options: Options) -> dict[str, Any]:
    from benchmarks.rivals import Race

    return Race(options).run()


def _floors(options: Options) -> dict[str, Any]:
    from benchmarks import floors

    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        return floors.run(Path(folder), 300, options.sizes)


def _learning(options: Options) -> dict[str, Any]:
    from benchmarks.learning import Learning

    return Learning(options).run()


def _agents(options: Options) -> dict[str, Any]:
    from benchmarks import agents

    return agents.run(options)


RUNS: dict[str, Run] = {
    "floors": _floors,
    "quality": _quality,
    "vectors": _vectors,
    "speed": _speed,
    "rivals": _rivals,
    "learning": _learning,
    "race": _race,
    "agents": _agents,
}


def main(words: Sequence[str] | None = None) -> int:
    """Runs what is asked for; 0 when it ran, whatever the figures say."""
    args = _parser().parse_args(words)
    options = _options(args)
    for name in _chosen(args.what):
        print(f"== {name}", flush=True)
        header = results.header(options.seed, options.quick)
        found = {"run": header, **RUNS[name](options)}
        file = results.write(options.out, name, found)
        show(name, results.rounded(found))
        print(f"written: {file}", flush=True)
    publish(options.out)
    return 0


def publish(out: Path) -> None:
    """Brings the page and its plots in line with the results files, if these are the project's."""
    if out.resolve() != results.FOLDER:
        return
    for name in RUNS:
        found = results.read(out, name)
        for file in plots.write(page.PLOTS, name, found) if found else ():
            print(f"written: {file}", flush=True)
    for one in page.PAGES:
        if page.update(one):
            print(f"written: {one}", flush=True)


def _chosen(what: str) -> list[str]:
    if what == "page":
        return []
    # The floors are measured with the speeds, too: side by side they mean most.
    return [name for name in RUNS if name != "floors"] if what == "all" else [what]


def show(name: str, found: dict[str, Any]) -> None:
    """Prints every table of a results file."""
    for title, make in tables.TABLES[name].items():
        print(f"\n{name}: {title}\n{make(found)}", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("what", nargs="?", default="all", choices=[*RUNS, "page", "all"])
    parser.add_argument("--quick", action="store_true", help="less of everything, in minutes")
    parser.add_argument("--out", type=Path, default=results.FOLDER, help="folder of results files")
    parser.add_argument("--cache", type=Path, help="folder of vectors made before")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", help="recorded data sets, by comma; none for generated only")
    parser.add_argument("--made", help="generated corpora, by comma")
    parser.add_argument("--embedders", help="by comma; the first is measured most")
    parser.add_argument("--no-ablation", action="store_true")
    parser.add_argument("--no-budgets", action="store_true")
    parser.add_argument("--sizes", help="memories in a store, by comma")
    parser.add_argument("--large", action="store_true", help="a million, and 10,000 scopes, too")
    return parser


def _options(args: argparse.Namespace) -> Options:
    given: dict[str, Any] = {
        "quick": args.quick,
        "out": args.out,
        "seed": args.seed,
        "ablation": not args.no_ablation,
        "budgets": not args.no_budgets,
        "large": args.large,
        "sizes": _sizes(args),
    }
    for name in ("data", "made", "embedders"):
        said = getattr(args, name)
        given |= {name: tuple(said.split(","))} if said is not None else {}
    given |= {"cache": args.cache} if args.cache is not None else {}
    return Options(**given)


def _sizes(args: argparse.Namespace) -> tuple[int, ...]:
    if args.sizes:
        return tuple(int(size) for size in args.sizes.split(","))
    if args.quick:
        return (1_000, 10_000)
    return (1_000, 10_000, 100_000, *((1_000_000,) if args.large else ()))
