"""Repeated questions from end to end: reused, run again, paid for once, consolidated again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.integration.test_runs import submit
from tests.openai_server import Server
from tests.workers import DOCUMENTS, Service, scalar, wait, wait_until_searchable


def test_an_answer_is_served_again_until_the_corpus_changes(asker: Connection, model: Server) -> None:
    asker.execute("select pgclarify.create_corpus('changing')")
    for document_id in (101, 103):
        content = DOCUMENTS[document_id][1]
        asker.execute("select pgclarify.add_document('changing', %s, %s)", [str(document_id), content])
    wait_until_searchable(asker, "changing")
    statement = "select * from pgclarify.clarify('again', 'changing')"
    first = asker.execute(statement.encode()).fetchall()
    calls = model.calls

    assert first
    assert asker.execute(statement.encode()).fetchall() == first
    assert scalar(asker, "select pgclarify.submit('clarify', 'again', 'changing')") == first[0][0]
    asker.execute("select pgclarify.add_document('changing', '101', %s)", [DOCUMENTS[101][1]])
    assert asker.execute(statement.encode()).fetchall() == first, "nothing has changed"
    assert model.calls == calls

    asker.execute("select pgclarify.remove_document('changing', '101')")
    changed = asker.execute(statement.encode()).fetchall()
    assert changed[0][0] != first[0][0]
    assert {document_id for row in changed for document_id in row[7]} == {"103"}
    assert model.calls == calls, "the remaining passages were read before"
    assert asker.execute(
        "select document_id, is_current from pgclarify.citation where run_id = %s order by 1",
        [first[0][0]],
    ).fetchall() == [("101", False), ("103", True)]


def test_answers_are_not_served_again_where_runs_are_not_to_be_reused(asker: Connection, model: Server) -> None:
    asked = [
        "select * from pgclarify.clarify('anew', top_k => 4)",
        "select * from pgclarify.clarify_many(array['anew of many'], top_k => 4)",
        "select * from pgclarify.list_answers('anew', options => '{\"max_answers\": 2}')",
        "select * from pgclarify.search('anew', top_k => 4, options => '{\"reranker\": \"model\"}')",
    ]

    def runs_of_asking() -> int:
        before = scalar(asker, "select count(*) from pgclarify.run")
        for statement in asked:
            asker.execute(statement.encode())
        return int(scalar(asker, "select count(*) from pgclarify.run") - before)

    assert runs_of_asking() == len(asked)
    calls = model.calls
    assert runs_of_asking() == 0

    asker.execute("set pgclarify.reuse_runs = off")
    for level in ("read committed", "repeatable read"):
        asker.execute(f"set default_transaction_isolation = '{level}'".encode())
        assert runs_of_asking() == len(asked), level
    assert model.calls == calls, "replies in the ledger are reused all the same"

    asker.execute("set pgclarify.reuse_runs = perhaps")
    for statement in [
        *asked,
        "select pgclarify.submit('clarify', 'anew')",
        "select pgclarify.submit('investigate', 'anew')",
        "select * from pgclarify.detect_ambiguity('anew')",
        "select * from pgclarify.rewrite('anew')",
    ]:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            asker.execute(statement.encode())
        assert "pgclarify.reuse_runs" in str(caught.value)
        assert "perhaps" in (caught.value.diag.message_detail or "")
        assert "on or off" in (caught.value.diag.message_hint or "")


def test_count_questions_off_marks_runs_of_each_function(asker: Connection, model: Server) -> None:
    asked = (
        "select run_id from pgclarify.clarify('marked', top_k => 4)",
        "select pgclarify.submit('clarify', 'marked, too')",
    )
    counted = "select array_agg(is_counted order by run_id) from pgclarify.run where question like 'marked%%'"

    asker.execute("set pgclarify.count_questions = off")
    for statement in asked:
        asker.execute(statement.encode())
    assert scalar(asker, counted) == [False, False]

    asker.execute("reset pgclarify.count_questions; set pgclarify.reuse_runs = off")
    for statement in asked:
        asker.execute(statement.encode())
    assert scalar(asker, counted) == [False, False, True, True]
    # The next test counts calls.
    submitted = asker.execute("select run_id from pgclarify.run where question = 'marked, too'").fetchall()
    wait(asker, [run_id for (run_id,) in submitted])

    asker.execute("set pgclarify.count_questions = perhaps")
    for statement in asked:
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            asker.execute(statement.encode())


def test_a_wrong_value_of_progress_is_refused(asker: Connection, model: Server) -> None:
    asker.execute("set pgclarify.progress = perhaps")
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        asker.execute("select from pgclarify.clarify('wrong value', top_k => 4)")
    assert caught.value.diag.column_name == "pgclarify.progress"


def test_equal_work_of_two_runs_is_paid_for_once(
    service: Service, asker: Connection, model: Server, make_role: Callable[..., str]
) -> None:
    model.latency = 0.5
    before = model.calls
    with closing(service.connect(make_role("pgclarify_user"))) as other:
        runs = [submit(asker, "equal work", 6), submit(other, "equal work", 6)]
        assert wait(asker, [runs[0]]) == wait(other, [runs[1]]) == ["succeeded"]
        paid = [
            connection.execute("select completions from pgclarify.run where run_id = %s", [run_id]).fetchone()
            for connection, run_id in zip((asker, other), runs, strict=True)
        ]

    assert model.calls == before + 7, "one relaxation and six verdicts"
    assert sum(completions for row in paid if row is not None for completions in row) == 7


def test_consolidating_again_asks_no_model(asker: Connection, model: Server) -> None:
    first = asker.execute("select * from pgclarify.clarify('again and again', top_k => 8)").fetchall()
    calls = model.calls

    options = '{"consolidation": "conservative"}'
    again = asker.execute("select * from pgclarify.consolidate(%s, %s)", [first[0][0], options]).fetchall()

    assert model.calls == calls
    assert {row[0] for row in again} & {row[0] for row in first} == set()
    assert 0 < len(again) <= max(1, 2 * len(first) // 3)
    cited = [{document_id for row in rows for document_id in row[7]} for rows in (first, again)]
    assert cited[1] <= cited[0]
    operation = "select operation, completions from pgclarify.run where run_id = %s"
    assert asker.execute(operation, [again[0][0]]).fetchone() == ("consolidate", 0)
