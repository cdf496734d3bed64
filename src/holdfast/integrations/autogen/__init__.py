"""Classic AutoGen (`autogen` 0.14, `ag2<1`, `pyautogen` 0.9, 0.2.40): agents that remember."""

from holdfast.integrations.autogen.groupchat import PersistentGroupChat
from holdfast.integrations.autogen.hooks import Attachment, MemoryAgent, attach, attached, detach
from holdfast.integrations.autogen.persistence import Persistence, PersistentAgent, persist
from holdfast.integrations.autogen.teachability import Teachability, import_teachability
from holdfast.integrations.autogen.team import Team
from holdfast.integrations.autogen.tools import memory_functions, register_memory_tools
from holdfast.integrations.turns import TurnPolicy

__all__ = [
    "Attachment",
    "MemoryAgent",
    "Persistence",
    "PersistentAgent",
    "PersistentGroupChat",
    "Teachability",
    "Team",
    "TurnPolicy",
    "attach",
    "attached",
    "detach",
    "import_teachability",
    "memory_functions",
    "persist",
    "register_memory_tools",
]
