"""Which questions are asked back about the readings of clarify, if their documents are closed or erased meanwhile."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.integration.erasing import (
    CANARY,
    CORPUS,
    OPEN,
    SECRET,
    alice,
    begin,
    cite,
    decide,
    erase,
    reading,
    worker,
)
from tests.integration.manual_worker import ManualWorker
from tests.integration.stored_answers import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "worker"]

ASK_BACK = "select pgclarify.submit('clarifying_questions', 'cars', %s, %s)"


@pytest.fixture
def asker(alice: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker) -> Connection:
    """A reader of the corpus, for whom clarify has found a reading in each document."""
    asker = connect(make_role("pgclarify_user"))
    alice.execute("select pgclarify.grant_access(%s, %s)", [CORPUS, asker.info.user])
    run_id, ranks = begin(asker, worker)
    decide(worker, run_id, ranks)
    worker.finish(
        run_id,
        interpretations=[
            reading(f"What does {CANARY} cost?", "12", cite(ranks[SECRET], f"Cars of {CANARY}", is_medoid=True)),
            reading("What do cars cost?", "9", cite(ranks[OPEN], "Cars cost 9 dollars.", is_medoid=True)),
        ],
    )
    return asker


def settings(asker: Connection) -> dict[str, Any]:
    run_id = scalar(asker, ASK_BACK, CORPUS, "{}")
    (run,) = rows(asker, "select settings, parent_run_id from pgclarify.run where run_id = %s", run_id)
    assert (run["parent_run_id"] is not None) == (run["settings"]["form"] == "split")
    return dict(run["settings"])


def test_two_readings_are_split_and_the_count_says_that_a_model_may_ask(asker: Connection) -> None:
    assert {"form": "split", "count": 1, "check": "none"}.items() <= settings(asker).items()
    run_id = scalar(asker, ASK_BACK, CORPUS, json.dumps({"form": "split"}))
    assert "count" not in scalar(asker, "select settings from pgclarify.run where run_id = %s", run_id)


@pytest.mark.parametrize("is_erased", [False, True])
def test_a_single_reading_that_is_left_is_not_split(asker: Connection, connection: Connection, is_erased: bool) -> None:
    if is_erased:
        assert erase(connection)
    else:
        connection.execute("update pgclarify_private.document set readers = '{}' where id = %s", [SECRET])
    assert settings(asker)["form"] == "respond"
    assert sqlstate_of(asker, ASK_BACK, [CORPUS, json.dumps({"form": "split"})]) == "55000"
