"""The command line as a whole: its name, its exit codes, and its errors in words.

Every failure passes through `_told`: one place decides how it is said and what the code is.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from holdfast import wire
from holdfast.cli import say
from holdfast.cli.options import At, option, spread
from holdfast.errors import (
    Conflict,
    EmbedderFailed,
    EmbedderMismatch,
    HoldfastError,
    Invalid,
    NotFound,
)

NOTHING = 1  # the answer is no: like grep, this is not an error
CODES: tuple[tuple[type[HoldfastError], int], ...] = (
    (Invalid, 2),
    (NotFound, 3),
    (EmbedderMismatch, 6),  # before Conflict, of which it is one
    (Conflict, 4),
    (EmbedderFailed, 6),
    (HoldfastError, 5),
)
# Some versions of typer carry their own copy of click, so its errors are reached through typer.
UsageError: type[Any] = typer.BadParameter.__bases__[0]
EPILOG = """[b]Exit codes[/b]
  0  done
  1  nothing relevant (recall), not there (state delete), not healthy (doctor), you said no
  2  wrong usage: the message says what to write
  3  no such memory or key
  4  conflict with what is stored: a version, an id, a file that exists
  5  trouble with the store: busy, full, read-only, damaged, or of a newer Holdfast
  6  trouble with the embedder

[dim]All of it: docs/cli.md. A content or value may be - to read it from standard input.[/dim]"""
PANELS = ("Memories", "Learning", "State", "Store", "Server", "Try it")  # of the help, in order


class Group(TyperGroup):
    """The commands; what any of them raises is told in words."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands in the order of their panels."""
        panels = {name: getattr(it, "rich_help_panel", "") for name, it in self.commands.items()}
        return sorted(super().list_commands(ctx), key=lambda name: PANELS.index(panels[name]))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the options before the command."""
        with _told("--json" in args):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Reads the rest, and does the command."""
        with _told(bool(ctx.params.get("json")) or "--json" in ctx.args):
            return super().invoke(ctx)


@contextmanager
def _told(as_json: bool) -> Iterator[None]:
    try:
        yield
    except HoldfastError as error:
        code = next(code for kind, code in CODES if isinstance(error, kind))
        _tell(type(error).__name__, error.message, error.advice, as_json)
        raise typer.Exit(code) from None
    except UsageError as error:
        if not as_json:
            raise
        _tell("Invalid", error.format_message(), "See --help.", as_json)
        raise typer.Exit(2) from None


def _tell(name: str, message: str, advice: str, as_json: bool) -> None:
    if as_json:
        said = {"error": name, "message": message, "advice": advice}
        typer.echo(wire.dumps(said), err=True)
    else:
        say.failure(message, advice)


app = typer.Typer(
    name="holdfast",
    cls=Group,
    help="Long-term memory for AI agents, in one SQLite file.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_show_locals=False,  # a trace of ours must not show anyone's memories
)


def command(
    group: typer.Typer, name: str, panel: str | None = None, *, example: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function a command; its docstring is the help, and one example follows it."""
    shown = "Example: [cyan]" + example.replace("[", "\\[") + "[/cyan]"

    def register(function: Callable[..., None]) -> Callable[..., None]:
        group.command(name, epilog=shown, rich_help_panel=panel)(spread(function))
        return function

    return register


def _version(wanted: bool) -> None:
    if wanted:
        from holdfast import __version__

        typer.echo(f"holdfast {__version__}")
        raise typer.Exit


Version = Annotated[
    bool, option("--version", help="Say the version.", is_eager=True, callback=_version)
]


@app.callback()
@spread
def everywhere(at: At, version: Version = False) -> None:
    """Long-term memory for AI agents, in one SQLite file."""  # its options are kept in the context


def main(args: Sequence[str] | None = None) -> None:
    """Runs the command line; ends the process with an exit code that means something."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that lacks a letter is no reason to fail
            stream.reconfigure(errors="backslashreplace")
    app(args)
