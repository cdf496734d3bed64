"""Memory tools for classic agents: one who may call them, one who runs them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Iterable
from typing import Any

from holdfast import Memory
from holdfast.integrations.autogen.hooks import attached
from holdfast.integrations.companion import Companion
from holdfast.integrations.tools import DESCRIPTIONS, NAMES, Tool, schemas, tools
from holdfast.integrations.turns import TurnPolicy

# The attribute of an executor with what it runs for each caller: one name, several behind it.
PLACE = "_holdfast_tools"


def register_memory_tools(
    memory: Memory | Companion,
    *,
    caller: Any,
    executor: Any,
    names: Iterable[str] = NAMES,
    policy: TurnPolicy | None = None,
) -> dict[str, Tool]:
    """Lets `caller` use the memory by tools that `executor` runs; gives the functions.

    Several callers can share an executor: each one's memories name it as their source. An agent
    with a memory attached to the same scope uses that attachment.

        register_memory_tools(memory, caller=assistant, executor=user_proxy)
    """
    companion = _companion(memory, caller, policy)
    made = tools(companion, caller.name, names)
    for name, tool in made.items():
        caller.register_for_llm(name=name, description=DESCRIPTIONS[name])(tool)
        _register_for_execution(executor, name, caller.name, tool)
    return made


def memory_functions(
    memory: Memory | Companion, writer: str | None = None, names: Iterable[str] = NAMES
) -> tuple[list[dict[str, Any]], dict[str, Tool]]:
    """The tools in the older form: `functions` for an `llm_config`, and a `function_map`.

    functions, function_map = memory_functions(memory, "assistant")
    """
    chosen = tuple(names)
    companion = memory if isinstance(memory, Companion) else Companion(memory)
    return schemas(chosen), tools(companion, writer, chosen)


def _companion(memory: Memory | Companion, caller: Any, policy: TurnPolicy | None) -> Companion:
    if isinstance(memory, Companion):
        return memory
    there = attached(caller)
    if there is not None and there.memory is memory:
        return there.companion
    return Companion(memory, policy)


def _register_for_execution(executor: Any, name: str, caller: str, tool: Tool) -> None:
    known: dict[str, dict[str, Tool]] = vars(executor).setdefault(PLACE, {})
    if name in known:
        known[name][caller] = tool
        return
    known[name] = {caller: tool}
    behind = weakref.ref(executor)

    @functools.wraps(tool)
    def run(*args: Any, **kwargs: Any) -> str:
        who = _who_asks(behind(), known[name])
        return known[name][who](*args, **kwargs)

    executor.register_for_execution(name=name)(run)


def _who_asks(executor: Any, callers: dict[str, Tool]) -> str:
    """Who made the call that is being run: the peer, or in a group whoever the message names."""
    for peer, messages in executor.chat_messages.items():
        last = messages[-1] if messages else {}
        name = last.get("name") or peer.name
        if name in callers and (last.get("tool_calls") or last.get("function_call")):
            return str(name)
    return next(reversed(callers))
