"""Verbs done by a server: the HTTP client, for callers with and without an event loop.

What is said to the server, when it is said again and what is kept for later is decided once, by
generators that do nothing themselves: they yield what is to be done (`Send`, `Wait`, `Do`) and
are told what came of it. `Remote` does that in its thread, `AsyncRemote` in its loop.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import ssl
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

import httpx2

from holdfast import errors, ops, overlay, routes
from holdfast.errors import Closed, HoldfastError, Invalid, RateLimited, Unavailable
from holdfast.outbox import Outbox, outbox_path
from holdfast.service import CONTEXT_HITS, new_id, utc_now

T = TypeVar("T")
PATIENCE = 30.0  # seconds, for one verb with all its attempts
ATTEMPTS = 6
QUICK_ATTEMPTS = 2  # where writes can wait in an outbox
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # seconds between attempts
TIMEOUT = httpx2.Timeout(PATIENCE, connect=5.0)
POOL = httpx2.Limits(max_connections=100, max_keepalive_connections=32)
PROBLEM = "urn:holdfast:error:"
GATEWAYS = (502, 503, 504)


@dataclass(frozen=True)
class Send:
    """Send a parcel; the answer is a `Reply`, or the failure to get one."""

    parcel: routes.Parcel


@dataclass(frozen=True)
class Wait:
    """Wait for so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Do:
    """Do something that may wait for a disk; the answer is what it gives."""

    work: Callable[[], Any]


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Any
    body: bytes


Step = Send | Wait | Do
Talk = Generator[Step, Any, T]


# --- what is said ---


def ask(op: ops.Op[T], attempts: int = ATTEMPTS) -> Talk[T]:
    """Asks a server to do a verb, again where that is safe and of use."""
    parcel = routes.parcel(once(op))
    give_up = time.monotonic() + PATIENCE
    for attempt in range(attempts):
        reply = yield Send(parcel)
        error = _unreached(reply) if isinstance(reply, Exception) else _error(reply)
        if error is None:
            return _answer(op, reply)
        wait = _wait(attempt, error)
        if not error.retry or attempt + 1 == attempts or time.monotonic() + wait > give_up:
            raise error
        yield Wait(wait)
    raise AssertionError("unreachable")


def once(op: Any) -> Any:
    """A write with an idempotency key, so that it can be sent again."""
    if isinstance(op, ops.Write) and op.idempotency_key is None:
        return replace(op, idempotency_key=new_id())
    return op


def _wait(attempt: int, error: HoldfastError) -> float:
    least = min(LONGEST_WAIT, FIRST_WAIT * 2**attempt)
    spread = least * (0.5 + random.random())  # so that many do not come at once
    return float(max(spread, error.retry_after or 0.0))


def _unreached(failure: Exception) -> HoldfastError:
    if isinstance(failure, Closed):
        return failure
    if isinstance(failure, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
        return Invalid(f"The server's URL is wrong: {failure}.")
    return Unavailable(
        f"The server cannot be reached ({type(failure).__name__}).", "Is it running?"
    )


def _error(reply: Reply) -> HoldfastError | None:
    """The error a reply tells, as the class it was raised as."""
    if reply.status < 300:
        return None
    told = _json(reply)
    told = told if isinstance(told, dict) else {}
    name = str(told.get("type", "")).removeprefix(PROBLEM)
    kind = getattr(errors, name, None) if name.isidentifier() else None
    if not (isinstance(kind, type) and issubclass(kind, HoldfastError)):
        kind = Unavailable if reply.status in GATEWAYS else HoldfastError
        kind = RateLimited if reply.status == 429 else kind
    message = str(told.get("detail") or f"The server answered {reply.status}.")
    return kind(message, str(told.get("advice") or ""), _retry_after(reply))


def _retry_after(reply: Reply) -> float | None:
    try:
        return max(0.0, float(reply.headers.get("retry-after", "")))
    except ValueError:
        return None


def _json(reply: Reply) -> Any:
    try:
        return json.loads(reply.body)
    except ValueError:
        return None


def _answer(op: ops.Op[T], reply: Reply) -> T:
    try:
        answer: T = routes.answer(op, _json(reply))
    except Invalid as error:
        raise HoldfastError(
            f"This is not the answer of a Holdfast server: {error}", "Check the URL."
        ) from None
    return answer


# --- with an outbox ---


def talk(op: ops.Op[T], outbox: Outbox | None) -> Talk[T]:
    """Does a verb; a write that cannot be sent waits in the outbox."""
    if outbox is None:
        return (yield from ask(op))
    answer: T = yield from (_write if isinstance(op, ops.Write) else _read)(op, outbox)
    return answer


def _write(op: Any, outbox: Outbox) -> Talk[Any]:
    sent: Any = overlay.named(once(op))
    if not (yield Do(lambda: outbox.pending)):
        try:
            return (yield from ask(sent, QUICK_ATTEMPTS))
        except HoldfastError as error:
            # A server that is ill is away too, and one that was closed meanwhile is.
            away = error.retry or error.status >= 500 or isinstance(error, Closed)
            if not away or not overlay.can_wait(sent):
                raise
    elif not overlay.can_wait(sent):
        return (yield from ask(sent, QUICK_ATTEMPTS))
    now: datetime = utc_now()
    yield Do(lambda: outbox.put(overlay.dated(sent, now, new_id())))
    return overlay.provisional(sent, now)


def _read(op: Any, outbox: Outbox) -> Talk[Any]:
    waiting = yield Do(lambda: outbox.waiting(op.scope))
    if not waiting:
        return (yield from ask(op, QUICK_ATTEMPTS))
    now: datetime = utc_now()
    if isinstance(op, ops.Get) and (known := overlay.entry(op, waiting, now)) is not None:
        return known
    if isinstance(op, ops.Context):
        found = yield from _seen(_as_recall(op), waiting, now)
        return overlay.rendered(found, op.budget)
    return (yield from _seen(op, waiting, now))


def _as_recall(op: ops.Context) -> ops.Recall:
    asked = {it.name: getattr(op, it.name) for it in fields(ops.Question)}
    return ops.Recall(**asked, limit=CONTEXT_HITS)


def _seen(op: Any, waiting: Sequence[ops.Write[Any]], now: datetime) -> Talk[Any]:
    """What the server answers, with what waits."""
    try:
        found = yield from ask(op, QUICK_ATTEMPTS)
    except Unavailable:
        if not isinstance(op, ops.Recall):
            raise
        return overlay.recalled(op, None, waiting, now)
    if isinstance(op, ops.Recall):
        return overlay.recalled(op, found, waiting, now)
    return found


def open_outbox(wanted: bool | str | Outbox, url: str, key: str | None) -> Outbox | None:
    """The outbox of a server: None, the user's, one in a file, or one that is there."""
    if isinstance(wanted, Outbox):
        return wanted
    if not wanted:
        return None
    # A key keeps its public part when it is rotated, so what waits is still sent.
    public = "_".join((key or "").split("_")[:2])
    return Outbox(outbox_path() if wanted is True else wanted, f"{url} {public}")


# --- who says it ---


class _Line:
    """What both clients have in common: where the server is, and what is sent with each call."""

    def __init__(self, url: str, api_key: str | None, outbox: Outbox | None) -> None:
        parts = urlsplit(url)
        if not parts.hostname or parts.query or parts.fragment:
            raise Invalid(f"{url!r} is not the URL of a server.", "Write http://host:port.")
        self.outbox = outbox
        self._base = url.rstrip("/")
        self._ended = threading.Event()
        self._options: dict[str, Any] = {
            "timeout": TIMEOUT,
            "limits": POOL,
            "headers": _headers(api_key),
            "follow_redirects": False,
            "verify": _security(parts.scheme),
        }

    def _request(self, client: Any, parcel: routes.Parcel) -> Any:
        query = "&".join(f"{k}={quote(v, safe='')}" for k, v in parcel.query)
        url = f"{self._base}{parcel.path}{'?' if query else ''}{query}"
        content = None
        if parcel.body is not None:
            content = json.dumps(parcel.body, ensure_ascii=False, separators=(",", ":")).encode()
        return client.build_request(
            parcel.method, url, content=content, headers=dict(parcel.headers)
        )

    def _must_be_open(self) -> None:
        if self._ended.is_set():
            raise _closed()

    def _failed(self, error: Exception) -> Exception:
        """Why a call could not be made."""
        return _closed() if self._ended.is_set() else error


def _closed() -> Closed:
    return Closed("This Memory was closed.", "Open a new one.")


def _headers(api_key: str | None) -> dict[str, str]:
    found = {
        "accept": "application/json",
        "content-type": "application/json",
        "user-agent": "holdfast-python",
    }
    if api_key is not None:
        if not (api_key.isascii() and api_key.isprintable()):
            raise Invalid("The API key holds letters that no key has.", "Copy it again.")
        found["x-api-key"] = api_key
    return found


def _security(scheme: str) -> Any:
    # Reading all certificates takes longer than many calls, and plain HTTP has no use for them.
    return True if scheme == "https" else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class Remote(_Line):
    """A server, called in the caller's thread."""

    def __init__(self, url: str, api_key: str | None = None, outbox: Outbox | None = None) -> None:
        super().__init__(url, api_key, outbox)
        self._begin()

    def _begin(self) -> None:
        """Connects anew, as a forked child must: its parent's connections are not its own."""
        self._pid = os.getpid()
        self._client = httpx2.Client(**self._options)
        if self.outbox is not None:
            self.outbox.start(self._plainly)

    def do(self, op: ops.Op[T]) -> T:
        """Does it, and answers."""
        self._must_be_open()
        if self._pid != os.getpid():
            self._begin()
        return self._drive(talk(op, self.outbox))

    def _plainly(self, op: ops.Op[T]) -> T:
        return self._drive(ask(op, QUICK_ATTEMPTS))

    def _drive(self, said: Talk[T]) -> T:
        told: Any = None
        while True:
            try:
                step = said.send(told)
            except StopIteration as end:
                answer: T = end.value
                return answer
            told = self._step(step)

    def _step(self, step: Step) -> Any:
        if isinstance(step, Do):
            return step.work()
        if isinstance(step, Wait):
            return self._ended.wait(step.seconds)
        try:
            reply = self._client.send(self._request(self._client, step.parcel))
            return Reply(reply.status_code, reply.headers, reply.content)
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
            return self._failed(error)

    def close(self) -> None:
        """Sends what waits, if that can be done at once, and lets go of the server."""
        if not self._ended.is_set():
            self._ended.set()
            if self.outbox is not None:
                self.outbox.close(self._plainly)
            self._client.close()


class AsyncRemote(_Line):
    """A server, called without a thread: the loop of the caller waits for it."""

    def __init__(self, url: str, api_key: str | None = None, outbox: Outbox | None = None) -> None:
        super().__init__(url, api_key, outbox)
        self._clients: dict[asyncio.AbstractEventLoop, httpx2.AsyncClient] = {}
        self._sender = None
        if outbox is not None:
            self._sender = Remote(url, api_key)
            outbox.start(self._sender.do)

    def _client(self) -> httpx2.AsyncClient:
        """The client of this loop: connections belong to the loop that made them."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            for other in [it for it in self._clients if it.is_closed()]:
                del self._clients[other]
            self._clients[loop] = httpx2.AsyncClient(**self._options)
        return self._clients[loop]

    async def do(self, op: ops.Op[T]) -> T:
        """Does it, and answers."""
        self._must_be_open()
        said, told = talk(op, self.outbox), None
        while True:
            try:
                step = said.send(told)
            except StopIteration as end:
                answer: T = end.value
                return answer
            told = await self._step(step)

    async def _step(self, step: Step) -> Any:
        if isinstance(step, Do):
            return await asyncio.to_thread(step.work)
        if isinstance(step, Wait):
            return await asyncio.sleep(step.seconds)
        try:
            self._must_be_open()
            client = self._client()
            reply = await client.send(self._request(client, step.parcel))
            return Reply(reply.status_code, reply.headers, reply.content)
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError, Closed) as error:
            return self._failed(error)

    async def close(self) -> None:
        """Sends what waits, if that can be done at once, and lets go of the server."""
        if self._ended.is_set():
            return
        self._ended.set()
        if self.outbox is not None and self._sender is not None:
            await asyncio.to_thread(self.outbox.close, self._sender.do)
            await asyncio.to_thread(self._sender.close)
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()
