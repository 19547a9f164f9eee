"""Many callers, a server that restarts, a model hub that never answers. These tests are slow."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from tests.sessions import scalar
from tests.workers import PrivateService, environment, load, loopbacks, submit_many, until, wait

SESAME = "open sesame"

Connection = psycopg.Connection[Any]


def test_sixty_callers_at_once(private_service: PrivateService) -> None:
    together = threading.Barrier(60)

    def ask(number: int) -> list[tuple[Any, ...]]:
        options = r"-c default_transaction_isolation=repeatable\ read" if number % 2 else ""
        with closing(
            psycopg.connect(private_service.dsn, user="caller", password=SESAME, options=options, autocommit=True)
        ) as caller:
            together.wait(60)
            statement = b"select * from pgclarify.clarify(%s, top_k => 4, timeout => '5min')"
            return caller.execute(statement, [f"caller {'x' * (1 + number % 50)}"]).fetchall()

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
        assert repeated == 0, "two callers asked each of ten questions"
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
    # Calls in flight, and calls that started before the worker noticed that it cannot store replies.
    assert model.stats["repeated_inputs"] - before <= 2 * 8


def test_a_model_that_is_looked_for_without_end_holds_up_no_other_corpus(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    connection.execute("select pgclarify.create_corpus('first', 'no-such/model')")
    connection.execute("select pgclarify.add_document('first', 'd', 'waits')")
    load(connection, "second", documents=2)
    # A model hub that takes connections and never answers. Its library reads the address at import, and the workers of
    # other tests are forked from a process that has imported it. So this worker is a new process.
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        hub = {
            "HF_ENDPOINT": f"http://127.0.0.1:{silent.getsockname()[1]}",
            "HF_HUB_ETAG_TIMEOUT": "600",
        }
        silent.settimeout(300)
        with subprocess.Popen(
            [sys.executable, "-m", "pgclarify.cli", "worker"],
            env=environment(database, None) | hub,
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
        ) as process:
            try:
                asked, _ = silent.accept()
                with closing(asked):
                    pending = "select pending from pgclarify.corpus where corpus = %s"
                    until(lambda: scalar(connection, pending, "second") == 0)
                    assert scalar(connection, pending, "first") == 1
            finally:
                process.kill()
