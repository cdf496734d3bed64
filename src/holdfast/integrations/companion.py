"""A memory beside an agent: it recalls before a turn, keeps what was said, learns now and then.

Every flavour of AutoGen, and every other framework, uses this one; an adapter only says when.
A companion never raises and never takes more of a turn than its policy allows: what fails is
logged and counted, and what was to be kept waits until it can be.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any, TypeVar

from holdfast import Hit, HoldfastError, Invalid, Memory, Recalled, Refused, Unavailable, block
from holdfast.integrations import turns
from holdfast.integrations.turns import Said, TurnPolicy
from holdfast.integrations.worker import Answering, Write, Writing, log

T = TypeVar("T")
COLD_SECONDS = 5.0  # for the first question, asked before there is a chat that would wait
LOOP_SECONDS = 0.5  # all that may be waited in a thread that an event loop runs in
HEARD = 4096  # messages that are known not to be new
SHOWN = 20  # memories at most in a block that is told with its memories
WARM_UP = "what is known?"  # loads the embedder and the index before the first turn does


@dataclass(frozen=True)
class Counts:
    """What a companion did: recalls and writes, those that failed, and writes that still wait.

    `longest` is the most that memory took of a turn, in seconds.
    """

    recalls: int = 0
    recalls_failed: int = 0
    kept: int = 0
    skipped: int = 0
    writes_failed: int = 0
    waiting: int = 0
    refused: int = 0
    lost: int = 0
    longest: float = 0.0


class Companion:
    """One agent's memory, turn by turn.

    `also` names more scopes to recall from; `hint` is asked when a turn asks nothing itself.
    """

    def __init__(
        self,
        memory: Memory,
        policy: TurnPolicy | None = None,
        *,
        also: Sequence[str] = (),
        session: str | None = None,
        hint: str = "",
    ) -> None:
        if not isinstance(memory, Memory):
            raise Invalid(
                f"An agent remembers with a Memory, not a {type(memory).__name__}.",
                "Give holdfast.Memory: no event loop ever waits for it.",
            )
        self.memory = memory
        self.policy = policy or TurnPolicy()
        self.session = session or f"chat-{uuid.uuid4().hex[:12]}"
        self.hint = hint
        self.scopes = tuple(dict.fromkeys((memory.scope, *also)))
        self.writing = Writing(self.policy.quiet, self.learn)
        # By itself: to learn takes far longer than to keep, and no turn is to wait for it.
        self._learning = Writing(self.policy.quiet, lambda: None)
        self._answering = Answering()
        self._spent, self._longest, self._most = 0.0, 0.0, self.policy.seconds
        self._warm = False
        self._heard: OrderedDict[bytes, None] = OrderedDict()
        self._told = turns.Told()
        self._unlearned: dict[str, list[Said]] = {}  # by session
        self._lock = threading.Lock()
        self._recalls = self._recalls_failed = self._kept = self._skipped = 0

    def warm_up(self) -> None:
        """Loads the embedder and the index, so that the first turn need not; no turn waits yet."""
        if self.policy.recall and self.scopes and not self._warm:
            self._warm, self._most = True, COLD_SECONDS
            self.ask(lambda: self.memory.recall(WARM_UP, 1, scopes=self.scopes), None)
            self._spent = self._longest = 0.0
            self._recalls = self._recalls_failed = 0

    @property
    def counts(self) -> Counts:
        """What was done, what failed, and what waits."""
        both = (self.writing, self._learning)
        return Counts(
            recalls=self._recalls,
            recalls_failed=self._recalls_failed,
            kept=self._kept,
            skipped=self._skipped,
            writes_failed=sum(one.failures for one in both),
            waiting=sum(one.waiting for one in both),
            refused=sum(len(one.refused) for one in both),
            lost=sum(one.lost for one in both),
            longest=self._longest,
        )

    # --- before a turn ---

    def begin(self) -> None:
        """A turn begins: memory has its time for one turn again, inside an event loop less."""
        self._spent = 0.0
        self._most = min(self.policy.seconds, LOOP_SECONDS) if _in_a_loop() else self.policy.seconds

    def context(self, messages: Sequence[Any]) -> str:
        """The block of memories for a turn; "" if there are none, or the memory cannot answer."""
        asked = self._asked(messages)
        if not asked:
            return ""
        return self._shown(
            self.ask(lambda: self.memory.context(asked, self.policy.budget, scopes=self.scopes), "")
        )

    def found(self, messages: Sequence[Any]) -> tuple[str, Sequence[Hit]]:
        """The block of memories for a turn, and the memories, best first: asked for once."""
        asked = self._asked(messages)
        if not asked:
            return "", ()
        found = self.ask(lambda: self.memory.recall(asked, SHOWN, scopes=self.scopes), Recalled())
        return self._shown(block(found, self.policy.budget)), (*found.avoid, *found)

    def _asked(self, messages: Sequence[Any]) -> str:
        """What a turn asks of the memory; "" if nothing."""
        asked = turns.query(messages)
        if self.hint and turns.small_talk(asked):
            asked = self.hint
        return asked if self.policy.recall else ""

    def _shown(self, told: str) -> str:
        self._told.add(turns.recalled(told))
        return told

    def ask(self, question: Callable[[], T], otherwise: T) -> T:
        """The memory's answer within this turn's time, or another; failures are counted."""
        try:
            return self.demand(question)
        except Exception as error:
            self._recalls_failed += 1
            log.warning("memory: nothing recalled: %s", error)
            return otherwise

    def demand(self, question: Callable[[], T]) -> T:
        """The memory's answer within this turn's time, or what went wrong."""
        began = time.monotonic()
        self._recalls += 1
        try:
            return self._answering.ask(question, self._left())
        finally:
            self._spend(time.monotonic() - began)

    def tell(self, memories: Sequence[str]) -> None:
        """Says what the agent was shown by other ways, so that it is not kept again."""
        self._told.add(memories)

    # --- after it ---

    def hear(self, said: Said, keep: bool = True, session: str | None = None) -> None:
        """Keeps what was said, if it is worth it and new; learns when enough was said."""
        self.hear_all([(said, keep)], session)

    def hear_all(self, heard: Iterable[tuple[Said, bool]], session: str | None = None) -> None:
        """The same of several that were said together, in one write."""
        where, kept = session or self.session, list[tuple[str, Said]]()
        for told, keep in heard:
            said = Said(turns.without_block(told.text).strip(), told.speaker, told.role)
            if not self._new(said) or self._told.echoes(said.text):
                self._skipped += 1
                continue
            if not keep or turns.trivial(said.text):
                self._skipped += 1
            else:
                self._kept += 1
                kept += [(part, said) for part in turns.parts(said.text)]
            self._gather(said, where)
        if kept:
            self._keep_all(kept, where)

    def known(self, said: Said) -> None:
        """Says that something was heard before, in another process."""
        self._new(said)

    def keep(self, content: str, kind: str, said: Said | None = None, **how: Any) -> Write:
        """Remembers something, now or as soon as that can be done; a question finds it at once."""
        draft = {**self._details(said), "content": content, "kind": kind, "wait": True, **how}
        key = _new_key()
        return self.write("remember", lambda: self._remember(draft, key))

    def _keep_all(self, kept: Sequence[tuple[str, Said]], session: str) -> None:
        if len(kept) == 1:
            # It is on disk when the turn goes on; its vector may follow.
            self.keep(kept[0][0], self.policy.kind, kept[0][1], session=session, wait=False)
            return
        about = {"kind": self.policy.kind, "session": session}
        drafts = [{**self._details(said), "content": text, **about} for text, said in kept]
        key = _new_key()

        def work() -> None:
            try:
                self.memory.remember_many(drafts, key, wait=False)
            except (Invalid, Refused):  # one of them; the others are not to suffer for it
                for number, draft in enumerate(drafts):
                    alone = {**draft, "wait": False}
                    one = Write("remember", partial(self._remember, alone, f"{key}-{number}"))
                    self.writing.put(one, 0.0)

        self.write("remember", work)

    def _details(self, said: Said | None) -> dict[str, Any]:
        return {
            "session": self.session,
            "ttl": self.policy.ttl,
            "source": said.source if said else None,
            "happened_at": datetime.now(timezone.utc),  # however late it comes to be stored
        }

    def _remember(self, draft: dict[str, Any], key: str) -> Any:
        return self.memory.remember(**draft, idempotency_key=key)

    def write(self, verb: str, work: Callable[[], Any]) -> Write:
        """Does a write in this turn's time; what takes longer, or fails, is done later."""
        began = time.monotonic()
        write = Write(verb, work)
        try:
            self.writing.put(write, self._left())
        finally:
            self._spend(time.monotonic() - began)
        return write

    def learn(self) -> None:
        """Extracts learnings from what was said since the last time; in the background."""
        with self._lock:
            unlearned, self._unlearned = self._unlearned, {}
        for session, said in unlearned.items():
            self._extract(session, said)

    def finish(self, seconds: float = 10.0) -> int:
        """Learns from the rest and waits for all writes, so long; gives how many still wait."""
        self.learn()
        return self.drain(seconds)

    def drain(self, seconds: float = 10.0) -> int:
        """Waits for what is under way, so long; gives how many writes still wait."""
        give_up = time.monotonic() + seconds
        waiting = self.writing.drain(seconds)
        return waiting + self._learning.drain(give_up - time.monotonic())

    def _gather(self, said: Said, session: str) -> None:
        if not self.policy.learn_every or not said.text:
            return
        with self._lock:
            gathered = self._unlearned.setdefault(session, [])
            gathered.append(said)
            enough = len(gathered) >= self.policy.learn_every
            if enough:
                del self._unlearned[session]
        if enough:
            self._extract(session, gathered)
        else:
            self.writing.wake()

    def _extract(self, session: str, said: list[Said]) -> None:
        heard, memory, key = [one.message() for one in said], self.memory, _new_key()

        def learned() -> Any:
            return memory.extract(heard, session, keep="learnings", idempotency_key=key)

        self._learning.put(Write("extract", learned), 0.0)

    def _new(self, said: Said) -> bool:
        """False for what was heard before: a broadcast reaches an agent more than once."""
        if said.digest in self._heard:
            return False
        self._heard[said.digest] = None
        if len(self._heard) > HEARD:
            self._heard.popitem(last=False)
        return True

    def _spend(self, seconds: float) -> None:
        self._spent += seconds
        self._longest = max(self._longest, self._spent)

    def _left(self) -> float:
        return max(0.0, self._most - self._spent)


def outcome(write: Write, done: str) -> str:
    """What to tell a model of a write: done, refused and why, or waiting."""
    if write.error is not None:
        return f"The memory refused this: {write.error}"
    if not write.done.is_set():
        return "The memory is away at the moment; this is kept and will be stored when it is back."
    return done


def failure(error: Exception) -> str:
    """What to tell a model when the memory cannot answer."""
    known = isinstance(error, HoldfastError) and not isinstance(error, Unavailable)
    return f"The memory cannot answer: {error}" if known else "The memory is away at the moment."


def _in_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _new_key() -> str:
    return uuid.uuid4().hex
