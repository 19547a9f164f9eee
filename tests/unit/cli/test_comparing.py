"""What speaks against comparing two evaluations."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from pgclarify.cli.comparing import unlike
from pgclarify.database.evaluations import Evaluation

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
