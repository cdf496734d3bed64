"""What a request shows at the door: its key, and that it does not come from a web page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from functools import lru_cache
from urllib.parse import urlsplit

from holdfast.errors import Forbidden
from holdfast.server.settings import is_loopback


class NotFromHere(Forbidden):
    """A server without keys is for the programs of its own machine; nothing was done."""


def presented(headers: Mapping[str, str]) -> str | None:
    """The key of a request: X-API-Key, a Bearer token, or the password of HTTP Basic."""
    if key := headers.get("x-api-key", "").strip():
        return key
    shown = headers.get("authorization")
    if not shown:
        return None
    scheme, _, rest = shown.strip().partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip() or None
    return _password(rest) if scheme.lower() == "basic" else None


def _password(text: str) -> str | None:
    try:
        name, _, password = base64.b64decode(text, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return password or name or None


def same_machine(headers: Mapping[str, str], named: Sequence[str]) -> None:
    """`NotFromHere` for what a web page sends to an open door, unless it is ours or was named.

    A page of any site, and of any other server on this machine, can make a browser here send
    requests; and a name that was made to point here would even let it read the answers.
    """
    host, origin = headers.get("host", ""), headers.get("origin")
    _must_be_ours(host)
    if origin is not None and origin not in named and _place(origin) != host.lower():
        raise NotFromHere("Web pages may not use this open server.", "Make a key, and use it.")


@lru_cache(maxsize=256)
def _must_be_ours(host: str) -> None:
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        name = ""
    if host and not is_loopback(name):
        raise NotFromHere(
            "This open server answers to this machine's own names only.", "Make a key, and use it."
        )


def _place(origin: str) -> str | None:
    """The host and port of an origin, as a `Host` header has them; None if it is none."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
