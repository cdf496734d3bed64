"""The server as an ASGI app: find who answers, read the body, answer in a thread, send.

The event loop moves bytes; everything that could wait for a disk, a lock or an embedder is done
in threads. Only a read of one row is not: it takes less time than handing it to a thread.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import re
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.access import NOBODY, OPEN_DOOR, Caller
from holdfast.errors import (
    EmbedderFailed,
    ExtractorFailed,
    HoldfastError,
    Invalid,
    TooLarge,
    Unavailable,
)
from holdfast.server import credentials, problems
from holdfast.server.crew import Crew
from holdfast.server.exchange import Call, Reply, as_json
from holdfast.server.host import Host
from holdfast.server.limits import TooMuch
from holdfast.server.openapi import About
from holdfast.server.router import Router
from holdfast.server.settings import Settings
from holdfast.server.traces import spans

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
HEADER_BYTES = 32 * 1024
# A thread at work lets go of Python's lock this often, so that the event loop gets its turn.
SWITCH_SECONDS = 0.0005
READERS = 2, 4  # threads that read, at least and at most: they share one lock of Python's
BODILESS = ("GET", "HEAD", "OPTIONS")
log = logging.getLogger("holdfast.server")

MODELS = (EmbedderFailed, ExtractorFailed)
NOTHING = About()
Told = Callable[[HoldfastError, int, str], dict[str, Any]]


class TooSlow(Unavailable):
    """The body did not come in time; nothing was done."""

    status = 408


class HeadersTooLarge(HoldfastError):
    """The headers are larger than any call needs; nothing was done."""

    status = 431


@dataclass(frozen=True)
class Endpoint:
    """What answers a path: a function, and how to call it."""

    verb: str  # its name in logs and metrics
    answer: Callable[[Call], Reply]
    keyless: bool = False  # anyone may call it
    reads: bool = False  # it changes nothing
    quick: bool = False  # it looks at nothing that is stored
    one_row: bool = False  # of a file, that is read before a thread would have begun
    imports: bool = False  # takes a body as large as an export
    told: Told = problems.problem  # how its errors are told
    about: About = NOTHING  # what it takes and gives, unless it is a verb


NOWHERE = Endpoint("unknown", lambda call: Reply())


class App:
    """One server."""

    def __init__(self, host: Host, router: Router[Endpoint]) -> None:
        self.host = host
        self.router = router
        settings = host.settings
        self._readers = Crew("reader", _readers(host), settings.waiting, host.metrics)
        self._writers = Crew("writer", settings.threads, settings.waiting, host.metrics)
        self._span = spans()
        host.queue = lambda: self._readers.waiting + self._writers.waiting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers as ASGI has it."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self.host.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                await asyncio.to_thread(self.close)
                await send({"type": "lifespan.shutdown.complete"})
                return

    def close(self) -> None:
        """Finishes what was accepted, then lets go of the store."""
        self._readers.close()
        self._writers.close()
        self.host.close()

    # --- one request ---

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        request = _request_id(headers.get("x-request-id"))
        endpoint, status = NOWHERE, 500
        method = scope["method"]
        try:
            if sum(map(len, chain.from_iterable(scope["headers"]))) > HEADER_BYTES:
                raise HeadersTooLarge("The headers are too large.", "Send fewer.")
            endpoint, names = self.router.find(
                "GET" if method == "HEAD" else method, scope["raw_path"]
            )
            with self._span(endpoint.verb, request):
                if endpoint.imports:  # a stranger's large body is not even received
                    await self._readers.do(lambda: self._caller(headers))
                body = await self._body(endpoint, method, headers, receive)
                call = Call(self.host, NOBODY, request, names, scope["query_string"], headers, body)
                if endpoint.quick or (endpoint.one_row and self.host.near):
                    reply = self._answer_at_once(endpoint, call)
                else:
                    reply = await self._answer_beside(endpoint, call)
        except Exception as error:
            reply = _failure(error, endpoint, request)
        status = reply.status
        try:
            await self._send(reply, request, send, with_body=method != "HEAD")
        finally:
            seconds = time.perf_counter() - start
            self.host.metrics.request(endpoint.verb, status, seconds)
            if log.isEnabledFor(logging.INFO):
                told = {"request": request, "verb": endpoint.verb, "status": status}
                log.info("request", extra=told | {"ms": round(seconds * 1000, 2)})

    async def _body(
        self, endpoint: Endpoint, method: str, headers: dict[str, str], receive: Receive
    ) -> bytes:
        length = headers.get("content-length")
        if length is None and (method in BODILESS or "transfer-encoding" not in headers):
            return b""
        limits = self.host.settings.limits
        most = limits.import_body if endpoint.imports else limits.body
        if length is not None and length.isdigit() and int(length) > most:
            raise _too_large(most)
        with _InTime(self.host.settings.body_seconds):
            return await _received(receive, most)

    async def _answer_beside(self, endpoint: Endpoint, call: Call) -> Reply:
        """The reply to a call, by a thread; those of a tenant count from when they wait for one."""
        crew = self._readers if endpoint.reads else self._writers
        if endpoint.keyless:
            return await crew.do(lambda: endpoint.answer(call))
        if self.host.access.at_hand(*self._presented(call.headers)):
            call.caller = self._caller(call.headers)
        else:
            call.caller = await self._readers.do(lambda: self._caller(call.headers))
        tenants, tenant = self.host.tenants, call.caller.tenant
        tenants.begin(tenant)
        try:
            return await crew.do(lambda: self._answer(endpoint, call))
        finally:
            tenants.end(tenant)

    def _answer_at_once(self, endpoint: Endpoint, call: Call) -> Reply:
        """The reply to a call, by the event loop itself."""
        if endpoint.keyless:
            return endpoint.answer(call)
        call.caller = self._caller(call.headers)
        return self._answer(endpoint, call)

    def _answer(self, endpoint: Endpoint, call: Call) -> Reply:
        """The reply to a caller."""
        host = self.host
        limits = host.tenants.take(call.caller.tenant)
        try:
            host.used(call)
            reply = endpoint.answer(call)
        except Exception as error:  # told here, so that the reply says what is left of the rate
            reply = _failure(error, endpoint, call.request)
        reply.headers.extend(limits)
        return reply

    def _presented(self, headers: Mapping[str, str]) -> tuple[str | None, bool]:
        """The key that a call comes with, and whether the server might do without."""
        return credentials.presented(headers), self.host.settings.local

    def _caller(self, headers: Mapping[str, str]) -> Caller:
        caller = self.host.access.caller(*self._presented(headers))
        if caller is OPEN_DOOR:
            credentials.same_machine(headers, self.host.settings.cors)
        return caller

    async def _send(self, reply: Reply, request: str, send: Send, with_body: bool) -> None:
        headers = [
            (b"content-type", reply.media.encode()),
            (b"content-security-policy", reply.policy.encode()),
            (b"x-request-id", request.encode()),
        ]
        headers += [(name.encode(), value.encode("latin-1")) for name, value in reply.headers]
        if isinstance(reply.body, bytes):
            headers.append((b"content-length", str(len(reply.body)).encode()))
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if isinstance(reply.body, bytes):
            body = reply.body if with_body else b""
            await send({"type": "http.response.body", "body": body})
            return
        async for part in self._parts(reply.body):
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    async def _parts(self, body: Iterator[bytes]) -> AsyncIterator[bytes]:
        while (part := await self._readers.go_on(lambda: next(body, None))) is not None:
            yield part


def _readers(host: Host) -> int:
    """How many threads read: few, unless what they wait for is on other machines."""
    threads, (least, most) = host.settings.threads, READERS
    if host.near and (host.embedder is None or host.embedder.local):
        return min(threads, most, max(least, (os.cpu_count() or 1) // 2))
    return threads


class _InTime:
    """`TooSlow` if what is awaited inside takes longer."""

    __slots__ = ("_late", "_seconds", "_task", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds, self._late = seconds, False

    def __enter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

    def _end(self) -> None:
        self._late = True
        self._task.cancel()

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        self._timer.cancel()
        if kind is not asyncio.CancelledError or not self._late:
            return
        if sys.version_info >= (3, 11):
            self._task.uncancel()
        raise TooSlow("The body did not come in time.", "Send it faster.") from None


async def _received(receive: Receive, most: int) -> bytes:
    """The whole body; half of one is none."""
    parts: list[bytes] = []
    size, more = 0, True
    while more:
        message: Message = await receive()
        if message["type"] == "http.disconnect":
            raise Invalid("The body ended early.", "Send all of it.")
        parts.append(message.get("body", b""))
        size, more = size + len(parts[-1]), message.get("more_body", False)
        if size > most:
            raise _too_large(most)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(most: int) -> TooLarge:
    return TooLarge(f"The body is larger than {most} bytes.", "Send it in parts.")


def _request_id(given: str | None) -> str:
    if given and REQUEST_ID.fullmatch(given):
        return given
    return f"{random.getrandbits(64):016x}"


def _failure(error: Exception, endpoint: Endpoint, request: str) -> Reply:
    """The reply to a call that failed; what was not foreseen is told to the log only."""
    if not isinstance(error, HoldfastError):
        log.error("unforeseen", extra={"request": request, "verb": endpoint.verb}, exc_info=error)
        error = HoldfastError("The server failed.", f"Its log tells why, under {request}.")
    elif error.status >= 500 and not isinstance(error, TooMuch):
        # What went wrong with the store names files: that is for the log. What a model said may
        # be content: that is for nobody.
        said = type(error).__name__ if isinstance(error, MODELS) else str(error)
        log.error("failed", extra={"request": request, "error": said})
        error = type(error)(
            (type(error).__doc__ or "").partition("\n")[0],
            f"The server's log tells more, under {request}.",
            error.retry_after,
        )
    reply = as_json(endpoint.told(error, error.status, request), error.status, problems.MEDIA)
    reply.headers = problems.headers(error)
    return reply


def make_app(host: Host) -> App:
    """The app of a host, with every door it is to have."""
    from holdfast.server import console, description, native, pulse
    from holdfast.server.dialects import open_dialects

    router: Router[Endpoint] = Router()
    pulse.add(router)
    native.add(router)
    open_dialects(router, host.settings.dialects)
    console.add(router)
    description.add(router)
    return App(host, router)


def with_cors(app: App, settings: Settings) -> ASGIApp:
    """The app, and CORS for the origins that may use it from a browser."""
    if not settings.cors:
        return app
    return CORSMiddleware(
        app,
        allow_origins=settings.cors,
        allow_methods=["*"],
        allow_headers=["*"],
        expose_headers=["etag", "retry-after", "x-request-id"],
    )


def from_environment() -> ASGIApp:
    """The app of one worker, by the settings that were left in the environment."""
    from holdfast.server import logs

    settings = Settings.from_environment()
    logs.begin()
    sys.setswitchinterval(SWITCH_SECONDS)
    return with_cors(make_app(Host(settings)), settings)
