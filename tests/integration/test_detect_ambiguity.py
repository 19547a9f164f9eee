"""Detecting and rewriting ambiguous questions: a real worker, its classifier, rules, a corpus, and a model server."""

from __future__ import annotations

from typing import Any

from tests.integration.manual_worker import rows_of
from tests.integration.stored_answers import rows
from tests.openai_server import Server
from tests.sessions import Connection, scalar, sqlstate_of
from tests.workers import CORPUS

UNDEFINED = "42704"
VAGUE = "How much does it cost?"
CLEAR = "How high is the deductible for a rental car that is damaged by hail?"
MANY = "select pgclarify.submit_many('detect_ambiguity', %s)"


def detect(connection: Connection, question: str, history: list[str] | None = None, options: str = "{}") -> Any:
    (row,) = rows(connection, "select * from pgclarify.detect_ambiguity(%s, %s, %s)", question, history or [], options)
    return row


class TestOneQuestion:
    def test_without_its_antecedent_is_ambiguous_and_it_is_said_why(self, asker: Connection, model: Server) -> None:
        calls = model.calls
        found = detect(asker, VAGUE)

        assert (found["is_ambiguous"], found["kind"]) == (True, "pragmatic")
        assert 0 < found["probability"] <= 1
        assert all(reason.keys() == {"source", "name", "text"} for reason in found["reasons"])
        assert any('"it"' in reason["text"] for reason in found["reasons"])
        assert model.calls == calls

    def test_a_corpus_is_looked_at_only_if_it_is_named(self, asker: Connection) -> None:
        """The default corpus is not."""
        corpus = "select corpus from pgclarify.run where run_id = %s"
        assert scalar(asker, corpus, detect(asker, CLEAR)["run_id"]) is None
        named = detect(asker, CLEAR, options=f'{{"corpus": "{CORPUS}"}}')
        assert scalar(asker, corpus, named["run_id"]) == CORPUS
        call = "select pgclarify.detect_ambiguity(%s, options => %s)"
        assert sqlstate_of(asker, call, [VAGUE, '{"corpus": "no such corpus"}']) == UNDEFINED


class TestMany:
    def test_make_a_run_for_each_five_hundred(self, asker: Connection) -> None:
        questions = [f"What is number {number}?" for number in range(501)]
        run_ids = list(dict.fromkeys(scalar(asker, MANY, questions)))
        asker.execute("select pgclarify.wait(%s::bigint[], null)", [run_ids])
        judged = "select question from pgclarify.detection where run_id = any(%s) order by run_id, ordinal"
        assert [row["question"] for row in rows(asker, judged, run_ids)] == questions
        summary = "select operation, question, status from pgclarify.run where run_id = any(%s) order by run_id"
        assert [tuple(row.values()) for row in rows(asker, summary, run_ids)] == [
            ("detect_ambiguity", "500 questions", "succeeded"), ("detect_ambiguity", "1 question", "succeeded")
        ]  # fmt: skip

    def test_hold_anything_and_are_judged_once(self, asker: Connection) -> None:
        questions = ['"', "\\", '["a", 1]', "\u202e\U0001f600", "{}", "'; drop table x; --", "a\nb"]
        (run_id, *others) = scalar(asker, MANY, [*questions, questions[0]])
        assert others == [run_id] * len(questions)
        asker.execute("select pgclarify.wait(array[%s]::bigint[], null)", [run_id])
        assert [row["question"] for row in rows(asker, rows_of("detection"), run_id)] == questions


def test_a_question_that_leans_on_what_was_said_is_rewritten_by_one_call(asker: Connection, model: Server) -> None:
    calls = model.calls
    history = ["Who painted the Lindvik Altar?", "Ida Holm, in 1903"]
    (found,) = rows(asker, "select * from pgclarify.rewrite('Where was she born?', %s)", history)

    # Clear with what was said before, and not alone.
    assert (found["rewritten"], found["was_ambiguous"]) == ("Where was Lindvik Altar born?", False)
    assert found["reason"]
    assert model.calls == calls + 1
    stages = rows(
        asker, "select name, calls from pgclarify_private.seen_stage where run_id = %s order by 1", found["run_id"]
    )
    assert stages == [{"name": "detection", "calls": 0}, {"name": "rewriting", "calls": 1}]
    (seen,) = rows(asker, "select * from pgclarify.detection where run_id = %s", found["run_id"])
    assert (seen["operation"], seen["is_ambiguous"]) == ("rewrite", False)
