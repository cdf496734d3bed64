"""AG2 1.x: memory as a policy, as a middleware, and as tools."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, get_type_hints

from ag2.events import BaseEvent, ModelRequest, ModelResponse, TextInput
from ag2.middleware import BaseMiddleware, Middleware
from ag2.tools import tool

from holdfast import Memory
from holdfast.integrations.companion import Companion
from holdfast.integrations.tools import NAMES, schemas, tools
from holdfast.integrations.turns import Said, TurnPolicy


class MemoryPolicy:
    """Recalls before each call of the model: for an agent's `assembly`. It writes nothing.

    Agent("assistant", config=config, assembly=[MemoryPolicy(Memory("assistant"))])
    """

    name = "episodic_memory"  # so that AG2 knows it adds context, and warns of a wrong order

    def __init__(self, memory: Memory | Companion, policy: TurnPolicy | None = None) -> None:
        self.companion = memory if isinstance(memory, Companion) else Companion(memory, policy)
        self.companion.warm_up()

    async def apply(
        self, prompts: list[str], events: list[BaseEvent], context: Any
    ) -> tuple[list[str], list[BaseEvent]]:
        """The prompts with what is relevant to the last events."""
        block = await _recalled(self.companion, events)
        return ([*prompts, block] if block else prompts), events


class MemoryMiddleware(BaseMiddleware):
    """Recalls before a turn's calls of the model, and keeps what came in and went out."""

    def __init__(self, event: Any, context: Any, *, companion: Companion, name: str) -> None:
        super().__init__(event, context)
        self._companion = companion
        self._name = name
        self._block: str | None = None

    async def on_turn(self, call_next: Any, event: Any, context: Any) -> Any:
        """A turn, with what was said kept around it."""
        self._companion.begin()
        policy = self._companion.policy
        try:
            response = await call_next(event, context)
        finally:
            # Only now: what the turn recalled is known, and need not be kept again.
            await self._hear(Said(_asked(event), "user", "user"), policy.incoming)
        await self._hear(Said(_answered(response), self._name, "agent"), policy.outgoing)
        return response

    async def on_llm_call(self, call_next: Any, events: Sequence[Any], context: Any) -> Any:
        """A call of the model, with what is relevant in its prompt, and nowhere else."""
        if self._block is None:
            self._block = await _recalled(self._companion, events)
        before = context.prompt
        context.prompt = [*before, self._block] if self._block else before
        try:
            return await call_next(events, context)
        finally:
            context.prompt = before

    async def _hear(self, said: Said, keep: bool) -> None:
        if said.text.strip():
            await asyncio.to_thread(self._companion.hear, said, keep)


def remembering(
    memory: Memory | Companion, name: str = "agent", policy: TurnPolicy | None = None
) -> Middleware:
    """A middleware that gives an agent this memory; `name` is who its answers are by.

    Agent("assistant", config=config, middleware=[remembering(Memory("assistant"), "assistant")])
    """
    companion = memory if isinstance(memory, Companion) else Companion(memory, policy)
    companion.warm_up()
    return Middleware(MemoryMiddleware, companion=companion, name=name)


def memory_tools(
    memory: Memory | Companion, writer: str | None = None, names: Iterable[str] = NAMES
) -> list[Any]:
    """remember, recall, forget and update, for an agent's `tools`.

    Agent("assistant", config=config, tools=memory_tools(Memory("assistant"), "assistant"))
    """
    companion = memory if isinstance(memory, Companion) else Companion(memory)
    chosen = tuple(names)
    made = tools(companion, writer, chosen)
    for one in made.values():  # AG2 takes the words beside a type for the name of a type
        one.__annotations__ = get_type_hints(one)
    return [tool(made[it["name"]], **_as_schema(it)) for it in schemas(chosen)]


def _as_schema(told: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": told["name"],
        "description": told["description"],
        "schema": told["parameters"],
    }


async def _recalled(companion: Companion, events: Iterable[Any]) -> str:
    said = [{"role": role, "content": text} for role, text in map(_said, events) if text]
    return await asyncio.to_thread(companion.context, said)


def _said(event: Any) -> tuple[str, str]:
    if isinstance(event, ModelRequest):
        return "user", _asked(event)
    return "assistant", _answered(event) if isinstance(event, ModelResponse) else ""


def _asked(event: Any) -> str:
    parts = getattr(event, "parts", ())
    return "\n".join(part.content for part in parts if isinstance(part, TextInput))


def _answered(event: Any) -> str:
    return str(getattr(event, "content", None) or "")
