"""What the report of a run reads, and with which role."""

from __future__ import annotations

import pytest
from psycopg.rows import dict_row

from pgclarify.errors import NotFound
from pgclarify.reports.run_page import run_page
from pgclarify.reports.run_tables import RunReport, read_run
from tests.integration.explaining import DOCUMENTS, Desk, desk, explored, reading
from tests.integration.explaining_dialogue import ASKED_BACK, LISTED, quoted
from tests.sessions import Connect, Connection, MakeRole, scalar
from tests.unit.reports.reported import Page, check_page

__all__ = ["desk"]


def read(connect: Connect, role: str, run_id: int) -> RunReport:
    """Read as a role, in a session of its own."""
    session: Connection = connect(role)
    session.row_factory = dict_row
    return read_run(session, run_id)


def told(report: RunReport) -> str:
    """The text of its page, after a check that the page is complete."""
    page = Page(run_page(report))
    check_page(page)
    return page.text


def told_lines(desk: Desk, run_id: int) -> list[str]:
    """The lines of explain, with the session's own settings."""
    return [line for (line,) in desk.user.execute("select pgclarify.explain(%s)", [run_id]).fetchall()]


class TestWhatIsRead:
    def test_a_run_of_clarify_with_all_that_it_left(self, desk: Desk, connect: Connect) -> None:
        run_id = explored(desk)
        report = read(connect, desk.user.info.user, run_id)

        assert (report.head.operation, report.head.status, report.head.corpus) == ("clarify", "succeeded", "insurance")
        assert report.head.seen_by == report.head.requested_by == desk.user.info.user
        assert [one.origin for one in report.passages] == ["dense", "lexical", "neighbor", "neighbor"]
        assert [one.outcome for one in report.passages] == ["grounded", "abstained", "grounded", "failed"]
        assert report.passages[0].content == DOCUMENTS["101"][1]
        assert report.passages[2].via_rank == 1
        (finding,) = report.findings
        assert (finding.question, finding.answer, finding.support) == (
            "How long is a rental paid for?", "thirty days", 2,
        )  # fmt: skip
        assert [(one["rank"], one["candidate_rank"], one["is_medoid"]) for one in finding.citations] == [
            (1, 1, True),
            (2, 3, False),
        ]
        assert [one.name for one in report.stages] == [
            "retrieval", "judgement", "neighbors", "judgement", "consolidation",
        ]  # fmt: skip
        assert [one.line for one in report.lines] == told_lines(desk, run_id)
        text = told(report)
        assert "neighbor of #1" in text
        # No document has the quote of these tests.
        assert "not current" in text

    def test_an_investigation_with_its_steps(self, desk: Desk, connect: Connect) -> None:
        asked = "select pgclarify.submit('investigate', 'Whom does the fee go to?', 'insurance')"
        run_id = desk.start(int(scalar(desk.user, asked)))
        desk.choose(run_id, ("104", 0.45, "dense", None, 1), step=1)
        citation = {"candidate_rank": 1, "quote": "full tank", "start_char": 25, "end_char": 34}
        step = {
            "ordinal": 1, "kind": "follow_up", "question": "What does the fee cover?", "outcome": "answered",
            "answer": "refueling", "confidence": 0.75, "reason": None, "semantic_sets": 2, "citations": [citation],
        }  # fmt: skip
        desk.worker.record_results(run_id, "step", step)
        report = read(connect, desk.user.info.user, run_id)

        (finding,) = report.findings
        assert (finding.kind, finding.answer, finding.confidence) == ("follow-up", "refueling", 0.75)
        assert [(one["document_id"], one["quote"], one["is_current"]) for one in finding.citations] == [
            ("104", "full tank", True)
        ]
        assert "The run has not ended." in told(report)
        assert "Return the rental with a <mark>full tank</mark>." in run_page(report)

    def test_a_passage_that_two_steps_found_leads_where_its_own_step_goes_on(
        self, desk: Desk, connect: Connect
    ) -> None:
        run_id = desk.start(desk.enter("investigate", {}))
        for step in (1, 2):
            desk.choose(run_id, ("101", 0.5, "dense", None, 1), ("102", 0.4, "neighbor", "101", 2), step=step)
        report = read(connect, desk.user.info.user, run_id)

        assert [(one.rank, one.step_ordinal, one.via_rank) for one in report.passages] == [
            (1, 1, None), (2, 1, 1), (3, 2, None), (4, 2, 3),
        ]  # fmt: skip
        assert all(one.content for one in report.passages)

    def test_listed_answers(self, desk: Desk, connect: Connect) -> None:
        run_id = desk.start(desk.enter("list_answers", LISTED))
        desk.choose(run_id, ("101", 0.5, "dense", None, 1), ("104", 0.4, "lexical", None, 1))
        value = {
            "ordinal": 1,
            "answer": "thirty days",
            "variants": ["thirty days", "30 days"],
            "citations": quoted(1, 2),
        }
        desk.worker.record_results(run_id, "listed_answer", value)
        desk.worker.finish(run_id)
        report = read(connect, desk.user.info.user, run_id)

        (finding,) = report.findings
        assert (finding.answer, finding.variants) == ("thirty days", ["30 days"])
        assert [one["candidate_rank"] for one in finding.citations] == [1, 2]
        assert "also: 30 days" in told(report)

    def test_a_run_whose_corpus_was_dropped_is_still_told(self, desk: Desk, connect: Connect) -> None:
        run_id = explored(desk)
        desk.owner.execute("select pgclarify.drop_corpus('insurance')")
        report = read(connect, desk.user.info.user, run_id)
        assert [one.content for one in report.passages] == [None] * 4
        assert "which was dropped since" in told(report)

    def test_a_run_that_looks_for_no_findings_has_a_page_without_them(self, desk: Desk, connect: Connect) -> None:
        asked_back = desk.enter("clarifying_questions", ASKED_BACK | {"check": "mark"})
        for run_id in (asked_back, desk.enter("reply", {"text": "yes"}, asked_back)):
            report = read(connect, desk.user.info.user, run_id)
            assert (report.noun, report.findings) == (None, [])
            assert "What it found" not in told(report)


class TestWho:
    def test_a_stranger_sees_no_run(self, desk: Desk, connect: Connect, make_role: MakeRole) -> None:
        run_id = explored(desk)
        with pytest.raises(NotFound):
            read(connect, make_role("pgclarify_user"), run_id)
        with pytest.raises(NotFound):
            read(connect, desk.user.info.user, 10**30)

    def test_what_cites_a_closed_passage_is_missing_as_in_views(
        self, desk: Desk, connection: Connection, connect: Connect
    ) -> None:
        def asked(operation: str, settings: dict[str, object]) -> int:
            run_id = desk.start(desk.enter(operation, settings))
            desk.choose(run_id, ("101", 0.8, "dense", None, 1), ("102", 0.7, "dense", None, 1))
            return run_id

        clarified, investigated, listed = asked("clarify", {}), asked("investigate", {}), asked("list_answers", LISTED)
        for rank in (1, 2):
            desk.decide(clarified, rank, "grounded", interpretation="What?", answer="that")
        readings = [reading("Which?", "this", 2, 1, 2), reading("What?", "that", 2, 2, 1)]
        for ordinal, ranks in ((1, (2,)), (2, (2, 1)), (3, ())):
            step = {
                "ordinal": ordinal, "kind": "follow_up", "question": "Which?", "outcome": "answered", "answer": "this",
                "confidence": 0.5, "reason": None, "semantic_sets": 1, "citations": quoted(*ranks),
            }  # fmt: skip
            desk.worker.record_results(investigated, "step", step)
        for ordinal, ranks, variants in ((1, (1, 2), ["a"]), (2, (2, 1), ["b", "B"]), (3, (2, 1), ["c"])):
            value = {"ordinal": ordinal, "answer": variants[0], "variants": variants, "citations": quoted(*ranks)}
            desk.worker.record_results(listed, "listed_answer", value)
        desk.worker.finish(clarified, interpretations=readings)
        connection.execute(
            "select pgclarify.add_document('insurance', '101', %s, readers => '{}')", [DOCUMENTS["101"][1]]
        )

        for run_id, view, expected in (
            (clarified, "interpretation", [(2, [2])]),
            (investigated, "investigation_step", [(1, [2])]),
            (listed, "listed_answer", [(3, [2])]),
        ):
            report = read(connect, desk.user.info.user, run_id)
            assert [(one.ordinal, one.ranks) for one in report.findings] == expected
            assert [one.rank for one in report.passages] == [2]
            seen = desk.user.execute(
                f"select ordinal from pgclarify.{view} where run_id = %s order by ordinal".encode(),  # noqa: S608 - of the above
                [run_id],
            )
            assert seen.fetchall() == [(one.ordinal,) for one in report.findings]

    def test_an_analyst_reads_only_passages_that_it_may_read(
        self, desk: Desk, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analyst = make_role("pgclarify_reader", name="analyst")
        run_id = explored(desk)
        connection.execute("update pgclarify_private.corpus set analysts = %s", [[analyst]])
        connection.execute(
            "select pgclarify.add_document('insurance', '101', %s, 'Coverage', readers => array[%s]::name[])",
            [DOCUMENTS["101"][1], desk.user.info.user],
        )
        desk.worker.index_everything()

        report = read(connect, analyst, run_id)
        assert [one.content is None for one in report.passages] == [True, False, False, False]
        assert report.passages[0].title is None
        text = told(report)
        assert DOCUMENTS["101"][1] not in text
        assert DOCUMENTS["102"][1] in text
        assert "not there any more, or not for you to read" in text
        assert DOCUMENTS["101"][1] in told(read(connect, desk.user.info.user, run_id))
