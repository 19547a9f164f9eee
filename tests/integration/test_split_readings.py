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
    claim,
    decide,
    erase,
    places,
    reading,
    store,
    worker,
)
from tests.integration.manual_worker import ManualWorker
from tests.integration.stored_answers import rows
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "worker"]

SUBMIT = "select pgclarify.submit(%s, options => %s)"
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


def talk(asker: Connection, worker: ManualWorker, connection: Connection, *, is_over: bool) -> list[int]:
    """Choose the secret reading, and reply in words, which a model repeats; go on from both; return the replies."""
    asked = int(scalar(asker, ASK_BACK, CORPUS, "{}"))
    assert worker.start(asked) is not None
    ranks = {row["document_id"]: row["rank"] for row in worker.send("copy_verdicts", run_id=asked, attempt=1)}
    cited = cite(ranks[SECRET], f"Cars of {CANARY}", is_medoid=True)
    side = {
        "ordinal": 1,
        "reformulation": f"{CANARY}?",
        "clarifying_question": f"Is it {CANARY}?",
        "citations": [cited],
    }
    worker.record_results(asked, "clarifying_question", side)
    worker.finish(asked)
    replies = []
    for said in ({"ordinal": 1}, {"reply": "yes"}):
        parent = asked
        for _ in range(2):
            run_id = int(scalar(asker, SUBMIT, "reply", json.dumps({"run_id": parent} | said)))
            replies.append(run_id)
            assert worker.start(run_id) is not None
            store(worker, run_id, claim(worker, run_id, [OPEN], text=f"{run_id}"))
            worker.record_results(run_id, "rewriting", {"rewritten": f"{CANARY}, yes?"})
            if parent != asked and not is_over:
                break
            worker.finish(run_id)
            parent = int(
                scalar(asker, SUBMIT, "clarifying_questions", json.dumps({"reply": run_id, "form": "respond"}))
            )
            assert worker.start(parent) is not None
            again = {"ordinal": 1, "reformulation": f"{CANARY}?", "clarifying_question": f"Which {CANARY}?"}
            worker.record_results(parent, "clarifying_question", again)
            worker.finish(parent)
    return replies


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


@pytest.mark.parametrize("is_over", [True, False])
def test_a_conversation_about_a_reading_is_erased_with_its_document(
    asker: Connection, worker: ManualWorker, connection: Connection, is_over: bool
) -> None:
    replies = talk(asker, worker, connection, is_over=is_over)
    before = {"rewriting.rewritten", "run.settings", "run.question", "completion.reply"}
    assert before <= places(connection)
    assert erase(connection)
    assert places(connection) == set()
    statuses = "select status from pgclarify.run where run_id = any(%s) order by run_id"
    ends = [row["status"] for row in rows(asker, statuses, replies)]
    assert ends == ["succeeded", "succeeded" if is_over else "failed"] * 2
    # Nothing goes on from it.
    assert sqlstate_of(asker, SUBMIT, ["clarifying_questions", json.dumps({"reply": replies[0]})]) == "55000"
