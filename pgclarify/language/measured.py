# ruff: noqa: RUF001 -- letters and signs that look like others
"""Numbers with what belongs to them after a blank: thousands, units, months, the other end of a range."""

from __future__ import annotations

import re
from typing import Final

from pgclarify.language.english.measures import UNIT
from pgclarify.language.english.numbers import CARDINALS, SCALES, TENS

_WORD: Final = re.compile(r"[a-z]+")
_BLANK: Final = r"[^\S\n]"
_CURRENCY: Final = "[$€£¥₩₪₫₱₴₹₺₽]"
# Signs, codes, and words of the languages that `number_words` knows. A word that is frequent behind a year, such as
# "in" or the Spanish "ha", is not listed.
_CODES: Final = "AUD BRL CAD CHF CNY CZK DKK EUR GBP HUF INR JPY KRW MXN NOK NZD PLN RUB SEK TRY UAH USD ZAR kr Fr Rs"
_UNITS: Final = """
    °[CF]? ℃ ℉ m g h l ml cl dl m² m³ km² cm² kWh MWh GWh kW MW GW Hz kHz MHz GHz kbit Mbit Gbit bits? m/s kPa hPa kcal
    kJ dB rpm ppm px Uhr AD BCE? CE
    hundred thousand million billion trillion bn mn lakh crore dozen Mio\\. Mrd\\. Tsd\\. Tausend Million(?:en)?
    Milliarden? mille millions? milliards? millón millones milioni? miliard[io] miljoen miljard miljoner tusen tysięcy
    milionów тысяч млн млрд миллионов
    euros? Euros? dollars? Dollars? pounds? pence cents? francs? Franken kron(?:er|or|ur) crowns? yen yuan zł złotych
    rubles? rupees? руб рублей евро долларов percent per\\scent Prozent procent pour\\scent por\\sciento
    degrees?(?:\\s(?:Celsius|Fahrenheit|C|F))? Grad
    Sekunden? Minuten? Stunden? Tagen? Wochen? Monaten? Jahren? secondes? minutes? heures? jours? semaines? mois ans
    années segundos? minutos? horas? días? semanas? meses años? minuti ore giorni settimane mesi anni dias anos uur
    dagen weken maanden jaar minut godzin dni tygodni miesięcy lat minuter timmar dagar veckor månader år
    секунд минут часов дней недель месяцев лет
"""
_MONTHS: Final = """
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sept? oct okt nov dec dez
    januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet août septembre octobre
    novembre décembre enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre gennaio
    febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho julho setembro
    outubro novembro dezembro januari februari maart mei augustus stycznia lutego marca kwietnia maja czerwca lipca
    sierpnia września października listopada grudnia
    января февраля марта апреля мая июня июля августа сентября октября ноября декабря
"""


def _any_of(listed: str) -> str:
    return "|".join(sorted(listed.split(), key=len, reverse=True))


_CODE: Final = f"(?:{_any_of(_CODES)})"
# Not "l" of the French "l'hiver".
_UNIT: Final = rf"(?:(?:{_any_of(_UNITS)}|{_CODE}|(?i:{UNIT}))(?![\w'’])|[%‰]|{_CURRENCY}(?!\s?\d))"
_SCALE: Final = rf"(?:(?:{'|'.join(SCALES)})\b)"
# Thousands; no row of numbers in a table.
_THOUSANDS: Final = rf"(?<!\d[ ])\d{{1,3}}(?:{_BLANK}\d{{3}}){{1,3}}(?!\d|{_BLANK}\d)(?:[.,]\d+)?"
_DIGITS: Final = rf"(?:{_THOUSANDS}|\d(?:[\d.,:'’/×^]*\d)?(?:{_BLANK}?[¼-¾⅐-⅞])?)"
_NUMERAL: Final = f"(?i:{'|'.join(sorted((*CARDINALS, *TENS), key=len, reverse=True))})"
_WRITTEN: Final = rf"(?:(?=[zotfsenZOTFSEN]){_NUMERAL}\b(?:(?:[\s-]|\sand\s)(?:{_NUMERAL}\b|{_SCALE}))*)"
_NUMBER: Final = f"(?:{_DIGITS}|{_WRITTEN})"
_MONTH: Final = rf"(?:(?i:{_any_of(_MONTHS)})(?!\w)\.?)"
# It is true of few words, and the names of months take long to compare.
_IS_BEFORE_DIGIT: Final = r"(?=[^\W\d_]{3,10}\.?\s(?:of\s|de\s)?\d)"
_DAY: Final = r"(?:\d{1,2}(?:st|nd|rd|th|er|[.ºª])?)"
_OF: Final = r"(?:\s(?:of\s|de\s)?)"

_MEASURED: Final = re.compile(
    rf"""
    (?<![\w.,:]) (?:
      {_DAY}{_OF}{_MONTH} (?: ,?{_OF}\d{{4}} )?
    | {_IS_BEFORE_DIGIT}{_MONTH} (?: \s{_DAY}(?!\d) (?: ,?\s\d{{4}} )? | {_OF}\d{{4}} )
    # The months of any other language.
    | {_DAY}\s [^\W\d_]{{3,}} \s\d{{4}}
    | \d{{1,2}}\.{_BLANK}\d{{1,2}}\.{_BLANK}?\d{{4}}
    | \d{{4}}년 \s\d{{1,2}}월 (?: \s\d{{1,2}}일 )?
    # German has "1872 am Hafen".
    | \d{{1,2}}(?:[.:]\d\d)? {_BLANK}? (?: [ap]m | [ap]\.m\.? )
    # The number of a telephone.
    | (?:\+|0)\d{{1,4}} (?: {_BLANK}\d{{2,4}} ){{2,}}
    | (?: (?:{_CURRENCY}|{_CODE}\.?|[<>≤≥≈~±\u2212]){_BLANK}? | (?:minus|plus)\s )? {_NUMBER}
      (?: {_BLANK}[-\u2013\u2014\u2212]{_BLANK} {_NUMBER} )?
      (?: \s{_SCALE} )? (?: \s?{_UNIT} )?
    ) (?!\w)
    """,
    re.VERBOSE,
)
_NUMERALS: Final = frozenset((*CARDINALS, *TENS))
# How far around a place a number is looked for.
_NEAR: Final = 40


def measured_around(text: str, place: int) -> tuple[int, int] | None:
    """Find the number or the date that parting a text at a place would cut.

    It may have a sign, thousands, a fraction, a scale, a unit or a currency, be a range, or be written in English
    words.

    Args:
        text: Any text.
        place: An offset between two words.

    Returns:
        Its offsets; None if there is none.
    """
    first, last = max(0, place - _NEAR), place + _NEAR
    around = text[first:last]
    # Most places have no number near them, and the search takes long.
    if not any(map(str.isdecimal, around)) and _NUMERALS.isdisjoint(_WORD.findall(around.lower())):
        return None
    found = (match.span() for match in _MEASURED.finditer(text, first, last))
    return next((span for span in found if span[0] < place < span[1]), None)
