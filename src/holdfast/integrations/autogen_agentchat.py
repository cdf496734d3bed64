"""AutoGen 0.4+ agents and teams that write to their memory: AgentChat itself never does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import Any

from autogen_agentchat.agents import BaseChatAgent
from autogen_agentchat.base import Response
from autogen_agentchat.messages import BaseChatMessage, ToolCallSummaryMessage
from autogen_core import CancellationToken, Component, ComponentModel
from autogen_core.tools import FunctionTool
from pydantic import BaseModel
from typing_extensions import Self

from holdfast import Invalid, Memory, NotFound
from holdfast.integrations import snapshot
from holdfast.integrations.autogen_core import AutoGenMemory
from holdfast.integrations.companion import Companion
from holdfast.integrations.tools import DESCRIPTIONS, NAMES, tools
from holdfast.integrations.turns import Said


class RememberingAgentConfig(BaseModel):
    """What `dump_component` writes down: the inner agent, and the memory without its secrets."""

    agent: ComponentModel
    memory: ComponentModel


class RememberingAgent(BaseChatAgent, Component[RememberingAgentConfig]):
    """An agent that keeps what it hears and says, in front of any other agent.

    It has the inner agent's name, and takes its place in a team: round robin, selector, swarm.
    To have it recall too, give the inner agent the same memory.

        memory = AutoGenMemory("assistant-user123")
        RememberingAgent(AssistantAgent("assistant", client, memory=[memory]), memory)
    """

    component_type = "agent"
    component_config_schema = RememberingAgentConfig
    component_provider_override = "holdfast.integrations.autogen_agentchat.RememberingAgent"

    def __init__(self, agent: Any, memory: AutoGenMemory | Companion) -> None:
        super().__init__(agent.name, agent.description)
        self.agent = agent
        self._memory = memory
        self.companion = memory.companion if isinstance(memory, AutoGenMemory) else memory

    @property
    def produced_message_types(self) -> Sequence[type[BaseChatMessage]]:
        """Those of the inner agent."""
        types: Sequence[type[BaseChatMessage]] = self.agent.produced_message_types
        return types

    async def on_messages(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> Response:
        """Lets the agent answer, and keeps what came in and went out."""
        heard = list(messages)
        try:
            response: Response = await self.agent.on_messages(messages, cancellation_token)
            heard.append(response.chat_message)
            return response
        finally:
            # Only now: kept before, the question itself would be the memory nearest to it.
            await self._hear(heard)

    async def on_messages_stream(
        self, messages: Sequence[BaseChatMessage], cancellation_token: CancellationToken
    ) -> AsyncGenerator[Any, None]:
        """The same, event by event."""
        heard = list(messages)
        try:
            async for item in self.agent.on_messages_stream(messages, cancellation_token):
                if isinstance(item, Response):
                    await self._hear([*heard, item.chat_message])
                    heard.clear()
                yield item
        finally:
            if heard:  # it never answered
                await self._hear(heard)

    async def on_reset(self, cancellation_token: CancellationToken) -> None:
        """Resets the inner agent; what was remembered stays, and is learned from."""
        self.companion.learn()
        await self.agent.on_reset(cancellation_token)

    async def save_state(self) -> Mapping[str, Any]:
        """The inner agent's state."""
        state: Mapping[str, Any] = await self.agent.save_state()
        return state

    async def load_state(self, state: Mapping[str, Any]) -> None:
        """Gives the inner agent its state back."""
        await self.agent.load_state(state)

    async def close(self) -> None:
        """Waits for all writes, and closes the inner agent; the memory stays open."""
        await asyncio.to_thread(self.companion.finish)
        await self.agent.close()

    def _to_config(self) -> RememberingAgentConfig:
        if not isinstance(self._memory, AutoGenMemory):
            raise Invalid("A Companion cannot be written down.", "Give an AutoGenMemory.")
        return RememberingAgentConfig(
            agent=self.agent.dump_component(), memory=self._memory.dump_component()
        )

    @classmethod
    def _from_config(cls, config: RememberingAgentConfig) -> Self:
        agent = BaseChatAgent.load_component(config.agent)
        # One memory for both, as it was: else what the one recalls is news to the other.
        for own in getattr(agent, "_memory", None) or ():
            if isinstance(own, AutoGenMemory) and own.dump_component() == config.memory:
                return cls(agent, own)
        return cls(agent, AutoGenMemory.load_component(config.memory))

    async def _hear(self, messages: Sequence[BaseChatMessage]) -> None:
        self.companion.begin()
        policy, heard = self.companion.policy, list[tuple[Said, bool]]()
        for message in messages:
            if isinstance(message, ToolCallSummaryMessage):
                continue  # plumbing
            source = message.source
            said = Said(message.to_model_text(), source, "user" if source == "user" else "agent")
            heard.append((said, policy.outgoing if source == self.name else policy.incoming))
        await asyncio.to_thread(self.companion.hear_all, heard)


def memory_tools(
    memory: AutoGenMemory | Companion | Memory,
    writer: str | None = None,
    names: Iterable[str] = NAMES,
) -> list[FunctionTool]:
    """remember, recall, forget and update for an agent's `tools`.

    AssistantAgent("assistant", client, tools=memory_tools(memory, "assistant"))
    """
    companion = memory.companion if isinstance(memory, AutoGenMemory) else memory
    if isinstance(companion, Memory):
        companion = Companion(companion)
    made = tools(companion, writer, names)
    return [FunctionTool(tool, DESCRIPTIONS[name], name=name) for name, tool in made.items()]


async def save_team(team: Any, memory: Memory, name: str = "team") -> None:
    """Stores the state of a team, or of an agent, under a name.

    await save_team(team, Memory("research-team"))
    """
    state = await team.save_state()
    await asyncio.to_thread(snapshot.save, memory, f"team/{name}", state)


async def load_team(team: Any, memory: Memory, name: str = "team") -> bool:
    """Gives a team its stored state back; False if there is none, and the team is as new.

    await load_team(team, Memory("research-team"))
    """
    try:
        state = await asyncio.to_thread(snapshot.load, memory, f"team/{name}")
    except NotFound:
        return False
    await team.load_state(state)
    return True
