"""Text as sentences, without what nobody says: code, quotes, mail, logs, recalled blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_RECALLED = re.compile(r"<memories\b.*?(?:</memories>|\Z)", re.DOTALL | re.IGNORECASE)
_MARKUP = re.compile(r"<(think|tool_call|tool_response|system)\b.*?(?:</\1>|\Z)", re.DOTALL)
_LINES = re.compile(r"^(?:>| {4,}\S|\t|\s*[$#|]|\s*(?:\{|\}|\[|</?\w)).*$", re.MULTILINE)
# A mail that somebody else wrote, from its head to the end; what leads to one that is quoted; logs.
_HEAD = r"(?:From|To|Cc|Sent|Date|Subject|Reply-To|Von|An|Gesendet|Betreff|De|Para|Asunto)"
_MAIL = re.compile(
    rf"^(?:-+ ?(?:Original|Forwarded) [Mm]essage ?-+|{_HEAD}: .*\n{_HEAD}: ).*", re.DOTALL | re.M
)
_WROTE = re.compile(
    r"^(?:On|Am|El|Le) .{6,150} (?:wrote|schrieb|escribió|écrit)\b.*:$", re.MULTILINE
)
_TABLE = re.compile(r"^(?=(?:[^,\n]*,(?=\S)){4}).*$", re.MULTILINE)  # "4,Lime Road,Lewis,75,None"
_LOGGED = re.compile(
    r"^(?:\W*\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*\b(?=[A-Z])|\W*)"
    r"(?:(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|CRITICAL)\b"
    r"|Traceback \(|(?:\w+\.)*\w*(?:Error|Exception|Warning): ).*$",
    re.MULTILINE,
)
_ASIDE = re.compile(r"\[[^\]\n]{0,300}\]|\*[^*\n]{1,40}\*(?!\*)")
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_BOLD = re.compile(r"\*\*|__")
# Full stops that end no sentence.
_SHORT = r"(?<!\bMr)(?<!\bMs)(?<!\bDr)(?<!\bMt)(?<!\bSt)(?<!\bNo)(?<!\bvs)(?<!\bMrs)(?<!\bProf)"
_SHORT += r"(?<!\betc)(?<!str)(?<!\be\.g)(?<!\bi\.e)(?<!\bInc)(?<!\bapprox)(?<!\b[A-Z])"
# "Am 3. Juni": German dates.
_MONTH = re.compile(
    r"(?:Jan|Feb|Mär|Mrz|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)[a-zä]*\b|Jänner\b", re.IGNORECASE
)
_EMOJI = "\U0001f300-\U0001faff\u2600-\u27bf"  # ends a sentence before a capital, as chats have it
_END = re.compile(
    rf"{_SHORT}[.!?…]+[\"'”’)]*\s+(?=[\"'“‘(]?(?P<next>\S))|(?<=[。！？])"
    rf"|(?<=[{_EMOJI}\ufe0f])\s+(?=[A-Z\"“])"
)
# What somebody else says, or a name: no sentence ends in it, and its "I" is not the speaker.
QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|(?<!\w)['‘](?=I\b)[^\n]{1,300}?['’](?!\w)")


def spoken(text: str) -> str:
    """The text without code, quoted lines and mail, logs, recalled memories, markup and asides."""
    for form in (_FENCED, _RECALLED, _MARKUP, _MAIL, _WROTE, _LINES, _TABLE, _LOGGED, _ASIDE):
        text = form.sub(" ", text)
    return _BOLD.sub("", text)


def split(text: str) -> list[str]:
    """The sentences of a text that was `spoken`, in order, each on one line."""
    found: list[str] = []
    for written in text.splitlines():
        start, line = 0, _BULLET.sub("", written)
        for end in _ends(line):
            found.append(line[start:end])
            start = end
        found.append(line[start:])
    return [" ".join(sentence.split()) for sentence in found if any(map(str.isalnum, sentence))]


def _ends(line: str) -> Iterator[int]:
    """Where sentences end: before what is no small letter, or before any if the first is small."""
    quoted = [found.span() for found in QUOTED.finditer(line)]
    small = line.lstrip()[:1].islower()  # who begins so does not write capitals
    for end in _END.finditer(line):
        inside = any(start < end.start() and end.end() < stop for start, stop in quoted)
        inside = inside or (
            line[: end.start()][-1:].isdigit() and bool(_MONTH.match(line, end.end()))
        )
        if not inside and (small or not (end["next"] or "").islower()):
            yield end.end()


def ended(sentence: str) -> str:
    """The sentence with an end."""
    bare = sentence.rstrip("\"'”’)")
    return sentence if bare.endswith((".", "!", "?", "…", "。")) else f"{sentence}."
