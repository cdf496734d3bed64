from dataclasses import dataclass
from datetime import datetime, timezone

import pytest

from holdfast import Invalid, TooLarge
from holdfast.conversation import MESSAGES, parsed
from holdfast.model import Turn

AT = datetime(2026, 5, 3, 9, 30, tzinfo=timezone.utc)


@dataclass
class TextMessage:
    """As AutoGen has it."""

    source: str
    content: object
    type: str = "TextMessage"
    created_at: object = None


@pytest.mark.parametrize(
    ("conversation", "turns"),
    [
        ("", []),
        ("I like tea", [Turn("I like tea")]),
        ("Ann: hi\nthere\nBob: yes", [Turn("hi\nthere", "Ann"), Turn("yes", "Bob")]),
        ("[9:01 AM] Ann: hi\n[9:02 AM] Bob: yes", [Turn("hi", "Ann"), Turn("yes", "Bob")]),
        (
            "[2026-05-01 10:00] Ann: hi",
            [Turn("hi", "Ann", at=datetime(2026, 5, 1, 10, tzinfo=timezone.utc))],
        ),
        ("[2026-02-30 10:00] Ann: hi", [Turn("hi", "Ann")]),
        ("12/05/2026, 09:01 - Ann: hi", [Turn("hi", "Ann")]),
        ("12:00:01 ERROR db: refused", [Turn("12:00:01 ERROR db: refused")]),
        ("user: hi\nassistant: hello", [Turn("hi"), Turn("hello", role="agent")]),
        ("Note: see https://x.org: it works", [Turn("Note: see https://x.org: it works")]),
        ("Ann: see\n```\nBob: no turn\n```", [Turn("see\n```\nBob: no turn\n```", "Ann")]),
        ("Correction: I live in Bonn", [Turn("Correction: I live in Bonn")]),
        ("My plan: we ship", [Turn("My plan: we ship")]),
        ("Ludwig van Beethoven: hi", [Turn("hi", "Ludwig van Beethoven")]),
        (["Ann: hi", "plain"], [Turn("hi", "Ann"), Turn("plain")]),
        ([{"role": "user", "content": "hi"}], [Turn("hi")]),
        ([{"role": "user", "content": "Ann: hi"}], [Turn("hi", "Ann")]),
        ([{"role": "user", "name": "Ann", "content": "hi"}], [Turn("hi", "Ann")]),
        ([{"role": "assistant", "content": None, "tool_calls": []}], []),
        ([{"role": "tool", "content": "42", "id": "m1"}], [Turn("42", None, "tool", None, "m1")]),
        ([{"role": "developer", "content": "be nice"}], [Turn("be nice", role="system")]),
        (
            [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}],
            [Turn("a")],
        ),
        ([{"role": "user", "content": "hi", "timestamp": 0}], [
            Turn("hi", at=datetime(1970, 1, 1, tzinfo=timezone.utc))
        ]),
        ([TextMessage("ann", "hi", created_at=AT)], [Turn("hi", "ann", at=AT)]),
        ([TextMessage("user", "hi")], [Turn("hi")]),
        ([TextMessage("assistant_1", "hi")], [Turn("hi", "assistant_1", "agent")]),
        ([TextMessage("coder", "42", "ToolCallExecutionEvent")], [Turn("42", "coder", "tool")]),
        ([Turn("as it is", "Ann")], [Turn("as it is", "Ann")]),
    ],
)  # fmt: skip
def test_every_form_becomes_turns(conversation: object, turns: list[Turn]) -> None:
    assert list(parsed(conversation)) == turns


@pytest.mark.parametrize(
    "wrong",
    [
        *(None, 3, b"x", {"role": "user", "content": "hi"}, [3], [object()]),
        *([{"content": 3}], [{"content": "a\0b"}], [{"content": "x", "name": " "}]),
        *([{"content": "x", "timestamp": "soon"}], [{"content": "x", "timestamp": 1e30}]),
        [{"content": "x", "timestamp": "2026-05-03T09:30:00"}],  # of which zone?
    ],
)
def test_what_is_no_conversation_is_invalid(wrong: object) -> None:
    with pytest.raises(Invalid):
        parsed(wrong)


def test_there_are_limits() -> None:
    with pytest.raises(TooLarge):
        parsed(["x"] * (MESSAGES + 1))
    with pytest.raises(TooLarge):
        parsed("x" * (1 << 21))
