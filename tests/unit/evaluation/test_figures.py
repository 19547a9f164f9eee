"""The figures of cases, of evaluations, and of two evaluations compared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pgclarify.data.documents import Passage
from pgclarify.data.verdicts import AnswerSpan
from pgclarify.data.vocabulary import RunStatus
from pgclarify.evaluation.figures import Row, compare, measure, summarize
from pgclarify.evaluation.lexical_judge import LexicalJudge
from pgclarify.evaluation.records import Case, CitedPassage, GoldInterpretation, Output, PredictedInterpretation, Usage

FEES = Passage("fees", 1, "The refueling fee is ninety dollars. Smoking in the car costs two hundred dollars.")
CASE = Case(
    "fees",
    "Which fees are there?",
    interpretations=(
        GoldInterpretation("What is the refueling fee?", ("ninety dollars", "$90"), ("fees",)),
        GoldInterpretation("What does smoking in the car cost?", ("two hundred dollars",)),
    ),
    wrong_answers=("ten dollars",),
)
REFUELING = PredictedInterpretation("What is the refueling fee?", "ninety dollars", (CitedPassage(FEES, "ninety"),))
WRONG = PredictedInterpretation("What is the refueling fee?", "ten dollars", (CitedPassage(FEES),))


class FakeReader:
    """Always finds ninety dollars, with a logit. Implements SpanReader."""

    def __init__(self, answerable: float = -9.0) -> None:
        self._answerable = answerable

    async def read(self, question: str, title: str, passage: str) -> AnswerSpan:
        start = passage.index("ninety dollars")
        return AnswerSpan(start, start + len("ninety dollars"), self._answerable, 0.0)


def figures(output: Output, case: Case = CASE, method: str = "clarify", *, answerable: float = -9.0) -> Row:
    async def evidence(question: str) -> Sequence[Passage]:
        return [FEES]

    return asyncio.run(measure(method, case, output, LexicalJudge(FakeReader(answerable)), evidence)).figures


def test_a_right_reading_counts_for_coverage_and_grounding() -> None:
    found = figures(Output((REFUELING,), (FEES,), usage=Usage(21, 900, 0.5)))
    assert found["readings"] == 1
    assert found["coverage"] == 0.5
    assert found["answer_em"] == 1
    assert found["grounded_precision"] == 1
    # The corpus answers the other reading, too.
    assert found["grounded_recall"] == 0.5
    assert (found["misled"], found["recall@10"]) == (0, 1)
    assert (found["calls"], found["tokens"], found["cost_usd"]) == (21, 900, 0.5)


@pytest.mark.parametrize(
    ("answer", "answerable", "precision"), [("ninety dollars", 0, 1), ("ninety dollars", -9, 0), ("two hundred", 0, 0)]
)
def test_the_reader_grounds_the_answer_that_it_finds_to_a_question_in_other_words(
    answer: str, answerable: float, precision: float
) -> None:
    filling = PredictedInterpretation("How much is filling up the tank?", answer, (CitedPassage(FEES),))
    assert figures(Output((filling,), (FEES,)), answerable=answerable)["grounded_precision"] == precision


def test_a_known_wrong_answer_misleads() -> None:
    found = figures(Output((REFUELING, WRONG), (FEES,)))
    assert (found["misled"], found["grounded_precision"]) == (1, 0.5)


@pytest.mark.parametrize(
    ("output", "silent"),
    [
        (Output(), 1), (Output((WRONG,), (FEES,)), 0), (Output((REFUELING,), (FEES,)), 0),
        (Output(status=RunStatus.FAILED, error="gone"), 0),
    ],
)  # fmt: skip
def test_who_knows_only_wrong_answers_is_rightly_told_nothing(output: Output, silent: float) -> None:
    nothing_right = Case("fees", "Which fees are there?", wrong_answers=("ten dollars",))
    assert figures(output, nothing_right)["rightly_silent"] == silent
    assert "rightly_silent" not in figures(output, CASE)
    assert "rightly_silent" not in figures(output, Case("fees", "Which fees are there?"))


def test_a_failed_case_counts_as_empty() -> None:
    found = figures(Output((REFUELING,), (FEES,), status=RunStatus.FAILED, error="gone"))
    assert found["failed"] == 1
    assert [found[name] for name in ("readings", "coverage", "grounded_recall", "recall@10")] == [0.0] * 4


def test_a_case_of_which_not_all_was_judged_is_counted_beside_its_readings() -> None:
    found = figures(Output((REFUELING,), (FEES,), status=RunStatus.PARTIAL))
    assert (found["partial"], found["failed"], found["readings"]) == (1, 0, 1)
    assert figures(Output((REFUELING,), (FEES,)))["partial"] == 0


def test_unknown_values_have_no_figure() -> None:
    assert not {"coverage", "misled", "recall@10", "grounded_recall"} & figures(Output(), Case("a", "b")).keys()
    assert not {"readings", "coverage"} & figures(Output(retrieved=(FEES,)), method="search").keys()
    detected = figures(Output(is_ambiguous=True), Case("a", "b", is_ambiguous=False), "detect_ambiguity")
    assert (detected["label"], detected["called"]) == (0, 1)


def test_figures_of_all_cases_have_intervals() -> None:
    rows: list[Row] = [
        {"coverage": place % 2, "grounded_precision": 1.0, "grounded_recall": 0.5} for place in range(40)
    ]
    found = summarize(rows)
    assert found["coverage"].value == 0.5
    assert found["coverage"].low == pytest.approx(0.34, abs=0.06)
    assert found["grounded_f1"].value == pytest.approx(2 / 3)
    assert list(found) == ["coverage", "grounded_precision", "grounded_recall", "grounded_f1"]
    assert summarize(rows[:1])["coverage"].low is None


def test_a_question_without_readings_has_no_grounded_precision_and_still_counts_for_the_recall() -> None:
    unknown = Case("tolls", "Which tolls are there?", (GoldInterpretation("What is the toll?", ("nine dollars",)),))
    answered, silent, nothing_to_find = figures(Output((REFUELING,))), figures(Output()), figures(Output(), unknown)

    assert (answered["grounded_precision"], answered["grounded_recall"]) == (1, 0.5)
    assert ("grounded_precision" in silent, silent["grounded_recall"]) == (False, 0)
    assert not {"grounded_precision", "grounded_recall"} & nothing_to_find.keys()
    found = summarize([answered, silent, nothing_to_find])
    assert (found["grounded_precision"].value, found["grounded_precision"].cases) == (1, 1)
    assert (found["grounded_recall"].value, found["grounded_recall"].cases) == (0.25, 2)
    assert found["grounded_f1"].value == pytest.approx(2 * 1 * 0.25 / (1 + 0.25))


def test_an_unsupported_reading_counts_for_the_precision_where_nothing_was_to_be_found() -> None:
    unknown = Case("tolls", "Which tolls are there?", (GoldInterpretation("What is the toll?", ("nine dollars",)),))
    toll = PredictedInterpretation("What is the toll?", "eight dollars", (CitedPassage(FEES),))
    found = figures(Output((toll,)), unknown)

    assert found["grounded_precision"] == 0
    assert "grounded_recall" not in found
    assert "grounded_f1" not in summarize([found])


# VERDICT, Table 2: G-Precision, G-Recall and G-F1 of DtV, DtV without verification, RAC and VERDICT, for three models.
@pytest.mark.parametrize(
    ("precision", "recall", "f1"),
    [
        (83.72, 8.14, 14.84),
        (52.75, 44.43, 48.23),
        (84.27, 17.43, 28.89),
        (61.51, 54.77, 57.94),
        (69.89, 36.55, 48.00),
        (46.25, 52.16, 49.03),
        (76.71, 50.29, 60.75),
        (81.50, 58.04, 67.80),
        (72.34, 29.38, 41.79),
        (51.35, 49.85, 50.59),
        (84.79, 36.57, 51.10),
        (92.82, 57.25, 70.82),
    ],
)
def test_the_g_f1_of_verdict_follows_from_its_precision_and_recall(precision: float, recall: float, f1: float) -> None:
    # One question has readings, the other one only has readings of people.
    rows: list[Row] = [{"grounded_precision": precision, "grounded_recall": 2 * recall}, {"grounded_recall": 0.0}]
    assert summarize(rows)["grounded_f1"].value == pytest.approx(f1, abs=0.03)


def test_a_difference_in_every_pair_is_beyond_chance() -> None:
    pairs: list[tuple[Row, Row]] = [
        ({"coverage": place % 5 / 10, "calls": 21.0}, {"coverage": place % 5 / 10 + 0.1, "calls": 21.0 - place % 2})
        for place in range(60)
    ]
    coverage, calls = compare(pairs)
    assert coverage.difference == pytest.approx(0.1)
    assert coverage.verdict == "better"
    assert (calls.verdict, calls.gain > 0) == ("better", True)
    assert [one.verdict for one in compare([(one, one) for one, _ in pairs])] == ["the same"] * 2
    once = [(first, second if place == 0 else first) for place, (first, second) in enumerate(pairs)]
    assert compare(once)[0].verdict == "may be chance"
