"""A hand-off between two processes: one puts the work down, exactly one takes it and goes on."""

import subprocess
import sys
import tempfile

from autogen import ConversableAgent
from scripted_model import ScriptedModel, config_for

from holdfast import Memory
from holdfast.integrations.autogen import attach, persist

FOUND = "FastAPI validates requests with Pydantic."


def run(url: str, part: str) -> None:
    with Memory("shared-desk", url) as memory, ScriptedModel([FOUND]) as model:
        agent = ConversableAgent(part, llm_config=config_for(model), human_input_mode="NEVER")
        editor = ConversableAgent("editor", llm_config=False, human_input_mode="NEVER")
        desk = persist(agent, memory)
        attach(agent, memory)
        if part == "researcher":
            editor.initiate_chat(agent, message="Find out about FastAPI.", max_turns=1, silent=True)
            desk.hand_over({"topic": "FastAPI", "next": "write it up"})
            print("researcher: put down")
            return
        work = desk.take_over()
        print(f"{part}: took {work}")
        if work:
            message = f"Write up {work['topic']}: how does it validate requests?"
            editor.initiate_chat(agent, message=message, max_turns=1, silent=True)
            print(f"{part}: was told\n{agent.system_message}")


if len(sys.argv) > 1:
    run(*sys.argv[1:])
else:
    with tempfile.TemporaryDirectory() as folder:
        for part in ("researcher", "writer", "latecomer"):
            again = [sys.executable, __file__, f"sqlite:///{folder}/m.db", part]
            subprocess.run(again, check=True)
