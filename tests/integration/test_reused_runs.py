"""Whether an equal question is answered by an earlier run, or by a new one."""

from __future__ import annotations

import json

import pytest

from tests.integration.explaining import DOCUMENTS, Desk, desk, explored
from tests.integration.linking import link
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, ManualWorker
from tests.sessions import Connect, MakeRole, scalar

pytestmark = pytest.mark.rolled_back

__all__ = ["desk"]


def test_an_equal_question_is_answered_by_the_latest_run(desk: Desk) -> None:
    run_id = explored(desk)
    assert desk.submit(method="dense") == run_id

    later = desk.enter("clarify", scalar(desk.owner, "select settings from pgclarify.run where run_id = %s", run_id))
    desk.worker.answer(later)
    assert desk.submit(method="dense") == later


def test_a_run_does_not_answer_for_another_corpus(desk: Desk) -> None:
    desk.owner.execute(MAKE_OPEN_CORPUS, ["second"])
    for document_id, (title, content) in DOCUMENTS.items():
        desk.owner.execute("select pgclarify.add_document('second', %s, %s, %s)", [document_id, content, title])
    desk.worker.index_everything()
    # Both were changed as often.
    assert scalar(desk.owner, "select count(distinct revision) from pgclarify_private.corpus_count") == 1
    submit = "select pgclarify.submit('clarify', 'rental cars', %s)"
    first = scalar(desk.user, submit, "insurance")
    desk.worker.answer(first)

    assert scalar(desk.user, submit, "insurance") == first
    assert scalar(desk.user, submit, "second") != first


def test_a_run_of_0_3_0_answers_for_one_that_does_not_relax(desk: Desk) -> None:
    new = desk.submit()
    settings = scalar(desk.owner, "select settings from pgclarify.run where run_id = %s", new)
    assert settings.pop("relax") is False
    desk.worker.answer(earlier := desk.enter("clarify", settings))

    assert desk.submit() == desk.submit(relax=False) == earlier
    relaxed = desk.submit(relax=True)
    assert relaxed not in (new, earlier)
    desk.worker.answer(relaxed)
    assert desk.submit(relax=True) == relaxed


def test_new_neighbors_matter_to_runs_that_explore(desk: Desk) -> None:
    settings = {"top_k": 20, "method": "dense", "retrieval": "adaptive", "reranker": "signal", "max_passages": 100}
    name = desk.user.info.user
    again = (
        "select run_id from pgclarify_private.find_reusable_runs(1, 'search', array['rental cars'], %s, %s,"
        " pgclarify_private.roles_of(%s))"
    )
    run_id = desk.enter("search", settings)
    desk.worker.answer(run_id)
    submit = "select pgclarify.submit('investigate', 'rental cars', 'insurance', %s)"
    ended = {}
    for retrieval in ("adaptive", "fixed"):
        ended[retrieval] = scalar(desk.user, submit, json.dumps({"retrieval": retrieval}))
        desk.worker.answer(ended[retrieval])
    assert desk.owner.execute(again.encode(), [json.dumps(settings), name, name]).fetchall() == [(run_id,)]

    link(desk.worker)
    assert not desk.owner.execute(again.encode(), [json.dumps(settings), name, name]).fetchall()
    assert scalar(desk.user, submit, json.dumps({"retrieval": "adaptive"})) != ended["adaptive"]
    assert scalar(desk.user, submit, json.dumps({"retrieval": "fixed"})) == ended["fixed"]


@pytest.mark.committed
def test_a_worker_that_serves_no_runs_is_not_counted(desk: Desk, connect: Connect, make_role: MakeRole) -> None:
    run_id = explored(desk)
    desk.worker.die()
    ManualWorker(connect(make_role("pgclarify_worker")), model="another-model", is_serving=False)
    assert desk.submit(method="dense") == run_id


def test_a_question_with_a_filter_is_searched_again(desk: Desk) -> None:
    """A change of metadata is no new revision, but may change what fits."""
    parts: list[tuple[dict[str, object], bool]] = [
        ({}, True),
        ({"document_ids": ["101", "102"]}, True),
        ({"filter": {"product": {"not": "boat"}}}, False),
    ]
    for part, is_reused in parts:
        given = json.dumps(part)
        submit = "select pgclarify.submit('clarify', 'rental cars', 'insurance', %s)"
        run_id = scalar(desk.user, submit, given)
        desk.worker.answer(run_id)
        assert (scalar(desk.user, submit, given) == run_id) == is_reused, part
