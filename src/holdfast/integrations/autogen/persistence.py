"""An agent's conversations, preferences and patterns across restarts, on the state verbs."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from typing import Any

from autogen import ConversableAgent

from holdfast import Conflict, Memory, NotFound
from holdfast.integrations.companion import Companion, Counts
from holdfast.integrations.transcript import Transcript
from holdfast.integrations.turns import TurnPolicy
from holdfast.integrations.worker import log

HOOK = "process_all_messages_before_reply"


class Persistence:
    """What an agent keeps of itself: history with each peer, preferences, patterns, hand-offs."""

    def __init__(self, agent: Any, memory: Memory, policy: TurnPolicy | None = None) -> None:
        self.agent = agent
        self.memory = memory
        self._companion = Companion(memory, policy or TurnPolicy(recall=False, learn_every=0))
        self._logs: dict[str, tuple[Transcript, list[int]]] = {}
        self._own = {name: getattr(agent, name) for name in ("receive", "a_receive")}
        self._wrap()
        agent.register_hook(HOOK, self._before_reply)
        if f"a_{HOOK}" in agent.hook_lists:  # 0.2.x calls only these in async chats
            agent.register_hook(f"a_{HOOK}", self._a_before_reply)

    @property
    def counts(self) -> Counts:
        """What was written, what failed, and what waits."""
        return self._companion.counts

    def detach(self) -> None:
        """Leaves the agent as it was; all writes are done."""
        for name, hook in ((HOOK, self._before_reply), (f"a_{HOOK}", self._a_before_reply)):
            if hook in self.agent.hook_lists.get(name, ()):
                self.agent.hook_lists[name].remove(hook)
        for name in self._own:
            vars(self.agent).pop(name, None)
        self._companion.finish()

    # --- conversations ---

    def history(self, peer: Any) -> list[dict[str, Any]]:
        """What was said with a peer (an agent, or its name), as it is stored."""
        self._companion.finish()
        name = peer if isinstance(peer, str) else peer.name
        return Transcript(self.memory, f"history/{name}").messages()

    def restore(self, peers: Sequence[Any]) -> None:
        """Gives the agent its histories with these peers back, before they have met again."""
        for peer in peers:
            self._meet(peer)

    def save(self) -> None:
        """Keeps what was said since the last time; done by itself at every turn."""
        for peer, messages in list(self.agent.chat_messages.items()):
            self._meet(peer)
            log_, kept = self._logs[peer.name]
            if len(messages) < kept[0]:  # the history was cleared: another conversation
                kept[0] = 0
                self._companion.write("append", log_.fresh)
            for message in messages[kept[0] :]:
                self._append(log_, log_.entry(message))
            kept[0] = len(messages)

    def _append(self, log_: Transcript, entry: dict[str, Any]) -> None:
        self._companion.write("append", lambda: log_.add(entry))

    def _meet(self, peer: Any) -> None:
        """The first time in this process: the history with a peer is there again."""
        if peer.name in self._logs:
            return
        log_, kept = Transcript(self.memory, f"history/{peer.name}"), [0]
        self._logs[peer.name] = log_, kept
        before: list[Any] = self._companion.ask(log_.messages, [])
        self.agent.chat_messages[peer][:0] = before
        kept[0] = len(before)

    # --- hooks ---

    def _wrap(self) -> None:
        receive, a_receive = self._own["receive"], self._own["a_receive"]

        @functools.wraps(receive)
        def received(message: Any, sender: Any, *args: Any, **how: Any) -> Any:
            self._safely(lambda: self._meet(sender))
            answer = receive(message, sender, *args, **how)
            self._safely(self.save)
            return answer

        @functools.wraps(a_receive)
        async def a_received(message: Any, sender: Any, *args: Any, **how: Any) -> Any:
            await asyncio.to_thread(self._safely, lambda: self._meet(sender))
            answer = await a_receive(message, sender, *args, **how)
            await asyncio.to_thread(self._safely, self.save)
            return answer

        self.agent.receive, self.agent.a_receive = received, a_received

    def _before_reply(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self._safely(self.save)
        return messages

    async def _a_before_reply(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return await asyncio.to_thread(self._before_reply, messages)

    def _safely(self, work: Any) -> None:
        try:
            self._companion.begin()
            work()
        except Exception:
            log.exception("memory: a turn goes on without being kept")

    # --- preferences and patterns ---

    def learn_preference(self, key: str, value: Any) -> None:
        """Sets a preference; any JSON value."""
        self.memory.set(f"preference/{key}", value)

    @property
    def preferences(self) -> dict[str, Any]:
        """All preferences."""
        keys = self.memory.keys("preference/")
        return {key.removeprefix("preference/"): self.memory.get(key) for key in keys}

    def add_pattern(self, pattern: Any) -> None:
        """Adds to the patterns that were learned; any JSON value."""
        Transcript(self.memory, "pattern").append(pattern)

    @property
    def patterns(self) -> list[Any]:
        """All patterns, oldest first."""
        return Transcript(self.memory, "pattern").messages()

    # --- hand-off ---

    def hand_over(self, work: Any, name: str = "work") -> None:
        """Puts something down for another process to take; any JSON value."""
        self.memory.set(f"handoff/{name}", work)

    def take_over(self, name: str = "work") -> Any:
        """What was put down, for exactly one who takes it; None if there is nothing."""
        try:
            entry = self.memory.entry(f"handoff/{name}")
            self.memory.delete(entry.key, if_version=entry.version)
        except (NotFound, Conflict):
            return None
        return entry.value


def persist(
    agent: Any,
    memory: Memory | str | None = None,
    *,
    peers: Sequence[Any] = (),
    policy: TurnPolicy | None = None,
) -> Persistence:
    """Keeps an agent's conversations across restarts, without a change to its class.

    The history with a peer is there again when they first meet in a process; name `peers` to
    have it at once. By default it is kept in the scope `autogen-<name>`.

        persist(assistant, Memory("autogen-assistant"))
    """
    opened = Memory(memory or f"autogen-{agent.name}") if not isinstance(memory, Memory) else memory
    kept = Persistence(agent, opened, policy)
    kept.restore(peers)
    return kept


class PersistentAgent(ConversableAgent):
    """A `ConversableAgent` whose conversations, preferences and patterns survive a restart.

    PersistentAgent("assistant", memory=Memory("autogen-assistant"), llm_config=llm_config)
    """

    def __init__(
        self, name: str, *args: Any, memory: Memory | str | None = None, **kwargs: Any
    ) -> None:
        super().__init__(name, *args, **kwargs)
        self.kept = persist(self, memory)

    @property
    def memory(self) -> Memory:
        """The memory itself, for what its verbs can do."""
        return self.kept.memory

    def learn_preference(self, key: str, value: Any) -> None:
        """Sets a preference; any JSON value."""
        self.kept.learn_preference(key, value)

    def add_pattern(self, pattern: Any) -> None:
        """Adds to the patterns that were learned; any JSON value."""
        self.kept.add_pattern(pattern)

    def get_context(self) -> dict[str, Any]:
        """Preferences, patterns, and how many messages were exchanged with each peer."""
        peers = {peer.name: len(said) for peer, said in self.chat_messages.items()}
        return {
            "preferences": self.kept.preferences,
            "patterns": self.kept.patterns,
            "messages": peers,
        }
