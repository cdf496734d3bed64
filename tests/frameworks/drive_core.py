"""AutoGen 0.4+: the memory protocol, agents and teams; with the real packages."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import openai
import pytest
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.messages import MemoryQueryEvent
from autogen_agentchat.teams import RoundRobinGroupChat, SelectorGroupChat, Swarm
from autogen_core import CancellationToken, Image
from autogen_core.memory import Memory as Protocol
from autogen_core.memory import MemoryContent, MemoryMimeType
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    UnboundedChatCompletionContext,
)
from autogen_core.models import AssistantMessage, SystemMessage, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.models.replay import ReplayChatCompletionClient
from PIL import Image as Picture

from examples.autogen.scripted_model import Asked, Reply, ScriptedModel, call
from holdfast import HoldfastError, Invalid, Memory, Source
from holdfast.integrations.autogen_agentchat import (
    RememberingAgent,
    load_team,
    memory_tools,
    save_team,
)
from holdfast.integrations.autogen_core import AutoGenMemory
from holdfast.integrations.companion import Companion
from holdfast.integrations.turns import TurnPolicy
from tests.frameworks.conftest import Processes
from tests.frameworks.trouble import LATE, MOODS, Troubled, in_time

BLOCK = "<memories"
FACT = "The main store is PostgreSQL 18, not MongoDB"
QUESTION = "which database is the main store?"
pytestmark = pytest.mark.asyncio


@pytest.fixture
def ours(memory: Memory) -> AutoGenMemory:
    return AutoGenMemory(memory=memory)


def client(model: ScriptedModel, **info: Any) -> OpenAIChatCompletionClient:
    known = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": "unknown",
        "structured_output": False,
        "multiple_system_messages": True,
        **info,
    }
    return OpenAIChatCompletionClient(
        model="scripted", api_key="none", base_url=model.url, model_info=known
    )


def text(content: str, **metadata: Any) -> MemoryContent:
    return MemoryContent(content=content, mime_type=MemoryMimeType.TEXT, metadata=metadata or None)


def contents(memory: Memory) -> list[str]:
    return [record.content for record in memory.list(limit=1000)]


async def found(memory: AutoGenMemory, query: Any, **how: Any) -> list[MemoryContent]:
    return list((await memory.query(query, **how)).results)


# --- what upstream's own tests pin ---


async def test_a_content_is_added_and_found_with_its_score(ours: AutoGenMemory) -> None:
    await ours.add(text("Paris is known for the Eiffel Tower and amazing cuisine."))
    await ours.add(text("The most important thing about tea is its taste."))
    (first, *_) = await found(ours, "Tell me about Paris and its cuisine")
    assert "Eiffel" in str(first.content)
    assert isinstance(first.metadata["score"], float)
    assert first.mime_type == "text/plain"


async def test_metadata_comes_back_with_its_types(ours: AutoGenMemory) -> None:
    given = {"category": "test", "priority": 1, "weight": 0.5, "verified": True, "none": None}
    await ours.add(text("This is a fact with metadata about testing", **given))
    (one,) = await found(ours, "a fact about testing")
    assert {key: one.metadata[key] for key in given} == given
    assert [type(one.metadata[key]) for key in given] == [type(value) for value in given.values()]


async def test_metadata_is_not_searched(ours: AutoGenMemory) -> None:
    await ours.add(text("Tea is green", topic="zebra"))
    assert await found(ours, "zebra") == []


async def test_json_is_a_dict_again(ours: AutoGenMemory) -> None:
    given = {"name": "Ann", "likes": ["green tea", "rain"]}
    await ours.add(MemoryContent(content=given, mime_type=MemoryMimeType.JSON))
    (one,) = await found(ours, "what does Ann like: green tea?")
    assert one.content == given
    assert one.mime_type == "application/json"


async def test_markdown_stays_markdown(ours: AutoGenMemory) -> None:
    await ours.add(
        MemoryContent(content="# Plan\n\n- buy *green tea*", mime_type=MemoryMimeType.MARKDOWN)
    )
    (one,) = await found(ours, "green tea plan")
    assert (one.content, one.mime_type) == ("# Plan\n\n- buy *green tea*", "text/markdown")


@pytest.mark.parametrize("query", ["", "   ", "\n"])
async def test_a_blank_query_finds_nothing(ours: AutoGenMemory, query: str) -> None:
    await ours.add(text("Tea is green"))
    assert await found(ours, query) == []


async def test_a_query_of_another_type_is_refused(ours: AutoGenMemory) -> None:
    with pytest.raises(TypeError):
        await ours.query({"query": "tea"})


async def test_a_content_can_be_the_query(ours: AutoGenMemory) -> None:
    await ours.add(text("Tea is green in this house"))
    assert len(await found(ours, text("is the tea green?"))) == 1


async def test_binary_is_refused_unless_words_come_with_it(ours: AutoGenMemory) -> None:
    picture = Image(Picture.new("RGB", (2, 2)))
    for content, mime in ((b"\x00\x01", MemoryMimeType.BINARY), (picture, MemoryMimeType.IMAGE)):
        with pytest.raises(ValueError, match="Unsupported content type"):
            await ours.add(MemoryContent(content=content, mime_type=mime))
    with pytest.raises(ValueError, match="JSON content must be a dict"):
        await ours.add(MemoryContent(content="{}", mime_type=MemoryMimeType.JSON))
    worded = {"text": "A photograph of the office cat Miso"}
    await ours.add(MemoryContent(content=picture, mime_type=MemoryMimeType.IMAGE, metadata=worded))
    (one,) = await found(ours, "the office cat")
    assert one.content == worded["text"]


@pytest.fixture
def meaning(url: str) -> Iterator[AutoGenMemory]:
    """With the default embedder, which knows what words mean and takes its time for it."""
    with Memory("agent", url) as memory:
        yield AutoGenMemory(memory=memory)


async def test_what_is_added_is_found_at_once_by_its_meaning(meaning: AutoGenMemory) -> None:
    await meaning.add(text("I love cherries, plums and ripe mangos."))
    for query in ("which fruits do I like?", text("which fruits do I like?")):
        (one,) = await found(meaning, query)
        assert "cherries" in str(one.content)
    assert await found(meaning, "the tax law of Norway") == []
    context = BufferedChatCompletionContext(buffer_size=5)
    await context.add_message(UserMessage(content="Which fruits do I like?", source="user"))
    await meaning.add(text("Bananas I like as well, and pears."))
    assert len((await meaning.update_context(context)).memories.results) == 2


async def test_what_a_tool_remembers_another_finds_at_once(meaning: AutoGenMemory) -> None:
    remember, recall, *_ = memory_tools(meaning, "assistant")
    await remember.run_json({"content": "I love cherries and plums."}, CancellationToken())
    said = await recall.run_json({"query": "which fruits do I like?"}, CancellationToken())
    assert "I love cherries and plums." in said


async def test_json_and_markdown_are_found_by_meaning(meaning: AutoGenMemory) -> None:
    given = {"dish": "tomato soup", "how": "cook for twenty minutes"}
    await meaning.add(MemoryContent(content=given, mime_type=MemoryMimeType.JSON))
    page = "# Trains\n\n- *the night train to Lisbon* leaves at ten\n"
    await meaning.add(MemoryContent(content=page, mime_type=MemoryMimeType.MARKDOWN))
    asked = MemoryContent(content={"question": "how is soup made?"}, mime_type="application/json")
    for query in ("how long does the soup have to boil?", asked):
        assert (await found(meaning, query))[0].content == given
    assert (await found(meaning, "when does the railway to Portugal go?"))[0].content == page


async def test_a_threshold_is_about_similarity_alone(meaning: AutoGenMemory) -> None:
    for fruit in ("My favourite fruit are apples", "I like cherries too", "Plums I like as well"):
        await meaning.add(text(fruit))
    assert len(await found(meaning, "what fruits do I like?")) == 3
    assert len(await found(meaning, "what fruits do I like?", top_k=2)) == 2
    for how in ({"score_threshold": 0.8}, {"distance_threshold": 0.2}):
        near = await found(meaning, "my favourite fruit, apples", **how)
        assert "apples" in str(near[0].content)
        assert all(one.metadata["score"] >= 0.8 for one in near)
        assert await found(meaning, "how do I bake a cake?", **how) == []


async def test_the_newest_can_be_asked_for(ours: AutoGenMemory) -> None:
    for number in range(7):
        await ours.add(text(f"Shop {number} sells green tea"))
    newest = await found(ours, "fast sports cars", sequential=True)
    assert [str(one.content)[5] for one in newest] == ["6", "5", "4", "3", "2"]
    assert len(await found(ours, "fast sports cars", sequential=True, top_k=2)) == 2
    assert await found(ours, "fast sports cars", sequential=False) == []


async def test_reset_is_clear(ours: AutoGenMemory) -> None:
    await ours.add(text("Tea is green in this house"))
    await ours.reset()
    assert await found(ours, "is the tea green?") == []
    await ours.add(text("Tea is black in this house"))
    assert len(await found(ours, "is the tea black?")) == 1


async def test_limits_and_thresholds_hold(ours: AutoGenMemory) -> None:
    for number in range(8):
        await ours.add(text(f"Shop {number} sells green tea for {number} euros"))
    assert len(await found(ours, "which shop sells green tea?", limit=2)) == 2
    assert len(await found(ours, "which shop sells green tea?", k=3)) == 3
    strict = await found(ours, "something about rockets and green", score_threshold=0.95)
    assert strict == []
    for one in await found(ours, "shop 3 green tea", score_threshold=0.5):
        assert one.metadata["score"] >= 0.5


async def test_results_are_in_the_order_of_relevance(ours: AutoGenMemory) -> None:
    for said in ("Bo likes rain", "The green tea is in the kitchen", "Green is a colour"):
        await ours.add(text(said))
    best = await found(ours, "where is the green tea?")
    assert best[0].content == "The green tea is in the kitchen"
    scores = [one.metadata["score"] for one in best]
    assert scores == sorted(scores, reverse=True)


async def test_clear_forgets_all_and_close_keeps_all(url: str) -> None:
    memory = AutoGenMemory("agent", url, embedder="hashing")
    await memory.add(text("Tea is green in this house"))
    memory.memory.set("state", 1)
    await memory.close()
    memory = AutoGenMemory("agent", url, embedder="hashing")
    assert len(await found(memory, "is the tea green?")) == 1
    await memory.clear()
    assert await found(memory, "is the tea green?") == []
    assert memory.memory.get("state") == 1
    await memory.close()


async def test_update_context_adds_one_system_message(ours: AutoGenMemory) -> None:
    await ours.add(text("Jupiter is the largest planet of our solar system"))
    context = BufferedChatCompletionContext(buffer_size=5)
    await context.add_message(UserMessage(content="Tell me about Jupiter, please", source="user"))
    result = await ours.update_context(context)
    assert ours.counts.recalls == 1  # for the block and for what is told of it
    (one,) = result.memories.results
    assert "Jupiter" in str(one.content)
    assert isinstance(one.metadata["score"], float)
    system, question = await context.get_messages()
    assert isinstance(system, SystemMessage)
    assert "largest planet" in system.content
    assert isinstance(question, UserMessage)


async def test_an_empty_context_and_an_empty_memory_are_left_alone(ours: AutoGenMemory) -> None:
    context = UnboundedChatCompletionContext()
    assert (await ours.update_context(context)).memories.results == []
    await context.add_message(UserMessage(content="what do you know?", source="user"))
    assert (await ours.update_context(context)).memories.results == []
    assert len(await context.get_messages()) == 1


async def test_a_component_goes_out_and_comes_back_without_secrets(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = TurnPolicy(seconds=0.5, budget=300)
    memory = AutoGenMemory("agent", url, embedder="hashing", inject="user", limit=3, policy=policy)
    await memory.add(text("Tea is green in this house"))
    dumped = memory.dump_component()
    assert dumped.provider == "holdfast.integrations.autogen_core.AutoGenMemory"
    assert dumped.component_type == "memory"
    monkeypatch.setenv("AUTOGEN_ALLOWED_PROVIDER_NAMESPACES", "holdfast")
    loaded = Protocol.load_component(json.loads(dumped.model_dump_json()))
    assert isinstance(loaded, AutoGenMemory)
    assert loaded.dump_component() == dumped
    assert len(await found(loaded, "is the tea green?")) == 1


@pytest.mark.parametrize(
    ("url", "written"),
    [
        ("http://user:secret@127.0.0.1:1", "http://127.0.0.1:1"),
        ("http://:hf_secret@127.0.0.1:1/base", "http://127.0.0.1:1/base"),
        ("http://127.0.0.1:1/?api_key=secret", "http://127.0.0.1:1/"),
        ("http://u:se@cret@127.0.0.1:1?a=1&Pass%77ord=secret", "http://127.0.0.1:1?a=1"),
    ],
)
async def test_what_is_secret_is_not_written_down(url: str, written: str) -> None:
    with contextlib.closing(Memory("agent", "http://127.0.0.1:1", api_key="hf_secret")) as memory:
        policy = TurnPolicy(recall=False)
        dumped = AutoGenMemory(memory=memory, url=url, policy=policy).dump_component()
    assert "secret" not in dumped.model_dump_json()
    assert dumped.config["url"] == written


async def test_how_it_remembers_is_written_down_whole(url: str) -> None:
    policy = TurnPolicy(2.0, 300, False, False, False, 3, 9.0, "episodic", 60.0)
    memory = AutoGenMemory("agent", url, embedder="hashing", policy=policy, also=["team"])
    loaded = AutoGenMemory.load_component(memory.dump_component())
    assert loaded.companion.policy == policy
    assert loaded.companion.scopes == ("agent", "team")
    for one in (memory, loaded):
        await one.close()


async def test_a_store_that_was_not_named_is_not_written_down_as_another(memory: Memory) -> None:
    with pytest.raises(Invalid, match="Give its url beside it"):
        AutoGenMemory(memory=memory).dump_component()


# --- agents ---


async def test_memory_takes_the_place_of_the_last_one(ours: AutoGenMemory) -> None:
    await ours.add(text(FACT))
    await ours.add(text("The office cat is called Miso"))
    with ScriptedModel(["I see."]) as model:
        agent = AssistantAgent(
            "assistant", client(model), memory=[ours], system_message="Be brief."
        )
        first = await agent.run(task=QUESTION)
        await agent.run(task="what is the office cat called, again?")
        one, two = model.asked
    assert FACT in one.system
    assert "Miso" in two.system
    assert FACT not in two.system
    assert any(isinstance(message, MemoryQueryEvent) for message in first.messages)


@pytest.mark.parametrize("inject", ["system", "user", "tool"])
async def test_a_hundred_turns_pile_nothing_up(memory: Memory, inject: Any) -> None:
    memory.remember(FACT, kind="decision")
    before = contents(memory)
    ours = AutoGenMemory(memory=memory, inject=inject)
    with ScriptedModel([f"As you said: {FACT}."]) as model:
        inner = AssistantAgent(
            "assistant", client(model), memory=[ours], system_message="Be brief."
        )
        agent = RememberingAgent(inner, ours)
        for _ in range(100):
            await agent.run(task=QUESTION)
        for number, asked in enumerate(model.asked):
            assert asked.text.count(BLOCK) == 1
            extra = {"system": 1, "user": 1, "tool": 2}[inject]
            assert len(asked.messages) == 2 * number + 2 + extra
        state = json.dumps(await inner.save_state())
        assert state.count(BLOCK) <= 1
    assert ours.companion.finish() == 0
    assert contents(memory) == before


async def test_what_is_said_is_not_recalled_as_its_own_answer(ours: AutoGenMemory) -> None:
    await ours.add(text(FACT))
    said = f"I work on the billing service now. {QUESTION}"
    with ScriptedModel(["PostgreSQL."]) as model:
        inner = AssistantAgent("assistant", client(model), memory=[ours])
        await RememberingAgent(inner, ours).run(task=said)
        assert FACT in model.asked[0].text
        assert model.asked[0].text.count("billing service") == 1
    assert ours.companion.finish() == 0
    assert said in contents(ours.memory)


async def test_what_was_said_is_kept_though_the_model_fails(ours: AutoGenMemory) -> None:
    said = f"I moved to Lisbon last week. {QUESTION}"

    def fails(_: Asked) -> Reply:
        raise ConnectionError("no model")

    with ScriptedModel(fails) as model:
        inner = AssistantAgent("assistant", client(model), memory=[ours])
        with pytest.raises(openai.OpenAIError):
            await RememberingAgent(inner, ours).run(task=said)
    assert ours.companion.finish() == 0
    assert contents(ours.memory) == [said]


async def test_a_model_with_one_system_message_is_served_by_another_kind(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")
    with ScriptedModel(["I see."]) as model:
        one = client(model, multiple_system_messages=False)
        for inject in ("user", "tool"):
            ours = AutoGenMemory(memory=memory, inject=inject)
            agent = AssistantAgent("assistant", one, memory=[ours], system_message="Be brief.")
            await agent.run(task="Hello, assistant, good to meet you.")
            await agent.run(task=QUESTION)
            assert FACT in model.asked[-1].text
            assert model.asked[-1].system == "Be brief."


async def test_a_short_question_leans_on_the_turns_before(ours: AutoGenMemory) -> None:
    await ours.add(text("The main store is PostgreSQL because of its transactions"))
    context = UnboundedChatCompletionContext()
    await context.add_message(UserMessage(content="Our main store is PostgreSQL", source="user"))
    await context.add_message(AssistantMessage(content="Yes.", source="assistant"))
    await context.add_message(UserMessage(content="But why?", source="user"))
    result = await ours.update_context(context)
    assert "transactions" in str(result.memories.results[0].content)


async def test_tools_are_called_and_run(memory: Memory) -> None:
    script: list[Reply] = [call("remember", content=FACT, kind="decision"), "Noted."]
    with ScriptedModel(script) as model:
        agent = AssistantAgent(
            "assistant",
            client(model),
            tools=memory_tools(memory, "assistant"),
            reflect_on_tool_use=True,
        )
        await agent.run(task="Use PostgreSQL; remember that.")
        assert set(model.asked[0].tools) == {"remember", "recall", "forget", "update"}
        assert "Remembered (id" in model.asked[1].text
    (record,) = memory.list()
    assert (record.content, record.kind) == (FACT, "decision")
    assert record.source == Source("assistant", "agent")


async def test_streaming_works_the_same(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")
    ours = AutoGenMemory(memory=memory)
    with ScriptedModel(["A streamed answer, piece by piece."]) as model:
        inner = AssistantAgent("assistant", client(model), memory=[ours], model_client_stream=True)
        agent = RememberingAgent(inner, ours)
        async for _ in agent.run_stream(task=f"I like it, but {QUESTION}"):
            pass
        assert FACT in model.asked[0].text
    assert "A streamed answer, piece by piece." in contents(memory)
    assert ours.counts.skipped == 1  # the question; and nothing was heard twice


FINDINGS = {
    "Planner": "The launch of the site is planned for the third of May.",
    "Researcher": "Competitors charge nine euros for the basic plan.",
    "Writer": "The handbook uses British spelling in all chapters.",
}


def by_name(asked: Asked) -> Reply:
    name = next(name for name in FINDINGS if f"You are {name}." in asked.system)
    if asked.tools:  # only in a swarm: the hand-off
        return call(asked.tools[0])
    return FINDINGS[name]


def group(model: ScriptedModel, memory: Memory, **how: Any) -> list[Any]:
    made = []
    for name in FINDINGS:
        ours = AutoGenMemory(memory=memory)
        more = {"handoffs": ["Researcher"]} if how.get("swarm") and name == "Planner" else {}
        inner = AssistantAgent(
            name,
            client(model),
            memory=[ours],
            system_message=f"You are {name}.",
            description=name,
            **more,
        )
        made.append(RememberingAgent(inner, ours))
    return made


@pytest.mark.parametrize("kind", ["round robin", "selector", "swarm"])
async def test_teams_remember_who_said_what(memory: Memory, kind: str) -> None:
    with ScriptedModel(by_name, speakers=["Planner", "Researcher", "Writer"]) as model:
        agents = group(model, memory, swarm=kind == "swarm")
        end = MaxMessageTermination(4)
        team: Any
        if kind == "round robin":
            team = RoundRobinGroupChat(agents, termination_condition=end)
        elif kind == "selector":
            prompt = "Select the next role from {participants}. {history} {roles}"
            team = SelectorGroupChat(
                agents, client(model), termination_condition=end, selector_prompt=prompt
            )
        else:
            team = Swarm(agents, termination_condition=end)
        await team.run(task="Please tell what you found, all of you.")
        for agent in agents:
            assert agent.companion.finish() == 0
    told = {it.content: it.source.writer for it in memory.list(limit=100) if it.source}
    assert told["Please tell what you found, all of you."] == "user"
    spoken = {name for name, finding in FINDINGS.items() if told.get(finding) == name}
    assert spoken == ({"Researcher"} if kind == "swarm" else set(FINDINGS))


async def test_a_team_goes_on_after_a_restart(memory: Memory) -> None:
    with ScriptedModel(by_name) as model:
        end = MaxMessageTermination(2)
        team = RoundRobinGroupChat(group(model, memory), termination_condition=end)
        assert not await load_team(team, memory)
        await team.run(task="Please tell what you found.")
        await save_team(team, memory)
        await save_team(team, memory)  # again: in place of the first
        other = RoundRobinGroupChat(group(model, memory), termination_condition=end)
        assert await load_team(other, memory)
        assert await other.save_state() == await team.save_state()
        result = await other.run()
        order = list(dict.fromkeys(message.source for message in result.messages))
        assert order == ["Researcher", "Writer"]  # those who are next
    assert len(memory.keys("team/")) == 2


async def test_a_team_with_its_memory_goes_out_and_comes_back(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGEN_ALLOWED_PROVIDER_NAMESPACES", "holdfast")
    ours = AutoGenMemory("agent", url, embedder="hashing")
    await ours.add(text(FACT))
    says = ReplayChatCompletionClient([f"As you said: {FACT}.", "I moved the billing to Rust."])
    inner = AssistantAgent("assistant", says, memory=[ours])
    end = MaxMessageTermination(2)
    team = RoundRobinGroupChat([RememberingAgent(inner, ours)], termination_condition=end)
    dumped = json.loads(team.dump_component().model_dump_json())
    again = RoundRobinGroupChat.load_component(dumped)
    await again.run(task=QUESTION)
    (loaded,) = again._participants
    assert isinstance(loaded, RememberingAgent)
    assert loaded.companion.finish() == 0
    assert contents(ours.memory) == [FACT]  # one memory for both: it knows what it was shown
    await again.run(task="What did you do today, my friend?")
    assert loaded.companion.finish() == 0
    assert "I moved the billing to Rust." in contents(ours.memory)
    await ours.close()


async def test_a_companion_alone_is_not_written_down(memory: Memory) -> None:
    inner = AssistantAgent("assistant", ReplayChatCompletionClient(["ok"]))
    with pytest.raises(Invalid, match="Give an AutoGenMemory"):
        RememberingAgent(inner, Companion(memory)).dump_component()


# --- trouble ---


@pytest.mark.parametrize("mood", MOODS)
async def test_a_server_in_trouble_is_not_in_the_way(mood: str, server: Troubled) -> None:
    seconds, says = 0.4, [f"Item {n} costs {n * 7} euros in shop {n}." for n in range(5)]
    policy = TurnPolicy(seconds=seconds, learn_every=0)
    with ScriptedModel(lambda asked: f"Reply to: {asked.last}") as model:
        ours = AutoGenMemory("agent", server.url, policy=policy)
        inner = AssistantAgent("assistant", client(model), memory=[ours])
        agent = RememberingAgent(inner, ours)
        server.mood = mood
        with in_time(len(says), seconds):
            for said in says:
                result = await agent.run(task=said)
                assert result.messages[-1].to_text() == f"Reply to: {said}"
        assert ours.counts.longest < seconds + LATE
        assert ours.counts.recalls_failed > 0
        assert ours.counts.waiting > 0
        with pytest.raises(HoldfastError):
            await ours.query(QUESTION)  # who asks for it is told
        server.recover()
        assert ours.companion.finish(60) == 0
        assert {*says, *(f"Reply to: {said}" for said in says)} <= set(contents(ours.memory))
        assert ours.counts.lost == 0


async def test_what_is_added_while_away_is_there_later(server: Troubled) -> None:
    ours = AutoGenMemory("agent", server.url, policy=TurnPolicy(seconds=0.2))
    server.mood = "slow"
    began = time.monotonic()
    await ours.add(text(FACT))
    assert time.monotonic() - began < 15  # half a minute is how slow it is
    server.recover()
    await ours.close()
    with Memory("agent", server.url) as memory:
        assert contents(memory) == [FACT]


async def test_a_full_disk_is_not_in_the_way(processes: Processes) -> None:
    processes.fill_the_disk(FULL)


FULL = """
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.replay import ReplayChatCompletionClient
from holdfast.integrations.autogen_core import AutoGenMemory
from holdfast.integrations.autogen_agentchat import RememberingAgent
ours = AutoGenMemory(memory=memory, policy=policy)
here = ours.companion
inner = AssistantAgent("a", ReplayChatCompletionClient(["ok"] * 8), memory=[ours])
agent = RememberingAgent(inner, ours)
async def talk():
    global replies
    for said in says:
        replies += (await agent.run(task=said)).messages[-1].to_text() == "ok"
with full_disk():
    asyncio.run(talk())
    waited = here.counts.waiting == 8 and here.counts.writes_failed > 0
"""


LEARN = f"""
import asyncio, os, signal
from autogen_agentchat.agents import AssistantAgent
from autogen_ext.models.openai import OpenAIChatCompletionClient
from examples.autogen.scripted_model import ScriptedModel, call
from holdfast.integrations.autogen_core import AutoGenMemory
from holdfast.integrations.autogen_agentchat import RememberingAgent, memory_tools
INFO = dict(vision=False, function_calling=True, json_output=False, family="unknown",
            structured_output=False, multiple_system_messages=True)
async def main():
    with ScriptedModel([call("remember", content={FACT!r}), "Noted."]) as model:
        client = OpenAIChatCompletionClient(model="scripted", api_key="none", base_url=model.url,
                                            model_info=INFO)
        ours = AutoGenMemory("agent", os.environ["STORE"])
        agent = RememberingAgent(AssistantAgent("assistant", client, memory=[ours],
                                 tools=memory_tools(ours, "assistant")), ours)
        await agent.run(task="I am allergic to peanuts, and we use PostgreSQL.")
        os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
ANSWER = (
    LEARN.partition("async def main")[0]
    + """
async def main():
    with ScriptedModel(["I know."]) as model:
        client = OpenAIChatCompletionClient(model="scripted", api_key="none", base_url=model.url,
                                            model_info=INFO)
        for question in ("Which database is the main store?", "Am I allergic to peanuts?"):
            ours = AutoGenMemory("agent", os.environ["STORE"])
            agent = AssistantAgent("assistant", client, memory=[ours])
            await agent.run(task=question)
            print(model.asked[-1].system)
asyncio.run(main())
"""
)


async def test_a_new_process_answers_from_what_a_killed_one_learned(processes: Processes) -> None:
    processes.run(LEARN, killed=True)
    said = processes.run(ANSWER)
    assert FACT in said
    assert "allergic to peanuts" in said


async def test_every_context_there_is_will_do(ours: AutoGenMemory, tmp_path: Path) -> None:
    from autogen_core.model_context import HeadAndTailChatCompletionContext

    await ours.add(text(FACT))
    made: Sequence[ChatCompletionContext] = (
        UnboundedChatCompletionContext(),
        BufferedChatCompletionContext(buffer_size=3),
        HeadAndTailChatCompletionContext(head_size=1, tail_size=3),
    )
    for context in made:
        for _ in range(4):
            await context.add_message(UserMessage(content=QUESTION, source="user"))
            await ours.update_context(context)
        shown = [str(message.content) for message in await context.get_messages()]
        assert sum(BLOCK in one for one in shown) == 1
