"""What speaks against comparing two evaluations, and which cases are shown."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pgclarify.cli import comparing
from pgclarify.cli.comparing import Pair, unlike
from pgclarify.database.evaluations import EvaluatedCase, Evaluation

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CONDITIONS = {"corpus_revision": 1, "judge": "lexical", "judge_version": "7"}
ONE = Evaluation(1, "one", "ours.jsonl", b"a", 1, "fees", "clarify", {}, CONDITIONS, 9, 9, {}, "ann", NOW, NOW, True)


def test_evaluations_of_the_same_data_corpus_and_judge_are_alike() -> None:
    assert list(unlike(ONE, replace(ONE, eval_run_id=2, method="search", settings={"top_k": 5}))) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"finished_at": None, "done_cases": 3},
        {"data_set_hash": b"b"},
        {"corpus_id": 2},
        *({"conditions": CONDITIONS | {name: "other"}} for name in CONDITIONS),
    ],
)
def test_each_difference_of_two_evaluations_is_a_warning(changes: dict[str, object]) -> None:
    assert len([*unlike(ONE, replace(ONE, **changes))]) == 1  # type: ignore[arg-type]


def pair(case_id: str, before: float, after: float) -> Pair:
    case = EvaluatedCase(1, 1, case_id, "q", {}, {"interpretations": []}, None, "succeeded", None, {}, NOW)
    return replace(case, figures={"coverage": before}), replace(case, figures={"coverage": after})


def test_the_cases_that_changed_most_come_first_for_better_or_worse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = [pair("better", 0.5, 0.75), pair("same", 1, 1), pair("worse", 1, 0), pair("much better", 0, 0.5)]
    monkeypatch.setattr(comparing, "read", lambda _: ((ONE, ONE), pairs, []))

    comparing.compare("1", "2", cases=2, as_json=True)

    assert [one["case_id"] for one in json.loads(capsys.readouterr().out)["changed"]] == ["worse", "much better"]
