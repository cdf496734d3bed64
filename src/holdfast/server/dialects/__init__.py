"""Other services' wire formats over the same verbs, so that their clients run unchanged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module

from holdfast.errors import Invalid
from holdfast.server.app import Endpoint, Told
from holdfast.server.exchange import Call, Reply
from holdfast.server.openapi import About
from holdfast.server.router import Router

NAMES = ("kronvex", "memstore", "botwire", "zerolatency")
READS = ("recall", "inject_context")  # whatever their method
Answer = Callable[[Call], Reply]


def open_dialects(router: Router[Endpoint], names: Sequence[str]) -> None:
    """Adds the paths of some dialects."""
    for name in names:
        if name not in NAMES:
            raise Invalid(f"No dialect is called {name!r}.", f"There are: {', '.join(NAMES)}.")
        import_module(f"holdfast.server.dialects.{name}").add(router)


def add_paths(
    router: Router[Endpoint],
    service: str,
    paths: Mapping[tuple[str, str], Answer],
    takes: Mapping[str, About],
    told: Told,
) -> None:
    """Adds what answers each method and path; what they take is told by the name of who answers."""
    for (method, path), answer in paths.items():
        name = answer.__name__
        verb, reads = f"{service}.{name.strip('_')}", method == "GET" or name in READS
        about = takes.get(name, About())
        router.add(method, path, Endpoint(verb, answer, reads=reads, told=told, about=about))
