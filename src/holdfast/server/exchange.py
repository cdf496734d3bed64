"""One exchange: the call that came in, and the reply that goes out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

import orjson

from holdfast import ops, wire
from holdfast.access import Caller
from holdfast.errors import Invalid

if TYPE_CHECKING:
    from holdfast.server.host import Host

T = TypeVar("T")
JSON = "application/json"
LINES = "application/x-ndjson"
QUERY_FIELDS = 500
BYTE_ORDER_MARK = "\ufeff"  # that some programs put before a text
POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"  # of content
AS_WIRE = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_UTC_Z


@dataclass
class Reply:
    """What goes out: bytes, or an iterator of them."""

    body: bytes | Iterator[bytes] = b""
    status: int = 200
    media: str = JSON
    headers: list[tuple[str, str]] = field(default_factory=list)
    policy: str = POLICY


def as_json(data: Any, status: int = 200, media: str = JSON) -> Reply:
    """A reply of values as JSON."""
    return Reply(encoded(data), status, media)


def encoded(data: Any) -> bytes:
    """Values as JSON."""
    try:
        return orjson.dumps(data, wire.outer, AS_WIRE)
    except TypeError:  # it has bounds that JSON has not: for numbers, and for depth
        return wire.dumps(data).encode()


@dataclass
class Call:
    """What came in, and who sent it."""

    host: Host
    caller: Caller
    request: str  # its id, in logs and errors
    path: Mapping[str, str]
    raw_query: bytes
    headers: Mapping[str, str]
    body: bytes

    @property
    def query(self) -> dict[str, list[str]]:
        """The query, each name with all its values."""
        return self._query if self.raw_query else {}

    @cached_property
    def _query(self) -> dict[str, list[str]]:
        try:
            pairs = parse_qsl(
                self.raw_query.decode("ascii"),
                keep_blank_values=True,
                errors="strict",
                max_num_fields=QUERY_FIELDS,
            )
        except ValueError:
            raise Invalid("The query is not UTF-8, or too long.", "Percent-encode it.") from None
        found: dict[str, list[str]] = {}
        for name, value in pairs:
            found.setdefault(name, []).append(value)
        return found

    def asked(self, name: str) -> str | None:
        """The last value of a name in the query."""
        values = self.query.get(name)
        return values[-1] if values else None

    @cached_property
    def data(self) -> Any:
        """The body as JSON; None if there is none."""
        if not self.body:
            return None
        return wire.parse(self.text)

    @property
    def text(self) -> str:
        """The body as text."""
        try:
            return self.body.decode().removeprefix(BYTE_ORDER_MARK)
        except UnicodeDecodeError:
            raise Invalid("The body is not UTF-8.", "Encode it as UTF-8.") from None

    @property
    def fields(self) -> dict[str, Any]:
        """The body as a JSON object."""
        data = {} if self.data is None else self.data
        if not isinstance(data, dict):
            raise Invalid("The body must be a JSON object.", 'Write {"name": value, …}.')
        return data

    def do(self, op: ops.Op[T]) -> T:
        """Does a verb for the caller, within rights and limits, and notes it."""
        return self.host.do(self, op)
