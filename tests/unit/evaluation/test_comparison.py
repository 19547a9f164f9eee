"""Two evaluations, paired: cases, differing settings, warnings, and the cases that changed most."""

from __future__ import annotations

from typing import Any

import pytest

from pgclarify.errors import InputError, NotFound
from pgclarify.evaluated import EvaluatedCase, Evaluation, Usage
from pgclarify.evaluation.comparison import Comparison, compare
from tests.evaluated_cases import evaluated_case, evaluation, reading


def cases(**coverage: float) -> list[EvaluatedCase]:
    return [evaluated_case(name, answer_coverage=value) for name, value in coverage.items()]


def compared(first: list[EvaluatedCase], second: list[EvaluatedCase], **plan: Any) -> Comparison:
    """The second side may have another plan."""
    return compare(evaluation(1), first, evaluation(2, **plan), second)


def told(comparison: Comparison) -> str:
    return " ".join(comparison.warnings)


def test_cases_are_paired_by_their_ids() -> None:
    comparison = compared(cases(a=0.0, b=1.0), cases(b=0.5, a=1.0))
    assert [(pair.first.case_id, pair.difference("answer_coverage")) for pair in comparison.pairs] == [
        ("a", 1.0),
        ("b", -0.5),
    ]
    assert comparison.metric("answer_coverage").difference == pytest.approx(0.25)
    assert comparison.warnings == ()
    assert comparison.differing == ()


def test_what_a_judge_said_has_a_warning_if_the_judge_was_not_measured() -> None:
    judged = [evaluated_case("a", grounded_precision=1.0)]
    assert told(compared(judged, judged, judge="gpt")).count("has not been measured") == 2
    assert "has not been measured" not in told(compared(cases(a=0.0), cases(a=0.0), judge="gpt"))


def test_judgements_that_failed_have_a_warning_for_each_side() -> None:
    judged = [evaluated_case("a", grounded_precision=1.0, unjudged=0.0)]
    failed = [evaluated_case("a", grounded_precision=0.0, unjudged=2.0)]
    assert "2 judgements of B failed" in told(compared(judged, failed))
    assert "of A failed" not in told(compared(judged, failed))


def test_of_other_data_sets_what_both_have_is_compared() -> None:
    comparison = compared(cases(a=0.0, b=1.0), cases(b=0.5, c=1.0), data_set_hash=bytes(32), data_set="other.jsonl")
    assert [pair.first.case_id for pair in comparison.pairs] == ["b"]
    assert "Cases that both have: 1." in told(comparison)
    assert [one.name for one in comparison.differing] == ["data set"]


def test_without_a_common_case_it_is_an_error() -> None:
    with pytest.raises(InputError) as caught:
        compared(cases(a=0.0), cases(c=1.0), data_set_hash=bytes(32))
    assert "eval list" in (caught.value.hint or "")
    with pytest.raises(InputError):
        compared([], [])


def test_one_id_with_another_question_is_another_case() -> None:
    second = [*cases(a=1.0), evaluated_case("b", question="Who else?", answer_coverage=1.0)]
    comparison = compared(cases(a=0.0, b=0.0), second, data_set_hash=bytes(32))
    assert [pair.first.case_id for pair in comparison.pairs] == ["a"]
    assert "another question" in told(comparison)
    with pytest.raises(InputError, match="no case in common") as caught:
        compared(cases(b=0.0), second[1:])
    assert "another question" in (caught.value.detail or "")


def test_settings_that_differ() -> None:
    settings = {"top_k": 10, "consolidation": "conservative", "method": "lexical"}
    comparison = compared(cases(a=0.0), cases(a=0.0), settings=settings, model="large", name="other name")
    assert [(one.name, one.first, one.second) for one in comparison.differing] == [
        ("model", "small", "large"),
        ("option top_k", 20, 10),
        ("option consolidation", None, "conservative"),
        ("option method", None, "lexical"),
    ]


@pytest.mark.parametrize(
    ("plan", "warning"),
    [
        ({"judge": "large"}, "Another judge"),
        ({"judge_version": "lexical-2"}, "Another judge"),
        ({"corpus_revision": 13}, "The corpus has changed"),
        ({"corpus_id": 8}, "different corpora"),
        ({"corpus_id": 0}, "different corpora"),
        ({"corpus_name": "other"}, "different corpora"),
        ({"is_finished": False, "done": 1, "planned_cases": 3}, "B is not finished: it has 1 of 3 cases"),
    ],
)
def test_what_is_not_like_with_like_is_said(plan: dict[str, Any], warning: str) -> None:
    assert warning in told(compared(cases(a=0.0), cases(a=0.0), **plan))


def test_another_model_is_what_one_compares() -> None:
    assert compared(cases(a=0.0), cases(a=0.0), model="large", provider="extractive").warnings == ()


def test_an_evaluation_beside_itself() -> None:
    one = evaluation(1)
    assert "Both are evaluation 1." in told(compare(one, cases(a=0.0), one, cases(a=0.0)))


def test_what_the_ledger_gave_takes_no_seconds() -> None:
    second = [evaluated_case("a", usage=Usage(calls=3, reused_calls=2), answer_coverage=0.0)]
    assert "0 in A, 2 in B" in (compared(cases(a=0.0), second).of_seconds or "")
    assert compared(second, second).of_seconds is None
    assert told(compared(cases(a=0.0), second)) == ""


def test_what_is_known_may_have_changed() -> None:
    second = [evaluated_case("a", known=[["us"]], answer_coverage=0.0)]
    assert "something else is known: 1" in told(compared(cases(a=0.0), second, data_set_hash=bytes(32)))


def test_the_cases_that_changed_most_come_first() -> None:
    three = [reading("Who?", "us"), reading("When?", "now"), reading("Where?", "here")]
    first = [*cases(same=0.5, small=0.5, great=1.0), *(evaluated_case(name, answer_coverage=0.5) for name in "xy")]
    second = [
        *cases(same=0.5, small=0.7, great=0.0),
        evaluated_case("x", three[:1], answer_coverage=0.5),
        evaluated_case("y", three, answer_coverage=0.5),
    ]
    comparison = compared(first, second)

    def most_changed(metric: str, count: int) -> list[str]:
        return [pair.first.case_id for pair in comparison.most_changed(metric, count)]

    assert most_changed("answer_coverage", 9) == ["great", "small", "y", "x"]
    assert most_changed("answer_coverage", 1) == ["great"]
    # If no case has the metric, cases are ordered by their number of readings.
    assert most_changed("grounded_f1", 9) == ["y", "x"]


def test_the_order_of_cases_is_by_the_first_metric_that_single_cases_have() -> None:
    both = compared(cases(a=0.0), cases(a=1.0))
    assert both.order_of_cases() == "answer_coverage"
    assert both.order_of_cases(["grounded_f1", "calls"]) == "answer_coverage"
    ranked = [evaluated_case("a", recall_at_10=0.5, calls=0.0)]
    assert compared(ranked, ranked).order_of_cases() == "recall@10"
    assert compared(ranked, ranked).order_of_cases(["calls", "recall@10"]) == "calls"
    called = [evaluated_case("a", calls=1.0)]
    assert compared(called, called).order_of_cases() == "calls"
    assert compared([evaluated_case("a")], [evaluated_case("a")]).most_changed("answer_coverage", 5) == []


def test_what_is_not_there_is_not_found() -> None:
    comparison = compared(cases(a=0.0), cases(a=0.0))
    assert comparison.pair("a").first.case_id == "a"
    with pytest.raises(NotFound):
        comparison.pair("b")
    with pytest.raises(NotFound) as caught:
        comparison.metric("grounded_f1")
    assert "answer_coverage" in (caught.value.detail or "")


def test_a_metric_is_compared_within_each_stratum() -> None:
    def side(number: int, several: float) -> tuple[Evaluation, list[EvaluatedCase]]:
        kinds = ["several"] * 10 + ["one"] * 4
        return evaluation(number), [
            evaluated_case(
                str(place),
                gold={"strata": [f"answers={kind}"]},
                answer_coverage=several if kind == "several" else 1.0,
            )
            for place, kind in enumerate(kinds)
        ]

    compared = compare(*side(1, 0.0), *side(2, 1.0)).strata("answer_coverage")
    assert [(one.stratum, one.cases) for one in compared] == [("answers=one", 4), ("answers=several", 10)]
    small, large = (one.metric for one in compared)
    assert small is None, "too few cases to say anything"
    assert large is not None
    assert (large.cases, large.difference, large.wins) == (10, 1.0, 10)
    assert compare(*side(1, 0.0), *side(2, 1.0)).strata("grounded_f1")[1].metric is None, "no case has it"
