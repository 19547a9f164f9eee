"""The cost of runs, with each kind of end; repeated questions; and usage by role."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.spending import MODEL, claim, enter, price, store
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

# The cost of a call of 40 tokens in and 10 out, at one and ten dollars for a million.
COST = Decimal("0.00014")


def pay(worker: ManualWorker, run_id: int, inputs: str, model: str = MODEL) -> None:
    store(worker, list(claim(worker, run_id, inputs, model=model).ours.values()))


def cost(connection: Connection, run_id: int) -> tuple[Any, ...]:
    row = connection.execute(
        "select status, completions, cost_usd from pgclarify.run where run_id = %s", [run_id]
    ).fetchone()
    assert row is not None
    return tuple(row)


class TestRuns:
    def test_a_run_costs_what_its_calls_do(self, connection: Connection, make_worker: MakeWorker) -> None:
        price(connection)
        worker = make_worker()
        paying, free, unpriced = (enter(connection) for _ in range(3))
        for run_id in (paying, free, unpriced):
            worker.start(run_id)
        pay(worker, paying, "abc")
        # Replies from the ledger cost nothing, and the extractive provider has a price.
        pay(worker, free, "abc")
        pay(worker, free, "d", model="extractive-1")
        pay(worker, unpriced, "e", model="unheard-of")
        assert cost(connection, paying) == ("running", None, None)

        for run_id in (paying, free, unpriced):
            worker.finish(run_id)

        assert cost(connection, paying) == ("succeeded", 3, 3 * COST)
        assert cost(connection, free) == ("succeeded", 1, 0)
        assert cost(connection, unpriced) == ("succeeded", 1, None)
        # A later price applies to later calls only.
        price(connection, input_usd="1000")
        again = enter(connection)
        worker.start(again)
        worker.finish(again, status="failed", error="it went wrong")
        assert cost(connection, again) == ("failed", 0, 0)
        assert cost(connection, paying) == ("succeeded", 3, 3 * COST)

    @pytest.mark.parametrize(
        ("cached", "cached_input_usd", "saved"),
        [
            (30, "0.1", Decimal("0.000027")),
            (30, None, 0),
            (None, "0.1", 0),
            # A server that reports too many tokens.
            (1000, "0.1", Decimal("0.000036")),
        ],
    )
    def test_input_that_was_read_before_has_a_price_of_its_own(
        self,
        connection: Connection,
        make_worker: MakeWorker,
        cached: int | None,
        cached_input_usd: str | None,
        saved: Decimal | int,
    ) -> None:
        price(connection, cached_input_usd=cached_input_usd)
        worker, run_id = make_worker(), enter(connection)
        worker.start(run_id)
        store(worker, list(claim(worker, run_id, "abc").ours.values()), cached=cached)
        worker.finish(run_id)
        assert cost(connection, run_id) == ("succeeded", 3, 3 * (COST - saved))
        counted = [
            connection.execute(statement).fetchone()
            for statement in (
                "select prompt_tokens, cached_tokens from pgclarify.run order by run_id desc limit 1",
                "select prompt_tokens, cached_tokens from pgclarify.usage where prompt_tokens > 0",
            )
        ]
        assert counted == 2 * [(120, 3 * (cached or 0))]

    def test_mended_replies_are_counted_by_kind(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        stage = {
            "name": "judgement",
            "started_at": "2026-11-28",
            "duration_ms": 1,
            "calls": 3,
            "reused_calls": 0,
            "prompt_tokens": 1,
            "completion_tokens": 1,
        }
        for mends in ([{"words": 2}, None, {"words": 1, "syntax": 1}], [None], [{"syntax": 4}]):
            run_id = enter(connection)
            worker.start(run_id)
            worker.finish(run_id, stages=[{**stage, "mends": each} for each in mends])
        counted = connection.execute("select mends from pgclarify.run order by run_id").fetchall()
        assert counted == [({"words": 3, "syntax": 1},), (None,), ({"syntax": 4},)]
        assert connection.execute("select mends from pgclarify.usage").fetchall() == [({"words": 3, "syntax": 5},)]

    @pytest.mark.committed
    def test_a_run_that_is_carried_out_again_costs_what_all_attempts_do(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        first, second, run_id = make_worker(), make_worker(), enter(connection)
        first.start(run_id)
        pay(first, run_id, "ab")
        first.die()
        second.start(run_id)
        pay(second, run_id, "abc")
        second.finish(run_id, attempt=2)
        assert cost(connection, run_id) == ("succeeded", 3, 3 * COST)

    def test_a_run_that_is_put_back_and_then_cancelled_costs_what_it_has_paid(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        worker, run_id = make_worker(), enter(connection)
        worker.start(run_id)
        pay(worker, run_id, "ab")
        worker.send("put_back_run", run_id=run_id, attempt=1, pause=None)
        assert scalar(connection, "select status from pgclarify.run where run_id = %s", run_id) == "queued"
        connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        assert cost(connection, run_id) == ("cancelled", 2, 2 * COST)

    @pytest.mark.committed
    @pytest.mark.parametrize("settled_by", ["the worker", "the job"])
    def test_a_run_that_is_cancelled_costs_what_comes_in_later_too(
        self, connection: Connection, make_worker: MakeWorker, settled_by: str
    ) -> None:
        price(connection)
        worker, run_id, waiting = make_worker(), enter(connection), enter(connection)
        worker.start(run_id)
        pay(worker, run_id, "a")
        late = claim(worker, run_id, "bc").ours
        connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
        assert cost(connection, run_id) == ("cancelled", 1, COST)

        store(worker, [late["b"]])
        assert cost(connection, run_id) == ("cancelled", 2, 2 * COST)
        # A call whose cancellation was not committed when the reply came.
        with connection.transaction():
            connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [waiting])
            pay(worker, waiting, "d")
        assert cost(connection, waiting) == ("cancelled", 0, 0)
        if settled_by == "the worker":
            worker.send("settle_runs", run_ids=[waiting])
        else:
            assert worker.start(waiting) is None
        assert cost(connection, waiting) == ("cancelled", 1, COST)

    def test_a_run_that_cannot_be_started_costs_what_was_paid_before(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        connection.execute(MAKE_OPEN_CORPUS, ["gone"])
        worker, run_id = make_worker(), enter(connection, corpus="gone")
        pay(worker, run_id, "a")
        connection.execute("select pgclarify.drop_corpus('gone')")
        assert worker.start(run_id) is None
        assert cost(connection, run_id) == ("failed", 1, COST)


class TestPriceRuns:
    def test_gaps_are_filled_once_prices_are_there(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        worker = make_worker()
        runs = [enter(connection) for _ in range(4)]
        for run_id in runs:
            worker.start(run_id)
        for run_id, inputs in zip(runs, ("ab", "c", "d"), strict=False):
            pay(worker, run_id, inputs)
        pay(worker, runs[2], "e", model="unheard-of")
        uncounted, local = enter(connection), enter(connection)
        for run_id, model in ((uncounted, MODEL), (local, "a-local-one")):
            worker.start(run_id)
            store(worker, list(claim(worker, run_id, "f", model=model).ours.values()), tokens=(None, None))
        for run_id in (*runs[:3], uncounted, local):
            worker.finish(run_id)
        connection.execute("update pgclarify_private.run set finished_at = '2020-01-01' where run_id = %s", [runs[0]])
        connection.execute("update pgclarify_private.run set model = 'a-local-one' where run_id = %s", [local])
        owner = connect(make_role("pgclarify_owner"))
        assert scalar(owner, "select pgclarify_private.price_runs()") == 0
        price(connection)
        price(connection, "a-local-one", "0", "0")

        # Free calls cost nothing, with any number of tokens. Other calls need known tokens.
        assert scalar(owner, "select pgclarify_private.price_runs(now() - interval '1 year')") == 2
        assert [cost(connection, run_id)[2] for run_id in runs] == [None, COST, None, None]
        assert [cost(connection, run_id)[2] for run_id in (uncounted, local)] == [None, 0]
        assert scalar(owner, "select pgclarify_private.price_runs(max_runs => 1)") == 1
        assert scalar(owner, "select pgclarify_private.price_runs()") == 0
        assert [cost(connection, run_id)[2] for run_id in runs] == [2 * COST, COST, None, None]

    def test_input_that_was_read_before_is_priced_as_such_later(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        worker, run_id = make_worker(), enter(connection)
        worker.start(run_id)
        store(worker, list(claim(worker, run_id, "a").ours.values()), cached=30)
        worker.finish(run_id)
        price(connection, cached_input_usd="0.1")
        assert scalar(connect(make_role("pgclarify_owner")), "select pgclarify_private.price_runs()") == 1
        assert cost(connection, run_id)[2] == COST - Decimal("0.000027")


class TestRefresh:
    def test_another_number_asks_anew_and_leaves_what_was_said(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        worker = make_worker()
        plain, anew, again = (enter(connection, settings={"refresh": n} if n else {}) for n in (0, 7, 7))
        pay(worker, plain, "a")
        assert set(claim(worker, anew, "a").ours) == {"a"}
        pay(worker, anew, "a")
        assert set(claim(worker, again, "a").answered) == {"a"}
        assert set(claim(worker, plain, "a").answered) == {"a"}
        # A second try is one of its own in each.
        assert set(claim(worker, again, "a", sample=1).ours) == {"a"}
        assert connection.execute("select sample from pgclarify_private.completion order by 1").fetchall() == [
            (0,),
            (7000,),
            (7001,),
        ]

    def test_refresh_is_stored_in_the_settings_unless_zero(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        connection.execute(MAKE_OPEN_CORPUS, ["handbook"])
        worker = make_worker()
        worker.index_everything()

        def settings(options: str) -> dict[str, object]:
            run_id = scalar(connection, "select pgclarify.submit('clarify', 'leave', options => %s::jsonb)", options)
            found = scalar(connection, "select settings from pgclarify.run where run_id = %s", run_id)
            assert isinstance(found, dict)
            return found

        assert settings('{"refresh": 3}')["refresh"] == 3
        assert settings('{"refresh": 0}') == settings("{}")


class TestUsage:
    def test_everyone_sees_what_it_may(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        price(connection)
        analyst, alice, bob = make_role("pgclarify_reader"), make_role("pgclarify_user"), make_role("pgclarify_user")
        connection.execute(MAKE_OPEN_CORPUS, ["handbook"])
        connection.execute("update pgclarify_private.corpus set analysts = %s", [[analyst]])
        worker = make_worker()
        worker.index_everything()
        for place, role in enumerate((alice, alice, bob)):
            run_id = enter(connection, role, "handbook")
            worker.start(run_id)
            pay(worker, run_id, f"{place}")
            worker.finish(run_id)
        pay(worker, enter(connection, alice), "x", model="unheard-of")
        # All on one day, also where another one begins meanwhile.
        connection.execute("update pgclarify_private.run set created_at = '2026-01-01 23:59:59+00'")

        def seen(role: str) -> list[tuple[object, ...]]:
            return (
                connect(role)
                .execute(
                    """
                    select corpus, requested_by, operation, model, runs, completions, cost_usd, unpriced_runs
                    from pgclarify.usage
                    where day = '2026-01-01'
                    order by requested_by = %s desc, corpus
                    """,
                    [alice],
                )
                .fetchall()
            )

        of_alice = ("handbook", alice, "clarify", MODEL, 2, 2, 2 * COST, 0)
        of_bob = ("handbook", bob, "clarify", MODEL, 1, 1, COST, 0)
        assert seen(alice) == [of_alice, (None, alice, "rewrite", None, 1, 0, 0, 0)]
        assert seen(bob) == [of_bob]
        assert seen(analyst) == [of_alice, of_bob]


RUNS = 500


@pytest.fixture
def unpriced(connection: Connection) -> Connection:
    """Runs of one call each, by three models. One model has no price, and the call of one has no token counts."""
    connection.execute(
        """
        with entered as (
            insert into pgclarify_private.run (
                operation, question, settings, requested_by, reuse_key, status, model, started_at, finished_at,
                completions, prompt_tokens, completion_tokens
            )
            select
                'rewrite', 'a question', '{}', 'postgres', '', 'succeeded', named.model, now(), now(), 1,
                coalesce(named.tokens, 0), coalesce(named.tokens, 0)
            from generate_series(1, %s), (values ('unheard-of', 10), ('uncounted', null), ('known', 10))
                as named (model, tokens)
            returning run_id, model, prompt_tokens
        )
        insert into pgclarify_private.completion (
            purpose, model, parameters, prompt_version, input_hash, sample, run_id, reply, prompt_tokens,
            completion_tokens, latency_ms, finished_at
        )
        select
            'verdict', model, '{}', 'v1', sha256(int8send(run_id)), 0, run_id, 'said', nullif(prompt_tokens, 0),
            nullif(prompt_tokens, 0), 1, now()
        from entered
        """,
        [RUNS],
    )
    connection.execute("analyze pgclarify_private.run, pgclarify_private.completion")
    price(connection, "uncounted")
    price(connection, "known")
    return connection


@pytest.mark.committed
def test_price_runs_reads_only_the_calls_that_it_prices(unpriced: Connection) -> None:
    # Without this, the planner would not use indexes on such small tables.
    unpriced.execute("set enable_seqscan = off")
    with unpriced.transaction():
        assert scalar(unpriced, "select pgclarify_private.price_runs(max_runs => 10)") == 10
        read = "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables where relname = 'completion'"
        assert scalar(unpriced, read) < RUNS / 2


@pytest.mark.committed
def test_price_runs_does_not_read_calls_of_runs_whose_model_has_no_price(unpriced: Connection) -> None:
    # So that only the next call is counted.
    unpriced.execute("select pgclarify_private.price_runs(), pg_stat_force_next_flush()")
    with unpriced.transaction():
        assert scalar(unpriced, "select pgclarify_private.price_runs()") == 0
        read = "select seq_scan + idx_scan from pg_stat_xact_user_tables where relname = 'completion'"
        assert scalar(unpriced, read) < RUNS / 2
