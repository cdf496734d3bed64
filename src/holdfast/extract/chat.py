"""A language model behind any OpenAI-compatible endpoint: asked for JSON of a schema, in time.

What it answers is read, never trusted: who asks hands in the check that an answer must pass.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, TypeVar
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from holdfast.errors import ExtractorFailed, Invalid

T = TypeVar("T")
ANSWER_TOKENS = 1500
ANSWER_BYTES = 256 * 1024
ATTEMPTS = 3
TIMEOUT = 60.0  # seconds for a request as a whole
DECLINING = (400, 415, 422, 500, 501)  # what servers say to a form of answer they do not know
PASSING = (408, 409, 425, 429, 500, 502, 503, 504)


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
        """Counts something that was not taken."""
        self.dropped[why] = self.dropped.get(why, 0) + 1


@dataclass(frozen=True)
class Task:
    """What a model is to do: a prompt out of a file, and the schema of its answer."""

    prompt: str
    name: str
    schema: Mapping[str, Any]

    @classmethod
    def of_file(cls, file: str, name: str, schema: Mapping[str, Any]) -> Task:
        """A task whose prompt is a file of `prompts`."""
        prompt = files("holdfast.extract").joinpath(f"prompts/{file}").read_text()
        return cls(prompt, name, schema)

    @property
    def forms(self) -> tuple[dict[str, Any], ...]:
        """How to ask for JSON of a schema: as OpenAI has it, as llama.cpp has it, or not at all."""
        strict = {"name": self.name, "strict": True, "schema": self.schema}
        return (
            {"response_format": {"type": "json_schema", "json_schema": strict}},
            {"response_format": {"type": "json_object", "schema": self.schema}},
            {},
        )


class Chat:
    """A model behind `base_url`, which ends in `/v1` or its like."""

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        attempts: int = ATTEMPTS,
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
        self._sleep = sleep
        self._open = build_opener(_NoRedirect()).open
        self._form = 0
        self.usage = Usage()

    def answered(self, task: Task, said: str, checked: Callable[[Any], T]) -> T | None:
        """The first answer that passes a check, which raises `ValueError`; None if none does."""
        for attempt in range(self._attempts):
            try:
                return checked(self._asked(task, said))
            except (ExtractorFailed, ValueError) as error:
                self.usage.failures += 1
                if isinstance(error, ExtractorFailed) and not error.retry:
                    break
                if attempt + 1 < self._attempts:
                    self._sleep(0.5 * 2**attempt)
        self.usage.fallbacks += 1
        return None

    def _asked(self, task: Task, said: str) -> Any:
        body = {
            "model": self._model,
            "temperature": 0,
            "max_tokens": ANSWER_TOKENS,
            "messages": [
                {"role": "system", "content": task.prompt},
                {"role": "user", "content": said},
            ],
        }
        answer = self._formed(body, task.forms)
        self._count(answer)
        try:
            return json.loads(_bare(answer["choices"][0]["message"]["content"]))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError):
            raise self._failed("its answer is not JSON of the form asked for.") from None

    def _formed(self, body: dict[str, Any], forms: tuple[dict[str, Any], ...]) -> Any:
        """The answer, asked for in the first form that the server takes; that one is kept."""
        refused: ExtractorFailed | None = None
        for number, form in enumerate(forms[self._form :], self._form):
            try:
                answer = self._sent(json.dumps({**body, **form}).encode())
            except _Declined as error:
                refused = refused or error
                continue
            self._form = number
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


class _NoRedirect(HTTPRedirectHandler):
    """A redirect would hand the key and the conversation to somebody else."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """No."""


def from_environment() -> tuple[str, str, str | None]:
    """Address, model and key, as `$HOLDFAST_LLM_URL`, `…_MODEL` and `…_KEY` have them."""
    url, model = os.environ.get("HOLDFAST_LLM_URL"), os.environ.get("HOLDFAST_LLM_MODEL")
    if not url or not model:
        raise Invalid(
            "No language model is named.", "Set $HOLDFAST_LLM_URL and $HOLDFAST_LLM_MODEL."
        )
    return url, model, os.environ.get("HOLDFAST_LLM_KEY")


def quoted(words: str) -> str:
    """Words as a model sees them: they cannot close what they stand in."""
    return words.replace("<", "‹").replace(">", "›")


def _bare(content: str) -> str:
    """The JSON of an answer that may stand in a fence."""
    found = re.search(r"```(?:json)?\s*(.*?)```", content, re.DOTALL)
    return found[1] if found else content
