"""What a person may type: the options that commands share, and the values they stand for.

A group of options is a dataclass. A command takes it as one parameter, and `spread` shows its
fields to typer as options of their own, so that every command has them by the same names.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timedelta
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from holdfast import wire
from holdfast.errors import Invalid
from holdfast.model import Weights

if TYPE_CHECKING:
    from holdfast import Memory

EVERYWHERE, WHICH, HOW = "Everywhere", "Which memories", "How to look"
UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
TIME = "Write 2026-05-03T09:30:00Z (or +02:00 for Z), or a bare 2026-05-03."


def moment(text: str) -> datetime:
    """A time with its zone; a bare date is the start of that day in UTC."""
    bare = re.fullmatch(r"\d{4}-\d\d-\d\d", text)
    try:
        found = wire.moment(f"{text}T00:00:00Z" if bare else text)
    except Invalid:
        raise Invalid(f"{text!r} is not a time.", TIME) from None
    if found.utcoffset() is None:
        raise Invalid(f"{text!r} has no time zone, so it could mean any of many moments.", TIME)
    return found


def lifetime(text: str) -> timedelta:
    """A length of time: seconds, or a number with s, m, h, d or w."""
    found = re.fullmatch(r"(\d{1,12}(?:\.\d+)?)([smhdw]?)", text)
    if found is None:
        raise Invalid(f"{text!r} is not a length of time.", "Write seconds, or 30m, 12h, 7d.")
    try:
        return timedelta(seconds=float(found[1]) * UNITS[found[2]])
    except OverflowError:
        raise Invalid(f"{text!r} is too long.", "Leave it out to keep for ever.") from None


def weights(text: str) -> Weights:
    """Three numbers: similarity, recency, frequency."""
    try:
        similarity, recency, frequency = map(float, text.split(","))
    except ValueError:
        raise Invalid(
            f"{text!r} is not three numbers.", "Write similarity,recency,frequency: 0.6,0.2,0.2."
        ) from None
    return Weights(similarity, recency, frequency)


def value(text: str) -> Any:
    """What the text says in JSON, or else the text itself; `-` reads it from standard input."""
    text = words(text)
    try:
        return wire.parse(text)
    except Invalid:
        return text


def words(text: str) -> str:
    """The text itself; `-` stands for what comes on standard input, without its last line end."""
    if text != "-":
        return text
    try:
        return sys.stdin.buffer.read().decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise Invalid(f"Standard input is not UTF-8 ({error.reason}).", "Convert it.") from None


def pairs(texts: list[str] | None) -> dict[str, Any]:
    """Keys and values out of KEY=VALUE texts; a value is JSON, or else text."""
    found = {}
    for text in texts or ():
        key, equals, said = text.partition("=")
        if not equals or not key:
            raise Invalid(f"{text!r} is not KEY=VALUE.", "Write for example --meta ticket=42.")
        found[key] = said if said == "-" else value(said)
    return found


def option(*names: str, help: str, panel: str | None = None, **more: Any) -> Any:
    """An option that shows no default: where there is one, its help says so."""
    return typer.Option(*names, help=help, rich_help_panel=panel, show_default=False, **more)


def time_option(*names: str, help: str, panel: str | None = None) -> Any:
    """An option that takes a time."""
    return option(*names, help=help, panel=panel, parser=moment, metavar="TIME")


Ttl = Annotated[
    timedelta | None,
    option("--ttl", help="Forget after this long: 30m, 12h, 7d.", parser=lifetime, metavar="TIME"),
]
IfVersion = Annotated[
    int | None, option("--if-version", help="Only over this version; 0: only a new key.")
]
Once = Annotated[
    str | None, option("--idempotency-key", help="A retry with the same key is not done again.")
]
Yes = Annotated[bool, option("--yes", "-y", help="Do not ask first.")]
Limit = Annotated[int, typer.Option("--limit", "-n", help="At most this many.")]


@dataclass(frozen=True)
class At:
    """Which store, which scope, and for whom to print."""

    scope: Annotated[
        str | None,
        option(
            "--scope",
            "-s",
            help="Whose memories. Else $HOLDFAST_SCOPE, else 'default'.",
            panel=EVERYWHERE,
        ),
    ] = None
    url: Annotated[
        str | None,
        option(
            "--url",
            help="Which store: sqlite:///path, postgresql://…, or http://… for a server. "
            "Else $HOLDFAST_URL, "
            "else one in your data folder.",
            panel=EVERYWHERE,
        ),
    ] = None
    json: Annotated[bool, option("--json", help="Answer in JSON.", panel=EVERYWHERE)] = False

    def open(
        self,
        embedder: str | None = "auto",
        extractor: str = "rules",
        judge: str | None = None,
    ) -> Memory:
        """The memory this is about."""
        from holdfast import Memory

        scope = self.scope
        if scope is None:
            scope = os.environ.get("HOLDFAST_SCOPE") or "default"
        return Memory(scope, self.url, embedder=embedder, extractor=extractor, judge=judge)

    def over(self, before: dict[str, Any]) -> At:
        """These options, completed by those given before the command."""
        return At(
            scope=before.get("scope") if self.scope is None else self.scope,
            url=before.get("url") if self.url is None else self.url,
            json=self.json or bool(before.get("json")),
        )


@dataclass(frozen=True)
class Where:
    """Which memories are meant."""

    kind: Annotated[
        list[str] | None,
        option("--kind", "-k", help="Of this kind, or of another one given.", panel=WHICH),
    ] = None
    tag: Annotated[
        list[str] | None,
        option("--tag", "-t", help="With this tag, and every other one given.", panel=WHICH),
    ] = None
    session: Annotated[
        str | None, option("--session", help="Of this conversation.", panel=WHICH)
    ] = None
    source: Annotated[str | None, option("--source", help="Told by this writer.", panel=WHICH)] = (
        None
    )
    since: Annotated[
        datetime | None, time_option("--since", help="Happened then or later.", panel=WHICH)
    ] = None
    until: Annotated[
        datetime | None, time_option("--until", help="Happened before then.", panel=WHICH)
    ] = None
    meta: Annotated[
        list[str] | None,
        option("--meta", help="With this in its meta.", panel=WHICH, metavar="KEY=VALUE"),
    ] = None

    def filters(self) -> dict[str, Any]:
        """The same as arguments of a verb."""
        return {
            "kinds": self.kind or (),
            "tags": self.tag or (),
            "session": self.session,
            "source": self.source,
            "since": self.since,
            "until": self.until,
            "meta": pairs(self.meta),
        }


@dataclass(frozen=True)
class Listed(Where):
    """Which memories are meant, now or at a moment of the past."""

    as_of: Annotated[
        datetime | None, time_option("--as-of", help="As it was true then.", panel=HOW)
    ] = None

    def filters(self) -> dict[str, Any]:
        """The same as arguments of a verb."""
        return {**super().filters(), "as_of": self.as_of}


@dataclass(frozen=True)
class Asked(Listed):
    """Which memories may answer a question, and what counts."""

    min_score: Annotated[
        float | None, option("--min-score", help="Only from this score on, 0 to 1.", panel=HOW)
    ] = None
    weights: Annotated[
        Weights | None,
        option(
            "--weights",
            help="How much similarity, recency and frequency count: 0.6,0.2,0.2.",
            panel=HOW,
            parser=weights,
            metavar="S,R,F",
        ),
    ] = None
    now: Annotated[
        datetime | None, time_option("--now", help="Reckon ages from then.", panel=HOW)
    ] = None

    def filters(self) -> dict[str, Any]:
        """The same as arguments of a verb."""
        more = {"min_score": self.min_score, "weights": self.weights, "now": self.now}
        return {**super().filters(), **more}


@dataclass(frozen=True)
class Searched(Asked):
    """Which memories may answer a question, in which scopes, and what counts."""

    scopes: Annotated[
        list[str] | None,
        option("--in", help="Look in this scope instead; may be given again.", panel=HOW),
    ] = None

    def filters(self) -> dict[str, Any]:
        """The same as arguments of a verb."""
        return {**super().filters(), "scopes": self.scopes or ()}


def spread(function: Callable[..., None]) -> Callable[..., None]:
    """The function with each group among its parameters laid out as options of their own."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    laid = {"ctx": Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)}
    for name, parameter in signature(function).parameters.items():
        if name in groups:
            laid |= _options(groups[name])
        else:
            laid[name] = parameter.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[name])

    @wraps(function)
    def run(**given: Any) -> None:
        ctx = given.pop("ctx")
        made = {name: _made(group, given, ctx) for name, group in groups.items()}
        function(**given, **made)

    run.__dict__["__signature__"] = Signature(list(laid.values()))
    return run


def _options(group: Any) -> dict[str, Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return {
        field.name: Parameter(
            field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    }


def _made(group: Any, given: dict[str, Any], ctx: typer.Context) -> Any:
    """A group out of the options given; it takes what is its own."""
    made = group(**{field.name: given.pop(field.name) for field in fields(group)})
    before = ctx.parent
    while isinstance(made, At) and before is not None:
        made, before = made.over(before.params), before.parent
    return made
