"""Runs whose calls go through the endpoint's batch API."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.openai_server import MODEL, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import StartWorker, until, wait, wait_until_searchable

TOP_K = 6


def submit(connection: Connection, *questions: str) -> list[int]:
    """Submit questions for a batch, and return the ids of their runs."""
    options = f'{{"batch": true, "top_k": {TOP_K}}}'
    return list(
        scalar(connection, "select pgclarify.submit_many('clarify', %s, options => %s)", list(questions), options)
    )


def set_price(connection: Connection) -> None:
    connection.execute(
        "insert into pgclarify.model_price (model, input_usd, output_usd) values (%s, 2, 8) on conflict do nothing",
        [MODEL],
    )


def set_budget(connection: Connection, **options: object) -> None:
    connection.execute("select pgclarify.set_budget('batches', options => %s)", [json.dumps(options)])


def stored(connection: Connection) -> int:
    """How many replies of batches are in the ledger."""
    return int(scalar(connection, "select count(*) from pgclarify_private.completion where is_batched"))


@pytest.fixture
def batching(model: Server) -> Iterator[Server]:
    """The service's model, which loses its batches before each test."""
    model.batches.forget()
    yield model
    model.batches.forget()


@contextmanager
def held(model: Server) -> Iterator[None]:
    """Let no batch end in the block."""
    model.batches.is_held = True
    try:
        yield
    finally:
        model.batches.is_held = False


def test_many_questions_are_one_batch_at_half_the_price(superuser: Connection, batching: Server) -> None:
    set_price(superuser)
    single = scalar(
        superuser, "select pgclarify.submit('clarify', 'asked at once', options => %s)", f'{{"top_k": {TOP_K}}}'
    )
    wait(superuser, [single])
    before = batching.calls

    run_ids = submit(superuser, "left to a batch 1", "left to a batch 2")

    assert wait(superuser, run_ids) == ["succeeded"] * 2
    assert (len(batching.batches.batches), batching.batches.calls) == (1, 2 * TOP_K)
    assert batching.calls == before
    seen = "select completions, batched_completions, reused_completions, cost_usd, batch_saved_usd from pgclarify.run"
    made, batched, reused, cost, saved = superuser.execute(
        f"{seen} where run_id = %s".encode(), [run_ids[0]]
    ).fetchone()  # type: ignore[misc]
    assert (made, batched, reused) == (TOP_K, TOP_K, 0)
    full = scalar(superuser, "select cost_usd from pgclarify.run where run_id = %s", single)
    assert float(cost + saved) == pytest.approx(float(full), rel=0.1)
    assert saved > full * 4 / 10
    assert batching.batches.files == {}, "they have texts of documents"


def test_a_run_tells_that_it_waits_for_a_batch_and_what_that_saved(superuser: Connection, batching: Server) -> None:
    set_price(superuser)

    def explained() -> str:
        return "\n".join(line for (line,) in superuser.execute("select pgclarify.explain(%s)", [run_id]).fetchall())

    with held(batching):
        (run_id,) = submit(superuser, "told")
        until(lambda: f"0 are not sent yet, {TOP_K} are sent" in explained(), 60)
        assert scalar(superuser, "select status from pgclarify.run where run_id = %s", run_id) == "queued"
        assert scalar(superuser, "select oldest_queued_seconds from pgclarify.queue_status") == 0
    assert wait(superuser, [run_id]) == ["succeeded"]
    assert scalar(superuser, "select batched_completions from pgclarify.run where run_id = %s", run_id) == TOP_K
    assert " by batches" in explained()


def test_calls_that_a_batch_refuses_are_made_one_by_one(superuser: Connection, batching: Server) -> None:
    refused: list[Chat] = []

    def refuse_two(chat: Chat) -> Reply:
        if chat.purpose == "verdict" and len(refused) < 2:
            refused.append(chat)
            return Reply.error(400, "too long for a batch")
        return by_rules(chat)

    batching.behavior = refuse_two
    before = batching.calls

    run_ids = submit(superuser, "refused")

    assert wait(superuser, run_ids) == ["succeeded"]
    assert (batching.batches.calls, batching.calls - before) == (TOP_K - 2, 2)


def test_without_a_batch_api_calls_are_made_one_by_one(superuser: Connection, batching: Server) -> None:
    batching.batches.is_missing = True
    before = batching.calls

    assert wait(superuser, submit(superuser, "no batch api")) == ["succeeded"]

    assert batching.calls - before == TOP_K


def test_a_batch_that_the_endpoint_has_no_room_for_waits(superuser: Connection, batching: Server) -> None:
    batching.batches.failure = "token_limit_exceeded"
    before = batching.calls
    run_ids = submit(superuser, "no room")
    postponed = "select count(*) from pgclarify_private.batch_request where ready_at > now()"
    until(lambda: scalar(superuser, postponed) == TOP_K, 60)

    superuser.execute("update pgclarify_private.batch_request set ready_at = now() - interval '1 minute'")

    assert wait(superuser, run_ids) == ["succeeded"]
    assert (batching.batches.calls, batching.calls - before) == (TOP_K, 0)
    assert len(batching.batches.batches) == 1 + 2, "the refused one, and its halves"


def test_a_batch_that_the_endpoint_does_not_know_for_an_hour_is_given_up(
    superuser: Connection, batching: Server
) -> None:
    with held(batching):
        run_ids = submit(superuser, "forgotten by the endpoint")
        until(lambda: scalar(superuser, "select remote_id from pgclarify_private.batch"), 60)
        batching.batches.batches.clear()
        due_at = "select due_at from pgclarify_private.batch"
        looked = scalar(superuser, due_at)
        until(lambda: scalar(superuser, due_at) != looked, 60)
        assert scalar(superuser, "select count(*) from pgclarify_private.batch") == 1
        before = batching.calls
        superuser.execute("update pgclarify_private.batch set created_at = now() - interval '1 hour', due_at = now()")

        assert wait(superuser, run_ids) == ["succeeded"]
    assert batching.calls - before == TOP_K


def test_cancelling_the_runs_cancels_their_batch(superuser: Connection, batching: Server) -> None:
    with held(batching):
        run_ids = submit(superuser, "cancelled 1", "cancelled 2")
        until(lambda: batching.batches.batches, 60)
        assert scalar(superuser, "select pgclarify.cancel(%s)", run_ids) == 2
        until(lambda: [one["status"] for one in batching.batches.batches.values()] == ["cancelled"], 60)
        until(lambda: scalar(superuser, "select count(*) from pgclarify_private.batch_request") == 0, 60)
    assert scalar(superuser, "select count(*) from pgclarify_private.batch") == 0


def test_a_question_for_a_batch_is_served_from_an_equal_one_without(superuser: Connection, batching: Server) -> None:
    single = scalar(
        superuser, "select pgclarify.submit('clarify', 'asked twice', options => %s)", f'{{"top_k": {TOP_K}}}'
    )
    wait(superuser, [single])

    assert submit(superuser, "asked twice") == [single]
    assert batching.batches.calls == 0


def test_a_batch_is_reserved_in_budgets_until_it_is_read(superuser: Connection, batching: Server) -> None:
    set_price(superuser)
    set_budget(superuser, max_cost_usd=1, max_calls=1000, period="total")
    spent = "select spent_usd, calls, reserved_usd, reserved_calls from pgclarify.budget where name = 'batches'"
    try:
        with held(batching):
            run_ids = submit(superuser, "reserved 1", "reserved 2")
            until(lambda: batching.batches.batches, 60)
            _, calls, reserved_usd, reserved_calls = superuser.execute(spent.encode()).fetchone()  # type: ignore[misc]
            assert (calls, reserved_calls) == (0, 2 * TOP_K)
        assert wait(superuser, run_ids) == ["succeeded"] * 2
        cost = scalar(superuser, "select sum(cost_usd) from pgclarify.run where run_id = any(%s)", run_ids)
        assert superuser.execute(spent.encode()).fetchone() == (cost, 2 * TOP_K, 0, 0)
        assert reserved_usd > cost / 2

        set_budget(superuser, max_calls=2 * TOP_K + 3)
        (run_id,) = submit(superuser, "beyond the budget")
        # Calls without room in the budget are tried again after half a minute, and then given up.
        hurry = "update pgclarify_private.batch_request set ready_at = now() where ready_at > now()"
        status = "select status from pgclarify.run where run_id = %s"
        until(lambda: superuser.execute(hurry) and scalar(superuser, status, run_id) == "partial", 60)
        assert scalar(superuser, "select stop_code from pgclarify.run where run_id = %s", run_id) == "budget"
        assert scalar(superuser, "select calls from pgclarify.budget where name = 'batches'") == 2 * TOP_K + 3
    finally:
        superuser.execute("select pgclarify.remove_budget('batches')")


def test_a_batch_that_was_never_sent_holds_no_budget_when_its_runs_are_cancelled(
    superuser: Connection, batching: Server
) -> None:
    set_budget(superuser, max_calls=1000, period="total")
    reserved = "select reserved_calls from pgclarify.budget where name = 'batches'"
    batching.batches.is_down = True
    try:
        run_ids = submit(superuser, "never sent")
        until(lambda: scalar(superuser, reserved) == TOP_K, 60)
        scalar(superuser, "select pgclarify.cancel(%s)", run_ids)
        # A batch that could not be sent waits for a minute.
        hurry = "update pgclarify_private.batch set due_at = now() where leased_by is null and due_at > now()"
        until(lambda: superuser.execute(hurry) and scalar(superuser, reserved) == 0, 60)
    finally:
        superuser.execute("select pgclarify.remove_budget('batches')")
    assert scalar(superuser, "select count(*) from pgclarify_private.batch_request") == 0


def test_calls_without_room_in_a_budget_let_others_go_first(superuser: Connection, batching: Server) -> None:
    set_budget(superuser, max_calls=TOP_K + 2, period="total")
    postponed = """
        select count(*) from pgclarify_private.batch_request
        where batch_id is null and not is_over and ready_at > now() + interval '30 seconds'
    """
    try:
        with held(batching):
            first = submit(superuser, "takes most of the room")
            until(lambda: batching.batches.batches, 60)
            second = submit(superuser, "finds room for two")
            until(lambda: scalar(superuser, postponed) == TOP_K - 2, 60)
        assert wait(superuser, first) == ["succeeded"]
        scalar(superuser, "select pgclarify.cancel(%s)", second)
    finally:
        superuser.execute("select pgclarify.remove_budget('batches')")


def test_text_of_a_document_that_is_erased_is_not_kept_for_a_batch(superuser: Connection, batching: Server) -> None:
    superuser.execute("select pgclarify.create_corpus('erased')")
    superuser.execute(
        "select pgclarify.add_document('erased', 'd', 'A secret sentence that is long enough to be read.')"
    )
    wait_until_searchable(superuser, "erased")
    with held(batching):
        run_id = scalar(superuser, "select pgclarify.submit('clarify', 'what', 'erased', '{\"batch\": true}')")
        until(lambda: batching.batches.batches, 60)
        superuser.execute("select pgclarify.erase_document('erased', 'd')")
        kept = "select count(*) from pgclarify_private.batch_request where request like '%%secret%%'"
        assert scalar(superuser, kept) == 0
    assert wait(superuser, [run_id]) == ["succeeded"]
    assert scalar(superuser, "select count(*) from pgclarify_private.completion where reply like '%%secret%%'") == 0


def test_a_batch_is_for_fixed_retrieval(superuser: Connection) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        superuser.execute(
            """select pgclarify.submit('clarify', 'q', options => '{"batch": true, "retrieval": "adaptive"}')"""
        )


@pytest.mark.loaded
def test_sigkill_at_each_step_of_a_batch_loses_nothing_and_pays_nothing_twice(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    api = own_model.batches
    set_price(connection)
    set_budget(connection, max_cost_usd=1, max_calls=1000, period="total")
    alive = run_worker(database, own_model.base_url)
    wait_until_searchable(connection)
    api.stops_at = "file"
    run_ids = submit(connection, *(f"question {number}" for number in range(4)))
    calls = 4 * TOP_K

    # Uploaded; created at the endpoint, which the worker does not know; over; read, but not stored.
    for step, following in (("file", "batch"), ("batch", "look"), ("look", "content"), ("content", None)):
        until(lambda: api.stopped, 60)
        alive.kill()
        api.stops_at, api.stopped = following, False
        if step == "content":
            # The replies are stored in pieces; the last one waits for this lock.
            last = "select min(completion_id) from pgclarify_private.batch_request"
            locking = psycopg.connect(database)
            locking.execute(
                f"select from pgclarify_private.completion where completion_id = ({last}) for update".encode()
            )
        alive = run_worker(database, own_model.base_url)
        assert (len(api.batches), stored(connection)) == (0 if step == "file" else 1, 0) or step in ("batch", "content")
    until(lambda: stored(connection) >= calls - 5, 60)
    alive.kill()
    assert 0 < stored(connection) < calls
    locking.close()
    run_worker(database, own_model.base_url)

    assert wait(connection, run_ids) == ["succeeded"] * 4
    assert (len(api.batches), api.calls, stored(connection)) == (1, calls, calls)
    assert (own_model.calls, own_model.stats["repeated_inputs"]) == (0, 0)
    cost = scalar(connection, "select sum(cost_usd) from pgclarify_private.completion")
    spent = "select spent_usd, calls, reserved_calls from pgclarify.budget"
    assert connection.execute(spent.encode()).fetchone() == (cost, calls, 0)
    until(lambda: scalar(connection, "select count(*) from pgclarify_private.batch_request") == 0, 60)


@pytest.mark.loaded
def test_runs_whose_batch_no_worker_serves_any_more_go_on(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    alive = run_worker(database, own_model.base_url)
    wait_until_searchable(connection)
    set_budget(connection, max_calls=1000, period="total")
    own_model.batches.is_held = True
    run_ids = submit(connection, "left alone")
    until(lambda: scalar(connection, "select remote_id from pgclarify_private.batch"), 60)
    sent = int(scalar(connection, "select count(*) from pgclarify_private.batch_request"))
    alive.kill()
    connection.execute("update pgclarify_private.batch set created_at = now() - interval '27 hours'")

    # Its language model has no batch API.
    run_worker(database)

    assert wait(connection, run_ids) == ["succeeded"]
    assert scalar(connection, "select count(*) from pgclarify_private.batch") == 0
    # The endpoint may charge for what it was sent.
    figures = "select completions, unanswered_calls from pgclarify.run where operation = 'clarify'"
    ((answered, unanswered),) = connection.execute(figures).fetchall()
    assert unanswered == sent > 0
    # The extractive provider, which went on, is free.
    assert answered > 0
    assert scalar(connection, "select calls from pgclarify.budget") == sent
