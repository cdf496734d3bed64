"""Classic agents in a test, whichever version they are of, and what a memory then holds."""

from typing import Any

import autogen
from autogen import ConversableAgent

from examples.autogen.scripted_model import ScriptedModel
from holdfast import Memory
from holdfast.integrations.autogen import attached


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
