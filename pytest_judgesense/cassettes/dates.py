"""Dates and times in a text, so that two texts can be compared without them. Pure.

Forms that clocks are written in: ISO 8601 and its weeks, days of a year and compact form; numbers
with dots, slashes or hyphens; English names of months and weekdays, and a day, any word and the
year as in other languages; the signs of East Asia; hours and minutes; seconds since 1970. A number
of four digits is a year only where it is one that the clock could have shown: else it may be any
number.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

_MONTH: Final = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_WEEKDAY: Final = (
    r"(?:Mon(?:day)?|Tue(?:s(?:day)?)?|Wed(?:nesday)?|Thu(?:rs(?:day)?)?|Fri(?:day)?"
    r"|Sat(?:urday)?|Sun(?:day)?)\b\.?"
)
_DAY: Final = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_ZONE: Final = r"(?:\s?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})\b)?"
_CLOCK: Final = rf"\d{{1,2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?(?:\s?[AaPp]\.?[Mm]\b\.?)?{_ZONE}"
# The longer forms come first: of two that begin at one place, the first one counts.
_FORMS: Final = (
    rf"\d{{4}}-(?:\d{{2}}-\d{{2}}|W\d{{2}}(?:-\d)?|\d{{3}}|\d{{2}})(?:[T ]{_CLOCK})?",
    r"20\d{6}(?:T?\d{4,6}Z?)?(?!\d)",
    r"1[6-9]\d{8}(?:\.\d+|\d{3}|\d{6}|\d{9})?(?!\d)",
    r"\d{1,2}([./-])\d{1,2}\1(?:\d{4}|\d{2})(?!\d)",
    r"\d{4}([./])\d{1,2}\2\d{1,2}(?!\d)",
    r"(?:\d{1,4}\s?[年月日년월일]\s?)+",
    rf"{_MONTH},?\s+{_DAY}(?!\d)(?:,?\s+\d{{4}})?",
    rf"{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?",
    rf"{_MONTH},?\s+\d{{4}}",
    r"Q[1-4]\b",
    _WEEKDAY,
    _MONTH,
    _CLOCK,
)
# The clock of a machine elsewhere may show the day before or after.
_ZONES: Final = timedelta(days=1)


def without_dates(text: str, moment: datetime) -> str:
    """``text`` with one sign in place of each date or time, as a clock shows at ``moment``."""
    years = {(moment - _ZONES).year, (moment + _ZONES).year}
    return _pattern("|".join(map(str, sorted(years)))).sub("\N{CALENDAR}", text)


@lru_cache(maxsize=8)
def _pattern(years: str) -> re.Pattern[str]:
    named = rf"{_DAY}\s+(?:de\s+)?[^\W\d_]{{3,12}}\.?,?\s+(?:de\s+)?(?:{years})\b"
    forms = "|".join((*_FORMS, named, years))
    # Letters of other scripts may touch a date: some are written without spaces.
    return re.compile(rf"(?<![A-Za-z0-9_.])(?:{forms})(?![A-Za-z0-9_])")
