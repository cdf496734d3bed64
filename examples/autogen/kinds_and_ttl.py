"""Kinds and lifetimes: what lasts, what fades, and what is gone after a while."""

import tempfile
from datetime import timedelta

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import Memory
from holdfast.integrations.autogen import attach

with tempfile.TemporaryDirectory() as folder, Memory("a", f"sqlite:///{folder}/m.db") as memory:
    memory.remember("Always use British spelling in documents", kind="preference")
    memory.remember("Deploy on Railway instead of ECS", kind="decision")
    memory.remember("Sprint 12 is about documents", kind="context", ttl=timedelta(days=30))
    memory.remember("Batch job 4421 stopped at row 8000", kind="temporary", ttl=timedelta(days=1))
    with ScriptedModel(["I shall write colour with a u in it."]) as model:
        assistant = ConversableAgent(
            "assistant", llm_config=config_for(model), human_input_mode="NEVER"
        )
        user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
        # What is said here is for today; what was remembered above is not touched by that.
        kept = attach(assistant, memory, kind="temporary", ttl=86_400.0)
        message = "Which spelling do I use in documents?"
        user.initiate_chat(assistant, message=message, max_turns=1, silent=True)
        kept.finish()
        print(assistant.system_message)
    for record in memory.list():
        lives = f"until {record.expires_at:%Y-%m-%d}" if record.expires_at else "for good"
        print(f"[{record.kind}, {lives}] {record.content}")
