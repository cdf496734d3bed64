"""The word index: which rows of a scope have a token, in blocks of rows.

Rows go in a block at a time, so that remembering one costs the index nothing, and a small scope
has none. Those beyond the last whole block are few, and whoever looks for words reads their terms.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from holdfast.engine.cache.tokens import tokens
from holdfast.engine.postgres.connections import Session

BLOCK = 256  # rows; stores are written by it, so that it must never change
LONGEST = 200  # bytes of a token; a longer one goes in as a digest, for an index has its limits

At = tuple[str, int]
SENT = np.dtype([("size", ">i4"), ("row", ">i8")])


def listed_to(last_row: int) -> int:
    """The last row of a scope that is in the index; the rows beyond it are not."""
    return last_row // BLOCK * BLOCK


def token_key(token: str) -> str:
    """A token as the index has it."""
    raw = token.encode()
    return token if len(raw) <= LONGEST else hashlib.blake2b(raw, digest_size=16).hexdigest()


def lists(found: Iterable[Sequence[object]]) -> dict[str, list[int]]:
    """For each token the rows that have it, out of rows and their terms."""
    held: dict[str, list[int]] = defaultdict(list)
    for row, terms in found:
        for token in tokens(str(terms)):
            held[token_key(token)].append(int(str(row)))
    return held


def unpacked(raw: bytes) -> NDArray[np.int64]:
    """The rows of a list as the server sends them: each with its length before it."""
    return np.frombuffer(raw, SENT)["row"].astype(np.int64)


def take_in(db: Session, at: At, last: int) -> None:
    """Takes in the block that ends with a row."""
    add(db, at, last, lists(db.all("terms_between", *at, last - BLOCK, last)))


def add(db: Session, at: At, row: int, held: Mapping[str, Sequence[int]]) -> None:
    """Adds lists to the block of a row."""
    written = ["{" + ",".join(map(str, rows)) + "}" for rows in held.values()]
    if held:
        db.do("add_words", *at, _block(row), list(held), written)


def change(db: Session, at: At, row: int, old: str, new: str) -> None:
    """Changes the terms of a row that is in the index."""
    gone = [token_key(token) for token in tokens(old)]
    if gone:
        db.do("remove_words", *at, _block(row), gone, row)
    add(db, at, row, lists([(row, new)]))
    if gone:
        db.do("drop_words", *at, _block(row), gone)


def faults(db: Session, at: At, last_row: int) -> tuple[int, int]:
    """How many (token, row) pairs the index of a scope lacks, and how many it should not have."""
    found = db.all("all_words", *at)
    indexed = {(token, row) for token, rows in found for row in rows}
    terms = db.all("terms_between", *at, 0, listed_to(last_row))
    wanted = {(token, row) for token, rows in lists(terms).items() for row in rows}
    return len(wanted - indexed), len(indexed - wanted)


def rebuild(db: Session, at: At, last_row: int) -> None:
    """Makes the index of a scope anew, out of its rows."""
    db.do("drop_all_words", *at)
    for last in range(BLOCK, listed_to(last_row) + 1, BLOCK):
        take_in(db, at, last)


def _block(row: int) -> int:
    return (row - 1) // BLOCK
