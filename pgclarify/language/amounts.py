"""Numbers in digits with their signs and units, for comparing whether one text has the amounts of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from pgclarify.language.numbers import SCALES, find_quantities, write_numbers
from pgclarify.language.stems import singular

_SIGNS: Final[Mapping[str, str]] = {
    "$": "dollar",
    "€": "euro",
    "£": "pound",
    "¥": "yen",
    "%": "percent",
    "per cent": "percent",
    "usd": "dollar",
    "eur": "euro",
    "gbp": "pound",
    "jpy": "yen",
}
EXCLUSIVE_UNITS: Final = frozenset({*_SIGNS.values(), "celsius", "fahrenheit"})
"""Units, as words, of which no amount is an amount in another one: $40, €40, 40 %."""

_CURRENCY: Final = "[$€£¥]"
_SCALE: Final = "|".join(SCALES)
# In "5 -20" and "10-20" it is no minus.
_MINUS: Final = rf"(?:(?<!\d\s)(?:^|(?<=[\s(]))[-\u2212\u2013](?={_CURRENCY}?\d)|\bminus\s+)"
_BELOW_ZERO: Final = re.compile(
    rf"{_MINUS}(?P<number>{_CURRENCY}?\w(?:[\w.,]*\w)?(?:\s(?:{_SCALE})\b)?)", re.IGNORECASE
)
_AMOUNT: Final = re.compile(
    rf"""
    (?P<minus>{_MINUS})? (?P<sign>{_CURRENCY})? \s? (?<!\w)
    (?: (?P<date> \d{{1,4}} (?P<mark>[./-]) \d{{1,2}} (?P=mark) \d{{1,4}} ) (?![./-]?\d)
      | (?P<clock> \d{{1,2}} : \d\d ) (?!\d)
      | (?P<digits> \d{{1,3}}(?:[,\s]\d{{3}})+(?!\d)(?:\.\d+)? | \d+(?:\.\d+)* ) )
    (?: \s* (?P<scale>{_SCALE}) \b )?
    (?: [\s-]* (?P<unit> (?:percent|per\scent|dollars?|euros?|pounds?|yen|cents?|usd|eur|gbp|jpy)\b
      | % | {_CURRENCY}(?!\s?\d) | (?:°\s?|degrees?\s)(?P<degrees>[cf])(?:elsius|ahrenheit)?\b
      | (?P<half>[ap])\.?m\b ) )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TIME: Final = re.compile(r"(?P<hour>\d{1,2})(?:[.:](?P<minute>\d\d))?")
# 2017-18
_YEARS: Final = re.compile(r"(?<![\w./-])(1\d|20)(\d\d)[-\u2013/](\d\d)(?![\d/-])")
_MOST_DIGITS: Final = 28


@dataclass(frozen=True, slots=True)
class _Amount:
    """One way to read a number.

    Attributes:
        value: In one notation: "1000", "-20" below zero, "9:00" for a time of day, "2024/5/12" for a date in digits.
        unit: A word of EXCLUSIVE_UNITS, "cent", "am" or "pm"; empty if the number has none.
        scale: "million"; empty if the number has none.
    """

    value: str
    unit: str = ""
    scale: str = ""

    def may_be(self, other: _Amount) -> bool:
        """Tell whether both have the same value, and no different units or scales."""
        return (
            self.value == other.value
            and (not self.unit or not other.unit or self.unit == other.unit)
            and (not self.scale or not other.scale or self.scale == other.scale)
        )


def has_amounts(answer: str, texts: Iterable[str]) -> bool:
    """Tell whether texts have all numbers that an answer has in digits, each as a whole and with the same sign.

    1.5 is not 5.1, 12/05/2024 is not 05/12/2024, and -20 is not 20. A currency, percent, a scale of temperature,
    "million" and the like, am and pm have to be the same if both numbers have one. Texts may have a number in words.

    Args:
        answer: "$40".
        texts: "The fee is 40 dollars."
    """
    wanted = [[*_readings(match)] for match in _found(answer)]
    if not wanted:
        return True
    there = [amount for text in texts for amount in _amounts(text)]
    return all(any(one.may_be(other) for one in readings for other in there) for readings in wanted)


def find_units(text: str) -> frozenset[str]:
    """List the currencies, percent and scales of temperature of the numbers of a text, as EXCLUSIVE_UNITS has them."""
    return frozenset(amount.unit for amount in _amounts(text)) & EXCLUSIVE_UNITS


def split_negatives(text: str) -> tuple[frozenset[str], str]:
    """Find the numbers below zero of an English text, and return them ("-20") and the text without them."""
    said = ", ".join(match["number"] for match in _BELOW_ZERO.finditer(text))
    if not said:
        return frozenset(), text
    found = find_quantities(said, is_question=False)[0].values()
    return frozenset(f"-{value}" for values in found for value in values), _BELOW_ZERO.sub(" ", text)


# A cache, because many verdicts are about one passage.
@lru_cache(maxsize=256)
def _amounts(text: str) -> tuple[_Amount, ...]:
    """List all readings of the numbers of a text, in digits and in words, and the parts of its dates."""
    amounts: list[_Amount] = []
    for match in _found(text):
        amounts += _readings(match)
        amounts += map(_Amount, _parts(match))
    # Only numbers in words are left.
    for match in _found(write_numbers(_AMOUNT.sub(" ; ", text))):
        amounts += _readings(match)
    return tuple(amounts)


def _found(text: str) -> Iterator[re.Match[str]]:
    return _AMOUNT.finditer(_YEARS.sub(r"\1\2-\1\3", text))


def _readings(match: re.Match[str]) -> Iterator[_Amount]:
    """Yield the ways to read one number in digits."""
    if match["date"]:
        yield _Amount("/".join(map(_plain, match["date"].split(match["mark"]))))
        return
    unit, number = _unit(match), match["digits"]
    time = _TIME.fullmatch(match["clock"] or number)
    if time and (time["minute"] or match["half"]):
        hour, minute = int(time["hour"]), time["minute"] or "00"
        yield _Amount(f"{hour}:{minute}", unit)
        of_day = hour % 12 + 12 * (unit == "pm")
        if match["half"] and of_day != hour:
            yield _Amount(f"{of_day}:{minute}")
        if match["clock"] and minute == "00":
            yield _Amount(str(hour), unit)
    if number:
        sign, scale = "-" if match["minus"] else "", (match["scale"] or "").lower()
        yield _Amount(sign + _plain(number), unit, scale)
        if scale:
            yield _Amount(sign + _plain(number, SCALES[scale]), unit)


def _parts(match: re.Match[str]) -> Iterator[str]:
    """Yield what else digits of a text may say: the parts of a date, its other notations, two numbers ("10 000")."""
    if match["date"]:
        parts = [_plain(part) for part in match["date"].split(match["mark"])]
        yield from parts
        first, second, third = parts
        if len(first) == 4:
            yield from (f"{second}/{third}/{first}", f"{third}/{second}/{first}")
        else:
            # The month may be first or second.
            yield from (f"{third}/{first}/{second}", f"{third}/{second}/{first}")
    elif match["digits"]:
        parts = match["digits"].split()
        yield from map(_plain, parts if len(parts) > 1 else ())


def _unit(match: re.Match[str]) -> str:
    if match["sign"]:
        return _SIGNS[match["sign"]]
    unit = (match["unit"] or "").lower()
    if match["degrees"]:
        return "celsius" if match["degrees"] in "cC" else "fahrenheit"
    if match["half"]:
        return f"{unit[0]}m"
    return _SIGNS.get(" ".join(unit.split()), singular(unit))


def _plain(number: str, scale: int = 1) -> str:
    """Write digits without separators of thousands, without leading zeros, and without zeros of a fraction."""
    digits = re.sub(r"[,\s]", "", number)
    # A version has several dots; of too many digits, a decimal keeps only some.
    if digits.count(".") > 1 or len(digits) > _MOST_DIGITS:
        return digits
    return f"{(Decimal(digits) * scale).normalize():f}"
