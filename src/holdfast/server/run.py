"""Starting a server: its address, its workers, and what is said at the start."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import uvicorn

from holdfast.backend import url_or_default
from holdfast.engine import open_engine
from holdfast.errors import Invalid
from holdfast.extract import open_extractor
from holdfast.extract.judge import open_judge
from holdfast.server import logs, metrics
from holdfast.server.app import SWITCH_SECONDS, make_app, with_cors
from holdfast.server.connection import Connection
from holdfast.server.host import Host
from holdfast.server.settings import Settings

GRACE_SECONDS = 30  # for what was accepted, when the server is told to stop


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Serves until it is told to stop; finishes what it accepted."""
    is_open = not _has_keys(settings)
    if is_open and not settings.local:
        raise Invalid(
            f"{settings.host} can be reached from outside, and there is no key.",
            "Make one first: holdfast keys create NAME.",
        )
    _must_open(settings)
    say(
        f"Holdfast listens on http://{settings.host}:{settings.port} (a console; the API at /docs)."
    )
    if is_open:
        say("OPEN: no key was made, so every program on this machine may read and write.")
    if settings.workers == 1:
        logs.begin()
        server(settings).run()
        return
    settings.to_environment()
    with tempfile.TemporaryDirectory(prefix="holdfast-metrics-") as shared:
        os.environ[metrics.SHARED] = shared
        uvicorn.run(
            "holdfast.server.app:from_environment",
            factory=True,
            workers=settings.workers,
            **_options(settings),
        )


def server(settings: Settings, host: Host | None = None) -> uvicorn.Server:
    """A server in this process, not yet running."""
    sys.setswitchinterval(SWITCH_SECONDS)
    app = make_app(host or Host(settings))
    return uvicorn.Server(uvicorn.Config(with_cors(app, settings), **_options(settings)))


def _options(settings: Settings) -> dict[str, Any]:
    return {
        "host": settings.host,
        "port": settings.port,
        "http": Connection,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "date_header": False,
        "proxy_headers": False,
        "ws": "none",
        "lifespan": "on",
        "timeout_graceful_shutdown": GRACE_SECONDS,
        "backlog": 2048,
    }


def _must_open(settings: Settings) -> None:
    """`Invalid` if what is named in the settings cannot be had; workers would say so in a loop."""
    open_extractor(settings.extractor)
    if settings.judge is not None:
        open_judge(settings.judge)


def _has_keys(settings: Settings) -> bool:
    engine = open_engine(url_or_default(settings.url))
    try:
        return engine.ledger().any_key()
    finally:
        engine.close()
