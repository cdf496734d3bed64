"""Classic AutoGen agents that remember; run with the real package, whichever version it is."""

import asyncio
import gc
import logging
import time
import weakref
from pathlib import Path
from typing import Any

import autogen
import pytest
from autogen import ConversableAgent

from examples.autogen.scripted_model import Asked, Reply, ScriptedModel, call
from holdfast import Invalid, Memory, Source
from holdfast.integrations import companion
from holdfast.integrations.autogen import (
    MemoryAgent,
    Teachability,
    TurnPolicy,
    attach,
    attached,
    detach,
    import_teachability,
    memory_functions,
    register_memory_tools,
)
from holdfast.integrations.companion import Companion
from tests.frameworks.conftest import Processes
from tests.frameworks.talking import assistant, chat, contents, finish, user
from tests.frameworks.trouble import LATE, MOODS, Troubled, in_time
from tests.waiting import until

BLOCK = "<memories"
FACT = "The main store is PostgreSQL 18, not MongoDB"


# --- hooks ---


def test_an_agent_is_told_what_it_knows_and_keeps_what_it_hears(memory: Memory) -> None:
    memory.remember(FACT, kind="decision", source="Ann")
    with ScriptedModel(["We go with the PostgreSQL driver called psycopg."]) as model:
        agent = assistant(model)
        with_memory = attach(agent, memory)
        chat(user(), agent, "Our main store needs a driver, and I like async ones")
        assert FACT in model.asked[0].system
        assert "Ann" in model.asked[0].system
        assert model.asked[0].system.startswith("Be brief.\n\n<memories")
    with_memory.detach()
    said = {record.content: record for record in memory.list(kinds=["interaction"])}
    assert said["We go with the PostgreSQL driver called psycopg."].source == Source(
        "assistant", "agent"
    )
    told = said["Our main store needs a driver, and I like async ones"]
    assert told.source == Source("user", "user")


def test_it_recalls_with_what_is_said_now(memory: Memory) -> None:
    memory.remember("The office cat is called Miso", kind="fact")
    memory.remember(FACT, kind="decision")
    with ScriptedModel(["I see."]) as model:
        agent = assistant(model)
        attach(agent, memory)
        chat(user("what is the office cat called?"), agent, "is the main store PostgreSQL?", 2)
        first, second = model.asked
    assert FACT in first.system
    assert "Miso" not in first.system
    assert "Miso" in second.system
    assert FACT not in second.system


def test_the_system_message_is_as_it_was_after_detach(memory: Memory) -> None:
    memory.remember(FACT)
    with ScriptedModel(["I see."]) as model:
        agent = assistant(model)
        attach(agent, memory)
        chat(user(), agent, "which database is the main store?")
        assert BLOCK in agent.system_message
        detach(agent)
        assert agent.system_message == "Be brief."
        assert attached(agent) is None
        chat(user(), agent, "which database is the main store?")
        assert BLOCK not in model.asked[-1].text


def test_a_system_message_that_is_changed_meanwhile_is_kept(memory: Memory) -> None:
    memory.remember(FACT)
    with ScriptedModel(["I see."]) as model:
        agent, one = assistant(model), user()
        attach(agent, memory)
        chat(one, agent, "which database is the main store?")
        agent.update_system_message("Be long.")
        chat(one, agent, "which database is the main store?")
        assert model.asked[-1].system.startswith("Be long.\n\n<memories")
        assert model.asked[-1].system.count(BLOCK) == 1
        detach(agent)
        assert agent.system_message == "Be long."


def test_a_system_message_that_is_made_anew_each_turn_has_one_block(memory: Memory) -> None:
    memory.remember(FACT)
    with ScriptedModel(["I see."]) as model:
        agent, one = assistant(model), user()
        attach(agent, memory)
        for number in range(3):
            made = f"Be brief, for the {number}th time."
            agent.update_system_message(made)  # as AG2's UpdateSystemMessage does
            chat(one, agent, "which database is the main store?", clear_history=False)
            assert model.asked[-1].system.startswith(f"{made}\n\n<memories")
            assert model.asked[-1].system.count(BLOCK) == 1


def test_a_hundred_turns_pile_nothing_up(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")
    before = contents(memory)
    echo = f"As you said: {FACT}."
    with ScriptedModel([echo]) as model:
        agent = assistant(model)
        with_memory = attach(agent, memory)
        asker = user("which database is the main store?")
        chat(asker, agent, "which database is the main store?", turns=100)
        assert len(model.asked) == 100
        for number, asked in enumerate(model.asked):
            roles = [message["role"] for message in asked.messages]
            assert roles.count("system") == 1
            assert len(roles) == 2 * number + 2  # what was said, and the system message
            assert asked.system.count(BLOCK) == 1
            assert all(BLOCK not in it["text"] for it in asked.messages if it["role"] != "system")
        for history in agent.chat_messages.values():
            assert not any(BLOCK in str(message) for message in history)
        assert with_memory.finish() == 0
        assert contents(memory) == before  # nothing recalled is stored again


def test_what_tells_nothing_is_not_kept(memory: Memory) -> None:
    script: list[Reply] = [call("lookup", topic="tea"), "Thank you!"]
    with ScriptedModel(script) as model:
        agent, one = assistant(model), user()
        autogen.register_function(
            _lookup, caller=agent, executor=one, name="lookup", description="Looks up"
        )
        with_memory = attach(agent, memory)
        chat(one, agent, "ok thanks", turns=2)
        assert with_memory.finish() == 0
    assert contents(memory) == []
    assert with_memory.counts.kept == 0


def _lookup(topic: str) -> str:
    return f"a long row of plumbing about {topic} that nobody needs to remember"


def test_learnings_are_extracted_every_few_messages_and_at_the_end(memory: Memory) -> None:
    with ScriptedModel(["Understood, I will."]) as model:
        agent = assistant(model)
        with_memory = attach(agent, memory, learn_every=4, incoming=False, outgoing=False)
        says = user("I prefer TypeScript over JavaScript.", "I live in Lisbon.", "Good.")
        chat(says, agent, "My name is Ines.", turns=3)
        with_memory.companion.drain(60)
        assert memory.list(kinds=["preference"])
        with_memory.finish()
    assert any("Lisbon" in content for content in contents(memory))


@pytest.mark.parametrize("who", ["agent", "other"])
def test_who_says_terminate_ends_a_chat_and_it_is_learned_from(memory: Memory, who: str) -> None:
    ends = "That is all. TERMINATE"
    with ScriptedModel([ends if who == "agent" else "Understood, I will."]) as model:
        agent = assistant(model)
        here = attach(agent, memory, incoming=False, outgoing=False)
        chat(user(ends), agent, "I prefer TypeScript over JavaScript.", turns=2)
        until(lambda: memory.list(kinds=["preference"]))  # nobody called `finish`
        assert here.companion.drain() == 0


def test_an_async_chat_remembers_too(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")

    async def talk(model: ScriptedModel) -> None:
        agent = assistant(model)
        attach(agent, memory)
        await user().a_initiate_chat(
            agent, message="Our main store needs a good driver now", max_turns=1, silent=True
        )
        detach(agent)

    with ScriptedModel(["We use the driver called psycopg."]) as model:
        asyncio.run(talk(model))
        assert FACT in model.asked[0].system
    assert {"We use the driver called psycopg.", "Our main store needs a good driver now"} <= set(
        contents(memory)
    )


def test_a_memory_agent_is_the_class_form(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_URL", url)
    with Memory("autogen-assistant-user123") as memory:
        memory.remember(FACT, kind="decision")
    with ScriptedModel(["Hello, shall we talk about it?"]) as model:
        agent = MemoryAgent(
            name="Assistant",
            agent_id="autogen-assistant-user123",
            memory_query="which database is the main store?",
            system_message="Use your memory.",
            llm_config=model.config,
            human_input_mode="NEVER",
        )
        chat(user(), agent, "hello")  # asks nothing itself, so the query does
        assert FACT in model.asked[0].system
        assert agent.memory.scope == "autogen-assistant-user123"


def test_multimodal_content_is_asked_with_and_kept_by_its_words(memory: Memory) -> None:
    memory.remember(FACT, kind="decision")
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    content = [{"type": "text", "text": "This is our main store, drawn by Ann"}, picture]
    with ScriptedModel(["A fine picture of it."]) as model:
        agent = assistant(model)
        attach(agent, memory)
        user().send({"role": "user", "content": content}, agent, request_reply=True, silent=True)
        assert FACT in model.asked[0].system
    assert "This is our main store, drawn by Ann" in contents(memory)


def test_an_agent_that_is_gone_leaves_nothing_behind(memory: Memory) -> None:
    with ScriptedModel(["A fine answer to that."]) as model:
        agent = assistant(model)
        attach(agent, memory, learn_every=0)
        chat(user(), agent, "The sky over Lisbon is blue today")
        finish(agent)
        gone = weakref.ref(agent)
        del agent
    gc.collect()
    assert gone() is None


# --- trouble ---


@pytest.mark.parametrize("mood", MOODS)
def test_a_server_in_trouble_is_not_in_the_way(
    mood: str, server: Troubled, caplog: pytest.LogCaptureFixture
) -> None:
    seconds, says = 0.4, [f"Item {n} costs {n * 7} euros in shop {n}." for n in range(6)]
    with Memory("agent", server.url) as memory, ScriptedModel(_replying) as model:
        agent = assistant(model)
        with_memory = attach(agent, memory, seconds=seconds, learn_every=0)
        server.mood = mood
        with in_time(len(says), seconds):
            for text in says:
                done = chat(user(), agent, text, clear_history=False)
                assert done.chat_history[-1]["content"] == f"Reply to: {text}"
        counts = with_memory.counts
        assert counts.longest < seconds + LATE
        assert counts.recalls_failed > 0
        assert counts.waiting > 0
        assert any("memory:" in record.message for record in caplog.records)
        server.recover()
        assert with_memory.finish(60) == 0
        kept = set(contents(memory))
        assert {*says, *(f"Reply to: {text}" for text in says)} <= kept
        assert with_memory.counts.lost == 0


def test_what_was_to_be_learned_in_trouble_is_learned_after_it(server: Troubled) -> None:
    with Memory("agent", server.url) as memory, ScriptedModel(["Understood, I will."]) as model:
        agent = assistant(model)
        here = attach(agent, memory, seconds=0.4, learn_every=2, incoming=False, outgoing=False)
        server.mood = "broken"
        chat(user(), agent, "I prefer TypeScript over JavaScript.")
        until(lambda: here.counts.writes_failed > 0)
        server.recover()
        assert here.finish(60) == 0
        assert memory.list(kinds=["preference"])


def test_a_slow_server_does_not_hold_up_an_event_loop(
    server: Troubled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(companion, "LOOP_SECONDS", 0.5)  # as it is for everybody
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - began)

    async def talk(agent: Any) -> list[str]:
        ticking = asyncio.create_task(tick())
        done = [
            await user().a_initiate_chat(agent, message=text, max_turns=1, silent=True)
            for text in ("Item 1 costs 7 euros.", "Item 2 costs 9 euros.")
        ]
        ticking.cancel()
        return [str(one.chat_history[-1]["content"]) for one in done]

    with Memory("agent", server.url) as memory, ScriptedModel(_replying) as model:
        agent = assistant(model)
        here = attach(agent, memory, seconds=5, learn_every=0)  # more than a loop is to wait
        server.mood = "slow"
        replies = asyncio.run(talk(agent))
        assert replies == ["Reply to: Item 1 costs 7 euros.", "Reply to: Item 2 costs 9 euros."]
        assert longest < 0.5 + LATE
        assert here.counts.recalls_failed > 0
        server.recover()
        assert here.finish(60) == 0
        assert set(replies) <= set(contents(memory))


def _replying(asked: Asked) -> Reply:
    return f"Reply to: {asked.last}"


@pytest.mark.parametrize("mood", ["down", "broken", "garbled"])
def test_with_an_outbox_even_a_killed_process_loses_nothing(
    mood: str, server: Troubled, processes: Processes
) -> None:
    server.mood = mood
    processes.run(OUTBOX, server.url, "out.db", killed=True)
    server.recover()
    with Memory("agent", server.url, outbox=str(processes.folder / "out.db")) as memory:
        until(lambda: FACT in contents(memory))


OUTBOX = f"""
import os, signal, sys
from autogen import ConversableAgent
from holdfast import Memory
from holdfast.integrations.autogen import attach
memory = Memory("agent", sys.argv[1], outbox=sys.argv[2])
agent = ConversableAgent("a", llm_config=False, default_auto_reply="ok", human_input_mode="NEVER")
user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
attach(agent, memory, seconds=5)
user.initiate_chat(agent, message={FACT!r}, max_turns=1, silent=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_full_disk_is_not_in_the_way(processes: Processes) -> None:
    processes.fill_the_disk(FULL)


FULL = """
from autogen import ConversableAgent
from holdfast.integrations.autogen import attach
agent = ConversableAgent("a", llm_config=False, default_auto_reply="ok", human_input_mode="NEVER")
user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
here = attach(agent, memory, policy)
with full_disk():
    for said in says:
        done = user.initiate_chat(agent, message=said, max_turns=1, silent=True,
                                  clear_history=False)
        replies += done.chat_history[-1]["content"] == "ok"
    waited = here.counts.waiting == 8 and here.counts.writes_failed > 0
"""


def test_a_broken_memory_never_raises_into_a_chat(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.close()
    with ScriptedModel(["I am here all the same."]) as model, caplog.at_level(logging.WARNING):
        agent = assistant(model)
        with_memory = attach(agent, memory)
        done = chat(user(), agent, "Remember that the sky is green today")
    assert done.chat_history[-1]["content"] == "I am here all the same."
    assert with_memory.counts.recalls_failed > 0
    assert with_memory.counts.refused > 0


def test_an_async_memory_is_refused_with_advice(url: str) -> None:
    from holdfast import AsyncMemory

    with pytest.raises(Invalid, match=r"Give holdfast\.Memory"):
        attach(ConversableAgent("a", llm_config=False), AsyncMemory("a", url))  # type: ignore[arg-type]


# --- tools ---


def test_tools_are_called_and_run(memory: Memory) -> None:
    script: list[Reply] = [
        call("remember", content=FACT, kind="decision"),
        call("recall", query="which database is the main store?"),
        "It is PostgreSQL 18.",
    ]
    with ScriptedModel(script) as model:
        agent, one = assistant(model), user()
        register_memory_tools(memory, caller=agent, executor=one)
        chat(one, agent, "Use PostgreSQL for the main store; remember that.", turns=3)
        assert set(model.asked[0].tools) == {"remember", "recall", "forget", "update"}
        assert "Remembered (id " in model.asked[1].last
        assert FACT in model.asked[2].last
    (record,) = memory.list()
    assert (record.kind, record.source) == ("decision", Source("assistant", "agent"))


def test_a_tool_can_change_and_forget(memory: Memory) -> None:
    kept = memory.remember("The office opens at nine")
    gone = memory.remember("The office closes at six")
    script: list[Reply] = [
        [
            call("update", id=kept.id, content="The office opens at eight"),
            call("forget", id=gone.id),
            call("forget", id="00000000-0000-7000-8000-000000000000"),
        ],
        "Done.",
    ]
    with ScriptedModel(script) as model:
        agent, one = assistant(model), user()
        register_memory_tools(memory, caller=agent, executor=one)
        chat(one, agent, "It opens at eight.", turns=2)
        said = model.asked[1].text
    assert "Updated." in said
    assert "Forgotten." in said
    assert "no memory" in said
    assert contents(memory) == ["The office opens at eight"]


def test_the_older_form_of_tools(memory: Memory) -> None:
    functions, function_map = memory_functions(memory, "assistant")
    with ScriptedModel([call("remember", content=FACT), "Noted."]) as model:
        agent = autogen.AssistantAgent(
            "assistant", llm_config={**model.config, "functions": functions}
        )
        one = autogen.UserProxyAgent(
            "user",
            human_input_mode="NEVER",
            function_map=function_map,
            code_execution_config=False,
            default_auto_reply="",
        )
        chat(one, agent, "Remember which database we use", turns=2)
        assert set(model.asked[0].tools) == {"remember", "recall", "forget", "update"}
    assert contents(memory) == [FACT]


def test_a_tool_tells_the_model_when_memory_is_away(server: Troubled) -> None:
    with Memory("agent", server.url) as memory:
        server.mood = "broken"
        _, run = memory_functions(Companion(memory, TurnPolicy(seconds=0.3)), "assistant")
        assert "away" in run["remember"](FACT)
        said = run["recall"]("which database?")
        assert "cannot answer" in said or "away" in said  # by whether it was told in time
        server.recover()
        until(lambda: FACT in contents(memory))


# --- two processes ---


LEARN = f"""
import os, signal, sys
from autogen import ConversableAgent
from examples.autogen.scripted_model import ScriptedModel, call
from holdfast import Memory
from holdfast.integrations.autogen import attach, register_memory_tools
memory = Memory("agent", os.environ["STORE"])
with ScriptedModel([call("remember", content={FACT!r}, kind="decision"), "Noted."]) as model:
    agent = ConversableAgent("assistant", system_message="Be brief.", llm_config=model.config,
                             human_input_mode="NEVER")
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    attach(agent, memory)
    register_memory_tools(memory, caller=agent, executor=user)
    user.initiate_chat(agent, message="I am allergic to peanuts, and we use PostgreSQL.",
                       max_turns=2, silent=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""
ANSWER = """
import os
from autogen import ConversableAgent
from examples.autogen.scripted_model import ScriptedModel
from holdfast import Memory
from holdfast.integrations.autogen import attach
memory = Memory("agent", os.environ["STORE"])
with ScriptedModel(["I know."]) as model:
    for question in ("Which database is the main store?", "Am I allergic to peanuts?"):
        agent = ConversableAgent("assistant", system_message="Be brief.", llm_config=model.config,
                                 human_input_mode="NEVER")
        user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
        attach(agent, memory)
        user.initiate_chat(agent, message=question, max_turns=1, silent=True)
        print(model.asked[-1].system)
"""


def test_a_new_process_answers_from_what_a_killed_one_learned(processes: Processes) -> None:
    processes.run(LEARN, killed=True)
    said = processes.run(ANSWER)
    assert FACT in said
    assert "allergic to peanuts" in said


# --- teachability ---


def test_the_drop_in_for_teachability(memory: Memory, tmp_path: Path) -> None:
    with ScriptedModel(["Fine, I will do so."]) as model:
        agent = assistant(model)
        Teachability(path_to_db_dir=str(tmp_path / "no"), memory=memory).add_to_agent(agent)
        chat(user(), agent, "When I say vibe check, answer with a poem about tea.")
        finish(agent)
        other = assistant(model, "other")
        Teachability(path_to_db_dir=str(tmp_path / "no"), memory=memory).add_to_agent(other)
        chat(user(), other, "Now do a vibe check, with a poem!")
        assert "poem about tea" in model.asked[-1].system
        assert len(model.asked) == 2  # no model is asked to analyse


def test_a_store_of_teachability_is_imported_once(memory: Memory, tmp_path: Path) -> None:
    import pickle

    memos = {"1": ("What is the vault code?", "It is 4711."), "2": ("Tea?", "Always green.")}
    (tmp_path / "uid_text_dict.pkl").write_bytes(pickle.dumps(memos))
    assert import_teachability(tmp_path, memory) == 2
    assert import_teachability(tmp_path, memory) == 2
    assert len(memory.list()) == 2
    assert "4711" in memory.recall("what is the vault code?")[0].content


def test_a_pickle_that_would_run_something_is_refused(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "uid_text_dict.pkl").write_bytes(b"cos\nsystem\n(S'touch owned'\ntR.")
    with pytest.raises(Invalid, match="not a Teachability store"):
        import_teachability(tmp_path, memory)
    assert not Path("owned").exists()
