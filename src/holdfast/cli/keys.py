"""The API keys of a store, for whoever can open its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from holdfast import wire
from holdfast.cli import say
from holdfast.cli.app import app, command
from holdfast.cli.options import At, lifetime, option, spread
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.access import Access
    from holdfast.engine.ledger import ApiKey

group = typer.Typer(name="keys", no_args_is_help=True, rich_markup_mode="rich")
app.add_typer(group, rich_help_panel="Server")
SHOWN_ONCE = "Keep it: it is shown this once, and stored only as a hash."


@group.callback()
@spread
def everywhere(at: At) -> None:
    """API keys: who may use a server on this store, and for what."""


Name = Annotated[str, typer.Argument(help="The key's name, one of a kind in its tenant.")]
Tenant = Annotated[str, option("--tenant", help="Whose data it opens. Else 'local'.")]
Rights = Annotated[
    list[str] | None, option("--right", "-r", help="read, write or admin. Else read and write.")
]
Prefix = Annotated[str, option("--prefix", help="Only scopes that begin with this.")]
Lasts = Annotated[
    timedelta | None,
    option("--lasts", help="Expires after this long: 12h, 90d.", parser=lifetime, metavar="TIME"),
]


Role = Annotated[
    str,
    option("--role", help="For whom it speaks: user, agent, import, tool or document."),
]


@contextmanager
def _access(at: At) -> Iterator[Access]:
    from holdfast.access import Access
    from holdfast.backend import url_or_default
    from holdfast.engine import open_engine
    from holdfast.service import utc_now

    url = url_or_default(at.url)
    if url.startswith("http"):
        raise Invalid("Keys are made where the store is, not over HTTP.", "Pass --url sqlite:///…")
    engine = open_engine(url)
    try:
        yield Access(engine.ledger(), utc_now)
    finally:
        engine.close()


def _told(key: ApiKey) -> dict[str, Any]:
    return {name: it for name, it in wire.dump(_plain(key)).items() if it is not None}


def _plain(key: ApiKey) -> dict[str, Any]:
    names = ("id", "name", "tenant", "rights", "prefix", "role", "created_at", "expires_at")
    return {name: getattr(key, name) for name in (*names, "revoked_at", "last_used_at")}


def _show(at: At, key: ApiKey, text: str) -> None:
    if at.json:
        say.json({**_told(key), "key": text})
        return
    typer.echo(text)
    say.note(SHOWN_ONCE)


@command(group, "create", example="holdfast keys create support --right read --prefix support/")
def create(
    at: At,
    name: Name,
    tenant: Tenant = "local",
    right: Rights = None,
    prefix: Prefix = "",
    lasts: Lasts = None,
    role: Role = "user",
) -> None:
    """Make a key, and print it."""
    with _access(at) as access:
        key, text = access.create(name, tenant, right or ("read", "write"), prefix, lasts, role)
    _show(at, key, text)


@command(group, "list", example="holdfast keys list --json")
def list_(
    at: At, tenant: Annotated[str | None, option("--tenant", help="Of this tenant only.")] = None
) -> None:
    """List the keys, without their secrets."""
    with _access(at) as access:
        found = access.keys(tenant)
    if at.json:
        say.json([_told(key) for key in found])
        return
    rows = [
        [
            *(key.name, key.id, key.tenant, " ".join(key.rights), key.prefix or "any", key.role),
            "revoked" if key.revoked_at else _day(key.expires_at, "never"),
            _day(key.last_used_at, "not yet"),
        ]
        for key in found
    ]
    named = ["name", "id", "tenant", "rights", "scopes", "speaks for", "expires", "last used"]
    say.table("Keys", named, rows)


def _day(at: datetime | None, none: str) -> str:
    return none if at is None else f"{at:%Y-%m-%d %H:%M}"


@command(group, "rotate", example="holdfast keys rotate support")
def rotate(at: At, name: Name, tenant: Tenant = "local") -> None:
    """Give a key a new secret, and print it; the old one opens nothing any more."""
    with _access(at) as access:
        key, text = access.rotate(name, tenant)
    _show(at, key, text)


@command(group, "revoke", example="holdfast keys revoke support")
def revoke(at: At, name: Name, tenant: Tenant = "local") -> None:
    """Take a key out of use for good."""
    with _access(at) as access:
        key = access.revoke(name, tenant)
    if at.json:
        say.json(_told(key))
    else:
        say.note(f"{say.safe(name)} opens nothing any more.")
