"""A call that was sent counts, whatever becomes of its run. It is given back if it provably cost nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.integration.spending import BOUND, budget, claim, enter, price, status, store
from tests.sessions import Connect, Connection, scalar
from tests.workers import until

pytestmark = pytest.mark.rolled_back

BUDGET_SPENT = "PC007"
COST = Decimal("0.00014")


@pytest.fixture(autouse=True)
def limits(connection: Connection) -> None:
    price(connection)
    budget(connection, max_calls=3, max_cost_usd=1)


def note_sent(worker: ManualWorker, completion_id: int) -> bool:
    """Note a call as sent, and return whether it may be sent."""
    (noted,) = worker.send(
        "note_sent",
        worker_id=worker.worker_id,
        completion_ids=[completion_id],
        leases=[worker.leases.get(completion_id)],
        lease=timedelta(hours=1),
    )
    return bool(noted["is_ours"])


def note_sent_again(worker: ManualWorker, completion_id: int) -> dict[str, Any]:
    """Note another try of a call."""
    lease = worker.leases.get(completion_id)
    (noted,) = worker.send("note_sent_again", worker_id=worker.worker_id, completion_id=completion_id, lease=lease)
    return noted


def leased_and_sent(worker: ManualWorker, run_id: int | None, text: str = "a") -> int:
    completion_id = claim(worker, run_id, [text]).ours[text]
    assert note_sent(worker, completion_id)
    return completion_id


def lapse(connection: Connection, worker: ManualWorker) -> None:
    """Let the heartbeat of a worker lapse, as when it is suspended. It still has its session."""
    connection.execute(
        "update pgclarify_private.worker set seen_at = now() - interval '3 days' where worker_id = %s",
        [worker.worker_id],
    )


@contextmanager
def in_a_transaction(worker: ManualWorker) -> Iterator[None]:
    """Leave what the worker does in the block uncommitted until its end."""
    worker.connection.execute("begin")
    yield
    worker.connection.execute("commit")


def unanswered(connection: Connection, run_id: int) -> tuple[Any, ...]:
    """Calls without a reply, and their cost, as the end of the run stores them."""
    connection.execute(
        "update pgclarify_private.run set status = 'cancelled', finished_at = now() where run_id = %s", [run_id]
    )
    connection.execute("select pgclarify_private.settle_runs(array[%s])", [run_id])
    row = connection.execute(
        "select unanswered_calls, unanswered_usd, completions, cost_usd from pgclarify.run where run_id = %s", [run_id]
    ).fetchone()
    assert row is not None
    return tuple(row)


def test_a_claim_notes_the_first_calls_as_sent(connection: Connection, make_worker: MakeWorker) -> None:
    claims = claim(make_worker(), enter(connection), ["c", "a", "b"], sent_at_once=2)

    assert (set(claims.ours), claims.sent) == ({"a", "b", "c"}, {"c", "a"})
    assert status(connection) == (0, 0, 3 * BOUND, 3)


def test_the_reply_corrects_what_was_reserved(connection: Connection, make_worker: MakeWorker) -> None:
    worker, run_id = make_worker(), enter(connection)
    completion_id = leased_and_sent(worker, run_id)

    store(worker, [completion_id], run_id=run_id)

    assert status(connection) == (COST, 1, 0, 0)
    assert unanswered(connection, run_id) == (0, 0, 1, COST)


@pytest.mark.parametrize("may_be_charged", [True, False])
def test_a_failed_call_is_given_back_only_if_it_is_provably_free(
    connection: Connection, make_worker: MakeWorker, may_be_charged: bool
) -> None:
    worker, run_id = make_worker(), enter(connection)
    completion_id = leased_and_sent(worker, run_id)

    worker.give_back([completion_id], may_be_charged=may_be_charged)

    assert status(connection) == ((BOUND, 1, 0, 0) if may_be_charged else (0, 0, 0, 0))
    assert unanswered(connection, run_id) == ((1, BOUND, 0, 0) if may_be_charged else (0, 0, 0, 0))


def test_a_call_that_was_not_sent_is_given_back(connection: Connection, make_worker: MakeWorker) -> None:
    worker, run_id = make_worker(), enter(connection)

    worker.give_back([claim(worker, run_id, ["a"]).ours["a"]])

    assert status(connection) == (0, 0, 0, 0)
    assert unanswered(connection, run_id) == (0, 0, 0, 0)


@pytest.mark.committed
def test_calls_of_a_dead_worker_count_if_they_were_sent(connection: Connection, make_worker: MakeWorker) -> None:
    dying, living, run_id = make_worker(), make_worker(), enter(connection)
    claim(dying, run_id, ["claimed"])
    leased_and_sent(dying, run_id, "sent")
    dying.die()

    # At once, before another worker looks.
    assert status(connection) == (0, 0, BOUND, 1)
    assert living.value("end_calls_of_lost_workers", worker_id=living.worker_id) == 2
    assert status(connection) == (BOUND, 1, 0, 0)
    assert living.value("end_calls_of_lost_workers", worker_id=living.worker_id) == 0
    assert unanswered(connection, run_id) == (1, BOUND, 0, 0)


@pytest.mark.committed
def test_a_call_that_is_made_again_after_a_crash_counts_twice(connection: Connection, make_worker: MakeWorker) -> None:
    dying, living = make_worker(), make_worker()
    first, second = enter(connection), enter(connection)
    leased_and_sent(dying, first)
    dying.die()

    # The first look only finds that the call was sent.
    assert claim(living, second, ["a"]).waiting == {"a"}
    completion_id = claim(living, second, ["a"], sent_at_once=1).ours["a"]
    assert status(connection) == (BOUND, 1, BOUND, 1)
    store(living, [completion_id], run_id=second)

    assert status(connection) == (BOUND + COST, 2, 0, 0)
    assert unanswered(connection, first) == (1, BOUND, 0, 0)
    assert unanswered(connection, second) == (0, 0, 1, COST)


@pytest.mark.committed
def test_a_budget_that_dead_workers_have_spent_is_spent(connection: Connection, make_worker: MakeWorker) -> None:
    living, run_id = make_worker(), enter(connection)
    for text in "abc":
        dying = make_worker()
        leased_and_sent(dying, run_id, text)
        dying.die()

    assert claim(living, run_id, ["a", "b", "c"]).waiting == {"a", "b", "c"}
    claims = claim(living, run_id, ["a", "b"])

    assert claims.refused.keys() == {"a", "b"}
    assert claims.refused["a"]["sqlstate"] == BUDGET_SPENT
    assert status(connection) == (3 * BOUND, 3, 0, 0)


@pytest.mark.committed
@pytest.mark.parametrize("is_first", [True, False])
def test_a_late_reply_replaces_what_its_call_may_cost(
    connection: Connection, make_worker: MakeWorker, is_first: bool
) -> None:
    hanging, living = make_worker(), make_worker()
    first, second = enter(connection), enter(connection)
    completion_id = claim(hanging, first, ["a"], lease=-1, sent_at_once=1).ours["a"]
    assert claim(living, second, ["a"]).waiting == {"a"}
    assert claim(living, second, ["a"], sent_at_once=1).ours == {"a": completion_id}

    replies = [(hanging, first), (living, second)]
    for worker, run_id in replies if is_first else reversed(replies):
        store(worker, [completion_id], run_id=run_id)

    # Two calls were paid for. The ledger has the first reply, in the row of the run that claimed it last.
    assert status(connection) == (2 * COST, 2, 0, 0)
    calls = [unanswered(connection, run_id) for run_id in (first, second)]
    assert sum(one[0] + one[2] for one in calls) == 2
    assert sum(one[1] + one[3] for one in calls) == 2 * COST


@pytest.mark.committed
def test_a_call_whose_lease_is_lost_must_not_be_sent(make_worker: MakeWorker) -> None:
    hanging, living = make_worker(), make_worker()
    completion_id = claim(hanging, None, ["a"], lease=-1).ours["a"]
    claim(living, None, ["a"])

    assert not note_sent(hanging, completion_id)
    assert not note_sent_again(hanging, completion_id)["is_ours"]
    assert note_sent(living, completion_id)


def test_each_try_counts(connection: Connection, make_worker: MakeWorker) -> None:
    worker, run_id = make_worker(), enter(connection)
    completion_id = leased_and_sent(worker, run_id)

    assert note_sent_again(worker, completion_id) == {"is_ours": True, "refusal": None}
    assert status(connection) == (BOUND, 1, BOUND, 1)
    store(worker, [completion_id], run_id=run_id)

    assert status(connection) == (BOUND + COST, 2, 0, 0)
    assert unanswered(connection, run_id) == (1, BOUND, 1, COST)


def test_another_try_needs_room_in_the_budget(connection: Connection, make_worker: MakeWorker) -> None:
    worker, run_id = make_worker(), enter(connection)
    completion_id = leased_and_sent(worker, run_id)
    for _ in range(2):
        assert note_sent_again(worker, completion_id)["refusal"] is None

    said = note_sent_again(worker, completion_id)

    assert said["refusal"]["sqlstate"] == BUDGET_SPENT
    assert status(connection) == (3 * BOUND, 3, 0, 0)
    # The lease is released.
    assert claim(worker, run_id, ["a"]).refused.keys() == {"a"}


def test_what_was_sent_and_never_answered_is_shown(connection: Connection, make_worker: MakeWorker) -> None:
    worker, run_id = make_worker(), enter(connection)
    answered, silent = leased_and_sent(worker, run_id, "a"), leased_and_sent(worker, run_id, "b")
    connection.execute(
        "update pgclarify_private.run set status = 'cancelled', finished_at = now(), attempt = 1 where run_id = %s",
        [run_id],
    )
    store(worker, [answered], run_id=run_id)
    worker.give_back([silent])

    usage = connection.execute("select completions, cost_usd, unanswered_calls, unanswered_usd from pgclarify.usage")
    assert usage.fetchall() == [(1, COST, 1, BOUND)]
    lines = connection.execute("select pgclarify.explain(%s)", [run_id]).fetchall()
    assert "  Sent, and never answered: calls=1, at most $0.00105" in [line for (line,) in lines]


def test_calls_in_flight_of_a_cancelled_run_count_until_they_are_answered(
    connection: Connection, make_worker: MakeWorker
) -> None:
    worker, run_id = make_worker(), enter(connection)
    completion_id = leased_and_sent(worker, run_id)
    assert unanswered(connection, run_id) == (1, BOUND, 0, 0)

    store(worker, [completion_id], run_id=run_id)

    figures = "select unanswered_calls, completions, cost_usd from pgclarify.run where run_id = %s"
    assert connection.execute(figures.encode(), [run_id]).fetchone() == (0, 1, COST)


def test_without_a_price_the_number_of_calls_is_known(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("delete from pgclarify_private.budget")
    worker, run_id = make_worker(), enter(connection)
    completion_id = claim(worker, run_id, ["a"], model="unpriced", sent_at_once=1).ours["a"]
    worker.give_back([completion_id])

    assert unanswered(connection, run_id)[:2] == (1, None)
    assert scalar(connection, "select count(*) from pgclarify_private.completion where leased_by is not null") == 0


@pytest.mark.committed
def test_a_worker_that_does_not_count_as_alive_claims_and_sends_nothing(
    connection: Connection, make_worker: MakeWorker
) -> None:
    suspended, living = make_worker(), make_worker()
    first, second = leased_and_sent(suspended, None, "sent"), claim(suspended, None, ["claimed"]).ours["claimed"]
    lapse(connection, suspended)

    assert not note_sent(suspended, second)
    assert not note_sent_again(suspended, first)["is_ours"]
    assert claim(suspended, None, ["another"]).waiting == {"another"}
    assert living.value("end_calls_of_lost_workers", worker_id=living.worker_id) == 2
    assert status(connection) == (BOUND, 1, 0, 0)


@pytest.mark.committed
def test_a_call_that_is_sent_while_another_worker_claims_it_counts(
    connection: Connection, make_worker: MakeWorker
) -> None:
    waits = "select wait_event_type = 'Lock' from pg_stat_activity where pid = %s"
    waking, living, run_id = make_worker(), make_worker(), enter(connection)
    completion_id = claim(waking, enter(connection), ["a"]).ours["a"]
    with ThreadPoolExecutor(1) as pool:
        with in_a_transaction(waking):
            assert note_sent(waking, completion_id)
            lapse(connection, waking)
            claiming = pool.submit(claim, living, run_id, ["a"], sent_at_once=1)
            until(lambda: scalar(connection, waits, living.connection.info.backend_pid))
        assert claiming.result().waiting == {"a"}

    # The next look finds that it was sent, and ends it. Only then it is claimed.
    assert claim(living, run_id, ["a"]).waiting == {"a"}
    assert claim(living, run_id, ["a"], sent_at_once=1).sent == {"a"}
    assert status(connection) == (BOUND, 1, BOUND, 1)


@pytest.mark.committed
def test_a_call_that_another_session_has_locked_does_not_stop_the_others(
    connection: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    ours = claim(worker, None, ["a", "b"]).ours
    other = connect()
    with other.transaction():
        other.execute("select from pgclarify_private.completion where completion_id = %s for update", [ours["a"]])
        rows = worker.send(
            "note_sent",
            worker_id=worker.worker_id,
            completion_ids=list(ours.values()),
            leases=[worker.leases[completion_id] for completion_id in ours.values()],
            lease="1 hour",
        )
    assert {row["completion_id"]: row["is_ours"] for row in rows} == {ours["a"]: None, ours["b"]: True}


def test_a_try_after_midnight_counts_in_the_new_period(connection: Connection, make_worker: MakeWorker) -> None:
    connection.execute("delete from pgclarify_private.budget")
    budget(connection, period="day", max_calls=1)
    worker, run_id = make_worker(), enter(connection)
    completion_id = leased_and_sent(worker, run_id)
    connection.execute("update pgclarify_private.completion set reserved_at = reserved_at - interval '1 day'")
    store(worker, [leased_and_sent(worker, run_id, "b")], run_id=run_id)

    assert note_sent_again(worker, completion_id)["refusal"]["sqlstate"] == BUDGET_SPENT

    assert status(connection)[1:] == (1, 0, 0)
    counted = "select calls from pgclarify_private.budget_counter order by period_start"
    assert connection.execute(counted).fetchall() == [(1,), (1,)]


def test_a_call_that_is_also_in_a_batch_counts_twice(connection: Connection, make_worker: MakeWorker) -> None:
    single, batching = make_worker(), make_worker()
    first, second = enter(connection), enter(connection)
    completion_id = leased_and_sent(single, first)
    batch_id = scalar(
        connection,
        """
        insert into pgclarify_private.batch (model, endpoint, remote_id, leased_by, leased_until)
        values ('a-model', 'here', 'remote', %s, now() + interval '1 hour') returning batch_id
        """,
        batching.worker_id,
    )
    connection.execute(
        """
        insert into pgclarify_private.batch_request (
            run_id, completion_id, model, request, input_bytes, max_output_tokens, batch_id
        )
        values (%s, %s, 'a-model', '{}', 100, 100, %s)
        """,
        [second, completion_id, batch_id],
    )
    reply = {"completion_id": completion_id, "reply": "said", "prompt_tokens": 40, "completion_tokens": 10}
    batching.send("store_batch", worker_id=batching.worker_id, batch_id=batch_id, completions=json.dumps([reply]))

    # The single call gets no reply.
    single.give_back([completion_id])

    assert unanswered(connection, first)[0] == 1
    assert unanswered(connection, second)[2] == 1
    assert status(connection)[1:] == (1, 0, 0)


@pytest.mark.parametrize("was_sent", [True, False])
def test_a_batch_counts_from_the_moment_when_a_worker_sends_it(
    connection: Connection, make_worker: MakeWorker, was_sent: bool
) -> None:
    worker, run_id = make_worker(), enter(connection)
    completion_id = claim(worker, run_id, ["a"]).ours["a"]
    worker.give_back([completion_id])
    batch_id = scalar(
        connection,
        """
        insert into pgclarify_private.batch (model, endpoint, leased_by, leased_until)
        values ('a-model', 'here', %s, now() + interval '1 hour') returning batch_id
        """,
        worker.worker_id,
    )
    connection.execute(
        """
        insert into pgclarify_private.batch_request (
            run_id, completion_id, model, request, input_bytes, max_output_tokens, batch_id
        )
        values (%s, %s, 'a-model', '{}', 100, 100, %s)
        """,
        [run_id, completion_id, batch_id],
    )
    if was_sent:
        sent = worker.send("batch_requests", worker_id=worker.worker_id, batch_id=batch_id)
        assert [row["completion_id"] for row in sent] == [completion_id]
    # It stored no id of the endpoint, and no worker serves the endpoint any more.
    connection.execute("""
        update pgclarify_private.batch
        set created_at = now() - interval '8 days', leased_by = null, leased_until = null
    """)

    worker.send("tidy_batches")

    assert scalar(connection, "select count(*) from pgclarify_private.batch") == 0
    assert unanswered(connection, run_id)[0] == was_sent
