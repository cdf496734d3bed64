"""Microsoft Agent Framework: long-term memory, and sessions that survive a restart."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from agent_framework import ContextProvider, HistoryProvider, Message, chat_middleware

from holdfast import Memory
from holdfast.integrations import turns
from holdfast.integrations.companion import Companion, Counts
from holdfast.integrations.tools import NAMES, Tool, tools
from holdfast.integrations.transcript import Transcript
from holdfast.integrations.turns import Said, TurnPolicy

ROLES = {"user": "user", "assistant": "agent"}


class HoldfastContextProvider(ContextProvider):
    """Recalls before each run, keeps and learns after it.

    It writes to the memory's scope and reads from `read_scopes`: by default the same one. The
    block of memories goes into the instructions, or with `inject="user"` into a message.

        Agent(client, context_providers=[HoldfastContextProvider(Memory("user123"))])
    """

    def __init__(
        self,
        memory: Memory | str,
        source_id: str = "holdfast",
        *,
        read_scopes: Sequence[str] | None = None,
        inject: Literal["instructions", "user"] = "instructions",
        policy: TurnPolicy | None = None,
        with_tools: bool = False,
    ) -> None:
        super().__init__(source_id)
        opened = Memory(memory) if isinstance(memory, str) else memory
        self.companion = Companion(opened, policy)
        if read_scopes is not None:
            self.companion.scopes = tuple(read_scopes)
        self.companion.warm_up()
        self._inject = inject
        self._with_tools = with_tools

    @property
    def counts(self) -> Counts:
        """What was done, what failed, and what waits."""
        return self.companion.counts

    async def before_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        """Puts what is relevant to the new messages into the context."""
        self.companion.begin()
        asked = [_plain(message) for message in context.get_messages(include_input=True)]
        block = ""
        if self.companion.scopes:
            block = await asyncio.to_thread(self.companion.context, asked)
        if block and self._inject == "instructions":
            context.extend_instructions(self.source_id, block)
        elif block:
            context.extend_messages(self, [Message("user", [block])])
        if self._with_tools:
            context.extend_tools(self.source_id, self.tools(getattr(agent, "name", None)))
        context.extend_middleware(self.source_id, self._though_it_fails(agent, context))

    async def after_run(self, *, agent: Any, session: Any, context: Any, state: Any) -> None:
        """Keeps what was said, and learns from it now and then."""
        await self._hear(agent, context)

    def _though_it_fails(self, agent: Any, context: Any) -> Any:
        """Keeps what came in though the model fails: then there is no `after_run`."""

        @chat_middleware
        async def keeping(_: Any, call_next: Any) -> None:
            try:
                await call_next()
            except Exception:
                await self._hear(agent, context)
                raise

        return keeping

    async def _hear(self, agent: Any, context: Any) -> None:
        policy = self.companion.policy
        name = getattr(agent, "name", None)
        said = [(message, policy.incoming) for message in context.input_messages]
        if context.response is not None:
            said += [(message, policy.outgoing) for message in context.response.messages]
        heard = []
        for message, keep in said:
            if message.role in ROLES and (text := turns.speech(_plain(message))):
                who = message.author_name or (name if message.role == "assistant" else "user")
                heard.append((Said(text, who, ROLES[message.role]), keep))
        await asyncio.to_thread(self.companion.hear_all, heard, context.session_id)

    def tools(self, writer: str | None = None) -> list[Tool]:
        """remember, recall, forget and update, for an agent's `tools`."""
        names = [name for name in NAMES if self.companion.scopes or name != "recall"]
        return list(tools(self.companion, writer, names).values())

    async def finish(self, seconds: float = 10.0) -> int:
        """Learns from the rest and waits for all writes; gives how many still wait."""
        return await asyncio.to_thread(self.companion.finish, seconds)


class HoldfastHistoryProvider(HistoryProvider):
    """A session's messages, on the state verbs: they survive a restart, whoever writes them.

    Agent(client, context_providers=[HoldfastHistoryProvider(Memory("assistant"))])
    """

    def __init__(
        self,
        memory: Memory | str,
        source_id: str = "holdfast_history",
        *,
        policy: TurnPolicy | None = None,
        **how: Any,
    ) -> None:
        super().__init__(source_id, **how)
        opened = Memory(memory) if isinstance(memory, str) else memory
        self.companion = Companion(opened, policy or TurnPolicy(recall=False, learn_every=0))
        self._logs: dict[str, Transcript] = {}

    @property
    def counts(self) -> Counts:
        """What was done, what failed, and what waits."""
        return self.companion.counts

    async def get_messages(
        self, session_id: str | None, *, state: dict[str, Any] | None = None, **kwargs: Any
    ) -> list[Message]:
        """The messages of a session, in order."""
        self.companion.begin()
        log = self._log(session_id)
        empty: list[Any] = []
        held = await asyncio.to_thread(self.companion.ask, log.messages, empty)
        return [Message.from_dict(message) for message in held]

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        """Adds messages to a session."""
        self.companion.begin()
        log = self._log(session_id)
        for message in messages:
            await asyncio.to_thread(self._append, log, log.entry(message.to_dict()))

    async def clear(self, session_id: str | None) -> None:
        """Begins a session afresh; what was said before stays in its earlier runs."""
        await asyncio.to_thread(self._log(session_id).fresh)

    def _append(self, log: Transcript, entry: dict[str, Any]) -> None:
        self.companion.write("append", lambda: log.add(entry))

    def _log(self, session_id: str | None) -> Transcript:
        name = f"session/{session_id or 'default'}"
        return self._logs.setdefault(name, Transcript(self.companion.memory, name))


def _plain(message: Message) -> dict[str, Any]:
    """A message as the others have them; its text is empty if it is tool plumbing."""
    return {"role": str(message.role), "content": message.text or ""}
