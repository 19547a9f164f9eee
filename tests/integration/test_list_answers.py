"""Lists of answers from end to end: a real worker, and a model server that judges by rules."""

from __future__ import annotations

import json
from typing import Any

from psycopg.rows import dict_row

from tests.integration.answering import rows
from tests.integration.by_hand import Connection, scalar
from tests.openai_server import Reply, Server, by_rules
from tests.workers import CORPUS, DOCUMENTS

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
