"""Dates as pages write them, to ISO 8601."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

_MIN_YEAR: Final = 1000
_DATE: Final = re.compile(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)"
    r"(?:[T\s]\s?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$)?",
    re.IGNORECASE,
)
_MONTH_OR_YEAR: Final = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?")
_COMPACT_DATE: Final = re.compile(r"(\d{4})(\d{2})(\d{2})")
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun",
            "july jul", "august aug", "september sep sept", "october oct", "november nov",
            "december dec",
        ),
        1,
    )
    for name in names.split()
}  # fmt: skip
_DAY: Final = r"(\d{1,2})(?:st|nd|rd|th)?"
_MONTH: Final = r"([a-z]{3,9})\.?"
_DAY_MONTH: Final = re.compile(rf"{_DAY}\s{_MONTH},?\s(\d{{4}})", re.IGNORECASE)
_MONTH_DAY: Final = re.compile(rf"{_MONTH}\s{_DAY},?\s(\d{{4}})", re.IGNORECASE)
_MAIL_DATE: Final = re.compile(r"(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}", re.IGNORECASE)


def iso_date(stated: str) -> str | None:
    """A time, day, month or year of ISO 8601, as stated; None where it cannot be told for sure."""
    stated = stated.strip()
    if not 4 <= len(stated) <= 64:
        return None
    try:
        return _month_or_year(stated) or _year_first(stated) or _month_by_name(stated)
    except (ValueError, OverflowError):
        return None


def _month_or_year(stated: str) -> str | None:
    """A month of a year, or a year, where nothing else is stated."""
    found = _MONTH_OR_YEAR.fullmatch(stated)
    if not found:
        return None
    day = _iso(datetime(int(found[1]), int(found[2] or 12), 1), has_time=False)
    return day and day[: len("2024-05") if found[2] else len("2024")]


def _year_first(stated: str) -> str | None:
    """A date that begins with its year, with its time if that can be read."""
    found = _COMPACT_DATE.fullmatch(stated)
    if found:
        return _iso(datetime(int(found[1]), int(found[2]), int(found[3])), has_time=False)
    found = _DATE.match(stated)
    if not found:
        return None
    year, month, day = int(found[1]), int(found[3]), int(found[4])
    if not found[5]:
        return _iso(datetime(year, month, day), has_time=False)
    clock = (int(found[5]), int(found[6]), int(found[7] or 0))
    return _iso(datetime(year, month, day, *clock, tzinfo=_zone(found[8])), has_time=True)


def _zone(written: str | None) -> timezone | None:
    """The offset from UTC that `Z`, `+0200`, `+02:00` or `+02` say."""
    if not written:
        return None
    if written in "Zz":
        return UTC
    digits = written[1:].replace(":", "").ljust(4, "0")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if written[0] == "-" else offset)


def _month_by_name(stated: str) -> str | None:
    """A date that names its month in English, as mail does, or as people do."""
    found = _DAY_MONTH.fullmatch(stated)
    day, month, year = found.groups() if found else ("", "", "")
    if not found and (found := _MONTH_DAY.fullmatch(stated)):
        month, day, year = found.groups()
    if found:
        number = _MONTHS.get(month.lower())
        return _iso(datetime(int(year), number, int(day)), has_time=False) if number else None
    if not _MAIL_DATE.match(stated):
        return None
    # With it come sockets and the like, and hardly any page has such a date.
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    return _iso(parsedate_to_datetime(stated), has_time=True)


def _iso(moment: datetime, *, has_time: bool) -> str | None:
    """The date or time as ISO 8601; None for the zeros that programs write for no date."""
    if moment.year < _MIN_YEAR or (moment.year, moment.month, moment.day) == (1970, 1, 1):
        return None
    return moment.isoformat() if has_time else moment.date().isoformat()
