"""SQL in files: the named statements of an engine, and its migrations."""

from __future__ import annotations

import re
from importlib import resources

RECORD = """row, scope, id, version, kind, pinned, created_at, happened_at, expires_at, until,
    superseded_by, uses, last_used_at, session, writer, role, message, tags, meta, content, avoid,
    via"""


def named(package: str, file: str = "statements.sql") -> dict[str, str]:
    """Each statement of a file of a package under its name."""
    text = resources.files(package).joinpath(file).read_text("utf-8")
    text = text.replace("SELECT record", f"SELECT {RECORD}")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return {name: sql.strip() for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


def numbered(package: str) -> list[tuple[int, str]]:
    """Every migration of a package as (number, SQL), in order."""
    folder = resources.files(package).joinpath("migrations")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(int(name[:4]), folder.joinpath(name).read_text("utf-8")) for name in files]
