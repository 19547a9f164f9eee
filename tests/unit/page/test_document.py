"""The pieces of a document beside a run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pgclarify.language.excerpts import flowing
from pgclarify.page.document import pieces

RANGE = st.tuples(st.integers(0, 60), st.integers(0, 60)).map(lambda pair: (min(pair), max(pair)))
PLACE = st.fixed_dictionaries(
    {"start_char": st.integers(0, 60), "kind": st.sampled_from(["page", "row"]), "name": st.just("7")}
)


@given(st.text(max_size=50), st.integers(0, 20), st.none() | RANGE, st.none() | RANGE, st.lists(PLACE, max_size=3))
def test_pieces_are_the_text_and_only_its_quote_is_marked(content, start, quote, passage, places):
    found = pieces(content, start, quote, passage, places)
    assert "".join(piece.text for piece in found) == flowing(content)
    begin, end = quote or (0, 0)
    marked = "".join(piece.text for piece in found if piece.is_quote)
    assert marked == flowing(content)[max(0, begin - start) : max(0, end - start)]


def test_pages_begin_where_their_file_has_them_and_rows_are_not_told():
    places = [
        {"start_char": 0, "kind": "page", "name": "1"},
        {"start_char": 5, "kind": "page", "name": "2"},
        {"start_char": 7, "kind": "row", "name": "3"},
        {"start_char": 90, "kind": "page", "name": "9"},
    ]
    found = pieces("one. two. three.", 0, (2, 8), None, places)
    assert [(piece.text, piece.is_quote, piece.place) for piece in found] == [
        ("on", False, "page 1"),
        ("e. ", True, None),
        ("two", True, "page 2"),
        (". three.", False, None),
    ]
