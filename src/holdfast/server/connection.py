"""Connections: head and body of a reply go out together, and the head of a request has its bounds.

uvicorn sends head and body one after the other: two system calls and two packets, of which the
first wakes a client that can do nothing with it yet. ASGI lets a server wait for the body. What
every reply carries is added here, also to those that uvicorn makes itself. And uvicorn would wait
for the head of a request for ever, however long it grows.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD, INTERIM = b"HTTP/1.1 ", b"HTTP/1.1 1"  # 100 Continue is no head: a body waits for it
END = b"\r\n\r\n"
ALWAYS = (
    b"\r\ncache-control: no-store\r\nreferrer-policy: no-referrer"
    b"\r\nx-content-type-options: nosniff\r\nx-frame-options: DENY"
)
HEAD_SECONDS = 30.0  # within which the head of a request must have come
HEAD_BYTES = 64 * 1024  # and how large it may be


class Connection(HttpToolsProtocol):
    """One client's connection."""

    _whole = False  # whether the head of the request at hand has come
    _size = 0  # bytes of it so far
    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins, and waits for a head."""
        super().connection_made(cast(asyncio.Transport, Together(transport)))
        self._timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408)

    def data_received(self, data: bytes) -> None:
        """Takes in what came."""
        super().data_received(data)
        if not self._whole:
            self._size += len(data)
            if self._size > HEAD_BYTES:
                self._refuse(431)
            elif self._timer is None:
                self._timer = self.loop.call_later(HEAD_SECONDS, self._refuse, 408)
        elif self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def on_message_begin(self) -> None:
        """Begins with a request."""
        super().on_message_begin()
        self._whole, self._size = False, 0

    def on_headers_complete(self) -> None:
        """Begins to answer it."""
        self._whole = True
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Ends."""
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)

    def _refuse(self, status: int) -> None:
        """Ends the connection of who sends no head, or one without end."""
        if not self.transport.is_closing():
            line = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n"
            self.transport.write(f"{line}connection: close\r\ncontent-length: 0\r\n\r\n".encode())
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

    def close(self) -> None:
        """Sends what waits, and ends the connection."""
        if self._head:
            self.write(b"")
        self._transport.close()
