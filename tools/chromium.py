"""A Chromium for the tests of the console: the machine's own, or Debian's, with or without root.

python tools/chromium.py    # brings it, if it is not there, and says where it is

Root installs it. Anyone else gets its packages, and those of the libraries that the machine lacks,
unpacked into a folder; apt checks their signatures as it does for root.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / ".clients" / "chromium"
PACKAGES = ("chromium", "fonts-inter", "fonts-dejavu-core")  # the fonts of the screenshots
NAMES = ("chromium", "chromium-browser", "google-chrome")
# No screen, no sandbox for root, and nothing that calls home: most machines of tests are closed.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--force-color-profile=srgb"),
)
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
<dir>/usr/share/fonts</dir><dir>{unpacked}/usr/share/fonts</dir><cachedir>{folder}/fonts</cachedir>
</fontconfig>"""


@dataclass(frozen=True)
class Chromium:
    """A Chromium that can be started: its program, and what its environment must hold."""

    program: Path
    environment: dict[str, str] = field(default_factory=dict)


def chromium(folder: Path = FOLDER) -> Chromium:
    """The machine's own Chromium, or one that is brought now, once."""
    with _alone(folder):
        found = _own() or _unpacked(folder)
        if found is None and shutil.which("apt-get"):
            _bring(folder)
            found = _own() or _unpacked(folder)
    if found is None:
        raise RuntimeError("There is no Chromium: put one on the PATH.")
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time brings it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _own() -> Chromium | None:
    found = next(filter(None, map(shutil.which, NAMES)), None)
    return None if found is None else Chromium(Path(found))


def _bring(folder: Path) -> None:
    if os.geteuid() == 0:
        _install()
    else:
        _unpack(folder)


def _install() -> None:
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", *PACKAGES]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if subprocess.run(install, check=False, env=environment, stdout=sys.stderr).returncode:
        subprocess.run(["apt-get", "update", "--quiet"], check=True, stdout=sys.stderr)
        subprocess.run(install, check=True, env=environment, stdout=sys.stderr)


# --- without root ---


def _unpack(folder: Path) -> None:
    """Brings the packages that the machine lacks, with lists of our own, and unpacks them."""
    apt = _apt(folder)
    subprocess.run([*apt, "update"], check=True, stdout=sys.stderr)
    wanted = [*apt, "--print-uris", "--yes", "--no-install-recommends", "install", *PACKAGES]
    told = subprocess.run(wanted, check=True, capture_output=True, text=True).stdout
    files = [line.split()[1] for line in told.splitlines() if line.startswith("'")]
    names = [_package(file) for file in files]
    subprocess.run([*apt, "download", *names], check=True, cwd=folder, stdout=sys.stderr)
    rest = folder / "unpacked.part"
    shutil.rmtree(rest, ignore_errors=True)
    for package in sorted(folder.glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, rest], check=True)
        package.unlink()
    (folder / "fonts.conf").write_text(FONTS.format(unpacked=folder / "unpacked", folder=folder))
    rest.rename(folder / "unpacked")
    for used in ("lists", "cache"):
        shutil.rmtree(folder / used)


def _package(file: str) -> str:
    """`name:arch=version` out of the name of a package's file."""
    name, version, arch = file.removesuffix(".deb").rsplit("_", 2)
    kept = "" if arch == "all" else f":{arch}"
    return f"{name}{kept}={version.replace('%3a', ':')}"


def _apt(folder: Path) -> Sequence[str]:
    for part in ("lists/partial", "cache/archives/partial"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    lists, cache = f"Dir::State::Lists={folder / 'lists'}", f"Dir::Cache={folder / 'cache'}"
    return ["apt-get", "-qq", "-o", lists, "-o", cache, "-o", "Debug::NoLocking=1"]


def _unpacked(folder: Path) -> Chromium | None:
    place = folder / "unpacked"
    program = place / "usr" / "lib" / "chromium" / "chromium"
    if not program.exists():
        return None
    libraries = sorted({str(file.parent) for file in place.rglob("*.so*")})
    environment = {
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
        "FONTCONFIG_FILE": str(folder / "fonts.conf"),
    }
    return Chromium(program, environment)


if __name__ == "__main__":
    brought = chromium()
    print(*(f"{name}={value}" for name, value in brought.environment.items()), brought.program)
