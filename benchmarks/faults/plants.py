"""Bugs put in on purpose, in writer processes only: the fault test must find each of them.

Every patch names what it replaces and fails loudly when that name is gone: a plant that no longer
takes would make the test of the test pass for nothing.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from holdfast import ops
from holdfast.engine import Place
from holdfast.engine.sqlite import words
from holdfast.engine.sqlite.connections import Connections
from holdfast.engine.sqlite.rows import Rows
from holdfast.service import Service

LATE = 3  # an early acknowledgement is committed with the third write after it
GAP_SECONDS = 0.03  # between the halves of a torn batch, so that a kill can fall in
NTH = 4  # every fourth row is treated wrong


class PlantFailed(Exception):
    """The library has changed: this plant has nothing to hold on to."""


def _must_have(owner: Any, name: str) -> Any:
    if name not in vars(owner):
        raise PlantFailed(f"{owner.__name__}.{name} is gone: plant the bug elsewhere")
    return vars(owner)[name]


def _replaced(owner: Any, name: str, new: Callable[[Any], Any]) -> None:
    """Puts what `new` makes of the old function in its place."""
    old = _must_have(owner, name)
    setattr(owner, name, functools.wraps(old)(new(old)))


def _acknowledge_before_commit() -> None:
    writes = [0]

    def early(writer: Any) -> Any:
        @contextmanager
        def planted(self: Connections, *_: Any) -> Iterator[Any]:
            with self._writing() as db:
                if not db.in_transaction:
                    db.execute("BEGIN IMMEDIATE")
                try:
                    yield db
                except BaseException:
                    db.rollback()
                    raise
                writes[0] += 1
                if writes[0] % LATE == 0:
                    db.execute("COMMIT")

        return planted

    _must_have(Connections, "_writing")
    _replaced(Connections, "writer", early)


def _drop_word_row() -> None:
    count = [0]

    def forgetful(scoped: Any) -> Any:
        def planted(scope: int, terms: str) -> str:
            count[0] += 1
            return scoped(scope, terms) if count[0] % NTH else ""

        return planted

    _replaced(words, "scoped", forgetful)


def _keep_forgotten_vector() -> None:
    def hoarding(drop: Any) -> Any:
        def planted(self: Rows, scope: int, id: str) -> None:
            found = "SELECT row, vectors FROM memories WHERE scope = ? AND id = ?"
            kept = self.db.execute(found, (scope, id)).fetchall()
            drop(self, scope, id)
            for row, vectors in kept:
                if vectors is not None:
                    self.db.execute("INSERT INTO coming VALUES (?, ?)", (row, vectors))

        return planted

    _replaced(Rows, "drop", hoarding)


def _leak_scope() -> None:
    count = [0]

    def leaky(insert: Any) -> Any:
        def planted(self: Rows, place: Place, draft: Any) -> None:
            count[0] += 1
            other = "agent-b" if place.scope != "agent-b" else "agent-c"
            insert(self, Place(place.tenant, other) if count[0] % NTH == 0 else place, draft)

        return planted

    _replaced(Rows, "insert", leaky)


def _double_apply() -> None:
    _replaced(Rows, "answer", lambda old: lambda self, place, key: None)
    _replaced(Rows, "keep_answer", lambda old: lambda self, *told: None)


def _torn_batch() -> None:
    def halved(remember_many: Any) -> Any:
        def planted(self: Service, op: ops.RememberMany, place: Place) -> Any:
            middle = len(op.drafts) // 2
            halves = op.drafts[:middle], op.drafts[middle:]
            done: tuple[Any, ...] = ()
            for index, drafts in enumerate(halves):
                key = f"{op.idempotency_key}/{index}"
                part = ops.RememberMany(scope=op.scope, drafts=drafts, idempotency_key=key)
                done += remember_many(self, part, place)
                time.sleep(GAP_SECONDS)
            return done

        return planted

    _replaced(Service, "remember_many", halved)


PLANTS: dict[str, tuple[Callable[[], None], str]] = {  # and the count that must tell of it
    "acknowledge-before-commit": (_acknowledge_before_commit, "lost"),
    "drop-word-row": (_drop_word_row, "index"),
    "keep-forgotten-vector": (_keep_forgotten_vector, "undead"),
    "leak-scope": (_leak_scope, "leaked"),
    "double-apply": (_double_apply, "duplicate"),
    "torn-batch": (_torn_batch, "torn"),
}


def plant(name: str) -> None:
    """Plants a bug in this process."""
    PLANTS[name][0]()
