"""Where a verb is done: here, here in a thread, or at a server. Stores that are open are shared.

All memories of a process on one file share one writer and one cache; the store is closed when
the last of them is, or when the process ends.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from holdfast import check
from holdfast.embed import Embedder, open_best, open_embedder
from holdfast.engine import Engine, open_engine
from holdfast.errors import Closed, EmbedderMismatch, HoldfastError, Invalid
from holdfast.extract import Extractor, open_extractor
from holdfast.extract.judge import Judge, open_judge
from holdfast.ops import Op
from holdfast.outbox import Outbox
from holdfast.service import LOCAL, Service, utc_now

T = TypeVar("T")


class Backend(Protocol):
    """Where a verb is done."""

    def do(self, op: Op[T]) -> T:
        """Does it, and answers."""

    def close(self) -> None:
        """Lets go of the store."""

    @property
    def outbox(self) -> Outbox | None:
        """What waits to be sent to a server, if anything can."""


class AsyncBackend(Protocol):
    """Where a verb is done, for callers with an event loop."""

    async def do(self, op: Op[T]) -> T:
        """Does it, and answers."""

    async def close(self) -> None:
        """Lets go of the store."""

    @property
    def outbox(self) -> Outbox | None:
        """What waits to be sent to a server, if anything can."""


class Here:
    """In this process, in the caller's thread."""

    outbox = None

    def __init__(self, service: Service, release: Callable[[], None]) -> None:
        self._service = service
        self._release = release
        self._closed = False

    def do(self, op: Op[T]) -> T:
        """Does it, and answers."""
        if self._closed:
            raise Closed("This Memory was closed.", "Open a new one.")
        return self._service.do(op, LOCAL)

    def close(self) -> None:
        """Lets go of the store."""
        if not self._closed:
            self._closed = True
            self._release()


class InThread:
    """In this process, in a worker thread, so that no event loop waits for a disk."""

    outbox = None

    def __init__(self, here: Here) -> None:
        self._here = here

    async def do(self, op: Op[T]) -> T:
        """Does it, and answers."""
        return await asyncio.to_thread(self._here.do, op)

    async def close(self) -> None:
        """Lets go of the store."""
        await asyncio.to_thread(self._here.close)


def open_backend(
    url: str | None,
    embedder: Embedder | str | None,
    clock: Callable[[], datetime] = utc_now,
    extractor: Extractor | str = "rules",
    api_key: str | None = None,
    outbox: bool | str | Outbox = False,
    judge: Judge | str | None = None,
) -> Backend:
    """A backend for a URL; None means `$HOLDFAST_URL`, or else a file in the user's data folder."""
    chosen = url_or_default(url)
    if _is_remote(chosen):
        from holdfast.remote import Remote, open_outbox

        key = api_key or os.environ.get("HOLDFAST_API_KEY")
        return Remote(chosen, key, open_outbox(outbox, chosen, key))
    return _shared.open(chosen, embedder, clock, extractor, judge)


def open_async_backend(
    url: str | None,
    embedder: Embedder | str | None,
    clock: Callable[[], datetime] = utc_now,
    extractor: Extractor | str = "rules",
    api_key: str | None = None,
    outbox: bool | str | Outbox = False,
    judge: Judge | str | None = None,
) -> AsyncBackend:
    """The same, for callers with an event loop."""
    chosen = url_or_default(url)
    if _is_remote(chosen):
        from holdfast.remote import AsyncRemote, open_outbox

        key = api_key or os.environ.get("HOLDFAST_API_KEY")
        return AsyncRemote(chosen, key, open_outbox(outbox, chosen, key))
    return InThread(_shared.open(chosen, embedder, clock, extractor, judge))


def url_or_default(url: str | None) -> str:
    """The URL given; else `$HOLDFAST_URL`, else that of a file in the user's data folder."""
    return check.sane("url", url or os.environ.get("HOLDFAST_URL") or default_url())


def _is_remote(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def default_url() -> str:
    """The URL of the file in the user's data folder."""
    home = Path.home()
    folders = {"darwin": home / "Library/Application Support", "win32": home / "AppData/Local"}
    local = folders.get(sys.platform, home / ".local/share")
    folder = Path(os.environ.get("XDG_DATA_HOME") or local)
    return f"sqlite:///{folder / 'holdfast' / 'memory.db'}"


class _Shared:
    """The stores this process has open, and how many hold each."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._open: dict[tuple[object, ...], tuple[Service, int]] = {}

    def open(
        self,
        url: str,
        embedder: Embedder | str | None,
        clock: Callable[[], datetime],
        extractor: Extractor | str,
        judge: Judge | str | None,
    ) -> Here:
        who = embedder if isinstance(embedder, str | None) else id(embedder)
        learns = extractor if isinstance(extractor, str) else id(extractor)
        rules = judge if isinstance(judge, str | None) else id(judge)
        key = (_absolute(url), who, id(clock), learns, rules)
        with self._lock:
            service, holders = self._open.get(key, (None, 0))
            if service is None:
                service = _service(url, embedder, clock, extractor, judge)
            self._open[key] = service, holders + 1
        return Here(service, lambda: self._release(key))

    def _release(self, key: tuple[object, ...]) -> None:
        with self._lock:
            if key not in self._open:
                return
            service, holders = self._open.pop(key)
            if holders > 1:
                self._open[key] = service, holders - 1
                return
        service.close()

    def close_all(self) -> None:
        """Closes every store when the process ends."""
        with self._lock:
            services = [service for service, _ in self._open.values()]
            self._open.clear()
        for service in services:
            try:
                service.close()
            except HoldfastError as error:
                sys.stderr.write(f"holdfast: {error}\n")


def _absolute(url: str) -> str:
    scheme, found, path = url.partition(":///")
    if scheme != "sqlite" or not found:
        return url
    return f"{scheme}{found}{Path(check.path(path)).absolute()}"


def _service(
    url: str,
    embedder: Embedder | str | None,
    clock: Callable[[], datetime],
    extractor: Extractor | str,
    judge: Judge | str | None,
) -> Service:
    engine = open_engine(url)
    try:
        learns = open_extractor(extractor) if isinstance(extractor, str) else extractor
        settles = open_judge(judge) if isinstance(judge, str) else judge
        chosen = choose_embedder(engine, embedder)
        return Service(engine, chosen, clock, extractor=learns, judge=settles)
    except BaseException:
        engine.close()
        raise


def choose_embedder(engine: Engine, wanted: Embedder | str | None) -> Embedder | None:
    """The embedder asked for; `auto` is the one the store knows, or the best for a new one."""
    if wanted is None:
        return None
    if wanted != "auto":
        return open_embedder(wanted)
    held = engine.space()
    if held is None:
        return open_best()
    try:
        return open_embedder(held.name)
    except Invalid:
        raise EmbedderMismatch(
            f"This store holds vectors of {held}, an embedder of your own.",
            "Pass that embedder, or change it for good with `reembed`.",
        ) from None


_shared = _Shared()
atexit.register(_shared.close_all)
os.register_at_fork(after_in_child=lambda: setattr(_shared, "_lock", threading.RLock()))
