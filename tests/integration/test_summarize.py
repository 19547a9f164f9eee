"""summarize, from SQL and by a worker of our own."""

from __future__ import annotations

import json

from pgclarify.data.documents import Passage
from pgclarify.data.vocabulary import RunStatus
from pgclarify.operations.execution import execute
from pgclarify.operations.summarize import Summary
from tests.fakes import FakeStore
from tests.fakes.completer import Prompt, ScriptedCompleter
from tests.fakes.context import context_of
from tests.integration.explaining import Desk, desk
from tests.integration.explaining_dialogue import quoted
from tests.sessions import scalar

__all__ = ["desk"]


async def test_each_passage_is_asked_once() -> None:
    def reply(prompt: Prompt) -> str:
        return json.dumps({"summary": f"It says: {prompt.passage}"})

    store = FakeStore([Passage(f"d{place}", 1, content) for place, content in enumerate(("One.", "Two."), 1)])
    run = store.add_run("what?", operation="summarize", settings={"method": "dense", "top_k": 20})
    chat = ScriptedCompleter({"summary": reply})
    await execute(context_of(run, store, chat))
    assert store.runs[run.run_id].status is RunStatus.SUCCEEDED
    found = [one.summary for one in store.runs[run.run_id].results_of(Summary)]
    assert sorted(found) == ["It says: One.", "It says: Two."]


def test_rows_come_back_with_their_documents_until_one_is_erased(desk: Desk) -> None:
    run_id = scalar(desk.user, "select pgclarify.submit('summarize', 'rental', 'insurance', '{\"top_k\": 2}')")
    desk.start(run_id)
    desk.choose(run_id, ("101", 0.5, "dense", None, 1), ("104", 0.4, "lexical", None, 1))
    for ordinal, text in enumerate(("It pays.", "It is full."), start=1):
        desk.worker.record_results(
            run_id, "summary", {"ordinal": ordinal, "summary": text, "citations": quoted(ordinal)}
        )
    desk.worker.finish(run_id)
    rows = scalar(
        desk.user,
        "select pgclarify_private.result_rows(caller, %s, 'summarized_passage') from pgclarify_private.caller",
        run_id,
    )
    assert [(one["summary"], one["document_ids"]) for one in rows] == [("It pays.", ["101"]), ("It is full.", ["104"])]
    assert scalar(desk.user, "select count(*) from pgclarify.summary") == 2
    desk.owner.execute("select pgclarify.erase_document('insurance', '101')")
    assert scalar(desk.owner, "select count(*) from pgclarify.summary") == 0
