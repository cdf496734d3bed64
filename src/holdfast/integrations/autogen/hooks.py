"""Memory for any `ConversableAgent`: by hooks, without a change to its class."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from autogen import ConversableAgent

from holdfast import Memory
from holdfast.integrations import turns
from holdfast.integrations.companion import Companion, Counts
from holdfast.integrations.turns import Said, TurnPolicy
from holdfast.integrations.worker import log

PLACE = "_holdfast"  # the attribute of an agent that holds its attachment, for as long as it lives


class Attachment:
    """An agent's memory; `detach()` takes it away and leaves the agent as it was."""

    def __init__(self, agent: Any, companion: Companion) -> None:
        self.agent = agent
        self.companion = companion
        self._block = ""
        self._hooks = self._register()

    @property
    def memory(self) -> Memory:
        """The memory that the agent writes to."""
        return self.companion.memory

    @property
    def counts(self) -> Counts:
        """What was done, what failed, and what waits."""
        return self.companion.counts

    def finish(self, seconds: float = 10.0) -> int:
        """A chat is over: learns from the rest of it; gives how many writes still wait."""
        return self.companion.finish(seconds)

    def detach(self) -> None:
        """Takes the memory away: no hooks, the system message as it was, all writes done."""
        for name, hook in self._hooks:
            if hook in self.agent.hook_lists[name]:
                self.agent.hook_lists[name].remove(hook)
        self._hooks = []
        self._show("")
        vars(self.agent).pop(PLACE, None)
        self.finish()

    # --- hooks ---

    def _register(self) -> list[tuple[str, Any]]:
        async def before_reply(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
            await asyncio.to_thread(self._before_reply, messages)
            return messages

        async def before_send(sender: Any, message: Any, recipient: Any, silent: Any) -> Any:
            await asyncio.to_thread(self._before_send, sender, message, recipient, silent)
            return message

        hooks = [
            ("process_all_messages_before_reply", self._before_reply),
            ("process_message_before_send", self._before_send),
            # 0.2.x has lists of their own for async chats, and does not call the others there.
            ("a_process_all_messages_before_reply", before_reply),
            ("a_process_message_before_send", before_send),
        ]
        hooks = [(name, hook) for name, hook in hooks if name in self.agent.hook_lists]
        for name, hook in hooks:
            self.agent.register_hook(name, hook)
        return hooks

    def _before_reply(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        try:
            self.companion.begin()
            if turns.speech(messages[-1]) or not self._block:
                self._show(self.companion.context(messages))
            self._hear(messages)
            self._learn_at_the_end(turns.speech(messages[-1]))
        except Exception:
            log.exception("memory: a turn goes on without it")
        return messages

    def _before_send(self, sender: Any, message: Any, recipient: Any, silent: Any = None) -> Any:
        try:
            text = turns.speech(message)
            if text:
                said = Said(text, sender.name, role_of(sender))
                self.companion.hear(said, self.companion.policy.outgoing)
            self._learn_at_the_end(text)
        except Exception:
            log.exception("memory: a message goes out without being kept")
        return message

    def _learn_at_the_end(self, text: str) -> None:
        if text.rstrip(" .").endswith("TERMINATE"):  # how an agent says that a chat is over
            self.companion.learn()

    def _show(self, block: str) -> None:
        """The system message with this block in place of the last one."""
        now = self.agent.system_message
        new = turns.placed(now, self._block, block)
        self._block = block
        if new != now:
            self.agent.update_system_message(new)

    def _hear(self, messages: list[dict[str, Any]]) -> None:
        """What others said since the agent last spoke."""
        new = []
        for message in reversed(messages):
            if message.get("role") == "assistant" or message.get("name") == self.agent.name:
                break
            new.append(message)
        for message in reversed(new):
            if text := turns.speech(message):
                name = message.get("name")
                said = Said(text, name, self._role(name))
                self.companion.hear(said, self.companion.policy.incoming)

    def _role(self, name: str | None) -> str:
        """What somebody is: found among those the agent talks with, and in their groups."""
        for peer in self.agent.chat_messages:
            group = getattr(peer, "groupchat", None)
            for one in [peer, *(group.agents if group else ())]:
                if one.name == name:
                    return role_of(one)
        return "user"


def role_of(agent: Any) -> str:
    """An agent with a language model speaks for itself; one without, for its user."""
    return "agent" if getattr(agent, "llm_config", None) else "user"


def attach(
    agent: Any,
    memory: Memory | str,
    policy: TurnPolicy | None = None,
    *,
    also: Sequence[str] = (),
    session: str | None = None,
    hint: str = "",
    **how: Any,
) -> Attachment:
    """Gives an agent a memory: it recalls before each turn, and keeps what was said.

    `memory` is a `Memory` or the name of a scope; `also` are more scopes to recall from. How it
    remembers is a `TurnPolicy`, or its parts by name. An agent has one memory: the one before
    is detached.

        attach(assistant, Memory("autogen-assistant-user123"), seconds=0.5)
    """
    detach(agent)
    opened = Memory(memory) if isinstance(memory, str) else memory
    companion = Companion(
        opened, policy or TurnPolicy(**how), also=also, session=session, hint=hint
    )
    companion.warm_up()
    attachment = Attachment(agent, companion)
    setattr(agent, PLACE, attachment)
    return attachment


def attached(agent: Any) -> Attachment | None:
    """The memory that an agent was given, if any."""
    found: Attachment | None = getattr(agent, PLACE, None)
    return found


def detach(agent: Any) -> None:
    """Takes an agent's memory away, if it has one.

    detach(assistant)
    """
    if attachment := attached(agent):
        attachment.detach()


class MemoryAgent(ConversableAgent):
    """A `ConversableAgent` that remembers, in a scope of its own: `agent_id`.

    `memory_query` is asked when a message itself asks nothing, as a greeting does. Give `memory`
    for a store of your choice, `policy` for how it remembers.

        MemoryAgent("assistant", agent_id="autogen-assistant-user123", llm_config=llm_config)
    """

    def __init__(
        self,
        name: str,
        *args: Any,
        agent_id: str | None = None,
        memory: Memory | None = None,
        memory_query: str = "",
        policy: TurnPolicy | None = None,
        also: Sequence[str] = (),
        session: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name, *args, **kwargs)
        opened = memory or Memory(agent_id or f"autogen-{name}")
        self.attachment = attach(
            self, opened, policy, also=also, session=session, hint=memory_query
        )

    @property
    def memory(self) -> Memory:
        """The memory itself, for what its verbs can do."""
        return self.attachment.memory
