"""A run that kills its worker: this run fails, and the runs beside it do not."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

import psycopg

from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import Worker, load, scalar, until, wait, wait_until_searchable

# The limit of sql/runs/starting.sql, and how many crashes are written into the table instead of happening.
MOST_CRASHES, SKIPPED = 10, 8


def test_a_run_that_kills_its_worker_fails_and_those_beside_it_succeed(
    database: str, connection: psycopg.Connection[Any], own_model: Server, run_worker: Callable[..., Worker]
) -> None:
    workers = [run_worker(database, own_model.base_url)]
    load(connection)
    wait_until_searchable(connection)

    def kill(chat: Chat) -> Reply:
        if "poison" not in chat.user:
            return by_rules(chat)
        process_id = workers[-1].process.pid
        assert process_id is not None
        os.kill(process_id, signal.SIGKILL)
        return Reply(hangs=True)

    own_model.behavior = kill
    # Slow replies, so that the other runs are active when it kills the worker.
    own_model.latency = 0.5
    questions = ["healthy 1", "healthy 2", "poison", "healthy 3", "healthy 4"]
    run_ids = scalar(
        connection, "select pgclarify.submit_many('clarify', %s, options => jsonb_build_object('top_k', 4))", questions
    )
    unfinished = "select count(*) from pgclarify.run where finished_at is null"
    while until(lambda: scalar(connection, unfinished) == 0 or not workers[-1].process.is_alive()) and scalar(
        connection, unfinished
    ):
        if len(workers) == 1:
            # Pretend that it has killed workers while it ran alone, because each kill costs seconds.
            suspect = "update pgclarify_private.run set crashes = crashes + %s where question = 'poison'"
            connection.execute(suspect, [SKIPPED])
        workers.append(run_worker(database, own_model.base_url))

    assert wait(connection, run_ids) == ["succeeded", "succeeded", "failed", "succeeded", "succeeded"]
    assert len(workers) <= 1 + MOST_CRASHES - SKIPPED
    repeated = "select count(*) from (select from pgclarify.verdict group by run_id having count(*) <> 4) as wrong"
    assert scalar(connection, repeated) == 0
