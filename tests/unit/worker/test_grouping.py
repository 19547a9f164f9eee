"""Grouping waits, for a limited time, while there are runs to execute, and for models that cannot be loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from pgclarify.errors import ConfigurationError, EmbeddingError, PgclarifyError
from pgclarify.worker import grouping
from pgclarify.worker.grouping import QuestionGrouping
from tests.fakes import FakeEmbedder

GOOD, BAD = "good", "bad"


class Workplace:
    """A worker's surroundings, with runs to group and a clock that is set by hand.

    Stands for the statement `group_questions`, too: `ungrouped` has the model that is to embed each run's question.
    """

    def __init__(self, ungrouped: dict[int, str]) -> None:
        self.ungrouped = ungrouped
        self.now = 0.0
        self.is_busy = False
        self.is_broken: type[PgclarifyError] | None = None
        self.tried: list[str] = []
        # Whether each run was grouped by meaning.
        self.grouped: dict[int, bool] = {}
        self.grouping = QuestionGrouping(
            None,  # type: ignore[arg-type]  # nobody connects
            self.embedder,
            asyncio.Lock(),
            is_busy=lambda: self.is_busy,
            clock=lambda: self.now,
        )

    async def embedder(self, model: str) -> FakeEmbedder:
        self.tried.append(model)
        if model == BAD and self.is_broken is not None:
            raise self.is_broken(f"model {model} cannot be had")
        return FakeEmbedder()

    async def fetch(
        self,
        _pool: object,
        _name: str,
        *,
        most: int,
        run_ids: Sequence[int],
        vectors: Sequence[str | None],
        skipped_models: Sequence[str],
    ) -> list[dict[str, Any]]:
        assert most > 0
        for run_id, vector in zip(run_ids, vectors, strict=True):
            del self.ungrouped[run_id]
            self.grouped[run_id] = vector is not None
        wanted = {run_id: model for run_id, model in self.ungrouped.items() if model not in skipped_models}
        return [
            {
                "grouped": len(run_ids),
                "wanted_run_ids": list(wanted),
                "wanted_questions": [f"question {run_id}" for run_id in wanted],
                "wanted_models": list(wanted.values()),
            }
        ]


@pytest.fixture
def workplace(monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """Two runs, of a good and a bad model."""
    made = Workplace({1: BAD, 2: GOOD})
    monkeypatch.setattr(grouping, "fetch", made.fetch)
    return made


async def test_runs_come_first_but_not_for_ever(workplace: Workplace) -> None:
    workplace.is_busy = True
    workplace.now = 1000
    await workplace.grouping.catch_up()
    workplace.now = 1299
    await workplace.grouping.catch_up()
    assert workplace.grouped == {}

    workplace.now = 1300
    await workplace.grouping.catch_up()
    assert workplace.grouped == {1: True, 2: True}

    workplace.ungrouped[3] = GOOD
    await workplace.grouping.catch_up()
    assert 3 not in workplace.grouped, "it has only caught up now"

    workplace.is_busy = False
    await workplace.grouping.catch_up()
    assert workplace.grouped[3]


@pytest.mark.parametrize("error", [EmbeddingError, ConfigurationError])
async def test_a_model_that_cannot_be_had_holds_up_no_other_and_is_waited_for(
    workplace: Workplace, error: type[PgclarifyError]
) -> None:
    workplace.is_broken = error
    await workplace.grouping.catch_up()
    await workplace.grouping.catch_up()
    assert workplace.grouped == {2: True}
    assert workplace.tried == [BAD, GOOD], "it is not tried again at once"

    workplace.now = 60
    await workplace.grouping.catch_up()
    assert workplace.tried == [BAD, GOOD, BAD]

    workplace.is_broken = None
    workplace.now = 120
    await workplace.grouping.catch_up()
    assert workplace.grouped == {2: True, 1: True}


async def test_words_do_if_a_model_is_not_there_for_long(workplace: Workplace) -> None:
    workplace.is_broken = EmbeddingError
    await workplace.grouping.catch_up()
    workplace.now = 900
    await workplace.grouping.catch_up()
    assert workplace.grouped == {2: True, 1: False}

    workplace.ungrouped[3] = BAD
    await workplace.grouping.catch_up()
    assert (workplace.grouped[3], workplace.tried.count(BAD)) == (False, 2), "this model was tried just now"

    workplace.is_broken = None
    workplace.now = 960
    workplace.ungrouped[4] = BAD
    await workplace.grouping.catch_up()
    assert workplace.grouped[4]
