"""Two agents with a memory of their own each, and one that they share."""

import tempfile
from pathlib import Path

from holdfast import Memory, NotFound


def main(url: str) -> None:
    team, ana, bo = Memory("team", url), Memory("team/ana", url), Memory("team/bo", url)

    team.remember("We deploy on Tuesdays, never on Fridays", kind="decision", source="ana")
    ana.remember("Ana deploys with the blue script", kind="procedural")
    secret = bo.remember("Bo is looking for another job").id

    # Each looks in its own scope and the shared one, and nowhere else.
    for agent in (ana, bo):
        found = agent.recall(
            "deploy on Tuesdays with the blue script?", scopes=["team", agent.scope]
        )
        print(f"{agent.scope} finds:")
        for hit in found:
            print(f"  [{hit.memory.scope}] {hit.content}")

    # A wrong scope is the same as an id that never was.
    try:
        ana.read(secret)
    except NotFound as error:
        print(f"ana asks for bo's secret: {error.message}")

    # What one agent ruled out warns the other, before everything else.
    ana.remember("The blue script fails without VPN", kind="lesson")
    print(ana.context("deploy with the blue script on Tuesdays", scopes=["team", ana.scope]))

    # Bo leaves: one call, one receipt.
    receipt = bo.forget(everything=True)
    print(f"bo leaves; forgotten: {receipt.memories}; the team still has {team.stats().memories}")
    for memory in (team, ana, bo):
        memory.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(f"sqlite:///{Path(folder) / 'team.db'}")
