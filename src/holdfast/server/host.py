"""A store that serves: its service, its keys, its limits and its books, behind one method.

Every door of the server does its verbs through `Host.do`, so that rights, limits and the audit
log are in one place.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, TypeVar, cast, get_origin

from holdfast import ops
from holdfast.access import OWNERS, READS, Access, Caller, allow, as_said_by
from holdfast.backend import choose_embedder, url_or_default
from holdfast.embed import Embedder
from holdfast.engine import Engine, Place, Transaction, open_engine
from holdfast.engine.ledger import Job, Noted
from holdfast.errors import HoldfastError
from holdfast.extract import open_extractor
from holdfast.extract.judge import open_judge
from holdfast.routes import ROUTES
from holdfast.server.exchange import Call
from holdfast.server.jobs import Jobs
from holdfast.server.limits import Tenants
from holdfast.server.metrics import Metrics
from holdfast.server.settings import Settings
from holdfast.server.stages import WatchedEmbedder, WatchedEngine, along
from holdfast.service import Service, utc_now

T = TypeVar("T")
FLUSH_SECONDS = 2.0  # uses of keys and lines about reads are written this often
KEY_USE_NOTED = timedelta(hours=1)  # the audit log tells of a key's use this often
# What the write that does a verb gives; one that sums up trails gives how many it summed up.
TELLS = {it.op: get_origin(it.answer) or it.answer for it in ROUTES} | {ops.Consolidate: int}
log = logging.getLogger("holdfast.server")


class Host:
    """One open store, and what it takes to serve it."""

    def __init__(
        self,
        settings: Settings,
        clock: Callable[[], datetime] = utc_now,
        embedder: Embedder | None = None,
    ) -> None:
        self.settings = settings
        self.clock = clock
        self.metrics = Metrics(self._store_measures, self._own_measures)
        url = url_or_default(settings.url)
        self.engine = open_engine(url)
        self.near = url.startswith("sqlite:")  # the store is a file of this machine
        self.ledger = self.engine.ledger()
        chosen = embedder or choose_embedder(self.engine, settings.embedder)
        watch = self.metrics.stage
        self.embedder = None if chosen is None else WatchedEmbedder(chosen, watch)
        watched = cast(Engine, WatchedEngine(self.engine, watch))
        judge = None if settings.judge is None else open_judge(settings.judge)
        learns = open_extractor(settings.extractor)
        self.service = Service(watched, self.embedder, clock, extractor=learns, judge=judge)
        self.access = Access(self.ledger, clock)
        self.tenants = Tenants(settings.limits, self.ledger, settings.workers)
        self.jobs = Jobs(self.ledger, self.service, clock)
        self.queue: Callable[[], int] = lambda: 0
        self._later: list[Noted] = []
        self._noted_keys: dict[str, datetime] = {}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._keeper = threading.Thread(target=self._keep_books, name="holdfast-books", daemon=True)

    def start(self) -> None:
        """Begins what is done in the background."""
        self._keeper.start()
        self.jobs.start()
        self.engine.listen(self._wake)

    def _wake(self) -> None:
        """Looks for jobs that were accepted elsewhere."""
        self.jobs.wake()
        self.service.learner.worker.wake()

    def close(self) -> None:
        """Ends it, writes what is left, and lets go of the store."""
        self._stop.set()
        if self._keeper.ident is not None:
            self._keeper.join()
        self.jobs.stop()
        self._flush()
        self.service.close()

    # --- verbs ---

    def do(self, call: Call, op: ops.Op[T]) -> T:
        """Does a verb for a caller, within rights and limits, and notes it."""
        caller = call.caller
        allow(caller, op)
        if type(op) in READS:
            if isinstance(op, ops.Export) and op.cursor is None:
                self.note(call, "export", op.scope)
            return self.service.do(op, caller.tenant)
        self.tenants.admit(caller.tenant, op)
        if type(op) in OWNERS:
            self.note(call, type(op).__name__.lower())
        op = as_said_by(caller, op)
        with along(lambda tx, answer: self._with_write(tx, call, op, answer)):
            return self.service.do(op, caller.tenant)

    def accept(self, call: Call, op: ops.Extract) -> Job:
        """Accepts a conversation to learn from, as `do` would, and notes it."""
        caller = call.caller
        allow(caller, op)
        self.tenants.admit(caller.tenant, op)

        def along(tx: Transaction, job: Job) -> None:
            now = self.clock()
            self.tenants.count_write(caller.tenant, now, tx)
            self.ledger.note([_line(caller, now, "extract", call.request, op.scope, job.id)], tx)

        return self.jobs.accept(caller.tenant, as_said_by(caller, op), along)

    def _with_write(self, tx: Transaction, call: Call, op: ops.Op[Any], answer: Any) -> None:
        """What is written in the same transaction as a verb."""
        if not isinstance(answer, TELLS[type(op)]):
            return  # upkeep on the way: slots read, vectors caught up with
        caller, now = call.caller, self.clock()
        self.tenants.count_write(caller.tenant, now, tx)
        act = type(op).__name__.lower()
        subject = getattr(answer, "id", None) or getattr(op, "id", None)
        self.ledger.note([_line(caller, now, act, call.request, op.scope, subject)], tx)
        if isinstance(op, ops.Forget) and op.everything:
            self.ledger.drop_jobs(Place(caller.tenant, op.scope), tx)

    # --- books ---

    def note(
        self, call: Call, act: str, scope: str | None = None, subject: str | None = None
    ) -> None:
        """Notes something that is no write, soon."""
        with self._lock:
            self._later.append(_line(call.caller, self.clock(), act, call.request, scope, subject))

    def used(self, call: Call) -> None:
        """Notes now and then that a key is used."""
        caller = call.caller
        if caller.key is None:
            return
        now, last = self.clock(), self._noted_keys.get(caller.key)
        if last is None or now - last >= KEY_USE_NOTED:
            self._noted_keys[caller.key] = now
            self.note(call, "use key", subject=caller.key)

    def _keep_books(self) -> None:
        rounds = 0
        while not self._stop.wait(FLUSH_SECONDS):
            self.metrics.count()
            self.metrics.measure()
            self._flush()
            if rounds % 1800 == 0:
                self._prune()
            rounds += 1

    def _flush(self) -> None:
        """Writes what was noted in memory."""
        with self._lock:
            lines, self._later = self._later, []
        uses, self.access.uses = self.access.uses, {}
        try:
            self.ledger.note(lines)
            if uses:
                self.ledger.used(uses)
        except HoldfastError as error:
            log.warning("books not written", extra={"error": type(error).__name__})
            with self._lock:
                self._later = lines + self._later

    def _prune(self) -> None:
        try:
            self.ledger.prune(None, self.clock() - timedelta(days=self.settings.audit_days))
        except HoldfastError as error:
            log.warning("audit log not pruned", extra={"error": type(error).__name__})

    # --- how it is ---

    def _store_measures(self) -> dict[str, float]:
        memories, jobs = self.ledger.totals()
        return {"memories": memories, "jobs_waiting": jobs, "store_bytes": self.engine.size()}

    def _own_measures(self) -> dict[str, float]:
        known, unknown = self.service.embedding.cache()
        return {
            "queue_depth": self.queue(),
            "degraded_seconds_total": 0.0 if self.embedder is None else self.embedder.degraded(),
            "query_cache_hits_total": known,
            "query_cache_misses_total": unknown,
            "key_cache_hits_total": self.access.hits,
            "key_cache_misses_total": self.access.misses,
        }

    def ready(self) -> dict[str, Any]:
        """Whether the store can be written, how the embedder is, and who may come in."""
        self.engine.write(lambda tx: None)
        if self.embedder is None:
            state = "none"
        else:
            state = "well" if self.embedder.failing_since is None else "failing"
        name = None if self.embedder is None else self.embedder.name
        is_open = self.settings.local and self.access.open()
        return {
            "ready": True,
            "store": "writable",
            "embedder": {"name": name, "state": state},
            "door": "open to everyone on this machine: no key was made" if is_open else "keys",
        }


def _line(
    caller: Caller,
    at: datetime,
    act: str,
    request: str,
    scope: str | None = None,
    subject: str | None = None,
) -> Noted:
    return Noted(
        tenant=caller.tenant,
        at=at,
        act=act,
        key=caller.key,
        scope=scope,
        subject=subject,
        request=request,
    )
