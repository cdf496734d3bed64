"""AG2 1.x: memory as a policy, as a middleware, and as tools."""

from typing import Any

import openai
import pytest
from ag2 import Agent
from ag2.config import OpenAIConfig

from examples.autogen.scripted_model import Asked, Reply, ScriptedModel, call
from holdfast import Memory, Source
from holdfast.integrations.ag2 import MemoryPolicy, memory_tools, remembering
from holdfast.integrations.companion import Companion
from holdfast.integrations.turns import TurnPolicy
from tests.frameworks.conftest import Processes
from tests.frameworks.trouble import LATE, MOODS, Troubled, in_time

BLOCK = "<memories"
FACT = "The main store is PostgreSQL 18, not MongoDB"
QUESTION = "which database is the main store?"
pytestmark = pytest.mark.asyncio


def agent(model: ScriptedModel, **how: Any) -> Agent:
    config = OpenAIConfig(model="scripted", api_key="none", base_url=model.url)
    return Agent("assistant", "Be brief.", config=config, **how)


def contents(memory: Memory) -> list[str]:
    return [record.content for record in memory.list(limit=1000)]


async def test_the_middleware_recalls_and_keeps(memory: Memory) -> None:
    memory.remember(FACT, kind="decision", source="Ann")
    companion = Companion(memory)
    with ScriptedModel(["We use the driver called psycopg."]) as model:
        one = agent(model, middleware=[remembering(companion, "assistant")])
        reply = await one.ask("I wonder about drivers for our main store PostgreSQL")
        assert reply.body == "We use the driver called psycopg."
        (asked,) = model.asked
        assert FACT in asked.system
        assert "Be brief." in asked.system
    assert companion.finish() == 0
    told = {it.content: it.source for it in memory.list(kinds=["interaction"])}
    assert told["We use the driver called psycopg."] == Source("assistant", "agent")
    assert told["I wonder about drivers for our main store PostgreSQL"] == Source("user", "user")


async def test_the_policy_recalls_and_writes_nothing(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")
    with ScriptedModel(["It is the one you said, of course."]) as model:
        await agent(model, assembly=[MemoryPolicy(memory)]).ask(QUESTION)
        assert FACT in model.asked[0].system
    assert contents(memory) == [FACT]


@pytest.mark.parametrize("way", ["middleware", "policy"])
async def test_a_hundred_turns_pile_nothing_up(memory: Memory, way: str) -> None:
    memory.remember(FACT, kind="decision")
    before = contents(memory)
    companion = Companion(memory)
    ways: dict[str, Any] = {
        "middleware": {"middleware": [remembering(companion)]},
        "policy": {"assembly": [MemoryPolicy(companion)]},
    }
    with ScriptedModel([f"As you said: {FACT}."]) as model:
        reply = await agent(model, **ways[way]).ask(QUESTION)
        for _ in range(99):
            reply = await reply.ask(QUESTION)
        first = len(model.asked[0].messages)
        assert len(model.asked) == 100
        for number, asked in enumerate(model.asked):
            assert asked.text.count(BLOCK) == 1
            assert len(asked.messages) == first + 2 * number
        events = [str(event) for event in await reply.history.get_events()]
        assert not any(BLOCK in event for event in events)
    assert companion.finish() == 0
    assert contents(memory) == before


async def test_streaming_works_the_same(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")
    companion = Companion(memory)
    with ScriptedModel(["A streamed answer, piece by piece."]) as model:
        config = OpenAIConfig(model="s", api_key="none", base_url=model.url, streaming=True)
        one = Agent("assistant", config=config, middleware=[remembering(companion, "assistant")])
        reply = await one.ask(f"I ask: {QUESTION}")
        assert reply.body == "A streamed answer, piece by piece."
        assert model.asked[0].body["stream"]
        assert FACT in model.asked[0].system
    assert companion.finish() == 0
    assert "A streamed answer, piece by piece." in contents(memory)


async def test_what_was_said_is_kept_though_the_model_fails(memory: Memory) -> None:
    def fails(_: Asked) -> Reply:
        raise ConnectionError("no model")

    companion = Companion(memory)
    with ScriptedModel(fails) as model, pytest.raises(openai.OpenAIError):
        await agent(model, middleware=[remembering(companion)]).ask("I moved to Lisbon in May.")
    assert companion.finish() == 0
    assert "I moved to Lisbon in May." in contents(memory)


async def test_tools_are_called_and_run(memory: Memory) -> None:
    script: list[Reply] = [call("remember", content=FACT, kind="decision"), "Noted."]
    with ScriptedModel(script) as model:
        await agent(model, tools=memory_tools(memory, "assistant")).ask("Remember PostgreSQL.")
        assert set(model.asked[0].tools) == {"remember", "recall", "forget", "update"}
        assert "Remembered (id" in model.asked[1].text
    (record,) = memory.list()
    assert (record.content, record.source) == (FACT, Source("assistant", "agent"))


@pytest.mark.parametrize("mood", MOODS)
async def test_a_server_in_trouble_is_not_in_the_way(mood: str, server: Troubled) -> None:
    seconds, says = 0.4, [f"Item {n} costs {n * 7} euros in shop {n}." for n in range(5)]
    policy = TurnPolicy(seconds=seconds, learn_every=0)
    with (
        ScriptedModel(lambda asked: f"Reply to: {asked.last}") as model,
        Memory("agent", server.url) as memory,
    ):
        companion = Companion(memory, policy)
        server.mood = mood
        with in_time(len(says), seconds):
            for said in says:
                reply = await agent(model, middleware=[remembering(companion)]).ask(said)
                assert reply.body == f"Reply to: {said}"
        assert companion.counts.longest < seconds + LATE
        assert companion.counts.recalls_failed > 0
        assert companion.counts.waiting > 0
        server.recover()
        assert companion.finish(60) == 0
        assert {*says, *(f"Reply to: {said}" for said in says)} <= set(contents(memory))


async def test_a_full_disk_is_not_in_the_way(processes: Processes) -> None:
    processes.fill_the_disk(FULL)


FULL = """
from ag2 import Agent
from ag2.config import OpenAIConfig
from examples.autogen.scripted_model import ScriptedModel
from holdfast.integrations.ag2 import remembering
from holdfast.integrations.companion import Companion
here = Companion(memory, policy)
async def talk(url):
    global replies
    config = OpenAIConfig(model="s", api_key="none", base_url=url)
    for said in says:
        reply = await Agent("a", config=config, middleware=[remembering(here)]).ask(said)
        replies += reply.body == "ok"
with ScriptedModel(["ok"]) as model, full_disk():
    asyncio.run(talk(model.url))
    waited = here.counts.waiting == 8 and here.counts.writes_failed > 0
"""


LEARN = f"""
import asyncio, os, signal
from ag2 import Agent
from ag2.config import OpenAIConfig
from examples.autogen.scripted_model import ScriptedModel, call
from holdfast import Memory
from holdfast.integrations.ag2 import memory_tools, remembering
async def main():
    with ScriptedModel([call("remember", content={FACT!r}), "Noted."]) as model:
        config = OpenAIConfig(model="s", api_key="none", base_url=model.url)
        memory = Memory("agent", os.environ["STORE"])
        agent = Agent("a", config=config, tools=memory_tools(memory),
                      middleware=[remembering(memory)])
        await agent.ask("I am allergic to peanuts, and we use PostgreSQL.")
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
ANSWER = (
    LEARN.partition("async def main")[0]
    + """
async def main():
    with ScriptedModel(["I know."]) as model:
        config = OpenAIConfig(model="s", api_key="none", base_url=model.url)
        memory = Memory("agent", os.environ["STORE"])
        for question in ("Which database is the main store?", "Am I allergic to peanuts?"):
            await Agent("a", config=config, middleware=[remembering(memory)]).ask(question)
            print(model.asked[-1].system)
asyncio.run(main())
"""
)


async def test_a_new_process_answers_from_what_a_killed_one_learned(processes: Processes) -> None:
    processes.run(LEARN, killed=True)
    said = processes.run(ANSWER)
    assert FACT in said
    assert "allergic to peanuts" in said
