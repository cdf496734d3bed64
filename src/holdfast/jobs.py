"""The queue at work: jobs taken up one by one, tried again after failures, and given up in sight.

A job is a row of the store. Whoever takes it up, in whichever process, has it for `LEASE`; if that
one dies, the next takes it up again. What a job writes and its end are one transaction, so that it
is done once, however often it was begun.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from holdfast.engine import Engine, Task, Transaction
from holdfast.errors import HoldfastError

LEASE = timedelta(minutes=5)  # a job that takes longer is taken for lost
ATTEMPTS = 5  # then it is dead, until somebody replays it
BACKOFF = timedelta(seconds=2)  # doubled after each failure
IDLE_SECONDS = 5.0  # how often a worker with nothing to do looks again
STOP_SECONDS = 10.0  # how long a close waits for the job under way; it will be done anew
TROUBLE_LETTERS = 500

Run = Callable[[Task], None]


class Worker:
    """A thread that does the jobs of a store; it starts when there is one to do."""

    def __init__(self, engine: Engine, run: Run, clock: Callable[[], datetime]) -> None:
        self._engine = engine
        self._run = run
        self._clock = clock
        self._stopping = False
        self._start_anew()
        if self._pending() is not None:  # of a process that ended before its jobs did
            self.wake()

    def _start_anew(self) -> None:
        self._process = os.getpid()
        self._woken = threading.Condition()
        self._thread: threading.Thread | None = None

    def _pending(self) -> datetime | None:
        return self._engine.read(lambda seen: seen.next_due())

    def wake(self) -> None:
        """Lets the jobs that are due be done soon."""
        if self._process != os.getpid():  # a fork has no thread of ours, and perhaps a held lock
            self._start_anew()
        with self._woken:
            if self._stopping:
                return
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="holdfast", daemon=True)
                self._thread.start()
            self._woken.notify_all()

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
        while not self._stopping:
            try:
                self.drain()
                due = self._pending()
            except HoldfastError:
                due = None  # the store is closing, or busy: look again, or be stopped
            if due is None:
                with self._woken:
                    self._thread = None
                return
            with self._woken:
                if not self._stopping:
                    self._woken.wait(IDLE_SECONDS)

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
