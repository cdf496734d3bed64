"""Memory by tools: the model decides what to remember, and when to look."""

import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, call, config_for

from holdfast import Memory
from holdfast.integrations.autogen import register_memory_tools


def session(model: ScriptedModel, memory: Memory, message: str) -> None:
    assistant = ConversableAgent(
        "assistant",
        system_message="Remember what the user says is worth keeping; recall before you answer.",
        llm_config=config_for(model),
        human_input_mode="NEVER",
    )
    user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
    register_memory_tools(memory, caller=assistant, executor=user)
    done = user.initiate_chat(assistant, message=message, max_turns=2, silent=True)
    print(f"user:      {message}\nassistant: {done.chat_history[-1]['content']}")


with tempfile.TemporaryDirectory() as folder, Memory("a", f"sqlite:///{folder}/m.db") as memory:
    script = [
        call("remember", content="The main store is PostgreSQL, not MongoDB", kind="decision"),
        "I will remember that.",
        call("recall", query="which database is the main store?"),
        "PostgreSQL, not MongoDB.",
    ]
    with ScriptedModel(script) as model:
        session(model, memory, "We use PostgreSQL instead of MongoDB. Remember that.")
        session(model, memory, "Which database do we use?")
    for record in memory.list():
        print(f"remembered: [{record.kind}, by {record.source.writer}] {record.content}")
