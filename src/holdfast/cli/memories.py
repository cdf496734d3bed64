"""The verbs on memories, from remember to forget."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Annotated, Any

import typer

from holdfast import ops
from holdfast.cli import say
from holdfast.cli.app import NOTHING, app, command
from holdfast.cli.options import (
    Asked,
    At,
    Limit,
    Listed,
    Once,
    Searched,
    Ttl,
    Where,
    Yes,
    option,
    pairs,
    time_option,
    words,
)
from holdfast.errors import Invalid
from holdfast.model import Explanation, Recalled, Receipt, Remembered, Source

MEMORIES = "Memories"
Content = Annotated[str, typer.Argument(help="The words; - reads them from standard input.")]
Query = Annotated[str, typer.Argument(help="What you want to know.")]
Id = Annotated[str, typer.Argument(help="The memory's id.")]


@command(app, "remember", MEMORIES, example="holdfast remember 'No SMS, ever' --kind preference")
def remember(
    at: At,
    contents: Annotated[
        list[str],
        typer.Argument(
            help="The words; several are stored together or not at all.", metavar="CONTENT..."
        ),
    ],
    kind: Annotated[str, typer.Option("--kind", "-k", help="What it is.")] = "fact",
    tag: Annotated[list[str] | None, option("--tag", "-t", help="A tag; repeatable.")] = None,
    meta: Annotated[
        list[str] | None, option("--meta", help="More about it.", metavar="KEY=VALUE")
    ] = None,
    session: Annotated[str | None, option("--session", help="In which conversation.")] = None,
    source: Annotated[str | None, option("--source", help="Who said it.")] = None,
    role: Annotated[str, typer.Option("--role", help="As what the source spoke.")] = "agent",
    ttl: Ttl = None,
    pinned: Annotated[bool, option("--pinned", help="Never expires, never fades.")] = False,
    happened_at: Annotated[
        datetime | None, time_option("--happened-at", help="When it happened; else now.")
    ] = None,
    idempotency_key: Once = None,
    id: Annotated[str | None, option("--id", help="An id of your own.")] = None,
    avoid: Annotated[bool, option("--avoid", help="It failed, or was ruled out.")] = False,
    supersedes: Annotated[
        list[str] | None, option("--supersedes", help="The id of a memory that it replaces.")
    ] = None,
    reconcile: Annotated[
        bool | None, option("--reconcile/--no-reconcile", help="It replaces what it contradicts.")
    ] = None,
) -> None:
    """Store a memory; it is on disk when this ends. The same words again reinforce it."""
    drafts: list[dict[str, Any]] = [
        {
            "content": words(content),
            "kind": kind,
            "tags": tag or (),
            "meta": pairs(meta),
            "session": session,
            "source": None if source is None else Source(source, role),
            "ttl": ttl,
            "pinned": pinned,
            "happened_at": happened_at,
            "id": id,
            "avoid": avoid,
            "supersedes": supersedes or (),
            "reconcile": reconcile,
        }
        for content in contents
    ]
    if id is not None and len(drafts) > 1:
        raise Invalid("One id cannot name several memories.", "Remember them one by one.")
    with at.open() as memory:
        done = memory.remember_many(drafts, idempotency_key)
    _remembered(at, done)


def _remembered(at: At, done: tuple[Remembered, ...]) -> None:
    if at.json:
        say.json(done[0] if len(done) == 1 else done)
        return
    for one in done:
        said = "remembered" if one.created else "known already, reinforced"
        said = "held for review" if one.held else said
        more = f", supersedes {', '.join(one.superseded)}" if one.superseded else ""
        say.line((one.id, "cyan"), f"  {said}{more}")


@command(app, "recall", MEMORIES, example="holdfast recall 'which database did we choose?' --why")
def recall(
    at: At,
    query: Query,
    searched: Searched,
    limit: Limit = 5,
    why: Annotated[bool, option("--why", help="Say where each score comes from.")] = False,
) -> None:
    """Find the memories that answer a question, best first. Exit code 1: nothing is relevant."""
    with at.open() as memory:
        found = memory.recall(words(query), limit, **searched.filters())
    if at.json:
        say.json(found)
    else:
        _recalled(found, why)
    if not found and not found.avoid:
        raise typer.Exit(NOTHING)


def _recalled(found: Recalled, why: bool) -> None:
    for hit in found.avoid:
        say.line(("avoid", "bold red"))
        say.hit(hit, why)
    for hit in found:
        say.hit(hit, why)
        if hit.conflicts:
            say.note(
                f"  in conflict with {', '.join(hit.conflicts)}: `holdfast resolve` settles it"
            )
        if hit.outdated_by:
            say.note(f"  partly outdated by {', '.join(hit.outdated_by)}")
    if found.degraded:
        say.note(f"Degraded, answered from words alone: {found.degraded}")
    if found.abstained:
        say.note("Nothing relevant: there are memories, but none is about this.")
    elif not found and not found.avoid:
        say.note("Nothing to look at: no memory in this scope fits.")


@command(app, "context", MEMORIES, example="holdfast context 'database architecture' --budget 500")
def context(
    at: At,
    query: Query,
    searched: Searched,
    budget: Annotated[int, typer.Option("--budget", "-b", help="At most this many tokens.")] = 1000,
) -> None:
    """Print what is relevant as a block for a prompt; nothing relevant prints nothing."""
    with at.open() as memory:
        block = memory.context(words(query), budget, **searched.filters())
    if at.json:
        say.json({"context": block})
    elif block:
        typer.echo(block)


@command(app, "list", MEMORIES, example="holdfast list --kind decision --since 2026-05-01")
def list_(
    at: At,
    listed: Listed,
    limit: Limit = 50,
    cursor: Annotated[str | None, option("--cursor", help="Go on from there.")] = None,
) -> None:
    """List memories, newest first, page by page."""
    with at.open() as memory:
        page = memory.list(limit=limit, cursor=cursor, **listed.filters())
    if at.json:
        say.json(page)
        return
    for record in page:
        say.row(record)
    if page.cursor is not None:
        say.note(f"There are more: --cursor {page.cursor}")
    elif not page:
        say.note("Nothing to list: no memory in this scope fits.")


@command(app, "show", MEMORIES, example="holdfast show 019a8f2c-…")
def show(at: At, id: Id) -> None:
    """Show one memory, whole."""
    with at.open() as memory:
        record = memory.read(id)
    if at.json:
        say.json(record)
    else:
        say.card(record)


@command(app, "history", MEMORIES, example="holdfast history 019a8f2c-…")
def history(at: At, id: Id) -> None:
    """Show every version of a memory, oldest first."""
    with at.open() as memory:
        versions = memory.history(id)
    if at.json:
        say.json(versions)
        return
    for record in versions:
        ended = f" until {record.until:%Y-%m-%d %H:%M:%S}" if record.until else ", current"
        began = f"version {record.version}, from {record.created_at:%Y-%m-%d %H:%M:%S}"
        say.line((f"{began}{ended}", "dim"))
        say.paragraph(record.content, indent=2)


@command(app, "revise", MEMORIES, example="holdfast revise 019a8f2c-… 'Use PostgreSQL 18'")
def revise(at: At, id: Id, content: Content, idempotency_key: Once = None) -> None:
    """Give a memory new words under the same id; the old ones stay in its history."""
    with at.open() as memory:
        record = memory.revise(id, words(content), idempotency_key)
    if at.json:
        say.json(record)
    else:
        say.line((record.id, "cyan"), f"  is now version {record.version}")


@command(app, "forget", MEMORIES, example="holdfast forget --session chat-17")
def forget(
    at: At,
    where: Where,
    id: Annotated[str | None, typer.Argument(help="The memory's id.")] = None,
    everything: Annotated[bool, option("--everything", help="The whole scope, state too.")] = False,
    yes: Yes = False,
    idempotency_key: Once = None,
) -> None:
    """Remove memories with their history: one by id, all that match, or the whole scope.

    Asks first, then prints a receipt. The bytes leave the file with `purge`.
    """
    filters = where.filters()
    with at.open() as memory:
        _must_be_clear(memory.scope, id, filters, everything)
        if not yes:
            _agree(f"Forget {_what(id, everything)} in scope {memory.scope!r} for good?")
        receipt = memory.forget(
            id, everything=everything, idempotency_key=idempotency_key, **filters
        )
    _forgotten(at, receipt)


def _must_be_clear(scope: str, id: str | None, filters: dict[str, Any], everything: bool) -> None:
    """A call that cannot be right fails before anyone is asked."""
    where = ops.where(**filters)
    if id is None and not where and not everything:
        raise Invalid(
            "forget does not know what to forget.",
            "Give an id, a filter such as --session, or --everything.",
        )
    ops.Forget(scope=scope, id=id, where=where, everything=everything)


def _what(id: str | None, everything: bool) -> str:
    if everything:
        return "every memory and every state key"
    return "all memories that match" if id is None else f"memory {id}"


def _agree(question: str) -> None:
    """Goes on only after a yes. Not typer's own prompt, for that leaves a blank in the answer."""
    typer.echo(f"{say.safe(question)} [y/N] ", err=True, nl=False)
    answer = sys.stdin.readline()
    if not answer:
        raise Invalid("Nobody answered, so nothing was forgotten.", "Add --yes.")
    if answer.strip().lower() not in ("y", "yes"):
        say.note("Nothing was forgotten.")
        raise typer.Exit(NOTHING)


def _forgotten(at: At, receipt: Receipt) -> None:
    if at.json:
        say.json(receipt)
        return
    memories = say.plural(receipt.memories, "memory", "memories")
    say.line(f"Forgot {memories} and {say.plural(receipt.states, 'state key')}.")
    say.line((f"  at      {receipt.at.isoformat()}\n  digest  {receipt.digest}", "dim"))
    say.note("The bytes leave the file with `holdfast purge`.")


@command(app, "explain", MEMORIES, example="holdfast explain 019a8f2c-… 'which database?'")
def explain(
    at: At,
    id: Id,
    query: Query,
    asked: Asked,
    limit: Limit = 5,
    budget: Annotated[
        int | None, option("--budget", "-b", help="Ask about a context of so many tokens.")
    ] = None,
) -> None:
    """Say why a memory is, or is not, in the answer to a question."""
    with at.open() as memory:
        found = memory.explain(id, words(query), limit, budget=budget, **asked.filters())
    if at.json:
        say.json(found)
    else:
        _explained(found)


def _explained(found: Explanation) -> None:
    say.line((found.verdict, "bold"), f": {found.detail}")
    if found.why is not None and found.score is not None:
        say.line((f"  score {found.score:.2f} = {say.safe(str(found.why))}", "dim"))
