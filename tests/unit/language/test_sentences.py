from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.english.reading.evidence import gather_evidence
from pgclarify.language.sentences import MAX_CHARS, MAX_SENTENCE_CHARS, Kind, named_fields, split_sentences


def texts(passage: str) -> list[str]:
    return [sentence.text for sentence in split_sentences(passage)]


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("Dr. Smith pays $3.50 a day. We cover e.g. taxis.", ["Dr. Smith pays $3.50 a day.", "We cover e.g. taxis."]),
        ("It closes at 5 p.m. Then we go.", ["It closes at 5 p.m.", "Then we go."]),
        ("He moved to St. Louis in 1960... Well.", ["He moved to St. Louis in 1960...", "Well."]),
        ('"Is it so?" he asked. "It is!" Good.', ['"Is it so?" he asked.', '"It is!"', "Good."]),
        ("founded in 1898. the team moved west. it won.", ["founded in 1898.", "the team moved west.", "it won."]),
        ("Park in lot B. The gate is open.", ["Park in lot B.", "The gate is open."]),
        ("J. K. Rowling wrote it. See no. 5 there.", ["J. K. Rowling wrote it.", "See no. 5 there."]),
        ("これは本です。あれは？ はい。", ["これは本です。", "あれは？", "はい。"]),  # noqa: RUF001
        ("彼は「はい。」と言った。『港。』だ。", ["彼は「はい。」", "と言った。", "『港。』", "だ。"]),
        ("זה נכון. וזה לא?", ["זה נכון.", "וזה לא?"]),
        ("Great 😀! Really 😀😀.", ["Great 😀!", "Really 😀😀."]),
    ],
)
def test_splits_plain_text(passage: str, expected: list[str]) -> None:
    assert texts(passage) == expected


def test_reads_markdown_and_quotes_no_heading() -> None:
    passage = (
        "# Rental\n\nSetext\n======\n\nHard-wrapped\ntext here. More.\n\n"
        "You need:\n- a form\n  with a stamp\n- a photo\n\n"
        "1. Call us.\n2) Wait.\n\n| Plan | Limit |\n|---|---|\n| Gold | $40 |\n"
    )
    sentences = split_sentences(passage)
    assert [(sentence.kind, sentence.text) for sentence in sentences] == [
        (Kind.PROSE, "Hard-wrapped\ntext here."),
        (Kind.PROSE, "More."),
        (Kind.PROSE, "You need:"),
        (Kind.ITEM, "a form\n  with a stamp"),
        (Kind.ITEM, "a photo"),
        (Kind.STEP, "Call us."),
        (Kind.STEP, "Wait."),
        (Kind.ROW, "| Gold | $40 |"),
    ]
    assert sentences[-1].header == "| Plan | Limit |"


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("Rent: 940 euros\nHeating: gas\nLet now.", ["Rent: 940 euros", "Heating: gas", "Let now."]),
        ("caretaker: mr. berg\nlift stuck: otiva", ["caretaker: mr. berg", "lift stuck: otiva"]),
        ("Sat 5 May, 10:30: Story\nSun 6 May: Tea", ["Sat 5 May, 10:30: Story", "Sun 6 May: Tea"]),
        ("Town store\nPhone: 0882 7733", ["Town store", "Phone: 0882 7733"]),
        ("Note: a wrapped line of prose\ngoes on here.", ["Note: a wrapped line of prose\ngoes on here."]),
        ("Q: Who repairs it?\nA: We do.", ["Q: Who repairs it?", "A: We do."]),
    ],
)
def test_a_line_with_a_label_and_a_value_stands_for_itself(passage: str, expected: list[str]) -> None:
    assert texts(passage) == expected


def test_lines_below_a_caption_know_it() -> None:
    gathered = gather_evidence("Lake store\nPhone: 4410\nHours: 9 to 18\n\nTown store\nPhone: 7733\nHours: 10 to 19")
    assert [(one.text, one.lead) for one in gathered if one.text.startswith("Phone") and not one.items] == [
        ("Phone: 4410", "Lake store"),
        ("Phone: 7733", "Town store"),
    ]


def test_a_list_is_one_piece_of_evidence_together_with_its_introduction() -> None:
    passage = "Hello there.\n\nYou need:\n- a form\n- a photo\n"
    whole = next(evidence for evidence in gather_evidence(passage) if evidence.items)
    assert whole.items == ("a form", "a photo")
    assert whole.text == "You need:\n- a form\n- a photo"
    assert passage[whole.start :].startswith(whole.text)


def test_of_a_list_that_cannot_be_quoted_as_a_whole_the_first_items_are() -> None:
    items = [f"a receipt of hotel {number}, with its date and its amount" for number in range(1, 20)]
    passage = "You need:\n" + "".join(f"- {item}\n" for item in items)
    whole = next(evidence for evidence in gather_evidence(passage) if evidence.items)
    assert whole.items == (*items[: len(whole.items) - 1], "…")
    assert whole.text == passage[: len(whole.text)]
    assert whole.text.endswith(whole.items[-2])
    assert MAX_SENTENCE_CHARS - 60 < len(whole.text) <= MAX_SENTENCE_CHARS


@given(st.text(alphabet="aB1 .!?\n-|#*\"'()é😀שー。", max_size=400))
def test_every_sentence_is_a_slice_in_order(passage: str) -> None:
    end = 0
    for sentence in split_sentences(passage):
        assert passage[sentence.start : sentence.end] == sentence.text
        assert end <= sentence.start < sentence.end
        end = sentence.end


@given(st.text(alphabet="aB1 .?\n-|#:", max_size=300))
def test_every_piece_of_evidence_is_a_slice(passage: str) -> None:
    for evidence in gather_evidence(passage):
        assert passage[evidence.start : evidence.start + len(evidence.text)] == evidence.text


def test_text_without_any_end_is_cut_to_pieces_that_can_be_quoted() -> None:
    sentences = split_sentences("word " * 20_000)
    assert all(len(sentence.text) <= MAX_SENTENCE_CHARS for sentence in sentences)
    assert sentences[-1].end <= MAX_CHARS
    assert all(sentence.text.startswith("word") and sentence.text.endswith("word") for sentence in sentences)
    assert {len(sentence.text) for sentence in split_sentences("x" * 50_000)} <= {MAX_SENTENCE_CHARS, 200}


def test_a_row_that_names_its_columns_is_a_row_of_a_table() -> None:
    (row,) = split_sentences("Vehicle: E-bike; Day: 42.5 €; Notes: No dogs; no cats")
    assert (row.kind, row.header) == (Kind.ROW, "| Vehicle | Day | Notes |")
    assert named_fields(row.text) == [("Vehicle", "E-bike"), ("Day", "42.5 €"), ("Notes", "No dogs; no cats")]


@pytest.mark.parametrize(
    "line", ["Vehicle: E-bike", "We have two rules: be kind; another: be fast.", "Yes; no", "a: b;"]
)
def test_other_lines_are_no_rows(line: str) -> None:
    assert named_fields(line) == []
