"""Microsoft Agent Framework: recall and keep around each run, and sessions that survive."""

import asyncio
import time
from typing import Any

import pytest
from agent_framework import Agent, AgentSession, InMemoryHistoryProvider, Message
from agent_framework.exceptions import AgentFrameworkException
from agent_framework.openai import OpenAIChatClient, OpenAIChatCompletionClient

from examples.autogen.scripted_model import Asked, Reply, ScriptedModel, call
from holdfast import Memory, Source
from holdfast.integrations.agent_framework import HoldfastContextProvider, HoldfastHistoryProvider
from holdfast.integrations.turns import TurnPolicy
from tests.frameworks.conftest import Processes
from tests.frameworks.trouble import LATE, MOODS, Troubled, in_time

BLOCK = "<memories"
FACT = "The main store is PostgreSQL 18, not MongoDB"
QUESTION = "which database is the main store?"
CLIENTS = {"completions": OpenAIChatCompletionClient, "responses": OpenAIChatClient}
pytestmark = pytest.mark.asyncio


def agent(model: ScriptedModel, *providers: Any, kind: str = "completions", **how: Any) -> Agent:
    client = CLIENTS[kind](model="scripted", api_key="none", base_url=model.url)
    return Agent(client, "Be brief.", name="assistant", context_providers=list(providers), **how)


def contents(memory: Memory) -> list[str]:
    return [record.content for record in memory.list(limit=1000)]


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("inject", ["instructions", "user"])
async def test_it_recalls_before_and_keeps_after(memory: Memory, kind: str, inject: Any) -> None:
    memory.remember(FACT, kind="decision", source="Ann")
    provider = HoldfastContextProvider(memory, inject=inject)
    with ScriptedModel(["We use the driver called psycopg."]) as model:
        one = agent(model, provider, kind=kind)
        answer = await one.run("I wonder about drivers for our main store PostgreSQL")
        assert answer.text == "We use the driver called psycopg."
        (asked,) = model.asked
        assert FACT in (asked.system if inject == "instructions" else asked.text)
        assert "Ann" in asked.text
        assert asked.system.startswith("Be brief.")
    assert await provider.finish() == 0
    told = {it.content: it.source for it in memory.list(kinds=["interaction"])}
    assert told["We use the driver called psycopg."] == Source("assistant", "agent")
    said = told["I wonder about drivers for our main store PostgreSQL"]
    assert said is not None
    assert said.role == "user"


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("inject", ["instructions", "user"])
async def test_a_hundred_turns_pile_nothing_up(memory: Memory, kind: str, inject: Any) -> None:
    memory.remember(FACT, kind="decision")
    before = contents(memory)
    provider = HoldfastContextProvider(memory, inject=inject)
    sizes = []
    for providers in ([provider], []):  # with a memory, and without
        with ScriptedModel([f"As you said: {FACT}."]) as model:
            one = agent(model, InMemoryHistoryProvider(), *providers, kind=kind)
            session = AgentSession()
            for _ in range(100):
                await one.run(QUESTION, session=session)
            sizes.append([len(asked.messages) for asked in model.asked])
            assert all(asked.text.count(BLOCK) == len(providers) for asked in model.asked)
            assert BLOCK not in str(session.to_dict())
    assert len(sizes[0]) == 100
    more = 1 if inject == "user" else 0  # the block, a message of its own
    assert sizes[0] == [size + more for size in sizes[1]]
    assert await provider.finish() == 0
    assert contents(memory) == before


async def test_reading_and_writing_have_scopes_of_their_own(url: str) -> None:
    with (
        Memory("team", url, embedder="hashing") as team,
        Memory("own", url, embedder="hashing") as own,
    ):
        team.remember(FACT)
        own.remember("My own main store note is secret")
        with ScriptedModel(["I keep that in mind for you."]) as model:
            reads = HoldfastContextProvider(own, read_scopes=["team"])
            await agent(model, reads).run(f"I need to know: {QUESTION}")
            blind = HoldfastContextProvider(own, "blind", read_scopes=[], with_tools=True)
            await agent(model, blind).run(f"Tell me, {QUESTION}")
            first, second = model.asked
        assert FACT in first.system
        assert "secret" not in first.system
        assert BLOCK not in second.text
        assert set(second.tools) == {"remember", "forget", "update"}
        assert "I keep that in mind for you." in contents(own)
        assert contents(team) == [FACT]


async def test_tools_are_called_and_run(memory: Memory) -> None:
    script: list[Reply] = [call("remember", content=FACT, kind="decision"), "Noted."]
    provider = HoldfastContextProvider(memory, with_tools=True)
    for kind in CLIENTS:
        with ScriptedModel(list(script)) as model:
            await agent(model, provider, kind=kind).run("Use PostgreSQL; remember that.")
            assert set(model.asked[0].tools) == {"remember", "recall", "forget", "update"}
            assert "Remembered (id" in model.asked[1].text
    (record,) = memory.list(kinds=["decision"])
    assert record.source == Source("assistant", "agent")


@pytest.mark.parametrize("kind", CLIENTS)
async def test_streaming_works_the_same(memory: Memory, kind: str) -> None:
    memory.remember(FACT, kind="decision")
    provider = HoldfastContextProvider(memory)
    with ScriptedModel(["A streamed answer, piece by piece."]) as model:
        stream = agent(model, provider, kind=kind).run(f"I ask: {QUESTION}", stream=True)
        pieces = [update.text async for update in stream]
        answer = await stream.get_final_response()
        assert len(pieces) > 3
        assert answer.text == "A streamed answer, piece by piece."
        assert FACT in model.asked[0].system
    assert "A streamed answer, piece by piece." in contents(memory)


async def test_what_was_said_is_kept_though_the_model_fails(memory: Memory) -> None:
    def fails(_: Asked) -> Reply:
        raise ConnectionError("no model")

    provider = HoldfastContextProvider(memory)
    with ScriptedModel(fails) as model, pytest.raises(AgentFrameworkException):
        await agent(model, provider).run("I moved to Lisbon in May.")
    assert await provider.finish() == 0
    assert "I moved to Lisbon in May." in contents(memory)


async def test_a_session_survives(memory: Memory) -> None:
    with ScriptedModel(["Nice to meet you, Ines.", "You are Ines."]) as model:
        for said in ("My name is Ines", "What is my name?"):
            history = HoldfastHistoryProvider(memory)  # as new as after a restart
            one = agent(model, history)
            await one.run(said, session=AgentSession(session_id="s1"))
        texts = [message["text"] for message in model.asked[1].messages]
    assert texts == ["Be brief.", "My name is Ines", "Nice to meet you, Ines.", "What is my name?"]
    held = await history.get_messages("s1")
    assert [message.text for message in held][-1] == "You are Ines."
    assert await history.get_messages("s2") == []
    await history.clear("s1")
    assert await history.get_messages("s1") == []


async def test_tool_calls_are_in_a_sessions_history(memory: Memory) -> None:
    script: list[Reply] = [call("remember", content=FACT), "Noted.", "Again."]
    provider = HoldfastContextProvider(memory, with_tools=True)
    with ScriptedModel(script) as model:
        session = AgentSession(session_id="s1")
        await agent(model, HoldfastHistoryProvider(memory), provider).run("Do it", session=session)
        await agent(model, HoldfastHistoryProvider(memory)).run("And more", session=session)
        roles = [message["role"] for message in model.asked[2].messages]
    assert roles == ["system", "user", "assistant", "tool", "assistant", "user"]


async def test_history_and_memory_together_store_no_memories_in_the_history(
    memory: Memory,
) -> None:
    memory.remember(FACT)
    history, provider = HoldfastHistoryProvider(memory), HoldfastContextProvider(memory)
    with ScriptedModel(["It is PostgreSQL, as I said."]) as model:
        one = agent(model, history, provider)
        for _ in range(3):
            await one.run(QUESTION, session=AgentSession(session_id="s"))
    assert BLOCK not in str([it.to_dict() for it in await history.get_messages("s")])


@pytest.mark.parametrize("mood", MOODS)
async def test_a_server_in_trouble_is_not_in_the_way(mood: str, server: Troubled) -> None:
    seconds, says = 0.4, [f"Item {n} costs {n * 7} euros in shop {n}." for n in range(5)]
    policy = TurnPolicy(seconds=seconds, learn_every=0)
    with (
        ScriptedModel(lambda asked: f"Reply to: {asked.last}") as model,
        Memory("agent", server.url) as memory,
    ):
        provider = HoldfastContextProvider(memory, policy=policy)
        history = HoldfastHistoryProvider(memory, policy=policy)
        one = agent(model, provider, history)
        server.mood = mood
        with in_time(len(says), 2 * seconds):  # there are two memories
            for said in says:
                answer = await one.run(said, session=AgentSession(session_id="s"))
                assert answer.text == f"Reply to: {said}"
        for part in (provider, history):
            assert part.counts.longest < seconds + LATE
            assert part.counts.recalls_failed > 0
            assert part.counts.waiting > 0
        server.recover()
        assert await provider.finish(60) == 0
        assert history.companion.finish(60) == 0
        assert {*says, *(f"Reply to: {said}" for said in says)} <= set(contents(memory))
        give_up = time.monotonic() + 60  # a question that was given up may still be on its way
        while len(await history.get_messages("s")) != 2 * len(says):
            assert time.monotonic() < give_up
            await asyncio.sleep(0.1)


async def test_a_full_disk_is_not_in_the_way(processes: Processes) -> None:
    processes.fill_the_disk(FULL)


FULL = """
from agent_framework import Agent
from agent_framework.openai import OpenAIChatCompletionClient
from examples.autogen.scripted_model import ScriptedModel
from holdfast.integrations.agent_framework import HoldfastContextProvider
provider = HoldfastContextProvider(memory, policy=policy)
here = provider.companion
async def talk(url):
    global replies
    client = OpenAIChatCompletionClient(model="s", api_key="none", base_url=url)
    for said in says:
        replies += (await Agent(client, context_providers=[provider]).run(said)).text == "ok"
with ScriptedModel(["ok"]) as model, full_disk():
    asyncio.run(talk(model.url))
    waited = here.counts.waiting == 8 and here.counts.writes_failed > 0
"""


LEARN = f"""
import asyncio, os, signal
from agent_framework import Agent, AgentSession
from agent_framework.openai import OpenAIChatCompletionClient
from examples.autogen.scripted_model import ScriptedModel, call
from holdfast import Memory
from holdfast.integrations.agent_framework import (
    HoldfastContextProvider, HoldfastHistoryProvider)
async def main():
    with ScriptedModel([call("remember", content={FACT!r}), "Noted."]) as model:
        client = OpenAIChatCompletionClient(model="s", api_key="none", base_url=model.url)
        memory = Memory("agent", os.environ["STORE"])
        providers = [HoldfastHistoryProvider(memory),
                     HoldfastContextProvider(memory, with_tools=True)]
        agent = Agent(client, "Be brief.", context_providers=providers)
        await agent.run("I am allergic to peanuts, and we use PostgreSQL.",
                        session=AgentSession(session_id="s1"))
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
ANSWER = (
    LEARN.partition("async def main")[0]
    + """
async def main():
    with ScriptedModel(["I know."]) as model:
        client = OpenAIChatCompletionClient(model="s", api_key="none", base_url=model.url)
        for question in ("Which database is the main store?", "Am I allergic to peanuts?"):
            provider = HoldfastContextProvider(Memory("agent", os.environ["STORE"]))
            await Agent(client, "Be brief.", context_providers=[provider]).run(question)
            print(model.asked[-1].system)
        history = HoldfastHistoryProvider(Memory("agent", os.environ["STORE"]))
        agent = Agent(client, "Be brief.", context_providers=[history])
        await agent.run("Go on.", session=AgentSession(session_id="s1"))
        print("session", [it["role"] for it in model.asked[-1].messages])
asyncio.run(main())
"""
)


async def test_a_new_process_answers_from_what_a_killed_one_learned(processes: Processes) -> None:
    processes.run(LEARN, killed=True)
    said = processes.run(ANSWER)
    assert FACT in said
    assert "allergic to peanuts" in said
    assert "session ['system', 'user', 'assistant', 'tool', 'assistant', 'user']" in said


async def test_what_is_not_said_in_words_is_left_alone(memory: Memory) -> None:
    provider = HoldfastContextProvider(memory)
    with ScriptedModel(["A picture indeed, of a green teapot."]) as model:
        picture = {"type": "uri", "uri": "data:image/png;base64,AA==", "media_type": "image/png"}
        await agent(model, provider).run(Message("user", [picture]))
    assert contents(memory) == ["A picture indeed, of a green teapot."]
