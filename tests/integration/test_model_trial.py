"""Trials of models: one worker makes each, its result counts for runs, and its calls are charged to that worker."""

from __future__ import annotations

import json
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest

from pgclarify.data.model_calls import CompletionRequest
from tests.fakes.completer import Prompt
from tests.fakes.trial_models import careful, script
from tests.integration.manual_worker import ManualWorker
from tests.openai_server import Chat, Reply, Server
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.workers import StartWorker, until

BUDGET_SPENT = "PC007"


@pytest.fixture
def login(make_role: MakeRole) -> str:
    return make_role("pgclarify_worker")


def new_worker(
    connect: Connect, login: str, *, endpoint: str | None = "http://here/v1", **options: Any
) -> ManualWorker:
    worker = ManualWorker(connect(login), **{"provider": "openai", **options})
    if endpoint is not None:
        worker.send(
            "enter_model_trial", worker_id=worker.worker_id, endpoint=endpoint, model="a-model", prompt_version="1"
        )
    return worker


def claims(worker: ManualWorker) -> bool:
    return bool(worker.value("claim_model_trial", worker_id=worker.worker_id))


def end(worker: ManualWorker, passages_per_call: int, *, calls: int = 64) -> bool:
    return bool(
        worker.value(
            "end_model_trial", worker_id=worker.worker_id, passages_per_call=passages_per_call,
            measured=json.dumps([{"passages": 1, "found": 20}]), calls=calls, prompt_tokens=100_000,
            completion_tokens=10_000,
        )
    )  # fmt: skip


def postpone(worker: ManualWorker, error: str) -> bool:
    return bool(
        worker.value(
            "postpone_model_trial", worker_id=worker.worker_id, error=error, pause=timedelta(hours=1), calls=0,
            prompt_tokens=0, completion_tokens=0,
        )
    )  # fmt: skip


def measured(connection: Connection) -> int:
    return int(scalar(connection, "select pgclarify_private.measured_passages_per_call()"))


def trials(connection: Connection) -> list[dict[str, Any]]:
    rows = connection.execute("select to_jsonb(seen) from pgclarify_private.model_trials() as seen").fetchall()
    return [row[0] for row in rows]


def is_due(worker: ManualWorker) -> bool:
    return "model_trials" in worker.value("due_work")


def test_a_model_reads_one_passage_a_call_until_its_trial_is_over(
    connection: Connection, connect: Connect, login: str
) -> None:
    assert measured(connection) == 1
    worker = new_worker(connect, login)
    assert is_due(worker)
    assert claims(worker)
    assert measured(connection) == 1
    assert [one["is_going_on"] for one in trials(connection)] == [True]

    assert end(worker, 16)
    assert measured(connection) == 16
    assert [(one["model"], one["is_going_on"], one["calls"]) for one in trials(connection)] == [("a-model", False, 64)]
    assert not is_due(worker)
    assert not claims(worker)
    assert not end(worker, 20)


def test_a_trial_says_what_its_tokens_cost(connection: Connection, connect: Connect, login: str) -> None:
    connection.execute("insert into pgclarify.model_price (model, input_usd, output_usd) values ('a-model', 0.5, 2)")
    worker = new_worker(connect, login)
    assert claims(worker)
    assert end(worker, 4)
    assert [one["cost_usd"] for one in trials(connection)] == [0.07]
    used = "select operation, model, runs, completions, cost_usd::float from pgclarify.usage"
    assert connection.execute(used).fetchall() == [("model_trial", "a-model", 0, 64, 0.07)]


def test_one_worker_makes_the_trial_and_another_takes_it_over_when_that_one_is_gone(
    connection: Connection, connect: Connect, login: str
) -> None:
    first, second = new_worker(connect, login), new_worker(connect, login)
    assert claims(first)
    assert not claims(second)
    assert not end(second, 8)

    first.die()
    assert claims(second)
    assert end(second, 8)
    assert measured(connection) == 8


def test_a_failed_trial_keeps_nothing_and_is_tried_again_after_a_pause(
    connection: Connection, connect: Connect, login: str
) -> None:
    first, second = new_worker(connect, login), new_worker(connect, login)
    assert claims(first)
    assert postpone(first, "it is down")
    assert measured(connection) == 1
    assert {one["error"] for one in trials(connection)} == {"it is down"}
    assert not end(first, 20)
    assert not is_due(first)
    assert not claims(first)
    assert not claims(second)

    connection.execute("update pgclarify_private.model_trial set due_at = now()")
    assert is_due(second)
    assert claims(second)
    assert {one["error"] for one in trials(connection)} == {None}

    assert postpone(second, "it is down")
    assert scalar(connection, "select due_at > now() + interval '90 minutes' from pgclarify_private.model_trial")


def test_a_worker_that_starts_tries_a_failed_trial_at_once(
    connection: Connection, connect: Connect, login: str
) -> None:
    first = new_worker(connect, login)
    assert claims(first)
    assert postpone(first, "no price")

    second = new_worker(connect, login)
    assert {one["error"] for one in trials(connection)} == {None}
    assert is_due(second)
    assert claims(second)
    # A trial that is going on stays with its worker.
    assert not claims(new_worker(connect, login))


@pytest.mark.parametrize("endpoint", ["http://elsewhere/v1", None])
def test_of_several_models_in_service_the_fewest_passages_count(
    connection: Connection, connect: Connect, login: str, endpoint: str | None
) -> None:
    first = new_worker(connect, login)
    assert claims(first)
    assert end(first, 20)
    assert measured(connection) == 20
    # Of a release that makes no trials, or at an endpoint whose trial is not over.
    other = new_worker(connect, login, endpoint=endpoint)
    assert measured(connection) == 1
    other.die()
    assert measured(connection) == 20


def test_workers_without_a_language_model_do_not_count(connection: Connection, connect: Connect, login: str) -> None:
    first = new_worker(connect, login)
    assert claims(first)
    assert end(first, 20)
    new_worker(connect, login, endpoint=None, provider="extractive")
    new_worker(connect, login, endpoint=None, is_serving=False)
    assert measured(connection) == 20
    assert len(trials(connection)) == 1


def test_without_a_worker_the_last_one_counts(connection: Connection, connect: Connect, login: str) -> None:
    first = new_worker(connect, login)
    assert claims(first)
    assert end(first, 20)
    first.die()
    assert measured(connection) == 20


def test_a_restarted_worker_needs_no_trial(connection: Connection, connect: Connect, login: str) -> None:
    first = new_worker(connect, login)
    assert claims(first)
    assert end(first, 20)
    first.die()
    again = new_worker(connect, login)
    assert not is_due(again)
    assert not claims(again)
    assert measured(connection) == 20


def test_calls_without_a_run_are_charged_to_the_role_of_the_worker(
    connection: Connection, connect: Connect, make_role: MakeRole, login: str
) -> None:
    connection.execute(
        "select pgclarify.set_budget('workers', options => %s::jsonb)",
        [json.dumps({"period": "day", "max_calls": 1, "role": login})],
    )
    worker, other = new_worker(connect, login), new_worker(connect, make_role("pgclarify_worker"))
    claimed = worker.claim_calls(None, ["first"])
    assert [row["is_ours"] for row in claimed] == [True]
    worker.store_replies(None, [claimed[0]["completion_id"]], replies=["{}"], tokens=[(1, 1)], latencies_ms=[1.0])
    assert [row["refusal"]["sqlstate"] for row in worker.claim_calls(None, ["second"])] == [BUDGET_SPENT]
    assert [row["is_ours"] for row in other.claim_calls(None, ["second"])] == [True]


def reads_well(chat: Chat) -> Reply:
    request = SimpleNamespace(purpose="model_trial", sample=0, messages=[SimpleNamespace(content=chat.user)])
    return Reply(script(careful)(Prompt(cast("CompletionRequest", request))))


def test_a_worker_makes_the_trial_of_its_model_once(
    database: str, connection: Connection, make_role: MakeRole, own_model: Server, run_worker: StartWorker
) -> None:
    own_model.behavior = reads_well
    role = make_role("pgclarify_worker")
    worker = run_worker(database, own_model.base_url, user=role, tries_model=True)
    until(lambda: measured(connection) == 20)
    (trial,) = trials(connection)
    assert (own_model.calls, trial["calls"], trial["passages_per_call"]) == (64, 64, 20)
    assert trial["tokens"] > 0
    purposes = "select array_agg(distinct purpose), count(*) from pgclarify_private.completion where reply is not null"
    assert connection.execute(purposes.encode()).fetchone() == (["model_trial"], 64)

    assert worker.stop() == 0
    run_worker(database, own_model.base_url, user=role, tries_model=True)
    assert measured(connection) == 20
    assert "model_trials" not in scalar(connection, "select pgclarify_private.due_work()")
    assert own_model.calls == 64


@pytest.mark.parametrize("what", ["the endpoint", "a budget"])
def test_a_trial_that_is_refused_is_put_off(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker, what: str
) -> None:
    own_model.behavior = reads_well
    if what == "a budget":
        connection.execute('select pgclarify.set_budget(\'all\', options => \'{"period": "day", "max_calls": 0}\')')
    else:
        own_model.behavior = lambda _: Reply.error(401)
    run_worker(database, own_model.base_url, tries_model=True)
    until(lambda: any(one["error"] for one in trials(connection)))
    assert measured(connection) == 1
    assert scalar(connection, "select due_at > now() from pgclarify_private.model_trial")


def test_usage_has_what_a_trial_has_paid_for_before_it_failed(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    def used() -> list[Any]:
        return connection.execute(
            "select completions, prompt_tokens > 0 from pgclarify.usage where operation = 'model_trial'"
        ).fetchall()

    paid = 0

    def fails_at_last(chat: Chat) -> Reply:
        nonlocal paid
        if paid == 7:
            return Reply.error(401)
        paid += 1
        return reads_well(chat)

    own_model.behavior = fails_at_last
    run_worker(database, own_model.base_url, tries_model=True)
    until(lambda: any(one["error"] for one in trials(connection)))
    assert used() == [(7, True)]

    own_model.behavior = reads_well
    connection.execute("update pgclarify_private.model_trial set due_at = now()")
    until(lambda: measured(connection) == 20)
    # Nothing is counted twice.
    assert used() == [(64, True)]


def test_another_worker_goes_on_with_the_trial_of_one_that_was_killed(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    own_model.behavior, own_model.latency = reads_well, 0.2
    first = run_worker(database, own_model.base_url, tries_model=True)
    until(lambda: own_model.calls >= 12)
    first.kill()
    run_worker(database, own_model.base_url, tries_model=True)
    until(lambda: measured(connection) == 20)
    (trial,) = trials(connection)
    # Only calls that were in flight are made once more.
    assert trial["calls"] == 64
    assert own_model.calls <= 64 + 4
