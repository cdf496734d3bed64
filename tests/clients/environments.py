"""Environments with the published clients of other services, made once out of the registry."""

import subprocess
import sys
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
    """The Python of an environment; made if it is not there."""
    folder = FOLDER / name
    ready = folder / ".ready"
    if not ready.exists():
        _make(folder, CLIENTS[name])
        ready.touch()
    return folder / "bin" / "python"


def _make(folder: Path, packages: list[str]) -> None:
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run([*uv, "venv", "--allow-existing", str(folder)], check=True)
    subprocess.run(
        [*uv, "pip", "install", "--python", str(folder / "bin" / "python"), *packages], check=True
    )


if __name__ == "__main__":
    for client in CLIENTS:
        print(python(client))
