"""AutoGen 0.4+: a team that remembers, and goes on after a restart."""

import asyncio
import os
import tempfile

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient
from scripted_model import ScriptedModel

from holdfast import Memory
from holdfast.integrations.autogen_agentchat import RememberingAgent, load_team, save_team
from holdfast.integrations.autogen_core import AutoGenMemory


def client_for(model: ScriptedModel) -> OpenAIChatCompletionClient:
    if os.environ.get("OPENAI_API_KEY"):
        return OpenAIChatCompletionClient(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"))
    info = {
        "vision": False,
        "function_calling": True,
        "json_output": False,
        "family": "unknown",
        "structured_output": False,
        "multiple_system_messages": True,
    }
    return OpenAIChatCompletionClient(
        model="scripted", api_key="none", base_url=model.url, model_info=info
    )


def team_of(client: OpenAIChatCompletionClient, memory: Memory) -> RoundRobinGroupChat:
    agents = []
    for name in ("researcher", "writer"):
        shared = AutoGenMemory(memory=memory)
        agents.append(RememberingAgent(AssistantAgent(name, client, memory=[shared]), shared))
    return RoundRobinGroupChat(agents, termination_condition=MaxMessageTermination(2))


async def main(url: str, model: ScriptedModel) -> None:
    memory, client = Memory("team", url), client_for(model)
    first = team_of(client, memory)
    await first.run(task="Competitors charge nine euros for the basic plan.")
    await save_team(first, memory)
    second = team_of(client, memory)  # as after a restart
    print("goes on:", await load_team(second, memory))
    result = await second.run(task="What do competitors charge for the basic plan?")
    for message in result.messages:
        print(f"{message.source}: {message.to_text()[:90]}")
    for record in memory.list():
        print(f"remembered: [{record.source.writer}] {record.content}")


with tempfile.TemporaryDirectory() as folder, ScriptedModel(["They charge nine euros."]) as model:
    asyncio.run(main(f"sqlite:///{folder}/m.db", model))
