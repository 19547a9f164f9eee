"""Feedback as a data set, and known wrong answers that come again."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from pgclarify.database.evaluations import EvaluatedCase, Rated
from pgclarify.evaluation.data_sets import read_data_set
from pgclarify.evaluation.feedback import cases_from
from pgclarify.evaluation.records import GoldInterpretation
from pgclarify.evaluation.regressions import regressions

HOW_LONG = "How long is a rental car paid for?"


def rated(rating: str | None, stated: str, **changes: Any) -> Rated:
    """What somebody says of an answer to "rental cars"; a missing answer without a rating."""
    usual: dict[str, Any] = {
        "question": "rental cars", "history": [], "interpretation": HOW_LONG if rating else None,
        "document_ids": ["cars.md"] if rating else [], "is_of_part": False,
    }  # fmt: skip
    return Rated(stated=stated, rating=rating, **(usual | changes))


def test_right_and_missing_answers_are_known_and_wrong_ones_are_known_to_be_wrong(tmp_path: Path) -> None:
    fee = "What does the rental car cost?"
    found = cases_from([
        rated("right", "30 days"), rated("right", "Thirty days.", interpretation="how long is a rental car  paid for?"),
        rated("right", "30 days", document_ids=["faq.md"]), rated("wrong", "12 dollars", interpretation=fee),
        rated("useless", "by car"), rated(None, "13 dollars"), rated(None, "the 30 days"),
        rated("wrong", "Vans.", question="vans"), rated("wrong", "vans", question=" Vans "),
    ])  # fmt: skip
    path = tmp_path / "feedback.jsonl"
    path.write_text("\n".join(map(json.dumps, found.lines)))

    cars, vans = read_data_set(path).cases
    assert cars.interpretations == (
        GoldInterpretation(HOW_LONG, ("30 days", "Thirty days."), ("cars.md", "faq.md")),
        GoldInterpretation(None, ("13 dollars",)),
    )
    assert cars.wrong_answers == ("12 dollars",)
    assert (vans.question, vans.interpretations, vans.wrong_answers) == ("vans", (), ("Vans.", "vans"))
    assert sum(found.unused.values()) == 1


def test_a_follow_up_is_another_question() -> None:
    found = cases_from(
        [rated(None, "9", question="And when?", history=["Who?"]), rated(None, "8", question="And when?")]
    )
    assert [(one.get("history"), one["interpretations"]) for one in found.lines] == [
        (["Who?"], [{"answers": ["9"]}]), (None, [{"answers": ["8"]}]),
    ]  # fmt: skip


def test_the_majority_decides_on_an_answer() -> None:
    for ratings, right, wrong, unused in (
        ("rw", None, None, 2), ("rrw", ["30 days"], None, 1), ("rww", None, ["30 days"], 1),
    ):  # fmt: skip
        found = cases_from([rated("right" if one == "r" else "wrong", "30 days") for one in ratings])
        case = found.lines[0] if found.lines else {}
        known = [one["answers"] for one in case.get("interpretations", [])]
        assert (known, case.get("wrong_answers")) == ([right] if right else [], wrong), ratings
        assert sum(found.unused.values()) == unused, ratings


def test_what_a_right_answer_contains_is_not_known_to_be_wrong() -> None:
    found = cases_from([rated("wrong", "30"), rated("right", "30 days"), rated("wrong", "3")])
    assert found.lines[0]["wrong_answers"] == ["3"]
    assert cases_from([rated("wrong", "13 dollars"), rated(None, "13 dollars")]).lines == []


def test_what_no_case_can_have_is_left_out_and_counted() -> None:
    found = cases_from([rated("useless", "by car"), rated("wrong", "30 days", is_of_part=True), rated("right", "a")])
    assert len(found.lines) == 1
    assert sum(found.unused.values()) == 2


def evaluated(*answers: str | None, wrong: tuple[str, ...] = ("12 dollars",)) -> EvaluatedCase:
    readings = [{"interpretation": HOW_LONG, "answer": answer} for answer in answers]
    return EvaluatedCase(
        1, 1, "cars", "rental cars", {"wrong_answers": wrong}, {"interpretations": readings}, 7, "succeeded", None, {},
        datetime.now().astimezone(),
    )  # fmt: skip


def test_a_regression_is_an_answer_that_is_known_to_be_wrong() -> None:
    found = list(regressions([evaluated("112 dollars", None, "about 12 dollars"), evaluated("12 dollars", wrong=())]))
    assert [(one.case_id, one.answer, one.run_id) for one in found] == [("cars", "about 12 dollars", 7)]
