"""Questions of a method, compared with those of people."""

import builtins
from typing import Any

import pytest

from pgclarify.errors import ConfigurationError
from pgclarify.evaluated import Case, Output
from pgclarify.evaluation.texts import check_bleu, compare_texts, compares_texts
from pgclarify.vocabulary import RunStatus
from tests.fakes import FakeEmbedder

CASE = Case(
    "1",
    "When was she born?",
    rewrites=("When was Ida Holm born?", "In which year was the painter born?"),
    clarifying_questions=("do you mean the painter", "which year"),
)


async def compare(*questions: str, method: str, case: Case = CASE, **changes: Any) -> dict[str, float]:
    return await compare_texts(case, Output(questions=questions, **changes), FakeEmbedder(), method=method)


@pytest.mark.parametrize(
    "method", ["rewrite", "rewrite_ambiguous", "always_rewrite", "few_shot", "logistic_regression"]
)
async def test_a_rewrite_is_held_against_the_nearest_of_people(method: str) -> None:
    assert await compare(CASE.rewrites[1], method=method) == {
        "bleu": pytest.approx(1),
        "rewrite_similarity": pytest.approx(1),
    }
    as_it_was = await compare(CASE.question, method=method)
    assert 0 < as_it_was["bleu"] < 1
    assert 0 < as_it_was["rewrite_similarity"] < 1


async def test_questions_are_matched_whatever_their_capitals_and_marks() -> None:
    found = await compare("Do you mean the painter?", method="clarifying_questions")
    assert found["question_precision"] == pytest.approx(1)
    assert 0.4 < found["question_recall"] < 1
    assert found["question_diversity"] == 0
    both = await compare("Which year?", "Do you mean the painter?", method="clarifying_questions")
    assert both["question_f1"] == pytest.approx(1)
    assert both["question_diversity"] > 0.5


@pytest.mark.parametrize("changes", [{}, {"status": RunStatus.FAILED, "error": "x"}])
@pytest.mark.parametrize("method", ["rewrite", "clarifying_questions"])
async def test_nothing_given_is_worth_nothing(method: str, changes: dict[str, Any]) -> None:
    given = [] if not changes else [CASE.rewrites[0]]
    values = await compare(*given, method=method, **changes)
    assert len(values) > 1
    assert {*values.values()} == {0.0}


async def test_what_people_did_not_say_is_not_measured() -> None:
    bare = Case("1", "q")
    assert await compare("A?", method="rewrite", case=bare) == {}
    assert await compare("A?", method="clarifying_questions", case=bare) == {"question_diversity": 0.0}
    assert await compare("A?", method="clarify") == {}


@pytest.mark.parametrize(
    ("method", "case", "expected"),
    [
        ("rewrite", CASE, True),
        ("logistic_regression", CASE, True),
        ("rewrite", Case("1", "q"), False),
        ("clarifying_questions", Case("1", "q"), True),
        ("simulated_user", CASE, False),
    ],
)
def test_what_takes_an_embedding_model(method: str, case: Case, expected: bool) -> None:
    assert compares_texts(method, [Case("0", "q"), case]) is expected


def test_without_sacrebleu_data_with_rewrites_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "sacrebleu":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    check_bleu([CASE])
    monkeypatch.setattr(builtins, "__import__", without)
    check_bleu([Case("1", "q")])
    with pytest.raises(ConfigurationError) as caught:
        check_bleu([Case("1", "q"), CASE])
    assert caught.value.hint
