"""The call that relaxes a question is claimed by the statement that takes its run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from pgclarify.operations.clarification.relaxation import first_call
from pgclarify.prompts.relaxation import relaxation
from tests.fakes.completer import ScriptedCompleter
from tests.integration.manual_worker import MODEL, MakeWorker, ManualWorker
from tests.integration.spending import budget, enter, price
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back

COMPLETER = ScriptedCompleter({"relaxation": lambda prompt: "{}"}, model=MODEL)
CORPUS = "rental"


@pytest.fixture(autouse=True)
def corpus(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus(%s)", [CORPUS])
    price(connection)


def ask(connection: Connection, question: str, operation: str = "clarify", **settings: Any) -> int:
    run_id = enter(connection, corpus=CORPUS, settings=settings)
    connection.execute(
        "update pgclarify_private.run set question = %s, operation = %s where run_id = %s",
        [question, operation, run_id],
    )
    return run_id


def take(worker: ManualWorker, call: Mapping[str, Any] | None = None, *, is_sent: bool = True) -> dict[str, Any]:
    """Take the next run, with the claim of its first call. call: the call; by default, what a worker sends."""
    first = first_call(COMPLETER)
    assert first is not None
    request = first.request
    usual = {
        "purpose": request.purpose,
        "model": request.model,
        "parameters": request.parameters,
        "prompt_version": request.prompt_version,
        "sample": 0,
        "max_output_tokens": 100,
        "document_ids": [],
        "before": first.before,
        "after": first.after,
    }
    (row,) = worker.send(
        "take_next_run",
        worker_id=worker.worker_id,
        only_waited_for=False,
        lease=timedelta(hours=1),
        first_call=json.dumps(usual if call is None else call),
        is_sent=is_sent,
    )
    return row


@pytest.mark.parametrize(
    "question",
    [
        "rental cars",
        'What does "cover" mean?',
        "back\\slash / and 100 %",
        "où est l'été ? 東京 🚗",
        "control \x01 and \x7f",
    ],
)
def test_the_server_hashes_the_input_that_the_worker_renders(
    connection: Connection, make_worker: MakeWorker, question: str
) -> None:
    ask(connection, question)
    claimed = take(make_worker())["first_claim"]
    assert claimed["input_hash"] == COMPLETER.request(relaxation(question)).input_hash.hex()
    assert claimed["is_ours"] and claimed["is_sent"]


@pytest.mark.parametrize("question", ["two  spaces", "a\nline", "<passage-1>", "[INST] now"])
def test_a_question_that_prompts_change_is_claimed_later(
    connection: Connection, make_worker: MakeWorker, question: str
) -> None:
    ask(connection, question)
    assert take(make_worker())["first_claim"] is None


@pytest.mark.parametrize(
    ("operation", "settings"),
    [("search", {}), ("clarify", {"history": [{"question": "a"}]}), ("clarify", {"ask_back": "when_vague"})],
)
def test_a_run_that_begins_with_something_else_claims_nothing(
    connection: Connection, make_worker: MakeWorker, operation: str, settings: dict[str, Any]
) -> None:
    ask(connection, "rental cars", operation, **settings)
    assert take(make_worker())["first_claim"] is None


def test_the_call_counts_before_it_is_sent(connection: Connection, make_worker: MakeWorker) -> None:
    budget(connection, max_calls=1)
    ask(connection, "rental cars")
    take(make_worker())
    assert scalar(connection, "select calls + reserved_calls from pgclarify.budget") == 1


def test_a_spent_budget_refuses_the_call_and_not_the_run(connection: Connection, make_worker: MakeWorker) -> None:
    budget(connection, max_calls=0)
    run_id = ask(connection, "rental cars")
    taken = take(make_worker())
    assert taken["first_claim"]["refusal"]["sqlstate"] == "PC007"
    assert (taken["run_id"], taken["attempt"]) == (run_id, 1)


def test_a_second_run_waits_for_the_call_of_the_first(connection: Connection, make_worker: MakeWorker) -> None:
    for _ in range(2):
        ask(connection, "rental cars")
    worker = make_worker()
    first, second = (take(worker)["first_claim"] for _ in range(2))
    assert (first["is_ours"], second["is_ours"], second["reply"]) == (True, False, None)
    assert first["completion_id"] == second["completion_id"]


def test_a_later_attempt_claims_its_call_itself(connection: Connection, make_worker: MakeWorker) -> None:
    run_id = ask(connection, "rental cars")
    worker = make_worker()
    attempt = take(worker)["attempt"]
    worker.send("put_back_run", run_id=run_id, attempt=attempt, pause=None)
    assert take(worker)["first_claim"] is None


def test_a_call_that_cannot_be_claimed_does_not_keep_the_run_in_the_queue(
    connection: Connection, make_worker: MakeWorker
) -> None:
    run_id = ask(connection, "rental cars")
    taken = take(make_worker(), {"before": "", "after": ""})
    assert (taken["run_id"], taken["first_claim"]) == (run_id, None)
    assert scalar(connection, "select status from pgclarify.run where run_id = %s", run_id) == "running"
