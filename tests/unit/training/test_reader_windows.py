"""What the reader is trained on is what the product makes it read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgclarify.embedding import LocalSpanReader, load_span_reader
from training.reader.windows import Windows

SENTENCE = "The wide café opens at 7:30 for members of the rowing club. "


@pytest.fixture(scope="module")
def reader() -> Iterator[LocalSpanReader]:
    reader = load_span_reader(threads=1)
    yield reader
    reader.close()


@pytest.mark.parametrize("repeats", [1, 10, 17, 60])
@pytest.mark.parametrize("title", ["", "Opening hours", "Hours " * 40])
@pytest.mark.parametrize("question", ["When does it open?", "opens " * 90])
def test_the_product_reads_the_windows_of_the_training(
    reader: LocalSpanReader, question: str, title: str, repeats: int
) -> None:
    read = [*reader._windows(question, title, SENTENCE * repeats)]
    trained = Windows().of(question, title, SENTENCE * repeats)
    assert [(one.tokens, one.title_start, one.passage_start, one.offsets) for one in read] == [
        (one.ids, one.second_part, one.passage, one.offsets) for one in trained
    ]
