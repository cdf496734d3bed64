"""Rows as a Markdown table with aligned columns, which a terminal shows well, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

Found = dict[str, Any]
Cell = str | float | int | None


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], digits: int = 3) -> str:
    """Lines of a table; figures have so many digits behind the point."""
    cells = [list(head), *([_cell(one, digits) for one in row] for row in rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(head))]
    lines = [_line(row, widths) for row in cells]
    rule = "|".join(
        ["", *("-" * (width + 1) + (":" if at else "-") for at, width in enumerate(widths)), ""]
    )
    return "\n".join([lines[0], rule, *lines[1:]])


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(row, widths, strict=True)
    padded = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
    return "| " + " | ".join(padded) + " |"


def _cell(value: Cell, digits: int) -> str:
    if value is None:
        return "–"
    if isinstance(value, bool | int | str):
        return (
            f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
        )
    return f"{value:.{digits}f}"
