"""The columns and the constant rows of the papers' tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from benchmarks.papers import Data, Make, Scored
from benchmarks.papers.at_cot import no_question, ranking, templates
from benchmarks.papers.rewrite import DETECTORS, Detection, accuracy, f1_over_seeds
from benchmarks.papers.scores import right, right_and_grounded, strict
from benchmarks.papers.verdict import (
    density_groups,
    exact,
    known_readings,
    our_groups,
    read_in_noise,
    right_where_answered,
)
from pgclarify.database.evaluations import EvaluatedCase
from pgclarify.evaluation.data_sets import DataSet
from pgclarify.evaluation.records import Case, GoldInterpretation, Output, PredictedInterpretation

READINGS = (GoldInterpretation(None, ("Ida Holm",)), GoldInterpretation(None, ("Ada Berg",)))
QUEEN = Case("queen", "Who played the queen?", READINGS, (), ("Eva Lund",), ("film", "series"))


def stored(figures: Mapping[str, float] | None = None, **output: object) -> EvaluatedCase:
    known = {"questions": [], "interpretations": [], **output}
    return EvaluatedCase(
        1, 1, "queen", "?", {}, known, None, "succeeded", None, figures or {}, datetime(2026, 11, 30, tzinfo=UTC)
    )


def reading(answer: str | None, document: str, *, is_grounded: bool = True) -> dict[str, Any]:
    return {"answer": answer, "is_grounded": is_grounded, "citations": [{"document_id": document}]}


def test_a_planted_answer_is_grounded_and_not_right() -> None:
    given = [reading("Ida Holm", "film"), reading("Ada Berg", "series", is_grounded=False), reading("Eva Lund", "fake")]
    case = stored(interpretations=given)
    assert right(QUEEN, case) == pytest.approx(2 / 3)
    assert right_and_grounded(QUEEN, case) == pytest.approx(1 / 3)


def test_a_question_without_readings_has_no_share_of_right_ones() -> None:
    assert right(QUEEN, stored()) is None
    assert right_and_grounded(QUEEN, stored()) is None


@pytest.mark.parametrize(
    ("answers", "is_exact"),
    [
        (["Ida Holm", "the actress Ada Berg"], 1),
        (["Ida Holm"], 0),
        (["Ida Holm", "Ada Berg", "Eva Lund"], 0),
        (["Ida Holm", "Ada Berg", "Una Dahl"], 1),
        ([], 0),
    ],
)
def test_an_exact_match_has_all_right_answers_and_no_wrong_one(answers: Sequence[str], is_exact: float) -> None:
    assert strict(QUEEN, stored(interpretations=[reading(one, "film") for one in answers])) == is_exact


def test_there_is_no_exact_match_where_no_wrong_answer_is_known() -> None:
    case = Case("fee", "What is the fee?", (GoldInterpretation(None, ("40 euros",)),))
    scored = Scored(cast(Any, None), cast(Any, None), cast(Any, None), [(case, stored())])

    async def computed() -> Sequence[object]:
        return await exact(scored)

    assert asyncio.run(computed()) == [None]


def test_what_is_read_where_a_document_answers_and_in_noise() -> None:
    retrieved = [{"document_id": one} for one in ("film", "series", "poem", "song", "fake")]
    given = [reading("Ida Holm", "film"), reading("a poet", "series"), reading("a rose", "poem")]
    case = stored(interpretations=given, retrieved=retrieved)
    assert right_where_answered(QUEEN, case) == 0.5

    lines = {"queen": {"noise": ["poem", "song", "not retrieved"]}}
    data = Data(Path(), DataSet("ramdocs", (QUEEN,), 1), lines, {})
    scored = Scored(cast(Any, None), data, cast(Any, None), [(QUEEN, case)])
    assert asyncio.run(read_in_noise(scored)) == [0.5]


def test_people_give_the_readings_that_they_know() -> None:
    output = known_readings(QUEEN)
    assert [one.answer for one in output.readings] == ["Ida Holm", "Ada Berg"]


def test_noise_is_dropped_or_kept_as_readings_of_their_own() -> None:
    vectors = np.eye(3, 8, dtype=np.float32)[[0, 0, 0, 1]]
    assert density_groups(vectors) == [0]
    assert density_groups(vectors, keeps_noise=True) == [0, 3]


def test_our_groups_keep_what_one_passage_says() -> None:
    found = [
        PredictedInterpretation("Who was the queen of the film?", "Ida Holm"),
        PredictedInterpretation("Who was the queen of the film?", "Ida Holm"),
        PredictedInterpretation("Who was the queen of the series?", "Ada Berg"),
    ]
    assert our_groups(found, np.eye(2, 8, dtype=np.float32)[[0, 0, 1]]) == [0, 2]


def scored_labels(*rows: tuple[bool, Sequence[bool]]) -> Scored:
    """Questions with what people call them, and what each detector calls them."""
    pairs = [
        (QUEEN, stored({"label": label, "called": called[0]}, notes={"called": list(called)})) for label, called in rows
    ]
    return Scored(cast(Any, None), cast(Any, None), cast(Any, None), pairs)


def values_of(scored: Scored, over: Callable[..., Any]) -> float | None:
    async def computed() -> float | None:
        column = f1_over_seeds("F1", over)
        values = [one for one in await column.of(scored) if one is not None]
        return float(column.statistic(np.array(values)[None])[0]) if values else None

    return asyncio.run(computed())


def test_f1_of_several_networks_is_their_mean_beside_the_worst_and_the_best() -> None:
    scored = scored_labels((True, [True, False]), (True, [True, True]), (False, [False, False]))
    assert values_of(scored, np.mean) == pytest.approx((1 + 2 / 3) / 2)
    assert values_of(scored, np.min) == pytest.approx(2 / 3)
    assert values_of(scored, np.max) == 1
    assert [accuracy(*pair) for pair in scored.pairs] == [0.5, 1, 1]


def test_a_single_detector_has_neither_worst_nor_best() -> None:
    scored = scored_labels((True, [True]), (False, [True]))
    assert values_of(scored, np.mean) == pytest.approx(2 / 3)
    assert values_of(scored, np.min) is None


def test_constants_detect_without_reading_the_question() -> None:
    async def called(case: Case) -> list[bool | None]:
        data = cast(Data, None)
        detectors = [await DETECTORS[name](data) for name in ("always", "never", "after the first")]
        return [(await Detection(one).answer(case)).is_ambiguous for one in detectors]

    assert asyncio.run(called(QUEEN)) == [True, False, False]
    asked_later = Case("she", "Where was she born?", history=("Who played the queen?",))
    assert asyncio.run(called(asked_later)) == [True, False, True]


def made(make: Make, data: Data, settings: Mapping[str, Any]) -> Output:
    """What a method that asks nothing gives for QUEEN."""

    async def answer() -> Output:
        return await (await make(cast(Any, None), data, settings)).answer(QUEEN)

    return asyncio.run(answer())


def test_templates_hold_the_query() -> None:
    output = made(templates, cast(Any, None), {"templates": ["QUERY", "Do you mean QUERY"]})
    assert output.questions == ("Who played the queen?", "Do you mean Who played the queen?")


def test_a_published_ranking_is_given_as_it_is() -> None:
    data = Data(Path(), DataSet("dl-hard", (QUEEN,), 1), {"queen": {"rankings": {"BM25": ["poem", "film"]}}}, {})
    output = made(ranking, data, {"name": "BM25"})
    assert [one.document_id for one in output.retrieved] == ["poem", "film"]


def test_a_bracket_is_no_question() -> None:
    written = ["Which fee?", "Do you mean the harbor (as in a port)? Say so", "{", ""]
    assert no_question(QUEEN, stored(questions=written)) == 0.5
    # The query that a conversation ends in is searched with.
    assert no_question(QUEEN, stored(questions=["fee"], retrieved=[{"document_id": "film"}])) is None
