from __future__ import annotations

import textwrap

import pgclarify_minilm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer

from pgclarify.errors import ConfigurationError
from pgclarify.ingest import Chunker
from pgclarify.ingest.chunking import PREFACE_TOKENS, lead_in
from pgclarify.ingest.grids import table_lines
from pgclarify.ingest.wrapping import without_wraps


def load_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer.from_file(str(pgclarify_minilm.FOLDER / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


TOKENIZER = load_tokenizer()
CHUNKER = Chunker(TOKENIZER, 256)
# This is so small that short texts are cut.
SMALL_CHUNKER = Chunker(TOKENIZER, 64)

PIECES = st.sampled_from(
    [
        "word",
        " ",
        "\n",
        "\r\n",
        "\n\n",
        "\r\n\r\n",
        "# Überschrift 😀",
        "## Zwei",
        "\n### " + "Straßenverkehrsgesetzänderung 漢字 " * 5 + "\n",
        "Title\n=====",
        "---",
        "```",
        "👨‍👩‍👧‍👦 e\u0301",
        "漢字かな",
        "- item",
        "| a | b |",
        "A sentence of several words, with a comma. ",
        "x" * 150,
        "\u00a0\u2028",
    ]
)
MARKDOWN = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=60).map("".join)


def tokens(text: str) -> int:
    return len(TOKENIZER.encode(text, add_special_tokens=False))


@given(MARKDOWN)
@settings(max_examples=100)
def test_chunks_are_slices_that_fit_and_cover_the_document(content: str) -> None:
    chunks = SMALL_CHUNKER.split(content)

    assert [chunk.ordinal for chunk in chunks] == list(range(1, len(chunks) + 1))
    end = 0
    for chunk in chunks:
        assert chunk.start_char >= end
        assert content[end : chunk.start_char].strip() == ""
        assert tokens(chunk.content) <= 64 - 2 - PREFACE_TOKENS
        text = SMALL_CHUNKER.embedding_text("A title of some words", chunk.heading, chunk.content)
        assert len(TOKENIZER.encode(text)) <= 64
        end = chunk.start_char + len(chunk.content)
        assert end == chunk.end_char
    assert content[end:].strip() == ""


def test_headings_stand_above_chunks() -> None:
    section = "A sentence that fills the section with some words. " * 20
    content = f"# Cars\r\n\r\n{section}\r\n\r\nRental\r\n------\r\n\r\n{section}\r\n\r\n# Homes\r\n\r\n{section}"
    headings = [chunk.heading for chunk in CHUNKER.split(content)]
    assert list(dict.fromkeys(headings)) == ["Cars", "Cars > Rental", "Homes"]


def test_title_stands_above_the_first_section_too() -> None:
    text = "This cover pays for the repair of a windshield up to a limit of $500 a year."
    chunks = CHUNKER.split(f"# Policy\n\n## Glass\n\n{text}\n\n## Towing\n\n{text}")
    assert [chunk.heading for chunk in chunks] == ["Policy > Glass", "Policy > Towing"]
    assert chunks[0].content.startswith("# Policy")


def test_short_rest_stays_with_its_section() -> None:
    filler = "A sentence that fills the section with some words. " * 15
    chunks = CHUNKER.split(f"# Cars\n\n{filler}\n\nReally.\n\n# Homes\n\n{filler}")
    assert chunks[0].content.endswith("Really.")
    assert chunks[1].content.startswith("# Homes")


@pytest.mark.parametrize("around", ["", " A sentence beside it. " * 100])
def test_endless_word_is_cut_by_characters(around: str) -> None:
    # WordPiece makes one token of this.
    word = "x" * 100_000
    assert tokens(word) == 1
    content = around + word + around
    chunks = CHUNKER.split(content)
    assert max(len(chunk.content) for chunk in chunks) <= 16 * 222
    end = 0
    for chunk in chunks:
        assert content[end : chunk.start_char].strip() == ""
        assert chunk.start_char >= end
        end = chunk.end_char
    assert content[end:].strip() == ""


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("", "", "text"),
        ("Cars", None, "Cars\ntext"),
        (None, "Rental", "Rental\ntext"),
        ("Cars", "Cars", "Cars\ntext"),
        ("Cars", "Cars > Rental", "Cars\nRental\ntext"),
    ],
)
def test_embedding_text(title: str | None, heading: str | None, expected: str) -> None:
    assert CHUNKER.embedding_text(title, heading, "text") == expected


def test_long_title_and_heading_are_cut_to_their_budget() -> None:
    preface, content = CHUNKER.embedding_text("title " * 50, "heading", "text").rsplit("\n", 1)
    assert content == "text"
    assert tokens(preface) == PREFACE_TOKENS


def test_model_that_reads_too_little_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        Chunker(TOKENIZER, 40)


@pytest.mark.parametrize("chunker", [CHUNKER, Chunker(TOKENIZER, 100)])
@pytest.mark.parametrize("name", ["Model {}", "**Model {}**", "_Model_{}_"])
def test_a_table_is_cut_between_its_rows(chunker: Chunker, name: str) -> None:
    header = ["Vehicle", "Day", "Week*", "Terms"]
    cells = [[name.format(n), f"{n}.50 €", f"{n * 5}.00 €", "Bring it back at 9; no dogs."] for n in range(80)]
    rows = [line.text for line in table_lines([header, *cells])[0]]
    chunks = chunker.split("## Prices\n\n" + "\n".join(rows))
    lines = [line for chunk in chunks for line in chunk.content.splitlines() if line and not line.startswith("#")]
    assert len(chunks) > 3
    assert lines == rows


def test_a_long_paragraph_is_cut_between_its_sentences() -> None:
    sentence = 'We close the account of a *user* (see "SCCs") who is under age, and don\'t want to discourage anybody.'
    assert [chunk.content for chunk in SMALL_CHUNKER.split(f"{sentence} " * 5)] == [sentence] * 5


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("first", ["", "- "])
def test_a_wrapped_paragraph_is_cut_between_its_sentences(first: str, line_end: str) -> None:
    sentence = "The library lends a laptop for two weeks to everybody who has a card and brought the last one back."
    wrapped = f"{first}{sentence} {sentence} {sentence} {sentence}"
    wrapped = textwrap.fill(wrapped, 40).replace("\n", line_end)
    chunks = SMALL_CHUNKER.split(wrapped)
    assert [chunk.content.split()[-1] for chunk in chunks] == ["back."] * 4
    assert all(chunk.content in wrapped for chunk in chunks)


@pytest.mark.parametrize(
    ("line", "around"),
    [
        ("2026-11-{} the worker took a run and ended it, {} s", "\n"),
        ("Format: subtitle {}; container: MP4 or MKV or TS of {}", "\n"),
        ("chunker: rabin-{} of MP4 and MKV; rate: {} a second", "\n"),
        ("alice{},34,berlin,a-long-name-of-a-street-{}", "\n"),
        ("usr/local/share/postgresql/{}/extensions/vector-{}", "\n"),
        ("accounts of customers {}  |  table  |  {} rows", "\n"),
        ("install package {} --with-its-own-files-and-others {}", "\n```\n"),
    ],
)
def test_lines_that_are_not_wrapped_are_places_to_cut(line: str, around: str) -> None:
    lines = [line.format(number, number**3) for number in range(5, 15)]
    text = around + "\n".join(lines) + around
    assert all(set(chunk.content.split("\n")) <= {*lines, "```"} for chunk in SMALL_CHUNKER.split(text))


@pytest.mark.parametrize(("fence", "within"), [("```", "~~~"), ("````", "```"), ("~~~", "```")])
def test_only_the_marks_that_opened_a_block_of_code_close_it(fence: str, within: str) -> None:
    sentence = "The library lends a laptop for two weeks to everybody who has a card and brought the last one back. "
    wrapped = textwrap.fill(sentence * 4, 40)
    assert without_wraps(wrapped) != wrapped
    for shown in (f"{within}\n{wrapped}\n{within}", f"{within}\n{wrapped}", wrapped):
        text = f"{fence}\n{shown}\n{fence}\n"
        assert without_wraps(text) == text
        assert without_wraps(text + wrapped) != text + wrapped


def test_a_title_that_is_underlined_with_tildes_opens_no_block_of_code() -> None:
    sentence = "The library lends a laptop for two weeks to everybody who has a card and brought the last one back. "
    wrapped = textwrap.fill(sentence * 4, 40)
    for title in ("Borrowing a laptop", "Fees"):
        text = f"{title}\n{'~' * len(title)}\n\n{wrapped}"
        assert without_wraps(text) == text.replace(wrapped, without_wraps(wrapped))


def test_records_of_one_length_are_places_to_cut() -> None:
    lines = [f"max_connections_{number} = {number} of the newest server" for number in range(10, 18)]
    assert all(set(chunk.content.split("\n")) <= {*lines} for chunk in SMALL_CHUNKER.split("\n".join(lines)))


def test_a_heading_stays_with_the_text_below_it() -> None:
    items = "\n".join(f"- a receipt of the {name}, with its date and its amount" for name in ("hotel", "car", "train"))
    before = "Some words of another section stand here."
    for other in (before, f"# Terms\n\n{before}"):
        _, chunk, *_ = SMALL_CHUNKER.split(f"{other}\n\n## Fees\n\n{items}\n")
        assert chunk.content.startswith("## Fees\n\n- a receipt of the hotel")


def test_the_words_of_an_item_lead_in_its_own_list_only() -> None:
    text = "You need:\n\n* Dogs:\n  + small\n  + large\n* Cats\n"
    assert lead_in(text, text.index("large"), text.index("* Cats")) == "Dogs:"
    assert lead_in(text, text.index("large"), len(text)) == "You need:"
    assert lead_in(text, text.index("Cats"), len(text)) == "You need:"


def test_the_words_that_lead_in_a_list_stay_with_it() -> None:
    first = "A rental car is insured for thirty days, if it was booked by the company itself. " * 2
    items = "\n".join(f"- a receipt of the {name}, with its date" for name in ("hotel", "car", "train", "ferry"))
    chunks = SMALL_CHUNKER.split(f"# Fees\n\n{first}\n\nYou need all of these:\n\n{items}\n")
    (with_lead_in,) = (chunk for chunk in chunks if "You need" in chunk.content)
    assert "hotel" in with_lead_in.content
    # So does the heading above them, however long it is.
    heading = "## What the travellers from all of the other countries have to hand in"
    chunks = SMALL_CHUNKER.split(f"{heading}\n\nYou need:\n\n{items}\n")
    assert chunks[0].content.startswith(f"{heading}\n\nYou need:\n\n- a receipt of the hotel")


@pytest.mark.parametrize(
    ("content", "heading"),
    [
        ("# Rooms\n\nBig room\n\nIt seats twelve people.", "Rooms"),
        ("Big room\n: It seats twelve people.", "Big room"),
        ("big room\n: It seats twelve people.\n: It has a screen.", "big room"),
        ("big room\n: It seats twelve.\nsmall room\n: It seats four.", None),
        ("big room\n: It seats twelve.\n\nThe office closes at six.", None),
        ("1. Book a room\n\nIt seats twelve people.", None),
        ("return x + y\n\nIt seats twelve people.", None),
        ("Big room\r\n\r\nIt seats twelve people.", "Big room"),
        ("Big room\n\nIt seats twelve.\n\nSmall room\n\nIt seats four.", None),
        ("Dear Anna,\n\nIt seats twelve people.", None),
        ("The big room\nseats twelve people.", None),
    ],
)
def test_the_heading_of_a_passage_has_the_title_without_marks_at_its_start(content: str, heading: str | None) -> None:
    assert [chunk.heading for chunk in CHUNKER.split(content)] == [heading]


def test_a_title_without_marks_stays_with_the_text_below_it() -> None:
    text = "The tenant may paint the walls, but has to ask the owner before a door or a window is moved elsewhere."
    chunks = SMALL_CHUNKER.split(f"{text}\n\n2.2. Limits\n\n{text}\n\nLimits\n\n{text}")
    assert [chunk.content.removesuffix(text) for chunk in chunks] == ["", "2.2. Limits\n\n", "Limits\n\n"]
    assert [chunk.heading for chunk in chunks] == [None, "2.2. Limits", "Limits"]


def test_a_later_part_of_a_list_is_below_the_words_that_lead_it_in() -> None:
    items = "\n".join(f"{number}. a receipt, with its date, of hotel {number}" for number in range(1, 30))
    chunks = SMALL_CHUNKER.split(f"# Fees\n\nYou need all of these:\n\n{items}\n\nAnd nothing else.\n")
    assert {chunk.heading for chunk in chunks[1:-1]} == {"Fees > You need all of these:"}
    assert SMALL_CHUNKER.split(f"# Fees\n\n{items}\n")[1].heading == "Fees"
    # Each passage of the list would store them.
    long = "You need all of these, which " + "the office and " * 30 + "the guard ask for:"
    assert SMALL_CHUNKER.split(f"# Fees\n\n{long}\n\n{items}\n")[-1].heading == "Fees"


def test_a_question_without_marks_stays_with_its_answer() -> None:
    answer = "The office is open from nine to five, and closed on public holidays of the country. " * 4
    text = "\n\n".join(f"When does desk {number} open?\n\n{answer.strip()}" for number in range(8))
    for chunk in SMALL_CHUNKER.split(text):
        assert not chunk.content.endswith("?")
