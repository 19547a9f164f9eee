"""The recorded stages of a run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pgclarify.data.model_calls import Completion
from pgclarify.operations.trace import Trace

REPLY = Completion("yes", prompt_tokens=10, completion_tokens=2, latency_ms=1.0)


def test_a_stage_says_what_it_came_to() -> None:
    trace = Trace()
    before = datetime.now(UTC)
    with trace.stage("judgement", batch=2, step_ordinal=3) as tally:
        tally.rows = 4
        tally.note = "a note"
        tally.count(REPLY, is_reused=False)
        tally.count(REPLY, is_reused=False)
        tally.count(REPLY, is_reused=True)
    (stage,) = trace.stages
    assert (stage.name, stage.batch, stage.step_ordinal, stage.rows, stage.note) == ("judgement", 2, 3, 4, "a note")
    # A reused reply costs nothing. Its former tokens are counted separately.
    assert (stage.calls, stage.reused_calls, stage.prompt_tokens, stage.completion_tokens) == (2, 1, 20, 4)
    assert (stage.reused_prompt_tokens, stage.reused_completion_tokens, stage.model_ms) == (10, 2, 3.0)
    assert before <= stage.started_at <= datetime.now(UTC)
    assert stage.duration_ms >= 0


@pytest.mark.parametrize(("seconds", "note"), [(0.1, "5 rows"), (90, "5 rows; calls waited 90 s")])
def test_a_long_wait_for_the_rate_of_an_endpoint_is_noted(seconds: float, note: str) -> None:
    trace = Trace()
    with trace.stage("judgement") as tally:
        tally.note, tally.waited_ms = "5 rows", 1000 * seconds
    (stage,) = trace.stages
    assert (stage.note or "").startswith(note)
    assert ("waited" in (stage.note or "")) == (seconds > 1)


def test_stages_that_overlap_stand_in_the_order_in_which_they_began() -> None:
    trace = Trace()
    first, second = trace.stage("relaxation"), trace.stage("judgement")
    with first:
        second.__enter__()
        assert trace.stages == []
    assert [stage.name for stage in trace.stages] == ["relaxation"]
    second.__exit__(None, None, None)
    with trace.stage("consolidation"):
        pass
    assert [stage.name for stage in trace.stages] == ["relaxation", "judgement", "consolidation"]
