"""The page of evaluations."""

from __future__ import annotations

import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup

from pgclarify.cli.main import app
from pgclarify.evaluated import EvaluationPlan
from pgclarify.evaluation.configurations import read_configurations
from pgclarify.reports.evaluation_page import evaluation_page, repeat
from pgclarify.reports.evaluation_report import EvaluationReport
from tests.evaluated_cases import PLAN, evaluated_case
from tests.reported import AT, HOSTILE, Page, check_page, evaluated, evaluation_report


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


def test_cases_can_be_reached_from_the_lists() -> None:
    page = page_of(evaluation_report(cases=30))
    links = [given["href"] for given in page.all("a") if (given["href"] or "").startswith("#case-")]
    assert len(links) == 20
    assert len([given for given in page.all("details") if given.get("class") == "case"]) == 30


def test_one_evaluation_alone_has_a_page() -> None:
    report = evaluation_report()
    page = page_of(replace(report, members=report.members[:1]))
    assert "★" not in page.text.partition("Metrics of all cases together.")[2].partition("Quality")[0]


def test_cases_of_which_nothing_is_known_have_a_page() -> None:
    given = tuple(evaluated_case(f"case {place}", interpretations=0.0, calls=3.0) for place in range(3))
    page = page_of(EvaluationReport((evaluated(1, given, planned_cases=3),), 2, AT))
    assert "Known answers: none" in page.text
    assert "No reading was given." in page.text
    assert "2 more left out" in page.text


def test_a_case_that_failed_says_why() -> None:
    failed = evaluated_case("one", error="the model is gone", answer_coverage=0.0)
    page = page_of(EvaluationReport((evaluated(1, (failed,)),), 0, AT))
    assert "It failed: the model is gone" in page.text


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        replace(PLAN, method="dtv", settings={}, name="it's"),
        replace(PLAN, settings={"top_k": 20, "retrieval": "adaptive", "ask_back": True}, corpus_name="a; rm -rf $HOME"),
        replace(PLAN, settings={"reranker": "one,two"}),
        replace(PLAN, settings={"reranker": "20"}),
        replace(PLAN, settings={"reranker": ""}),
    ],
)
def test_the_command_makes_the_same_again(plan: EvaluationPlan, tmp_path: Path) -> None:
    again = repeat(plan)
    words = shlex.split(again.command)
    assert words[:4] == ["pgclarify", "eval", "run", "rental.jsonl.jsonl"]
    if again.file is not None:
        assert tomllib.loads(again.file)["options"] == plan.settings
        (tmp_path / "configuration.toml").write_text(again.file)
        words[words.index("configuration.toml")] = str(tmp_path / "configuration.toml")
    (tmp_path / "rental.jsonl").write_text("")
    words[3] = str(tmp_path / "rental.jsonl")
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    inner = group.commands["eval"]
    assert isinstance(inner, TyperGroup)
    given = inner.commands["run"].make_context("run", words[3:]).params
    assert (given["corpus"], given["name"], given["judge"]) == (plan.corpus_name, plan.name, plan.judge)
    (one,) = read_configurations(given["config"] or [], given["grid"] or [], method=given["method"])
    assert (one.method, dict(one.settings)) == (plan.method, dict(plan.settings))
