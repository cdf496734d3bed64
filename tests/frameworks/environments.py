"""Environments with the real frameworks, one for each flavour and version of Python.

python tests/frameworks/environments.py          # those that `make test` uses
python tests/frameworks/environments.py --all    # those that `make test-matrix` uses
"""

import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.clients.environments import made  # noqa: E402

FOR_TESTS = ("pytest", "pytest-asyncio", "pytest-timeout")
HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
PYTHONS = ("3.10", "3.11", "3.12", "3.13")


@dataclass(frozen=True)
class Flavour:
    """What somebody has installed: packages, the tests for it, and whether `make test` runs it."""

    packages: tuple[str, ...]
    tests: tuple[str, ...]
    always: bool = False
    most: str = "3.13"  # the newest Python it can be installed with
    options: tuple[str, ...] = ()


CLASSIC = ("drive_classic", "drive_groups")
FLAVOURS = {
    "autogen-0.14": Flavour(("autogen[openai]==0.14.1",), CLASSIC, always=True),
    "ag2-0.14": Flavour(("ag2[openai]==0.14.0",), CLASSIC),
    "pyautogen-0.9": Flavour(("pyautogen[openai]==0.9",), CLASSIC),
    # Its numpy<2 is older than ours; it runs with ours all the same.
    "autogen-0.2.40": Flavour(
        ("autogen-agentchat==0.2.40",),
        CLASSIC,
        most="3.12",
        options=("--override", str(Path(__file__).with_name("numpy2.txt"))),
    ),
    "agentchat-0.7.5": Flavour(
        ("autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"), ("drive_core",), always=True
    ),
    "agent-framework-1.23": Flavour(
        ("agent-framework-core==1.23.0", "agent-framework-openai"),
        ("drive_agent_framework",),
        always=True,
    ),
    "ag2-1.2": Flavour(("ag2[openai]==1.2.1",), ("drive_ag2",)),
}


def ours() -> list[str]:
    """What Holdfast needs itself, with a server, the local model and PostgreSQL."""
    told = (one.partition(";") for one in metadata.requires("holdfast") or ())
    extras = {f"extra == '{name}'" for name in ("client", "local", "postgres", "server")}
    return [name.strip() for name, _, when in told if not when or when.strip() in extras]


def python(flavour: str, version: str = HERE) -> Path:
    """The Python of a flavour's environment; made if it is not there."""
    wanted = FLAVOURS[flavour]
    packages = (*ours(), *FOR_TESTS, *wanted.packages)
    chosen = sys.executable if version == HERE else version
    return made(f"{flavour}-py{version}", packages, chosen, wanted.options)


def matrix(everything: bool) -> list[tuple[str, str]]:
    """Flavours with versions of Python: those always run, or all."""
    if not everything:
        return [(name, HERE) for name, flavour in FLAVOURS.items() if flavour.always]
    return [
        (name, version)
        for name, flavour in FLAVOURS.items()
        for version in PYTHONS
        if int(version[2:]) <= int(flavour.most[2:])
    ]


if __name__ == "__main__":
    for name, version in matrix("--all" in sys.argv):
        print(python(name, version))
