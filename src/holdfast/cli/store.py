"""The store as a whole: moving it, copying it, checking it, cleaning it."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from holdfast.cli import say
from holdfast.cli.app import NOTHING, app, command
from holdfast.cli.options import At, option
from holdfast.errors import Conflict, Invalid, StoreFull
from holdfast.model import Diagnosis, Reembedded, Stats

if TYPE_CHECKING:
    from holdfast import Memory

STORE = "Store"


@command(app, "export", STORE, example="holdfast export memory.jsonl")
def export(
    at: At,
    file: Annotated[str, typer.Argument(help="A new file; - is standard output.")] = "-",
    force: Annotated[bool, option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write the scope as JSON Lines: every memory with its history, then the state."""
    with at.open() as memory:
        if file == "-":
            _write(memory, sys.stdout)
            return
        with _new_file(Path(file), force) as out:
            lines = _write(memory, out)
    if at.json:
        say.json({"file": file, "lines": lines})
    else:
        say.line(f"Wrote {say.plural(lines, 'line')} to {say.safe(file)}.")


def _write(memory: Memory, out: IO[str]) -> int:
    held = memory.stats()
    count = 0
    with say.progress("Exporting", held.versions + held.states + 1) as shown:
        for line in memory.export():
            out.write(f"{line}\n")
            count += 1
            if count % 100 == 0:
                shown(count)
    out.flush()
    return count


@contextmanager
def _new_file(path: Path, force: bool) -> Iterator[IO[str]]:
    """A file that appears under its name only when it is whole."""
    if path.exists() and not force:
        raise Conflict(f"{path} exists already.", "Choose another name, or add --force.")
    part = path.with_name(f"{path.name}.part")
    try:
        with part.open("w", encoding="utf-8") as out:
            yield out
        part.replace(path)
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise StoreFull(f"No room left on the disk of {path}.", "Free some.") from error
        raise Invalid(
            f"{path} cannot be written: {error.strerror}.", "Choose a path you can write."
        ) from error
    finally:
        part.unlink(missing_ok=True)


@command(app, "import", STORE, example="holdfast import memory.jsonl --scope copy")
def import_(
    at: At,
    file: Annotated[str, typer.Argument(help="An export; - is standard input.")] = "-",
) -> None:
    """Take an export into the scope: all of it or nothing. What is there already stays."""
    lines = _lines(file)
    with at.open() as memory, say.progress(f"Importing {len(lines)} lines"):
        done = memory.import_(lines)
    if at.json:
        say.json(done)
    else:
        added = say.plural(done.added, "memory", "memories")
        say.line(f"Added {added}, knew {done.known:,}, set {say.plural(done.states, 'state key')}.")


def _lines(file: str) -> list[str]:
    try:
        data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
        # Not splitlines(): JSON may hold line separators of Unicode inside a text.
        return data.decode().split("\n")
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise Invalid(f"{file} is not UTF-8, so it is not an export.") from None


@command(app, "backup", STORE, example="holdfast backup memory-backup.db")
def backup(at: At, file: Annotated[str, typer.Argument(help="A new file.")]) -> None:
    """Copy the whole store, all scopes, to a new file while it is in use."""
    with at.open(embedder=None) as memory, say.progress("Copying"):
        size = memory.backup(file)
    if at.json:
        say.json({"file": file, "bytes": size})
    else:
        say.line(f"Copied {say.amount(size)} to {say.safe(file)}.")


@command(app, "reembed", STORE, example="holdfast reembed --embedder hashing")
def reembed(
    at: At,
    embedder: Annotated[str, typer.Option("--embedder", "-e", help="The name of the new one.")],
) -> None:
    """Move the whole store to another embedder, in use; goes on where it stopped."""
    # Opened without one: the store may belong to an embedder that is not here any more.
    with at.open(embedder=None) as memory, say.progress("Embedding") as shown:

        def progress(reached: Reembedded) -> None:
            shown(reached.done, reached.total)

        done = memory.reembed(embedder, progress)
        held = memory.stats().embedder
    if at.json:
        say.json({"embedder": held, "done": done.done, "total": done.total})
    else:
        said = f"; {done.done:,} memories embedded" if done.done else " already"
        say.line(f"The store belongs to {say.safe(held)}{said}.")


@command(
    app, "migrate-store", STORE, example="holdfast migrate-store sqlite:///a.db postgresql://db/x"
)
def migrate_store(
    at: At,
    source: Annotated[str, typer.Argument(help="The store to copy, by its URL.")],
    target: Annotated[str, typer.Argument(help="An empty one, or one this has begun to fill.")],
) -> None:
    """Copy a whole store, every tenant, into another; in use; goes on where it stopped."""
    from holdfast.engine import open_engine
    from holdfast.engine.moving import move

    with (
        closing(open_engine(source)) as old,
        closing(open_engine(target)) as new,
        say.progress("Moving") as shown,
    ):
        done = move(old, new, source, shown)
    if at.json:
        say.json(asdict(done))
    else:
        scopes, rows = say.plural(done.places, "scope"), say.plural(done.memories, "row")
        say.line(f"{scopes} with {rows} of memories; {done.copied} copied now.")
        say.note(f"Both stores are equal: sha256 {done.digest[:16]}…")


@command(app, "doctor", STORE, example="holdfast doctor --repair")
def doctor(
    at: At,
    repair: Annotated[bool, option("--repair", help="Rebuild what is wrong.")] = False,
) -> None:
    """Check the file, and every index against its rows. Exit code 1: something is wrong."""
    with at.open() as memory, say.progress("Checking"):
        found = memory.doctor(repair)
    if at.json:
        say.json({"healthy": found.healthy, "findings": found.findings})
    else:
        _diagnosed(found)
    if not found.healthy:
        raise typer.Exit(NOTHING)


def _diagnosed(found: Diagnosis) -> None:
    for finding in found.findings:
        done = ("repaired", "green") if finding.repaired else ("found", "red")
        say.line(done, f"  {say.safe(finding.what)}: {finding.count:,}")
    if found.healthy:
        say.line(("Healthy.", "green"))
    else:
        say.note("`holdfast doctor --repair` rebuilds indexes from the rows.")


@command(app, "purge", STORE, example="holdfast purge")
def purge(at: At) -> None:
    """Take what expired, and every byte of what was forgotten, out of the file (all scopes)."""
    with at.open() as memory, say.progress("Purging"):
        done = memory.purge()
    if at.json:
        say.json(done)
    else:
        memories = say.plural(done.memories, "expired memory", "expired memories")
        states = say.plural(done.states, "state key")
        say.line(f"Removed {memories} and {states}; freed {say.amount(done.freed_bytes)}.")


@command(app, "stats", STORE, example="holdfast stats --scope team")
def stats(at: At) -> None:
    """Say how much a scope holds, and what the store costs."""
    with at.open() as memory:
        held = memory.stats()
    if at.json:
        say.json(held)
    else:
        _counted(held)


def _counted(held: Stats) -> None:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in held.kinds.items())
    for name, said in {
        "scope": held.scope,
        "memories": f"{held.memories:,}" + (f" ({kinds})" if kinds else ""),
        "versions": f"{held.versions:,}",
        "sessions": f"{held.sessions:,}",
        "state keys": f"{held.states:,}",
        "no vector yet": f"{held.waiting:,}",
        "embedder": f"{held.embedder}",
        "file": f"{say.amount(held.file_bytes)}, all scopes",
    }.items():
        say.line((f"{name:<14}", "dim"), say.safe(said))
