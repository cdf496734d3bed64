"""An agent whose conversation, preferences and patterns survive a restart."""

import subprocess
import sys
import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import Memory
from holdfast.integrations.autogen import PersistentAgent


def run(url: str, message: str) -> None:
    with ScriptedModel(["Hello!"]) as model:
        agent = PersistentAgent(
            "assistant",
            memory=Memory("autogen-assistant", url),
            llm_config=config_for(model),
            human_input_mode="NEVER",
        )
        user = ConversableAgent("user", llm_config=False, human_input_mode="NEVER")
        user.initiate_chat(agent, message=message, max_turns=1, silent=True)
        agent.learn_preference("language", "TypeScript")
        print([said["content"] for said in agent.chat_messages[user]])
        print(agent.get_context())


if len(sys.argv) > 1:
    run(*sys.argv[1:])
else:
    with tempfile.TemporaryDirectory() as folder:
        for words in ("My name is Sarah.", "What is my name?"):  # a process of its own for each
            again = [sys.executable, __file__, f"sqlite:///{folder}/m.db", words]
            subprocess.run(again, check=True)
