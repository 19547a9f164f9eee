"""clarify with ask_back: with a worker, its detector, and a model server; and with a worker that has no model."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.openai_server import Server
from tests.workers import DOCUMENTS, scalar

QUESTION = "How high is the deductible of a rental car?"
# The requested threshold decides, with any classifier.
CLEAR, AMBIGUOUS = 1, 0
SUMMARY = (
    "select route, saved_completions, status, completions, reused_completions, candidates, verdicts, interpretations"
    " from pgclarify.run where run_id = %s"
)


def clarify(asker: Connection, question: str, threshold: float = CLEAR, **options: object) -> list[tuple[Any, ...]]:
    given = {"ask_back": "when_vague", "threshold": threshold, **options}
    return asker.execute(
        "select run_id, interpretation, answer, support, document_ids, citations"
        " from pgclarify.clarify(%s, top_k => 6, options => %s)",
        [question, json.dumps(given)],
    ).fetchall()


def summary(connection: Connection, run_id: int) -> Any:
    return connection.execute(SUMMARY.encode(), [run_id]).fetchall()[0]


def stages(connection: Connection, run_id: int) -> dict[str, str | None]:
    rows = connection.execute(
        "select name, note from pgclarify_private.seen_stage where run_id = %s order by ordinal", [run_id]
    )
    return dict(rows.fetchall())


def test_a_clear_question_is_answered_by_one_call(asker: Connection, superuser: Connection, model: Server) -> None:
    before = model.calls
    ((run_id, interpretation, answer, support, document_ids, citations),) = clarify(asker, QUESTION)
    assert model.calls - before == 1
    assert (interpretation, support, document_ids) == (QUESTION, 1, ["102"])
    (citation,) = citations
    assert DOCUMENTS[102][1][citation["start_char"] : citation["end_char"]] == citation["quote"]
    assert answer in citation["quote"]
    # Six verdicts and the relaxation, minus that call.
    assert summary(asker, run_id) == ("answered", 6, "succeeded", 1, 0, 6, 1, 1)
    assert list(stages(superuser, run_id)) == ["detection", "retrieval", "answering", "consolidation"]
    question, is_ambiguous, reasons = asker.execute(
        "select question, is_ambiguous, reasons from pgclarify.detection where run_id = %s", [run_id]
    ).fetchall()[0]
    assert (question, is_ambiguous) == (QUESTION, False)
    assert all(reason["text"] for reason in reasons)


def test_other_functions_read_a_run_that_asked_back(asker: Connection, superuser: Connection, model: Server) -> None:
    ((run_id, _, answer, *_),) = clarify(asker, QUESTION)
    before = model.calls
    assert scalar(asker, "select answer from pgclarify.result(%s)", run_id) == answer
    again = asker.execute("select interpretation, answer from pgclarify.consolidate(%s)", [run_id]).fetchall()
    assert again == [(QUESTION, answer)]
    told = "\n".join(row[0] for row in asker.execute("select pgclarify.explain(%s)", [run_id]).fetchall())
    assert "detection" in told
    assert answer in told
    assert model.calls == before


def test_an_ambiguous_question_is_clarified(asker: Connection, superuser: Connection, model: Server) -> None:
    rows = clarify(asker, "what does it cost", AMBIGUOUS)
    run_id = rows[0][0]
    assert len(rows) > 1
    route, saved, status, paid, _, candidates, verdicts, interpretations = summary(asker, run_id)
    assert (route, saved, status, paid) == ("clarified", 0, "succeeded", 7)
    assert (candidates, verdicts, interpretations) == (6, 6, len(rows))
    told = stages(superuser, run_id)
    assert list(told) == ["detection", "relaxation", "retrieval", "judgement", "consolidation"]
    assert str(told["detection"]).startswith("ambiguous (")


def test_a_rule_makes_it_ambiguous(asker: Connection, superuser: Connection, model: Server) -> None:
    superuser.execute(
        "insert into pgclarify_private.ambiguity_rule (pattern, kind, note)"
        " values ('\\mloyalty\\M', 'lexical', 'of what?')"
    )
    try:
        rows = clarify(asker, "Which upgrade do members of the loyalty program receive?")
    finally:
        superuser.execute("delete from pgclarify_private.ambiguity_rule")
    run_id = rows[0][0]
    assert summary(asker, run_id)[0] == "clarified"
    assert "of what?" in str(stages(superuser, run_id)["detection"])
    # Without it, the same question takes the other route: no run that depends on it is reused.
    rows = clarify(asker, "Which upgrade do members of the loyalty program receive?")
    assert rows[0][0] > run_id
    assert summary(asker, rows[0][0])[0] == "answered"


def test_a_threshold_is_for_questions_that_are_asked_back(asker: Connection) -> None:
    for call in ("clarify('cars', options => %s)", "clarify_many(array['cars'], options => %s)"):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            asker.execute(f"select pgclarify.{call}".encode(), ['{"threshold": 0.5}'])
        assert refused.value.diag.column_name == "threshold"
