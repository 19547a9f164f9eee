"""Rewriting from end to end: a real worker, its own classifier, and a model server, or none."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.answering import rows
from tests.integration.by_hand import Connection
from tests.openai_server import PROSE, Reply, Server

WRONG = "22023"
HISTORY = ["Who painted the Lindvik Altar?", "Ida Holm, in 1903"]
SURE = '{"threshold": 0}'
NEVER = '{"threshold": 1}'


def rewrite(
    connection: Connection, question: str, history: list[str] | None = None, options: str = SURE
) -> dict[str, Any]:
    said = HISTORY if history is None else history
    (row,) = rows(connection, "select * from pgclarify.rewrite(%s, %s, %s)", question, said, options)
    return row


class TestWithAModel:
    def test_a_question_that_leans_on_what_was_said_is_rewritten_by_one_call(
        self, asker: Connection, model: Server
    ) -> None:
        calls = model.calls
        found = rewrite(asker, "Where was she born?", options="{}")

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

    @pytest.mark.parametrize("question", ["\t How  old is she?\r\n ", "\u00a0How old is she\u2026", "q"])
    def test_a_clear_one_comes_back_to_the_byte_without_a_call(
        self, asker: Connection, model: Server, question: str
    ) -> None:
        calls = model.calls
        found = rewrite(asker, question, options=NEVER)

        assert (found["rewritten"], found["was_ambiguous"], found["reason"]) == (question, False, None)
        assert model.calls == calls

    @pytest.mark.parametrize("reply", [PROSE, Reply.error(403)])
    def test_a_model_that_fails_leaves_the_question_and_a_warning(
        self, asker: Connection, model: Server, reply: Reply
    ) -> None:
        model.behavior = lambda chat: reply
        warnings: list[str] = []
        asker.add_notice_handler(lambda notice: warnings.append(notice.message_primary or ""))
        question = f"What was she paid {len(reply.content or '')} times?"
        found = rewrite(asker, question)

        assert found["rewritten"] == question
        assert "the model" in found["reason"]
        ended = "select status, stop_reason from pgclarify.run where run_id = %s"
        (run,) = rows(asker, ended, found["run_id"])
        assert run["status"] == "partial"
        assert warnings == [f"run {found['run_id']} is partial: {run['stop_reason']}"]
