"""Lists of answers from end to end: a real worker, and a model server that lists by rules."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
from psycopg.rows import dict_row

from tests.integration.answering import rows
from tests.integration.by_hand import Connection, scalar, state_of
from tests.openai_server import HANG, Chat, Reply, Server, by_rules
from tests.workers import CORPUS, DOCUMENTS, Service, until, wait_until_linked

QUESTION = "Which fee is charged?"
UNHEARD_OF = "Who invented telescopes?"
WRONG_VALUE, NO_SUCH_OBJECT = "22023", "42704"


def list_answers(
    connection: Connection, question: str, corpus: str = CORPUS, **options: object
) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        statement = "select * from pgclarify.list_answers(%s, %s, %s)"
        return cursor.execute(statement, [question, corpus, json.dumps(options)]).fetchall()


def on_later_rounds(say: Callable[[Chat], Reply]) -> Callable[[Chat], Reply]:
    """Find one answer by the rules, and then say something else."""

    def behave(chat: Chat) -> Reply:
        is_later = chat.purpose == "listing" and "Found so far: " in chat.user
        return say(chat) if is_later else by_rules(chat)

    return behave


def test_each_has_its_proof(asker: Connection, model: Server) -> None:
    found = list_answers(asker, QUESTION)

    assert {row["answer"] for row in found} == {"of use", "rental car"}
    assert [row["ordinal"] for row in found] == [1, 2]
    assert [row["variants"] for row in found] == [[row["answer"]] for row in found]
    assert sorted(row["document_ids"] for row in found) == [["107"], ["108"]]
    for row in found:
        (citation,) = row["citations"]
        title, content = DOCUMENTS[int(citation["document_id"])]
        assert content[citation["start_char"] : citation["end_char"]] == citation["quote"]
        assert (citation["run_id"], citation["ordinal"]) == (row["run_id"], row["ordinal"])
        assert (citation["title"], citation["is_current"]) == (title, True)
    run_id = found[0]["run_id"]
    assert scalar(asker, "select stop_reason from pgclarify.run where run_id = %s", run_id) == "no further answer"
    listed = """
        select answer, variants, documents, question, corpus
        from pgclarify.listed_answer
        where run_id = %s
        order by ordinal
    """
    assert rows(asker, listed, run_id) == [
        {"answer": row["answer"], "variants": row["variants"], "documents": 1, "question": QUESTION, "corpus": CORPUS}
        for row in found
    ]


def test_they_are_paid_for_once(asker: Connection, superuser: Connection, model: Server) -> None:
    wait_until_linked(superuser)
    first = list_answers(asker, QUESTION, top_k=19)
    calls = model.calls
    assert list_answers(asker, QUESTION, top_k=19) == first
    assert model.calls == calls
    # Another limit makes another run. Its first rounds come from the ledger.
    (only,) = list_answers(asker, QUESTION, top_k=19, max_answers=1)
    assert (only["run_id"] != first[0]["run_id"], only["answer"]) == (True, first[0]["answer"])
    assert model.calls == calls
    reason = "select stop_reason from pgclarify.run where run_id = %s"
    assert scalar(asker, reason, only["run_id"]) == "the limit of 1 answer was reached"


def test_a_question_that_the_corpus_does_not_answer_has_no_rows(asker: Connection, model: Server) -> None:
    assert list_answers(asker, UNHEARD_OF) == []
    ended = "select status, stop_reason from pgclarify.run where question = %s"
    assert rows(asker, ended, UNHEARD_OF) == [{"status": "succeeded", "stop_reason": "the passages give no answer"}]


def test_they_are_seen_as_they_are_found(service: Service, asker: Connection, model: Server) -> None:
    question = "Which fee is charged to whom?"
    model.behavior = on_later_rounds(lambda chat: HANG)
    seen = "select answer from pgclarify.listed_answer where question = %s"
    with closing(service.connect(service.asker)) as other, ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(state_of, asker, "select * from pgclarify.list_answers(%s)", [question])
        until(lambda: rows(other, seen, question) or waiting.done())
        asker.cancel()
        assert waiting.result() == "57014"
        found = rows(other, seen, question)
        status = scalar(other, "select status from pgclarify.run where question = %s", question)
    assert (len(found), status) == (1, "cancelled")
    until(lambda: model.in_flight == 0)


class TestRefusals:
    @pytest.mark.parametrize(
        "options",
        [
            {"unheard of": 1},
            {"method": "adaptive"},
            {"reranker": "none"},
            {"reranker": 1},
            {"top_k": 0},
            {"top_k": 101},
            {"max_answers": 0},
            {"max_answers": 51},
            {"max_answers": 2.5},
            {"timeout": "soon"},
            ["top_k"],
        ],
    )
    def test_wrong_options_are_refused_before_a_run_is_made(self, asker: Connection, options: Any) -> None:
        statement = "select pgclarify.list_answers('Which options are refused?', options => %s)"
        assert state_of(asker, statement, [json.dumps(options)]) == WRONG_VALUE
        entered = "select count(*) from pgclarify.run where question = 'Which options are refused?'"
        assert scalar(asker, entered) == 0

    @pytest.mark.parametrize("question", [None, "", " \n", "x" * 10_001])
    def test_wrong_questions_are_refused(self, asker: Connection, question: str | None) -> None:
        assert state_of(asker, "select pgclarify.list_answers(%s)", [question]) == WRONG_VALUE

    def test_an_unknown_corpus_is_refused(self, asker: Connection) -> None:
        assert state_of(asker, "select pgclarify.list_answers('x', 'no such')") == NO_SUCH_OBJECT
