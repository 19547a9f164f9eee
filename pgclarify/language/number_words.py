"""Numbers in texts of other languages than English: in digits with any marks, and a few in words."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from pgclarify.language.quotes import fold

# 1,200.50 and 1.200,50 and 1 200,50; then 24,50 and 19:30 and 14.10.2026.
_WRITTEN: Final = re.compile(r"\d{1,3}(?:[.,' ]\d{3}(?!\d))+(?:[.,]\d+)?|\d+(?:[.,:]\d+)*")
_GROUPING: Final = re.compile(r"[.,' ](?=\d{3}(?!\d))")
_MARK: Final = re.compile(r"\D")
_NO_FRACTION: Final = re.compile(r"\.0+$")
# 17 h 30, in French.
_HOUR: Final = re.compile(r"(?<=\d) ?h ?(?=\d)")
# 14. 10. 2026, in German and others.
_DATE: Final = re.compile(r"\b(\d\d?)\. ?(\d\d?)\. ?(?=\d{4}\b)")
_WORD: Final = re.compile(r"[^\W\d_]+")
_IDEOGRAPHS: Final = re.compile("[〇一二三四五六七八九十百千]+")
_LISTED: Final = {
    2: "zwei deux dos due dois duas twee dwa dwie två to",
    3: "drei trois tres tre três drie trzy",
    4: "vier quatre cuatro quattro quatro cztery fyra fire",
    5: "fünf cinq cinco cinque vijf pięć fem",
    6: "sechs six seis sei zes sześć sex seks",
    7: "sieben sept siete sette sete zeven siedem sju syv",
    8: "acht huit ocho otto oito osiem åtta åtte otte",
    9: "neun neuf nueve nove negen dziewięć nio ni",
    10: "zehn dix diez dieci dez tien dziesięć tio ti",
    11: "elf onze once undici jedenaście elva elleve",
    12: "zwölf douze doce dodici doze twaalf dwanaście tolv",
    20: "zwanzig vingt veinte venti vinte twintig dwadzieścia tjugo tyve",
    30: "dreißig trente treinta trenta trinta dertig trzydzieści trettio tretti tredive",
    100: "hundert cent cien cento cem honderd sto hundra hundre hundrede",
    1000: "tausend mille mil duizend tysiąc tusen tusind",
}


def _folded(text: str) -> str:
    # A decomposed accent is not a word character.
    return _DATE.sub(r"\1.\2.", _HOUR.sub(":", unicodedata.normalize("NFC", fold(text))))


_WORDS: Final = {_folded(word): str(value) for value, listed in _LISTED.items() for word in listed.split()}


def digits(text: str) -> frozenset[str]:
    """List the numbers of a text in digits, in one notation.

    Args:
        text: "1.200,50 € am 14.10.2026", or "1,200.50 €".

    Returns:
        "1200.50" and "14.10.2026". A mark is dropped only as a thousands separator, before three digits: 1,25 is not
        125.
    """
    return frozenset(map(_plain, _WRITTEN.findall(_folded(text))))


def numbers(text: str) -> frozenset[str]:
    """List the numbers that a text in another language than English may mean, in the notation of `digits`.

    Args:
        text: "14.10.2026 um neun".

    Returns:
        Numbers in digits; parts of dates; parts of digits with blanks between them; and a few number words of German,
        French, Spanish, Italian, Portuguese, Dutch, Polish, Scandinavian, Chinese and Japanese. Here: "14.10.2026",
        "14", "10", "2026" and "9".
    """
    folded = _folded(text)
    written = _WRITTEN.findall(folded)
    parts = [part for number in written for part in number.split(" ")]
    parts += [part for number in written if _plain(number).count(".") > 1 for part in _MARK.split(number)]
    words = [_WORDS[word] for word in _WORD.findall(folded) if word in _WORDS]
    return frozenset(map(_plain, (*written, *parts))).union(words, map(_value, _IDEOGRAPHS.findall(folded)))


def _plain(number: str) -> str:
    return _NO_FRACTION.sub("", _MARK.sub(".", _GROUPING.sub("", number)))


def _value(ideographs: str) -> str:
    """Compute the number of ideographs for digits, ten, hundred and thousand: 三十五 is 35, 二〇二六 is 2026."""
    values = [int(unicodedata.numeric(one)) for one in ideographs]
    if max(values) < 10:
        return "".join(map(str, values))
    total, digit = 0, 0
    for value in values:
        if value < 10:
            digit = value
        else:
            total, digit = total + (digit or 1) * value, 0
    return str(total + digit)
