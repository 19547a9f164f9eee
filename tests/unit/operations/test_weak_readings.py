"""An answer that only the trained reader gives counts only in the passage that a search ranks first."""

from __future__ import annotations

import pytest

from pgclarify.data.candidates import Candidate
from pgclarify.data.documents import Passage
from pgclarify.data.runs import Run
from pgclarify.data.verdicts import Reading
from pgclarify.data.vocabulary import Outcome, StopCode
from pgclarify.ledger.completions import CallResult
from pgclarify.operations.judging.verdicts import Supported, check_verdict

QUESTION = "Where is the archive kept?"
CONTENT = "The archive is kept in the old mill."
RUN = Run(1, 1, "clarify", QUESTION, {"verify": "rules"}, 1, "all-MiniLM-L6-v2", 384)


@pytest.mark.parametrize(("rank", "is_weak", "counts"), [(1, True, True), (2, True, False), (20, False, True)])
def test_a_weak_reading_counts_in_the_first_passage(rank: int, is_weak: bool, counts: bool) -> None:
    reading = Reading(QUESTION, "in the old mill", CONTENT, is_weak=is_weak)
    checked = check_verdict(
        RUN, Candidate(rank, Passage("mill", 1, CONTENT), 1.0, "dense"), CallResult(reading, 1, False)
    )
    if counts:
        assert isinstance(checked, Supported)
    else:
        assert not isinstance(checked, Supported)
        assert (checked.outcome, checked.abstention_code) == (Outcome.ABSTAINED, StopCode.THRESHOLD)
