"""Keeping a store in order: its embedder, its indexes, its expired rows, its copies."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from holdfast.engine import Space, Vectors, Waiting
from holdfast.engine.columns import packed
from holdfast.engine.sqlite import words
from holdfast.engine.sqlite.connections import errors
from holdfast.engine.sqlite.rows import SQL, Rows
from holdfast.engine.sqlite.search import space_number
from holdfast.errors import Conflict
from holdfast.model import Finding

PAGES = 1024  # copied at a time by a backup, so that writers get their turn


def claim(rows: Rows, space: Space) -> Space:
    """The embedder the store belongs to, which is this one if it had none."""
    found = rows.db.execute(SQL["current_space"]).fetchone()
    if found is not None:
        return Space(*found[1:])
    rows.db.execute(SQL["add_space"], (space.name, space.version, space.dimension, 1))
    return space


def fill(rows: Rows, space: Space, waiting: Sequence[Waiting], vectors: Sequence[Vectors]) -> None:
    """Gives waiting rows their vectors; rows forgotten meanwhile are passed over."""
    space_number(rows.db, space)
    for item, found in zip(waiting, vectors, strict=True):
        if rows.db.execute(SQL["put_vectors"], (packed(found), item.scope, item.row)).rowcount:
            rows.note_change(item.scope, item.row)


def next_rows(rows: Rows, space: Space, batch: int) -> list[Waiting]:
    """The next rows that a change of embedder has to do; begins, or begins anew, if it must."""
    coming = rows.db.execute(SQL["coming_space"]).fetchone()
    if coming is not None and Space(*coming[1:4]) != space:
        rows.db.execute(SQL["drop_all_coming"])
        rows.db.execute(SQL["drop_space"], (coming[0],))
        coming = None
    if coming is None:
        rows.db.execute(SQL["add_space"], (space.name, space.version, space.dimension, 0))
    reached = 0 if coming is None else coming[4]
    found = rows.db.execute(SQL["rows_after"], (reached, batch))
    return [Waiting(scope, row, content) for row, scope, content in found]


def advance(
    rows: Rows, space: Space, done: Sequence[Waiting], vectors: Sequence[Vectors]
) -> tuple[int, int]:
    """Writes new vectors; when none is missing any more, moves the store over to them."""
    coming = rows.db.execute(SQL["coming_space"]).fetchone()
    if coming is None or Space(*coming[1:4]) != space:
        raise Conflict("Another change of embedder is under way.", "Let only one run.")
    for item, found in zip(done, vectors, strict=True):
        rows.db.execute(SQL["put_coming"], (packed(found), item.row))
    reached = done[-1].row if done else coming[4]
    rows.db.execute(SQL["reach_space"], (reached, coming[0]))
    left = rows.db.execute(SQL["count_rows_after"], (reached,)).fetchone()[0]
    total = rows.db.execute(SQL["count_rows_after"], (0,)).fetchone()[0]
    if not left:
        _switch(rows, coming[0])
    return total - left, total


def _switch(rows: Rows, coming: int) -> None:
    for old in rows.db.execute(SQL["current_space"]).fetchall():
        rows.db.execute(SQL["drop_space"], (old[0],))
    rows.db.execute(SQL["take_coming"])
    rows.db.execute(SQL["drop_all_coming"])
    rows.db.execute(SQL["switch_space"], (coming,))


def check(rows: Rows, repair: bool) -> list[Finding]:
    """What is wrong with the file or its indexes, put right if asked."""
    verdict = [row[0] for row in rows.db.execute("PRAGMA quick_check")]
    findings = [Finding(f"the file is damaged: {said}", 1) for said in verdict if said != "ok"]
    missing, extra = words.faults(rows.db)
    if (missing or extra) and repair:
        words.rebuild(rows.db)
    odd = rows.db.execute(SQL["odd_vectors"]).fetchall()
    if repair:
        for scope, row in odd:
            rows.db.execute(SQL["no_vectors"], (row,))
            rows.note_change(scope, row)
    counted = {
        "words missing from the text index": missing,
        "words in the text index of no memory": extra,
        "vectors of a wrong length": len(odd),
    }
    return [*findings, *(Finding(what, n, repair) for what, n in counted.items() if n)]


def sweep(rows: Rows, now: int, most: int = -1) -> tuple[int, int]:
    """Removes what has expired, of each kind so many at most; gives memories and state keys."""
    memories = rows.db.execute(SQL["expired_memories"], (now, most)).fetchall()
    for scope, id in memories:
        rows.drop(scope, id)
    entries = rows.db.execute(SQL["expired_entries"], (now, most)).fetchall()
    for scope, key, version in entries:
        rows.drop_key(scope, key, version)
    return len(memories), len(entries)


def purge(rows: Rows, now: int, answers_from: int) -> tuple[int, int]:
    """Removes what has expired, and answers too old to be asked for again."""
    swept = sweep(rows, now)
    rows.db.execute(SQL["drop_old_answers"], (answers_from,))
    rows.db.execute(SQL["blank_stale_answers"])
    rows.db.execute(SQL["drop_empty_scopes"])
    return swept


def backup(db: sqlite3.Connection, path: str) -> int:
    """Copies the snapshot of a connection to a new file, whole or not at all; gives its bytes."""
    target = Path(path).expanduser().absolute()
    if target.exists():
        raise Conflict(f"{target} exists already.", "Choose a new name for the backup.")
    part = target.with_name(f"{target.name}.part")
    with errors(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        part.unlink(missing_ok=True)
        copy = sqlite3.connect(part)
        try:
            copy.execute("PRAGMA journal_mode = OFF")  # it is whole when it gets its name, or gone
            db.backup(copy, pages=PAGES)
            copy.close()
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.rename(target)
        finally:
            copy.close()
            part.unlink(missing_ok=True)
        return target.stat().st_size
