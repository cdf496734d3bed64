"""Classic AutoGen agents that remember; run with the real package, whichever version it is."""

import asyncio
import logging
import time
from pathlib import Path
from typing import Any

import autogen
import pytest
from autogen import ConversableAgent, GroupChatManager

from examples.autogen.scripted_model import Asked, Reply, ScriptedModel, call
from holdfast import Invalid, Memory, Source
from holdfast.integrations.autogen import (
    MemoryAgent,
    PersistentAgent,
    PersistentGroupChat,
    Teachability,
    Team,
    TurnPolicy,
    attach,
    attached,
    detach,
    import_teachability,
    memory_functions,
    persist,
    register_memory_tools,
)
from holdfast.integrations.companion import Companion
from tests.frameworks.conftest import Processes
from tests.frameworks.trouble import LATE, MOODS, Troubled, in_time
from tests.waiting import until

BLOCK = "<memories"
FACT = "The main store is PostgreSQL 18, not MongoDB"


def assistant(model: ScriptedModel, name: str = "assistant", **how: Any) -> ConversableAgent:
    return ConversableAgent(
        name,
        system_message=how.pop("system_message", "Be brief."),
        llm_config=model.config,
        human_input_mode="NEVER",
        **how,
    )


def user(*says: str) -> ConversableAgent:
    """One who says these things in turn, and then asks the same again and again."""
    left = list(says)
    one = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")

    def next_one(*_: Any, **__: Any) -> tuple[bool, str]:
        return True, left.pop(0) if len(left) > 1 else left[0]

    if left:
        one.register_reply([autogen.Agent, None], next_one)
    return one


def chat(who: Any, agent: Any, message: str, turns: int = 1, **how: Any) -> Any:
    return who.initiate_chat(agent, message=message, max_turns=turns, silent=True, **how)


def finish(agent: Any) -> None:
    there = attached(agent)
    assert there is not None
    assert there.finish() == 0


def writers(memory: Memory) -> dict[str, str | None]:
    return {it.content: it.source.writer if it.source else None for it in memory.list(limit=1000)}


def contents(memory: Memory) -> list[str]:
    return [record.content for record in memory.list(limit=1000)]


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
    assert processes.run(FULL).splitlines()[-1].split() == [
        "replies",
        "8",
        "waited",
        "True",
        "left",
        "0",
        "kept",
        "9",
    ]


FULL = """
import logging, resource, signal
logging.disable()
from autogen import ConversableAgent
from holdfast import Memory
from holdfast.integrations.autogen import attach
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
memory = Memory("agent", "sqlite:///full.db", embedder="hashing")
memory.remember("something that was known before")
agent = ConversableAgent("a", llm_config=False, default_auto_reply="ok", human_input_mode="NEVER")
user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
here = attach(agent, memory, seconds=0.3, learn_every=0)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))  # no file can grow any more
replies = 0
for n in range(8):
    done = user.initiate_chat(agent, message=f"Shop {n} sells tea number {n}.", max_turns=1,
                              silent=True, clear_history=False)
    replies += done.chat_history[-1]["content"] == "ok"
waited = here.counts.waiting == 8 and here.counts.writes_failed > 0
resource.setrlimit(resource.RLIMIT_FSIZE, limits)
left = here.finish(30)
print("replies", replies, "waited", waited, "left", left, "kept", len(memory.list(limit=100)))
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


# --- groups ---

NAMES = ("Planner", "Researcher", "Coder", "Reviewer", "Writer")
FINDINGS = {
    "Planner": "The launch of the site is planned for the third of May.",
    "Researcher": "Competitors charge nine euros for the basic plan.",
    "Coder": "The login service is written in the Rust language.",
    "Reviewer": "Every pull request needs two approvals before merging.",
    "Writer": "The handbook uses British spelling in all chapters.",
}


def by_name(asked: Asked) -> Reply:
    """Each agent, known by its system message, says its finding."""
    name = next(name for name in NAMES if asked.system.startswith(f"You are {name}."))
    return FINDINGS[name]


def group(model: ScriptedModel) -> list[ConversableAgent]:
    return [assistant(model, name, system_message=f"You are {name}.") for name in NAMES]


def test_five_agents_share_a_memory_and_each_is_named(url: str) -> None:
    team = Team("team", url, embedder="hashing")
    with ScriptedModel(by_name) as model:
        agents, one = group(model), user()
        for agent in agents:
            team.join(agent)
        chat_ = autogen.GroupChat(
            [one, *agents], messages=[], max_round=6, speaker_selection_method="round_robin"
        )
        manager = GroupChatManager(chat_, llm_config=False)
        one.initiate_chat(manager, message="Please all tell what you found.", silent=True)
        for agent in agents:
            finish(agent)
        told = writers(team.memory)
        for name, finding in FINDINGS.items():
            assert told[finding] == name
        assert {"user", *NAMES} >= set(told.values())
    team.close()


def test_a_model_chooses_who_speaks_and_memory_is_not_in_its_way(url: str) -> None:
    team = Team("team", url, embedder="hashing")
    with ScriptedModel(by_name, speakers=["Coder", "Writer"]) as model:
        agents, one = group(model), user()
        for agent in agents:
            team.join(agent)
        chat_ = autogen.GroupChat([one, *agents], messages=[], max_round=3)  # "auto"
        manager = GroupChatManager(chat_, llm_config=model.config)
        one.initiate_chat(manager, message="Please tell what you found.", silent=True)
        for agent in agents:
            finish(agent)
        assert [message["name"] for message in chat_.messages] == ["user", "Coder", "Writer"]
        chosen = [asked for asked in model.asked if asked.chooses_speaker]
        assert len(chosen) == 2
        assert all(BLOCK not in asked.text for asked in chosen)
    told = writers(team.memory)
    assert (told[FINDINGS["Coder"]], told[FINDINGS["Writer"]]) == ("Coder", "Writer")
    team.close()


def test_an_agent_that_is_gone_leaves_nothing_behind(memory: Memory) -> None:
    import gc
    import weakref

    with ScriptedModel(["A fine answer to that."]) as model:
        agent = assistant(model)
        attach(agent, memory, learn_every=0)
        chat(user(), agent, "The sky over Lisbon is blue today")
        finish(agent)
        gone = weakref.ref(agent)
        del agent
    gc.collect()
    assert gone() is None


def test_what_is_private_stays_private_and_a_newcomer_knows_the_team(url: str) -> None:
    team = Team("team", url, embedder="hashing")
    team.memory.remember(FINDINGS["Researcher"], source=Source("Researcher", "agent"))
    team.private("Coder").remember("The Coder's draft of the basic plan page is unfinished")
    with ScriptedModel(["Understood, thanks."]) as model:
        coder, newcomer = assistant(model, "Coder"), assistant(model, "Newcomer")
        for agent in (coder, newcomer):
            team.join(agent)
            chat(user(), agent, "what about the basic plan?")
        first, second = model.asked
    assert "Researcher" in second.system
    assert FINDINGS["Researcher"] in second.system  # at its first message
    assert "unfinished" not in second.system
    assert "unfinished" in first.system
    assert FINDINGS["Researcher"] in first.system
    team.close()


def test_callers_that_share_an_executor_are_each_named(url: str) -> None:
    team = Team("team", url, embedder="hashing")

    def remembering(asked: Asked) -> Reply:
        name = next(name for name in NAMES if asked.system.startswith(f"You are {name}."))
        done = asked.messages[-1]["role"] == "tool"
        return "All done." if done else call("remember", content=FINDINGS[name])

    with ScriptedModel(remembering) as model:
        agents, one = group(model)[:3], user()
        for agent in agents:
            register_memory_tools(team.memory, caller=agent, executor=one, names=["remember"])
        for agent in agents:
            chat(one, agent, "Remember your finding", turns=2)
    told = writers(team.memory)
    assert told == {FINDINGS[name]: name for name in NAMES[:3]}
    team.close()


GROUP = """
import os, signal, sys
from autogen import ConversableAgent, GroupChatManager
from holdfast import Memory
from holdfast.integrations.autogen import PersistentGroupChat
memory = Memory("team", "sqlite:///group.db", embedder="hashing")
spoken = 0
def agent(name):
    one = ConversableAgent(name, llm_config=False, human_input_mode="NEVER")
    def reply(recipient, messages=None, sender=None, config=None):
        global spoken
        spoken += 1
        if spoken == 3 and sys.argv[1] == "first":
            os.kill(os.getpid(), signal.SIGKILL)
        seen = len([m for m in messages if m.get("content")])
        return True, f"{name} speaks after {seen} messages"
    one.register_reply([ConversableAgent, None], reply, position=0)
    return one
agents = [agent(name) for name in ("A", "B", "C", "D", "E")]
chat = PersistentGroupChat(agents, memory, chat="plan", max_round=4,
                           speaker_selection_method="round_robin")
manager = GroupChatManager(chat, llm_config=False)
if sys.argv[1] == "first":
    agents[0].initiate_chat(manager, message="A begins", silent=True)
else:
    print("before", chat.speakers)
    chat.go_on(manager, silent=True)
    print("after", chat.speakers)
    print("saved", [m["name"] for m in chat.saved()])
    print("last", chat.messages[-1]["content"])
    print("own", [m["role"] for m in agents[1].chat_messages[manager]][:2])
"""


def test_a_group_chat_goes_on_with_the_right_speaker_after_a_kill(processes: Processes) -> None:
    processes.run(GROUP, "first", killed=True)
    said = processes.run(GROUP, "second")
    assert "before ['A', 'B', 'C']" in said
    assert "after ['A', 'B', 'C', 'D', 'E', 'A']" in said
    assert "saved ['A', 'B', 'C', 'D', 'E', 'A']" in said
    assert "own ['user', 'assistant']" in said


def group_chat(memory: Memory, **how: Any) -> tuple[PersistentGroupChat, Any, list[Any]]:
    agents = [
        ConversableAgent(
            name, llm_config=False, human_input_mode="NEVER", default_auto_reply=f"{name} again"
        )
        for name in ("A", "B", "C")
    ]
    made = PersistentGroupChat(
        agents,
        memory,
        max_round=3,
        speaker_selection_method="round_robin",
        **{"chat": "plan", **how},
    )
    return made, GroupChatManager(made, llm_config=False), agents


def test_a_group_chat_can_begin_afresh_and_keeps_what_was(memory: Memory) -> None:
    first, manager, agents = group_chat(memory)
    agents[0].initiate_chat(manager, message="the first", silent=True)
    second, manager, agents = group_chat(memory, resume=False)
    assert second.messages == []
    agents[0].initiate_chat(manager, message="the second", silent=True)
    assert second.saved(1)[0]["content"] == "the first"
    assert second.saved()[0]["content"] == "the second"
    third, manager, agents = group_chat(memory)
    assert third.messages[0]["content"] == "the second"
    third.restore(manager)
    agents[0].initiate_chat(manager, message="and more", silent=True, clear_history=False)
    assert [m["content"] for m in third.saved()].count("the second") == 1
    assert "and more" in [m["content"] for m in third.saved()]
    agents[0].initiate_chat(manager, message="all new", silent=True)
    assert third.saved()[0]["content"] == "all new"
    assert first.counts.lost == 0


def test_an_append_costs_the_same_however_long_the_chat(memory: Memory) -> None:
    def appended(number: int, chat: PersistentGroupChat) -> float:
        began = time.perf_counter()
        chat.append({"role": "user", "content": f"message {number} " * 20}, chat.agents[0])
        return time.perf_counter() - began

    long, short = group_chat(memory)[0], group_chat(memory, chat="brief")[0]
    for number in range(600):
        appended(number, long)
    # In turn, so that what else the machine does hits both.
    both = [(appended(n, long), appended(n, short)) for n in range(600, 700)]
    late, early = (sorted(times)[50] for times in zip(*both, strict=True))
    assert late < 3 * early + 0.002


def test_two_processes_write_one_log(processes: Processes, tmp_path: Path) -> None:
    import threading

    runs = [
        threading.Thread(target=processes.run, args=(WRITER, name)) for name in ("left", "right")
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    with Memory("team", f"sqlite:///{tmp_path / 'two.db'}", embedder="hashing") as memory:
        log, _, _ = group_chat(memory)
        texts = [message["content"] for message in log.saved()]
    assert len(texts) == len(set(texts)) == 100
    for name in ("left", "right"):  # each one's messages are in its order
        own = [text for text in texts if text.startswith(name)]
        assert own == [f"{name} {number}" for number in range(50)]


WRITER = """
import sys
from autogen import ConversableAgent
from holdfast import Memory
from holdfast.integrations.autogen import PersistentGroupChat
memory = Memory("team", "sqlite:///two.db", embedder="hashing")
agent = ConversableAgent("A", llm_config=False)
chat = PersistentGroupChat([agent, ConversableAgent("B", llm_config=False)], memory, chat="plan")
for n in range(50):
    chat.append({"role": "user", "content": f"{sys.argv[1]} {n}"}, agent)
chat.saved()
"""


# --- persistence ---


PERSIST = """
import sys
from autogen import ConversableAgent
from examples.autogen.scripted_model import ScriptedModel
from holdfast import Memory
from holdfast.integrations.autogen import PersistentAgent
with ScriptedModel(["Nice to meet you, Ines."]) as model:
    agent = PersistentAgent("assistant", memory=Memory("a", "sqlite:///p.db", embedder="hashing"),
                            llm_config=model.config, human_input_mode="NEVER")
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    user.initiate_chat(agent, message=sys.argv[1], max_turns=1, silent=True)
    if sys.argv[2] == "die":
        agent.learn_preference("language", "TypeScript")
        agent.add_pattern("asks short questions")
        agent.kept.hand_over({"row": 8000})
        import os, signal
        os.kill(os.getpid(), signal.SIGKILL)
    print([m["text"] for m in model.asked[0].messages])
    print(agent.get_context())
    print(agent.kept.take_over(), agent.kept.take_over())
"""


def test_a_persistent_agent_goes_on_where_it_was(processes: Processes) -> None:
    processes.run(PERSIST, "My name is Ines", "die", killed=True)
    said = processes.run(PERSIST, "What is my name?", "live")
    assert "'My name is Ines', 'Nice to meet you, Ines.', 'What is my name?'" in said
    assert "'language': 'TypeScript'" in said
    assert "asks short questions" in said
    assert "{'row': 8000} None" in said


def test_persist_leaves_the_class_alone_and_can_be_taken_away(memory: Memory) -> None:
    with ScriptedModel(["Hello again, my friend."]) as model:
        agent, one = assistant(model), user()
        kept = persist(agent, memory)
        chat(one, agent, "I am the first message")
        assert [m["content"] for m in kept.history(one)] == [
            "I am the first message",
            "Hello again, my friend.",
        ]
        chat(one, agent, "I am another conversation")  # clears: a run of its own
        assert kept.history("user")[0]["content"] == "I am another conversation"
        kept.detach()
        chat(one, agent, "I am not kept")
        assert "I am not kept" not in str(kept.history(one))
    assert type(agent) is ConversableAgent
    assert "receive" not in vars(agent)


def test_an_async_chat_is_kept_too(memory: Memory) -> None:
    async def talk(model: ScriptedModel) -> PersistentAgent:
        agent = PersistentAgent(
            "assistant", memory=memory, llm_config=model.config, human_input_mode="NEVER"
        )
        await user().a_initiate_chat(agent, message="keep this", max_turns=1, silent=True)
        return agent

    with ScriptedModel(["Kept, as you wish."]) as model:
        agent = asyncio.run(talk(model))
    assert [m["content"] for m in agent.kept.history("user")] == ["keep this", "Kept, as you wish."]


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
