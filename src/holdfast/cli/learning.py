"""The verbs of learning: out of conversations, and putting right what was learned."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from holdfast import wire
from holdfast.cli import say
from holdfast.cli.app import NOTHING, app, command
from holdfast.cli.options import At, Limit, Once, option, time_option, words
from holdfast.errors import Invalid
from holdfast.model import Extracted, Policy

LEARNING = "Learning"
Id = Annotated[str, typer.Argument(help="Its id.")]
jobs_group = typer.Typer(help="Jobs that wait, run, or failed for good.", no_args_is_help=True)
app.add_typer(jobs_group, name="jobs", rich_help_panel=LEARNING)


Learns = Annotated[str, typer.Option("--extractor", help="rules or llm.")]
Settles = Annotated[str | None, option("--judge", help="Who settles conflicts: llm, else nobody.")]


@command(app, "extract", LEARNING, example="holdfast extract chat.json --session chat-17")
def extract(
    at: At,
    conversation: Annotated[
        str, typer.Argument(help="A file of messages (JSON) or of `Name: text` lines; - for input.")
    ],
    session: Annotated[str | None, option("--session", help="Which conversation it is.")] = None,
    keep: Annotated[str, typer.Option("--keep", help="learnings, turns or both.")] = "learnings",
    extractor: Learns = "rules",
    judge: Settles = None,
    later: Annotated[bool, option("--later", help="Accept it now, learn from it soon.")] = False,
    idempotency_key: Once = None,
) -> None:
    """Learn from a conversation. The same session again adds only what is new."""
    said = _conversation(conversation)
    with at.open(extractor=extractor, judge=judge) as memory:
        done = memory.extract(
            said, session, keep=keep, wait=not later, idempotency_key=idempotency_key
        )
    if at.json:
        say.json(done)
    else:
        _extracted(done)


def _conversation(where: str) -> Any:
    """What a file or standard input holds: messages as JSON, or text."""
    try:
        text = words("-") if where == "-" else Path(where).read_text(encoding="utf-8")
    except OSError as error:
        raise Invalid(
            f"{where!r} cannot be read: {error.strerror}.", "Name a file, or -."
        ) from None
    except UnicodeDecodeError:
        raise Invalid(f"{where!r} is not UTF-8.", "Convert it.") from None
    try:
        found = wire.parse(text)
    except Invalid:
        return text
    return found.get("messages", [found]) if isinstance(found, dict) else found


def _extracted(done: Extracted) -> None:
    if done.job is not None:
        say.line("Accepted as job ", (done.job, "cyan"))
        return
    for one in done.learned:
        what = "held for review" if one.held else "learned" if one.created else "known already"
        more = f", supersedes {', '.join(one.superseded)}" if one.superseded else ""
        more += f", in conflict with {', '.join(one.conflicts)}" if one.conflicts else ""
        say.line((one.id, "cyan"), f"  {what}{more}")
    memories = say.plural(done.created, "new memory", "new memories")
    say.note(f"{say.plural(done.turns, 'new turn')}, {memories}.")


@command(app, "resolve", LEARNING, example="holdfast resolve 019a8f2c-…")
def resolve(
    at: At,
    id: Id,
    over: Annotated[list[str] | None, option("--over", help="Only over this one.")] = None,
    both: Annotated[bool, option("--both", help="Both are right.")] = False,
    idempotency_key: Once = None,
) -> None:
    """Settle a conflict: this memory is right, and those that say otherwise are past."""
    with at.open() as memory:
        done = memory.resolve(id, over or (), both=both, idempotency_key=idempotency_key)
    if at.json:
        say.json(done)
    else:
        say.line((id, "cyan"), f"  stands; {say.plural(len(done.superseded), 'other')} past")


@command(app, "conflicts", LEARNING, example="holdfast conflicts")
def conflicts(at: At, limit: Limit = 100) -> None:
    """List memories that say otherwise than another, where it is unclear which is right."""
    with at.open() as memory:
        lines = [wire.parse(line) for line in memory.export()]
        found = [one for one in lines if "conflict" in one.get("links", {})][:limit]
    if at.json:
        say.json([{"id": one["id"], "conflicts": one["links"]["conflict"]} for one in found])
        return
    for one in found:
        say.line((one["id"], "cyan"), f"  {one['content']}")
        say.line((f"  against {', '.join(one['links']['conflict'])}", "dim"))
    if not found:
        say.note("No conflicts.")


@command(app, "review", LEARNING, example="holdfast review")
def review(at: At, limit: Limit = 100) -> None:
    """List what is in quarantine, with why it is held."""
    with at.open() as memory:
        found = memory.review(limit)
    if at.json:
        say.json(found)
        return
    for one in found:
        who = f" by {one.source.writer}" if one.source and one.source.writer else ""
        say.line((one.id, "cyan"), f"  {', '.join(one.why)}{who}")
        say.paragraph(one.content, indent=2)
    if not found:
        say.note("Nothing is in quarantine.")


@command(app, "approve", LEARNING, example="holdfast approve 019a8f2c-…")
def approve(at: At, id: Id, idempotency_key: Once = None) -> None:
    """Let something out of quarantine: from now on it is a memory."""
    with at.open() as memory:
        done = memory.approve(id, idempotency_key)
    if at.json:
        say.json(done)
    else:
        say.line((done.id, "cyan"), "  approved")


@command(app, "reject", LEARNING, example="holdfast reject 019a8f2c-…")
def reject(at: At, id: Id, idempotency_key: Once = None) -> None:
    """Remove something from quarantine for good. Exit code 1: it was not there."""
    with at.open() as memory:
        there = memory.reject(id, idempotency_key)
    if at.json:
        say.json(there)
    if not there:
        raise typer.Exit(NOTHING)


@command(app, "rollback", LEARNING, example="holdfast rollback crawler --since 2026-05-01")
def rollback(
    at: At,
    source: Annotated[str, typer.Argument(help="The writer.")],
    since: Annotated[datetime | None, time_option("--since", help="Only since then.")] = None,
    idempotency_key: Once = None,
) -> None:
    """Undo all that a writer told; what that superseded is true again."""
    with at.open() as memory:
        done = memory.rollback(source, since, idempotency_key=idempotency_key)
    if at.json:
        say.json(done)
    else:
        removed = say.plural(done.removed, "memory", "memories")
        say.line(f"Removed {removed}, {done.revived} true again, {done.kept} kept.")


@command(app, "policy", LEARNING, example="holdfast policy --role document=quarantine")
def policy(
    at: At,
    role: Annotated[
        list[str] | None, option("--role", help="What to do with a class.", metavar="ROLE=ACTION")
    ] = None,
    suspicious: Annotated[str | None, option("--suspicious", help="accept … reject.")] = None,
    secrets: Annotated[str | None, option("--secrets", help="accept, redact, reject.")] = None,
    reconcile: Annotated[
        bool | None, option("--reconcile/--no-reconcile", help="remember corrects, too.")
    ] = None,
) -> None:
    """Show, or change, what the scope does with writings: accept, quarantine or reject."""
    roles = dict(_pair(text) for text in role) if role else None
    with at.open() as memory:
        held = memory.policy(
            roles=roles, suspicious=suspicious, secrets=secrets, reconcile=reconcile
        )
    if at.json:
        say.json(held)
    else:
        _policy(held)


def _pair(text: str) -> tuple[str, str]:
    role, equals, action = text.partition("=")
    if not equals:
        raise Invalid(f"{text!r} is not ROLE=ACTION.", "Write --role document=quarantine.")
    return role, action


def _policy(held: Policy) -> None:
    rows = [[f"written by a {role}", action] for role, action in held.roles.items()]
    rows += [["suspicious", held.suspicious], ["secrets", held.secrets]]
    rows += [["remember corrects", "yes" if held.reconcile else "no"]]
    say.table("Policy", ["what", "action"], rows)


@command(app, "consolidate", LEARNING, example="holdfast consolidate --session chat-17")
def consolidate(
    at: At, session: Annotated[str | None, option("--session", help="Only this one.")] = None
) -> None:
    """Sum up what says the same, and long trails of raw turns; `dissolve` brings them back."""
    with at.open() as memory:
        done = memory.consolidate(session)
    if at.json:
        say.json(done)
        return
    for id in done.summaries:
        say.line((id, "cyan"), "  is a summary")
    say.note(f"{say.plural(done.sources, 'memory', 'memories')} summed up.")


@command(app, "dissolve", LEARNING, example="holdfast dissolve 019a8f2c-…")
def dissolve(at: At, id: Id, idempotency_key: Once = None) -> None:
    """Undo a summary: its sources are current again."""
    with at.open() as memory:
        done = memory.dissolve(id, idempotency_key)
    if at.json:
        say.json(done)
    else:
        say.line(f"{say.plural(done, 'memory', 'memories')} current again.")


@command(jobs_group, "list", example="holdfast jobs list")
def jobs_list(at: At, limit: Limit = 100) -> None:
    """List the jobs of the scope, oldest first."""
    with at.open() as memory:
        found = memory.jobs(limit)
    if at.json:
        say.json(found)
        return
    for job in found:
        say.line((job.id, "cyan"), f"  {job.state}, attempt {job.attempts}  {job.trouble or ''}")
    if not found:
        say.note("No jobs: everything accepted is done.")


@command(jobs_group, "run", example="holdfast jobs run")
def jobs_run(at: At, extractor: Learns = "rules", judge: Settles = None) -> None:
    """Do the jobs that are due, here and now, and remove what has expired."""
    with at.open(extractor=extractor, judge=judge) as memory, say.progress("jobs") as told:
        done = memory.work()
        told(done)
    if at.json:
        say.json(done)
    else:
        say.line(f"{say.plural(done, 'job')} done.")


@command(jobs_group, "replay", example="holdfast jobs replay 019a8f2c-…")
def jobs_replay(at: At, id: Id, idempotency_key: Once = None) -> None:
    """Let a job that failed for good be tried again. Exit code 1: there is none."""
    with at.open() as memory:
        there = memory.replay(id, idempotency_key)
    if at.json:
        say.json(there)
    if not there:
        raise typer.Exit(NOTHING)
