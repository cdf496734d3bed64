"""The named statements of `statements.sql`."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

RECORD = """row, scope, id, version, kind, pinned, created_at, happened_at, expires_at, until,
    superseded_by, uses, last_used_at, session, writer, role, message, tags, meta, content, terms,
    avoid"""


@lru_cache(maxsize=1)
def statements() -> dict[str, str]:
    """Each statement under its name."""
    text = resources.files(__package__).joinpath("statements.sql").read_text("utf-8")
    text = text.replace("SELECT record", f"SELECT {RECORD}")
    parts = re.split(r"^-- name: (\w+)\n", text, flags=re.MULTILINE)
    return {name: sql.strip() for name, sql in zip(parts[1::2], parts[2::2], strict=True)}


def migrations() -> list[tuple[int, str]]:
    """Every migration as (number, SQL), in order."""
    folder = resources.files(__package__).joinpath("migrations")
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
    return [(int(name[:4]), folder.joinpath(name).read_text("utf-8")) for name in files]
