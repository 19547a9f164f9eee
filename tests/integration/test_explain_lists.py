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
        assert "  Settings other than the defaults: check=mark" in told
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
        assert told.endswith("served from this run, with no call, while the corpus stays at revision 1")
        below = body(desk.told(run_id, "batches"))
        assert below[-4:] == [
            "        1. specify: Do you want to know how long it is paid for?  (answered by #1 #2)",
            "            Reformulation: How long is a rental paid for?",
            "        2. generalize: What does a rental of rockets cost?  (no document answers it)",
            "        3. Do you drive?",
        ]
        assert body(desk.told(run_id, "stages"))[-3:] == [below[-4], *below[-2:]]

    @pytest.mark.parametrize("is_cancelled", [False, True])
    def test_are_told_without_stages(self, desk: Desk, run_id: int, is_cancelled: bool) -> None:
        if is_cancelled:
            desk.user.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])

        told = body(desk.told(run_id, "stages"))
        assert told == [
            "  ->  questioning  (rows=3, calls=1, tokens=500+150)",
            "  ->  retrieval  (rows=2)",
            "        Kept: 1 dense, 1 lexical",
            "  ->  checking  (calls=1, tokens=300+20)",
            "        1. specify: Do you want to know how long it is paid for?  (answered by #1 #2)",
            "        2. generalize: What does a rental of rockets cost?  (no document answers it)",
            "        3. Do you drive?",
        ]

    def test_questions_without_a_corpus_stand_below_the_call(self, desk: Desk) -> None:
        settings = {key: ASKED_BACK[key] for key in ("form", "count")} | {"check": "none"}
        run_id = desk.start(desk.enter("clarifying_questions", settings, corpus_id=None))
        record_questions(desk, run_id, [question(1, "Which?", "This one?", is_answerable=None)])
        desk.worker.finish(run_id, stages=[stage("questioning", "00.000", 5, rows=1)])

        told = desk.told(run_id)
        assert told.startswith('clarifying_questions: "rental cars"  (run 1')
        assert body(told)[1:] == ["        1. Which?", "            Reformulation: This one?"]
        assert told.endswith("Asked again: a new run; calls that this one paid for are not paid for again")


class TestListedAnswers:
    @pytest.fixture
    def run_id(self, desk: Desk) -> int:
        run_id = desk.start(desk.enter("list_answers", LISTED))
        for _ in range(3):
            desk.pay(run_id, ("listing", 200, 800, 30))
        desk.choose(run_id, ("101", 0.5, "dense", None, 1), ("104", 0.4, "lexical", None, 1))
        for ordinal, answer, variants, ranks in ((1, "thirty days", ["30 days"], (1, 2)), (2, "a full tank", [], (2,))):
            value = {"ordinal": ordinal, "answer": answer, "variants": [answer, *variants], "citations": quoted(*ranks)}
            record(desk, run_id, "answer", value)
        return run_id

    def finish(self, desk: Desk, run_id: int) -> None:
        rounds = (
            (1, "window 1 of 2 (#1)"),
            (0, "window 1 of 2 (#1): none further"),
            (1, "window 2 of 2 (#2)"),
            (0, "window 2 of 2 (#2): none further"),
        )
        desk.worker.finish(
            run_id,
            stages=[
                stage("retrieval", "00.000", 20, rows=2, note="hybrid"),
                *(
                    stage("listing", f"00.{100 + 200 * place}", 200, batch=place + 1, rows=found, calls=1, note=note)
                    for place, (found, note) in enumerate(rounds)
                ),
            ],
            stop_reason="no further answer",
        )
        desk.date(run_id)

    def test_are_told_round_by_round(self, desk: Desk, run_id: int) -> None:
        self.finish(desk, run_id)

        told = desk.told(run_id)
        assert told.startswith('list_answers in insurance: "rental cars"  (run 1, succeeded, time=1,000 ms, answers=2)')
        assert "Settings" not in told
        assert body(told) == [
            "  ->  retrieval  (time=0.0..20 ms, 2%, rows=2)",
            "        Search: hybrid",
            "        Kept: 1 dense, 1 lexical",
            "        #1  dense  0.5000  passage 1 of 101 (Coverage)",
            "        #2  lexical  0.4000  passage 5 of 104 (Fuel)",
            "  ->  listing, round 1  (time=100..300 ms, 20%, rows=1, calls=1)",
            "        Note: window 1 of 2 (#1)",
            "        1. thirty days  (also 30 days)",
            '            Proof: #1  passage 1 of 101 (Coverage): "a quote"',
            '            Proof: #2  passage 5 of 104 (Fuel): "a quote"',
            "  ->  listing, round 2  (time=300..500 ms, 20%, rows=0, calls=1)",
            "        Note: window 1 of 2 (#1): none further",
            # The answer is below the round that found it. Answers and rounds have different numbers.
            "  ->  listing, round 3  (time=500..700 ms, 20%, rows=1, calls=1)",
            "        Note: window 2 of 2 (#2)",
            "        2. a full tank",
            '            Proof: #2  passage 5 of 104 (Fuel): "a quote"',
            "  ->  listing, round 4  (time=700..900 ms, 20%, rows=0, calls=1)",
            "        Note: window 2 of 2 (#2): none further",
        ]
        assert "  Stopped: no further answer" in told.splitlines()
        assert "Proof" not in desk.told(run_id, "batches")
        assert body(desk.told(run_id, "stages"))[3:] == [
            "  ->  listing, 4 rounds  (time=100..900 ms, 80%, rows=2, calls=4)",
            "        1. thirty days  (also 30 days)",
            "        2. a full tank",
        ]

    def test_are_told_while_more_are_looked_for(self, desk: Desk, run_id: int) -> None:
        told = desk.told(run_id)
        assert "answers=2)" in told.splitlines()[0]
        assert [line for line in body(told) if "#" not in line] == [
            "  ->  retrieval  (rows=2)",
            "        Kept: 1 dense, 1 lexical",
            "  ->  listing  (rows=2, calls=3, tokens=2,400+90)",
            "        1. thirty days  (also 30 days)",
            "        2. a full tank",
        ]

    def test_proofs_from_documents_that_may_not_be_read_now_are_left_out(self, desk: Desk, run_id: int) -> None:
        self.finish(desk, run_id)
        desk.owner.execute(
            "select pgclarify.add_document('insurance', '101', 'Rental reimbursement pays for thirty days.', "
            "'Coverage', readers => '{}')"
        )

        told = desk.told(run_id)
        assert "Coverage" not in told
        assert "thirty days" not in told
        assert "Proof: #1" not in told
        assert "Proof: #2" in told
