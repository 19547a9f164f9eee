"""The last line of an explanation: what happens to an equal question."""

from __future__ import annotations

import json

import pytest

from tests.integration.by_hand import Connect, HandWorker, MakeRole, scalar
from tests.integration.explaining import Desk, desk, explored
from tests.integration.linking import link

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]

OTHERS_SERVE = "a new run, since another model, other prompts or another version are in service"


class TestAskedAgain:
    """The last line says what happens to an equal question, and the next call confirms it."""

    def last(self, desk: Desk, run_id: int) -> str:
        return desk.told(run_id).splitlines()[-1].removeprefix("  Asked again: ")

    def test_an_equal_question_is_served_from_this_run(self, desk: Desk) -> None:
        run_id = explored(desk)

        assert self.last(desk, run_id).startswith("served from this run")
        assert desk.submit(method="dense") == run_id

    def test_an_equal_question_is_served_from_a_later_run(self, desk: Desk) -> None:
        run_id = explored(desk)
        later = desk.enter(
            "clarify", scalar(desk.owner, "select settings from pgclarify.run where run_id = %s", run_id)
        )
        desk.worker.answer(later)

        assert self.last(desk, run_id) == f"served from run {later}, with no call"
        assert desk.submit(method="dense") == later

    def test_the_corpus_has_changed(self, desk: Desk) -> None:
        run_id = explored(desk)
        desk.owner.execute("select pgclarify.remove_document('insurance', '104')")

        assert self.last(desk, run_id) == (
            "a new run, since the corpus has changed; passages that are unchanged are not paid for again"
        )
        assert desk.submit(method="dense") != run_id

    def test_each_operation_says_which_calls_are_reused(self, desk: Desk) -> None:
        asked = {
            ("investigate", "signal"): "; only prompts over the same passages are not paid for again",
            ("search", "model"): "; passages that are unchanged are not paid for again",
            ("search", "signal"): "",
        }
        for (operation, reranker), ending in asked.items():
            run_id = desk.enter(operation, {"top_k": 10, "max_passages": 32, "method": "dense", "reranker": reranker})
            desk.worker.answer(run_id)
            desk.owner.execute("select pgclarify.add_document('insurance', %s, 'More.')", [f"{operation} {reranker}"])
            desk.worker.index_everything()
            assert self.last(desk, run_id) == f"a new run, since the corpus has changed{ending}"

    def test_other_passages_have_neighbors(self, desk: Desk) -> None:
        settings = {"top_k": 20, "method": "dense", "retrieval": "adaptive", "reranker": "signal", "max_passages": 100}
        run_id = desk.enter("search", settings)
        desk.worker.answer(run_id)
        assert self.last(desk, run_id).startswith("served from this run")
        link(desk.worker)

        assert self.last(desk, run_id) == "a new run, since other passages have neighbors now"
        again = (
            "select * from pgclarify_private.find_reusable_runs(1, 'search', array['rental cars'], %s, %s,"
            " pgclarify_private.roles_of(%s))"
        )
        name = desk.user.info.user
        assert not desk.owner.execute(again.encode(), [json.dumps(settings), name, name]).fetchall()

    def test_investigations_explore_unless_their_retrieval_is_fixed(self, desk: Desk) -> None:
        submit = "select pgclarify.submit('investigate', 'rental cars', 'insurance', %s)"
        ends = {}
        for retrieval in ("adaptive", "fixed"):
            run_id = scalar(desk.user, submit, json.dumps({"retrieval": retrieval}))
            desk.worker.answer(run_id)
            ends[retrieval] = run_id
        link(desk.worker)
        assert self.last(desk, ends["adaptive"]).startswith("a new run, since other passages have neighbors now")
        assert self.last(desk, ends["fixed"]).startswith("served from this run")

    def test_neighbors_change_no_answer_that_explored_nothing(self, desk: Desk) -> None:
        run_id = explored(desk)
        link(desk.worker)

        assert self.last(desk, run_id).startswith("served from this run")
        assert desk.submit(method="dense") == run_id

    def test_the_roles_have_changed(self, desk: Desk, make_role: MakeRole) -> None:
        run_id = explored(desk)
        desk.owner.execute(f"grant {make_role(name='team')} to {desk.user.info.user}".encode())

        assert self.last(desk, run_id) == (
            "a new run, since the roles of alice have changed; passages that are unchanged are not paid for again"
        )
        assert desk.submit(method="dense") != run_id

    @pytest.mark.committed
    def test_another_model_is_in_service(self, desk: Desk, connect: Connect, make_role: MakeRole) -> None:
        run_id = explored(desk)
        desk.worker.die()
        HandWorker(connect(make_role("pgclarify_worker")), model="another-model")

        assert self.last(desk, run_id) == OTHERS_SERVE
        assert desk.submit(method="dense") != run_id

    @pytest.mark.committed
    def test_another_version_is_in_service(self, desk: Desk, connect: Connect, make_role: MakeRole) -> None:
        run_id = explored(desk)
        later = HandWorker(connect(make_role("pgclarify_worker")), version="1")
        assert desk.submit(method="dense") == run_id, "while both versions run, as in a rolling upgrade"

        desk.worker.die()
        assert self.last(desk, run_id) == OTHERS_SERVE
        assert desk.submit(method="dense") != run_id
        later.die()
        assert desk.submit(method="dense") != run_id, "the later worker was the last one"

    @pytest.mark.committed
    def test_a_worker_that_serves_no_runs_is_not_counted(
        self, desk: Desk, connect: Connect, make_role: MakeRole
    ) -> None:
        run_id = explored(desk)
        desk.worker.die()
        HandWorker(connect(make_role("pgclarify_worker")), model="another-model", is_serving=False)

        assert self.last(desk, run_id).startswith("served from this run")
        assert desk.submit(method="dense") == run_id

    @pytest.mark.committed
    def test_runs_are_not_to_be_reused(self, desk: Desk) -> None:
        run_id = explored(desk)
        for no in ("off", "false", "0", "no"):
            desk.user.execute(f"set pgclarify.reuse_runs = {no}".encode())
            assert self.last(desk, run_id) == (
                "a new run, since pgclarify.reuse_runs is off here; passages that are unchanged are not paid for again"
            )
            assert desk.submit(method="dense") != run_id
        for yes in ("on", "true", "1", "yes", "''", "' on '"):
            desk.user.execute(f"set pgclarify.reuse_runs = {yes}".encode())
            assert desk.submit(method="dense") == run_id
        desk.user.execute("reset pgclarify.reuse_runs")
        assert desk.submit(method="dense") == run_id
        with desk.user.transaction():
            desk.user.execute("set local pgclarify.reuse_runs = off")
            assert desk.submit(method="dense") != run_id
        assert desk.submit(method="dense") == run_id

    def test_the_corpus_is_gone(self, desk: Desk) -> None:
        run_id = explored(desk)
        desk.owner.execute("select pgclarify.drop_corpus('insurance')")

        assert self.last(desk, run_id) == "it cannot be: the corpus was dropped"
