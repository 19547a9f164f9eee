# ruff: noqa: RUF001 -- dashes and letters that look alike are what is tested
"""Where words, numbers and dates begin and end, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.whole_words import bond, widen


def widened(part: str, text: str) -> str:
    start = text.index(part)
    return text[slice(*widen(text, start, start + len(part)))]


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        # Words, with hyphens and apostrophes, addresses and abbreviations.
        ("is unpaid now", "paid", "unpaid"),
        ("a non-refundable fee", "refundable", "non-refundable"),
        ("Ida Holm's teacher", "Ida Holm", "Ida Holm's"),
        ("It doesn't open", "does", "doesn't"),
        ("from info@lindvik.no now", "info@lind", "info@lindvik.no"),
        ("the U.S. army", "the U", "the U.S"),
        ("by R&D today", "by R", "by R&D"),
        ("for INV-1042 now", "INV", "INV-1042"),
        # Numbers with sign, decimals, thousands, unit, scale and currency.
        ("is 1,250.50 euros for", "is 1", "is 1,250.50 euros"),
        ("is 1,250.50 euros for", "50 euros", "1,250.50 euros"),
        ("soit 75\u202f000\u00a0€ par an", "soit 75", "soit 75\u202f000\u00a0€"),
        ("kept at -5 °C.", "5", "-5 °C"),
        ("at minus 5 degrees Celsius.", "degrees", "minus 5 degrees Celsius"),
        ("is 40 % now", "is 40", "is 40 %"),
        ("is 40% now", "is 40", "is 40%"),
        ("costs €40 now", "40", "€40"),
        ("costs US$40 now", "40", "US$40"),
        ("costs EUR 40 now", "40", "EUR 40"),
        ("is 40m long", "is 40", "is 40m"),
        ("is 40 m² big", "is 40 m", "is 40 m²"),
        ("has 10² seats", "has 10", "has 10²"),
        ("the 40th day", "the 40", "the 40th"),
        ("costs 40 million euros a", "costs 40", "costs 40 million euros"),
        ("costs one hundred and fifty euros a", "costs one hundred", "costs one hundred and fifty euros"),
        ("takes twenty-five days", "takes twenty", "takes twenty-five days"),
        ("a load of > 40 kg", "40", "> 40 kg"),
        ("takes 5½ days", "takes 5", "takes 5½ days"),
        # Ranges, dates and times.
        ("takes 2-5 days", "5", "2-5 days"),
        ("of 1914–1918 in", "1914", "1914–1918"),
        ("of (1962 - 1965) in", "1962", "1962 - 1965"),
        ("on 13 March 2026 at", "3 March", "13 March 2026"),
        ("on 13 March 2026 at", "on 13", "on 13 March 2026"),
        ("on March 13, 2026 at", "March", "March 13, 2026"),
        ("on 2026-03-14 at", "14", "2026-03-14"),
        ("at 40:30 h", "at 40", "at 40:30 h"),
        ("opens at 9 a.m. today", "opens at 9", "opens at 9 a.m."),
        ("am 14.10.2026 um", "am 14", "am 14.10.2026"),
        ("am 14. Oktober um", "am 14", "am 14. Oktober"),
        ("el 14 de octubre de 2026 a", "octubre", "14 de octubre de 2026"),
        ("ring +47 20 33 44 now", "20", "+47 20 33 44"),
        # Scripts without blanks: any cut, but not inside digits, Latin letters or the marks of a letter.
        ("図書館は開く", "図書", "図書"),
        ("午前9時30分から", "午前9", "午前9時30分"),
        ("料金は４０００円です", "料金は４００", "料金は４０００円"),
        ("2026年3月14日に", "2026年", "2026年3月14日"),
        ("三十五台分", "三十", "三十五台"),
        ("日本Paper紙", "日本Pa", "日本Paper"),
        ("อยู่ที่นี่", "ที", "ที่"),
        ("ราคา ๔๐๐ บาท", "๔๐", "๔๐๐"),
        # Other scripts.
        ("неоплачиваемый отпуск", "оплачиваемый", "неоплачиваемый"),
        ("यह किताब है", "कित", "किताब"),
        ("इसकी बात", "क", "इसकी"),
        ("في المدينة", "مدين", "المدينة"),
        ("수도는 서울이다", "서울", "서울이다"),
        ("an der Haustür", "tür", "Haustür"),
        ("x\u0302 is", "x", "x\u0302"),
    ],
)
def test_a_part_is_widened_to_whole_words_numbers_and_dates(text: str, part: str, whole: str) -> None:
    assert widened(part, text) == whole


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("It was built in 1872 in Oslo.", "built in 1872"),
        ("Gegründet 1872 am Hafen", "Gegründet 1872"),
        ("In 2019 300 people came.", "In 2019"),
        ("Small 835 770 726 603 582", "Small 835"),
        ("in 1995¹ he left", "in 1995"),
        ("Room 12, 300 people", "Room 12"),
        ("at the end.Next day", "at the end"),
        ("Lindvik—a harbor", "Lindvik"),
        ("The well is known.", "The well"),
    ],
)
def test_whole_words_are_left_as_they_are(text: str, part: str) -> None:
    assert widened(part, text) == part


@given(st.text(alphabet="aBß 9.,-–'€%°mक\u093f\u094dที่図三年\u0301½²&/:", max_size=30), st.data())
def test_any_part_is_widened_to_bounds(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = widen(text, start, end)
    assert 0 <= first <= start <= end <= last <= len(text)
    assert not bond(text, first)
    assert not bond(text, last)
