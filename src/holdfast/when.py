"""Relative dates in what was said, as calendar dates: "yesterday" on 8 May is "2023-05-07".

What is past moves when it happened; what is to come is only put in words.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from holdfast import dates, speech

DAY = timedelta(days=1)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_COUNTS = {word: n for n, word in enumerate("a one two three four five six seven eight".split())}
_COUNTS |= {"a": 1, "an": 1, "couple of": 2, "few": 3}
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|couple of|few)"
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_SAID = re.compile(
    r"(?P<bound>\b(?:since|until|till|by|before|after|from|of|for|to|than|through) )?"
    r"(?:\b(?P<near>the day before yesterday|the day after tomorrow|yesterday|today|tonight"
    r"|last night|this morning|tomorrow)\b"
    rf"|\b(?:a )?{_COUNT} (?P<unit>day|week|month|year)s? ago\b"
    r"|\bin (?:a )?(?P<soon>\d{1,3}|an?|one|two|three|four|five|six) "
    r"(?P<ahead>day|week|month|year)s?\b"
    r"|(?<!the )\b(?P<which>last|next|this) "
    rf"(?P<name>week|weekend|month|year|{'|'.join(_WEEKDAYS)})\b"
    r"(?! of\b))"
    r"(?P<alone>(?='s\b| (?:is|was|will be|marks|marked)\b))?",  # "today's menu", "today was odd"
    re.IGNORECASE,
)
_DATE = rf"(?:the )?(?:\d|(?:{'|'.join((*_WEEKDAYS, *dates.MONTH_NAMES))})\b)"
# What is meant for a date did not happen on it: "we decided to launch in June", "moved to May 3".
_AHEAD = re.compile(
    r"\b(?:next|tomorrow|will|starting|going to|gonna|plan|since|booked|scheduled"
    r"|(?:decided|agreed|chose|voted) to|(?:training|preparing|waiting|looking|saving|aiming) for"
    r"|(?:moved|pushed|postponed|delayed|rescheduled|brought|set|shifted)\b.* (?:to|for)"
    rf"(?= {_DATE}))\b",
    re.IGNORECASE,
)
_BACK = re.compile(r"\b(?:ago|yesterday|last|past|previous)\b", re.IGNORECASE)


def resolved(sentence: str, at: datetime) -> str:
    """The sentence with its relative dates as calendar dates, told from a moment."""
    return _SAID.sub(lambda found: _dated(found, at), sentence)


def happened(sentence: str, at: datetime) -> datetime:
    """When it happened: the date that a sentence names, if that is past, or when it was told.

    "Kickoff is on June 9" is not of last year: a bare date is past only where the verb is.
    """
    ranges, _, _ = dates.named(sentence, at)
    past = [start for start, _ in ranges if start <= at]
    told = speech.happened(sentence) or _BACK.search(sentence)
    return max(past) if past and told and not _to_come(sentence) else at


def _to_come(sentence: str) -> bool:
    return _AHEAD.search(sentence) is not None


def _dated(found: re.Match[str], at: datetime) -> str:
    said = {part: word.lower() for part, word in found.groupdict().items() if word}
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        date = _near(said, today) or _counted(said, today) or _named(said, today)
    except OverflowError:
        return found[0]
    # "Since last week" is since the week, not since in it.
    bare = found["bound"] or found["alone"] is not None
    return f"{found['bound'] or ''}{date.partition(' ')[2]}" if bare else date


def _near(said: dict[str, str], today: datetime) -> str:
    if "near" not in said:
        return ""
    ways = {"yesterday": -1, "last night": -1, "the day before yesterday": -2}
    ways |= {"tomorrow": 1, "the day after tomorrow": 2}
    return f"on {today + ways.get(said['near'], 0) * DAY:%Y-%m-%d}"


def _counted(said: dict[str, str], today: datetime) -> str:
    count, unit = said.get("count") or said.get("soon"), said.get("unit") or said.get("ahead")
    if count is None or unit is None:
        return ""
    number = int(count) if count.isdigit() else _COUNTS[count]
    if unit == "year":
        return f"in {today.year + (-number if 'unit' in said else number):04}"
    then = today + (-1 if "unit" in said else 1) * number * _DAYS[unit] * DAY
    shape = {"day": "on %Y-%m-%d", "week": "around %Y-%m-%d", "month": "around %Y-%m"}
    return then.strftime(shape.get(unit, "in %Y"))


def _named(said: dict[str, str], today: datetime) -> str:
    way, name = {"last": -1, "this": 0, "next": 1}[said["which"]], said["name"]
    if name in _WEEKDAYS:
        ahead = (_WEEKDAYS.index(name) - today.weekday()) % 7
        ahead = ahead - 7 if way < 0 else ahead or 7 * way
        return f"on {today + ahead * DAY:%Y-%m-%d}"
    if name in ("week", "weekend"):
        monday = today + (7 * way - today.weekday()) * DAY
        shown = monday + 5 * DAY if name == "weekend" else monday
        return (
            f"on the weekend of {shown:%Y-%m-%d}"
            if name == "weekend"
            else f"in the week of {shown:%Y-%m-%d}"
        )
    if name == "month":
        months = today.year * 12 + today.month - 1 + way
        return f"in {months // 12:04}-{months % 12 + 1:02}"
    return f"in {today.year + way}"
