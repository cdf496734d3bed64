"""The drop-in for `Teachability`: the same capability and arguments, and no model to analyse with.

`import_teachability` takes over what an agent was taught before.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

from autogen.agentchat.contrib.capabilities.agent_capability import AgentCapability

from holdfast import Invalid, Memory
from holdfast.integrations.autogen.hooks import Attachment, attach
from holdfast.integrations.turns import TurnPolicy

MEMOS = "uid_text_dict.pkl"
NOTE = "\nYou remember what you were told in earlier conversations."


class Teachability(AgentCapability):
    """Teaches an agent for good: `Teachability(memory=…).add_to_agent(agent)`.

    Takes the arguments of AutoGen's own. A store at `path_to_db_dir` is imported, once. The
    thresholds and the analyzer's model are not needed and do nothing.
    """

    def __init__(
        self,
        verbosity: int | None = 0,
        reset_db: bool | None = False,
        path_to_db_dir: str | None = "./tmp/teachable_agent_db",
        recall_threshold: float | None = 1.5,
        max_num_retrievals: int | None = 10,
        llm_config: Any = None,
        *,
        memory: Memory | str | None = None,
        policy: TurnPolicy | None = None,
    ) -> None:
        super().__init__()
        self.path_to_db_dir = Path(path_to_db_dir or "./tmp/teachable_agent_db")
        self.memory = memory if isinstance(memory, Memory) else Memory(memory or self._scope())
        self.attachment: Attachment | None = None
        self._policy = policy
        if reset_db:
            self.memory.forget(everything=True)
        elif (self.path_to_db_dir / MEMOS).exists():
            import_teachability(self.path_to_db_dir, self.memory)

    def add_to_agent(self, agent: Any) -> None:
        """Gives an agent this memory."""
        agent.update_system_message(agent.system_message + NOTE)
        self.attachment = attach(agent, self.memory, self._policy)

    def _scope(self) -> str:
        return f"teachability/{self.path_to_db_dir.name}"


def import_teachability(path: str | Path, memory: Memory) -> int:
    """Takes the memos of a Teachability store over; gives how many. Doing it again adds none.

    import_teachability("./tmp/teachable_agent_db", Memory("assistant"))
    """
    file = Path(path) / MEMOS if Path(path).is_dir() else Path(path)
    memos = [
        {
            "content": f"{asked}\n{answer}".strip(),
            "kind": "semantic",
            "tags": ["teachability"],
            "meta": {"memo": str(uid)},
        }
        for uid, (asked, answer) in _memos(file).items()
    ]
    if not memos:
        return 0
    told = hashlib.blake2b(repr(memos).encode(errors="replace"), digest_size=16).hexdigest()
    return len(memory.remember_many(memos, idempotency_key=f"teachability-{told}"))


class _Plain(pickle.Unpickler):
    """Reads texts, numbers and their containers; a pickle that asks for more is refused."""

    def find_class(self, module: str, name: str) -> Any:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def _memos(file: Path) -> dict[Any, tuple[str, str]]:
    try:
        with file.open("rb") as opened:
            found = _Plain(opened).load()
        return {uid: (str(asked), str(answer)) for uid, (asked, answer) in found.items()}
    except FileNotFoundError:
        raise Invalid(f"There is no Teachability store at {file}.", "Name its folder.") from None
    except Exception as error:
        raise Invalid(f"{file.name} is not a Teachability store: {error}.") from None
