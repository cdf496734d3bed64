"""Plots as SVG, written by hand: bars for quality, lines for times. No dependency, small diffs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

COLOURS = ("#1f6f8b", "#7fb069", "#e6aa68", "#8d6a9f", "#ca3c25", "#5c5c5c")
WIDTH, HEIGHT = 840, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 70, 60
INK, FAINT = "#333333", "#dddddd"

Series = Mapping[str, Sequence[float | None]]


class Drawing:
    """An SVG with a white ground, so that it can be read on a dark page too."""

    def __init__(self, title: str) -> None:
        self._parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'font-family="sans-serif" font-size="12" role="img" aria-label="{escape(title)}">',
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        ]
        self.text(LEFT, 22, title, size=15)

    def text(self, x: float, y: float, words: str, anchor: str = "start", size: int = 12) -> None:
        """Words at a place."""
        self._parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{INK}">{escape(words)}</text>'
        )

    def line(self, points: Sequence[tuple[float, float]], colour: str, width: float = 1) -> None:
        """A line through points."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """A filled rectangle."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}"/>'
        )

    def dot(self, x: float, y: float, colour: str) -> None:
        """A point."""
        self._parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')

    def legend(self, names: Sequence[str]) -> None:
        """What each colour means."""
        x = float(LEFT)
        for name, colour in zip(names, COLOURS, strict=False):
            self.bar(x, 36, 12, 12, colour)
            self.text(x + 17, 46, name)
            x += 34 + 6.6 * len(name)

    def svg(self) -> str:
        """The whole file."""
        return "\n".join([*self._parts, "</svg>", ""])


def bars(title: str, groups: Sequence[str], series: Series) -> str:
    """Groups of bars between 0 and 1."""
    drawing = Drawing(title)
    drawing.legend(list(series))
    for tenth in range(0, 11, 2):
        y = _share_y(tenth / 10)
        drawing.line([(LEFT, y), (WIDTH - RIGHT, y)], FAINT)
        drawing.text(LEFT - 8, y + 4, f"{tenth / 10:.1f}", "end")
    room = (WIDTH - LEFT - RIGHT) / max(1, len(groups))
    width = 0.8 * room / max(1, len(series))
    for at, group in enumerate(groups):
        start = LEFT + at * room + 0.1 * room
        low = 16 * (at % 2) if len(groups) > 8 else 0  # many names stand in two rows
        drawing.text(start + 0.4 * room, HEIGHT - BOTTOM + 18 + low, group, "middle", size=11)
        for number, values in enumerate(series.values()):
            value = values[at]
            if value is not None:
                y = _share_y(value)
                height = HEIGHT - BOTTOM - y
                drawing.bar(start + number * width, y, width * 0.92, height, COLOURS[number])
    return drawing.svg()


def _share_y(value: float) -> float:
    return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)


def lines(title: str, sizes: Sequence[float], series: Series, x_name: str, y_name: str) -> str:
    """Lines over sizes, both axes by powers of ten."""
    drawing = Drawing(title)
    drawing.legend(list(series))
    seen = [value for values in series.values() for value in values if value]
    low, high = math.floor(math.log10(min(seen))), math.ceil(math.log10(max(seen)))
    first, last = math.log10(min(sizes)), math.log10(max(sizes))

    def place(size: float, value: float) -> tuple[float, float]:
        across = (math.log10(size) - first) / max(last - first, 1e-9)
        up = (math.log10(value) - low) / max(high - low, 1)
        x = LEFT + 20 + across * (WIDTH - LEFT - RIGHT - 60)
        return x, HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    for power in range(low, high + 1):
        y = place(sizes[0], 10.0**power)[1]
        drawing.line([(LEFT, y), (WIDTH - RIGHT, y)], FAINT)
        drawing.text(LEFT - 8, y + 4, f"{10.0**power:g}", "end")
    for size in sizes:
        drawing.text(place(size, 10.0**low)[0], HEIGHT - BOTTOM + 18, f"{size:,.0f}", "middle")
    drawing.text(WIDTH / 2, HEIGHT - 14, f"{x_name}; {y_name}", "middle")
    for number, values in enumerate(series.values()):
        have = [place(s, v) for s, v in zip(sizes, values, strict=True) if v]
        drawing.line(have, COLOURS[number], 2)
        for x, y in have:
            drawing.dot(x, y, COLOURS[number])
    return drawing.svg()


def of_quality(found: dict[str, Any]) -> dict[str, str]:
    """Quality by category, for each corpus that has categories, and over all corpora."""
    drawn = {}
    systems = ("default", "relevance", "cosine", "BM25")
    for corpus, one in found["corpora"].items():
        names = [name for name in one["systems"]["default"]["turn"] if not name.startswith("all")]
        if len(names) > 2 and "pooled" not in corpus:
            drawn[f"quality-{corpus}"] = bars(
                f"{corpus}: recall@10 of turns, by category",
                names,
                {s: [_recall(one, s, name) for name in names] for s in systems},
            )
    for corpus in ("locomo", "longmemeval"):
        shares = found["corpora"].get(corpus, {}).get("budget")
        if shares:
            drawn[f"budget-{corpus}"] = bars(
                f"{corpus}: share of the evidence inside so many tokens of context",
                [f"{size} tokens" for size in next(iter(shares.values()))],
                {system: list(of.values()) for system, of in shares.items()},
            )
    names = list(found["corpora"])
    drawn["quality"] = bars(
        "recall@10 of turns, by corpus",
        names,
        {s: [_recall(found["corpora"][name], s, "all") for name in names] for s in systems},
    )
    return drawn


def _recall(corpus: dict[str, Any], system: str, category: str) -> float | None:
    value: float | None = corpus["systems"][system]["turn"].get(category, {}).get("recall@10")
    return value


TIMES = ("recall", "recall, filter 5 %", "context", "remember", "state set")


def of_speed(found: dict[str, Any]) -> dict[str, str]:
    """Times by the size of the store."""
    sizes = [int(size) for size in found["sizes"]]
    series: dict[str, list[float | None]] = {
        name: [one[name]["p50_ms"] for one in found["sizes"].values()] for name in TIMES
    }
    scans = found["floors"]["exact scan"]
    series["numpy exact scan"] = [scans.get(str(size), {}).get("p50_ms") for size in sizes]
    return {
        "latency": lines(
            "p50 by size, embedding excluded", sizes, series, "memories in the scope", "ms"
        )
    }


def write(folder: Path, name: str, found: dict[str, Any]) -> list[Path]:
    """Writes the plots of a results file."""
    makers = {"quality": of_quality, "speed": of_speed}
    files = []
    for title, svg in makers[name](found).items() if name in makers else ():
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{title}.svg"
        file.write_text(svg)
        files.append(file)
    return files
