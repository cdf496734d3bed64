"""Who settles what the rules find unclear: nobody by default, or a language model.

A judge is believed no further than the rules allow: what cannot be read is "unclear", a pinned
memory never loses, and one told by a less trusted writer never wins. A model is believed only if
it says the same whichever statement it is shown first: small ones take the first, whatever it is.
"""

from __future__ import annotations

from typing import Any, Protocol

from holdfast import suspicion, trust
from holdfast.errors import Invalid
from holdfast.extract import chat
from holdfast.extract.chat import Chat, Task
from holdfast.extract.reconcile import Statement

FIRST, SECOND, BOTH, UNCLEAR = VERDICTS = ("first", "second", "both", "unclear")
TURNED = {FIRST: SECOND, SECOND: FIRST, BOTH: BOTH}  # what the same verdict is in the other order
CONTENT_LETTERS = 2000  # of each statement, as a model sees it
SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": list(VERDICTS)}},
}


class Judge(Protocol):
    """Two statements in, a verdict out."""

    def verdict(self, first: Statement, second: Statement) -> str:
        """Which of two statements holds: `first`, `second`, `both`, or `unclear`."""


class LLMJudge:
    """A model behind `base_url`, asked about one pair at a time, in either order."""

    def __init__(
        self, base_url: str, model: str, api_key: str | None = None, **options: Any
    ) -> None:
        self._chat = Chat(base_url, model, api_key, **options)
        self._task = Task.of_file("judge.txt", "verdict", SCHEMA)
        self.usage = self._chat.usage

    def verdict(self, first: Statement, second: Statement) -> str:
        """Which of two statements holds, by the model; `unclear` unless it says so twice."""
        found = self._asked(first, second)
        sure = found in TURNED and self._asked(second, first) == TURNED[found]
        return found if sure else UNCLEAR

    def _asked(self, first: Statement, second: Statement) -> str:
        said = f"<first>{_line(first)}</first>\n<second>{_line(second)}</second>"
        return self._chat.answered(self._task, said, _checked) or UNCLEAR


def _line(told: Statement) -> str:
    who = f"{told.writer or 'nobody named'} ({told.role})"
    words = chat.quoted(" ".join(told.content.split()))[:CONTENT_LETTERS]
    return f"{told.since:%Y-%m-%d}, told by {chat.quoted(who)}: {words}"


def _checked(answer: Any) -> str:
    found = answer.get("verdict") if isinstance(answer, dict) else None
    if found not in VERDICTS:
        raise ValueError("no verdict")
    return str(found)


def ruled(judge: Judge, first: Statement, second: Statement) -> str:
    """The verdict of a judge on two statements, as far as it may be followed."""
    if suspicion.found(first.content) or suspicion.found(second.content):
        return UNCLEAR
    found = judge.verdict(first, second)
    if found == FIRST and not _may_win(first, second):
        return UNCLEAR
    if found == SECOND and not _may_win(second, first):
        return UNCLEAR
    return found if found in VERDICTS else UNCLEAR


def _may_win(winner: Statement, loser: Statement) -> bool:
    return not loser.pinned and trust.of(winner.role) >= trust.of(loser.role)


def open_judge(name: str) -> Judge:
    """The judge of a name: `llm`, as `$HOLDFAST_LLM_URL` and its like say."""
    if name != "llm":
        raise Invalid(f"There is no judge {name!r}.", "Use llm, or pass one of your own.")
    return LLMJudge(*chat.from_environment())
