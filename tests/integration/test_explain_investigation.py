"""Explanations of an investigation, step by step, also while it runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.explaining import Desk, desk, stage
from tests.sessions import scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]

INVESTIGATED = """\
investigate in insurance: "Whom does the fee go to?"  (run 1, succeeded, time=1,000 ms, results=0)
  Asked by alice at 2026-01-01 12:00:00 UTC, waited 12 ms for a worker
  Model a-model, prompts v1, worker 1 (extractive on here)
  Settings: entailment=embedding, max_calls=38, max_passages=32, max_steps=2, meta=false, method=hybrid, \
reranker=signal, retrieval=adaptive, samples=5, top_k=10
  ->  step 1, follow-up: "What does the fee cover?"  (time=0.0..460 ms, 46%, calls=2, reused=3, tokens=250+30)
        Answer: refueling  (confidence=0.75, semantic sets=2)
        ->  decomposition  (time=0.0..100 ms, 10%, calls=1, tokens=50+10)
        ->  retrieval  (time=100..110 ms, 1%, rows=2)
              Search: hybrid
        ->  reranking  (time=110..110 ms, 0%, rows=2)
              Kept: 1 dense, 1 neighbor
              #1  dense  0.4500  passage 5 of 104 (Fuel)
              #2  neighbor of #1  0.4000  passage 2 of 102 (Deductible)
        ->  sampling  (time=110..260 ms, 15%, rows=2, reused=3)
        ->  answering  (time=260..460 ms, 20%, calls=1, tokens=200+20)
              Note: half of the replies could not be read
  ->  step 2, direct: "Whom does the fee go to?"  (time=461..561 ms, 10%, calls=1, tokens=300+9)
        No answer: not_in_corpus
        Remark: the passages do not answer it
        ->  answering  (time=461..561 ms, 10%, calls=1, tokens=300+9)
  ->  step 3, conclusion: "Whom does the fee go to?"
        No answer: not_in_corpus
        Remark: the passages do not answer it
  Outside of stages: 440 ms, 44%, for starting, embedding and storing
  Stop code: not_answered, a language model judged the passages that were found, and none of them answers the \
question. Ask in other words, or look further down the ranking with a larger top_k.
  Total: calls=3, reused=3, tokens=550+39
  Result: select * from pgclarify.investigation_step where run_id = 1"""


def test_an_investigation_shows_its_steps(desk: Desk) -> None:
    run_id = desk.start(
        int(
            scalar(
                desk.user,
                "select pgclarify.submit('investigate', %s, 'insurance', %s)",
                "Whom does the fee go to?",
                json.dumps({"max_steps": 2}),
            )
        )
    )
    for reply in (("plan", 90, 50, 10), ("answer", 200, 200, 20), ("answer", 100, 300, 9)):
        desk.pay(run_id, reply)
    desk.choose(run_id, ("104", 0.45, "dense", None, 1), ("102", 0.4, "neighbor", "104", 1), step=1)
    first = "What does the fee cover?"
    nothing: dict[str, Any] = {"answer": None, "confidence": None, "semantic_sets": None, "citations": []}
    citation = {"candidate_rank": 1, "quote": "full tank", "start_char": 25, "end_char": 34}
    for step in (
        {
            "ordinal": 1, "kind": "follow_up", "question": first, "outcome": "answered", "answer": "refueling",
            "confidence": 0.75, "reason": None, "semantic_sets": 2, "citations": [citation],
        },
        *(
            nothing | {
                "ordinal": ordinal, "kind": kind, "question": "Whom does the fee go to?", "outcome": "not_in_corpus",
                "reason": "the passages do not answer it",
            }
            for ordinal, kind in ((2, "direct"), (3, "conclusion"))
        ),
    ):  # fmt: skip
        desk.worker.record_results(run_id, "step", step)
    told_of = {"step_ordinal": 1}
    desk.worker.finish(
        run_id,
        stages=[
            stage(
                "decomposition", "00.000", 100, calls=1, prompt_tokens=50, completion_tokens=10,
                **told_of,
            ),
            stage("retrieval", "00.100", 10, rows=2, note="hybrid", **told_of),
            stage("reranking", "00.110", 0.2, batch=1, rows=2, **told_of),
            stage("sampling", "00.110", 150, batch=1, rows=2, reused_calls=3, **told_of),
            stage(
                "answering", "00.260", 200, calls=1, prompt_tokens=200, completion_tokens=20,
                note="half of the replies could not be read", **told_of,
            ),
            stage(
                "answering", "00.461", 100, calls=1, prompt_tokens=300, completion_tokens=9, step_ordinal=2,
                note="not_in_corpus",
            ),
        ],
    )  # fmt: skip
    desk.date(run_id)

    assert desk.told(run_id) == INVESTIGATED


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_passages_of_steps_are_told_while_an_investigation_goes_on(desk: Desk, is_cancelled: bool) -> None:
    run_id = desk.start(
        int(scalar(desk.user, "select pgclarify.submit('investigate', 'Whom does the fee go to?', 'insurance')"))
    )
    desk.choose(run_id, ("104", 0.45, "dense", None, 1), ("102", 0.4, "neighbor", "104", 1), step=1)
    desk.choose(run_id, ("101", 0.25, "lexical", None, 1), step=2)
    if is_cancelled:
        desk.user.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])

    lines = desk.told(run_id).splitlines()
    assert [line.split("  passage ")[0] for line in lines if line.startswith("   ") or "->" in line] == [
        "  ->  passages  (rows=3)",
        "        Kept: 1 dense, 1 lexical, 1 neighbor",
        "        #1  dense  0.4500",
        "        #2  neighbor of #1  0.4000",
        "        #3  lexical  0.2500",
    ]
