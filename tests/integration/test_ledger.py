"""The ledger: one claimant for each call, leases that end, replies that stay, and answers that are reused."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.spending import claim, enter, store
from tests.integration.stored_answers import reading
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back


class TestClaims:
    def test_the_first_claimant_makes_the_call(self, make_worker: MakeWorker) -> None:
        first, second = make_worker(), make_worker()

        mine = claim(first, 1, ["a", "b"])
        others = claim(second, 2, ["b", "c"])

        assert set(mine.ours) == {"a", "b"}
        assert (set(others.ours), others.waiting) == ({"c"}, {"b"})
        # Another run of the same worker waits as another worker's would.
        assert claim(first, 3, ["a"]).waiting == {"a"}

    def test_a_reply_is_there_for_all(self, make_worker: MakeWorker) -> None:
        first, second = make_worker(), make_worker()
        store(first, [claim(first, 1, ["a"]).ours["a"]], said="yes")

        assert claim(second, 2, ["a", "b"]).answered == {"a": "yes"}
        assert claim(first, 1, ["a"]).answered == {"a": "yes"}
        # Another sample of the same input is another call.
        assert set(claim(second, 2, ["a"], sample=1).ours) == {"a"}

    def test_the_first_reply_stays(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        completion_id = claim(worker, 1, ["a"]).ours["a"]

        store(worker, [completion_id], said="yes")
        store(worker, [completion_id], said="no")

        assert claim(worker, 2, ["a"]).answered == {"a": "yes"}
        assert connection.execute(
            "select leased_by, leased_until, finished_at is not null, run_id from pgclarify_private.completion"
        ).fetchall() == [(None, None, True, 1)]

    def test_equal_inputs_of_one_claim_are_one_call(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        rows = worker.claim_calls(
            1, ["a"] * 3, {"parameters": {}}, {"parameters": {"a": 1, "b": 2}}, {"parameters": {"b": 2, "a": 1}}
        )

        assert len(rows) == 3
        assert (
            len({row["completion_id"] for row in rows})
            == scalar(connection, "select count(*) from pgclarify_private.completion")
            == 2
        )

    def test_a_released_lease_is_free(self, make_worker: MakeWorker) -> None:
        first, second = make_worker(), make_worker()
        held = claim(first, 1, ["a", "b"]).ours

        # A worker without the lease cannot release it, whether it knows of it or not.
        second.give_back([held["a"]])
        second.give_back([held["a"]], first.leases)
        assert claim(second, 2, ["a"]).waiting == {"a"}
        # Nor by an earlier attempt of the same run, which is over.
        earlier = dict(first.leases)
        assert set(claim(first, 1, ["a"]).ours) == {"a"}
        first.give_back([held["a"]], earlier)
        assert claim(second, 2, ["a"]).waiting == {"a"}

        first.give_back([held["a"]])
        taken = claim(second, 2, ["a", "b"])
        assert (set(taken.ours), taken.waiting) == ({"a"}, {"b"})
        # A worker whose lease was taken over cannot release it either.
        first.give_back(list(held.values()))
        assert claim(make_worker(), 3, ["a"]).waiting == {"a"}

    @pytest.mark.committed
    def test_calls_of_the_dead_and_the_late_and_of_earlier_attempts_are_claimed(self, make_worker: MakeWorker) -> None:
        dying, hanging, living = make_worker(), make_worker(), make_worker()
        claim(dying, 1, ["dead"], lease=3600)
        claim(hanging, 2, ["late"], lease=-1)
        claim(living, 3, ["mine"])
        hanging.give_back(list(claim(hanging, 2, ["given back"]).ours.values()))
        dying.die()

        claims = claim(living, 3, ["late", "new", "mine", "given back", "dead", "new"])
        assert set(claims.ours) == {"late", "new", "mine", "given back", "dead"}
        assert claim(hanging, 2, ["late"]).waiting == {"late"}

    def test_an_attempt_that_is_over_asks_nothing(self, connection: Connection, make_worker: MakeWorker) -> None:
        worker, run_id = make_worker(), enter(connection)
        connection.execute(
            "update pgclarify_private.run set status = 'running', attempt = 2, started_at = now(), worker_id = %s",
            [worker.worker_id],
        )
        with pytest.raises(psycopg.Error) as lost:
            worker.claim_calls(run_id, ["one"], attempt=1)

        assert lost.value.sqlstate == "PC006"

    @pytest.mark.committed
    def test_sessions_that_share_inputs_share_the_calls(self, connection: Connection, make_worker: MakeWorker) -> None:
        """Four runs over the same inputs, each in a different order: each input is called exactly once."""
        workers = [make_worker() for _ in range(4)]
        inputs = [f"input {number}" for number in range(40)]
        start = Barrier(4)

        def work(run_id: int) -> list[str]:
            worker, chance = workers[run_id], random.Random(run_id)  # noqa: S311 - not for secrets
            called: list[str] = []
            waiting = chance.sample(inputs, 30) if run_id else list(inputs)
            start.wait()
            while waiting:
                chance.shuffle(waiting)
                claims = claim(worker, run_id, waiting[:10])
                called += claims.ours
                store(worker, list(claims.ours.values()))
                waiting = [text for text in waiting if text not in claims.ours and text not in claims.answered]
            return called

        with ThreadPoolExecutor(4) as pool:
            called = [text for each in pool.map(work, range(4)) for text in each]

        assert sorted(called) == sorted(inputs)
        assert scalar(connection, "select count(*) from pgclarify_private.completion where reply is null") == 0

    @pytest.mark.committed
    def test_claims_in_any_order_do_not_deadlock(self, make_worker: MakeWorker) -> None:
        """All at once and nothing released in between: each input has exactly one owner."""
        workers = [make_worker() for _ in range(4)]
        inputs = [f"input {number}" for number in range(200)]
        start = Barrier(4)

        def work(run_id: int) -> set[str]:
            shuffled = random.Random(run_id).sample(inputs, len(inputs))  # noqa: S311 - not for secrets
            start.wait()
            return set(claim(workers[run_id], run_id, shuffled).ours)

        with ThreadPoolExecutor(4) as pool:
            owned = list(pool.map(work, range(4)))

        assert set.union(*owned) == set(inputs)
        assert sum(map(len, owned)) == len(inputs)


class TestServedAgain:
    """A run answers an equal question of the same role with the same roles, at the same revision, by the same model."""

    @pytest.fixture
    def worker(self, connection: Connection, make_worker: MakeWorker) -> ManualWorker:
        connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
        worker = make_worker()
        worker.index_everything()
        return worker

    @pytest.fixture
    def asker(self, connect: Connect, make_role: MakeRole) -> Connection:
        """A user whose roles do not change. A superuser has all roles of the server, and other tests make some."""
        return connect(make_role("pgclarify_user"))

    @staticmethod
    def ask(connection: Connection, question: str = "cars", **arguments: Any) -> int:
        row = connection.execute(
            "select pgclarify.submit('clarify', %s, 'insurance', jsonb_build_object('top_k', %s::integer) || %s::jsonb)",  # noqa: E501
            [question, arguments.get("top_k", 20), arguments.get("options", "{}")],
        ).fetchone()
        assert row is not None
        return int(row[0])

    def test_to_a_superuser_whatever_roles_others_make(
        self, connection: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker
    ) -> None:
        role = make_role("pgclarify_user")
        connection.execute(sql.SQL("alter role {} superuser").format(sql.Identifier(role)))
        root = connect(role)
        run_id = self.ask(root)
        worker.answer(run_id)
        make_role("pgclarify_user")

        assert self.ask(root) == run_id

        connection.execute(sql.SQL("alter role {} nosuperuser").format(sql.Identifier(role)))
        assert self.ask(root) != run_id

    def test_to_who_asked(
        self, connection: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker
    ) -> None:
        team = make_role("pgclarify_user", name="team")
        alice, bob = connect(make_role(team)), connect(make_role(team))
        run_id = self.ask(alice)
        # A run that is not over is not reused.
        assert self.ask(alice) != run_id
        worker.answer(run_id)

        assert self.ask(alice) == run_id
        assert self.ask(alice, "  cars\n") == run_id
        assert self.ask(alice, options='{"method": "hybrid", "singletons": null}') == run_id
        others = [
            self.ask(alice, "Cars"),
            self.ask(alice, top_k=19),
            self.ask(alice, options='{"method": "dense"}'),
            self.ask(bob),
            self.ask(connection),
        ]
        assert run_id not in others
        assert len(set(others)) == 5

    def test_not_once_the_corpus_has_changed(
        self, connection: Connection, asker: Connection, worker: ManualWorker
    ) -> None:
        run_id = self.ask(asker)
        worker.answer(run_id)
        worker.send("fold_tallies")
        assert self.ask(asker) == run_id

        changes = [
            lambda: connection.execute("select pgclarify.add_document('insurance', '2', 'Vans.')"),
            lambda: connection.execute(
                "select pgclarify.add_document('insurance', '1', 'Cars are insured.', readers => '{a}')"
            ),
            lambda: connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are not insured.')"),
            lambda: connection.execute("select pgclarify.remove_document('insurance', '1')"),
        ]
        for change in changes:
            change()
            worker.index_everything()
            worker.send("fold_tallies")
            later = self.ask(asker)
            assert later != run_id
            worker.answer(later)
            assert self.ask(asker) == later
            run_id = later

    def test_changes_that_no_search_sees_keep_the_stored_answer(
        self, connection: Connection, asker: Connection, worker: ManualWorker
    ) -> None:
        run_id = self.ask(asker)
        worker.answer(run_id)

        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.', uri => 'http://a')")
        connection.execute("select pgclarify.add_document('insurance', '2', 'Not indexed yet.')")

        assert self.ask(asker) == run_id

    @pytest.mark.committed
    def test_not_by_another_model(
        self, asker: Connection, connect: Connect, make_role: MakeRole, worker: ManualWorker
    ) -> None:
        role = make_role("pgclarify_worker")
        run_id = self.ask(asker)
        worker.answer(run_id)

        other = ManualWorker(connect(role), model="another model")
        assert self.ask(asker) == run_id, "the worker that answered is still alive"
        worker.die()
        assert self.ask(asker) != run_id
        newer = ManualWorker(connect(role), prompt_version="v2")
        other.die()
        assert self.ask(asker) != run_id
        newer.die()
        assert self.ask(asker) != run_id, "no worker is alive, and the last one had another prompt"
        ManualWorker(connect(role), version="1").die()
        assert self.ask(asker) != run_id, "the last one had another version"
        ManualWorker(connect(role))
        assert self.ask(asker) == run_id

    @pytest.mark.committed
    def test_with_no_worker_alive(self, asker: Connection, worker: ManualWorker) -> None:
        run_id = self.ask(asker)
        worker.start(run_id)
        worker.retrieve(run_id, question="cars", vector=[1, 0, 0, 0])
        worker.finish(run_id, interpretations=[reading()])
        worker.die()

        clarify = "select run_id, status, ordinal, answer, document_ids from pgclarify.clarify('cars')"
        expected = [(run_id, "succeeded", 1, "Cars", ["1"])]
        assert asker.execute(clarify.encode()).fetchall() == expected
        with asker.transaction():
            asker.execute("set transaction isolation level repeatable read, read only")
            assert asker.execute(clarify.encode()).fetchall() == expected
        assert asker.execute(
            "select question_ordinal, question_key, answer from pgclarify.clarify_many('{cars,cars}', '{a,b}')"
        ).fetchall() == [(1, "a", "Cars"), (2, "b", "Cars")]

    @pytest.mark.parametrize(("status", "error"), [("partial", None), ("failed", "no endpoint")])
    def test_only_what_succeeded(self, asker: Connection, worker: ManualWorker, status: str, error: str | None) -> None:
        run_id = self.ask(asker)
        worker.start(run_id)
        worker.finish(run_id, status=status, error=error)

        assert self.ask(asker) != run_id

    def test_equal_questions_are_one_run(self, connection: Connection, asker: Connection, worker: ManualWorker) -> None:
        answered = self.ask(asker)
        worker.answer(answered)

        run_ids = scalar(asker, "select pgclarify.submit_many('clarify', '{vans,cars,trucks,\" vans\",cars}')")

        assert run_ids[1] == run_ids[4] == answered
        assert run_ids[0] == run_ids[3]
        assert len(set(run_ids)) == 3
        assert scalar(connection, "select count(*) from pgclarify_private.run where status = 'queued'") == 2
