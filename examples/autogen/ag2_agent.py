"""AG2 1.x: an agent that remembers by a middleware and by tools."""

import asyncio
import os
import tempfile

from ag2 import Agent
from ag2.config import OpenAIConfig
from scripted_model import ScriptedModel, call

from holdfast import Memory
from holdfast.integrations.ag2 import memory_tools, remembering


def config_for(model: ScriptedModel) -> OpenAIConfig:
    key = os.environ.get("OPENAI_API_KEY")
    if key:
        return OpenAIConfig(model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), api_key=key)
    return OpenAIConfig(model="scripted", api_key="none", base_url=model.url)


async def main(url: str, model: ScriptedModel) -> None:
    memory = Memory("assistant", url)
    for said in ("I prefer trains over planes; remember that.", "How do I like to travel?"):
        agent = Agent(
            "assistant",
            "Be brief.",
            config=config_for(model),
            middleware=[remembering(memory, "assistant")],
            tools=memory_tools(memory, "assistant"),
        )
        print(f"user: {said}\nagent: {(await agent.ask(said)).body}")
    for record in memory.list():
        print(f"[{record.kind}, by {record.source.writer}] {record.content}")


SCRIPT = [
    call("remember", content="The user prefers trains", kind="preference"),
    "Noted.",
    "Train.",
]
with tempfile.TemporaryDirectory() as folder, ScriptedModel(SCRIPT) as model:
    asyncio.run(main(f"sqlite:///{folder}/m.db", model))
