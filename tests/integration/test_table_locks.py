"""No user holds up workers, and runs wait for an administrator's lock."""

from __future__ import annotations

import asyncio

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgclarify.data.model_calls import CompletionRequest, Message
from pgclarify.database.ledger import LedgerTables
from pgclarify.database.pool import Pool, open_pool
from pgclarify.database.runs import Runs
from pgclarify.errors import DatabaseBusy
from pgclarify.ledger.completions import Paid, complete_all
from tests.fakes import scripts
from tests.fakes.completer import Prompt
from tests.integration.manual_worker import MakeWorker
from tests.integration.spending import budget, claim, enter, price, status, store
from tests.sessions import Connect, Connection, MakeRole, scalar


def test_an_open_transaction_of_a_user_blocks_no_worker(
    connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
) -> None:
    """One transaction of a user that does all that it may with budgets and rules, and stays open."""
    worker = make_worker()
    price(connection)
    owner = connect(make_role("pgclarify_user", name="owner"))
    owner.execute("select pgclarify.create_corpus('mine')")
    budget(connection, corpus_id=1, max_calls=1)
    with owner.transaction():
        owner.execute("select * from pgclarify.budget, pgclarify.ambiguity_rule, pgclarify.evaluation")
        owner.execute("""select pgclarify.set_budget('own', 'mine', '{"period": "day", "max_calls": 1}')""")
        owner.execute("select pgclarify.remove_budget('own', 'mine')")
        owner.execute("select pgclarify.add_ambiguity_rule('x', 'lexical', 'mine')")
        owner.execute("select pgclarify.remove_ambiguity_rule('x', 'mine')")

        run_id = enter(connection, owner.info.user, "mine")
        store(worker, list(claim(worker, run_id, ["a question"]).ours.values()), run_id=run_id)

    assert status(connection)[1] == 1


class TestWhileAnAdministratorLocks:
    @pytest.mark.parametrize("table", ["budget", "budget_counter", "model_price"])
    def test_a_claim_and_a_reply_say_who_stands_in_the_way(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, table: str
    ) -> None:
        worker, holder = make_worker(), connect()
        price(connection)
        budget(connection, max_calls=10)
        run_id = enter(connection)
        ours = list(claim(worker, run_id, ["first"]).ours.values())

        with holder.transaction():
            holder.execute(f"lock table pgclarify_private.{table} in access exclusive mode".encode())
            for attempt in (lambda: claim(worker, run_id, ["second"]), lambda: store(worker, ours, run_id=run_id)):
                with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
                    attempt()
                assert str(holder.info.backend_pid) in str(refused.value.diag.message_detail)
                assert refused.value.diag.message_hint

        store(worker, ours, run_id=run_id)
        assert claim(worker, run_id, ["second"]).ours
        assert status(connection)[1] == 1

    def test_a_question_that_cannot_be_entered_says_why(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        holder = connect()
        # Without a worker, no question is entered.
        make_worker()
        connection.execute("select pgclarify.create_corpus('kb')")
        connection.execute("alter function pgclarify_private.loopback_enter(jsonb) set lock_timeout = '100ms'")

        with holder.transaction():
            # As to create an index.
            holder.execute("lock table pgclarify_private.run in share mode")
            with pytest.raises(psycopg.errors.LockNotAvailable) as refused:
                connection.execute("select * from pgclarify.clarify('cars', 'kb')")

        assert refused.value.diag.message_detail
        assert refused.value.diag.message_hint

    async def test_a_run_waits_and_pays_once(
        self, connection: Connection, connect: Connect, database: str, make_worker: MakeWorker
    ) -> None:
        worker, holder = make_worker(), connect()
        price(connection, "fake")
        budget(connection, max_calls=10)
        run_id = enter(connection)
        request = CompletionRequest("verdict", "fake", {}, "1", (Message("user", "a question"),), max_output_tokens=9)
        landed: list[object] = []

        async def on_result(_: int, result: object) -> None:
            landed.append(result)

        def lock() -> None:
            holder.execute("begin")
            holder.execute("lock table pgclarify_private.budget in access exclusive mode")

        class Watched(Runs):
            """Tells when a lock stands in the way."""

            def __init__(self, pool: Pool, worker_id: int) -> None:
                super().__init__(pool, worker_id)
                self.is_refused = asyncio.Event()

            def warn_of_lock(self, busy: DatabaseBusy) -> None:
                self.is_refused.set()

        is_called = asyncio.Event()

        async def lock_budgets(_: Prompt) -> None:
            lock()
            is_called.set()

        completer = scripts.verifier({"a question": "said"})
        completer.before = lock_budgets
        async with open_pool(make_conninfo(database, user=worker.connection.info.user)) as pool:
            runs = Watched(pool, worker.worker_id)
            lock()
            asking = asyncio.create_task(complete_all(LedgerTables(runs, run_id), completer, [request], on_result))
            await runs.is_refused.wait()
            assert not completer.calls
            holder.execute("commit")
            await is_called.wait()
            runs.is_refused.clear()
            await runs.is_refused.wait()
            assert not landed
            holder.execute("commit")
            await asking

        assert [isinstance(result, Paid) for result in landed] == [True]
        assert len(completer.calls) == 1
        assert scalar(connection, "select count(*) from pgclarify_private.completion where reply = 'said'") == 1
        assert status(connection)[1] == 1
        assert scalar(connection, "select attempt from pgclarify.run where run_id = %s", run_id) == 0
