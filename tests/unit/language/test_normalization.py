# ruff: noqa: RUF001 -- letters that look alike are what is tested
"""Texts have one spelling, whatever marks stand in them, and normalizing twice changes nothing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.normalization import INVISIBLE, normalized, normalized_id
from pgclarify.language.quotes import find_quote


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        (unicodedata.normalize("NFD", "Die Gebühr für die Säge"), "Die Gebühr für die Säge"),
        (unicodedata.normalize("NFD", "Tiếng Việt, 한국어"), "Tiếng Việt, 한국어"),
        ("re\u00adim\u00adbursement", "reimbursement"),
        ("zero\u200bwidth, \ufeffmark, no\u2060break, Auf\u200clage", "zerowidth, mark, nobreak, Auflage"),
        ("\u202eright\u202c to \u200eleft\u200f \u2066isolated\u2069", "right to left isolated"),
        ("o\ufb03ce, \ufb01rst, \uf001nd the \uf002oor", "office, first, find the floor"),
        # Joiners that are a part of the spelling, and signs that another form would change.
        ("می\u200cخواهم, क्\u200dष, 👩\u200d🚀", "می\u200cخواهم, क्\u200dष, 👩\u200d🚀"),
        ("10², ½, ™, Ｗ, \uf0b7 item", "10², ½, ™, Ｗ, \uf0b7 item"),
    ],
)
def test_a_text_has_one_spelling(given: str, stored: str) -> None:
    assert normalized(given) == stored


@given(st.text(alphabet=st.one_of(st.characters(), st.sampled_from(f"ae\u0301\u0323\u200d{INVISIBLE}\ufb03"))))
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = normalized(text)
    assert normalized(once) == once
    assert not set(INVISIBLE) & set(once)


def test_an_id_keeps_all_but_its_composition() -> None:
    assert normalized_id(unicodedata.normalize("NFD", "Größe \ufb01\u200b.txt")) == "Größe \ufb01\u200b.txt"


CONTENT = (
    "Members get a reim\u00adbursement for the o\ufb03ce, the foot\u200bbridge and the Sa\u0308ge \uf0b7 to\uf001nd it."
)


@pytest.mark.parametrize(
    "quote",
    [
        "a reimbursement for the office",
        "the footbridge and the Säge",
        "the foot\u200bbridge and the Sa\u0308ge",
        "o\ufb03ce, the footbridge",
        "the Säge tofind it",
    ],
)
@pytest.mark.parametrize("content", [CONTENT, normalized(CONTENT)], ids=["as it was stored", "normalized"])
def test_a_quote_is_found_across_marks_and_its_offsets_are_of_what_is_stored(quote: str, content: str) -> None:
    span = find_quote(quote, content)
    assert span is not None
    assert normalized(content[slice(*span)]).replace(" \uf0b7", "") == normalized(quote)


def test_accents_in_another_order_are_the_same() -> None:
    assert find_quote("Vi\u00ea\u0323t", normalized("Ti\u1ebfng Vi\u1ec7t")) is not None
