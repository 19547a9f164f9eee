# ruff: noqa: RUF001 -- characters that look alike are what is tested
from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pgclarify.language.quotes import find_proof, find_quote, fold
from pgclarify.language.whole_words import is_joined

TRICKY = "aAbß \t\n\u00a0'\"“”‘’«»「」-–—…..。、?éÉe\u0301ﬁİŉ´¨½²\u00ad\u200bΣσς中はガｶﾞ한①ſK"
texts = st.one_of(st.text(max_size=60), st.text(alphabet=TRICKY, max_size=40))


def letters(text: str) -> str:
    """A folded text without blanks, because some blanks make no difference."""
    return fold(text).replace(" ", "")


@pytest.mark.parametrize(
    ("quote", "content", "cited"),
    [
        ("the limit is 25 mph", "Here THE  limit\nis 25 mph.", "THE  limit\nis 25 mph"),
        ('he said "no"', "Then he said “no”.", "he said “no”"),
        ("he said 'no'", "Then he said «no».", "he said «no»"),
        ("don't", "We don’t know", "don’t"),
        ("the war of 1914-1918", "the war of 1914–1918", "the war of 1914–1918"),
        ("wait -- here", "Wait — here", "Wait — here"),
        ("and so on...", "and so on…", "and so on…"),
        ("insurance", "in\u00adsur\u200bance", "in\u00adsur\u200bance"),
        ("first office", "the ﬁrst oﬃce", "ﬁrst oﬃce"),
        ("CAFÉ", "a cafe\u0301", "cafe\u0301"),
        ("STRASSE", "in der Straße", "Straße"),
        ("straße", "DIE STRASSE", "STRASSE"),
        ("i\u0307stanbul", "İstanbul", "İstanbul"),
        ("“the quick fox”", "See the quick fox run", "the quick fox"),
        ("“… the quick fox...”", "See the quick fox run", "the quick fox"),
        ("10²", "102, or 10²", "or 10²"),
        # Japanese: full-width digits, corner brackets, its full stop, a line that ends inside a word, blanks without
        # meaning.
        ("午前9時から", "図書館は午前９時から開く。", "午前９時から"),
        ('"静かな港"を読む', "小説『静かな港』を読む", "『静かな港』を読む"),
        ("本は十冊.次の", "本は十冊。次の", "本は十冊。次の"),
        ("図書館は月曜日に休む", "図書館は月曜\n日に休む", "図書館は月曜\n日に休む"),
        ("図書館 は 月曜日", "図書館は月曜日", "図書館は月曜日"),
        ("ガイド", "ｶﾞｲﾄﾞの本", "ｶﾞｲﾄﾞ"),
        # French: blanks before punctuation and inside quotation marks, some of them narrow.
        ("Combien? Rien.", "Combien\u202f? Rien.", "Combien\u202f? Rien."),
        ("Combien ? Rien.", "Combien? Rien.", "Combien? Rien."),
        ('le contrat "Azur" paie', "le contrat «\u00a0Azur\u00a0» paie", "le contrat «\u00a0Azur\u00a0» paie"),
        ("soit 75 000 €", "soit 75\u202f000\u00a0€", "soit 75\u202f000\u00a0€"),
    ],
)
def test_a_quote_is_found_as_it_stands_in_the_content(quote: str, content: str, cited: str) -> None:
    span = find_quote(quote, content)
    assert span is not None
    assert content[slice(*span)] == cited


@pytest.mark.parametrize(
    ("quote", "content"),
    [
        ("", "text"),
        ("   ", "some   text"),
        ("...", "wait..."),
        ("25 mph", "25 km/h"),
        ("thecat", "the cat"),
        ("cafe", "café"),
        ("x2", "x²"),
        ("51\u20442 days", "5½ days"),
        ("s", "ß"),
        ("well known", "well-known"),
        ("-5 degrees", "it is 5 degrees"),
        ("24.50 €", "er kostet 24,50 €"),
        ("午前8時", "午前９時"),
        ("日本 2026", "日本2026"),
    ],
)
def test_a_quote_that_the_text_does_not_say_is_not_found(quote: str, content: str) -> None:
    assert find_quote(quote, content) is None


def test_the_first_occurrence_that_cuts_no_word_is_cited() -> None:
    assert find_quote("Ab", "xab ab AB") == (4, 6)
    assert find_quote("The fee is 40", "The fee is 400. The fee is 40.") == (16, 30)


@pytest.mark.parametrize(
    ("quote", "content", "cited"),
    [
        ("The fee is 40", "The fee is 400 euros a day.", "The fee is 400 euros a day."),
        ("Bertram Lind...", "Bertram Lindgren leads the desk.", "Bertram Lindgren"),
        ("straße", "HAUPTSTRASSE", "HAUPTSTRASSE"),
    ],
)
def test_a_quote_that_cuts_a_word_is_widened(quote: str, content: str, cited: str) -> None:
    span = find_quote(quote, content)
    assert span is not None
    assert content[slice(*span)] == cited


@pytest.mark.parametrize(
    ("quote", "answer", "content"),
    [
        ("The fee is 40", "40", "The fee is 400 euros a day."),
        ("The fee is 40", "40 euros", "The fee is 400 euros a day."),
        ("The fee is 40", "€40", "The fee is 400 euros a day."),
        ("paid for a week", "paid", "The leave is unpaid for a week."),
        ("refundable", "refundable", "The fee is non-refundable."),
        ("built in 199", "199", "It was built in 1995."),
        ("Bertram Lind", "Bertram Lind", "Bertram Lindgren leads the desk."),
        ("The fee is 1", "1 euro", "The fee is 1,250.50 euros."),
        ("5 degrees in winter", "5 degrees", "It has -5 degrees in winter."),
        ("Бертрам Линд", "Бертрам Линд", "Бертрам Линдгрен ведёт отдел."),
        ("料金は400", "400円", "料金は4000円です。"),
    ],
)
def test_a_part_of_a_word_proves_no_answer(quote: str, answer: str, content: str) -> None:
    assert find_proof(quote, answer, content) is None


@pytest.mark.parametrize(
    ("quote", "answer", "content", "cited"),
    [
        # The answer is elsewhere in the quote, or the rest of its word is an ending or a unit.
        ("rents boats at the Lind", "boats", "Ida rents boats at the Lindvik pier.", "rents boats at the Lindvik"),
        ("40 boats at 40", "40", "It has 40 boats at 400 euros.", "It has 40 boats at 400 euros."),
        ("The track is 40", "40 m", "The track is 40m long.", "The track is 40m long."),
        ("for -5", "-5 °C", "It is made for -5 °C.", "It is made for -5 °C."),
        ("the teacher of Ida", "Ida", "Jon is the teacher of Ida's son.", "the teacher of Ida's"),
        ("in 2026", "2026", "It closes in 2026-03-14.", "It closes in 2026-03-14."),
    ],
)
def test_other_answers_are_proven_by_the_widened_quote(quote: str, answer: str, content: str, cited: str) -> None:
    span = find_proof(quote, answer, content)
    assert span is not None
    assert content[slice(*span)] == cited


def test_an_occurrence_that_is_part_of_a_character_is_passed_over() -> None:
    assert find_quote("s", "ß s") == (2, 3)


def test_a_quote_with_its_marks_is_preferred_where_it_occurs_with_them() -> None:
    assert find_quote("“fox”", "fox and “fox”") == (8, 13)


@given(texts, st.data())
def test_any_part_of_the_content_is_found(content: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, len(content)))
    quote = content[start:end]
    assume(any(character.isalnum() for character in fold(quote)))
    span = find_quote(quote, content)
    assert span is not None
    assert letters(quote).strip("'.") in letters(content[slice(*span)])
    assert not any(is_joined(content, place) for place in span)


@given(texts, texts)
def test_whatever_is_found_folds_to_the_quote_to_its_inside_or_to_words_around_it(quote: str, content: str) -> None:
    span = find_quote(quote, content)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(content)
        cited = letters(content[slice(*span)])
        assert cited in letters(quote) or letters(quote).strip("'.") in cited


@given(texts)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(texts, texts)
def test_case_does_not_matter(before: str, quote: str) -> None:
    # This character is left out: in lower case it becomes a mark and a letter, but it folds to the letter alone.
    assume("ŉ" not in quote and any(character.isalnum() for character in fold(quote)))
    for variant in (quote.casefold(), f"  {quote}\n"):
        assert find_quote(variant, f"{before} {quote}.") is not None


def test_a_hostile_text_takes_little_time() -> None:
    # A reply quotes at most 2,000 characters.
    assert find_quote("s" * 1_999, "ß" * 30_000) is None
    assert find_quote("a" * 1_999, "a" * 30_000) == (0, 30_000)
    assert find_quote("1," * 900 + "1", "1," * 15_000) == (0, 29_999)
