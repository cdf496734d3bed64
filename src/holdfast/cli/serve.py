"""The server, from the command line."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Annotated

import typer

from holdfast.cli import say
from holdfast.cli.app import app, command
from holdfast.cli.learning import Learns, Settles
from holdfast.cli.options import At, option
from holdfast.errors import Invalid

INSTALL = 'pip install "holdfast[server]"'


@command(app, "serve", "Server", example="holdfast serve --port 8420")
def serve(
    at: At,
    database: Annotated[
        str | None,
        option("--database", help="The same as --url: sqlite:///path, postgresql://host/name."),
    ] = None,
    host: Annotated[str, option("--host", help="Where to listen. Else 127.0.0.1.")] = "127.0.0.1",
    port: Annotated[int, option("--port", help="Else 8420; 0 takes any that is free.")] = 8420,
    workers: Annotated[int, option("--workers", help="Processes on one store. Else 1.")] = 1,
    embedder: Annotated[str, option("--embedder", help="Else the one the store knows.")] = "auto",
    extractor: Learns = "rules",
    judge: Settles = None,
    limit: Annotated[
        list[str] | None,
        option("--limit", help="A limit for each tenant; see docs/server.md.", metavar="NAME=N"),
    ] = None,
    cors: Annotated[
        list[str] | None, option("--cors", help="An origin whose pages may call this server.")
    ] = None,
) -> None:
    """Serve this store over HTTP: REST, and the dialects of other services."""
    try:
        from holdfast.server.limits import Limits
        from holdfast.server.run import run
        from holdfast.server.settings import Settings
    except ImportError as error:
        raise Invalid(f"The server is not installed ({error.name}).", INSTALL) from None
    if not 0 <= port < 65536 or workers < 1:
        raise Invalid("--port is 0 to 65535, and --workers at least 1.")
    settings = Settings(
        url=database or at.url,
        embedder=embedder,
        extractor=extractor,
        judge=judge,
        host=host,
        port=port,
        workers=workers,
        cors=tuple(cors or ()),
        limits=Limits.of(dict(_pair(text) for text in limit or ())),
    )
    if at.json:
        say.json({**asdict(settings), "url": _without_password(settings.url)})
    run(settings, lambda text: typer.echo(text, err=True))


def _pair(text: str) -> tuple[str, str]:
    name, equals, number = text.partition("=")
    if not equals:
        raise Invalid(f"{text!r} is not NAME=NUMBER.", "Write for example --limit rate=50.")
    return name, number


def _without_password(url: str | None) -> str | None:
    """A URL that may be shown and logged."""
    secret = r"(?<=:)[^:/@]*(?=@)|(?<=[?&]password=)[^&]*"
    return None if url is None else re.sub(secret, "***", url)
