"""Classic AutoGen: teams that share a memory, group chats and agents that survive a restart."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import autogen
import pytest
from autogen import ConversableAgent, GroupChatManager

from examples.autogen.scripted_model import Asked, Reply, ScriptedModel, call
from holdfast import Memory, Source
from holdfast.integrations.autogen import (
    PersistentAgent,
    PersistentGroupChat,
    Team,
    TurnPolicy,
    persist,
    register_memory_tools,
)
from holdfast.integrations.transcript import TOGETHER, Transcript
from tests.frameworks.conftest import Processes
from tests.frameworks.talking import assistant, chat, finish, user, writers
from tests.frameworks.trouble import MOODS, Troubled, in_time
from tests.waiting import until

BLOCK = "<memories"

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


def test_a_hundred_turns_of_a_group_pile_nothing_up(url: str) -> None:
    team = Team("team", url, embedder="hashing")
    for finding in FINDINGS.values():
        team.memory.remember(finding)
    with ScriptedModel(by_name) as model:
        agents, one = group(model), user()
        for agent in agents:
            team.join(agent)
        made = autogen.GroupChat(agents, messages=[], max_round=100)
        made.speaker_selection_method = "round_robin"
        manager = GroupChatManager(made, llm_config=False)
        one.initiate_chat(manager, message="Please all say what you know of the plan.", silent=True)
        for agent in agents:
            finish(agent)
            assert not any(BLOCK in str(it) for it in agent.chat_messages[manager])
        assert len(model.asked) == 99
        for number, asked in enumerate(model.asked):
            assert [it["role"] for it in asked.messages].count("system") == 1
            assert len(asked.messages) == number + 2
            assert asked.text.count(BLOCK) <= 1
        assert not any(BLOCK in str(it) for it in made.messages)
    said = {*FINDINGS.values(), "Please all say what you know of the plan."}
    assert sorted(writers(team.memory)) == sorted(said)  # nothing recalled is kept again
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


def test_what_is_heard_in_private_is_for_one_alone(url: str) -> None:
    team = Team("team", url, embedder="hashing")
    team.memory.remember(FINDINGS["Planner"])
    told = "The launch of the site depends on my visa, tell nobody."
    answer = "I will keep that between us, of course."
    with ScriptedModel([answer]) as model:
        coder = assistant(model, "Coder")
        team.join(coder, private=True)
        chat(user(), coder, told)
        finish(coder)
        assert FINDINGS["Planner"] in model.asked[0].system
    assert list(writers(team.memory)) == [FINDINGS["Planner"]]
    assert {told, answer} <= writers(team.private("Coder")).keys()
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


def test_an_async_chat_goes_on_too(memory: Memory) -> None:
    async def talk() -> PersistentGroupChat:
        made, manager, agents = group_chat(memory)
        await agents[0].a_initiate_chat(manager, message="the first", silent=True)
        made, manager, _ = group_chat(memory)
        speaker, last = made.resume(manager)
        assert speaker.name == "C"
        await speaker.a_initiate_chat(manager, message=last, silent=True, clear_history=False)
        return made

    made = asyncio.run(talk())
    assert made.speakers == ["A", "B", "C", "A", "B"]
    assert [it["name"] for it in made.saved()] == made.speakers


def test_an_append_writes_the_same_however_long_the_chat(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, append = group_chat(memory)[0], memory.append
    written: list[int] = []

    def counted(*args: Any) -> Any:
        held = append(*args)
        written.append(len(held.value))
        return held

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("an append need not read")

    made.append({"role": "user", "content": "message 0"}, made.agents[0])
    for verb, instead in (("append", counted), ("get", never), ("keys", never)):
        monkeypatch.setattr(memory, verb, instead)
    for number in range(1, 400):
        made.append({"role": "user", "content": f"message {number}"}, made.agents[0])
    assert len(written) == 399
    assert max(written) == TOGETHER  # a key is rewritten, never the chat
    monkeypatch.undo()
    assert [it["content"] for it in made.saved()] == [f"message {n}" for n in range(400)]


def test_two_processes_on_one_chat_keep_one_log(processes: Processes, tmp_path: Path) -> None:
    runs = [
        threading.Thread(target=processes.run, args=(WRITER, name)) for name in ("left", "right")
    ]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    with Memory("team", f"sqlite:///{tmp_path / 'two.db'}", embedder="hashing") as memory:
        made, manager, _ = group_chat(memory)
        texts = [message["content"] for message in made.saved()]
        assert len(texts) == len(set(texts)) == 100
        for name in ("left", "right"):  # each one's messages are in its order
            own = [text for text in texts if text.startswith(name)]
            assert own == [f"{name} {number}" for number in range(50)]
        last = made.speakers[-1]
        made.go_on(manager, silent=True)
    assert made.speakers[100] == {"A": "B", "B": "C"}[last]  # and whoever comes next goes on


WRITER = """
import itertools, sys
from autogen import ConversableAgent, GroupChatManager
from holdfast import Memory
from holdfast.integrations.autogen import PersistentGroupChat
memory = Memory("team", "sqlite:///two.db", embedder="hashing")
said = itertools.count()
def agent(name):
    one = ConversableAgent(name, llm_config=False, human_input_mode="NEVER")
    reply = lambda *_, **__: (True, f"{sys.argv[1]} {next(said)}")
    one.register_reply([ConversableAgent, None], reply, position=0)
    return one
agents = [agent("A"), agent("B")]
chat = PersistentGroupChat(agents, memory, chat="plan", max_round=50,
                           speaker_selection_method="round_robin")
manager = GroupChatManager(chat, llm_config=False)
chat.restore(manager)
agents[0].initiate_chat(manager, message=f"{sys.argv[1]} {next(said)}", silent=True,
                        clear_history=False)
chat.saved()
"""


# --- cut anywhere ---


def priced(topic: str) -> str:
    return f"{topic} costs nine euros"


def shop(memory: Memory, model: ScriptedModel, rounds: int) -> tuple[PersistentGroupChat, Any, Any]:
    """A chat with tool calls: the Coder asks for a price, the Runner looks it up."""
    coder = assistant(model, "Coder", system_message="You are Coder.")
    writer = assistant(model, "Writer", system_message="You are Writer.")
    runner = ConversableAgent(
        "Runner", llm_config=False, human_input_mode="NEVER", default_auto_reply="Nothing to run."
    )
    autogen.register_function(
        priced, caller=coder, executor=runner, name="priced", description="Prices"
    )
    made = PersistentGroupChat(
        [runner, coder, writer], memory, max_round=rounds, speaker_selection_method="round_robin"
    )
    return made, GroupChatManager(made, llm_config=False), runner


def shopping(asked: Asked) -> Reply:
    if asked.system == "You are Coder." and asked.messages[-1]["role"] != "tool":
        return call("priced", topic="tea")
    return f"{asked.system[8:-1]} heard: {asked.last}"


def requests(model: ScriptedModel) -> list[list[tuple[str, str, bool]]]:
    """Whose words the model was shown, in which role; that a tool call says nothing has 2 names."""
    return [
        [(it["role"], it["text"].replace("None", ""), "tool_calls" in it) for it in asked.messages]
        for asked in model.asked
    ]


def test_cut_at_any_message_a_chat_goes_on_as_if_it_had_not_been(url: str) -> None:
    rounds = 9
    with Memory("whole", url, embedder="hashing") as memory, ScriptedModel(shopping) as model:
        made, manager, runner = shop(memory, model, rounds)
        runner.initiate_chat(manager, message="What does tea cost?", silent=True)
        whole, wanted = made.saved(), requests(model)
    assert [it["name"] for it in whole][:5] == ["Runner", "Coder", "Runner", "Coder", "Writer"]
    for cut in range(1, rounds):
        with Memory(f"cut-{cut}", url, embedder="hashing") as memory:
            log = Transcript(memory, "chat/group-chat")
            for message in whole[:cut]:
                log.append(message)
            with ScriptedModel(shopping) as model:
                made, manager, _ = shop(memory, model, rounds - cut + 1)
                made.go_on(manager, silent=True)
                assert requests(model) == wanted[-len(model.asked) :]
            assert [it["name"] for it in made.saved()] == [it["name"] for it in whole]
            assert made.saved()[:cut] == whole[:cut]


# --- trouble ---


@pytest.mark.parametrize("mood", MOODS)
def test_what_a_group_and_its_agents_say_in_trouble_is_kept(mood: str, server: Troubled) -> None:
    seconds = 0.4
    policy = TurnPolicy(seconds=seconds, recall=False, learn_every=0)
    with Memory("team", server.url) as memory:
        made, manager, agents = group_chat(memory, policy=policy)
        kept = persist(agents[1], Memory("B", server.url), policy=policy)
        server.mood = mood
        with in_time(3, 3 * seconds):  # the chat's log, and the agent's at each end of a turn
            agents[0].initiate_chat(manager, message="the first of all", silent=True)
        said = ["the first of all", "B again", "C again"]
        assert [it["content"] for it in made.messages] == said
        assert made.counts.waiting > 0
        assert kept.counts.waiting > 0
        server.recover()
        until(lambda: [it["content"] for it in made.saved()] == said)
        until(lambda: [it["content"] for it in kept.history(manager)] == said)
        assert made.counts.lost == kept.counts.lost == 0
        kept.memory.close()


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
