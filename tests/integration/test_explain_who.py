"""Which roles get an explanation of a run, and with which titles."""

from __future__ import annotations

import pytest

from tests.integration.explaining import DOCUMENTS, EXPLORED, Desk, desk, explained, explored
from tests.sessions import Connect, Connection, MakeRole, sqlstate_of

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]

UNDEFINED_OBJECT = "42704"


class TestWho:
    def test_only_roles_that_see_a_run_get_its_explanation(
        self, desk: Desk, connect: Connect, make_role: MakeRole
    ) -> None:
        run_id = explored(desk)
        stranger = connect(make_role("pgclarify_user"))
        member = connect(make_role(desk.user.info.user))
        reader = connect(make_role("pgclarify_reader", desk.user.info.user))

        assert sqlstate_of(stranger, f"select pgclarify.explain({run_id})") == UNDEFINED_OBJECT
        assert sqlstate_of(stranger, "select pgclarify.explain(999)") == UNDEFINED_OBJECT
        assert sqlstate_of(desk.user, "select pgclarify.explain(null)") == UNDEFINED_OBJECT
        for session in (member, reader, desk.owner):
            session.execute("set timezone = 'UTC'")
            assert explained(session, run_id).replace(desk.user.info.user, "alice") == EXPLORED

    def test_an_analyst_sees_titles_of_what_it_may_read_only(
        self, desk: Desk, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analyst = make_role("pgclarify_reader", name="analyst")
        connection.execute("update pgclarify_private.corpus set analysts = %s", [[analyst]])
        run_id = explored(desk)
        connection.execute(
            "select pgclarify.add_document('insurance', '101', %s, 'Coverage', readers => '{}')", [DOCUMENTS["101"][1]]
        )
        connection.execute("select pgclarify.remove_document('insurance', '104')")

        for session in (connect(analyst), desk.user):
            told = explained(session, run_id)
            # An analyst sees all passages of all runs. The requester sees only those that it may read now.
            assert ("passage 1 of 101: grounded" in told) is (session is not desk.user)
            assert "passage 2 of 102 (Deductible): abstained" in told
            # Headings and ids are the run's own.
            assert "passage 4 of 103 (Age > Young): grounded" in told
            assert "passage 5 of 104: failed" in told

    def test_an_analyst_of_a_closed_corpus_sees_no_titles(
        self, desk: Desk, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analyst = make_role("pgclarify_reader", name="analyst")
        run_id = explored(desk)
        connection.execute(
            "update pgclarify_private.corpus set analysts = %s, readers = %s", [[analyst], [desk.user.info.user]]
        )

        assert "passage 2 of 102: abstained" in explained(connect(analyst), run_id)
        assert "passage 2 of 102 (Deductible): abstained" in desk.told(run_id)

    def test_why_a_closed_passage_has_no_answer_is_not_told(self, desk: Desk, connection: Connection) -> None:
        run_id = desk.start(desk.submit())
        desk.choose(run_id, ("101", 0.8, "dense", None, 1), ("102", 0.7, "dense", None, 1))
        desk.decide(run_id, 1, "failed", error="no JSON: thirty days")
        desk.decide(run_id, 2, "abstained", reason="it is about a deductible")
        desk.worker.finish(run_id, status="partial")
        connection.execute(
            "select pgclarify.add_document('insurance', '101', %s, readers => '{}')", [DOCUMENTS["101"][1]]
        )

        for detail in ("passages", "stages"):
            told = desk.told(run_id, detail)
            assert "thirty days" not in told
            assert "it is about a deductible" in told
