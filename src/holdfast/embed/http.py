"""Vectors from any server that speaks the OpenAI `/embeddings` dialect.

Passing troubles (busy, down, slow) are tried again; a wrong answer never becomes a vector. The key
goes into one header and nowhere else: not into messages, not into `repr`, not to another host.
"""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

import numpy as np
from numpy.typing import NDArray

from holdfast.errors import EmbedderFailed, Invalid

PASSING = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
LONGEST_WAIT = 30.0  # seconds; a server that asks for more has in truth refused
LONGEST_NUMBER = 40  # bytes that one number of a vector may take in an answer
CHUNK = 1 << 16

Vectors = NDArray[np.float32]


class _Again(Exception):
    """A trouble that may pass; `wait` is how many seconds the server asked for."""

    def __init__(self, trouble: str, wait: float | None = None) -> None:
        super().__init__(trouble)
        self.wait = wait


class _Stay(HTTPRedirectHandler):
    """Redirections count as failures: a key must not follow one to another host."""

    def redirect_request(self, *_: object) -> None:
        return None


class HttpEmbedder:
    """Vectors by a model behind an OpenAI-compatible address.

    `HttpEmbedder("http://localhost:11434/v1", "nomic-embed-text", 768)`

    `timeout` is in seconds, for each of the `retries + 1` attempts at a batch.
    """

    name = "http"
    local = False

    def __init__(
        self,
        base_url: str,
        model: str,
        dimension: int,
        api_key: str | None = None,
        batch: int = 64,
        timeout: float = 30.0,
        retries: int = 3,
        backoff: float = 0.5,
    ) -> None:
        if min(dimension, batch) < 1 or retries < 0 or not timeout > 0:
            raise Invalid("`dimension`, `batch` and `timeout` must be above zero.")
        self.version = self.model = model
        self.dimension = dimension
        self._url = _endpoint(base_url)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        self._key = _checked_key(api_key)
        if self._key:
            self._headers["Authorization"] = f"Bearer {self._key}"
        self._batch, self._timeout = batch, timeout
        self._retries, self._backoff = retries, backoff
        self._opener = build_opener(_Stay)

    def __repr__(self) -> str:
        return f"HttpEmbedder({_shown(self._url)!r}, {self.model!r}, {self.dimension})"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row per text, of unit length."""
        rows = [
            self._patiently(texts[start : start + self._batch])
            for start in range(0, len(texts), self._batch)
        ]
        return np.concatenate(rows) if rows else np.empty((0, self.dimension), np.float32)

    def _patiently(self, texts: Sequence[str]) -> Vectors:
        for attempt in range(self._retries + 1):
            try:
                return self._vectors(self._ask(texts), len(texts))
            except _Again as trouble:
                wait = self._wait(attempt) if trouble.wait is None else trouble.wait
                if attempt == self._retries or wait > LONGEST_WAIT:
                    raise self._failed(str(trouble), "Try again later.") from None
                time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _wait(self, attempt: int) -> float:
        """Seconds; at random, so that clients that failed together do not return together."""
        longest: float = min(LONGEST_WAIT, self._backoff * 2**attempt)
        return longest * random.uniform(0.5, 1.0)

    def _ask(self, texts: Sequence[str]) -> bytes:
        # Some servers refuse an empty text, and with it the whole batch.
        body = {"model": self.model, "input": [text or " " for text in texts]}
        content = json.dumps(body | {"encoding_format": "float"}).encode()
        request = Request(self._url, content, self._headers, method="POST")
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return self._read(response, len(texts))
        except HTTPError as error:
            raise self._refused(error) from None
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise _Again(f"{type(error).__name__}: {reason}") from None

    def _read(self, response: http.client.HTTPResponse, count: int) -> bytes:
        """The body; `timeout` bounds the whole of it, where the socket's bounds each packet."""
        until = time.monotonic() + self._timeout
        room = count * (self.dimension * LONGEST_NUMBER + CHUNK) + CHUNK
        body = bytearray()
        while part := response.read1(CHUNK):
            body += part
            if len(body) > room:
                raise self._failed(f"the answer is longer than {room:,} bytes.")
            if time.monotonic() > until:
                raise _Again(f"no whole answer in {self._timeout:g} seconds")
        if response.length:  # what the server had promised and did not send
            raise _Again("the answer broke off")
        return bytes(body)

    def _refused(self, error: HTTPError) -> Exception:
        with error:
            said = " ".join(error.read(500).decode(errors="replace").split())
        if self._key:  # some servers repeat the key they did not like
            said = said.replace(self._key, "***")
        trouble = f"HTTP {error.code} {error.reason}. {said[:200]}".strip()
        if error.code in PASSING:
            return _Again(trouble, _retry_after(error.headers.get("Retry-After")))
        return self._failed(trouble, "Look at the address, the model and the key.")

    def _vectors(self, body: bytes, count: int) -> Vectors:
        try:
            rows = _in_order(json.loads(body)["data"])
            vectors = np.array(rows, np.float64)
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            raise self._failed("the answer is not a list of vectors.") from None
        if len(rows) != count or vectors.ndim != 2:
            raise self._failed(f"{len(rows)} answers came for {count} texts.")
        if vectors.shape[1] != self.dimension:
            raise self._failed(
                f"its vectors have {vectors.shape[1]} numbers, not {self.dimension}.",
                "Name the model's own `dimension`.",
            )
        most = np.abs(vectors).max(axis=1, keepdims=True)
        if not np.isfinite(most).all() or not most.all():
            raise self._failed("a vector holds NaN or infinity, or nothing but zeros.")
        vectors /= most  # first, so that no square is too large or too small to be a number
        unit: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")
        return unit

    def _failed(self, trouble: str, advice: str = "") -> EmbedderFailed:
        return EmbedderFailed(f"The embedder at {_shown(self._url)} failed: {trouble}", advice)


def _endpoint(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Invalid(f"{_shown(base_url)!r} is not an http or https address.")
    if "@" in parts.netloc:
        raise Invalid("An address must not hold a password.", "Pass `api_key`.")
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + "/embeddings", fragment=""))


def _shown(url: str) -> str:
    """The address without what may be secret in it."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _checked_key(key: str | None) -> str:
    key = (key or "").strip()
    if not key.isascii() or not key.isprintable():  # http.client would quote it in its complaint
        raise Invalid("The API key holds a character that no key has.", "Copy it anew.")
    return key


def _retry_after(value: str | None) -> float | None:
    """Seconds from now, whether the header gives seconds or a date; None if it gives neither."""
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None


def _in_order(answers: list[dict[str, Any]]) -> list[list[float]]:
    """The vectors as the texts were sent; a server that numbers none is taken to keep order."""
    if all("index" not in answer for answer in answers):
        return [answer["embedding"] for answer in answers]
    placed = {answer["index"]: answer["embedding"] for answer in answers}
    return [placed[index] for index in range(len(answers))]
