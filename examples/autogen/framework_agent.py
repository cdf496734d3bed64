"""Microsoft Agent Framework: an agent with long-term memory, and a session that survives."""

import asyncio
import os
import tempfile

from agent_framework import Agent, AgentSession
from agent_framework.openai import OpenAIChatCompletionClient
from scripted_model import ScriptedModel

from holdfast import Memory
from holdfast.integrations.agent_framework import HoldfastContextProvider, HoldfastHistoryProvider


def client_for(model: ScriptedModel) -> OpenAIChatCompletionClient:
    key = os.environ.get("OPENAI_API_KEY")
    if key:
        return OpenAIChatCompletionClient(
            model=os.environ.get("OPENAI_MODEL", "gpt-4o-mini"), api_key=key
        )
    return OpenAIChatCompletionClient(model="scripted", api_key="none", base_url=model.url)


async def main(url: str, model: ScriptedModel) -> None:
    memory = Memory("user123", url)
    for said in ("My name is Ines, and I prefer trains over planes.", "How do I like to travel?"):
        long_term, history = HoldfastContextProvider(memory), HoldfastHistoryProvider(memory)
        agent = Agent(client_for(model), "Be brief.", context_providers=[history, long_term])
        answer = await agent.run(said, session=AgentSession(session_id="chat-17"))
        print(f"user: {said}\nagent: {answer.text}")
        await long_term.finish()
    print(f"the session has {len(await history.get_messages('chat-17'))} messages")
    print(memory.context("how does Ines travel: trains or planes?"))


with tempfile.TemporaryDirectory() as folder, ScriptedModel(["Noted.", "By train."]) as model:
    asyncio.run(main(f"sqlite:///{folder}/m.db", model))
