"""The console: what an agent knows, why it says it, and how to make it forget, in a browser.

The page asks the REST API as anyone else does; what lies here is a handful of files as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from holdfast.server.app import Endpoint
from holdfast.server.exchange import Call, Reply
from holdfast.server.openapi import About
from holdfast.server.router import Router

FOLDER = Path(__file__).parent
PAGE = "console.html"
MEDIA = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
# Only our own files, nothing inline; and no text can become markup, whatever a memory holds.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)


def add(router: Router[Endpoint]) -> None:
    """Adds the page at / and its parts, each by its name: no path of a caller's reaches a file."""
    for file in sorted(FOLDER.iterdir()):
        if file.suffix in MEDIA:
            path = "/" if file.name == PAGE else f"/console/{file.name}"
            about = About(media=MEDIA[file.suffix], gives="text")
            shown = Endpoint("console", _gives(file), keyless=True, reads=True, about=about)
            router.add("GET", path, shown)


def _gives(file: Path) -> Callable[[Call], Reply]:
    def answer(call: Call) -> Reply:
        """A part of the console."""
        return Reply(file.read_bytes(), media=MEDIA[file.suffix], policy=POLICY)

    return answer
