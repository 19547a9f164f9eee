"""clarify that asks back or verifies answers, and lists of answers: with a worker and a model server."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from tests.integration.stored_answers import rows
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import CORPUS, DOCUMENTS, Service

QUESTION = "How high is the deductible of a rental car?"
# The requested threshold decides, with any classifier.
CLEAR, AMBIGUOUS = 1, 0
SUMMARY = (
    "select route, status, completions, reused_completions, candidates, verdicts, interpretations"
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
    assert interpretation.startswith("What does Deductible say about ")
    assert (support, document_ids) == (1, ["102"])
    (citation,) = citations
    assert DOCUMENTS[102][1][citation["start_char"] : citation["end_char"]] == citation["quote"]
    assert answer in citation["quote"]
    assert summary(asker, run_id) == ("answered", "succeeded", 1, 0, 6, 1, 1)
    assert list(stages(superuser, run_id)) == ["detection", "retrieval", "answering", "consolidation"]
    question, is_ambiguous, reasons = asker.execute(
        "select question, is_ambiguous, reasons from pgclarify.detection where run_id = %s", [run_id]
    ).fetchall()[0]
    assert (question, is_ambiguous) == (QUESTION, False)
    assert all(reason["text"] for reason in reasons)


def test_an_ambiguous_question_is_clarified(asker: Connection, superuser: Connection, model: Server) -> None:
    rows = clarify(asker, "what does it cost", AMBIGUOUS)
    run_id = rows[0][0]
    assert len(rows) > 1
    route, status, paid, _, candidates, verdicts, interpretations = summary(asker, run_id)
    assert (route, status, paid) == ("clarified", "succeeded", 6)
    assert (candidates, verdicts, interpretations) == (6, 6, len(rows))
    told = stages(superuser, run_id)
    assert list(told) == ["detection", "retrieval", "judgement", "consolidation"]
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


UNHEARD_OF = "Who invented telescopes?"
ABSTENTION = Reply('{"interpretation": null, "answer": null, "quote": null}')


def list_answers(
    connection: Connection, question: str, corpus: str = CORPUS, **options: object
) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        statement = "select * from pgclarify.list_answers(%s, %s, %s)"
        return cursor.execute(statement, [question, corpus, json.dumps(options)]).fetchall()


def test_they_are_those_of_clarify_and_cost_nothing_after_it(asker: Connection, model: Server) -> None:
    question = "Which fee is charged?"
    clarified = rows(asker, "select answer from pgclarify.clarify(%s)", question)
    calls = model.calls

    found = list_answers(asker, question)

    assert model.calls == calls
    assert {row["answer"] for row in found} == {row["answer"] for row in clarified}
    assert [row["ordinal"] for row in found] == [*range(1, len(found) + 1)]
    for row in found:
        assert row["variants"][0] == row["answer"]
        for citation in row["citations"]:
            title, content = DOCUMENTS[int(citation["document_id"])]
            assert content[citation["start_char"] : citation["end_char"]] == citation["quote"]
            assert (citation["run_id"], citation["ordinal"]) == (row["run_id"], row["ordinal"])
            assert (citation["title"], citation["is_current"]) == (title, True)
    listed = "select answer, variants, question, corpus from pgclarify.listed_answer where run_id = %s order by ordinal"
    assert rows(asker, listed, found[0]["run_id"]) == [
        {"answer": row["answer"], "variants": row["variants"], "question": question, "corpus": CORPUS} for row in found
    ]
    # Another limit makes another run, with the same calls.
    (only,) = list_answers(asker, question, max_answers=1)
    assert (only["run_id"] != found[0]["run_id"], only["answer"]) == (True, found[0]["answer"])
    assert model.calls == calls
    reason = "select stop_code from pgclarify.run where run_id = %s"
    assert scalar(asker, reason, only["run_id"]) == "limit"


def test_a_question_that_the_corpus_does_not_answer_has_no_rows(asker: Connection, model: Server) -> None:
    model.behavior = lambda chat: ABSTENTION if chat.purpose == "verdict" else by_rules(chat)
    assert list_answers(asker, UNHEARD_OF) == []
    ended = "select status, stop_code from pgclarify.run where question = %s"
    assert rows(asker, ended, UNHEARD_OF) == [{"status": "succeeded", "stop_code": "not_answered"}]


VERDICTS = """
select outcome, abstention_code, error_code, completion_id is not null as is_judged, count(*)
from pgclarify.verdict where run_id = %s group by 1, 2, 3, 4 order by 1, 2
"""


def run_of(asker: Connection, **options: object) -> int:
    asker.execute(
        "select from pgclarify.clarify('rental car', top_k => 6, options => %s)", [json.dumps(options)]
    ).fetchall()
    return int(scalar(asker, "select max(run_id) from pgclarify.run"))


def refusing(chat: Chat) -> Reply:
    """Confirm no answer."""
    if chat.purpose != "confirmation":
        return by_rules(chat)
    return Reply(json.dumps({"confirmed": [False] * chat.schema["properties"]["confirmed"]["minItems"]}))


def test_an_unconfirmed_answer_is_an_abstention(
    service: Service, asker: Connection, superuser: Connection, model: Server
) -> None:
    confirmed = run_of(asker, verify="model")
    (grounded,) = [row for row in superuser.execute(VERDICTS, [confirmed]).fetchall() if row[0] == "grounded"]
    (stage,) = superuser.execute(
        "select rows, calls from pgclarify_private.seen_stage where run_id = %s and name = 'confirmation'", [confirmed]
    ).fetchall()
    assert stage == (grounded[4], 1)

    model.behavior = refusing
    refused = run_of(asker, verify="model", refresh=1)
    rows = superuser.execute(VERDICTS, [refused]).fetchall()
    assert [row[:4] for row in rows if row[1] == "not_confirmed"] == [("abstained", "not_confirmed", None, True)]
    assert "grounded" not in {row[0] for row in rows}
    assert scalar(asker, "select stop_code from pgclarify.run where run_id = %s", refused) == "unproven"
    reason = scalar(
        superuser,
        "select distinct reason from pgclarify.verdict where run_id = %s and abstention_code = 'not_confirmed'",
        refused,
    )
    lines = "\n".join(row[0] for row in asker.execute("select * from pgclarify.explain(%s)", [refused]).fetchall())
    assert reason in lines
    assert "confirmation" in lines


def test_the_trained_reader_confirms_without_a_call(service: Service, asker: Connection, superuser: Connection) -> None:
    run_id = run_of(asker, verify="reader")
    (stage,) = superuser.execute(
        "select rows, calls from pgclarify_private.seen_stage where run_id = %s and name = 'confirmation'", [run_id]
    ).fetchall()
    (grounded,) = [row for row in superuser.execute(VERDICTS, [run_id]).fetchall() if row[0] == "grounded"]
    assert stage == (grounded[4], 0)
