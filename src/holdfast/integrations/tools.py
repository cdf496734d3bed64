"""The tools of a memory, for any framework: plain functions with annotated parameters.

They are closures that return text, since that is what every framework can register and show to
a model; they never raise, and take no longer than a turn's time.
"""

# No `from __future__ import annotations`: frameworks read these signatures, and not all of them
# can read one that is text.

from collections.abc import Callable, Iterable
from typing import Annotated, Any

from holdfast.integrations.companion import Companion, failure, outcome
from holdfast.integrations.turns import Said

Tool = Callable[..., str]
NAMES = ("remember", "recall", "forget", "update")
KINDS = "One of preference, decision, fact, context, lesson or temporary"
DESCRIPTIONS = {
    "remember": (
        "Store one statement in long-term memory, so that it is known in later conversations: "
        "a preference, a decision and why, a fact, a lesson. Write it so that it can be "
        "understood on its own."
    ),
    "recall": (
        "Search long-term memory for what is known about something. Use it before answering "
        "questions about earlier conversations, decisions or preferences. Each line begins with "
        "the memory's id."
    ),
    "forget": "Remove one memory for good, by the id that recall or remember gave.",
    "update": "Give a memory new words, by its id; the old ones stay in its history.",
}
PARAMETERS: dict[str, dict[str, Any]] = {
    "remember": {
        "content": {"type": "string", "description": "The statement, complete in itself"},
        "kind": {"type": "string", "description": KINDS},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Labels"},
    },
    "recall": {
        "query": {"type": "string", "description": "What you want to know"},
        "limit": {"type": "integer", "description": "How many memories at most"},
    },
    "forget": {"id": {"type": "string", "description": "The memory's id"}},
    "update": {
        "id": {"type": "string", "description": "The memory's id"},
        "content": {"type": "string", "description": "The new words"},
    },
}
REQUIRED = {
    "remember": ["content"],
    "recall": ["query"],
    "forget": ["id"],
    "update": ["id", "content"],
}


def tools(
    companion: Companion, writer: str | None = None, names: Iterable[str] = NAMES
) -> dict[str, Tool]:
    """The functions by name; what is remembered names the `writer` as its source."""
    companion.warm_up()
    known = {**_reading(companion), **_writing(companion, writer)}
    chosen = {name: known[name] for name in names}
    for name, tool in chosen.items():
        tool.__name__ = tool.__qualname__ = name
        tool.__doc__ = DESCRIPTIONS[name]
    return chosen


def schemas(names: Iterable[str] = NAMES) -> list[dict[str, Any]]:
    """The tools as the `functions` of an old `llm_config` have them."""
    return [
        {
            "name": name,
            "description": DESCRIPTIONS[name],
            "parameters": {
                "type": "object",
                "properties": PARAMETERS[name],
                "required": REQUIRED[name],
            },
        }
        for name in names
    ]


def _reading(companion: Companion) -> dict[str, Tool]:
    memory = companion.memory

    def recall(
        query: Annotated[str, "What you want to know"],
        limit: Annotated[int, "How many memories at most"] = 5,
    ) -> str:
        companion.begin()
        most = max(1, min(limit, 50))
        try:
            found = companion.demand(lambda: memory.recall(query, most, scopes=companion.scopes))
        except Exception as error:
            return failure(error)
        companion.tell([hit.content for hit in found])
        lines = [_line(hit.memory) for hit in (*found.avoid, *found)]
        return "\n".join(dict.fromkeys(lines)) or "Nothing relevant is known."

    return {"recall": recall}


def _line(memory: Any) -> str:
    said = [memory.kind, f"{memory.happened_at:%Y-%m-%d}"]
    if memory.writer:
        said.append(memory.writer)
    avoid = "AVOID: " if memory.avoid else ""
    return f"{memory.id} [{', '.join(said)}] {avoid}{memory.content}"


def _writing(companion: Companion, writer: str | None) -> dict[str, Tool]:
    memory = companion.memory

    def remember(
        content: Annotated[str, "The statement, complete in itself"],
        kind: Annotated[str, KINDS] = "fact",
        tags: Annotated[list[str] | None, "Labels"] = None,
    ) -> str:
        companion.begin()
        said = Said(content, writer, "agent")
        write = companion.keep(content, kind, said, tags=tags or (), ttl=None)
        companion.tell([content])  # the agent will say that it did; that need not be kept
        made = write.answer
        return outcome(write, f"Remembered (id {made.id})." if made else "")

    def forget(id: Annotated[str, "The memory's id"]) -> str:
        companion.begin()
        write = companion.write("forget", lambda: memory.forget(id))
        gone = write.answer and write.answer.memories
        return outcome(write, "Forgotten." if gone else "There is no memory with that id.")

    def update(
        id: Annotated[str, "The memory's id"], content: Annotated[str, "The new words"]
    ) -> str:
        companion.begin()
        write = companion.write("revise", lambda: memory.revise(id, content))
        companion.tell([content])
        return outcome(write, "Updated.")

    return {"remember": remember, "forget": forget, "update": update}
