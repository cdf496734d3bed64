"""Connections that send the head and the body of a reply together.

uvicorn sends them one after the other: two system calls and two packets, of which the first wakes
a client that can do nothing with it yet. ASGI lets a server wait with the head for the body.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD, INTERIM = b"HTTP/1.1 ", b"HTTP/1.1 1"  # 100 Continue is no head: a body waits for it


class Connection(HttpToolsProtocol):
    """One client's connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begins."""
        super().connection_made(cast(asyncio.Transport, Together(transport)))


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
        head, self._head = self._head, b""
        if head:
            self._transport.write(head + data)
        elif data.startswith(HEAD) and not data.startswith(INTERIM):
            self._head = data
        else:
            self._transport.write(data)

    def close(self) -> None:
        """Sends what waits, and ends the connection."""
        if self._head:
            self.write(b"")
        self._transport.close()
