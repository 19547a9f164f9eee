"""The judges that tables warn of, and that the figures belong to the shipped judge."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pgclarify.evaluated import Summary
from pgclarify.evaluation import judge_warnings
from pgclarify.evaluation.judge_warnings import JudgeFigures, judge_warning, published_figures, unjudged_warnings
from pgclarify.evaluation.lexical_judge import LexicalJudge

STRONG = JudgeFigures("words", "1", claims=100, kappa=0.8, yes_to_right=0.9, yes_to_wrong=0.1)


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> JudgeFigures:
    figures: JudgeFigures = request.param
    monkeypatch.setattr(judge_warnings, "published_figures", lambda: (figures,))
    return figures


def test_the_lexical_judge_was_measured_in_the_version_that_ships() -> None:
    judge = LexicalJudge()
    assert (judge.name, judge.version) in {(one.judge, one.version) for one in published_figures()}


@pytest.mark.parametrize("published", [STRONG, replace(STRONG, kappa=0.6)], indirect=True)
def test_a_judge_that_agrees_with_labels_has_no_warning(published: JudgeFigures) -> None:
    assert judge_warning(published.judge, published.version) is None


@pytest.mark.parametrize("published", [replace(STRONG, kappa=0.59), replace(STRONG, yes_to_wrong=0.34)], indirect=True)
def test_a_weak_judge_has_a_warning_with_its_figures(published: JudgeFigures) -> None:
    warning = judge_warning(published.judge, published.version)
    assert warning is not None
    assert f"{published.kappa:.2f}" in warning
    assert f"{published.yes_to_wrong:.0%}" in warning


@pytest.mark.parametrize("published", [STRONG], indirect=True)
def test_a_judge_that_was_not_measured_has_a_warning(published: JudgeFigures) -> None:
    assert judge_warning(published.judge, "2") is not None
    assert judge_warning("another", published.version) is not None


def test_judgements_that_failed_have_a_warning_with_their_number() -> None:
    def summaries(value: float) -> dict[str, Summary]:
        return {"unjudged": Summary(value, None, None, 20)}

    given = [("words", {}), ("complete", summaries(0.0)), ("one", summaries(0.05)), ("several", summaries(0.15))]
    one, several = unjudged_warnings(given)
    assert one.startswith("1 judgement of one failed")
    assert several.startswith("3 judgements of several failed")
