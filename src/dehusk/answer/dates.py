"""Dates as pages write them: for machines, in the words of many languages, and in addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, timezone
from functools import cache, lru_cache
from typing import Final, NamedTuple

from dehusk.page.patterns import pattern

MIN_YEAR: Final = 1990
"""Before it there was no web; zeros of clocks (1970, 1904, 1601) lie there."""
_FIRST: Final = str(MIN_YEAR)
_DATE: Final = pattern(
    r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)"
    r"(?:[T\s]\s?(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?$)?",
    re.IGNORECASE,
)
_MONTH_OR_YEAR: Final = pattern(r"(\d{4})(?:[-/](\d{1,2}))?")
_COMPACT_DATE: Final = pattern(r"(\d{4})(\d{2})(\d{2})(?:T?(\d{2})(\d{2})(\d{2})?(Z)?)?")
_MAIL_DATE: Final = pattern(r"(?:[a-z]{3}, )?\d{1,2} [a-z]{3} \d{4} \d{2}:\d{2}", re.IGNORECASE)

_MONTH_NAMES: Final = """
january januar janvier enero gennaio janeiro januari styczeń stycznia январь января січня
    ιανουάριος ιανουαρίου tammikuu tammikuuta leden ledna január ocak ianuarie jänner gener
february februar février febrero febbraio fevereiro februari luty lutego февраль февраля
    лютого φεβρουάριος φεβρουαρίου helmikuu helmikuuta únor února február şubat februarie feber
    febrer
march märz mars marzo março maart marzec marca март марта березня μάρτιος μαρτίου maaliskuu
    maaliskuuta březen března március mart martie maerz mrz mrt
april avril abril aprile kwiecień kwietnia апрель апреля квітня απρίλιος απριλίου huhtikuu
    huhtikuuta duben dubna április nisan aprilie
may mai mayo maggio maio mei maj maja май мая травня μάιος μαΐου toukokuu toukokuuta květen
    května május mayıs
june juni juin junio giugno junho czerwiec czerwca июнь июня червня ιούνιος ιουνίου kesäkuu
    kesäkuuta červen června június haziran iunie juny
july juli juillet julio luglio julho lipiec lipca июль июля липня ιούλιος ιουλίου heinäkuu
    heinäkuuta červenec července július temmuz iulie juliol
august août agosto augustus sierpień sierpnia август августа серпня αύγουστος αυγούστου elokuu
    elokuuta srpen srpna augusztus augusti ağustos aout agost
september septembre septiembre settembre setembro wrzesień września сентябрь сентября вересня
    σεπτέμβριος σεπτεμβρίου syyskuu syyskuuta září szeptember eylül septembrie sept setiembre
    setembre
october oktober octobre octubre ottobre outubro październik października октябрь октября
    жовтня οκτώβριος οκτωβρίου lokakuu lokakuuta říjen října október ekim octombrie
november novembre noviembre novembro listopad listopada ноябрь ноября листопада νοέμβριος
    νοεμβρίου marraskuu marraskuuta listopadu kasım noiembrie
december dezember décembre diciembre dicembre dezembro grudzień grudnia декабрь декабря грудня
    δεκέμβριος δεκεμβρίου joulukuu joulukuuta prosinec prosince aralık decembrie desember desembre
"""
"""A line for each month, with what is indented below it: its names in English, German, French,
Spanish, Italian, Portuguese, Dutch, Polish, Russian, Ukrainian, Greek, Finnish, Czech, Hungarian,
Turkish, Romanian, Catalan and the Nordic languages."""
_SHORTEST: Final = 3
"""Letters of a month's name that may stand for it."""


@cache
def _months() -> dict[str, int]:
    """The month by its name or what its name begins with; none that two months begin with."""
    whole: dict[str, int] = {}
    parts: dict[str, set[int]] = {}
    lines = _MONTH_NAMES.replace("\n    ", " ").split("\n")
    for number, names in enumerate(filter(None, lines), 1):
        for name in names.split():
            whole[name] = number
            for length in range(_SHORTEST, len(name)):
                parts.setdefault(name[:length], set()).add(number)
    return {part: min(found) for part, found in parts.items() if len(found) == 1} | whole


_YEAR: Final = r"((?:19|20)\d\d)"
_OF: Final = r"(?:\s*(?:de|del|of|d')\s*|\s*)"
_WRITTEN: Final = pattern(
    rf"(?=\d)(?<!\d)(?<!\d\.)(?:{_YEAR}\s?([-/.年년])\s?(\d{{1,2}})\s?[-/.月월]\s?(\d{{1,2}})(?!\d)"
    rf"|(\d{{1,2}})\s?([./-])\s?(\d{{1,2}})\s?\6\s?({_YEAR}|\d\d)(?![\d:]|\.\d)"
    rf"|(\d{{1,2}})(?:st|nd|rd|th|er|\.|º|ª|o)?{_OF}([^\W\d_]{{3,12}})[.,]?{_OF},?\s*{_YEAR}(?!\d))"
    rf"|(?<![^\W\d_])([^\W\d_]{{3,12}}+)\.?\s*(\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s*{_YEAR}(?!\d)"
    rf"|(?=\d)(?<!\d){_YEAR}\.?\s+([^\W\d_]{{3,12}})\s+(\d{{1,2}})\b",
    re.IGNORECASE,
)
_MONTH_FIRST: Final = frozenset(("en", "en-US", "en-PH", "fil"))
_DAY_FIRST_HOSTS: Final = (".uk", ".au", ".nz", ".ie", ".in", ".za", ".eu", ".sg", ".ng", ".ke")
_ADDRESS: Final = pattern(
    rf"(?=\d)(?<!\d)(?:{_YEAR}(?:([-/_.])(\d{{1,2}})\2(\d{{1,2}})|(\d\d)(\d\d))"
    rf"|(\d\d)([-_.])(\d\d)\8{_YEAR})(?!\d)"
)
_WITH_TIME: Final = frozenset(map(len, ("2024-05-02T09:30:00", "2024-05-02T09:30:00+02:00")))
MAX_WRITTEN: Final = 300
"""Characters in which a date is looked for."""


class Written(NamedTuple):
    """A date in a text, and where it stands."""

    day: str
    """As ISO 8601 writes it."""
    start: int
    stop: int


def is_month_first(lang: str | None, host: str) -> bool | None:
    """True where 5/2/2024 is the second of May; None where the language is unknown."""
    if host.endswith(_DAY_FIRST_HOSTS):
        return False
    return None if lang is None else lang in _MONTH_FIRST


@lru_cache(maxsize=512)  # Pages of a site say the same things, and each page some of them twice.
def first_date(text: str, month_first: bool | None) -> Written | None:  # noqa: FBT001  a key
    """The first day that a text names; None for none."""
    return next(written_dates(text, month_first=month_first), None)


def written_dates(text: str, *, month_first: bool | None) -> Iterator[Written]:
    """The days that a text names, in order; none that could be two days, or none at all."""
    for found in _WRITTEN.finditer(text[:MAX_WRITTEN]):
        day = _day_of(found.groups(), month_first=month_first)
        if day is not None:
            yield Written(day, *found.span())


def _day_of(parts: tuple[str | None, ...], *, month_first: bool | None) -> str | None:
    """The day that one of the ways of writing it gives; None for one that is no day."""
    year, _, month, day, first, sign, second, last, _, *named = parts
    if year:
        return _calendar(year, month, day)
    if first and second and last:
        return _numeric(int(first), int(second), last, month_first=sign != "." and month_first)
    day, name, year, name_first, day_behind, year_behind, year_before, name_behind, day_last = named
    name, day = name or name_first or name_behind or "", day or day_behind or day_last
    return _calendar(year or year_behind or year_before, _months().get(name.lower()), day)


def _numeric(first: int, second: int, last: str, *, month_first: bool | None) -> str | None:
    """The day of two numbers and a year; None where either may be the month."""
    year = int(last) + 2000 if len(last) == len("24") else int(last)
    if second > 12 or first == second or (month_first and first <= 12):
        return _calendar(year, first, second)
    return _calendar(year, second, first) if first > 12 or month_first is False else None


def _calendar(year: str | int | None, month: str | int | None, day: str | int | None) -> str | None:
    """The day as ISO 8601; None for one that no calendar has."""
    try:
        return date(int(year or 0), int(month or 0), int(day or 0)).isoformat()
    except ValueError:
        return None


def address_date(url: str | None) -> str | None:
    """The day that an address names, as in `/2024/05/02/` or `2024-05-02`; None for none."""
    path = (url or "").partition("://")[2].partition("/")[2][:MAX_WRITTEN]
    for found in _ADDRESS.finditer(path.partition("?")[0]):
        year, _, month, day, joined_month, joined_day, first, _, second, last = found.groups()
        if last:
            named = _numeric(int(first), int(second), last, month_first=None)
        else:
            named = _calendar(year, month or joined_month, day or joined_day)
        if named is not None:
            return named
    return None


def latest_day(today: date) -> str:
    """The last day that a page may have been published on: it may be tomorrow where it is from."""
    return (today + timedelta(days=1)).isoformat()


def is_plausible(day: str, latest: str) -> bool:
    """True for a day, a month or a year of ISO 8601 that is not before the web nor to come."""
    return _FIRST <= day[:10] <= latest


def iso_date(stated: str) -> str | None:
    """A time, day, month or year of ISO 8601, as stated; None where it cannot be told for sure."""
    stated = stated.strip()
    if not 4 <= len(stated) <= 64:
        return None
    try:
        plain = _plain(stated)
        return plain or _month_or_year(stated) or _year_first(stated) or _month_by_name(stated)
    except (ValueError, OverflowError):
        return None


def _plain(stated: str) -> str | None:
    """A day or a time that is written as it is answered, or nearly so, as most are; else None."""
    written = stated.replace(" ", "T", 1).replace("Z", "+00:00")
    size = len(written)
    if (size != len("2024-05-02") and size not in _WITH_TIME) or written < _FIRST:
        return None
    with suppress(ValueError):
        found = datetime.fromisoformat(written).isoformat(timespec="seconds")[:size]
        return found if found == written else None
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
    """A date that names its month, as mail does, or as people do."""
    if _MAIL_DATE.match(stated):
        # With it come sockets and the like, and hardly any page has such a date.
        from email.utils import parsedate_to_datetime  # noqa: PLC0415

        return _iso(parsedate_to_datetime(stated), has_time=True)
    found = next(written_dates(stated, month_first=None), None)
    return _iso(datetime.fromisoformat(found.day), has_time=False) if found else None


def _iso(moment: datetime, *, has_time: bool) -> str | None:
    """The date or time as ISO 8601; None for what clocks write that were never set."""
    if moment.year < MIN_YEAR:
        return None
    return moment.isoformat() if has_time else moment.date().isoformat()
