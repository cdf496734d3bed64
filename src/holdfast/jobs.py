"""The queue at work: jobs taken up one by one, tried again after failures, and given up in sight.

The thread that does them also removes what has expired (`sweeping`).

A job is a row of the store. Whoever takes it up, in whichever process, has it for `LEASE`; if that
one dies, the next takes it up again. What a job writes and its end are one transaction, so that it
is done once, however often it was begun.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from holdfast.engine import Engine, Task, Transaction
from holdfast.errors import HoldfastError
from holdfast.sweeping import Sweeper

LEASE = timedelta(minutes=5)  # a job that takes longer is taken for lost
ATTEMPTS = 5  # then it is dead, until somebody replays it
BACKOFF = timedelta(seconds=2)  # doubled after each failure
IDLE_SECONDS = 5.0  # how often a worker with nothing to do looks again
STOP_SECONDS = 10.0  # how long a close waits for the job under way; it will be done anew
TROUBLE_LETTERS = 500

Run = Callable[[Task], None]


class Worker:
    """A thread that does the jobs of a store and sweeps it; it starts when there is work to do."""

    def __init__(self, engine: Engine, run: Run, clock: Callable[[], datetime]) -> None:
        self._engine = engine
        self._run = run
        self._clock = clock
        self._stopping = False
        self._sweeper = Sweeper(engine)
        self._start_anew()
        if self._pending() is not None:  # of a process that ended before its jobs did
            self.wake()

    def _start_anew(self) -> None:
        self._process = os.getpid()
        self._woken = threading.Condition()
        self._thread: threading.Thread | None = None
        self._called = False
        self._sweep_at: datetime | None = None

    def _pending(self) -> datetime | None:
        return self._engine.read(lambda seen: seen.next_due())

    def wake(self) -> None:
        """Lets the jobs that are due be done soon."""
        if self._process != os.getpid():  # a fork has no thread of ours, and perhaps a held lock
            self._start_anew()
        with self._woken:
            if self._stopping:
                return
            self._called = True
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="holdfast", daemon=True)
                self._thread.start()
            self._woken.notify_all()

    def look(self) -> None:
        """Lets what has expired be removed soon, if it is time to: called with every write."""
        now = self._clock()
        if self._sweeper.due(now):
            self._sweep_at = now
            self.wake()

    def expect(self, expiries: Iterable[datetime | None]) -> None:
        """Notes when something that was written expires."""
        first = min((at for at in expiries if at is not None), default=None)
        if first is not None and self._sweeper.expect(first, self._clock()):
            self.wake()

    def sweep(self) -> int:
        """Removes what has expired, here and now; gives how many memories and keys."""
        return self._sweeper.sweep(self._clock(), lambda: self._stopping)

    def stop(self) -> None:
        """Ends after the job under way; the others wait for the next one to open the store."""
        if self._process != os.getpid():
            self._start_anew()
        with self._woken:
            self._stopping = True
            self._woken.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout=STOP_SECONDS)

    def _work(self) -> None:
        rest: float | None = 0.0
        while not self._stopping:
            with self._woken:
                self._called = False
            try:
                rest = self._round()
            except HoldfastError:
                rest = None  # the store is closing, or busy: look again, or be stopped
            with self._woken:
                if self._called or self._stopping:
                    continue
                if rest is None:
                    self._thread = None
                    return
                if not self._woken.wait(rest):
                    self._sweep_at = self._clock()

    def _round(self) -> float | None:
        """Does what there is to do; gives the seconds until there may be more, if any."""
        now, self._sweep_at = self._sweep_at, None
        if now is not None:
            self._sweeper.look(now, lambda: self._stopping)
        due = self._pending()
        if due is not None and due <= self._clock():
            self.drain()
            due = self._pending()
        rests = (self._sweeper.rest(self._clock()), IDLE_SECONDS if due is not None else None)
        return min((rest for rest in rests if rest is not None), default=None)

    def drain(self) -> int:
        """Does what is due, here and now; gives how many jobs were done."""
        done = 0
        while not self._stopping:
            task = self._engine.write(self._taken)
            if task is None:
                break
            done += self._try(task)
        return done

    def _taken(self, tx: Transaction) -> Task | None:
        now = self._clock()
        return tx.take_job(now, now + LEASE)

    def _try(self, task: Task) -> bool:
        try:
            self._run(task)
        except Exception as error:  # whatever a job raises must not end the others
            self._fail(task, error)
            return False
        return True

    def _fail(self, task: Task, error: Exception) -> None:
        retry = not isinstance(error, HoldfastError) or error.retry
        again = retry and task.attempt < ATTEMPTS
        due = self._clock() + BACKOFF * 2 ** (task.attempt - 1) if again else None
        trouble = f"{type(error).__name__}: {error}"[:TROUBLE_LETTERS]
        self._engine.write(lambda tx: tx.put_off(task, due, trouble))
