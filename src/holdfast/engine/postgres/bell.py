"""The bell of the queue: `LISTEN` on a connection of its own, so that a job is begun at once.

It only ever wakes who would look anyway. Where it cannot ring (behind a pool that hands out
connections by transaction, or while the server is away) jobs are found a little later.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

import psycopg

from holdfast.engine.postgres.connections import Connections

CHANNEL = "holdfast_jobs"
LOOK_SECONDS = 0.5  # how soon a listener sees that it is to stop
AGAIN_SECONDS = 5.0  # until it tries to connect again


class Bell:
    """A thread that listens, once somebody wants to be woken."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._wakes: list[Callable[[], None]] = []
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    def listen(self, wake: Callable[[], None]) -> None:
        """Calls a function when it rings."""
        self._wakes.append(wake)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="holdfast-bell", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Ends the thread."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._hear()
            except psycopg.Error:
                self._stopped.wait(AGAIN_SECONDS)

    def _hear(self) -> None:
        with self._connections.alone() as db:
            db.execute(f"LISTEN {CHANNEL}".encode())
            self._ring()  # for what was accepted while nobody listened
            while not self._stopped.is_set():
                if list(db.notifies(timeout=LOOK_SECONDS, stop_after=1)):
                    self._ring()

    def _ring(self) -> None:
        for wake in self._wakes:
            wake()
