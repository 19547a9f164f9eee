"""Groups of questions while other sessions lock their rows, and after their runs are deleted."""

from __future__ import annotations

from contextlib import closing

import pytest

from pgclarify.database.pool import open_pool
from pgclarify.worker.grouping import QuestionGrouping
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, HandWorker, Hire, MakeRole, scalar
from tests.integration.test_question_groups import NEAR, Ask, ask, asker, at, group, groups, worker

__all__ = ["ask", "asker", "worker"]

PRUNED = "select pruned from pgclarify_private.prune_question_groups(null, 100)"
KEPT = """
    select
        (select count(*) from pgclarify_private.question_group), (select count(*)
        from pgclarify_private.question_wording)
"""


@pytest.fixture
def other_corpus(connection: Connection, worker: HandWorker) -> str:
    """A second corpus. The index over leaders exists already: creating it would wait for all other sessions."""
    connection.execute(MAKE_OPEN_CORPUS, ["medicine"])
    worker.open_spaces()
    connection.execute("select pgclarify_private.index_leaders(4)")
    return "medicine"


def test_questions_of_a_corpus_that_somebody_holds_wait_and_no_others(
    connection: Connection, worker: HandWorker, ask: Ask, other_corpus: str, connect: Connect
) -> None:
    ask("cars", at(1))
    ask("pills", at(1), corpus=other_corpus)
    with closing(connect("postgres")) as dropping, dropping.transaction():
        # The first lock that drop_corpus takes.
        dropping.execute("select from pgclarify_private.corpus where name = 'insurance' for update")
        assert group(worker) == 1
        assert [number is None for number in groups(connection)] == [True, False]

    assert group(worker) == 1


def test_two_workers_group_questions_of_two_corpora(
    connection: Connection, worker: HandWorker, ask: Ask, other_corpus: str, hire: Hire
) -> None:
    first = hire()
    ask("cars", at(1))
    with first.connection.transaction():
        assert group(first) == 1
        ask("pills", at(1), corpus=other_corpus)
        assert group(worker) == 1, "the question about pills"
    ask("Cars?", at(1))
    assert group(worker) == 1

    cars, pills, same = groups(connection)
    assert cars == same != pills


def test_nobody_else_can_stop_it(
    connection: Connection, asker: Connection, worker: HandWorker, ask: Ask, connect: Connect, make_role: MakeRole
) -> None:
    ask("cars", at(1), by=asker)
    asker.execute("select pgclarify.submit('clarify', 'cars')")
    reader = connect(make_role("pgclarify_reader"))
    reader.execute("select pg_advisory_lock(1885823084, 0)")

    assert group(worker) == 1
    assert worker.value("count_served", most=100) == 1


def test_the_number_of_a_group_tells_nothing_of_when_it_began(
    connection: Connection, worker: HandWorker, ask: Ask
) -> None:
    for number in range(20):
        ask(f"question {number}")
    group(worker)

    numbers = [number or 0 for number in groups(connection)]
    assert numbers != sorted(numbers)
    assert len({number >> 20 for number in numbers}) == 20, "they are not near each other either"
    assert max(numbers) < 2**53, "exact in JSON"


def test_many_answers_of_a_run_that_somebody_holds_hide_no_others(
    connection: Connection, asker: Connection, worker: HandWorker, ask: Ask, connect: Connect
) -> None:
    held = ask("cars", at(1), by=asker)
    ask("boats", at(0), by=asker)
    for _ in range(3):
        asker.execute("select pgclarify.submit('clarify', 'cars')")
    asker.execute("select pgclarify.submit('clarify', 'boats')")

    with closing(connect("postgres")) as other, other.transaction():
        other.execute("select from pgclarify_private.run where run_id = %s for update", [held])
        assert worker.value("count_served", most=2) == 1

    assert worker.value("count_served", most=2) == 2


class TestPruning:
    def test_groups_without_runs_go(
        self, connection: Connection, worker: HandWorker, ask: Ask, other_corpus: str
    ) -> None:
        for question, vector in (("cars", at(1)), ("autos", at(NEAR)), ("boats", at(-1))):
            ask(question, vector)
        ask("pills", at(1), corpus=other_corpus)
        group(worker)
        assert connection.execute(KEPT.encode()).fetchone() == (3, 4)
        connection.execute("delete from pgclarify_private.run where question in ('cars', 'pills')")
        assert scalar(connection, PRUNED) == 1

        assert connection.execute(KEPT.encode()).fetchone() == (2, 3), "autos are in the group of cars"
        connection.execute("delete from pgclarify_private.run")
        assert scalar(connection, PRUNED) == 2
        assert connection.execute(KEPT.encode()).fetchone() == (0, 0)

    def test_pruning_keeps_a_group_that_a_run_is_joining(
        self, connection: Connection, worker: HandWorker, ask: Ask
    ) -> None:
        first = ask("cars", at(1))
        group(worker)
        connection.execute("delete from pgclarify_private.run where run_id = %s", [first])
        ask("cars", at(1))
        with worker.connection.transaction():
            group(worker)
            assert scalar(connection, PRUNED) == 0

        assert scalar(connection, PRUNED) == 0
        assert (
            scalar(connection, "select question_group_id from pgclarify_private.question_group")
            == groups(connection)[0]
        )

    async def test_a_worker_looks_through_all_of_them(
        self, connection: Connection, worker: HandWorker, ask: Ask, database: str
    ) -> None:
        connection.execute("""
            insert into pgclarify_private.question_group (corpus_id) select 1 from generate_series(1, 4500)
        """)
        ask("cars", at(1))
        group(worker)
        left = []
        async with open_pool(database) as pool:
            grouping = QuestionGrouping(pool, is_busy=lambda: False)
            for _ in range(4):
                await grouping.prune()
                left.append(scalar(connection, "select count(*) from pgclarify_private.question_group"))
            connection.execute("delete from pgclarify_private.run")
            await grouping.prune()

        assert left[2:] == [1, 1]
        assert left[0] >= 2501 and left[1] >= 501
        assert scalar(connection, "select count(*) from pgclarify_private.question_group") == 0
