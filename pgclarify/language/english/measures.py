"""Measures in English text: units of time, length, weight and data, and amounts that are written without digits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pgclarify.language.english.numbers import CARDINALS, MONTHS, TENS, find_quantities

# Spellings of a unit, with _ for a blank, and its kind: the smallest unit that it is a multiple of. A month has no
# fixed number of days. "m", "g" and "h" stand for too much else, and a pound may be money.
_UNITS: Final[Mapping[str, str]] = {
    "second seconds sec secs": "second",
    "minute minutes min mins": "second",
    "hour hours hr hrs": "second",
    "day days": "second",
    "week weeks": "second",
    "month months": "month",
    "year years": "month",
    "mm millimeter millimeters millimetre millimetres": "mm",
    "cm centimeter centimeters centimetre centimetres": "mm",
    "meter meters metre metres": "mm",
    "km kms kilometer kilometers kilometre kilometres": "mm",
    "inch inches": "inch",
    "ft foot feet": "inch",
    "yard yards": "inch",
    "mile miles": "inch",
    "km/h kph kmh km_per_hour kilometers_per_hour kilometres_per_hour": "km/h",
    "mph miles_per_hour miles_an_hour": "mph",
    "mg milligram milligrams": "mg",
    "gram grams": "mg",
    "kg kilo kilos kilogram kilograms": "mg",
    "oz ounce ounces": "ounce",
    "lb lbs": "ounce",
    "byte bytes": "byte",
    "kb kilobyte kilobytes": "byte",
    "mb megabyte megabytes": "byte",
    "gb gigabyte gigabytes": "byte",
    "tb terabyte terabytes": "byte",
}
_UNIT_OF: Final[Mapping[str, tuple[str, str]]] = {
    spelling.replace("_", " "): (spellings.split()[0], kind)
    for spellings, kind in _UNITS.items()
    for spelling in spellings.split()
}

UNIT: Final = f"(?a:{'|'.join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))})"
"""A pattern for the units, without regard to case."""

_NUMERAL: Final = f"(?a:{'|'.join(sorted((*CARDINALS, *TENS), key=len, reverse=True))})"
# What follows a number that is no hour: "30 minutes to 2 hours", "a quarter to 5 April".
_NO_HOUR: Final = rf"(?![\s-]*(?:{UNIT}|(?a:{'|'.join(MONTHS)})|percent|%)(?!\w)|[.,:]?\d)"
# "From five to nine" is no time of day, "a quarter to nine" is one, and "the quarter to June" is none.
_SPOKEN: Final = re.compile(
    rf"""
    \b (?:
      (?P<past> half | (?:a\s)?quarter | (?:\d{{1,2}}|{_NUMERAL}) (?:\sminutes)? ) \s past
        \s (?P<last>\d{{1,2}}|{_NUMERAL}) {_NO_HOUR}
    | (?P<to> (?<!the\s)(?:a\s)?quarter | (?:\d{{1,2}}|{_NUMERAL}) \s minutes ) \s to
        \s (?P<next>\d{{1,2}}|{_NUMERAL}) {_NO_HOUR}
    | (?P<hour>\d{{1,2}}|{_NUMERAL}) \s o['\u2019]clock
    | (?P<noon> (?:12\s)?noon | midday )
    | (?P<midnight> (?:12\s)?midnight )
    | (?P<dozens>\d{{1,2}}|{_NUMERAL}|a) \s dozen
    | (?:an|one) \s hour \s and \s a \s (?P<more>half|quarter)
    | (?P<whole>\d{{1,3}}|{_NUMERAL}) \s and \s a \s half (?=\s{UNIT}(?!\w))
    | half \s an \s (?P<half>hour)
    ) \b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Each match has one of these. Most texts have none, and finding that out takes a hundredth of the time of a search.
_SPOKEN_WORDS: Final = ("half", "quarter", "past", "minutes", "clock", "noon", "midday", "midnight", "dozen")
_OF_AN_HOUR: Final = {"half": 30, "quarter": 15}


def write_spoken(text: str) -> str:
    """Write times of day, dozens and parts of hours of an English text in digits.

    Args:
        text: "From half past eleven to noon, two dozen, half an hour".

    Returns:
        "From 11:30 to 12:00, 24, 30 minutes".
    """
    folded = text.casefold()
    return _SPOKEN.sub(_in_digits, text) if any(word in folded for word in _SPOKEN_WORDS) else text


def read_unit(spelling: str) -> tuple[str, str] | None:
    """Return the name of a unit ("kilometers": "km"), and its kind, which is the smallest unit of that kind."""
    return _UNIT_OF.get(spelling.casefold())


def _in_digits(match: re.Match[str]) -> str:
    if match["noon"]:
        return "12:00"
    if match["midnight"]:
        return "0:00"
    if match["dozens"]:
        return str(12 * _value(match["dozens"]))
    if match["whole"]:
        return f"{_value(match['whole'])}.5"
    if match["more"] or match["half"]:
        return f"{60 + _OF_AN_HOUR[match['more'].casefold()] if match['more'] else 30} minutes"
    hour, minutes = _value(match["last"] or match["next"] or match["hour"]), 0
    if match["past"] or match["to"]:
        words = (match["past"] or match["to"]).casefold().split()
        minutes = next((part for name, part in _OF_AN_HOUR.items() if name in words), None) or _value(words[0])
    if match["to"]:
        hour, minutes = (hour or 24) - 1, 60 - minutes
    return f"{hour}:{minutes:02}" if hour <= 24 and minutes < 60 else match[0]


def _value(numeral: str) -> int:
    if numeral.isdigit():
        return int(numeral)
    found, _ = find_quantities(numeral, is_question=False)
    return int(next(iter(found.get("number", ("1",)))))
