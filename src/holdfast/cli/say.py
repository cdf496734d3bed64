"""How answers look: for a person, with rich; for a machine, one line of JSON.

What was remembered is printed as data: control characters, with which it could drive a
terminal, are shown and not sent. Notes go to standard error, so that a pipe gets answers only.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from holdfast import wire
from holdfast.model import Entry, Hit, Record

if TYPE_CHECKING:
    from rich.console import Console

BAR = 10  # characters of a full score
UNSEEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")  # a terminal obeys these, or hides text by them


def json(value: Any) -> None:
    """One line of JSON on standard output."""
    typer.echo(wire.dumps(value))


def note(text: str) -> None:
    """A remark beside the answer, on standard error."""
    typer.secho(safe(text), err=True, dim=True)


def failure(message: str, advice: str) -> None:
    """What went wrong and what to do, on standard error."""
    typer.secho(f"holdfast: {safe(message)}", err=True, fg="red")
    if advice:
        typer.echo(f"  {safe(advice)}", err=True)


def safe(text: str, newline: str = "\n") -> str:
    """The text with what a terminal would obey made visible; line ends become `newline`."""
    return "".join(
        newline
        if char == "\n"
        else char
        if char == "\t" or unicodedata.category(char) not in UNSEEN
        else char.encode("unicode_escape").decode()
        for char in text
    )


def console() -> Console:
    """Standard output as rich sees it."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def line(*parts: str | tuple[str, str]) -> None:
    """One line of styled parts: cut at the edge of a terminal, whole in a pipe."""
    from rich.text import Text

    out = console()
    text = Text.assemble(*parts)
    if out.is_terminal:
        out.print(text, no_wrap=True, overflow="ellipsis")
    else:
        out.print(text, soft_wrap=True)


def paragraph(text: str, style: str = "", indent: int = 0) -> None:
    """Text of any length, wrapped on a terminal, whole in a pipe."""
    from rich.padding import Padding
    from rich.text import Text

    out = console()
    said = Text(safe(text), style)
    if out.is_terminal:
        out.print(Padding(said, (0, 0, 0, indent)))
    else:
        out.print(Text(" " * indent) + said, soft_wrap=True)


def bar(score: float) -> str:
    """A score as a row of blocks."""
    full = round(score * BAR)
    return "█" * full + "░" * (BAR - full)


def hit(found: Hit, why: bool) -> None:
    """A hit: its score, its words, and where they come from."""
    colour = "green" if found.score >= 0.6 else "yellow" if found.score >= 0.4 else "dim"
    details = [about(found.memory), *([safe(str(found.why))] if why else [])]
    if not console().is_terminal:
        line(f"{bar(found.score)} {found.score:.2f}  {safe(found.content, ' ⏎ ')}")
        for detail in details:
            line(f"{'':17}{detail}")
        return
    from rich.table import Table
    from rich.text import Text

    drawn = Table.grid(padding=(0, 2, 0, 0))
    said = Text(f"{safe(found.content)}\n").append("\n".join(details), "dim")
    drawn.add_row(Text.assemble((bar(found.score), colour), f" {found.score:.2f}"), said)
    console().print(drawn)


def about(record: Record) -> str:
    """What else there is to say of a memory, in one line."""
    parts = [record.kind, f"{record.happened_at:%Y-%m-%d}"]
    parts += [f"#{tag}" for tag in record.tags]
    parts += [f"by {record.writer}"] if record.writer else []
    parts += ["pinned"] if record.pinned else []
    parts += [f"in {record.scope}", record.id]
    return safe(" · ".join(parts), " ")


def row(record: Record) -> None:
    """A memory as one line of a list."""
    said = safe(record.content, " ⏎ ")
    line((record.id, "cyan"), f"  {record.happened_at:%Y-%m-%d}  {safe(record.kind):<11} {said}")


def card(record: Record) -> None:
    """A memory, whole."""
    paragraph(record.content)
    for name, value in wire.dump(record).items():
        if name != "content" and value not in ([], {}, False):
            line((f"  {name:<13} ", "dim"), safe(value if isinstance(value, str) else text(value)))


def text(value: Any) -> str:
    """A state value: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else wire.dumps(value)


def entry(found: Entry) -> dict[str, Any]:
    """An entry as JSON data; null is a value too, so it is not left out."""
    return {**wire.dump(found), "value": found.value}


def table(title: str, headings: list[str], rows: list[list[str]]) -> None:
    """Figures in columns, the first to the left and the others to the right."""
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, heading in enumerate(headings):
        drawn.add_column(heading, justify="right" if number else "left")
    for cells in rows:
        drawn.add_row(*cells)
    console().print(drawn)


@contextmanager
def progress(what: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """A bar on standard error if that is a terminal; call it with how much is done, and of what."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total)
        yield lambda done, of=total: shown.update(task, completed=done, total=of)


def plural(count: int, one: str, many: str = "") -> str:
    """A number with its word."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def amount(count: int) -> str:
    """A number of bytes for a person."""
    size = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
