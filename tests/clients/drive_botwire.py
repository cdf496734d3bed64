"""Every method of the `botwire` client 0.2.1; its key is in $BOTWIRE_URL."""

import uuid
from typing import Any

import botwire
from botwire.memory import BotWireChatHistory
from langchain_core.messages import AIMessage, HumanMessage


def values() -> None:
    space = f"autogen-{uuid.uuid4()}"
    memory = botwire.Memory(space)
    assert memory.keys() == []
    assert memory.get("nothing") is None
    assert memory.get("nothing", "default") == "default"
    for value in ({"a": [1, None]}, [1, {"b": 2}], "text", "", "ключ 🎉"):
        memory.set("key", value)
        assert memory.get("key") == value, value
    odd: list[tuple[Any, str]] = [(5, "5"), (1.5, "1.5"), (True, "true"), (None, "null")]
    for given, text in odd:
        memory.set("key", given)
        assert memory.get("key") == text, "what the client makes of these is its own affair"
    memory.set("with/slash", "x")
    assert memory.get("with/slash") == "x"
    assert sorted(memory.keys()) == ["key", "with/slash"]
    assert "key" in memory
    assert memory.delete("key") is True
    assert memory.delete("key") is False
    assert "key" not in memory
    assert botwire.Memory(f"other-{uuid.uuid4()}").get("with/slash") is None


def chat() -> None:
    session = f"user-{uuid.uuid4()}"
    history: Any = BotWireChatHistory(session)
    history.add_message(HumanMessage("likes tea"))
    history.add_message(AIMessage("noted"))
    again: Any = BotWireChatHistory(session)
    assert [it.content for it in again.messages] == ["likes tea", "noted"]
    again.clear()
    assert history.messages == []


def channels() -> None:
    agent, name = f"bot-{uuid.uuid4()}", f"trading-{uuid.uuid4()}"
    try:
        botwire.Channel(name, agent)
    except botwire.errors.RegistrationRequired:
        pass
    else:
        raise AssertionError("an unknown agent came in")
    botwire.register(agent, accept_terms=True, capabilities=["trade"])
    channel = botwire.Channel(name, agent)
    botwire.Channel(name, agent)
    first = channel.post("signal", {"ticker": "NVDA"})
    channel.post("status", "alive")
    entries = channel.read()
    assert [it["type"] for it in entries] == ["signal", "status"]
    assert (entries[0]["data"], entries[0]["agent_id"]) == ({"ticker": "NVDA"}, agent)
    assert entries[0]["id"] == first["id"]
    assert [it["data"] for it in channel.read(type="status")] == ["alive"]
    assert [it["type"] for it in channel.read(since=entries[0]["timestamp"])] == ["status"]
    assert len(channel.read(limit=1)) == 1
    watched(channel)
    lost = botwire.Channel(f"none-{uuid.uuid4()}", agent, auto_create=False)
    for call in (lost.read, lambda: lost.post("data", 1)):
        try:
            call()
        except botwire.errors.ChannelNotFound:
            continue
        raise AssertionError("a channel that is not there was used")


def watched(channel: Any) -> None:
    """Sees every entry, also where more come between two looks than it reads at once."""
    seen: list[Any] = []

    def look(entry: dict[str, Any]) -> None:
        seen.append(entry["data"])
        if entry["data"] == "alive":
            for number in range(120):
                channel.post("data", {"number": number})
        if entry["data"] == {"number": 119}:
            raise KeyboardInterrupt

    channel.watch(look, poll_interval=0.01)
    assert seen == [{"ticker": "NVDA"}, "alive", *({"number": n} for n in range(120))], seen


values()
chat()
channels()
