"""Measures in English text: units of time, length, weight and data, and amounts that are written without digits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final

from pgclarify.language.numbers import CARDINALS, MONTHS, TENS, find_quantities, write_numbers

# Spellings of a unit, with _ for a blank, and how many of the smallest unit of its kind it has. A month has no fixed
# number of days. "m", "g" and "h" stand for too much else, and a pound may be money.
_UNITS: Final[Mapping[str, tuple[str, str]]] = {
    "second seconds sec secs": ("second", "1"),
    "minute minutes min mins": ("second", "60"),
    "hour hours hr hrs": ("second", "3600"),
    "day days": ("second", "86400"),
    "week weeks": ("second", "604800"),
    "month months": ("month", "1"),
    "year years": ("month", "12"),
    "mm millimeter millimeters millimetre millimetres": ("mm", "1"),
    "cm centimeter centimeters centimetre centimetres": ("mm", "10"),
    "meter meters metre metres": ("mm", "1000"),
    "km kms kilometer kilometers kilometre kilometres": ("mm", "1000000"),
    "inch inches": ("inch", "1"),
    "ft foot feet": ("inch", "12"),
    "yard yards": ("inch", "36"),
    "mile miles": ("inch", "63360"),
    "km/h kph kmh km_per_hour kilometers_per_hour kilometres_per_hour": ("km/h", "1"),
    "mph miles_per_hour miles_an_hour": ("mph", "1"),
    "mg milligram milligrams": ("mg", "1"),
    "gram grams": ("mg", "1000"),
    "kg kilo kilos kilogram kilograms": ("mg", "1000000"),
    "oz ounce ounces": ("ounce", "1"),
    "lb lbs": ("ounce", "16"),
    "byte bytes": ("byte", "1"),
    "kb kilobyte kilobytes": ("byte", "1000"),
    "mb megabyte megabytes": ("byte", "1000000"),
    "gb gigabyte gigabytes": ("byte", "1000000000"),
    "tb terabyte terabytes": ("byte", "1000000000000"),
}
_UNIT_OF: Final[Mapping[str, tuple[str, str, Decimal]]] = {
    spelling.replace("_", " "): (spellings.split()[0], smallest, Decimal(factor))
    for spellings, (smallest, factor) in _UNITS.items()
    for spelling in spellings.split()
}

UNIT: Final = f"(?a:{'|'.join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))})"
"""A pattern for the units, without regard to case."""

_MEASURE: Final = re.compile(rf"(?<![\w.,])(?P<number>\d+(?:\.\d+)?)[\s-]*(?P<unit>{UNIT})(?!\w)", re.IGNORECASE)
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
_OF_AN_HOUR: Final = {"half": 30, "quarter": 15}


def write_spoken(text: str) -> str:
    """Write times of day, dozens and parts of hours of an English text in digits.

    Args:
        text: "From half past eleven to noon, two dozen, half an hour".

    Returns:
        "From 11:30 to 12:00, 24, 30 minutes".
    """
    return _SPOKEN.sub(_in_digits, text)


def write_measures(text: str) -> str:
    """Write the numbers of an English text in one notation, and its measures in the smallest unit of their kind.

    Args:
        text: "Two weeks", "14 days".

    Returns:
        "1209600 second" for both: see `find_quantities` for the notation of other numbers.
    """
    return _MEASURE.sub(_in_smallest_unit, write_numbers(text))


def read_unit(spelling: str) -> tuple[str, str, Decimal] | None:
    """Return the name of a unit ("kilometers": "km"), the smallest of its kind, and how many of these it has."""
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


def _in_smallest_unit(match: re.Match[str]) -> str:
    _, smallest, factor = _UNIT_OF[match["unit"].casefold()]
    return f"{(Decimal(match['number']) * factor).normalize():f} {smallest}"
