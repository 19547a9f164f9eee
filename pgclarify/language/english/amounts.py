"""Numbers in digits with their signs and units, for comparing whether one text has the amounts of another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Final

from pgclarify.language.english.measures import UNIT, read_unit, write_spoken
from pgclarify.language.english.numbers import CARDINALS, MONTHS, SCALES, TENS, write_numbers
from pgclarify.language.english.stems import singular

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
    "chf": "franc",
    "sek": "sek",
    "nok": "nok",
    "dkk": "dkk",
    "pln": "zloty",
    "inr": "rupee",
    "cny": "yuan",
}
EXCLUSIVE_UNITS: Final = frozenset({*_SIGNS.values(), "celsius", "fahrenheit"})
"""Units, as words. An amount in one of these units never equals an amount in another: $40, €40, 40 %."""

_CURRENCY: Final = "[$€£¥]"
_CODE: Final = f"(?:{'|'.join(code for code in _SIGNS if len(code) == 3)})"
# If case is ignored, "i" also matches letters beyond ASCII, unless this is forbidden.
_SCALE: Final = f"(?a:{'|'.join(SCALES)})"
# In "5 -20", "5 °C -20 °C" and "10-20" it is no minus.
_MINUS: Final = rf"(?:(?<![\d°%$€£¥]\s)(?<!°[CF]\s)(?:^|(?<=[\s(]))[-\u2212\u2013](?={_CURRENCY}?\d)|\bminus\s+)"
_NUMERAL: Final = f"(?a:{'|'.join(sorted((*CARDINALS, *TENS), key=len, reverse=True))})"
# "The price minus tax" has no number.
_BELOW_ZERO: Final = re.compile(rf"{_MINUS}(?:{_CURRENCY}?\d|{_NUMERAL}\b)", re.IGNORECASE)
_AMOUNT: Final = re.compile(
    rf"""
    (?P<minus>{_MINUS})? (?P<sign>{_CURRENCY}|\b{_CODE}(?=\s\d))? \s? (?<!\w)
    (?: (?P<date> \d{{1,4}} (?P<mark>[./-]) \d{{1,2}} (?P=mark) \d{{1,4}} ) (?![./-]?\d)
      | (?P<clock> \d{{1,2}} : \d\d ) (?!\d)
      | (?P<digits> \d{{1,3}}(?:[,\s]\d{{3}})+(?!\d)(?:\.\d+)? | \d+(?:\.\d+)* ) )
    (?: \s* (?P<scale>{_SCALE}) \b )?
    (?: [\s-]* (?P<unit> (?:percent|per\scent|dollars?|euros?|pounds?|yen|cents?|francs?|zloty|rupees?|yuan|{_CODE})\b
      | {UNIT}(?!\w) | % | {_CURRENCY}(?!\s?\d) | (?:°\s?|degrees?\s)(?P<degrees>[cf])(?:elsius|ahrenheit)?\b
      | (?P<half>[ap])\.?m\b ) )?
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TIME: Final = re.compile(r"(?P<hour>\d{1,2})(?:[.:](?P<minute>\d\d))?")
# "It takes an hour."
_ONE_UNIT: Final = re.compile(rf"\b(?:an?|one)\s(?P<unit>{UNIT})(?!\w)", re.IGNORECASE)
# 2017-18
_YEARS: Final = re.compile(r"(?<![\w./-])(1\d|20)(\d\d)[-\u2013/](\d\d)(?![\d/-])")
_MONTH: Final = f"(?a:{'|'.join(MONTHS)})"
_WRITTEN_DATE: Final = re.compile(
    rf"\b(?:(?P<month>{_MONTH})\s(?P<day>\d{{1,2}})|(?P<first>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<second>{_MONTH}))"
    r"(?:st|nd|rd|th)?,?\s(?P<year>\d{4})\b",
    re.IGNORECASE,
)
# "-30 days" may be an item of a list, and "10 kg -20 kg" may be a range.
_ITEM: Final = re.compile(r"(?:^|\n)[^\S\n]*$")
_AFTER_AMOUNT: Final = re.compile(r"\d\s?[^\W\d_]+\s$")
_BEFORE_AMOUNT: Final = 40
_MOST_DIGITS: Final = 28
_SEPARATORS: Final = re.compile(r"[,\s]")


@dataclass(frozen=True, slots=True)
class _Amount:
    """One way to read a number.

    Attributes:
        value: In one notation: "1000", "-20" below zero, "9:00" for a time of day, "2024/5/12" for a date in digits.
        unit: A word of EXCLUSIVE_UNITS, "cent", "am", "pm" or the name of a measure; empty if the number has none.
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


@dataclass(frozen=True, slots=True)
class PlacedAmount:
    """A number with a unit, and where it is in a text.

    Attributes:
        value: In one notation: "1000".
        unit: As in EXCLUSIVE_UNITS, "cent", "am", "pm" or the name of a measure.
        start: Where it begins.
        end: The place after its end.
    """

    value: str
    unit: str
    start: int
    end: int


def find_amounts(text: str) -> list[PlacedAmount]:
    """List the numbers of a text that are in digits and have a unit, in order."""
    return [
        PlacedAmount(_plain(match["digits"]), unit, *match.span())
        for match in _AMOUNT.finditer(text)
        if match["digits"] and (unit := _unit(match))
    ]


def has_amounts(answer: str, texts: Iterable[str]) -> bool:
    """Tell whether texts have the numbers of an answer in digits, and its measures, each as a whole with its sign.

    1.5 is not 5.1, 12/05/2024 is not 05/12/2024, and -20 is not 20. A currency, percent, a scale of temperature, a
    measure, "million" and the like, am and pm have to be the same if both numbers have one. 9 km are not
    9 miles. Texts may have a number in words. The sign is not compared where a hyphen may be no minus.

    Args:
        answer: "$40".
        texts: "The fee is 40 dollars."
    """
    answer = write_spoken(answer)
    measured = (match for match in _found_in_words(answer) if match["unit"])
    wanted = [[*_readings(match, _signs(match, is_answer=True))] for match in (*_found(answer), *measured)]
    if not wanted:
        return True
    there = [amount for text in texts for amount in _amounts(text)]
    return all(any(one.may_be(other) for one in readings for other in there) for readings in wanted)


def find_units(text: str) -> frozenset[str]:
    """List the currencies, percent and scales of temperature of the numbers of a text, as EXCLUSIVE_UNITS has them."""
    found = (*_found(text), *_found_in_words(text))
    units = frozenset(map(_unit, found))
    return units & EXCLUSIVE_UNITS


def is_below_zero(text: str) -> bool:
    """Tell whether an English text has a number below zero."""
    return _BELOW_ZERO.search(text) is not None


# A cache, because many verdicts are about one passage.
@lru_cache(maxsize=256)
def _amounts(text: str) -> tuple[_Amount, ...]:
    """List all readings of the numbers of a text, in digits and in words, and the parts of its dates."""
    amounts: list[_Amount] = []
    text = write_spoken(text)
    for match in _found(text):
        amounts += _readings(match, _signs(match))
        amounts += map(_Amount, _parts(match))
    for match in _found_in_words(text):
        amounts += _readings(match, _signs(match))
    for match in _ONE_UNIT.finditer(text):
        amounts.append(_Amount("1", _named(match["unit"])))
    for match in _WRITTEN_DATE.finditer(text):
        amounts += map(_Amount, _dates(match))
    return tuple(amounts)


def _dates(match: re.Match[str]) -> Iterator[str]:
    """Yield the notations of a date with the name of its month."""
    name = match["month"] or match["second"]
    month = MONTHS.index(name.lower()) + 1
    day = _plain(match["day"] or match["first"])
    year = _plain(match["year"])
    yield f"{year}/{month}/{day}"
    yield f"{month}/{day}/{year}"
    yield f"{day}/{month}/{year}"


def _found(text: str) -> Iterator[re.Match[str]]:
    return _AMOUNT.finditer(_YEARS.sub(r"\1\2-\1\3", text))


def _found_in_words(text: str) -> Iterator[re.Match[str]]:
    return _found(write_numbers(_AMOUNT.sub(" ; ", text)))


def _signs(match: re.Match[str], *, is_answer: bool = False) -> tuple[str, ...]:
    """Return the signs that a number may have: "-", none, or both."""
    text, start = match.string, match.start()
    before = text[max(0, start - _BEFORE_AMOUNT) : start]
    if not match["minus"]:
        return ("",)
    # An answer begins with a minus, and not with an item of a list.
    is_item = match["minus"] in ("-", "\u2013") and (start or not is_answer) and _ITEM.search(before)
    return ("-", "") if is_item or _AFTER_AMOUNT.search(before) else ("-",)


def _readings(match: re.Match[str], signs: tuple[str, ...]) -> Iterator[_Amount]:
    """Yield the ways to read one number in digits."""
    if match["date"]:
        yield _Amount("/".join(map(_plain, match["date"].split(match["mark"]))))
        return
    unit, number = _unit(match), match["digits"]
    time = _TIME.fullmatch(match["clock"] or number)
    is_time = time is not None and (time["minute"] or match["half"])
    if time and is_time:
        hour, minute = int(time["hour"]), time["minute"] or "00"
        yield _Amount(f"{hour}:{minute}", unit)
        of_day = hour % 12 + 12 * (unit == "pm")
        if match["half"] and of_day != hour:
            yield _Amount(f"{of_day}:{minute}")
        if match["clock"] and minute == "00":
            yield _Amount(str(hour), unit)
    if not number:
        return
    scale = (match["scale"] or "").lower()
    for sign in signs:
        yield _Amount(sign + _plain(number), unit, scale)
        if scale:
            yield _Amount(sign + _plain(number, SCALES[scale]), unit)
        # Pounds may be money or a weight.
        if unit == "lb":
            yield _Amount(sign + _plain(number), "pound")
        if unit == "cent":
            for currency in ("dollar", "euro"):
                yield _Amount(sign + _plain(number, Decimal("0.01")), currency, scale)


def _parts(match: re.Match[str]) -> Iterator[str]:
    """Yield what else digits of a text may say: parts and other notations of a date, numbers of a list ("10 000")."""
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
        return _SIGNS[match["sign"].lower()]
    unit = (match["unit"] or "").lower()
    if match["degrees"]:
        return "celsius" if match["degrees"] in "cC" else "fahrenheit"
    if match["half"]:
        return f"{unit[0]}m"
    return _named(unit)


def _named(unit: str) -> str:
    measure = read_unit(unit)
    if measure:
        return measure[0]
    spelled = " ".join(unit.split())
    return _SIGNS.get(spelled, singular(unit))


def _plain(number: str, scale: int | Decimal = 1) -> str:
    """Write digits without separators of thousands, without leading zeros, and without zeros of a fraction."""
    digits = _SEPARATORS.sub("", number)
    # A version has several dots; of too many digits, a decimal keeps only some.
    if digits.count(".") > 1 or len(digits) > _MOST_DIGITS:
        return digits
    value = Decimal(digits) * scale
    return f"{value.normalize():f}"
