"""The answer in one pass over all passages: which replies are accepted."""

from __future__ import annotations

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.investigation import Evidence, Finding
from pgclarify.errors import InvalidReply
from pgclarify.prompts.one_pass import one_pass
from tests.unit.prompts.asking import said

READ = one_pass("Where was Ida Holm born?", [Passage("a", 1, "Ida Holm was born in Ortval.")]).read


@pytest.mark.parametrize(
    ("quote", "answer", "found"),
    [
        ("born in Ortval", "Ortval", Finding("Ortval", (Evidence(1, "born in Ortval"),))),
        ("born in Ortval", None, Finding()),
        (None, None, Finding()),
        (None, "no further answers", Finding()),
    ],
)
def test_an_answer_is_read_with_its_quote(quote: str | None, answer: str | None, found: Finding) -> None:
    assert READ(said({"quote": quote, "passage": 1, "answer": answer})) == found


def test_an_answer_without_a_quote_is_refused() -> None:
    with pytest.raises(InvalidReply):
        READ(said({"quote": None, "passage": 1, "answer": "Ortval"}))
