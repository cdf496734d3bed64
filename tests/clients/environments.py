"""Environments with published packages, each made once out of the registry."""

import os
import pwd
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".clients"
CLIENTS = {
    "kronvex-0.3.0": ["kronvex==0.3.0"],
    "kronvex-0.5.1": ["kronvex==0.5.1"],
    "kronvex-0.5.2": ["kronvex==0.5.2"],
    "botwire-0.2.1": ["botwire==0.2.1", "langchain-core"],
    "zerolatency-0.1.0": ["zerolatency==0.1.0"],
    # It imports httpx without saying so.
    "zerolatency-0.2.1": ["zerolatency==0.2.1", "httpx"],
    "requests": ["requests"],
}


def python(name: str) -> Path:
    """The Python of a client's environment; made if it is not there."""
    return made(name, CLIENTS[name])


def made(
    name: str, packages: Sequence[str], version: str = sys.executable, options: Sequence[str] = ()
) -> Path:
    """The Python of an environment with these packages; made if it is not there."""
    folder = FOLDER / name
    ready, wanted = folder / ".ready", "\n".join([version, *packages, *options])
    if not (ready.exists() and ready.read_text() == wanted):
        _make(folder, packages, version, options)
        ready.write_text(wanted)
    return folder / "bin" / "python"


def _make(folder: Path, packages: Sequence[str], version: str, options: Sequence[str]) -> None:
    uv = [sys.executable, "-m", "uv", "--quiet"]
    into = ["--python", str(folder / "bin" / "python")]
    # A test has another HOME, where nothing would be cached.
    env = {**os.environ, "HOME": pwd.getpwuid(os.getuid()).pw_dir}
    made = [*uv, "venv", "--allow-existing", "--python", interpreter(version), str(folder)]
    subprocess.run(made, check=True, env=env)
    subprocess.run([*uv, "pip", "install", *into, *options, *packages], check=True, env=env)


def interpreter(version: str) -> str:
    """A Python of a version, `3.12` or a path: pyenv's, if it has one; else uv finds or gets it."""
    if "/" in version:
        return version
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)
    root = Path(os.environ.get("PYENV_ROOT") or home / ".pyenv")
    found = sorted(root.glob(f"versions/{version}.*/bin/python"))
    return str(found[-1]) if found else version


if __name__ == "__main__":
    for client in CLIENTS:
        print(python(client))
