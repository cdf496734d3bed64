"""Text as sentences, without what nobody says: code, quotes, tool output, recalled blocks."""

from __future__ import annotations

import re

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_RECALLED = re.compile(r"<memories\b.*?(?:</memories>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKUP = re.compile(r"<(think|tool_call|tool_response|system)\b.*?(?:</\1>|\Z)", re.DOTALL)
_LINES = re.compile(r"^(?:>| {4,}\S|\t|\s*[$#|]|\s*(?:\{|\}|\[|</?\w)).*$", re.MULTILINE)
_ASIDE = re.compile(r"\[[^\]\n]{0,300}\]|\*[^*\n]{1,40}\*(?!\*)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_BOLD = re.compile(r"\*\*|__")
# Full stops that end no sentence.
_SHORT = r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bNo)(?<!\bvs)(?<!\bMrs)(?<!\bProf)(?<!\betc)"
_SHORT += r"(?<!\be\.g)(?<!\bi\.e)(?<!\bInc)(?<!\bapprox)(?<!\b[A-Z])"
_END = re.compile(rf"{_SHORT}[.!?…]+[\"'”’)]*\s+(?=[\"'“‘(]?[A-Z0-9\W])|(?<=[。！？])")


def spoken(text: str) -> str:
    """The text without code, quoted lines, recalled memories, markup and stage directions."""
    for form in (_FENCED, _RECALLED, _MARKUP, _LINES, _ASIDE):
        text = form.sub(" ", text)
    return _BOLD.sub("", text)


def split(text: str) -> list[str]:
    """The sentences of a text that was `spoken`, in order, each on one line."""
    found: list[str] = []
    for written in text.splitlines():
        start, line = 0, _BULLET.sub("", written)
        for end in _END.finditer(line):
            found.append(line[start : end.end()])
            start = end.end()
        found.append(line[start:])
    return [" ".join(sentence.split()) for sentence in found if any(map(str.isalnum, sentence))]


def ended(sentence: str) -> str:
    """The sentence with an end."""
    return sentence if sentence.endswith((".", "!", "?", "…", "。")) else f"{sentence}."
