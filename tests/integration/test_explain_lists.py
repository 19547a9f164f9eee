"""Explanations of runs that ask back or list answers, each with its proof."""

from __future__ import annotations

import pytest

from tests.integration.explaining import Desk, desk, stage
from tests.integration.explaining_dialogue import ASKED_BACK, LISTED, body, question, quoted, record, record_questions

__all__ = ["desk"]

QUESTIONS = [
    question(
        1, "Do you want to know how long it is paid for?", "How long is a rental paid for?", ambiguity_type="specify",
        reasoning="It does not say what is wanted.", is_answerable=True, citations=quoted(1, 2),
    ),
    question(2, None, "What does a rental of rockets cost?", ambiguity_type="generalize", is_answerable=False),
    question(3, "Do you drive?", None),
]  # fmt: skip


class TestClarifyingQuestions:
    @pytest.fixture
    def run_id(self, desk: Desk) -> int:
        run_id = desk.start(desk.enter("clarifying_questions", ASKED_BACK | {"check": "mark"}))
        desk.pay(run_id, ("questions", 900, 500, 150), ("verdict", 100, 300, 20))
        desk.choose(run_id, ("101", 0.5, "dense", None, 1), ("102", 0.4, "lexical", None, 1))
        record_questions(desk, run_id, QUESTIONS)
        return run_id

    def test_are_told_with_what_answers_them(self, desk: Desk, run_id: int) -> None:
        desk.worker.finish(
            run_id,
            stages=[
                stage("questioning", "00.000", 900, rows=3, calls=1, note="at_cot, respond"),
                stage("retrieval", "00.900", 10, rows=2, note="hybrid, for 2 reformulations"),
                stage("checking", "00.910", 90, rows=3, calls=1, reused_calls=2),
            ],
        )
        desk.date(run_id)

        told = desk.told(run_id)
        assert told.startswith(
            'clarifying_questions in insurance: "rental cars"  (run 1, succeeded, time=1,000 ms, questions=3)'
        )
        assert "  Settings: check=mark, count=1, form=respond, method=hybrid, top_k=4\n" in told
        assert body(told) == [
            "  ->  questioning  (time=0.0..900 ms, 90%, rows=3, calls=1)",
            "        Note: at_cot, respond",
            "  ->  retrieval  (time=900..910 ms, 1%, rows=2)",
            "        Search: hybrid, for 2 reformulations",
            "        Kept: 1 dense, 1 lexical",
            "        #1  dense  0.5000  passage 1 of 101 (Coverage)",
            "        #2  lexical  0.4000  passage 2 of 102 (Deductible)",
            "  ->  checking  (time=910..1,000 ms, 9%, rows=3, calls=1, reused=2)",
            "        1. specify: Do you want to know how long it is paid for?  (answered by #1 #2)",
            "            Reformulation: How long is a rental paid for?",
            "            Reasoning: It does not say what is wanted.",
            '            Proof: #1  passage 1 of 101 (Coverage): "a quote"',
            '            Proof: #2  passage 2 of 102 (Deductible): "a quote"',
            "        2. generalize: What does a rental of rockets cost?  (no document answers it)",
            "        3. Do you drive?",
        ]
        assert body(desk.told(run_id, "stages"))[-3:] == [
            "        1. specify: Do you want to know how long it is paid for?  (answered by #1 #2)",
            "        2. generalize: What does a rental of rockets cost?  (no document answers it)",
            "        3. Do you drive?",
        ]

    @pytest.mark.parametrize("is_cancelled", [False, True])
    def test_are_told_without_stages(self, desk: Desk, run_id: int, is_cancelled: bool) -> None:
        if is_cancelled:
            desk.user.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])

        told = desk.told(run_id, "stages").splitlines()
        start = told.index("  ->  passages  (rows=2)") + 1
        assert told[start : start + 4] == [
            "        Kept: 1 dense, 1 lexical",
            "  1. specify: Do you want to know how long it is paid for?  (answered by #1 #2)",
            "  2. generalize: What does a rental of rockets cost?  (no document answers it)",
            "  3. Do you drive?",
        ]

    def test_questions_without_a_corpus_stand_below_the_call(self, desk: Desk) -> None:
        settings = {key: ASKED_BACK[key] for key in ("form", "count")} | {"check": "none"}
        run_id = desk.start(desk.enter("clarifying_questions", settings, corpus_id=None))
        record_questions(desk, run_id, [question(1, "Which?", "This one?", is_answerable=None)])
        desk.worker.finish(run_id, stages=[stage("questioning", "00.000", 5, rows=1)])

        told = desk.told(run_id)
        assert told.startswith('clarifying_questions: "rental cars"  (run 1')
        assert body(told)[1:] == ["        1. Which?", "            Reformulation: This one?"]


class TestListedAnswers:
    @pytest.fixture
    def run_id(self, desk: Desk) -> int:
        run_id = desk.start(desk.enter("list_answers", LISTED))
        desk.choose(run_id, ("101", 0.5, "dense", None, 1), ("104", 0.4, "lexical", None, 1))
        answers = [
            {"ordinal": ordinal, "answer": variants[0], "variants": variants, "citations": quoted(*ranks)}
            for ordinal, variants, ranks in ((1, ["thirty days", "30 days"], (1, 2)), (2, ["a full tank"], (2,)))
        ]
        record(desk, run_id, "answers", answers)
        desk.worker.finish(
            run_id,
            stages=[
                stage("retrieval", "00.000", 20, rows=2, note="hybrid"),
                stage("judgement", "00.100", 800, rows=2, calls=2),
                stage("listing", "00.990", 10, rows=2),
            ],
        )
        desk.date(run_id)
        return run_id

    def test_are_told_with_their_proofs(self, desk: Desk, run_id: int) -> None:
        told = desk.told(run_id)
        assert told.startswith('list_answers in insurance: "rental cars"  (run 1, succeeded, time=1,000 ms, answers=2)')
        assert body(told)[-6:] == [
            "  ->  listing  (time=990..1,000 ms, 1%, rows=2)",
            "        1. thirty days  (also 30 days)",
            '            Proof: #1  passage 1 of 101 (Coverage): "a quote"',
            '            Proof: #2  passage 5 of 104 (Fuel): "a quote"',
            "        2. a full tank",
            '            Proof: #2  passage 5 of 104 (Fuel): "a quote"',
        ]
        assert "Proof" not in desk.told(run_id, "stages")

    def test_proofs_from_documents_that_may_not_be_read_now_are_left_out(self, desk: Desk, run_id: int) -> None:
        desk.owner.execute(
            "select pgclarify.add_document('insurance', '101', 'Rental reimbursement pays for thirty days.', "
            "'Coverage', readers => '{}')"
        )

        told = desk.told(run_id)
        assert "Coverage" not in told
        assert "thirty days" not in told
        assert "Proof: #1" not in told
        assert "Proof: #2" in told
