"""The page of evaluations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pgclarify.evaluated import Summary
from pgclarify.reports.evaluation_page import evaluation_page
from pgclarify.reports.evaluation_report import EvaluationReport
from tests.evaluated_cases import evaluated_case
from tests.reported import HOSTILE, Page, case, check_page, evaluated, evaluation_report, report_of


def page_of(report: EvaluationReport) -> Page:
    page = Page(evaluation_page(report))
    check_page(page)
    return page


@pytest.mark.parametrize("text", ["", HOSTILE], ids=["plain", "hostile"])
def test_all_that_evaluations_came_to_is_told(text: str) -> None:
    page = page_of(evaluation_report(text))
    for told in ("answer coverage", "grounded f1", "worse", "Not finished", "pgclarify report 17", "other"):
        assert told in page.text
    titles = [title for title in page.titled if title]
    for told in (
        "Answer coverage against calls",
        "Answer coverage against tokens",
        "Grounded precision against grounded",
    ):
        assert any(told in title for title in titles)


def test_hostile_text_is_shown_and_does_nothing() -> None:
    page = page_of(evaluation_report(HOSTILE))
    assert "<script>window.__pwned = 1</script>" in page.text
    assert "{{ 7 * 7 }}" in page.text
    assert "__pwned" not in page.parts["script"] + page.parts["style"]
    page.html.encode()


def test_a_judge_that_was_not_measured_has_a_warning() -> None:
    assert "has not been measured" in page_of(evaluation_report()).text


def test_judgements_that_failed_are_counted() -> None:
    report = evaluation_report()
    first, *others = report.members
    first = replace(first, summaries={**first.summaries, "unjudged": Summary(0.5, None, None, 6)})
    told = page_of(replace(report, members=(first, *others))).text
    assert "3 judgements of clarify failed." in told


def table_of_metrics(page: Page) -> str:
    return page.text.partition("Metrics of all cases together.")[2].partition("Quality")[0]


@pytest.mark.parametrize("text", ["", HOSTILE], ids=["plain", "hostile"])
def test_strata_stand_behind_the_whole(text: str) -> None:
    given = tuple(case(place, 0.5) for place in (1, 2))

    def strata(coverage: float) -> dict[str, dict[str, Summary]]:
        large = {"answer_coverage": Summary(coverage, 0.125, 0.875, 8), "calls": Summary(7.0, None, None, 9)}
        return {f"kind={text}": large, "hops=3": {"answer_coverage": Summary(0.375, None, None, 4)}}

    members = [replace(evaluated(number, given), strata=strata(number / 10)) for number in (1, 2)]
    page = page_of(report_of(*((member, given) for member in members)))
    _, _, below = page.text.partition("Answer coverage by stratum.")
    summary, details, _ = below.partition("all metrics of 9 cases")
    assert details
    assert "0.10" in summary
    assert "0.20" in summary
    assert "0.12 to 0.88" in summary
    assert "of 8 cases" in summary
    assert "0.38" not in below, "too few cases"
    assert "hops=3" in summary
    assert "by stratum" not in page_of(evaluation_report()).text


def test_the_best_and_what_is_worse_are_marked() -> None:
    table = table_of_metrics(page_of(evaluation_report()))
    coverage = table.partition("answer coverage")[2].partition("grounded")[0]
    assert (coverage.count("▼"), coverage.count("★")) == (1, 1)


def test_what_cannot_be_compared_is_said() -> None:
    given = tuple(case(place, 0.5) for place in (1, 2))
    plans: list[dict[str, Any]] = [{}, {"judge": "gpt"}, {"corpus_revision": 13}, {"corpus_id": 8}, {"judge": "gpt"}]
    page = page_of(report_of(*((evaluated(place, given, **plan), given) for place, plan in enumerate(plans, start=1))))
    said = [line for line in page.text.splitlines() if "compared with" in line]
    for line, numbers, told in zip(said, ("25", "3", "4"), ("Another judge", "has changed", "corpora"), strict=True):
        assert all(f"{number}. configuration {number}" in line.partition("compared with")[0] for number in numbers)
        assert told in line.partition("compared with")[2]
    assert "compared with" not in page_of(evaluation_report()).text.partition("Metrics")[0]


def test_cases_can_be_reached_from_the_lists() -> None:
    page = page_of(evaluation_report(cases=30))
    links = [given["href"] for given in page.all("a") if (given["href"] or "").startswith("#case-")]
    assert len(links) == 20
    assert len([given for given in page.all("details") if given.get("class") == "case"]) == 30


def test_under_each_listed_question_stands_what_every_evaluation_gave() -> None:
    report = evaluation_report(cases=30)
    page = page_of(report)
    assert len([given for given in page.all("dl") if given.get("class") == "rows"]) == 20
    first = page.text.partition("Worst cases")[2].rpartition("Worst cases")[2].partition("case 2")[0]
    assert [f"{one.number}. {one.evaluation.plan.name}" in first for one in report.members] == [True] * 3


def test_a_metric_that_not_all_cases_have_says_so() -> None:
    whole = case(1, 0.5)
    lacking = replace(case(2, 0.5), values={"calls": 3.0})
    table = table_of_metrics(page_of(report_of((evaluated(1, (whole, lacking)), (whole, lacking)))))
    assert "of 1 case" in table.partition("answer coverage")[2].partition("grounded")[0]
    assert "of" not in table.partition("calls")[2].partition("prompt")[0]


def test_one_evaluation_alone_has_a_page() -> None:
    report = evaluation_report()
    page = page_of(replace(report, members=report.members[:1]))
    assert "★" not in table_of_metrics(page)


def test_cases_of_which_nothing_is_known_have_a_page() -> None:
    given = tuple(
        replace(evaluated_case(f"case {place}", interpretations=0.0, calls=3.0), ordinal=place) for place in range(3)
    )
    page = page_of(report_of((evaluated(1, given, planned_cases=3), given), left_out=2))
    assert "Known answers: none" in page.text
    assert "No reading was given." in page.text
    assert "2 more left out" in page.text


def test_questions_of_a_dialogue_are_shown() -> None:
    rewritten = evaluated_case("one", bleu=0.5)
    given = (replace(rewritten, output={**rewritten.output, "questions": [f"Where was Ida Holm born?{HOSTILE}"]}),)
    page = page_of(report_of((evaluated(1, given), given)))
    assert "Where was Ida Holm born?" in page.text
    assert "No reading was given." not in page.text


def test_a_case_that_failed_says_why() -> None:
    failed = evaluated_case("one", error="the model is gone", answer_coverage=0.0)
    page = page_of(report_of((evaluated(1, (failed,)), (failed,))))
    assert "It failed: the model is gone" in page.text
