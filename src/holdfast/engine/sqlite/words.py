"""The word index: which rows of a scope have a term.

Rows go in 64 at a time, so that remembering one costs the index nothing. Those beyond the last
whole batch are not in it yet: they are few, and whoever looks for words reads their terms.
"""

from __future__ import annotations

import sqlite3

import numpy as np
from numpy.typing import NDArray

from holdfast.engine.cache.tokens import tokens
from holdfast.engine.sqlite.statements import statements

SQL = statements()
BATCH = 64  # rows; stores are written by it, so that it must never change


def scoped(scope: int, terms: str) -> str:
    """Stored terms as the tokens of one scope."""
    return " ".join([f"{scope}:{token}" for token in tokens(terms)])


def listed_to(db: sqlite3.Connection) -> int:
    """The last row that is in the index; the rows beyond it are not."""
    last = db.execute(SQL["last_row_given"]).fetchone()
    return listed(last[0]) if last else 0


def listed(given: int) -> int:
    """The last row that is in the index, if this is the last row that there ever was."""
    return given // BATCH * BATCH


def added(db: sqlite3.Connection, row: int) -> None:
    """Takes in the batch that a new row makes whole."""
    if row % BATCH == 0:
        take_in(db, row - BATCH, row)


def take_in(db: sqlite3.Connection, after: int, last: int) -> None:
    """Takes in the rows after one, up to another."""
    found = db.execute(SQL["terms_between"], (after, last)).fetchall()
    db.executemany(
        SQL["add_words"], [(row, scoped(scope, terms)) for row, scope, terms in found if terms]
    )


def change(db: sqlite3.Connection, scope: int, row: int, old: str, new: str) -> None:
    """Changes the terms of a row, if it is in the index."""
    if row > listed_to(db):
        return
    if old:
        db.execute(SQL["drop_words"], (row, scoped(scope, old)))
    if new:
        db.execute(SQL["add_words"], (row, scoped(scope, new)))


def find(db: sqlite3.Connection, scope: int, token: str) -> NDArray[np.int64]:
    """The rows in the index that have a token, in order."""
    found = db.execute(SQL["find_words"], (f'"{scope}:{token}"',)).fetchone()[0]
    return np.fromstring(found or "", np.int64, sep=",")


def faults(db: sqlite3.Connection) -> tuple[int, int]:
    """How many (token, row) pairs the index lacks, and how many it should not have."""
    db.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.indexed USING fts5vocab(main, words, instance)"
    )
    indexed = {(term, row) for term, row in db.execute("SELECT term, doc FROM temp.indexed")}
    wanted = {
        (f"{scope}:{token}", row)
        for row, scope, terms in db.execute(SQL["terms_between"], (0, listed_to(db)))
        for token in tokens(terms)
    }
    return len(wanted - indexed), len(indexed - wanted)


def rebuild(db: sqlite3.Connection) -> None:
    """Makes the index anew, out of the rows."""
    db.execute("INSERT INTO words (words) VALUES ('delete-all')")
    take_in(db, 0, listed_to(db))
