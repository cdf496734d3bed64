"""What a turn of a conversation is to a memory: what to ask with it, and what of it to keep.

Pure: no framework, no memory, no clock. A message is a text, or a dict as AutoGen and OpenAI have
them; everything else an adapter turns into one of these first.
"""

from __future__ import annotations

import hashlib
import html
import re
import threading
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast import Invalid, Source

QUERY_CHARS = 1000  # what is longer asks by its beginning and its end
FEW_WORDS = 5  # with fewer, as in "and why?", a question leans on what was said before it
PART_CHARS = 8000  # of a stored message; 32 KiB even if every letter takes four bytes
ECHO = 0.6  # the share of a text's word triples that a memory has
TOLD = 200  # memories that an agent was shown lately,
MOST_TRIPLES = 50_000  # and of whose words so many are held, those let go included
Triple = tuple[str, ...]  # words that follow each other
PLUMBING = ("tool", "function", "system", "developer")
SMALL_TALK = frozenset(
    "ok okay yes yeah yep no nope thanks thank you sure great fine good nice cool hi hello hey bye "
    "goodbye terminate exit done perfect please welcome got it noted understood alright right will "
    "do i see".split()
)
_WORD = re.compile(r"\w+")
_BLOCK = re.compile(r"<memories note=[^>]*>.*?</memories>\s*", re.DOTALL)
_LINE = re.compile(r"^- \[[^\]\n]*\] (.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_UNCLEAN = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class TurnPolicy:
    """How an agent remembers: what is kept of its turns, and what memory may take of each.

    `seconds` is all the time that memory may take of one turn; `budget` the tokens that it may
    add to a prompt. Every `learn_every` messages (0: never), after `quiet` seconds without one
    and at the end, learnings are extracted. `recall` False keeps without asking.
    """

    seconds: float = 1.0
    budget: int = 800
    recall: bool = True
    incoming: bool = True
    outgoing: bool = True
    learn_every: int = 10
    quiet: float = 30.0
    kind: str = "interaction"
    ttl: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.seconds <= 600:
            raise Invalid(f"seconds must be from 0 to 600, not {self.seconds}.", "1.0 is usual.")
        if self.budget < 1 or self.learn_every < 0 or self.quiet <= 0:
            raise Invalid("budget and quiet must be positive, learn_every 0 or more.")


@dataclass(frozen=True)
class Said:
    """What one said: the words, who, and whether that is a user, an agent or a tool."""

    text: str
    speaker: str | None = None
    role: str = "user"

    @property
    def source(self) -> Source | None:
        """Who said it, as a memory's source."""
        return Source(self.speaker, self.role) if self.speaker else None

    @property
    def digest(self) -> bytes:
        """The same for the same words of the same speaker."""
        told = f"{self.speaker}\x00{self.text}".encode(errors="replace")
        return hashlib.blake2b(told, digest_size=16).digest()

    def message(self) -> dict[str, str]:
        """As `Memory.extract` takes it."""
        role = "assistant" if self.role == "agent" else self.role
        named = {"name": self.speaker} if self.speaker else {}
        return {"role": role, "content": self.text, **named}


def words(content: Any) -> str:
    """The text of a message or of its content; of a list of parts, the text parts."""
    if isinstance(content, Mapping):
        content = content.get("content")
    if isinstance(content, str):
        return _UNCLEAN.sub("�", content)
    if isinstance(content, Sequence) and not isinstance(content, bytes):
        parts = (part.get("text") if isinstance(part, Mapping) else part for part in content)
        return _UNCLEAN.sub("�", "\n".join(part for part in parts if isinstance(part, str)))
    return ""


def speech(message: Any) -> str:
    """The words of a message without injected memories; none if it is tool plumbing."""
    if isinstance(message, Mapping):
        calls = ("tool_calls", "function_call", "tool_responses", "tool_call_id")
        if message.get("role") in PLUMBING or any(message.get(call) for call in calls):
            return ""
    return without_block(words(message)).strip()


def is_block(text: Any) -> bool:
    """True for a text that is a block of memories and nothing else."""
    return isinstance(text, str) and bool(_BLOCK.fullmatch(text.strip()))


def without_block(text: str) -> str:
    """The text without any block of memories."""
    return _BLOCK.sub("", text) if "<memories" in text else text


def query(messages: Sequence[Any]) -> str:
    """What to recall with: the last message, and if it has few words those before it too."""
    asked = ""
    for message in reversed(messages):
        if text := speech(message):
            asked = f"{text}\n{asked}".strip()
            if len(_WORD.findall(asked)) >= FEW_WORDS:
                break
    if len(asked) > QUERY_CHARS:
        half = QUERY_CHARS // 2
        asked = f"{asked[:half]}\n{asked[-half:]}"
    return asked


def small_talk(text: str) -> bool:
    """True for what neither tells nor asks anything: blanks, thanks, a yes."""
    return len(text) < 4 or SMALL_TALK.issuperset(_WORD.findall(text.casefold()))


def trivial(text: str) -> bool:
    """True for what tells nothing: small talk, and nothing but questions."""
    if small_talk(text):
        return True
    sentences = [part.rstrip() for part in _SENTENCE.split(text) if part.strip()]
    return all(sentence.endswith(("?", "？")) for sentence in sentences)


def recalled(block: str) -> tuple[str, ...]:
    """The memories that a block shows, as they were told."""
    return tuple(html.unescape(line) for line in _LINE.findall(block))


class Told:
    """What an agent was shown lately, so that what only says it again is known for an echo."""

    def __init__(self, most: int = TOLD) -> None:
        self._most = most
        self._held: deque[frozenset[Triple]] = deque()
        self._often: Counter[Triple] = Counter()  # in how many of them each is
        self._lock = threading.Lock()

    def add(self, memories: Iterable[str]) -> None:
        """Takes in memories; those told longest ago are let go."""
        with self._lock:
            for memory in memories:
                self._held.append(_triples(memory))
                self._often.update(self._held[-1])
                if len(self._held) > self._most:
                    self._often.subtract(self._held.popleft())
            if len(self._often) > MOST_TRIPLES:
                self._often = +self._often  # without those that are in none

    def echoes(self, text: str) -> bool:
        """True if a text mostly says again, in the same order of words, what was told."""
        ours, often = _triples(text), self._often
        again = sum(often[triple] > 0 for triple in ours)
        return bool(ours) and again >= ECHO * len(ours)


def _triples(text: str) -> frozenset[Triple]:
    found = _WORD.findall(text.casefold())
    if len(found) < 3:
        return frozenset([tuple(found)] if found else [])
    return frozenset(zip(found, found[1:], found[2:], strict=False))


def parts(text: str) -> list[str]:
    """A text as pieces that each fit into one memory."""
    return [text[at : at + PART_CHARS] for at in range(0, len(text), PART_CHARS)]


def placed(prompt: str, old: str, new: str) -> str:
    """A prompt with its old block taken out and the new one at its end."""
    rest = prompt.replace(f"\n\n{old}", "", 1) if old else prompt
    if old and rest == prompt:
        rest = prompt.replace(old, "", 1)
    return f"{rest}\n\n{new}" if new and rest else new or rest
