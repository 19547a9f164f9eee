"""Grades of passages: the prompt, and which replies are accepted."""

import pytest

from pgclarify.data.documents import Passage
from pgclarify.errors import InvalidReply
from pgclarify.prompts.relevance import relevance
from tests.unit.prompts.asking import said

QUESTION = "When did the bridge open?"
PASSAGE = Passage("d1", 1, "The bridge opened in 1902.", title="Old Bridge", heading="History")
READ = relevance(QUESTION, PASSAGE).read


def test_grades_keep_their_order_within_zero_and_one():
    scores = [READ(said({"grade": grade})) for grade in range(5)]
    assert scores == pytest.approx([0.1, 0.3, 0.5, 0.7, 0.9])


@pytest.mark.parametrize("grade", [5, -1, "4", 3.5, True])
def test_a_reply_that_is_no_grade_is_refused(grade: object):
    with pytest.raises(InvalidReply):
        READ(said({"grade": grade}))
