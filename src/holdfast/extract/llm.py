"""The extractor with a model: any OpenAI-compatible endpoint, believed no further than the text.

What the model answers is checked against a schema and against the conversation: a memory whose
words do not occur there is dropped. An answer that cannot be used is asked for again, and then the
rules do the work, so that nothing is lost.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib.resources import files
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from holdfast import suspicion, text, when
from holdfast.errors import ExtractorFailed, Invalid
from holdfast.extract import Extractor
from holdfast.extract.rules import Rules
from holdfast.model import Learning, Turn

KINDS = ("preference", "decision", "fact", "lesson", "task")
CHUNK_TOKENS = 4000  # of conversation in one request
ANSWER_TOKENS = 1500
ANSWER_BYTES = 256 * 1024
CONTENT_LETTERS = 600  # a longer memory is no statement
GROUNDED = 0.75  # of a memory's words must occur in the conversation, and every number and name
ATTEMPTS = 3
DECLINING = (400, 415, 422, 500, 501)  # what servers say to a form of answer they do not know
PASSING = (408, 409, 425, 429, 500, 502, 503, 504)
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
# How to ask for JSON of a schema: as OpenAI has it, as llama.cpp has it, or not at all.
FORMS: tuple[dict[str, Any], ...] = (
    {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "memories", "strict": True, "schema": SCHEMA},
        }
    },
    {"response_format": {"type": "json_object", "schema": SCHEMA}},
    {},
)


class _Declined(ExtractorFailed):
    """The server does not take a request in this form, or failed."""


@dataclass
class Usage:
    """What a model was asked, what that cost, and what of its answers could not be used."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    failures: int = 0
    fallbacks: int = 0
    dropped: dict[str, int] = field(default_factory=dict)

    def drop(self, why: str) -> None:
        """Counts a memory that was not taken."""
        self.dropped[why] = self.dropped.get(why, 0) + 1


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
        timeout: float = 60.0,
        attempts: int = ATTEMPTS,
        fallback: Extractor | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
            raise Invalid("The model's address is no http or https address without a password.")
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._host = parts.netloc
        self._model = model
        self._key = (api_key or "").strip()
        self._timeout = timeout
        self._attempts = attempts
        self._fallback = fallback or Rules()
        self._sleep = sleep
        self._open = build_opener(_NoRedirect()).open
        self._prompt = files("holdfast.extract").joinpath("prompts/learn.txt").read_text()
        self._form = 0
        self.usage = Usage()

    def extract(self, turns: Sequence[Turn], now: datetime) -> list[Learning]:
        """What lasts of the turns, by the model, or else by the fallback."""
        found: dict[str, Learning] = {}
        for numbers in _chunks(turns):
            for learning in self._chunk(turns, numbers, now):
                found.setdefault(learning.content.casefold(), learning)
        return list(found.values())

    def _chunk(self, turns: Sequence[Turn], numbers: range, now: datetime) -> list[Learning]:
        for attempt in range(self._attempts):
            try:
                return self._checked(self._asked(turns, numbers, now), turns, numbers, now)
            except ExtractorFailed as error:
                self.usage.failures += 1
                if not error.retry:
                    break
                if attempt + 1 < self._attempts:
                    self._sleep(0.5 * 2**attempt)
        self.usage.fallbacks += 1
        learned = self._fallback.extract(turns[numbers.start : numbers.stop], now)
        return [_moved(learning, numbers.start) for learning in learned]

    # --- asking ---

    def _asked(self, turns: Sequence[Turn], numbers: range, now: datetime) -> Any:
        said = "\n".join(_line(number, turns[number], now) for number in numbers)
        body = {
            "model": self._model,
            "temperature": 0,
            "max_tokens": ANSWER_TOKENS,
            "messages": [
                {"role": "system", "content": self._prompt},
                {"role": "user", "content": f"<conversation>\n{said}\n</conversation>"},
            ],
        }
        answer = self._formed(body)
        self._count(answer)
        try:
            return json.loads(_bare(answer["choices"][0]["message"]["content"]))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            raise self._failed("its answer is not JSON of the form asked for.") from None

    def _formed(self, body: dict[str, Any]) -> Any:
        """The answer, asked for in the first form that the server takes; that one is kept."""
        refused: ExtractorFailed | None = None
        for form in FORMS[self._form :]:
            try:
                answer = self._sent(json.dumps({**body, **form}).encode())
            except _Declined as error:
                refused = refused or error
                continue
            self._form = FORMS.index(form)
            return answer
        raise refused or self._failed("it takes no form of request.")

    def _sent(self, body: bytes) -> Any:
        headers = {"Content-Type": "application/json", "User-Agent": "holdfast"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        request = Request(self._url, body, headers)
        self.usage.calls += 1
        try:
            with self._open(request, timeout=self._timeout) as response:
                return json.loads(self._read(response))
        except HTTPError as error:
            with error:
                kind = _Declined if error.code in DECLINING else ExtractorFailed
                failed = self._failed(f"HTTP {error.code}.", kind)
            failed.retry = error.code in PASSING
            raise failed from None
        except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
            raise self._failed(f"{type(error).__name__}.") from None

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """The body, whole, in time and of a sane size."""
        until, body = time.monotonic() + self._timeout, bytearray()
        while part := response.read1(65536):
            body += part
            if len(body) > ANSWER_BYTES:
                raise self._failed(f"its answer is longer than {ANSWER_BYTES} bytes.")
            if time.monotonic() > until:
                raise self._failed(f"no whole answer came in {self._timeout:g} seconds.")
        return bytes(body)

    def _count(self, answer: Any) -> None:
        used = answer.get("usage") if isinstance(answer, dict) else None
        if isinstance(used, dict):
            for name in ("prompt_tokens", "completion_tokens"):
                count = used.get(name)
                if isinstance(count, int):
                    setattr(self.usage, name, getattr(self.usage, name) + count)

    def _failed(
        self, trouble: str, kind: type[ExtractorFailed] = ExtractorFailed
    ) -> ExtractorFailed:
        return kind(f"The model at {self._host} failed: {trouble}", "Try again later.")

    # --- checking ---

    def _checked(
        self, answer: Any, turns: Sequence[Turn], numbers: range, now: datetime
    ) -> list[Learning]:
        memories = answer.get("memories") if isinstance(answer, dict) else None
        if not isinstance(memories, list):
            raise self._failed("its answer has no list of memories.")
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


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would hand the key and the conversation to somebody else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """No."""


def from_environment() -> LLM:
    """The model that `$HOLDFAST_LLM_URL`, `$HOLDFAST_LLM_MODEL` and `$HOLDFAST_LLM_KEY` name."""
    url, model = os.environ.get("HOLDFAST_LLM_URL"), os.environ.get("HOLDFAST_LLM_MODEL")
    if not url or not model:
        raise Invalid(
            "No language model is named.", "Set $HOLDFAST_LLM_URL and $HOLDFAST_LLM_MODEL."
        )
    return LLM(url, model, os.environ.get("HOLDFAST_LLM_KEY"))


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
    words = turn.text.replace("<", "‹").replace(">", "›")[: CHUNK_TOKENS * 4]
    return f"[{number}] {(turn.at or now):%Y-%m-%d} {turn.speaker or turn.role}: {words}"


def _bare(content: str) -> str:
    """The JSON of an answer that may stand in a fence."""
    found = re.search(r"```(?:json)?\s*(.*?)```", content, re.DOTALL)
    return found[1] if found else content


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
