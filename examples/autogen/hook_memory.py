"""Memory by hooks: two lines for an agent you have, and it knows you in the next session."""

import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import Memory
from holdfast.integrations.autogen import attach


def session(model: ScriptedModel, memory: Memory, message: str) -> None:
    assistant = ConversableAgent(
        "assistant",
        system_message="You are a software engineering assistant.",
        llm_config=config_for(model),
        human_input_mode="NEVER",
    )
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    remembering = attach(assistant, memory)
    done = user.initiate_chat(assistant, message=message, max_turns=1, silent=True)
    remembering.finish()
    print(f"system message:\n{assistant.system_message}")
    print(f"user:      {message}\nassistant: {done.chat_history[-1]['content']}\n")


with tempfile.TemporaryDirectory() as folder, Memory("a", f"sqlite:///{folder}/m.db") as memory:
    script = ["PostgreSQL it is.", "You decided on PostgreSQL, not MongoDB."]
    with ScriptedModel(script) as model:
        session(model, memory, "Let us use PostgreSQL, not MongoDB, for the main store.")
        session(model, memory, "What have we decided about the database so far?")
