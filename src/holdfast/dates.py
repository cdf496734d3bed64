"""Dates that a text names ("in May 2023", "last week", "two days ago"), as ranges of time.

Calendar dates decide; words such as "last Friday" count only where no calendar date is given.
A month or day without a year is the latest one that has begun.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta, timezone

Range = tuple[datetime, datetime]  # from the first instant up to, and without, the second
DAY = timedelta(days=1)

MONTH_NAMES = """january february march april may june july august september october november
    december""".split()
_MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, 1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
NAMES = frozenset((*_MONTHS, *_WEEKDAYS))  # written with a capital, but nobody's
_NUMBERS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
} | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_SLACK_DAYS = {"day": 0, "week": 1, "month": 5, "year": 30}  # "two weeks ago" is not to the day

_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = r"(?P<count>\d{1,3}|" + "|".join(_NUMBERS) + ")"
_UNIT = "(?P<unit>day|week|month|year)s?"
_DAY = r"(?P<day>\d\d?)(?:st|nd|rd|th)?"
# The most exact form first: what one has matched, no later one reads again.
_CALENDAR = [
    rf"\b{_YEAR}[-/](?P<number>\d\d?)[-/](?P<day>\d\d?)\b",
    rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?",
    rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR})?",
    rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
    rf"\b(?:in|during|since|of|last|this)\s+(?:early\s+|mid-?\s*|late\s+)?{_MONTH}",
    rf"\b(?:in|during|of|year)\s+{_YEAR}\b",
]
_RELATIVE = [
    rf"\b(?:a\s+)?{_COUNT}\s+{_UNIT}\s+(?P<ago>ago)\b",
    rf"\b(?:last|past|previous)\s+{_COUNT}\s+{_UNIT}\b",
    r"\b(?P<which>last|past|previous|this)\s+"
    rf"(?P<named>week|month|year|weekend|night|{'|'.join(_WEEKDAYS)})\b",
    r"\b(?P<near>day before yesterday|yesterday|today|tonight|this morning)\b",
]
# One of these is in every form: most texts have none, and need not be read ten times to know it.
# In small letters, for to look for both takes five times as long.
_ANY = re.compile(
    rf"\d|\b(?:{'|'.join(name[:3] for name in MONTH_NAMES)}"
    "|ago|last|past|previous|this|yesterday|today|tonight)"
)
_CALENDAR_FORMS = [re.compile(form, re.IGNORECASE) for form in _CALENDAR]
_RELATIVE_FORMS = [re.compile(form, re.IGNORECASE) for form in _RELATIVE]


def named(text: str, now: datetime) -> tuple[list[Range], str, str]:
    """The ranges a text names, the text without the words that name them, and calendar dates alone.

    Those a memory may have in its words, too: "the tour is on 8 February" was told before it.
    """
    if not _ANY.search(text.lower()):
        return [], text, ""
    calendar, rest, written = _taken(text, _CALENDAR_FORMS, lambda said: _calendar(said, now))
    relative, rest, _ = _taken(rest, _RELATIVE_FORMS, lambda said: _relative(said, now))
    return calendar or relative, rest, written


def _taken(
    text: str, forms: list[re.Pattern[str]], read: Callable[[dict[str, str]], Range]
) -> tuple[list[Range], str, str]:
    found: list[Range] = []
    written: list[str] = []
    for form in forms:
        matches = list(form.finditer(text))
        for match in matches:
            said = {part: word.lower() for part, word in match.groupdict().items() if word}
            written += said.values()
            # 30 February is no date, and "900 years ago" may be before the calendar.
            with suppress(ValueError, OverflowError):
                found.append(read(said))
        if matches:
            text = form.sub(" ", text)
    return found, text, " ".join(written)


def _calendar(said: dict[str, str], now: datetime) -> Range:
    month = int(said.get("number", 0)) or _MONTHS.get(said.get("month", ""), 0)
    day = int(said.get("day", 0))
    begun = (month or 1, day or 1) <= (now.month, now.day)
    year = int(said.get("year", 0)) or (now.year if begun else now.year - 1)
    start = datetime(year, month or 1, day or 1, tzinfo=timezone.utc)
    if day:
        return start, start + DAY
    return start, _next_month(start) if month else start.replace(year=year + 1)


def _next_month(start: datetime) -> datetime:
    return (start.replace(day=1) + 32 * DAY).replace(day=1)


def _relative(said: dict[str, str], now: datetime) -> Range:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if "near" in said:
        back = {"yesterday": 1, "day before yesterday": 2}.get(said["near"], 0)
        return today - back * DAY, today - (back - 1) * DAY
    if "named" in said:
        return _named_span(said["named"], said["which"] == "this", today)
    count = int(said["count"]) if said["count"].isdigit() else _NUMBERS[said["count"]]
    then = today - count * _UNIT_DAYS[said["unit"]] * DAY
    slack = _SLACK_DAYS[said["unit"]] * DAY
    return (then - slack, then + slack + DAY) if "ago" in said else (then, now + DAY)


def _named_span(name: str, this: bool, today: datetime) -> Range:
    monday = today - today.weekday() * DAY
    if name in _WEEKDAYS:
        back = (today.weekday() - _WEEKDAYS.index(name)) % 7 or (0 if this else 7)
        return today - back * DAY, today - (back - 1) * DAY
    if name == "night":
        return today - DAY, today + DAY
    if name == "weekend":
        return (monday + 5 * DAY, monday + 7 * DAY) if this else (monday - 2 * DAY, monday)
    if name == "week":
        return (monday, monday + 7 * DAY) if this else (monday - 7 * DAY, monday)
    first = today.replace(day=1) if name == "month" else today.replace(month=1, day=1)
    if not this:
        last = first - DAY
        first = last.replace(day=1) if name == "month" else last.replace(month=1, day=1)
    return first, _next_month(first) if name == "month" else first.replace(year=first.year + 1)
