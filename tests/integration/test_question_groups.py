"""Questions that mean the same get one group, after their runs have ended, also while other sessions lock rows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from contextlib import closing

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.stored_answers import reading
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["ask", "asker", "worker"]

NEAR, FAR = 0.9, 0.8

Ask = Callable[..., int]


def at(similarity: float) -> list[float]:
    """A vector of that cosine similarity to at(1)."""
    return [similarity, math.sqrt(1 - similarity**2), 0.0, 0.0]


def group(worker: ManualWorker) -> int:
    """Group the ended runs; how many."""
    return int(worker.value("group_questions", most=100))


def groups(connection: Connection) -> list[int | None]:
    """The groups of all runs, in their order."""
    return [
        row[0] for row in connection.execute("select question_group_id from pgclarify.run order by run_id").fetchall()
    ]


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and a corpus of one document."""
    hired = make_worker()
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
    hired.index_everything()
    return hired


@pytest.fixture
def ask(connection: Connection, worker: ManualWorker) -> Ask:
    """Asks, and ends the run with nothing found."""

    def asked(
        question: str,
        vector: Sequence[float] | None = None,
        *,
        relaxed: bool = False,
        corpus: str = "insurance",
        by: Connection = connection,
        alone: str | None = None,
    ) -> int:
        options = "{}" if alone is None else json.dumps({"history": [f"What is {alone}"]})
        run_id = int(scalar(by, "select pgclarify.submit('clarify', %s, %s, %s)", question, corpus, options))
        started = worker.start(run_id)
        assert started is not None
        if alone is not None:
            worker.record_results(run_id, "rewriting", {"rewritten": alone, "was_ambiguous": True, "reason": None})
        if relaxed:
            worker.retrieve(run_id, 1, "a relaxed question", at(1), asked_vector=vector)
        else:
            worker.retrieve(run_id, 1, question, vector)
        worker.finish(run_id)
        return run_id

    return asked


@pytest.fixture
def asker(connect: Connect, make_role: MakeRole) -> Connection:
    """A user whose roles do not change. A superuser has all roles of the server, and other tests make some."""
    return connect(make_role("pgclarify_user"))


def test_the_same_words_are_the_same_question(connection: Connection, worker: ManualWorker, ask: Ask) -> None:
    for question in ("Are rental cars covered?", "are  rental cars covered", "ARE RENTAL CARS: COVERED?!", "Covered?"):
        ask(question, at(1))
    ask("???", at(-1))
    ask("?!?", at(-1))
    assert groups(connection) == [None] * 6

    assert group(worker) == 6
    first, second, third, fourth, fifth, sixth = groups(connection)
    assert first == second == third == fourth, "the last one by meaning"
    assert first != fifth == sixth
    assert scalar(connection, "select count(*) from pgclarify_private.question_wording") == 4
    assert group(worker) == 0


def test_follow_ups_are_grouped_by_what_they_mean(connection: Connection, worker: ManualWorker, ask: Ask) -> None:
    ask("And hail?", at(1), alone="Is hail covered?")
    ask("And hail?", at(-1), alone="Does hail cost more?")
    ask("Is hail covered", at(1))

    group(worker)

    first, second, third = groups(connection)
    assert first == third != second


@pytest.mark.parametrize(
    ("one", "other", "similarity", "are_same"),
    [
        ("Are rental cars covered?", "Does it cover rental cars?", NEAR, True),
        ("Are rental cars covered?", "Does it cover rental boats?", FAR, False),
        ("revenue 2024", "What was revenue in 2024?", NEAR, True),
        ("revenue 2024", "revenue 2023", NEAR, False),
        ("Who founded it?", "founder", NEAR, True),
        ("Who founded it?", "By whom was it founded?", NEAR, True),
        ("Who founded it?", "Where was it founded?", NEAR, False),
    ],
)
def test_near_questions_are_the_same_unless_they_ask_for_something_else(
    connection: Connection, worker: ManualWorker, ask: Ask, one: str, other: str, similarity: float, are_same: bool
) -> None:
    ask(one, at(1))
    ask(other, at(similarity))

    group(worker)

    assert (len(set(groups(connection))) == 1) is are_same


def test_a_group_is_of_one_corpus_and_one_model(connection: Connection, worker: ManualWorker, ask: Ask) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["medicine"])
    worker.open_spaces()
    ask("cars", at(1))
    ask("cars", at(1), corpus="medicine")
    ask("autos", at(1))
    connection.execute("update pgclarify_private.run set embedding_model = 'another' where question = 'autos'")

    group(worker)

    assert len(set(groups(connection))) == 3


def test_many_near_questions_of_others_hide_none(connection: Connection, worker: ManualWorker, ask: Ask) -> None:
    ask("cars", at(1))
    group(worker)
    connection.execute("""
        insert into pgclarify_private.question_group (corpus_id, embedding_model, leader, figures)
        select 1, 'all-MiniLM-L6-v2', '[1,0,0,0]', array[number::text] from generate_series(1, 300) as number
    """)

    ask("autos", at(0.95))
    group(worker)

    assert len(set(groups(connection))) == 1


def test_a_question_that_was_relaxed_is_compared_as_it_was_asked(
    connection: Connection, worker: ManualWorker, ask: Ask
) -> None:
    ask("Are rental cars covered?", at(1), relaxed=True)
    ask("Are rental boats covered?", at(0), relaxed=True)
    ask("Do you cover rental cars?", at(NEAR), relaxed=True)
    group(worker)

    first, second, third = groups(connection)
    assert first == third != second


def test_questions_without_a_vector_are_grouped_by_their_words(
    connection: Connection, worker: ManualWorker, ask: Ask
) -> None:
    for question in ("cars", "Cars?", "autos"):
        ask(question)
    assert group(worker) == 3

    first, second, third = groups(connection)
    assert first == second != third
    # A later question in these words has a vector, so other questions can be near it.
    ask("CARS", at(1))
    ask("vehicles", at(NEAR))
    group(worker)
    ask("wagons", at(NEAR))
    group(worker)
    assert groups(connection)[3] == groups(connection)[5] == first


def test_unfinished_runs_and_runs_without_a_corpus_are_not_grouped(
    connection: Connection, worker: ManualWorker, ask: Ask
) -> None:
    connection.execute("select pgclarify.submit('clarify', 'cars')")
    ask("autos", at(1))
    connection.execute(MAKE_OPEN_CORPUS, ["medicine"])
    worker.open_spaces()
    ask("pills", at(0), corpus="medicine")
    group(worker)
    connection.execute("select pgclarify.drop_corpus('medicine')")
    assert group(worker) == 0
    worker.sweep()
    connection.execute("update pgclarify_private.run set question_group_id = null where corpus_id is null")

    assert group(worker) == 0
    assert scalar(connection, "select count(*) from pgclarify_private.question_group") == 1, (
        "its groups were deleted with the corpus"
    )


def test_citations_are_tallied_for_whom_they_were_made_but_not_of_evaluations(
    connection: Connection, worker: ManualWorker, ask: Ask, connect: Connect, make_role: MakeRole
) -> None:
    alice = make_role("pgclarify_user", name="alice")
    for by, question in ((connection, "cars"), (connection, "autos"), (connect(alice), "cars")):
        run_id = int(scalar(by, "select pgclarify.submit('clarify', %s)", question))
        worker.start(run_id)
        worker.retrieve(run_id, 1, question, at(1))
        worker.finish(run_id, interpretations=[reading("What of cars?"), reading("Which cars?")])
    connection.execute("set pgclarify.count_questions = off")
    evaluated = int(scalar(connection, "select pgclarify.submit('clarify', 'boats')"))
    worker.start(evaluated)
    worker.retrieve(evaluated, 1, "boats", at(0))
    worker.finish(evaluated, interpretations=[reading("What of boats?")])
    assert group(worker) == 4
    group(worker)

    assert connection.execute("""
        select document_id, requested_by, citations, runs from pgclarify_private.citation_tally order by runs
    """).fetchall() == [("1", alice, 2, 1), ("1", "postgres", 4, 2)]


class TestServedAgain:
    @pytest.mark.committed
    def test_every_time_is_counted_but_in_evaluations_and_read_only_transactions(
        self, connection: Connection, asker: Connection, worker: ManualWorker, ask: Ask
    ) -> None:
        first, second = ask("cars", at(1), by=asker), ask("boats", at(0), by=asker)
        asker.execute("select pgclarify.submit('clarify', 'cars'), pgclarify.submit('clarify', 'trains')")
        asker.execute("select pgclarify.submit_many('clarify', array['cars', 'boats', 'cars'])")
        asker.execute("select pgclarify.clarify('cars')")
        for uncounted in ("transaction_read_only = on", "pgclarify.count_questions = off"):
            with asker.transaction():
                asker.execute(f"set local {uncounted}".encode())
                asker.execute("select pgclarify.clarify('cars')")
        assert scalar(connection, "select sum(served) from pgclarify.run") == 0

        assert worker.value("count_served", most=2) == 2
        assert worker.value("count_served", most=100) == 2
        assert worker.value("count_served", most=100) == 0

        rows = connection.execute("""
            select run_id, served, last_served_at > finished_at from pgclarify.run order by run_id limit 2
        """).fetchall()
        assert rows == [(first, 3, True), (second, 1, True)]

    @pytest.mark.committed
    def test_served_answers_of_a_locked_run_hide_no_others_and_are_counted_later(
        self, connection: Connection, asker: Connection, worker: ManualWorker, ask: Ask, connect: Connect
    ) -> None:
        held = ask("cars", at(1), by=asker)
        ask("boats", at(0), by=asker)
        gone = ask("trains", at(0), by=asker)
        for _ in range(3):
            asker.execute("select pgclarify.submit('clarify', 'cars')")
        asker.execute("select pgclarify.submit_many('clarify', array['boats', 'trains'])")
        connection.execute("delete from pgclarify_private.run where run_id = %s", [gone])
        served = "select array_agg(served order by run_id) from pgclarify.run"

        with closing(connect("postgres")) as other, other.transaction():
            other.execute("select from pgclarify_private.run where run_id = %s for update", [held])
            assert worker.value("count_served", most=2) == 2
            assert scalar(connection, served) == [0, 1]

        assert worker.value("count_served", most=100) == 3
        assert scalar(connection, served) == [3, 1]


def test_a_vector_of_an_earlier_attempt_is_of_no_use(connection: Connection, worker: ManualWorker, ask: Ask) -> None:
    ask("cars covered", at(1))
    run_id = int(scalar(connection, "select pgclarify.submit('clarify', 'how much is leave', 'insurance')"))
    worker.start(run_id)
    worker.retrieve(run_id, 1, "vehicles covered", at(0.99))

    worker.start(run_id)
    connection.execute("select pgclarify.cancel(array[%s]::bigint[])", [run_id])
    group(worker)

    cars, leave = groups(connection)
    assert None not in (cars, leave)
    assert cars != leave


@pytest.fixture
def other_corpus(connection: Connection, worker: ManualWorker) -> str:
    """A second corpus. The index over leaders exists already: creating it would wait for all other sessions."""
    connection.execute(MAKE_OPEN_CORPUS, ["medicine"])
    worker.open_spaces()
    connection.execute("select pgclarify_private.index_leaders(4)")
    return "medicine"


@pytest.mark.committed
def test_questions_of_a_corpus_that_somebody_holds_wait_and_no_others(
    connection: Connection, worker: ManualWorker, ask: Ask, other_corpus: str, connect: Connect
) -> None:
    ask("cars", at(1))
    ask("pills", at(1), corpus=other_corpus)
    with closing(connect("postgres")) as dropping, dropping.transaction():
        # The first lock that drop_corpus takes.
        dropping.execute("select from pgclarify_private.corpus where name = 'insurance' for update")
        assert group(worker) == 1
        assert [number is None for number in groups(connection)] == [True, False]

    assert group(worker) == 1


@pytest.mark.committed
def test_two_workers_group_questions_of_two_corpora(
    connection: Connection, worker: ManualWorker, ask: Ask, other_corpus: str, make_worker: MakeWorker
) -> None:
    first = make_worker()
    ask("cars", at(1))
    with first.connection.transaction():
        assert group(first) == 1
        ask("pills", at(1), corpus=other_corpus)
        assert group(worker) == 1, "the question about pills"
    ask("Cars?", at(1))
    assert group(worker) == 1

    cars, pills, same = groups(connection)
    assert cars == same != pills


@pytest.mark.committed
def test_the_number_of_a_group_tells_nothing_of_when_it_began(
    connection: Connection, worker: ManualWorker, ask: Ask
) -> None:
    for number in range(20):
        ask(f"question {number}")
    group(worker)

    numbers = [number or 0 for number in groups(connection)]
    assert numbers != sorted(numbers)
    assert len({number >> 20 for number in numbers}) == 20, "they are not near each other either"
    assert max(numbers) < 2**53, "exact in JSON"


def test_a_question_whose_group_was_pruned_gets_another(connection: Connection, worker: ManualWorker, ask: Ask) -> None:
    for question in ("cars", "boats"):
        ask(question)
    group(worker)
    cars, boats = groups(connection)
    connection.execute("delete from pgclarify_private.run where question = 'cars'")
    connection.execute("delete from pgclarify_private.question_group where question_group_id = %s", [cars])
    ask("cars")
    group(worker)

    assert groups(connection)[0] == boats
    assert groups(connection)[1] not in (None, cars, boats)
