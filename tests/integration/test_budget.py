"""Budgets: the calls that they allow, also concurrent ones, what they count, and for whom."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.spending import BOUND, MODEL, budget, claim, enter, price, status, store
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

BUDGET_SPENT = "PC007"
PRICE_MISSING = "PC008"
COST = Decimal("0.00014")


class TestCalls:
    def test_calls_that_fit_are_claimed_and_the_rest_waits_and_is_then_refused(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        budget(connection, "support", max_calls=3)
        worker, run_id = make_worker(), enter(connection)

        first = claim(worker, run_id, "abcde")
        assert (set(first.ours), first.waiting, first.refused) == ({"a", "b", "c"}, {"d", "e"}, {})
        assert status(connection, "support")[3] == 3

        store(worker, list(first.ours.values()))
        second = claim(worker, run_id, "abcde")
        assert (set(second.answered), second.ours, second.waiting) == ({"a", "b", "c"}, {}, set())
        assert set(second.refused) == {"d", "e"}
        assert second.refused["d"]["sqlstate"] == BUDGET_SPENT
        assert "support" in second.refused["d"]["message"]
        assert status(connection, "support")[1::2] == (3, 0)

    def test_a_call_that_failed_leaves_its_place_to_another(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        budget(connection, max_calls=1)
        worker, run_id = make_worker(), enter(connection)
        held = claim(worker, run_id, "ab")
        assert held.waiting == {"b"}

        worker.give_back(list(held.ours.values()))

        assert set(claim(worker, run_id, "b").ours) == {"b"}
        assert status(connection)[3] == 1

    @pytest.mark.committed
    @pytest.mark.parametrize("end", ["death", "time"])
    def test_a_reservation_ends_with_its_lease(self, connection: Connection, make_worker: MakeWorker, end: str) -> None:
        budget(connection, max_calls=2)
        first, second, run_id = make_worker(), make_worker(), enter(connection)
        late = claim(first, run_id, "ab", lease=-1 if end == "time" else 60).ours

        if end == "death":
            assert claim(second, run_id, "c").waiting == {"c"}
            first.die()

        assert status(connection)[3] == 0
        # One of those is taken over, and reserved once.
        assert len(claim(second, run_id, "ac").ours) == 2
        assert status(connection)[3] == 2
        if end == "time":
            # The first reply is stored, and both calls were paid for.
            store(first, [late["a"]], run_id=run_id)
            assert status(connection)[1::2] == (1, 1)
            store(second, [late["a"]], run_id=run_id)
            assert status(connection)[1::2] == (2, 1)

    def test_a_run_that_is_carried_out_twice_by_one_worker_reserves_what_it_asks(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        budget(connection, max_calls=1)
        worker, run_id, other = make_worker(), enter(connection), enter(connection)
        ours = list(claim(worker, run_id, "a").ours.values())
        earlier = dict(worker.leases)
        assert list(claim(worker, run_id, "a").ours.values()) == ours

        # The ended attempt releases its own reservation, not that of the present call.
        worker.give_back(ours, earlier)
        assert claim(worker, other, "b").waiting == {"b"}

        store(worker, ours, run_id=run_id)
        assert status(connection)[1::2] == (1, 0)
        # The reply to the first call comes late. It does not concern another budget.
        budget(connection, "of nobody", role_name="nobody_of_that_name", max_calls=1)
        store(worker, ours, run_id=run_id, leases=earlier)
        assert (status(connection)[1], status(connection, "of nobody")[1]) == (2, 0)

    def test_a_budget_that_is_deleted_or_raised(self, connection: Connection, make_worker: MakeWorker) -> None:
        budget_id = budget(connection, max_calls=1)
        worker, run_id = make_worker(), enter(connection)
        held = claim(worker, run_id, "a").ours
        connection.execute("delete from pgclarify_private.budget")
        store(worker, [held["a"]])
        assert set(claim(worker, run_id, "abc").ours) == {"b", "c"}

        budget(connection, "other", max_calls=0)
        assert set(claim(worker, run_id, "ad").refused) == {"d"}
        connection.execute("update pgclarify_private.budget set max_calls = 1")
        assert set(claim(worker, run_id, "d").ours) == {"d"}
        # The counts of the removed budget are removed with the first period of another one.
        assert (
            scalar(connection, "select count(*) from pgclarify_private.budget_counter where budget_id = %s", budget_id)
            == 0
        )

    @pytest.mark.committed
    def test_an_open_transaction_that_edits_a_budget_blocks_no_worker(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker
    ) -> None:
        budget(connection, max_calls=5)
        worker, run_id = make_worker(), enter(connection)
        worker.connection.execute("set lock_timeout = '30s'")
        editing = connect("postgres")
        with editing.transaction():
            editing.execute("delete from pgclarify_private.budget")
            store(worker, list(claim(worker, run_id, "ab").ours.values()))
            assert status(connection)[1] == 2

    def test_a_budget_starts_again_with_the_next_period(self, connection: Connection, make_worker: MakeWorker) -> None:
        for period in ("day", "month"):
            budget(connection, period, period, max_calls=1)
        worker, run_id = make_worker(), enter(connection)
        store(worker, list(claim(worker, run_id, "a").ours.values()))
        assert set(claim(worker, run_id, "b").refused) == {"b"}
        assert connection.execute(
            """
            select counter.period_start = date_trunc(budget.period, statement_timestamp(), 'UTC')
            from pgclarify_private.budget_counter as counter
            inner join pgclarify_private.budget on counter.budget_id = budget.budget_id
            """
        ).fetchall() == [(True,), (True,)]

        connection.execute(
            "update pgclarify_private.budget_counter set period_start = period_start - interval '31 days'"
        )

        assert set(claim(worker, run_id, "b").ours) == {"b"}
        assert connection.execute(
            """
            select
                resets_at - date_trunc(period, statement_timestamp(), 'UTC')
                    between interval '1 day' and interval '31 days'
            from pgclarify.budget
            """
        ).fetchall() == [(True,), (True,)]


class TestDollars:
    def test_calls_are_let_through_by_the_most_they_cost_and_counted_by_what_they_did(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        budget(connection, max_cost_usd=2 * BOUND)
        worker, run_id = make_worker(), enter(connection)
        first = claim(worker, run_id, "abcd")
        assert (set(first.ours), first.waiting) == ({"a", "b"}, {"c", "d"})
        assert status(connection) == (0, 0, 2 * BOUND, 2)

        store(worker, [first.ours["a"]])
        assert status(connection) == (COST, 1, BOUND, 1)
        # 0.00105 is reserved and 0.00014 spent, of 0.0021.
        assert claim(worker, run_id, "cd").waiting == {"c", "d"}
        store(worker, [first.ours["b"]])
        assert set(claim(worker, run_id, "cd").ours) == {"c"}

    def test_what_is_left_is_less_by_calls_that_are_being_made(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        def left() -> object:
            return connection.execute("select left_usd, left_calls from pgclarify.budget order by name").fetchall()

        price(connection)
        budget(connection, "calls", max_calls=3)
        budget(connection, "dollars", max_cost_usd=3 * BOUND)
        worker, run_id = make_worker(), enter(connection)
        assert left() == [(None, 3), (3 * BOUND, None)]
        held = claim(worker, run_id, "ab").ours
        assert left() == [(None, 1), (BOUND, None)]
        store(worker, [held["a"]])
        assert left() == [(None, 1), (2 * BOUND - COST, None)]
        worker.give_back([held["b"]], may_be_charged=False)
        assert left() == [(None, 2), (3 * BOUND - COST, None)]
        # More is spent than the limit allows, if that is lowered meanwhile.
        connection.execute(
            "update pgclarify_private.budget set max_calls = max_calls - 3, max_cost_usd = max_cost_usd / 100"
        )
        assert left() == [(None, 0), (0, None)]

    def test_a_model_without_a_price_is_not_free(self, connection: Connection, make_worker: MakeWorker) -> None:
        budget(connection, "support", max_cost_usd=100)
        budget(connection, "many", max_calls=100)
        worker, run_id = make_worker(), enter(connection)

        refused = claim(worker, run_id, "a", model="other").refused["a"]

        assert refused["sqlstate"] == PRICE_MISSING
        assert "support" in refused["message"]
        assert "model_price" in refused["detail"]
        connection.execute("delete from pgclarify_private.budget where name = 'support'")
        assert set(claim(worker, run_id, "a", model="other").ours) == {"a"}

    def test_a_price_that_is_gone_when_the_reply_comes_is_not_free_either(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        budget(connection, max_cost_usd=1)
        worker, run_id = make_worker(), enter(connection)
        held = claim(worker, run_id, "a").ours
        connection.execute("delete from pgclarify_private.model_price where model = %s", [MODEL])

        store(worker, list(held.values()))

        assert status(connection) == (BOUND, 1, 0, 0)

    def test_a_reply_of_which_nobody_has_counted_the_tokens_is_not_free_either(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        price(connection, "a-local-one", "0", "0")
        budget(connection, max_cost_usd=1)
        worker, run_id = make_worker(), enter(connection)
        unknown = claim(worker, run_id, "a").ours["a"]
        local = claim(worker, run_id, "b", model="a-local-one").ours["b"]
        store(worker, [unknown, local], tokens=(None, None))
        store(worker, list(claim(worker, run_id, "c").ours.values()), tokens=(40, None))

        assert status(connection) == (2 * BOUND, 3, 0, 0)
        assert connection.execute(
            "select prompt_tokens, cost_usd from pgclarify_private.completion order by completion_id"
        ).fetchall() == [(None, None), (None, 0), (40, None)]

    def test_a_limit_that_no_call_fits_into_is_not_called_spent(
        self, connection: Connection, make_worker: MakeWorker
    ) -> None:
        price(connection)
        budget(connection, "small", max_cost_usd=BOUND / 2)
        refused = claim(make_worker(), enter(connection), "a").refused["a"]
        assert refused["sqlstate"] == BUDGET_SPENT
        assert refused["message"] == 'budget "small" has no room for a call that may cost 0.00105 US dollars'
        assert "0.000525" in refused["detail"]
        key = scalar(connection, "select budget_id from pgclarify_private.budget where name = 'small'")
        assert refused["budget_id"] == key

    def test_the_extractive_provider_costs_nothing(self, connection: Connection, make_worker: MakeWorker) -> None:
        budget(connection, max_cost_usd=0)
        worker, run_id = make_worker(), enter(connection)
        budget(connection, "calls", max_calls=0)
        ours = claim(worker, run_id, "ab", model="extractive-8").ours
        assert len(ours) == 2
        store(worker, list(ours.values()))
        assert status(connection, "calls") == (0, 0, 0, 0)


class TestWhomItIsFor:
    def test_roles_and_corpora(self, connection: Connection, make_worker: MakeWorker, make_role: MakeRole) -> None:
        for corpus in ("one", "two"):
            connection.execute(MAKE_OPEN_CORPUS, [corpus])
        team = make_role("pgclarify_user", name="team")
        member, other = make_role(team), make_role("pgclarify_user")
        corpus_id = scalar(connection, "select corpus_id from pgclarify.corpus where corpus = 'one'")
        budget(connection, "team", role_name=team, max_calls=0)
        budget(connection, "one", corpus_id=corpus_id, max_calls=0)
        budget(connection, "gone", role_name="nobody_of_that_name", max_calls=0)
        listed = connection.execute("select name, role_exists from pgclarify.budget").fetchall()
        assert dict(listed) == {"team": True, "one": True, "gone": False}
        worker = make_worker()

        def refused_by(role: str, corpus: str | None) -> str | None:
            found = claim(worker, enter(connection, role, corpus), "a")
            for held in found.ours.values():
                connection.execute("delete from pgclarify_private.completion where completion_id = %s", [held])
            named = "select name from pgclarify_private.budget where budget_id = %s"
            return next((str(scalar(connection, named, one["budget_id"])) for one in found.refused.values()), None)

        assert refused_by(member, None) == "team"
        assert refused_by(team, "two") == "team"
        assert refused_by(other, "one") == "one"
        assert refused_by(other, "two") is None
        assert refused_by(other, None) is None
        # Calls outside of runs count for the budgets of everyone.
        assert len(claim(worker, None, "b").ours) == 1
        budget(connection, "everyone", max_calls=0)
        assert set(claim(worker, None, "c").refused) == {"c"}


class TestAtOnce:
    @pytest.mark.committed
    @pytest.mark.parametrize("is_of_calls", [False, True])
    def test_claims_never_pass_a_limit_nor_wait_for_each_other(
        self, connection: Connection, make_worker: MakeWorker, is_of_calls: bool
    ) -> None:
        price(connection)
        most = 25
        if is_of_calls:
            budget(connection, "calls", max_calls=most)
        # Of the two limits, the one in calls is reached first.
        budget(connection, "dollars", "month", max_cost_usd=most * COST + (BOUND if is_of_calls else 0))
        inputs = [f"input {number}" for number in range(60)]
        workers = [make_worker() for _ in range(6)]
        run_ids = [enter(connection) for _ in workers]
        start = Barrier(len(workers))

        def spend(worker: ManualWorker, run_id: int) -> int:
            """Pay for allowed calls, until all are answered or refused."""
            order = random.Random(worker.worker_id)  # noqa: S311 - no secret
            wanted = order.sample(inputs, len(inputs))
            refused = 0
            start.wait()
            while wanted:
                found = claim(worker, run_id, wanted[:8])
                ours = list(found.ours.values())
                # Some calls fail.
                failed = [held for held in ours if order.random() < 0.2]
                worker.give_back(failed)
                store(worker, [held for held in ours if held not in failed])
                refused += len(found.refused)
                wanted = [text for text in wanted if text not in found.answered and text not in found.refused]
                order.shuffle(wanted)
            return refused

        with ThreadPoolExecutor(len(workers)) as pool:
            refused = list(pool.map(spend, workers, run_ids))

        assert all(refused)
        paid = connection.execute(
            "select count(*), sum(cost_usd) from pgclarify_private.completion where reply is not null"
        ).fetchone()
        assert paid is not None
        for name in ("calls", "dollars") if is_of_calls else ("dollars",):
            assert status(connection, name) == (paid[1], paid[0], 0, 0)
        if is_of_calls:
            assert paid[0] == most
        else:
            # There is not enough for one more call.
            assert most * COST - BOUND < paid[1] <= most * COST
        assert scalar(
            connection,
            "select count(*) from pgclarify_private.completion"
            " where num_nonnulls(budget_ids, leased_by, reserved_at) > 0",
        ) == 0  # fmt: skip
