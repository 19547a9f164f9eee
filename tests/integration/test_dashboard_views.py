"""What dashboards show to each role: questions without an answer, ambiguous ones, old answers, cited documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker, vector_of
from tests.integration.stored_answers import reading
from tests.integration.test_plans import plans
from tests.sessions import Connect, Connection, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Office:
    """A corpus, users who ask it, and an analyst who sees all their questions.

    Args:
        maintenance: A superuser.
        alice: Asks, and may read everything.
        bob: Asks, and may not read document "hers".
        analyst: Starts nothing, and sees the runs of both; may not read "hers".
    """

    worker: ManualWorker
    maintenance: Connection
    alice: Connection
    bob: Connection
    analyst: Connection

    def carry_out(
        self, by: Connection, question: str, readings: Sequence[str] = (), *, status: str = "succeeded"
    ) -> int:
        """Ask; readings: a document that proves each."""
        run_id = int(scalar(by, "select pgclarify.submit('clarify', %s)", question))
        assert self.worker.start(run_id) is not None
        candidates = self.worker.retrieve(run_id, 1, question, vector_of(question.casefold().strip(" ?")))
        ranks = {candidate["document_id"]: candidate["rank"] for candidate in candidates}
        self.worker.finish(
            run_id,
            status=status,
            interpretations=[
                reading(f"What of {document_id}?", "Yes.", rank=ranks[document_id]) for document_id in readings
            ],
        )
        return run_id

    def catch_up(self) -> None:
        """Do the worker's tasks after the end of runs."""
        self.worker.send("count_served", most=100)
        self.worker.send("group_questions", most=100)

    def change(self, document_id: str, content: str) -> None:
        """Change a document, and index it."""
        self.maintenance.execute("select pgclarify.add_document('insurance', %s, %s)", [document_id, content])
        self.worker.index_everything()


@pytest.fixture
def office(connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker) -> Office:
    """An office with three documents."""
    alice, bob = (make_role("pgclarify_user", name=name) for name in ("alice", "bob"))
    analyst = make_role("pgclarify_reader", name="analyst")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connection.execute("select pgclarify.grant_access('insurance', %s, 'analyst')", [analyst])
    worker = make_worker()
    for document_id, readers in (("hers", [alice]), ("one", None), ("two", None)):
        connection.execute(
            "select pgclarify.add_document('insurance', %s, %s, readers => %s)",
            [document_id, f"Cars of {document_id}.", readers],
        )
    worker.index_everything()
    return Office(worker, connection, connect(alice), connect(bob), connect(analyst))


def seen(connection: Connection, view: str, columns: str, condition: str = "true") -> Rows:
    """Columns of a view, in their order."""
    query = f"select {columns} from pgclarify.{view} where {condition} order by {columns}"  # noqa: S608
    return connection.execute(query.encode()).fetchall()


def gaps(connection: Connection, columns: str) -> Rows:
    """Questions that were asked without an answer."""
    return seen(connection, "asked_question", columns, "unanswered_runs > 0")


def ambiguous(connection: Connection, columns: str) -> Rows:
    """Questions with several readings."""
    return seen(connection, "asked_question", columns, "interpretations > 1")


class TestContentGap:
    columns = "times_unanswered, unanswered_runs, answered_runs, is_gap, has_corpus_changed"

    def test_everyone_sees_what_they_asked_and_the_analyst_what_everyone_asked(self, office: Office) -> None:
        office.carry_out(office.bob, "Pets?")
        office.carry_out(office.bob, "cars", ["one"])
        office.carry_out(office.alice, "pets")
        office.bob.execute("select pgclarify.submit('clarify', 'Pets?')")
        office.catch_up()

        assert gaps(office.alice, self.columns) == [(1, 1, 0, True, False)]
        assert gaps(office.bob, self.columns) == [(2, 1, 0, True, False)]
        assert gaps(office.analyst, self.columns) == [(3, 2, 0, True, False)]
        assert gaps(office.maintenance, "corpus, unanswered_runs") == [("insurance", 2)]

    def test_is_closed_by_an_answer(self, office: Office) -> None:
        gap = office.carry_out(office.alice, "pets")
        office.change("one", "Cars and pets.")
        office.catch_up()
        assert gaps(office.analyst, self.columns) == [(1, 1, 0, True, True)]

        office.carry_out(office.bob, "Pets?", ["one"])
        office.catch_up()

        assert gaps(office.analyst, self.columns) == [(1, 1, 1, False, True)]
        assert gaps(office.alice, "last_unanswered_run_id, is_gap") == [(gap, True)], "his answer is not shown to her"
        told = "is_answered_for_another_role"
        assert gaps(office.analyst, told) == [(True,)]
        assert gaps(office.alice, told) == [(False,)]
        office.carry_out(office.alice, "PETS", ["one"])
        office.carry_out(office.bob, "pets!")
        office.carry_out(office.alice, "pets", ["one"])
        office.catch_up()
        assert gaps(office.analyst, told) == [(True,)]
        assert seen(office.analyst, "asked_question", "runs, requesters") == [(5, 2)]

    def test_partial_failed_and_cancelled_runs_are_no_content_gaps(self, office: Office) -> None:
        office.carry_out(office.alice, "pets", status="partial")
        lost = int(scalar(office.alice, "select pgclarify.submit('clarify', 'boats')"))
        office.worker.start(lost)
        office.worker.finish(lost, status="failed", error="the endpoint was gone")
        office.alice.execute("select pgclarify.cancel(array[pgclarify.submit('clarify', 'planes')])")
        office.catch_up()

        assert gaps(office.alice, self.columns) == []
        asked = "question, times_asked, runs, answered_runs, unanswered_runs"
        assert seen(office.alice, "asked_question", asked) == [
            ("boats", 1, 1, 0, 0),
            ("pets", 1, 1, 0, 0),
            ("planes", 1, 1, 0, 0),
        ]


def test_questions_of_evaluations_count_only_once_they_are_asked_for_real(office: Office) -> None:
    office.alice.execute("set pgclarify.count_questions = off")
    office.carry_out(office.alice, "cars", ["hers", "one"])
    office.carry_out(office.alice, "pets")
    office.carry_out(office.alice, "boats", ["one", "two"])
    office.catch_up()
    counted = ("asked_question", "stale_answer")
    assert [seen(office.analyst, view, "question") for view in counted] == [[]] * len(counted)

    office.alice.execute("reset pgclarify.count_questions")
    office.alice.execute("select pgclarify.submit_many('clarify', array['cars', 'pets'])")
    office.catch_up()

    assert seen(office.analyst, "asked_question", "question, times_asked") == [("cars", 1), ("pets", 1)]
    assert gaps(office.analyst, "question, times_unanswered") == [("pets", 1)]
    assert ambiguous(office.analyst, "question, times_asked") == [("cars", 1)]


def test_ambiguous_questions_are_those_with_several_readings(office: Office) -> None:
    office.carry_out(office.alice, "cars", ["hers", "one", "two"])
    office.carry_out(office.bob, "Cars?", ["one", "two"])
    office.carry_out(office.bob, "cars", ["one"])
    office.carry_out(office.bob, "boats", ["one"])
    office.bob.execute("select pgclarify.submit('clarify', 'cars')")
    office.catch_up()
    columns = "question, interpretations, times_asked, answered_runs"

    assert ambiguous(office.alice, columns) == [("cars", 3, 1, 1)]
    assert ambiguous(office.bob, columns) == [("cars", 2, 3, 2)]
    assert ambiguous(office.analyst, columns) == [("cars", 3, 4, 3)]
    assert ambiguous(office.analyst, "mean_interpretations") == [(2.0,)]


def test_documents_are_counted_for_who_may_read_them(office: Office) -> None:
    office.carry_out(office.alice, "cars", ["hers", "one"])
    office.carry_out(office.bob, "cars", ["one"])
    columns = "id, citations, cited_runs"
    assert seen(office.alice, "document", columns) == [("hers", 0, 0), ("one", 0, 0), ("two", 0, 0)]
    office.catch_up()

    assert seen(office.alice, "document", columns) == [("hers", 1, 1), ("one", 1, 1), ("two", 0, 0)]
    assert seen(office.bob, "document", columns) == [("one", 1, 1), ("two", 0, 0)]
    assert seen(office.analyst, "document", columns) == [("one", 2, 2), ("two", 0, 0)]
    office.maintenance.execute("select pgclarify.remove_document('insurance', 'one')")
    assert seen(office.analyst, "document", columns) == [("two", 0, 0)]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """All nodes of a plan."""
    yield plan
    for below in plan.get("Plans", ()):
        yield from nodes(below)


class TestStaleAnswer:
    columns = "question, corpus_changes, lost_quotes"

    def test_is_one_whose_corpus_has_changed_since(self, office: Office) -> None:
        office.carry_out(office.bob, "cars", ["one", "two"])
        office.catch_up()
        assert seen(office.analyst, "stale_answer", self.columns) == []

        office.change("two", "Boats, and no more.")

        assert seen(office.analyst, "stale_answer", self.columns) == [("cars", 1, 1)]
        assert seen(office.bob, "stale_answer", self.columns) == [("cars", 1, 1)]
        assert seen(office.alice, "stale_answer", self.columns) == []
        office.carry_out(office.bob, "Cars", ["one"])
        office.catch_up()
        assert seen(office.analyst, "stale_answer", self.columns) == []

    def test_is_one_of_each_role(self, office: Office) -> None:
        office.carry_out(office.alice, "cars", ["one"])
        office.carry_out(office.bob, "cars", ["one"])
        office.carry_out(office.bob, "Cars", ["two"])
        office.change("two", "Boats.")
        office.catch_up()

        columns = "question, requested_by, lost_quotes"
        alice, bob = office.alice.info.user, office.bob.info.user
        assert seen(office.analyst, "stale_answer", columns) == [("Cars", bob, 1), ("cars", alice, 0)]

    @pytest.mark.committed
    def test_knows_of_a_change_that_began_before_the_run(self, office: Office, connect: Connect) -> None:
        with closing(connect("postgres")) as other:
            with other.transaction():
                other.execute("select pgclarify.add_document('insurance', 'one', 'Boats.')")
                office.carry_out(office.bob, "cars", ["one"])
            office.worker.index_everything()
        office.catch_up()

        assert seen(office.analyst, "stale_answer", self.columns) == [("cars", 1, 1)]

    def test_still_stands_where_the_quote_does(self, office: Office) -> None:
        office.carry_out(office.bob, "cars", ["one"])
        office.change("one", "No boats. Cars of one.")
        office.change("two", "Boats.")
        office.catch_up()

        assert seen(office.analyst, "stale_answer", self.columns) == [("cars", 2, 0)]

    def test_no_other_answer_has_its_documents_read(self, office: Office) -> None:
        office.carry_out(office.bob, "cars", ["one"])
        office.change("one", "Boats.")
        for question in ("pets", "boats", "trains"):
            office.carry_out(office.bob, question, ["two"])
        office.catch_up()

        (plan,) = office.analyst.execute("""
            explain (analyze, format json) select run_id from pgclarify.stale_answer where lost_quotes > 0
        """).fetchone() or ([],)
        looks = [node["Actual Loops"] for node in nodes(plan[0]["Plan"]) if node.get("Relation Name") == "citation"]
        assert looks == [1]

    def test_says_nothing_of_documents_that_one_may_not_read(self, office: Office) -> None:
        office.carry_out(office.alice, "cars", ["hers"])
        office.change("two", "Boats.")
        office.catch_up()

        assert seen(office.alice, "stale_answer", self.columns) == [("cars", 1, 0)]
        assert seen(office.analyst, "stale_answer", self.columns) == [("cars", 1, None)]

    def test_is_none_that_only_another_role_would_get_otherwise(self, office: Office) -> None:
        """A change of her document concerns her answers, not his."""
        office.carry_out(office.alice, "cars", ["one"])
        office.carry_out(office.bob, "cars", ["one"])
        office.carry_out(office.bob, "pets")
        office.maintenance.execute(
            "select pgclarify.add_document('insurance', 'hers', 'Pets.', readers => %s)", [[office.alice.info.user]]
        )
        office.worker.index_everything()
        office.catch_up()

        assert seen(office.alice, "stale_answer", self.columns) == [("cars", 1, 0)]
        assert seen(office.bob, "stale_answer", self.columns) == []
        assert gaps(office.bob, "question, has_corpus_changed") == [("pets", False)]
        columns = "question, requested_by"
        assert seen(office.analyst, "stale_answer", columns) == [("cars", office.alice.info.user)]


def test_citations_say_who_asked_what_and_when(office: Office) -> None:
    run_id = office.carry_out(office.alice, "cars", ["hers", "one"])
    columns = "run_id, corpus, question, document_id, is_current"
    hers = [(run_id, "insurance", "cars", "hers", True), (run_id, "insurance", "cars", "one", True)]

    assert seen(office.alice, "citation", columns) == hers
    assert seen(office.bob, "citation", columns) == []
    # The run with its quotes, but not the document.
    assert seen(office.analyst, "citation", columns) == [(*hers[0][:4], False), hers[1]]
    assert seen(office.analyst, "citation", "requested_by") == [(office.alice.info.user,)] * 2


def test_counting_citations_looks_up_no_quotes(connection: Connection) -> None:
    explained = connection.execute("explain (verbose, costs off) select count(*) from pgclarify.citation").fetchall()

    assert not [line for (line,) in explained if "quote_position" in line]


def test_the_citations_of_a_run_are_found_by_indexes(connection: Connection) -> None:
    connection.execute("set local enable_seqscan = off")
    explained = connection.execute("explain select quote from pgclarify.citation where run_id = 17").fetchall()

    plan = "\n".join(line for (line,) in explained)
    assert "Scan on citation_pk" in plan or "using citation_pk" in plan


def test_documents_are_listed_without_a_look_at_their_citations(connection: Connection) -> None:
    explained = connection.execute("explain select title from pgclarify.document where corpus_id = 1").fetchall()

    assert "citation_tally" not in str(explained)


def test_a_result_takes_as_many_queries_with_one_reading_as_with_many(office: Office) -> None:
    runs = [office.carry_out(office.alice, "cars", ["one"]), office.carry_out(office.alice, "cars?", ["one", "hers"])]
    maintenance, counts = office.maintenance, []
    for run_id in runs:
        with plans(maintenance) as queries:
            found = maintenance.execute("select * from pgclarify.result(%s)", [run_id]).fetchall()
        counts.append((len(found), len(queries)))

    assert [readings for readings, _ in counts] == [1, 2]
    assert counts[0][1] == counts[1][1]


def test_runs_are_summed_up_while_they_go_on_and_after(office: Office) -> None:
    office.carry_out(office.alice, "cars", ["hers", "one"])
    office.alice.execute("select pgclarify.submit('clarify', 'cars')")
    going_on = int(scalar(office.alice, "select pgclarify.submit('clarify', 'boats')"))
    office.worker.start(going_on)
    office.worker.retrieve(going_on, 1, "boats", vector_of("boats"))
    office.catch_up()
    columns = "question, interpretations, candidates, verdicts, served"

    assert seen(office.alice, "run", columns) == [("boats", 0, 3, 0, 0), ("cars", 2, 3, 0, 1)]


def test_waiting_times_are_in_seconds(office: Office) -> None:
    assert seen(office.analyst, "queue_status", "queued, oldest_queued_seconds") == [(0, 0.0)]
    assert seen(office.analyst, "corpus", "lag_seconds") == [(None,)]

    office.alice.execute("select pgclarify.submit('clarify', 'cars')")
    office.maintenance.execute("select pgclarify.add_document('insurance', 'three', 'Boats.')")

    assert scalar(office.analyst, "select oldest_queued_seconds > 0 from pgclarify.queue_status")
    assert scalar(office.analyst, "select lag_seconds > 0 from pgclarify.corpus")


def test_a_finding_about_a_single_run_is_in_the_singular(office: Office) -> None:
    office.alice.execute("select pgclarify.submit('clarify', 'cars')")
    office.maintenance.execute("update pgclarify_private.run set created_at = created_at - interval '2 minutes'")

    assert (1, "run waits") in seen(office.analyst, "finding", "count, split_part(finding, ',', 1)")


@pytest.mark.committed
@pytest.mark.parametrize(
    ("view", "column"), [("stale_answer", "corpus_changes"), ("asked_question", "has_corpus_changed")]
)
def test_rights_of_a_role_are_looked_up_once_a_query(office: Office, view: str, column: str) -> None:
    for question in ("cars", "pets"):
        office.carry_out(office.alice, question, ["one"] if view == "stale_answer" else [])
    office.change("two", "Trucks.")
    office.catch_up()

    with office.maintenance.transaction():
        office.maintenance.execute("set local track_functions = 'all'")
        assert len(seen(office.maintenance, view, f"question, {column}")) == 2
        calls = "select calls from pg_stat_xact_user_functions where funcname = 'requester_revision'"
        assert scalar(office.maintenance, calls) == 1
