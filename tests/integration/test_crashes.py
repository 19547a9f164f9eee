"""Killed workers, a database that restarts, and a crowd: nothing is lost, and nothing stored is paid for twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import psycopg

from tests.integration.holding_back import held_back
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import (
    PrivateService,
    Worker,
    load,
    loopbacks,
    scalar,
    submit_many,
    until,
    wait,
    wait_until_searchable,
)

SESAME = "open sesame"

Connection = psycopg.Connection[Any]
StartWorker = Callable[..., Worker]


def paid(connection: Connection) -> int:
    """How many replies are stored."""
    return int(scalar(connection, "select count(*) from pgclarify.completion where reply is not null"))


def test_sigkill_three_times_pays_again_only_for_what_was_in_flight(
    database: str, connection: Connection, own_model: Server, run_worker: StartWorker
) -> None:
    concurrency, runs, top_k = 6, 20, 8
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
        # From some call on, nobody gets an answer any more: that many calls are in flight, and all others are stored.
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
        # All that was answered is stored, and both have runs in hand.
        until(lambda: paid(connection) == answered and scalar(connection, at_work) == 2)
        second.kill()

    assert wait(connection, run_ids) == ["succeeded"] * 32
    assert own_model.stats["repeated_inputs"] <= 8


def test_sixty_callers_at_once(private_service: PrivateService) -> None:
    together = threading.Barrier(60)

    def ask(number: int) -> list[tuple[Any, ...]]:
        options = r"-c default_transaction_isolation=repeatable\ read" if number % 2 else ""
        with closing(
            psycopg.connect(private_service.dsn, user="caller", password=SESAME, options=options, autocommit=True)
        ) as caller:
            together.wait(60)
            statement = b"select * from pgclarify.clarify(%s, top_k => 4, timeout => '5min')"
            return caller.execute(statement, [f"caller {number % 50}"]).fetchall()

    private_service.model.latency = 0.05
    before = private_service.model.stats["repeated_inputs"]
    with closing(psycopg.connect(private_service.dsn, autocommit=True)) as superuser:
        superuser.execute(f"create role caller login password '{SESAME}' in role pgclarify_user".encode())
        assert scalar(superuser, "show max_connections") == "100"

        with ThreadPoolExecutor(60) as pool:
            answers = list(pool.map(ask, range(60)))

        assert all(answers)
        assert {status for rows in answers for _, status, *_ in rows} == {"succeeded"}
        repeated = private_service.model.stats["repeated_inputs"] - before
        assert repeated == 0, "ten questions were asked by two callers each"
        until(lambda: loopbacks(superuser) == 0)
        assert scalar(superuser, "select count(*) from pgclarify.queue_status where queued + running > 0") == 0


def test_the_database_restarts_in_the_middle(private_service: PrivateService) -> None:
    model = private_service.model
    model.latency = 1.0
    before = model.stats["repeated_inputs"]
    with closing(psycopg.connect(private_service.dsn, autocommit=True)) as connection:
        run_ids = submit_many(connection, 10)
        until(lambda: model.in_flight == 8)
        private_service.restart()

    with closing(psycopg.connect(private_service.dsn, autocommit=True)) as connection:
        assert wait(connection, run_ids) == ["succeeded"] * 10
        assert private_service.worker.process.is_alive()
        model.latency = 0.0
        assert connection.execute("select * from pgclarify.clarify('and goes on')").fetchall()
    # Those in flight, and those that were begun before anybody knew that nothing can be stored.
    assert model.stats["repeated_inputs"] - before <= 2 * 8
