"""Priming a session: what is known goes into the system message before the first word."""

import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import Memory

with tempfile.TemporaryDirectory() as folder, Memory("u", f"sqlite:///{folder}/m.db") as memory:
    memory.remember("Alice writes TypeScript, never JavaScript", kind="preference", tags=["alice"])
    memory.remember("Bob likes tabs", kind="preference", tags=["bob"])
    with ScriptedModel(["TypeScript, always."]) as model:
        assistant = ConversableAgent("a", llm_config=config_for(model), human_input_mode="NEVER")
        user = ConversableAgent("alice", llm_config=False, human_input_mode="NEVER")
        message = "Does Alice write TypeScript or JavaScript for a web service?"
        known = memory.context(message, budget=500, tags=["alice"])
        assistant.update_system_message(f"You are a helpful assistant.\n\n{known}")
        user.initiate_chat(assistant, message=message, max_turns=1, silent=True)
        print(assistant.system_message)
