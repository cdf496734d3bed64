"""Learning every ten messages of a long chat, and from the rest when it is over."""

import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import Memory
from holdfast.integrations.autogen import attach

SAID = [
    "I prefer dark roast coffee.",
    "We decided to deploy on Fridays.",
    "We tried Redis pub/sub and it lost messages under load.",
    "I live in Porto.",
    "The launch is on the third of May.",
    "I prefer trains over planes.",
    "That is all.",
]

with tempfile.TemporaryDirectory() as folder, Memory("a", f"sqlite:///{folder}/m.db") as memory:
    left = iter(SAID[1:])
    with ScriptedModel(lambda asked: f"Noted ({len(asked.messages)}).") as model:
        assistant = ConversableAgent(
            "assistant", llm_config=config_for(model), human_input_mode="NEVER"
        )
        user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
        user.register_reply([ConversableAgent, None], lambda *_, **__: (True, next(left)))
        learning = attach(assistant, memory, learn_every=10, incoming=False, outgoing=False)
        user.initiate_chat(assistant, message=SAID[0], max_turns=len(SAID), silent=True)
        learning.companion.drain(10)
        print("learned so far:", len(memory.list()))
        learning.finish()
    for record in memory.list():
        print(f"[{record.kind}{', avoid' if record.avoid else ''}] {record.content}")
