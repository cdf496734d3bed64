"""Conflicts handed to a judge: as jobs of the queue, since a judge may take its time.

A ruling is written with the end of its job, and only on what is still as the judge saw it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast import keeping, wire
from holdfast.engine import Engine, Place, Snapshot, Task, Transaction
from holdfast.errors import Unavailable
from holdfast.extract.judge import BOTH, FIRST, UNCLEAR, Judge, ruled
from holdfast.keeping import CONFLICT
from holdfast.model import Record, Remembered

WAITING_MOST = 1000  # jobs of a scope; with more, conflicts wait for somebody else to settle them


@dataclass(frozen=True, slots=True)
class Dispute:
    """A memory and those it is in conflict with, by their ids."""

    memory: str
    over: tuple[str, ...]


class Court:
    """Conflicts of a store and the judge who settles them, if there is one."""

    def __init__(
        self,
        engine: Engine,
        judge: Judge | None,
        clock: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._engine = engine
        self._judge = judge
        self._clock = clock
        self._new_id = new_id

    @property
    def sits(self) -> bool:
        """True if there is a judge."""
        return self._judge is not None

    def accept(self, tx: Transaction, place: Place, done: Remembered, session: str | None) -> None:
        """Queues a memory that was just found to be in conflict, in the write that kept it."""
        if self._judge is None or not done.conflicts:
            return
        if len(tx.jobs(place, WAITING_MOST)) < WAITING_MOST:
            work = wire.dumps(Dispute(done.id, done.conflicts))
            tx.enqueue(place, self._new_id(), session, work, self._clock())

    def settle(self, task: Task) -> None:
        """Does a job: asks the judge about each pair, and writes what may be followed."""
        if self._judge is None:
            raise Unavailable("There is no judge in this process.", "Open the memory with one.")
        told = wire.loads(Dispute, task.work)
        pairs = self._engine.read(lambda seen: _pairs(seen, task.place, told))
        judge, rulings = self._judge, list[tuple[Record, Record, str]]()
        for first, second in pairs:
            found = ruled(judge, keeping.statement(first), keeping.statement(second))
            rulings.append((first, second, found))

        def work(tx: Transaction) -> None:
            if tx.end_job(task):
                _written(tx, task.place, rulings, self._clock())

        self._engine.write(work)


def is_dispute(work: str) -> bool:
    """True if a job is for a judge."""
    told = wire.parse(work)
    return isinstance(told, dict) and "over" in told


def _pairs(seen: Snapshot, place: Place, told: Dispute) -> list[tuple[Record, Record]]:
    """The pairs that are still in conflict, and still current."""
    found = [seen.versions(place, id)[-1:] for id in (told.memory, *told.over)]
    first, *others = (some[0] if some and some[0].until is None else None for some in found)
    if first is None:
        return []
    linked = {*seen.links(place, first.id, CONFLICT), *seen.linked(place, first.id, CONFLICT)}
    return [(first, other) for other in others if other is not None and other.id in linked]


def _written(
    tx: Transaction, place: Place, rulings: Sequence[tuple[Record, Record, str]], now: datetime
) -> None:
    for first, second, found in rulings:
        still = _pairs(tx, place, Dispute(first.id, (second.id,)))
        same = [(one.version, other.version) for one, other in still]
        if found != UNCLEAR and same == [(first.version, second.version)]:
            kept, other = (first, second) if found in (FIRST, BOTH) else (second, first)
            resolve(tx, place, kept, other.id, found == BOTH, now)


def resolve(
    tx: Transaction, place: Place, kept: Record, other: str, both: bool, now: datetime
) -> None:
    """Ends a conflict: both are right, or the other is past from now on."""
    tx.unlink(place, kept.id, CONFLICT, other)
    tx.unlink(place, other, CONFLICT, kept.id)
    for old in tx.versions(place, other)[-1:]:
        if not both and old.until is None:
            keeping.supersede(tx, place, old, replace(kept, happened_at=now), now)
