"""Questions that mean the same get one group, after their runs have ended; answers served again are counted."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest

from pgclarify.database.pool import fetch, open_pool
from pgclarify.embedding.registry import Embedders
from pgclarify.worker.grouping import QuestionGrouping
from tests.integration.answering import reading
from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, HandWorker, Hire, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

MODEL = "all-MiniLM-L6-v2"
NEAR, FAR = 0.9, 0.8

Ask = Callable[..., int]


def at(similarity: float) -> list[float]:
    """A vector of that cosine similarity to at(1)."""
    return [similarity, math.sqrt(1 - similarity**2), 0.0, 0.0]


def group(
    worker: HandWorker, vectors: dict[int, Sequence[float] | None] | None = None, *, skipped_models: Sequence[str] = ()
) -> dict[str, Any]:
    """Group the ended runs. vectors: vectors for runs whose questions need one."""
    given = {run_id: None if vector is None else json.dumps(list(vector)) for run_id, vector in (vectors or {}).items()}
    (row,) = worker.send(
        "group_questions",
        most=100,
        run_ids=list(given),
        vectors=list(given.values()),
        skipped_models=list(skipped_models),
    )
    return row


def groups(connection: Connection) -> list[int | None]:
    """The groups of all runs, in their order."""
    return [
        row[0] for row in connection.execute("select question_group_id from pgclarify.run order by run_id").fetchall()
    ]


@pytest.fixture
def worker(connection: Connection, hire: Hire) -> HandWorker:
    """A worker, and a corpus of one document."""
    hired = hire()
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
    hired.index_everything()
    return hired


@pytest.fixture
def ask(connection: Connection, worker: HandWorker) -> Ask:
    """Asks, and ends the run with nothing found."""

    def asked(
        question: str,
        vector: Sequence[float] | None = None,
        *,
        relaxed: str | None = None,
        corpus: str = "insurance",
        by: Connection = connection,
    ) -> int:
        run_id = int(scalar(by, "select pgclarify.submit('clarify', %s, %s)", question, corpus))
        started = worker.start(run_id)
        assert started is not None
        worker.retrieve(run_id, 1, relaxed or question, vector)
        worker.finish(run_id)
        return run_id

    return asked


@pytest.fixture
def asker(connect: Connect, make_role: MakeRole) -> Connection:
    """A user whose roles do not change. A superuser has all roles of the server, and other tests make some."""
    return connect(make_role("pgclarify_user"))


def test_the_same_words_are_the_same_question(connection: Connection, worker: HandWorker, ask: Ask) -> None:
    for question in ("Are rental cars covered?", "are  rental cars covered", "ARE RENTAL CARS: COVERED?!", "Covered?"):
        ask(question, at(1))
    ask("???", at(-1))
    ask("?!?", at(-1))
    assert groups(connection) == [None] * 6

    row = group(worker)

    assert (row["grouped"], row["wanted_run_ids"]) == (6, [])
    first, second, third, fourth, fifth, sixth = groups(connection)
    assert first == second == third == fourth, "the last one by meaning"
    assert first != fifth == sixth
    assert scalar(connection, "select count(*) from pgclarify_private.question_wording") == 4
    assert group(worker)["grouped"] == 0


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
    connection: Connection, worker: HandWorker, ask: Ask, one: str, other: str, similarity: float, are_same: bool
) -> None:
    ask(one, at(1))
    ask(other, at(similarity))

    group(worker)

    assert (len(set(groups(connection))) == 1) is are_same


def test_a_group_is_of_one_corpus_and_one_model(connection: Connection, worker: HandWorker, ask: Ask) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["medicine"])
    worker.open_spaces()
    ask("cars", at(1))
    ask("cars", at(1), corpus="medicine")
    ask("autos", at(1))
    connection.execute("update pgclarify_private.run set embedding_model = 'another' where question = 'autos'")

    group(worker)

    assert len(set(groups(connection))) == 3


def test_many_near_questions_of_others_hide_none(connection: Connection, worker: HandWorker, ask: Ask) -> None:
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
    connection: Connection, worker: HandWorker, ask: Ask
) -> None:
    first = ask("Are rental cars covered?", at(1), relaxed="cars")
    second = ask("Are rental boats covered?", at(1), relaxed="cars")
    third = ask("Do you cover rental cars?", at(1), relaxed="cars")
    row = group(worker)

    assert row["grouped"] == 0
    assert sorted(zip(row["wanted_run_ids"], row["wanted_questions"], row["wanted_models"], strict=True)) == [
        (first, "Are rental cars covered?", MODEL),
        (second, "Are rental boats covered?", MODEL),
        (third, "Do you cover rental cars?", MODEL),
    ]

    row = group(worker, {first: at(1), second: at(0), third: at(NEAR)})

    assert (row["grouped"], row["wanted_run_ids"]) == (3, [])
    assert len(set(groups(connection))) == 2
    ask("are rental CARS covered", at(1), relaxed="cars")
    assert group(worker)["wanted_run_ids"] == [], "these words have a group already"


def test_questions_without_a_vector_are_grouped_by_their_words(
    connection: Connection, worker: HandWorker, ask: Ask
) -> None:
    # A run of an earlier version has not stored the model of its vector, either.
    ask("cars", at(1))
    ask("Cars?", None)
    ask("autos", at(1))
    connection.execute("update pgclarify_private.run set embedding_model = null")
    relaxed = ask("rental cars", at(1), relaxed="cars")

    assert group(worker, {relaxed: None})["grouped"] == 4

    first, second, third, fourth = groups(connection)
    assert first == second
    assert len({first, third, fourth}) == 3
    # A later question in these words has a vector, so it can be near other questions.
    ask("CARS", at(1))
    ask("vehicles", at(NEAR))
    group(worker)
    assert groups(connection)[-2:] == [first, first]


@pytest.mark.committed
def test_a_group_that_began_without_a_vector_joins_the_one_that_it_is_near(
    connection: Connection, worker: HandWorker, ask: Ask, connect: Connect
) -> None:
    ask("autos", at(1))
    for question in ("cars", "Cars?", "boats"):
        ask(question)
    group(worker)
    near, words, same_words, boats = groups(connection)
    assert near != words == same_words

    ask("CARS", at(NEAR))
    with closing(connect("postgres")) as other, other.transaction():
        other.execute("select from pgclarify_private.run where question = 'cars' for update")
        group(worker)
        assert groups(connection) == [near, words, words, boats, words], (
            "a session with a locked row does not delay the others"
        )
    ask("cars!", at(NEAR))
    group(worker)

    assert groups(connection) == [near, near, near, boats, near, near]
    assert scalar(connection, "select count(*) from pgclarify_private.question_group") == 2
    assert scalar(connection, "select count(distinct question_group_id) from pgclarify_private.question_wording") == 2


def test_questions_of_a_skipped_model_wait(connection: Connection, worker: HandWorker, ask: Ask) -> None:
    ask("rental cars", at(1), relaxed="cars")
    ask("boats", at(0))
    row = group(worker, skipped_models=[MODEL])

    assert (row["grouped"], row["wanted_run_ids"]) == (1, [])
    assert [number is None for number in groups(connection)] == [True, False]
    assert len(group(worker, skipped_models=["another"])["wanted_run_ids"]) == 1


def test_runs_are_counted_when_they_end(connection: Connection, worker: HandWorker, ask: Ask) -> None:
    ask("cars", at(1))
    counts = "select interpretations, candidates, verdicts from pgclarify.run"
    assert connection.execute(counts.encode()).fetchall() == [(0, 1, 0)]


def test_unfinished_runs_and_runs_without_a_corpus_are_not_grouped(
    connection: Connection, worker: HandWorker, ask: Ask
) -> None:
    connection.execute("select pgclarify.submit('clarify', 'cars')")
    ask("autos", at(1))
    connection.execute(MAKE_OPEN_CORPUS, ["medicine"])
    worker.open_spaces()
    ask("pills", at(0), corpus="medicine")
    group(worker)
    connection.execute("select pgclarify.drop_corpus('medicine')")
    connection.execute("update pgclarify_private.run set question_group_id = null where corpus_id is null")

    assert group(worker)["grouped"] == 0
    assert scalar(connection, "select count(*) from pgclarify_private.question_group") == 1, (
        "its groups were deleted with the corpus"
    )


@pytest.mark.committed
def test_a_single_worker_groups_at_a_time(connection: Connection, worker: HandWorker, ask: Ask, hire: Hire) -> None:
    ask("cars", at(1))
    other = hire()

    with worker.connection.transaction():
        assert group(worker)["grouped"] == 1
        assert group(other)["grouped"] == 0


def test_citations_are_tallied_for_whom_they_were_made(
    connection: Connection, worker: HandWorker, ask: Ask, connect: Connect, make_role: MakeRole
) -> None:
    alice = make_role("pgclarify_user", name="alice")
    for by, question in ((connection, "cars"), (connection, "autos"), (connect(alice), "cars")):
        run_id = int(scalar(by, "select pgclarify.submit('clarify', %s)", question))
        worker.start(run_id)
        worker.retrieve(run_id, 1, question, at(1))
        worker.finish(run_id, interpretations=[reading("What of cars?"), reading("Which cars?")])
    group(worker)
    group(worker)

    assert connection.execute("""
        select document_id, requested_by, citations, runs from pgclarify_private.citation_tally order by runs
    """).fetchall() == [("1", alice, 2, 1), ("1", "postgres", 4, 2)]


def test_documents_that_evaluations_cite_are_not_tallied(connection: Connection, worker: HandWorker, ask: Ask) -> None:
    connection.execute("set pgclarify.count_questions = off")
    run_id = int(scalar(connection, "select pgclarify.submit('clarify', 'cars')"))
    worker.start(run_id)
    worker.retrieve(run_id, 1, "cars", at(1))
    worker.finish(run_id, interpretations=[reading("What of cars?")])

    assert group(worker)["grouped"] == 1

    assert scalar(connection, "select count(*) from pgclarify_private.citation_tally") == 0


class TestServedAgain:
    @pytest.mark.committed
    def test_every_time_is_counted(
        self, connection: Connection, asker: Connection, worker: HandWorker, ask: Ask
    ) -> None:
        first, second = ask("cars", at(1), by=asker), ask("boats", at(0), by=asker)
        asker.execute("select pgclarify.submit('clarify', 'cars'), pgclarify.submit('clarify', 'trains')")
        asker.execute("select pgclarify.submit_many('clarify', array['cars', 'boats', 'cars'])")
        asker.execute("select pgclarify.clarify('cars')")
        assert scalar(connection, "select sum(served) from pgclarify.run") == 0

        assert worker.send("count_served", most=2) == [{"answers": 2}]
        assert worker.send("count_served", most=100) == [{"answers": 2}]
        assert worker.send("count_served", most=100) == [{"answers": 0}]

        rows = connection.execute("""
            select run_id, served, last_served_at > finished_at from pgclarify.run order by run_id limit 2
        """).fetchall()
        assert rows == [(first, 3, True), (second, 1, True)]

    def test_a_rolled_back_question_is_not_counted(
        self, connection: Connection, asker: Connection, worker: HandWorker, ask: Ask
    ) -> None:
        ask("cars", at(1), by=asker)
        with asker.transaction(force_rollback=True):
            asker.execute("select pgclarify.submit('clarify', 'cars')")

        assert worker.send("count_served", most=100) == [{"answers": 0}]

    @pytest.mark.committed
    def test_served_answers_of_a_locked_run_are_counted_later(
        self, connection: Connection, asker: Connection, worker: HandWorker, ask: Ask, connect: Connect
    ) -> None:
        held = ask("cars", at(1), by=asker)
        ask("boats", at(0), by=asker)
        gone = ask("trains", at(0), by=asker)
        asker.execute("select pgclarify.submit_many('clarify', array['cars', 'boats', 'trains'])")
        connection.execute("delete from pgclarify_private.run where run_id = %s", [gone])
        served = "select array_agg(served order by run_id) from pgclarify.run"

        with closing(connect("postgres")) as other, other.transaction():
            other.execute("select from pgclarify_private.run where run_id = %s for update", [held])
            assert worker.send("count_served", most=100) == [{"answers": 2}]
            assert scalar(connection, served) == [0, 1]

        assert worker.send("count_served", most=100) == [{"answers": 1}]
        assert scalar(connection, served) == [1, 1]

    def test_questions_with_count_questions_off_are_not_counted(
        self, connection: Connection, asker: Connection, worker: HandWorker, ask: Ask
    ) -> None:
        ask("cars", at(1), by=asker)
        asker.execute("set pgclarify.count_questions = off")
        asker.execute("select pgclarify.submit('clarify', 'cars')")
        asker.execute("select pgclarify.clarify('cars')")

        assert worker.send("count_served", most=100) == [{"answers": 0}]

    def test_a_read_only_transaction_is_served_and_not_counted(
        self, connection: Connection, asker: Connection, worker: HandWorker, ask: Ask
    ) -> None:
        ask("cars", at(1), by=asker)
        with asker.transaction():
            asker.execute("set transaction read only")
            asker.execute("select pgclarify.clarify('cars')")

        assert worker.send("count_served", most=100) == [{"answers": 0}]


@pytest.mark.committed
async def test_workers_embed_what_was_relaxed(
    connection: Connection, asker: Connection, worker: HandWorker, ask: Ask, database: str
) -> None:
    for question in ("How do I cancel my policy?", "how can I cancel my policy", "How do I renew my policy?"):
        ask(question, at(1), relaxed="policy", by=asker)
    asker.execute("select pgclarify.submit('clarify', 'How do I cancel my policy?')")
    async with open_pool(database) as pool:
        with closing(Embedders()) as embedders:
            await QuestionGrouping(pool, embedders.get, asyncio.Lock(), is_busy=lambda: False).catch_up()
            await fetch(pool, "count_served", most=100)

    first, second, third = groups(connection)
    assert None not in (first, second, third)
    assert first == second != third
    assert scalar(connection, "select served from pgclarify.run order by run_id limit 1") == 1
