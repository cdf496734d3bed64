"""How a server is set up; workers get it through the environment."""

from __future__ import annotations

import ipaddress
import json
import os
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

from holdfast.server.limits import Limits

VARIABLE = "HOLDFAST_SERVER"  # the settings of a server, for its workers
THREADS = 32  # that write at one time: they share one sync to the disk


@dataclass(frozen=True)
class Settings:
    """Everything a server is told when it starts."""

    url: str | None = None
    embedder: str | None = "auto"
    extractor: str = "rules"  # who learns from conversations: rules, or llm
    judge: str | None = None  # who settles conflicts: llm, or nobody
    host: str = "127.0.0.1"
    port: int = 8420
    workers: int = 1
    threads: int = THREADS
    waiting: int = 256  # writes, and reads, that may wait for a thread; more are turned away
    body_seconds: float = 30.0  # within which a body must have come
    audit_days: int = 90  # how long the audit log is kept
    cors: tuple[str, ...] = ()
    dialects: tuple[str, ...] = ("kronvex", "memstore", "botwire", "zerolatency")
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def local(self) -> bool:
        """True if only this machine can reach it."""
        return is_loopback(self.host)

    def to_environment(self) -> None:
        """Leaves the settings where workers find them."""
        os.environ[VARIABLE] = json.dumps(asdict(self))

    @classmethod
    def from_environment(cls) -> Settings:
        """The settings that were left there."""
        told: dict[str, Any] = json.loads(os.environ[VARIABLE])
        lists = {name: tuple(told[name]) for name in ("cors", "dialects")}
        return replace(cls(**{**told, **lists}), limits=Limits(**told["limits"]))


def is_loopback(host: str) -> bool:
    """True if a host is this machine itself."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
