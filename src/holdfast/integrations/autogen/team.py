"""A team's memory: one scope that all share, one for each agent alone, recalled together."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from holdfast import Memory
from holdfast.integrations.autogen.hooks import Attachment, attach
from holdfast.integrations.autogen.tools import register_memory_tools
from holdfast.integrations.turns import TurnPolicy


class Team:
    """Agents that share a memory, `name`, and have one each of their own, `name/agent`.

    What is said in the open goes to the shared scope with the name of who said it; an agent
    recalls from both. One that joins later knows at its first message what the team knows.

        team = Team("content-team"); team.join(researcher); team.join(writer)
    """

    def __init__(
        self, name: str, url: str | None = None, policy: TurnPolicy | None = None, **how: Any
    ) -> None:
        self.memory = Memory(name, url, **how)
        self._policy = policy
        self._open: Callable[[str], Memory] = functools.partial(Memory, url=url, **how)
        self._private: dict[str, Memory] = {}

    def private(self, agent: Any) -> Memory:
        """The memory that only this agent (or the one of this name) recalls from."""
        name = agent if isinstance(agent, str) else agent.name
        if name not in self._private:
            self._private[name] = self._open(f"{self.memory.scope}/{name}")
        return self._private[name]

    def join(self, agent: Any, *, private: bool = False, session: str | None = None) -> Attachment:
        """Gives an agent the team's memory; with `private`, what it hears stays its own."""
        own = self.private(agent)
        memory, other = (own, self.memory) if private else (self.memory, own)
        return attach(agent, memory, self._policy, also=[other.scope], session=session)

    def register_tools(self, agent: Any, executor: Any, **how: Any) -> None:
        """Lets an agent of the team remember and recall by tools."""
        register_memory_tools(self.join(agent).companion, caller=agent, executor=executor, **how)

    def close(self) -> None:
        """Lets go of the store."""
        for memory in (self.memory, *self._private.values()):
            memory.close()
