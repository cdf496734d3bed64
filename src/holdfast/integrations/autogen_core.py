"""AutoGen 0.4+: the memory that its agents take, and what it takes to write to it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime, timezone
from typing import Any, Literal
from urllib.parse import unquote

from autogen_core import CancellationToken, Component, FunctionCall
from autogen_core.memory import (
    Memory,
    MemoryContent,
    MemoryMimeType,
    MemoryQueryResult,
    UpdateContextResult,
)
from autogen_core.model_context import ChatCompletionContext, ChatCompletionContextState
from autogen_core.models import (
    AssistantMessage,
    FunctionExecutionResult,
    FunctionExecutionResultMessage,
    SystemMessage,
    UserMessage,
)
from pydantic import BaseModel
from typing_extensions import Self

from holdfast import Invalid, Record, Weights
from holdfast import Memory as Holdfast
from holdfast.integrations import turns
from holdfast.integrations.companion import Companion, Counts
from holdfast.integrations.turns import TurnPolicy

Inject = Literal["system", "user", "tool"]
CALL = "holdfast-recall"  # the id of the call that an injected tool message answers
SOURCE = "memory"  # who an injected user message is from
SECRETS = ("password", "secret", "token", "api_key")  # how options of a URL end that are some
THEIRS = ("score_threshold", "distance_threshold", "sequential")  # arguments of other memories
RANKED = ("min_score", "weights", "scopes", "now")  # arguments that the newest have no use for
SIMILARITY = Weights(similarity=1.0, recency=0.0, frequency=0.0)
EARLIEST = datetime(2, 1, 1, tzinfo=timezone.utc)


class AutoGenMemoryConfig(BaseModel):
    """What `dump_component` writes down; no key, and no password in the URL."""

    scope: str
    url: str | None = None
    inject: Inject = "system"
    limit: int = 5
    min_score: float | None = None
    also: list[str] = []
    # The parts of a TurnPolicy.
    seconds: float = 1.0
    budget: int = 800
    recall: bool = True
    incoming: bool = True
    outgoing: bool = True
    learn_every: int = 10
    quiet: float = 30.0
    kind: str = "interaction"
    ttl: float | None = None


class AutoGenMemory(Memory, Component[AutoGenMemoryConfig]):
    """A memory for `AssistantAgent(memory=[…])` in one scope.

    What is relevant to the turn goes into the model's context as one block, which takes the
    place of the last one: as a system message, or where a model takes only one of these, as a
    user message or as the answer to a tool call.

        AssistantAgent("assistant", client, memory=[AutoGenMemory("assistant-user123")])
    """

    component_type = "memory"
    component_config_schema = AutoGenMemoryConfig
    component_provider_override = "holdfast.integrations.autogen_core.AutoGenMemory"

    def __init__(
        self,
        scope: str | None = None,
        url: str | None = None,
        *,
        memory: Holdfast | None = None,
        inject: Inject = "system",
        limit: int = 5,
        min_score: float | None = None,
        also: Sequence[str] = (),
        policy: TurnPolicy | None = None,
        **how: Any,
    ) -> None:
        self.memory = memory or Holdfast(scope or "autogen", url, **how)
        self._url, self._elsewhere = url, memory is not None and url is None
        self._inject, self._limit, self._min_score = inject, limit, min_score
        self.companion = Companion(self.memory, policy, also=also)
        self.companion.warm_up()

    @property
    def counts(self) -> Counts:
        """What was done, what failed, and what waits."""
        return self.companion.counts

    # --- the protocol ---

    async def update_context(self, model_context: ChatCompletionContext) -> UpdateContextResult:
        """Puts what is relevant to the last turns into a context, in place of the last block."""
        messages = [message for message in await _messages(model_context) if not _ours(message)]
        self.companion.begin()
        plain = [_plain(one) for one in messages]
        block, hits = await asyncio.to_thread(self.companion.found, plain)
        await self._place(model_context, messages, block)
        results = [_content(hit.memory, hit.score) for hit in hits[: self._limit]]
        return UpdateContextResult(memories=MemoryQueryResult(results=results))

    async def query(
        self,
        query: str | MemoryContent,
        cancellation_token: CancellationToken | None = None,
        **kwargs: Any,
    ) -> MemoryQueryResult:
        """What answers a query, best first; `limit`, `min_score` and recall's filters by name.

        With `sequential`, the newest memories instead, whatever the query.
        """
        if not isinstance(query, str | MemoryContent):
            raise TypeError(f"'query' must be a text or a MemoryContent, not {type(query)}.")
        text = query if isinstance(query, str) else _text(query)
        if not text.strip():
            return MemoryQueryResult(results=[])
        how, newest = _known({"limit": self._limit, **kwargs}), kwargs.get("sequential")
        self.companion.begin()
        ask = (lambda: self._newest(**how)) if newest else (lambda: self._best(text, **how))
        results = await asyncio.to_thread(self.companion.demand, ask)
        return MemoryQueryResult(results=results)

    def _best(self, text: str, **how: Any) -> list[MemoryContent]:
        least = {"min_score": self._min_score, **how}
        hits = self.memory.recall(text, scopes=self.companion.scopes, **least)
        return [_content(hit.memory, hit.score) for hit in hits]

    def _newest(self, **how: Any) -> list[MemoryContent]:
        page = self.memory.list(**{name: how[name] for name in how if name not in RANKED})
        return [_content(record) for record in page]

    async def add(
        self, content: MemoryContent, cancellation_token: CancellationToken | None = None
    ) -> None:
        """Remembers a content; what cannot be stored now is stored as soon as it can be."""
        text, metadata = _text(content), dict(content.metadata or {})
        kind = str(metadata.get("kind", "fact"))
        meta = {"mime_type": _mime(content), "metadata": metadata}
        self.companion.begin()
        write = await asyncio.to_thread(
            lambda: self.companion.keep(text, kind, meta=meta, session=metadata.get("session"))
        )
        if write.error is not None:
            raise write.error

    async def clear(self) -> None:
        """Forgets every memory of the scope; its key-value state stays."""
        await asyncio.to_thread(self.memory.forget, since=EARLIEST)

    async def reset(self) -> None:
        """The same as `clear`, as AutoGen's memory on ChromaDB calls it."""
        await self.clear()

    async def close(self) -> None:
        """Waits for what is not written yet, and lets go of the store; nothing is removed."""
        await asyncio.to_thread(self.companion.finish)
        await asyncio.to_thread(self.memory.close)

    def _to_config(self) -> AutoGenMemoryConfig:
        if self._elsewhere:
            raise Invalid(
                "Which store this memory is in was not said, so it cannot be written down.",
                "Give its url beside it: AutoGenMemory(memory=memory, url=…).",
            )
        return AutoGenMemoryConfig(
            scope=self.memory.scope,
            url=_without_secrets(self._url),
            inject=self._inject,
            limit=self._limit,
            min_score=self._min_score,
            also=list(self.companion.scopes[1:]),
            **asdict(self.companion.policy),
        )

    @classmethod
    def _from_config(cls, config: AutoGenMemoryConfig) -> Self:
        policy = TurnPolicy(
            **{part.name: getattr(config, part.name) for part in fields(TurnPolicy)}
        )
        return cls(
            config.scope,
            config.url,
            inject=config.inject,
            limit=config.limit,
            min_score=config.min_score,
            also=config.also,
            policy=policy,
        )

    # --- how ---

    async def _place(self, context: ChatCompletionContext, messages: list[Any], block: str) -> None:
        """The block right before the last message: what comes before stays as it was."""
        new = _injected(self._inject, block) if block else []
        at = max(0, len(messages) - 1)
        placed = [*messages[:at], *new, *messages[at:]]
        state = dict(await context.save_state())
        state["messages"] = [message.model_dump() for message in placed]
        await context.load_state(state)


async def _messages(context: ChatCompletionContext) -> list[Any]:
    """All messages of a context: what it shows to a model may be a part."""
    return list(ChatCompletionContextState.model_validate(await context.save_state()).messages)


def _injected(how: Inject, block: str) -> list[Any]:
    if how == "system":
        return [SystemMessage(content=block)]
    if how == "user":
        return [UserMessage(content=block, source=SOURCE)]
    asked = FunctionCall(id=CALL, name="recall", arguments="{}")
    found = FunctionExecutionResult(content=block, name="recall", call_id=CALL, is_error=False)
    return [
        AssistantMessage(content=[asked], source=SOURCE),
        FunctionExecutionResultMessage(content=[found]),
    ]


def _ours(message: Any) -> bool:
    """True for what `_injected` made, in this process or before a restart."""
    if isinstance(message, FunctionExecutionResultMessage):
        return any(one.call_id == CALL for one in message.content)
    if isinstance(message, AssistantMessage) and isinstance(message.content, list):
        return any(one.id == CALL for one in message.content)
    if isinstance(message, UserMessage) and message.source != SOURCE:
        return False
    return turns.is_block(message.content)


def _plain(message: Any) -> dict[str, Any]:
    """A message of a context as the others have them."""
    if isinstance(message, FunctionExecutionResultMessage):
        return {"role": "tool", "content": ""}
    content = message.content
    if isinstance(content, list):
        content = [part for part in content if isinstance(part, str)]
    return {"role": "system" if isinstance(message, SystemMessage) else "user", "content": content}


def _mime(content: MemoryContent) -> str:
    mime = content.mime_type
    return mime.value if isinstance(mime, MemoryMimeType) else str(mime)


def _text(content: MemoryContent) -> str:
    """The words of a content; of what has none, those that its metadata gives as `text`."""
    mime = _mime(content)
    if isinstance(content.content, str) and mime != MemoryMimeType.JSON.value:
        return content.content
    if isinstance(content.content, dict):
        return json.dumps(content.content, ensure_ascii=False)
    if mime == MemoryMimeType.JSON.value:
        raise ValueError("JSON content must be a dict.")
    words = (content.metadata or {}).get("text")
    if isinstance(words, str) and words.strip():
        return words
    raise ValueError(
        f"Unsupported content type: {mime}. A memory is words: say what it shows, "
        'as metadata={"text": "…"}; the bytes are not kept.'
    )


def _content(memory: Record, score: float | None = None) -> MemoryContent:
    meta, content = memory.meta, memory.content
    mime, given = meta.get("mime_type", MemoryMimeType.TEXT.value), meta.get("metadata", {})
    held: Any = content
    if mime == MemoryMimeType.JSON.value:
        held = json.loads(content)
    elif mime not in (MemoryMimeType.TEXT.value, MemoryMimeType.MARKDOWN.value):
        mime = MemoryMimeType.TEXT.value  # the words of what had none
    told: dict[str, Any] = {"id": memory.id, "kind": memory.kind}
    told["created_at"] = memory.created_at.isoformat()
    if score is not None:
        told["score"] = float(score)
    if memory.writer:
        told["source"] = memory.writer
    return MemoryContent(content=held, mime_type=mime, metadata={**told, **given})


def _known(how: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `recall`, also by the names that other memories have for them."""
    names = {"k": "limit", "top_k": "limit"}
    ours = {names.get(name, name): value for name, value in how.items() if name not in THEIRS}
    near, far = how.get("score_threshold"), how.get("distance_threshold")
    if near is None and far is None:
        return ours
    # Theirs are about similarity, and nothing else.
    least = 1 - float(far or 0) if near is None else near
    return {**ours, "min_score": least, "weights": SIMILARITY}


def _without_secrets(url: str | None) -> str | None:
    place, mark, options = (url or "").partition("?")
    names = [(unquote(option.partition("=")[0]).lower(), option) for option in options.split("&")]
    kept = "&".join(option for name, option in names if not name.endswith(SECRETS))
    return re.sub("(?<=://)[^/#]*@", "", place) + (mark and kept and f"?{kept}") or None
