"""Async: the memories of several scopes asked at once, before a team begins."""

import asyncio
import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import AsyncMemory, Memory
from holdfast.integrations.autogen import attach

KNOWN = {
    "style": "Articles about databases use British spelling",
    "research": "Vector databases keep embeddings in an index",
    "legal": "Articles about databases need a disclaimer",
}


async def main(url: str, model: ScriptedModel) -> None:
    memories = {scope: AsyncMemory(scope, url) for scope in KNOWN}
    await asyncio.gather(*(memories[scope].remember(said) for scope, said in KNOWN.items()))
    asked = "an article about vector databases"
    found = await asyncio.gather(*(memory.recall(asked) for memory in memories.values()))
    for scope, hits in zip(memories, found, strict=True):
        print(f"{scope}: {[hit.content for hit in hits]}")
    writer = ConversableAgent("writer", llm_config=config_for(model), human_input_mode="NEVER")
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    kept = attach(writer, Memory("writer", url), also=list(KNOWN))  # all of them, turn by turn
    await user.a_initiate_chat(writer, message=f"Write {asked}.", max_turns=1, silent=True)
    print(writer.system_message)
    kept.detach()


with tempfile.TemporaryDirectory() as folder, ScriptedModel(["It is written."]) as model:
    asyncio.run(main(f"sqlite:///{folder}/m.db", model))
