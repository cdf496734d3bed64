"""Connections: head and body of a reply go out together, and the head of a request has its bounds.

uvicorn sends head and body one after the other: two system calls and two packets, of which the
first wakes a client that can do nothing with it yet. ASGI lets a server wait for the body. What
every reply carries is added here, also to those that uvicorn makes itself. And uvicorn would wait
for the head of a request for ever, however long it grows, and for the end of a body that was
refused; and it loses the body of a request that asks for HTTP/2.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from holdfast.errors import HoldfastError, Invalid
from holdfast.server import problems
from holdfast.server.app import HeadersTooLarge, TooSlow
from holdfast.server.exchange import encoded

HEAD, INTERIM = b"HTTP/1.1 ", b"HTTP/1.1 1"  # 100 Continue is no head: a body waits for it
END = b"\r\n\r\n"
ALWAYS = (
    b"\r\ncache-control: no-store\r\nreferrer-policy: no-referrer"
    b"\r\nx-content-type-options: nosniff\r\nx-frame-options: DENY"
)
HEAD_SECONDS = 30.0  # for the head of a request, and for what is left of it after the reply
HEAD_BYTES = 64 * 1024


class Connection(HttpToolsProtocol):
    """One client's connection."""

    _whole = False  # whether the head of the request at hand has come
    _ended = True  # whether all of it has
    _size = 0  # bytes of the head so far
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins, and waits for a head."""
        super().connection_made(cast(asyncio.Transport, Together(transport)))
        self._hurry()

    def data_received(self, data: bytes) -> None:
        """Takes in what came."""
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as asked:
            self._stay(data[asked.args[0] :])
        except httptools.HttpParserError:
            self.send_400_response("")
        if self._whole:
            return
        self._size += len(data)
        if self._size > HEAD_BYTES:
            self._refuse(HeadersTooLarge("The head is too large.", "Send fewer headers."))
        else:
            self._hurry()

    def on_message_begin(self) -> None:
        """Begins with a request."""
        super().on_message_begin()
        self._whole, self._ended, self._size = False, False, 0

    def on_headers_complete(self) -> None:
        """Begins to answer it."""
        if self.parser.should_upgrade():
            return  # it will be read again
        self._whole = True
        self._calm()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Has all of it."""
        if self.parser.should_upgrade():
            return
        self._ended = True
        self._calm()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Has answered it, perhaps before all of it came."""
        cast(Together, self.transport).flush()
        super().on_response_complete()
        if not self._ended:
            self._hurry()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends."""
        self._calm()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Ends the connection of who does not speak HTTP."""
        self._refuse(Invalid("This is not HTTP/1.1.", "Send a well-formed request."))

    def _stay(self, rest: bytes) -> None:
        """Reads a request that asks for another protocol as if it did not.

        There is only this one. Java asks for HTTP/2 with its first request, and the parser leaves
        out the body of such a one.
        """
        method, version = self.parser.get_method(), self.parser.get_http_version().encode()
        if method == b"CONNECT":
            self.send_400_response("")
            return
        lines = [b"%s %s HTTP/%s" % (method, self.url, version)]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        self.parser = httptools.HttpRequestParser(self)
        self.data_received(b"\r\n".join(lines) + END + rest)

    def _hurry(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(HEAD_SECONDS, self._late)

    def _calm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _late(self) -> None:
        if self._whole:  # and answered
            self.transport.close()
        else:
            self._refuse(TooSlow("The head did not come in time.", "Send it faster."))

    def _refuse(self, error: HoldfastError) -> None:
        """Ends the connection of who sends no head, or one without end."""
        if self.transport.is_closing():
            return
        status = error.status
        body = encoded(problems.problem(error, status, ""))
        line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: {problems.MEDIA}"
        head = f"{line}\r\nconnection: close\r\ncontent-length: {len(body)}\r\n\r\n"
        self.transport.write(head.encode() + body)
        self.transport.close()


class Together:
    """A transport that holds a head back until what follows is written."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""
        self.is_closing = transport.is_closing

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Sends data, together with the head that waits for it."""
        if not self._head and data.startswith(HEAD) and not data.startswith(INTERIM):
            head, _, rest = data.partition(END)
            self._head = b"".join((head, ALWAYS, END, rest))
            return
        self._transport.write(self._head + data)
        self._head = b""

    def flush(self) -> None:
        """Sends a head that nothing follows."""
        if self._head:
            self.write(b"")

    def close(self) -> None:
        """Sends what waits, and ends the connection."""
        self.flush()
        self._transport.close()
