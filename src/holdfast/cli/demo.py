"""A short tour of the library on a store that is gone afterwards."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from holdfast.cli import say
from holdfast.cli.app import app, command
from holdfast.cli.options import At
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast import Memory

TOLD = [
    ("Use PostgreSQL, not MongoDB, for the main store", "decision"),
    ("Maria prefers tea, and no meetings before ten", "preference"),
    ("The nightly import broke because the disk was full", "lesson"),
    ("The staging server is called heron", "fact"),
]


@command(app, "demo", "Try it", example="holdfast demo")
def demo(at: At) -> None:
    """Try the library on a temporary store; without a terminal, watch a short tour."""
    from holdfast import Memory

    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        url = f"sqlite:///{Path(folder) / 'demo.db'}"
        with Memory("demo", url) as memory:
            _tour(memory, at.json)
            if sys.stdin.isatty() and not at.json:
                _play(memory)


def _tour(memory: Memory, as_json: bool) -> None:
    """Each step: the call as a program would write it, then its answer."""
    ids = [memory.remember(content, kind=kind).id for content, kind in TOLD]
    found = memory.recall("PostgreSQL or MongoDB for the store?")
    memory.set("cursor", {"row": 8000})
    memory.revise(ids[3], "The staging server is called osprey")
    receipt = memory.forget(ids[1])
    block = memory.context("why did the nightly import break?", budget=200)
    cursor, versions = memory.get("cursor"), memory.history(ids[3])
    if as_json:
        say.json({"recalled": found, "context": block, "state": cursor, "receipt": receipt})
        return
    for content, kind in TOLD:
        _code(f"memory.remember({content!r}, kind={kind!r})")
    _code('memory.recall("PostgreSQL or MongoDB for the store?")')
    for hit in found:
        say.hit(hit, why=True)
    _code('memory.revise(id, "The staging server is called osprey"); memory.history(id)')
    for record in versions:
        say.line(f"{record.version}: {record.content}")
    _code('print(memory.context("why did the nightly import break?", budget=200))')
    typer.echo(block)
    _code('memory.set("cursor", {"row": 8000}); memory.get("cursor")')
    typer.echo(say.text(cursor))
    _code("memory.forget(id)")
    say.line(f"receipt: {receipt.memories} memory, digest {receipt.digest}")


def _code(text: str) -> None:
    say.line((f">>> {text}", "cyan"))


def _play(memory: Memory) -> None:
    """Asks until an empty line: a question is recalled, a line that begins with + remembered."""
    say.paragraph("\nNow you: + and a sentence is remembered, anything else is asked. Empty: end.")
    while line := _read():
        try:
            if line.startswith("+"):
                memory.remember(line[1:].strip())
                continue
            found = memory.recall(line)
        except HoldfastError as error:
            say.failure(error.message, error.advice)
            continue
        for hit in found:
            say.hit(hit, why=True)
        if not found:
            say.note("Nothing here is relevant to that.")


def _read() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return ""
