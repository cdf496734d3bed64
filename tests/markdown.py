"""The Markdown pages of the repository and the fenced blocks in them."""

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`]*)$")
NOT_RUN = re.compile(r"<!-- *not run:? *(?P<reason>.*?) *-->")


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int  # of its first line of code in the page, from 1
    not_run: str | None  # the reason given; None when there is no such comment


def blocks(page: str) -> Iterator[Block]:
    lines = page.splitlines()
    at = 0
    while at < len(lines):
        fence = FENCE.match(lines[at])
        if fence:
            end = next(n for n in range(at + 1, len(lines)) if lines[n].strip() == fence["ticks"])
            before = next((line for line in reversed(lines[:at]) if line.strip()), "")
            comment = NOT_RUN.search(before)
            yield Block(
                language=(fence["info"].split() or [""])[0],
                code=textwrap.dedent("\n".join(lines[at + 1 : end])),
                line=at + 2,
                not_run=comment["reason"] if comment else None,
            )
            at = end
        at += 1


def prose(page: str) -> str:
    """The page without its fenced blocks and code spans."""
    page = re.sub(r"^( *)(`{3,})[^`]*?^ *\2 *$", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", page)


def pages(*patterns: str) -> list[Path]:
    return sorted({page for pattern in patterns for page in ROOT.glob(pattern)})
