# Generated from src/holdfast/api/asynchronous_learning.py
# by tools/unasync.py: edit that, `make generate`.
"""The verbs of learning: out of conversations, and putting right what was learned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast import check, ops
from holdfast.backend import Backend
from holdfast.conversation import parsed
from holdfast.model import Consolidated, Extracted, Held, Job, Policy, Remembered, RolledBack


class Learning:
    """What a memory learns, and how that is put right."""

    scope: str
    _backend: Backend

    def extract(
        self,
        conversation: Any,
        session: str | None = None,
        *,
        keep: str = "learnings",
        wait: bool = True,
        idempotency_key: str | None = None,
    ) -> Extracted:
        """Learns from a conversation: preferences, decisions, facts, lessons, open tasks.

        Messages are AutoGen's, OpenAI's, `Name: text` lines or plain text. `keep` says what is
        stored: "learnings", "turns" or "both". The same session again adds only what is new.
        Without `wait` it is accepted, durably, and done soon; the answer names the `job`.

            memory.extract("Ann: I moved to Lisbon last week.", session="chat-17")
        """
        turns = parsed(conversation)
        return self._backend.do(
            ops.Extract(
                scope=self.scope,
                turns=turns,
                session=session,
                keep=keep,
                wait=wait,
                idempotency_key=idempotency_key,
            )
        )

    def resolve(
        self,
        id: str,
        over: Sequence[str] = (),
        *,
        both: bool = False,
        idempotency_key: str | None = None,
    ) -> Remembered:
        """Settles a conflict: this memory is right and the others are past; with `both`, all stay.

        memory.resolve(id)
        """
        return self._backend.do(
            ops.Resolve(
                scope=self.scope,
                id=id,
                over=check.names("over", over),
                both=both,
                idempotency_key=idempotency_key,
            )
        )

    def rollback(
        self, source: str, since: datetime | None = None, *, idempotency_key: str | None = None
    ) -> RolledBack:
        """Undoes all that a writer told since a moment; what that superseded is true again.

        memory.rollback("crawler", since=yesterday)
        """
        return self._backend.do(
            ops.Rollback(
                scope=self.scope, source=source, since=since, idempotency_key=idempotency_key
            )
        )

    def policy(
        self,
        *,
        roles: Mapping[str, str] | None = None,
        suspicious: str | None = None,
        secrets: str | None = None,
        reconcile: bool | None = None,
    ) -> Policy:
        """What the scope does with writings; what is given changes it.

        Each action is accept, quarantine or reject; `secrets` are accepted, redacted or rejected.

            memory.policy(roles={"document": "quarantine"}, suspicious="quarantine")
        """
        return self._backend.do(
            ops.SetPolicy(
                scope=self.scope,
                roles=roles,
                suspicious=suspicious,
                secrets=secrets,
                reconcile=reconcile,
            )
        )

    def review(self, limit: int = 100) -> tuple[Held, ...]:
        """What is in quarantine, oldest first, each with why it is held.

        memory.review()
        """
        return self._backend.do(ops.Review(scope=self.scope, limit=limit))

    def approve(self, id: str, idempotency_key: str | None = None) -> Remembered:
        """Lets something out of quarantine: from now on it is a memory.

        memory.approve(id)
        """
        return self._backend.do(
            ops.Approve(scope=self.scope, id=id, idempotency_key=idempotency_key)
        )

    def reject(self, id: str, idempotency_key: str | None = None) -> bool:
        """Removes something from quarantine for good; says whether it was there.

        memory.reject(id)
        """
        return self._backend.do(
            ops.Reject(scope=self.scope, id=id, idempotency_key=idempotency_key)
        )

    def consolidate(self, session: str | None = None) -> Consolidated:
        """Sums up memories that say the same, and long trails of raw turns.

        Each summary is one memory that links to its sources. They leave recall and answer `as_of`;
        `dissolve` brings them back. Nothing calls this by itself.

            memory.consolidate(session="chat-17")
        """
        return self._backend.do(ops.Consolidate(scope=self.scope, session=session))

    def dissolve(self, id: str, idempotency_key: str | None = None) -> int:
        """Undoes a summary: its sources are current again; gives how many.

        memory.dissolve(id)
        """
        return self._backend.do(
            ops.Dissolve(scope=self.scope, id=id, idempotency_key=idempotency_key)
        )

    def jobs(self, limit: int = 100) -> tuple[Job, ...]:
        """The jobs of the scope that wait, run, or failed for good (`dead`), oldest first.

        memory.jobs()
        """
        return self._backend.do(ops.Jobs(scope=self.scope, limit=limit))

    def work(self) -> int:
        """Does the jobs of the store that are due, here and now; gives how many were done.

        What has expired is removed, too.

        memory.work()
        """
        return self._backend.do(ops.Work(scope=self.scope))

    def replay(self, id: str, idempotency_key: str | None = None) -> bool:
        """Lets a job that failed for good be tried again; says whether there was one.

        memory.replay(job)
        """
        return self._backend.do(
            ops.Replay(scope=self.scope, id=id, idempotency_key=idempotency_key)
        )
