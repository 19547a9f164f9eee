"""Runs whose endpoint always answers with something other than a chat completion."""

from __future__ import annotations

from collections import Counter

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.openai_server import Chat, Reply, Server, by_rules
from tests.workers import scalar, wait

QUESTIONS = [f"broken {number}" for number in range(5)]
BROKEN = (
    Reply(body="<html>502 Bad Gateway</html>"),
    Reply(body=""),
    Reply(body='{"choices": [null]}'),
    Reply(body='{"error": {"message": "the provider is down"}}'),
    Reply(body="[" * 20_000),
)


def test_a_fifth_of_answers_that_are_no_completion_costs_no_run(asker: Connection, model: Server) -> None:
    asked: Counter[str] = Counter()
    broken: Counter[str] = Counter()

    def behavior(chat: Chat) -> Reply:
        first = chat.user not in asked
        asked[chat.user] += 1
        if first and len(asked) % 5 == 0:
            reply = BROKEN[len(asked) // 5 % len(BROKEN)]
            broken[reply.body or ""] += 1
            return reply
        return by_rules(chat)

    model.behavior = behavior
    run_ids = scalar(
        asker, "select pgclarify.submit_many('clarify', %s, options => jsonb_build_object('top_k', 4))", QUESTIONS
    )

    assert wait(asker, run_ids) == ["succeeded"] * len(QUESTIONS)
    assert broken.total() == len(asked) // 5 > 0
    assert sum(asked.values()) == len(asked) + broken.total()
    # Broken replies were neither stored nor paid for.
    kept = "select sum(completions), sum(prompt_tokens) > 0 from pgclarify.run where run_id = any(%s)"
    assert asker.execute(kept, [run_ids]).fetchall() == [(len(asked), True)]


def test_parts_of_a_text_are_its_text(asker: Connection, model: Server) -> None:
    def behavior(chat: Chat) -> Reply:
        text = by_rules(chat).content or ""
        parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
        return Reply(content=parts)  # type: ignore[arg-type]

    model.behavior = behavior
    rows = asker.execute("select status from pgclarify.clarify('in parts', top_k => 4)").fetchall()
    assert {status for (status,) in rows} == {"succeeded"}


def test_an_endpoint_that_never_completes_fails_the_run_with_a_reason(asker: Connection, model: Server) -> None:
    model.behavior = lambda _: Reply(status=307, headers={"Location": "/elsewhere"}, body="")
    with pytest.raises(psycopg.Error) as caught:
        asker.execute("select * from pgclarify.clarify('moved')")
    assert caught.value.sqlstate == "PC003"
    assert scalar(asker, "select status from pgclarify.run where question = 'moved'") == "failed"


def test_questions_of_a_batch_that_fail_are_told_with_their_reason(asker: Connection, model: Server) -> None:
    model.behavior = lambda _: Reply(status=307, headers={"Location": "/elsewhere"}, body="")
    warnings: list[str] = []
    asker.add_notice_handler(lambda notice: warnings.append(f"{notice.severity_nonlocalized}: {notice.message_hint}"))
    rows = asker.execute("select run_id, status from pgclarify.clarify_many(array['moved', 'gone'])").fetchall()
    assert [status for _, status in rows] == ["failed", "failed"]
    codes = "select count(error_code) from pgclarify.run where run_id = any(%s)"
    assert scalar(asker, codes, [run_id for run_id, _ in rows]) == 2
    (warning,) = warnings
    assert warning.startswith("WARNING: ")
    assert "pgclarify.explain(" in warning, "its hint says where there is more"
