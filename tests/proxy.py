"""A way to PostgreSQL that can be cut at the worst moment: around the answer to a COMMIT."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

COMMIT = b"COMMIT\x00"


class Proxy:
    """A port of this machine behind which a PostgreSQL lies."""

    def __init__(self, url: str) -> None:
        self._parts = conninfo_to_dict(url)
        self._listens = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._moment: str | None = None
        self._open: list[socket.socket] = []
        self._refusing = False
        self.cuts = 0
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """The URL of the same database, by way of here."""
        host, port = self._listens.getsockname()
        parts = {**self._parts, "host": host, "port": port, "gssencmode": "disable"}
        return "postgresql://?" + urlencode({k: v for k, v in parts.items() if v is not None})

    def cut_next_commit(self, moment: str) -> None:
        """Cuts the next commit: before the server hears of it, or after it has done it."""
        self._moment = moment

    def refuse(self) -> None:
        """Cuts everything, and lets nobody in any more."""
        self._refusing = True
        for each in self._open:
            _close(each)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listens.accept()
                if self._refusing:
                    _close(client)
                    continue
                server = self._connect()
                self._open += [client, server]
                threading.Thread(target=self._talk, args=(client, server), daemon=True).start()

    def _connect(self) -> socket.socket:
        host, port = str(self._parts["host"]), self._parts.get("port") or 5432
        if host.startswith("/"):
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{host}/.s.PGSQL.{port}")
            return server
        return socket.create_connection((host, int(port)))

    def _talk(self, client: socket.socket, server: socket.socket) -> None:
        cut: list[str] = []
        back = threading.Thread(target=self._answer, args=(client, server, cut), daemon=True)
        back.start()
        with suppress(OSError):
            while data := client.recv(1 << 16):
                if COMMIT in data and self._taken(cut) == "before":
                    break
                server.sendall(data)
        if "before" in cut:
            _close(client)
        _close(server)

    def _taken(self, cut: list[str]) -> str | None:
        with self._lock:
            moment, self._moment = self._moment, None
            if moment is not None:
                self.cuts += 1
                cut.append(moment)
            return moment

    def _answer(self, client: socket.socket, server: socket.socket, cut: list[str]) -> None:
        held = b""
        with suppress(OSError):
            while data := server.recv(1 << 16):
                held += data
                if "after" in cut and b"COMMIT" in data:
                    break
                client.sendall(data)
        _close(client)

    def __enter__(self) -> "Proxy":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> Any:
        self.refuse()
        _close(self._listens)


def _close(which: socket.socket) -> None:
    with suppress(OSError):
        which.shutdown(socket.SHUT_RDWR)
    which.close()
