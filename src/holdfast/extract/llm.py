"""The extractor with a model: any OpenAI-compatible endpoint, believed no further than the text.

What the model answers is checked against a schema and against the conversation: a memory whose
words do not occur there is dropped. An answer that cannot be used is asked for again, and then the
rules do the work, so that nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from holdfast import suspicion, text, when
from holdfast.extract import Extractor, chat
from holdfast.extract.chat import ANSWER_BYTES, Chat, Task, Usage
from holdfast.extract.rules import Rules
from holdfast.model import Learning, Turn

__all__ = ["ANSWER_BYTES", "LLM", "Usage", "from_environment"]

KINDS = ("preference", "decision", "fact", "lesson", "task")
CHUNK_TOKENS = 4000  # of conversation in one request
CONTENT_LETTERS = 600  # a longer memory is no statement
GROUNDED = 0.75  # of a memory's words must occur in the conversation, and every number and name
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["memories"],
    "properties": {
        "memories": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["content", "kind", "about", "turns", "avoid"],
                "properties": {
                    "content": {"type": "string"},
                    "kind": {"type": "string", "enum": list(KINDS)},
                    "about": {"type": ["string", "null"]},
                    "turns": {"type": "array", "items": {"type": "integer"}},
                    "avoid": {"type": "boolean"},
                },
            },
        }
    },
}


class LLM:
    """A model behind `base_url`, which ends in `/v1` or its like.

    `timeout` (seconds) bounds each request as a whole. `fallback` does the work where the model
    cannot.
    """

    name = "llm"

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        fallback: Extractor | None = None,
        **options: Any,
    ) -> None:
        self._chat = Chat(base_url, model, api_key, **options)
        self._task = Task.of_file("learn.txt", "memories", SCHEMA)
        self._fallback = fallback or Rules()
        self.usage = self._chat.usage

    def extract(self, turns: Sequence[Turn], now: datetime) -> list[Learning]:
        """What lasts of the turns, by the model, or else by the fallback."""
        found: dict[str, Learning] = {}
        for numbers in _chunks(turns):
            for learning in self._chunk(turns, numbers, now):
                found.setdefault(learning.content.casefold(), learning)
        return list(found.values())

    def _chunk(self, turns: Sequence[Turn], numbers: range, now: datetime) -> list[Learning]:
        said = "\n".join(_line(number, turns[number], now) for number in numbers)
        checked = partial(self._checked, turns=turns, numbers=numbers, now=now)
        asked = f"<conversation>\n{said}\n</conversation>"
        found = self._chat.answered(self._task, asked, checked)
        if found is not None:
            return found
        learned = self._fallback.extract(turns[numbers.start : numbers.stop], now)
        return [_moved(learning, numbers.start) for learning in learned]

    def _checked(
        self, answer: Any, turns: Sequence[Turn], numbers: range, now: datetime
    ) -> list[Learning]:
        memories = answer.get("memories") if isinstance(answer, dict) else None
        if not isinstance(memories, list):
            raise ValueError("no list of memories")
        found: dict[str, Learning] = {}
        for memory in memories:
            try:
                learning = _learning(memory, turns, numbers, now)
            except ValueError as error:
                self.usage.drop(str(error))
                continue
            if learning.content.casefold() in found:
                self.usage.drop("repeated")
            found.setdefault(learning.content.casefold(), learning)
        return list(found.values())


def from_environment() -> LLM:
    """The model that `$HOLDFAST_LLM_URL`, `$HOLDFAST_LLM_MODEL` and `$HOLDFAST_LLM_KEY` name."""
    return LLM(*chat.from_environment())


def _chunks(turns: Sequence[Turn]) -> Iterator[range]:
    """The turns in parts that a model can read, in order."""
    start, used = 0, 0
    for number, turn in enumerate(turns):
        size = text.tokens(turn.text)
        if number > start and used + size > CHUNK_TOKENS:
            yield range(start, number)
            start, used = number, 0
        used += size
    if start < len(turns):
        yield range(start, len(turns))


def _line(number: int, turn: Turn, now: datetime) -> str:
    """A turn as the model sees it; its words cannot close the conversation."""
    words = chat.quoted(turn.text)[: CHUNK_TOKENS * 4]
    return f"[{number}] {(turn.at or now):%Y-%m-%d} {turn.speaker or turn.role}: {words}"


def _moved(learning: Learning, by: int) -> Learning:
    return Learning(
        content=learning.content,
        kind=learning.kind,
        turns=tuple(number + by for number in learning.turns),
        about=learning.about,
        happened_at=learning.happened_at,
        avoid=learning.avoid,
    )


def _learning(memory: Any, turns: Sequence[Turn], numbers: range, now: datetime) -> Learning:
    """A memory of the model's, if it may be taken; `ValueError` says why not."""
    if not isinstance(memory, dict):
        raise ValueError("not an object")
    content, kind = memory.get("content"), memory.get("kind")
    if not isinstance(content, str) or not content.strip() or kind not in KINDS:
        raise ValueError("without content or a known kind")
    content = " ".join(content.split())
    if len(content) > CONTENT_LETTERS or suspicion.found(content):
        raise ValueError("too long or suspicious")
    cited = memory.get("turns")
    from_turns = tuple(
        sorted(
            {n for n in cited if type(n) is int and n in numbers} if isinstance(cited, list) else ()
        )
    )
    usable = [n for n in from_turns if turns[n].role not in ("tool", "system")]
    if not usable:
        raise ValueError("without its source")
    if not _grounded(content, [turns[n] for n in numbers]):
        raise ValueError("not said in the conversation")
    about = memory.get("about")
    last = turns[usable[-1]]
    return Learning(
        content=content,
        kind=kind,
        turns=tuple(usable),
        about=about if isinstance(about, str) and about.strip() else None,
        happened_at=when.happened(content, last.at or now),
        avoid=memory.get("avoid") is True,
    )


def _grounded(content: str, turns: Sequence[Turn]) -> bool:
    """True if the words of a memory, and every number and name in it, were said."""
    said = {term for turn in turns for term in text.terms(f"{turn.speaker or ''} {turn.text}")}
    said |= {"user", "assist", "agent"}
    bare = re.sub(r"\b\d{4}-\d\d(?:-\d\d)?\b", " ", content)  # a date that was made absolute
    words = set(text.terms(bare))
    strict = {term for name in re.findall(r"\b[A-Z0-9][\w-]*", bare) for term in text.terms(name)}
    first = set(text.terms(bare.split(maxsplit=1)[0])) if bare.split() else set()
    if not words or (strict - first) - said:
        return False
    return len(words & said) >= GROUNDED * len(words)
