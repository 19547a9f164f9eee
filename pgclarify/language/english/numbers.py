"""Numbers in English text in any notation: digits, words, ordinals, Roman numerals, dates, clock times."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal

MONTHS = str.split("january february march april may june july august september october november december")
CARDINALS = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_ORDINALS = str.split(
    "zeroth first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth"
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_VALUES = (
    {word: value for words in (CARDINALS, _ORDINALS) for value, word in enumerate(words)}
    | {word: 10 * value for value, word in enumerate(TENS, start=2)}
    | {word[:-1] + "ieth": 10 * value for value, word in enumerate(TENS, start=2)}
)
SCALES = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9, "trillion": 10**12}
_ROMAN = {"I": 1, "V": 5, "X": 10}
# Longer texts are not numbers that people write: XXXVIII has seven letters, "nine hundred ninety-nine million nine
# hundred ninety-nine thousand nine hundred ninety-nine" has fourteen words, and no measure has more digits.
_MOST_LETTERS = 8
_MOST_WORDS = 14
_MOST_DIGITS = 28

_VALUE = "|".join(sorted(_VALUES, key=len, reverse=True))
_SCALE = "|".join(SCALES)
# Each alternative begins a word: see _quantities.
_QUANTITY = re.compile(
    rf"""
    \b (?:
    \b (?P<iso_year>\d{{4}}) - (?P<iso_month>0[1-9]|1[0-2]) - (?P<iso_day>[0-3]\d) \b
    | \b (?P<hour>\d{{1,2}}) (?: [:.] (?P<minute>\d\d) )? \s? (?P<half>[ap]) (?: \.m\b\.? | m\b )
    | \b (?P<clock>\d{{1,2}}:\d\d) \b
    | \b (?P<decade>\d{{3}}0) ['\u2019]? s \b
    | (?<![\w.,$£€]) (?P<year>(?:1\d|20)\d\d) (?: [-\u2013/] (?P<end>\d\d) )? \b (?! [.,]\d | \s?% )
    | (?<![\w.]) (?P<digits>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?) (?:st|nd|rd|th)?
      (?: \s? (?P<scale>{_SCALE}) )?
    | \b (?P<words>(?:{_VALUE})(?:(?:\s|-|\sand\s)(?:{_VALUE}|{_SCALE})\b){{0,{_MOST_WORDS - 1}}}) \b
    | \b (?P<month>{"|".join(MONTHS)}) \b
    | \b (?P<roman> (?-i: [IVX]{{1,{_MOST_LETTERS}}} ) ) \b
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Words that may begin a quantity, besides digits and numerals. A word with letters beyond ASCII may equal one of these
# if case is ignored.
_FIRST_WORDS = frozenset({*_VALUES, *MONTHS})
_FIRST_LETTERS = frozenset("0123456789IVX")
_WORD = re.compile(r"\w+")
# After one of these, "one" is a number and "I" a numeral.
_NUMBERED = re.compile(
    r"\b(?:act|book|chapter|class|episode|game|grade|level|part|phase|round|season|series|stage|step|tier|type|unit"
    r"|version|volume|war)\s$",
    re.IGNORECASE,
)
_BEFORE_NUMBERED = 20
# "Meters per second"
_UNIT = re.compile(r"(?:\d|\bper|\bone)[\s-]$", re.IGNORECASE)
_BEFORE_UNIT = 4


def find_quantities(text: str, *, is_question: bool) -> tuple[dict[str, frozenset[str]], str]:
    """Find the numbers of an English text, in one notation, in time linear in its length.

    Args:
        text: Any text.
        is_question: True if a leading "May" or "one" is more likely a verb or a pronoun than a month or a number.

    Returns:
        The numbers by kind, each kind only if there is one (number: "30", "1500000", "1.5"; year: "1919"; decade:
        "1980s"; month: "october"; clock: "18:00"), and the text without them.
    """
    text = _normalized(text)
    quantities: dict[str, set[str]] = defaultdict(set)
    rest: list[str] = []
    position = 0
    for match in _quantities(text):
        found = list(_read(match, is_question=is_question))
        if found:
            rest.append(text[position : match.start()])
            position = match.end()
        for kind, value in found:
            quantities[kind].add(value)
    return {kind: frozenset(values) for kind, values in quantities.items()}, " ".join([*rest, text[position:]])


def write_numbers(text: str) -> str:
    """Write the numbers of an English text, an answer, in one notation and in place.

    Args:
        text: "On May 1, two to three".

    Returns:
        "On may 1, 2 to 3": see `find_quantities` for the notation. White space at the ends may be removed.
    """
    text = _normalized(text)
    written: list[str] = []
    position = 0
    for match in _quantities(text):
        values = [value for _, value in _read(match, is_question=False)]
        if values:
            written += [text[position : match.start()], f" {' '.join(values)} "]
            position = match.end()
    return "".join([*written, text[position:]])


def _quantities(text: str) -> Iterator[re.Match[str]]:
    """Yield all matches of _QUANTITY.

    It is only tried at words that may begin one, which takes a tenth of the time of a search.
    """
    position = 0
    for word in _WORD.finditer(text):
        if word.start() < position:
            continue
        letters = word[0]
        if letters[0] in _FIRST_LETTERS or letters.lower() in _FIRST_WORDS or not letters.isascii():
            match = _QUANTITY.match(text, word.start())
            if match is not None:
                yield match
                position = match.end()


def _normalized(text: str) -> str:
    return unicodedata.normalize("NFKC", text).strip()


def _read(match: re.Match[str], *, is_question: bool) -> Iterator[tuple[str, str]]:
    if match["iso_year"]:
        yield "year", match["iso_year"]
        yield "month", MONTHS[int(match["iso_month"]) - 1]
        yield "number", str(int(match["iso_day"]))
    elif match["half"]:
        hour = int(match["hour"]) % 12 + (12 if match["half"] in "pP" else 0)
        yield "clock", f"{hour}:{match['minute'] or '00'}"
    elif match["clock"]:
        yield "clock", match["clock"].removeprefix("0")
    elif match["decade"]:
        yield "decade", f"{match['decade']}s"
    elif match["year"]:
        yield "year", match["year"]
        if match["end"]:
            yield "year", match["year"][:2] + match["end"]
    elif match["digits"]:
        digits = match["digits"].replace(",", "")
        if len(digits) > _MOST_DIGITS:
            # A float would round it.
            yield "number", digits
            return
        value = Decimal(digits) * SCALES.get((match["scale"] or "").casefold(), 1)
        yield "number", f"{value.normalize():f}"
    elif match["words"]:
        if _is_number(match, is_question=is_question):
            yield "number", str(_value(re.split(r"[\s-]+", match["words"].casefold())))
    elif match["month"]:
        # "may" and "march" are also other words.
        if match["month"][0].isupper() and not (is_question and match.start() == 0):
            yield "month", match["month"].casefold()
    elif len(match["roman"]) > 1 or _follows_numbered(match):
        yield "number", str(_roman_value(match["roman"]))


def _is_number(match: re.Match[str], *, is_question: bool) -> bool:
    word, text = match["words"].casefold(), match.string
    if word == "one":
        starts_answer = not is_question and match.start() == 0 and not text.startswith(" of ", match.end())
        return starts_answer or _follows_numbered(match)
    if word == "second":
        return _UNIT.search(text, max(0, match.start() - _BEFORE_UNIT), match.start()) is None
    return True


def _follows_numbered(match: re.Match[str]) -> bool:
    return _NUMBERED.search(match.string, max(0, match.start() - _BEFORE_NUMBERED), match.start()) is not None


def _value(words: list[str]) -> int:
    total = current = 0
    for word in words:
        if word in _VALUES:
            current += _VALUES[word]
        elif word == "hundred":
            # A repeated "hundred" adds nothing.
            current *= 100 if current < 100 else 1
        elif word in SCALES:
            total += current * SCALES[word]
            current = 0
    return total + current


def _roman_value(numeral: str) -> int:
    value = largest = 0
    for letter in reversed(numeral):
        one = _ROMAN[letter]
        value += one if one >= largest else -one
        largest = max(largest, one)
    return value
