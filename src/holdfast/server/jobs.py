"""Conversations that are accepted now and learned from soon: on disk at once, done once.

A job that was taken is free again after a minute, should its taker have died; what it stores
carries its id as idempotency key, so that doing it twice stores it once. Unlike the queue of the
library it tells afterwards what became of a job: clients of other services ask for that.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from holdfast import check, ops, wire
from holdfast.engine import Place, Transaction
from holdfast.engine.ledger import Job, Ledger
from holdfast.errors import HoldfastError
from holdfast.service import Service, new_id

LEASE = timedelta(seconds=60)
IDLE_SECONDS = 1.0
AT_ONCE = 16
log = logging.getLogger("holdfast.server")


class Jobs:
    """The jobs of a store, and the thread that does them."""

    def __init__(self, ledger: Ledger, service: Service, clock: Callable[[], datetime]) -> None:
        self._ledger = ledger
        self._service = service
        self._clock = clock
        self._wake = threading.Event()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="holdfast-jobs", daemon=True)

    def start(self) -> None:
        """Begins to do what is to be done."""
        self._thread.start()

    def stop(self) -> None:
        """Ends after the job at hand; the others are on disk."""
        self._stopped = True
        self._wake.set()
        if self._thread.ident is not None:
            self._thread.join()

    def accept(
        self,
        tenant: str,
        told: ops.Extract,
        along: Callable[[Transaction, Job], None] = lambda tx, job: None,
    ) -> Job:
        """Accepts a conversation to learn from; it is on disk when this returns.

        With an idempotency key, again is the same job.
        """
        now, id = self._clock(), new_id()
        if told.idempotency_key is not None:
            id = _named(tenant, told.scope, told.idempotency_key)
            known = self.find(tenant, id)
            if known is not None:
                return known
        op = replace(told, session=told.session or id, idempotency_key=f"job {id}")
        place, task = Place(tenant, op.scope), {"extract": wire.dump(op)}
        job = Job(id=id, place=place, status="accepted", created_at=now, updated_at=now, task=task)
        self._ledger.add_job(job, lambda tx: along(tx, job))
        self._wake.set()
        return job

    def wake(self) -> None:
        """Lets it look at once."""
        self._wake.set()

    def find(self, tenant: str, id: str) -> Job | None:
        """A job of a tenant."""
        return self._ledger.job(tenant, id)

    def _run(self) -> None:
        while not self._stopped:
            try:
                done = self.run_some()
            except HoldfastError as error:
                log.warning("jobs not done", extra={"error": type(error).__name__})
                done = 0
            if not done:
                self._wake.wait(IDLE_SECONDS)
                self._wake.clear()

    def run_some(self) -> int:
        """Does some of the jobs that wait; gives how many."""
        now, done = self._clock(), 0
        for job in self._ledger.open_jobs(now, AT_ONCE):
            if self._stopped:
                break
            if self._ledger.take_job(job, now + LEASE):
                self._do(job)
                done += 1
        return done

    def _do(self, job: Job) -> None:
        try:
            result = self._extract(job)
            status = "complete"
        except HoldfastError as error:
            if error.retry:
                raise
            status, result = "failed", {"error": error.message}
        ended = replace(job, status=status, result=result, updated_at=self._clock())
        self._ledger.end_job(ended)

    def _extract(self, job: Job) -> dict[str, Any]:
        """Learns from what was said, and tells what is kept of it."""
        op = wire.load(ops.Extract, (job.task or {})["extract"])
        self._service.do(op, job.place.tenant)
        where = ops.where(session=op.session)
        page = self._service.do(
            ops.List(scope=op.scope, where=where, limit=check.LIMIT), job.place.tenant
        )
        ids = [record.id for record in page]
        return {"memories_stored": len(ids), "memory_ids": ids}


def _named(*names: str) -> str:
    """The id of a job that an idempotency key stands for."""
    return hashlib.blake2b("\0".join(names).encode(), digest_size=16).hexdigest()
