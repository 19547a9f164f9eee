"""What the tests of the trained networks share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pgclarify.embedding import LocalSpanReader, load_span_reader


@pytest.fixture(scope="module")
def reader() -> Iterator[LocalSpanReader]:
    """The reader that comes with pgclarify."""
    reader = load_span_reader()
    yield reader
    reader.close()
