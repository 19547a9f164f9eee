"""Everything at once, at random: no statement of a user ends with a deadlock."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psycopg

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, vector_of
from tests.integration.stored_answers import reading, store_grounded_verdict
from tests.sessions import Connect, Connection, MakeRole

DEADLOCK = "40P01"
SECONDS = 3.0
CORPORA = ("first", "second")
WORDS = ("cars", "vans", "hail", "fuel", "toll", "claims")
ASKING = (
    "select pgclarify.submit('clarify', %(word)s, %(corpus)s)",
    "select pgclarify.submit_many('clarify', array[%(word)s, 'rain'], %(corpus)s)",
    "select pgclarify.cancel(array(select run_id from pgclarify.run where status = 'queued' limit 3))",
    "select * from pgclarify.wait(array(select run_id from pgclarify.run limit 3), '20ms')",
)
OWNING = (
    "select pgclarify.add_document(%(corpus)s, %(number)s, %(word)s || ' and ' || %(number)s, readers => %(readers)s)",
    "select pgclarify.add_document(%(corpus)s, %(number)s, %(word)s)",
    "select pgclarify.remove_document(%(corpus)s, %(number)s)",
    "select pgclarify.erase_document(%(corpus)s, %(number)s)",
    "select pgclarify.attach_table(%(corpus)s, %(table)s, 'id', 'body', jsonb_build_object('id_prefix', %(table)s))",
    "select pgclarify.attach_table(%(corpus)s, %(table)s, 'id', 'body', jsonb_build_object('id_prefix', %(table)s))",
    "select pgclarify.resync(%(corpus)s, %(table)s)",
    "select pgclarify.detach_table(%(corpus)s, %(table)s)",
    'select pgclarify.detach_table(%(corpus)s, %(table)s, \'{"documents": "remove"}\')',
    "select pgclarify.grant_access(%(corpus)s, 'pgclarify_user', 'analyst')",
    "select pgclarify.revoke_access(%(corpus)s, 'pgclarify_user', 'analyst')",
    'select pgclarify.set_budget(%(word)s, %(corpus)s, \'{"period": "day", "max_calls": 9}\')',
    "select pgclarify.remove_budget(%(word)s, %(corpus)s)",
    "select pgclarify.add_ambiguity_rule(%(word)s, 'lexical', %(corpus)s)",
    'select pgclarify.alter_corpus(%(corpus)s, \'{"graph": "rebuild"}\')',
    "select pgclarify.drop_corpus(%(corpus)s)",
    MAKE_OPEN_CORPUS.decode().replace("%s", "%(corpus)s"),
)
ADMINISTERING = (
    "select pgclarify_private.price_runs()",
    "select pgclarify_private.adopt_roles()",
    'select pgclarify.set_budget(%(word)s, null, \'{"period": "day", "max_calls": 99999}\')',
)


def act(session: Connection, statements: tuple[str, ...], seed: int, until: float) -> list[tuple[str, str | None]]:
    """Execute statements at random, each in a transaction of its own; return those that ended with an error."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    failed = []
    while time.monotonic() < until:
        statement = chance.choice(statements)
        given: dict[str, Any] = {
            "corpus": chance.choice(CORPORA), "word": chance.choice(WORDS), "number": str(chance.randrange(9)),
            "table": f"app.t{chance.randrange(2)}", "readers": chance.choice(([], ["pgclarify_user"])),
        }  # fmt: skip
        try:
            session.execute(statement.encode(), {name: given[name] for name in given if f"%({name})s" in statement})
        except psycopg.Error as error:
            failed.append((statement, error.sqlstate))
    return failed


def work(worker: ManualWorker, until: float) -> None:
    """Do what a worker does. What is locked, lost or dropped is an error, as for a worker."""

    def answer() -> None:
        for run in worker.send("take_run", worker_id=worker.worker_id, only_waited_for=False):
            if run["refusal"] is None and run["error_code"] is None:
                found = worker.retrieve(
                    run["run_id"], run["attempt"], run["question"], vector_of(run["question"]), run["embedding_model"]
                )
                if found and run["attempt"] == 1:
                    store_grounded_verdict(worker, run["run_id"])
                worker.finish(run["run_id"], run["attempt"], interpretations=[reading()] if found else [])

    def index() -> None:
        worker.open_spaces()
        if documents := worker.claim(max_documents=5):
            worker.store(documents)

    def maintain() -> None:
        for task in (
            "inspect_sources", "apply_term_changes", "fold_tallies", "drop_orphan_capture", "drop_orphan_partition",
            "drop_idle_table_reader",
        ):  # fmt: skip
            worker.send(task)
        worker.value("link_passages", max_passages=50)
        worker.value("group_questions", most=50)

    while time.monotonic() < until:
        for task in (answer, index, answer, maintain):
            with suppress(psycopg.Error):
                task()
        for waiting in worker.send("waiting_sources"):
            with suppress(psycopg.Error):
                worker.follow(waiting, max_rows=7)


def test_no_statement_of_a_user_ends_with_a_deadlock(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    owner, asker = make_role("pgclarify_user"), make_role("pgclarify_user")
    connection.execute(f"create schema app authorization {owner}".encode())
    for number in range(2):
        table = f"app.t{number}"
        connection.execute(f"create table {table} (id integer primary key, body text)".encode())
        connection.execute(f"insert into {table} select n, 'Cars ' || n from generate_series(1, 20) as n".encode())  # noqa: S608
        connection.execute(f"alter table {table} owner to {owner}".encode())
    for corpus in CORPORA:
        connect(owner).execute(MAKE_OPEN_CORPUS, [corpus])
    until = time.monotonic() + SECONDS
    with ThreadPoolExecutor(12) as pool:
        acting = [pool.submit(act, connect(owner), OWNING, seed, until) for seed in range(7)]
        acting += [pool.submit(act, connect(asker), ASKING, seed, until) for seed in range(2)]
        acting.append(pool.submit(act, connect(), ADMINISTERING, 0, until))
        working = [pool.submit(work, make_worker(), until) for _ in range(2)]
        failed = [one for task in acting for one in task.result()]
        for task in working:
            task.result()

    assert [statement for statement, state in failed if state == DEADLOCK] == []
