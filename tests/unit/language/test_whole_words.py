# ruff: noqa: RUF001 -- dashes and letters that look alike are what is tested
"""Where words and numbers begin and end, in any script."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.whole_words import is_joined, widen


def widened(part: str, text: str) -> str:
    start = text.index(part)
    return text[slice(*widen(text, start, start + len(part)))]


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        # Hyphens and apostrophes, addresses and abbreviations.
        ("is unpaid now", "paid", "unpaid"),
        ("a non-refundable fee", "refundable", "non-refundable"),
        ("Ida Holm's teacher", "Ida Holm", "Ida Holm's"),
        ("It doesn't open", "does", "doesn't"),
        ("from info@lindvik.no now", "info@lind", "info@lindvik.no"),
        ("by R&D today", "by R", "by R&D"),
        # Other scripts.
        ("неоплачиваемый отпуск", "оплачиваемый", "неоплачиваемый"),
        ("यह किताब है", "कित", "किताब"),
        ("इसकी बात", "क", "इसकी"),
        ("في المدينة", "مدين", "المدينة"),
        ("수도는 서울이다", "서울", "서울이다"),
        ("an der Haustür", "tür", "Haustür"),
        ("x\u0302 is", "x", "x\u0302"),
        # Scripts without blanks: any cut, but not inside Latin letters or the marks of a letter.
        ("図書館は開く", "図書", "図書"),
        ("日本Paper紙", "日本Pa", "日本Paper"),
        ("อยู่ที่นี่", "ที", "ที่"),
        ("ให้ทำงาน", "ท", "ทำ"),
        ("ｶﾞｲﾄﾞの本", "ｶﾞｲﾄ", "ｶﾞｲﾄﾞ"),
        # Whole words are left as they are.
        ("Lindvik—a harbor", "Lindvik", "Lindvik"),
        ("The well is known.", "The well", "The well"),
    ],
)
def test_a_part_is_widened_to_whole_words(text: str, part: str, whole: str) -> None:
    assert widened(part, text) == whole


@pytest.mark.parametrize(
    ("text", "part", "whole"),
    [
        # Sign, decimals, thousands, unit, scale and currency.
        ("is 1,250.50 euros for", "is 1", "is 1,250.50 euros"),
        ("is 1,250.50 euros for", "50 euros", "1,250.50 euros"),
        ("soit 75\u202f000\u00a0€ par an", "soit 75", "soit 75\u202f000\u00a0€"),
        ("kept at -5 °C.", "5", "-5 °C"),
        ("at minus 5 degrees Celsius.", "5 degrees", "minus 5 degrees Celsius"),
        ("is 40 % now", "is 40", "is 40 %"),
        ("costs EUR 40 now", "40", "EUR 40"),
        ("is 40 m² big", "is 40", "is 40 m²"),
        ("costs 40 million euros a", "costs 40", "costs 40 million euros"),
        ("costs one hundred and fifty euros a", "costs one hundred", "costs one hundred and fifty euros"),
        ("takes twenty-five days", "takes twenty", "takes twenty-five days"),
        ("a load of > 40 kg", "40", "> 40 kg"),
        ("takes 5½ days", "takes 5", "takes 5½ days"),
        ("för 40 miljoner kronor om året", "för 40", "för 40 miljoner kronor"),
        # Ranges, dates and times.
        ("takes 2-5 days", "5", "2-5 days"),
        ("of (1962 - 1965) in", "1962", "1962 - 1965"),
        ("on 13 March 2026 at", "3 March", "13 March 2026"),
        ("on March 13, 2026 at", "March", "March 13, 2026"),
        ("opens at 9 a.m. today", "opens at 9", "opens at 9 a.m."),
        ("am 14.10.2026 um", "am 14", "am 14.10.2026"),
        ("ring +47 20 33 44 now", "20", "+47 20 33 44"),
        ("Fee: 40 | 13\nMay", "40", "40"),
        # Other scripts.
        ("午前9時30分から", "午前9", "午前9時30分"),
        ("料金は４０００円です", "料金は４００", "料金は４０００円"),
        ("三十五台分", "三十", "三十五台"),
        ("ราคา ๔๐๐ บาท", "๔๐", "๔๐๐ บาท"),
    ],
)
def test_a_part_at_a_number_has_what_belongs_to_it(text: str, part: str, whole: str) -> None:
    assert whole in widened(part, text)


@pytest.mark.parametrize(
    ("text", "part", "clause"),
    [
        ("In winter, the fee is 40 euros a day, and more", "fee is 40", "the fee is 40 euros a day"),
        ("It opened. It was built in 1872 by Ida. It is red.", "in 1872", "It was built in 1872 by Ida."),
        ("It was built in 1872. The door is red.", "It was built in 1872.", "It was built in 1872."),
        ("| Fee | 40 euros a day | 2026 |", "40", "40 euros a day"),
        ("Rent: 940 euros\nDeposit: 300 euros", "940", "940 euros"),
        ("The rent is 940\neuros a month", "is 940", "The rent is 940\neuros a month"),
        ("雨の日、料金は400円です。犬も", "400", "料金は400円です。"),
        (f"It is {'very ' * 30}large: 40 {'very ' * 30}large", "40", f"40 {'very ' * 20}".strip()),
    ],
)
def test_a_part_at_a_number_is_widened_to_its_clause(text: str, part: str, clause: str) -> None:
    assert widened(part, text) == clause


@given(st.text(alphabet="aBß 9.,-–'€%°mक\u093f\u094dที่図三年\u0301½²&/:", max_size=30), st.data())
def test_any_part_is_widened_to_bounds(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    first, last = widen(text, start, end)
    assert 0 <= first <= start <= end <= last <= len(text)
    assert not is_joined(text, first)
    assert not is_joined(text, last)
