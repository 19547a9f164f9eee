"""Killed workers: nothing is lost, and nothing stored is paid for twice."""

from __future__ import annotations

from tests.integration.by_hand import Connection
from tests.integration.holding_back import held_back
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import StartWorker, load, scalar, submit_many, until, wait, wait_until_searchable


def paid(connection: Connection) -> int:
    """How many replies are stored."""
    return int(scalar(connection, "select count(*) from pgclarify_private.completion where reply is not null"))


def test_sigkill_three_times_pays_again_only_for_what_was_in_flight(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    concurrency, runs, top_k = 6, 8, 8
    alive = run_worker(database, own_model.base_url, concurrency=concurrency)
    load(connection)
    wait_until_searchable(connection)
    answered = runs * top_k // 4

    def answer_so_many(chat: Chat) -> Reply:
        if own_model.calls > answered:
            own_model.latency = 600.0
        return by_rules(chat)

    own_model.behavior = answer_so_many
    run_ids = submit_many(connection, runs, top_k=top_k)
    for kill in range(1, 4):
        # After some call there are no more answers: this many calls are in flight, and all others are stored.
        until(lambda: own_model.in_flight == concurrency)
        until(lambda: paid(connection) == own_model.calls - kill * concurrency)  # noqa: B023
        alive.kill()
        until(lambda: own_model.in_flight == 0)
        assert scalar(connection, "select count(*) from pgclarify.run where finished_at is null") > 0
        answered = own_model.calls + runs * top_k // 4
        if kill == 3:
            own_model.behavior = by_rules
        own_model.latency = 0.0
        alive = run_worker(database, own_model.base_url, concurrency=concurrency)

    assert wait(connection, run_ids) == ["succeeded"] * runs
    assert own_model.stats["repeated_inputs"] <= 3 * concurrency
    assert own_model.calls == paid(connection) + 3 * concurrency
    verdicts = connection.execute("select count(*) from pgclarify.verdict group by run_id").fetchall()
    assert verdicts == [(top_k,)] * runs


def test_two_workers_share_the_queue_until_one_dies(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    run_worker(database, own_model.base_url)
    second = run_worker(database, own_model.base_url)
    load(connection)
    wait_until_searchable(connection)
    at_work = "select count(distinct worker_id) from pgclarify.run where status = 'running'"
    answered = 40
    with held_back(own_model, after=answered):
        run_ids = submit_many(connection, 32)
        # All replies are stored, and both workers have runs.
        until(lambda: paid(connection) == answered and scalar(connection, at_work) == 2)
        second.kill()

    assert wait(connection, run_ids) == ["succeeded"] * 32
    assert own_model.stats["repeated_inputs"] <= 8
