"""A group chat that is killed in the middle and goes on with the right speaker."""

import os
import signal
import subprocess
import sys
import tempfile
from typing import Any

from autogen import ConversableAgent, GroupChatManager
from scripted_model import ScriptedModel, config_for

from holdfast import Memory
from holdfast.integrations.autogen import PersistentGroupChat


def run(url: str, part: str) -> None:
    with ScriptedModel(["I have spoken."]) as model:
        talk(url, part, config_for(model))


def talk(url: str, part: str, llm_config: dict[str, Any]) -> None:
    asked = 0

    def agent(name: str) -> ConversableAgent:
        def crash(*_: object, **__: object) -> tuple[bool, None]:
            nonlocal asked
            asked += 1
            if part == "first" and asked == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return False, None  # the model is to answer

        one = ConversableAgent(name, llm_config=llm_config, human_input_mode="NEVER")
        one.register_reply([ConversableAgent, None], crash)
        return one

    agents = [agent(name) for name in ("coder", "reviewer", "planner")]
    chat = PersistentGroupChat(
        agents,
        Memory("team", url),
        chat="api-design",
        max_round=3,
        speaker_selection_method="round_robin",
    )
    manager = GroupChatManager(chat, llm_config=False, silent=True)
    if not chat.messages:
        agents[0].initiate_chat(manager, message="Let us design the API.", silent=True)
    else:
        print("spoke before the kill:", chat.speakers)
        chat.go_on(manager, silent=True)
        print("spoke in the end:     ", chat.speakers)


if len(sys.argv) > 1:
    run(*sys.argv[1:])
else:
    with tempfile.TemporaryDirectory() as folder:
        for part in ("first", "second"):
            done = subprocess.run(
                [sys.executable, __file__, f"sqlite:///{folder}/m.db", part], check=False
            )
            print(f"the {part} process ended with {done.returncode}", flush=True)
