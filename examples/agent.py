"""An agent that remembers its user between runs. Run it twice."""

import re
from datetime import datetime, timezone

from holdfast import Memory

SCRIPT = ["My name is Ines", "I am allergic to peanuts", "Am I allergic to these peanuts?"]


def model(prompt: str, said: str) -> str:
    """Stands in for a language model: it only knows what the prompt tells it."""
    if said.startswith(("My name", "I am")):
        return "Noted."
    return "Yes, take an apple." if "allergic to peanuts" in prompt else "Not that I know of."


def learn(memory: Memory, said: str, session: str) -> None:
    """What is worth keeping. Yours may ask a model; this one looks for statements about oneself."""
    if re.match(r"(My|I) .*[^?]$", said):
        kind = "preference" if "allergic" in said else "fact"
        memory.remember(f"The user said: {said}", kind=kind, session=session, source="user")


def turn(memory: Memory, said: str, session: str) -> str:
    prompt = f"You suggest snacks.\n{memory.context(said, budget=400)}\nUser: {said}\n"
    answer = model(prompt, said)
    learn(memory, said, session)
    return answer


def main() -> None:
    with Memory("example-agent") as memory:
        run = memory.increment("runs").value
        session = f"{datetime.now(timezone.utc):%Y-%m-%d}/{run}"
        print(f"run {run}; I hold {memory.stats().memories} memories")
        for said in SCRIPT if run == 1 else SCRIPT[2:]:
            print(f"user:  {said}")
            print(f"agent: {turn(memory, said, session)}")


if __name__ == "__main__":
    main()
