"""A hand-off between two processes: one puts the work down, exactly one takes it."""

import subprocess
import sys
import tempfile

from autogen import ConversableAgent

from holdfast import Memory
from holdfast.integrations.autogen import persist


def run(url: str, part: str) -> None:
    with Memory("shared-desk", url) as memory:
        agent = ConversableAgent(part, llm_config=False, human_input_mode="NEVER")
        desk = persist(agent, memory)
        if part == "researcher":
            memory.remember("FastAPI validates requests with Pydantic", source="researcher")
            desk.hand_over({"topic": "FastAPI", "next": "write it up"})
            print("researcher: put down")
        else:
            print(f"{part}: took {desk.take_over()}")
            print(f"{part}: knows {[hit.content for hit in memory.recall('what is FastAPI?')]}")


if len(sys.argv) > 1:
    run(*sys.argv[1:])
else:
    with tempfile.TemporaryDirectory() as folder:
        for part in ("researcher", "writer", "latecomer"):
            again = [sys.executable, __file__, f"sqlite:///{folder}/m.db", part]
            subprocess.run(again, check=True)
