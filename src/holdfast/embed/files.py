"""The model files that lie in the package: where they are, and whether they are the right ones."""

from __future__ import annotations

import json
from pathlib import Path

from holdfast.errors import EmbedderFailed

DATA = Path(__file__).parent / "data"
ADVICE = "Run `make model`, or install Holdfast from a wheel, which holds them."


def require(data: Path, name: str, version: str, *files: str) -> None:
    """Raises unless all these files are there, made for this version of the embedder."""
    for file in ("manifest.json", *files):
        if not (data / file).is_file():
            raise EmbedderFailed(f"The model file {data / file} is missing.", ADVICE)
    made = json.loads((data / "manifest.json").read_text(encoding="utf-8"))["versions"].get(name)
    if made != version:
        raise EmbedderFailed(f"The model files in {data} are of {made}, not {version}.", ADVICE)
