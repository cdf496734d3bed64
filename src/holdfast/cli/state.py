"""The verbs on key-value state."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli import say
from holdfast.cli.app import NOTHING, app, command
from holdfast.cli.options import At, IfVersion, Limit, Once, Ttl, option, spread, value
from holdfast.errors import Invalid
from holdfast.model import Entry

group = typer.Typer(
    name="state",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
app.add_typer(group, rich_help_panel="State")


@group.callback()
@spread
def everywhere(at: At) -> None:
    """Key-value state: cursors, counters, logs, hand-overs."""


Key = Annotated[str, typer.Argument(help="The key.")]
JSON_OR_TEXT = "JSON, or else text; - reads it from standard input."


def _changed(at: At, entry: Entry) -> None:
    if at.json:
        say.json(say.entry(entry))
    else:
        said = say.safe(say.text(entry.value), " ⏎ ")
        say.line((say.safe(entry.key), "cyan"), f" = {said}", (f"  version {entry.version}", "dim"))


@command(group, "set", example="""holdfast state set cursor '{"row": 8000}'""")
def set_(
    at: At,
    key: Key,
    given: Annotated[str, typer.Argument(help=JSON_OR_TEXT, metavar="VALUE")],
    ttl: Ttl = None,
    if_version: IfVersion = None,
    idempotency_key: Once = None,
) -> None:
    """Put a value under a key."""
    new = value(given)
    with at.open() as memory:
        entry = memory.set(
            key, new, ttl=ttl, if_version=if_version, idempotency_key=idempotency_key
        )
    _changed(at, entry)


@command(group, "get", example="holdfast state get cursor")
def get(at: At, key: Key) -> None:
    """Print the value under a key: text as it is, anything else as JSON.

    With --json also its version and times.
    """
    with at.open() as memory:
        entry = memory.entry(key)
    if at.json:
        say.json(say.entry(entry))
    else:
        typer.echo(say.safe(say.text(entry.value)))


@command(group, "delete", example="holdfast state delete cursor")
def delete(at: At, key: Key, if_version: IfVersion = None, idempotency_key: Once = None) -> None:
    """Remove a key. Exit code 1: it was not there."""
    with at.open() as memory:
        there = memory.delete(key, if_version=if_version, idempotency_key=idempotency_key)
    if at.json:
        say.json({"deleted": there})
    else:
        say.note("Deleted." if there else "There was no such key.")
    if not there:
        raise typer.Exit(NOTHING)


@command(group, "keys", example="holdfast state keys chat/")
def keys(
    at: At,
    prefix: Annotated[str, typer.Argument(help="What they begin with.")] = "",
    after: Annotated[str, option("--after", help="Only keys after this one.")] = "",
    limit: Limit = 1000,
) -> None:
    """List the keys in order, one to a line."""
    with at.open() as memory:
        found = memory.keys(prefix, after=after, limit=limit)
    if at.json:
        say.json(found)
        return
    for key in found:
        typer.echo(say.safe(key))
    if len(found) == limit:
        say.note(f"There may be more: --after {found[-1]!r}")


@command(group, "append", example="""holdfast state append log '{"step": 1}'""")
def append(
    at: At,
    key: Key,
    item: Annotated[str, typer.Argument(help=JSON_OR_TEXT)],
    ttl: Ttl = None,
    if_version: IfVersion = None,
    idempotency_key: Once = None,
) -> None:
    """Add an item to the list under a key, atomically; a missing key is an empty list."""
    new = value(item)
    with at.open() as memory:
        entry = memory.append(
            key, new, ttl=ttl, if_version=if_version, idempotency_key=idempotency_key
        )
    _changed(at, entry)


@command(group, "increment", example="holdfast state increment runs --by 2")
def increment(
    at: At,
    key: Key,
    by: Annotated[str, typer.Option("--by", help="How much to add.", metavar="NUMBER")] = "1",
    ttl: Ttl = None,
    if_version: IfVersion = None,
    idempotency_key: Once = None,
) -> None:
    """Add to the number under a key, atomically; a missing key is 0."""
    with at.open() as memory:
        entry = memory.increment(
            key, number(by), ttl=ttl, if_version=if_version, idempotency_key=idempotency_key
        )
    _changed(at, entry)


def number(text: str) -> int | float:
    """A whole number if the text is one, so that a counter stays whole."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise Invalid(f"{text!r} is not a number.", "Write 2, -1 or 0.5.") from None
