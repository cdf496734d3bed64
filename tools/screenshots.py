"""Makes the pictures of docs/console.md, out of a server that runs and a browser that looks.

python tools/screenshots.py
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from holdfast import Memory, Source  # noqa: E402
from holdfast.embed import open_best  # noqa: E402
from tests.serving import serving  # noqa: E402
from tools.chromium import FLAGS, chromium  # noqa: E402

FOLDER = ROOT / "docs" / "console"
ASKED = "support/ask?q=MongoDB+or+PostgreSQL+for+the+main+store%3F"
TOLD: tuple[tuple[float, str, str, list[str], str], ...] = (
    (90, "Ana leads the support team in Lisbon", "fact", ["team"], "ana"),
    (41, "Use PostgreSQL, not MongoDB, for the main store", "decision", ["db", "backend"], "ana"),
    (33, "Customers in the EU get invoices in euros, with VAT on its own line", "fact", [], "ben"),
    (20, "Ana prefers short answers, with the command first", "preference", ["style"], "ana"),
    (
        12,
        "Migrations of the database run on Sundays, after the backup",
        "procedural",
        ["db"],
        "ben",
    ),
    (3, "The staging database is called heron", "fact", ["db", "staging"], "ana"),
    (0.1, "Ticket 4711 waits for the carrier's answer", "context", ["tickets"], "ben"),
)
OUTDATED = "The main store is MongoDB"
FAILED = "MongoDB as the main store failed: two orders were lost"


@contextmanager
def browser() -> Iterator[Browser]:
    """A browser that tools/chromium.py brings."""
    brought = chromium()
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=brought.program,
            args=FLAGS,
            env={"HOME": tempfile.gettempdir(), **brought.environment},
        )
        yield made
        made.close()


def fill(url: str) -> None:
    """Gives a server something to show."""
    now = datetime.now(timezone.utc)
    with Memory("support", url) as memory:
        old = memory.remember(OUTDATED, kind="decision", happened_at=now - timedelta(days=60)).id
        for days, content, kind, tags, writer in TOLD:
            memory.remember(
                content,
                kind=kind,
                tags=tags,
                source=Source(writer, "user"),
                session="weekly",
                happened_at=now - timedelta(days=days),
                supersedes=old if "not MongoDB" in content else (),
            )
        memory.remember(FAILED, kind="lesson", tags=["db"], avoid=True)
        memory.set("cursor", {"row": 8000, "done": False})
        memory.recall("what does Ana prefer?")
    for scope, content in (("billing", "Invoices go out on the 1st"), ("me", "I like tea")):
        with Memory(scope, url) as memory:
            memory.remember(content)


def shoot(browser: Browser, url: str, place: str, name: str, dark: bool = False) -> None:
    """Makes one picture."""
    page = browser.new_page(
        viewport={"width": 1200, "height": 860},
        color_scheme="dark" if dark else "light",
        locale="en-GB",
        timezone_id="UTC",
    )
    page.goto(f"{url}/#/{place}")
    page.get_by_role("navigation").wait_for()
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"{name}.png")
    page.close()


def main() -> None:
    """Makes all of them."""
    FOLDER.mkdir(exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(f"sqlite:///{folder}/memory.db", embedder=open_best()) as served,
        browser() as looks,
    ):
        fill(served.url)
        shoot(looks, served.url, "support/memories", "memories")
        shoot(looks, served.url, ASKED, "ask", dark=True)


if __name__ == "__main__":
    main()
