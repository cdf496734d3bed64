"""Both together: hooks keep what was said, tools what the model thinks is worth more."""

import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, call, config_for

from holdfast import Memory
from holdfast.integrations.autogen import MemoryAgent, register_memory_tools

with tempfile.TemporaryDirectory() as folder, Memory("a", f"sqlite:///{folder}/m.db") as memory:
    script = [
        call("remember", content="Ines is allergic to peanuts", kind="preference"),
        "Noted, no peanuts for you.",
    ]
    with ScriptedModel(script) as model:
        assistant = MemoryAgent(
            "assistant", memory=memory, llm_config=config_for(model), human_input_mode="NEVER"
        )
        user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
        register_memory_tools(memory, caller=assistant, executor=user)
        said = "I am Ines, and I cannot eat peanuts."
        user.initiate_chat(assistant, message=said, max_turns=2, silent=True)
        assistant.attachment.finish()
    for record in memory.list():
        print(f"[{record.kind}, by {record.source.writer}] {record.content}")
