"""A group chat that survives a restart: its messages, its speakers, each agent's view of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autogen import GroupChat

from holdfast import Invalid, Memory
from holdfast.integrations.autogen.hooks import attached, role_of
from holdfast.integrations.companion import Companion, Counts
from holdfast.integrations.transcript import Transcript
from holdfast.integrations.turns import Said, TurnPolicy, words

RESULTS = ("tool", "function")  # roles that a message keeps, whoever looks at it


class PersistentGroupChat(GroupChat):  # a dataclass without slots: more attributes do no harm
    """A `GroupChat` whose messages are kept, one by one, under the name `chat`.

    With `resume` (the default) the messages of the last run are there again: `go_on(manager)`
    goes on where it stopped, `restore(manager)` gives all agents their histories so that you can
    say something new. A chat begun with `clear_history=True` is a fresh run; old runs are kept.

        chat = PersistentGroupChat([user, coder], Memory("team"), chat="api-design")
    """

    def __init__(
        self,
        agents: Sequence[Any],
        memory: Memory | str = "autogen-group-chat",
        *args: Any,
        chat: str = "group-chat",
        resume: bool = True,
        policy: TurnPolicy | None = None,
        messages: Sequence[dict[str, Any]] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(agents=list(agents), messages=list(messages), *args, **kwargs)  # noqa: B026
        opened = Memory(memory) if isinstance(memory, str) else memory
        self._companion = Companion(opened, policy or TurnPolicy(recall=False, learn_every=0))
        self._log = Transcript(opened, f"chat/{chat}")
        # A manager runs a shallow copy of its chat: what changes must be shared by both.
        self._sent_again: list[dict[str, Any]] = []
        if resume:
            self.messages[:0] = self._log.messages()
        else:
            self._log.fresh()

    @property
    def counts(self) -> Counts:
        """What was written, what failed, and what waits."""
        return self._companion.counts

    @property
    def speakers(self) -> list[str]:
        """Who spoke, in order."""
        return [str(message.get("name")) for message in self.messages]

    def saved(self, run: int | None = None) -> list[dict[str, Any]]:
        """The messages as they are stored, those of other processes too."""
        self._companion.finish()
        return self._log.messages(run)

    def append(self, message: dict[str, Any], speaker: Any) -> None:
        """Adds a message to the chat, and keeps it."""
        super().append(message, speaker)
        again, self._sent_again[:] = self._sent_again[:], []
        if again and words(again[0]) == words(message):
            return  # whoever goes on sends the last message again
        self._companion.begin()
        kept = self._log.entry(message)
        self._companion.write("append", lambda: self._log.add(kept))

    def reset(self) -> None:
        """Empties the chat; from now on it is a fresh run, and the ones before are kept."""
        if self.messages:
            self._companion.begin()
            self._companion.write("append", self._log.fresh)
        super().reset()

    def restore(self, manager: Any) -> None:
        """Gives every agent its history back; go on with `clear_history=False`."""
        for agent in self.agents:
            theirs, ours = agent.chat_messages[manager], manager.chat_messages[agent]
            theirs[:] = [
                _seen(message, agent.name, "assistant", "user") for message in self.messages
            ]
            ours[:] = [_seen(message, agent.name, "user", "assistant") for message in self.messages]

    def resume(self, manager: Any) -> tuple[Any, dict[str, Any]]:
        """The agent who spoke last, and the message to begin again with.

        Then `agent.initiate_chat(manager, message=message, clear_history=False)`.
        """
        if not self.messages:
            raise Invalid("There is no chat to go on with.", "Start it with initiate_chat.")
        last = self.messages.pop()
        self.restore(manager)
        speaker = self.agent_by_name(last["name"]) or manager
        if there := attached(speaker):
            there.companion.known(Said(words(last), speaker.name, role_of(speaker)))
        self._sent_again[:] = [last]
        return speaker, {k: v for k, v in last.items() if k != "role" or v in RESULTS}

    def go_on(self, manager: Any, **how: Any) -> Any:
        """Goes on where the chat stopped, with whoever is to speak next; gives the ChatResult."""
        speaker, last = self.resume(manager)
        return speaker.initiate_chat(manager, message=last, clear_history=False, **how)


def _seen(message: dict[str, Any], name: str, own: str, other: str) -> dict[str, Any]:
    """A message as one side of a pair has it: what it said itself, and what it was told."""
    if message.get("role") in RESULTS:
        return dict(message)
    if message.get("tool_calls") or message.get("function_call"):
        own = other = "assistant"  # no other role may call
    return {**message, "role": own if message.get("name") == name else other}
