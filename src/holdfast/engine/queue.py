"""Jobs as rows: taken up one by one, and ended in the transaction that writes what they did."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from holdfast.engine import Place, Task
from holdfast.engine.columns import moment, stamp
from holdfast.engine.learned import Learned
from holdfast.model import Job


class Queue(Learned):
    """The part of an engine's rows that jobs are kept by."""

    def enqueue(self, place: Place, id: str, session: str | None, work: str, now: datetime) -> int:
        """Adds a job; gives how many wait."""
        scope, at = self._make_scope(place), stamp(now)
        self._do("add_job", scope, id, session, work, at, at)
        row = self._one("count_jobs", scope)
        return int(row[0]) if row else 0

    def take_job(self, now: datetime, lost_at: datetime) -> Task | None:
        """Takes up the first job that is due; it is taken for lost at a moment."""
        row = self._one("next_job", stamp(now))
        if row is None:
            return None
        self._do("take_job", stamp(lost_at), row["scope"], row["id"])
        place = Place(row["tenant"], row["name"])
        return Task(place, row["id"], row["work"], row["attempts"] + 1)

    def end_job(self, task: Task) -> bool:
        """Ends a job; False if it is no longer ours to end."""
        scope = self.scope(task.place)
        row = self._one("job", scope, task.id)
        if row is None or row["state"] != "running" or row["attempts"] != task.attempt:
            return False
        self._do("drop_job", scope, task.id)
        return True

    def put_off(self, task: Task, due: datetime | None, trouble: str) -> None:
        """Lets a job be tried again at a moment, or never (None)."""
        scope = self.scope(task.place)
        row = self._one("job", scope, task.id)
        if row is not None and row["attempts"] == task.attempt:
            state = "dead" if due is None else "waiting"
            at = row["due"] if due is None else stamp(due)
            self._do("change_job", state, task.attempt, at, trouble, scope, task.id)

    def replay(self, place: Place, id: str, now: datetime) -> bool:
        """Lets a job that failed for good be tried again; False if there is none."""
        scope = self.scope(place)
        row = self._one("job", scope, id)
        if row is None or row["state"] != "dead":
            return False
        self._do("change_job", "waiting", 0, stamp(now), row["trouble"], scope, id)
        return True

    def drop_jobs(self, place: Place, session: str) -> None:
        """Removes the jobs of a session."""
        self._do("drop_session_jobs", self.scope(place), session)

    def jobs(self, place: Place, limit: int) -> list[Job]:
        """The jobs that wait, run or failed for good, oldest first."""
        return [_job(row) for row in self._all("all_jobs", self.scope(place), limit)]

    def next_due(self) -> datetime | None:
        """When the next job of the store is due."""
        row = self._one("next_due")
        return None if row is None or row[0] is None else moment(row[0])

    def next_expiry(self) -> datetime | None:
        """When the next memory or state key of the store expires, or did."""
        row = self._one("next_expiry")
        return None if row is None or row[0] is None else moment(row[0])


def _job(row: Any) -> Job:
    return Job(
        id=row["id"],
        state=row["state"],
        attempts=row["attempts"],
        session=row["session"],
        at=moment(row["at"]),
        due=moment(row["due"]),
        trouble=row["trouble"],
    )
