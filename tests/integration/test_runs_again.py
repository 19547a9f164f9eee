"""Repeated questions from end to end, with the calls that are counted."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS
from tests.openai_server import PROSE, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import wait, wait_until_searchable


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
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        asker.execute(asked[0].encode())
    assert caught.value.diag.column_name == "pgclarify.reuse_runs"
    assert "perhaps" in (caught.value.diag.message_detail or "")
    assert caught.value.diag.message_hint


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
    # Another test changes what the model answers.
    submitted = asker.execute("select run_id from pgclarify.run where question = 'marked, too'").fetchall()
    wait(asker, [run_id for (run_id,) in submitted])


CORPUS = "twins"
TEXT = "The deductible of a rental car is twelve dollars a day."


def asked(asker: Connection, question: str) -> int:
    return int(scalar(asker, "select pgclarify.submit('clarify', %s, %s)", question, CORPUS))


def counted(asker: Connection, run_id: int) -> tuple[int, int]:
    """The calls that were paid for, and those that were reused. Its stages say the same."""
    asker.execute("select pgclarify.wait(array[%s::bigint])", [run_id])
    run = "select completions, reused_completions from pgclarify.run where run_id = %s"
    stages = "select sum(calls), sum(reused_calls) from pgclarify_private.seen_stage where run_id = %s"
    (told,) = asker.execute(run.encode(), [run_id]).fetchall()
    assert asker.execute(stages.encode(), [run_id]).fetchall() == [told]
    return told[0], told[1]


def test_a_run_counts_as_its_stages_do(asker: Connection, superuser: Connection, model: Server) -> None:
    superuser.execute(MAKE_OPEN_CORPUS, [CORPUS])
    for document_id in ("a", "b"):
        superuser.execute("select pgclarify.add_document(%s, %s, %s)", [CORPUS, document_id, TEXT])
    wait_until_searchable(superuser, CORPUS)
    unread = [1]

    def unreadable_at_first(chat: Chat) -> Reply:
        return PROSE if chat.passage is not None and unread and unread.pop() else by_rules(chat)

    # One verdict for both passages. The second one is no reuse, because this run paid for it.
    assert counted(asker, asked(asker, "deductible")) == (1, 0)
    # The first reply about the other passage cannot be read, so there is a second one. Both are reused.
    superuser.execute("select pgclarify.remove_document(%s, 'b')", [CORPUS])
    model.behavior = unreadable_at_first
    assert counted(asker, asked(asker, "rental car")) == (2, 0)
    asker.execute("set pgclarify.reuse_runs = off")
    again = asked(asker, "rental car")
    assert counted(asker, again) == (0, 2)
    # A consolidation copies the verdicts, and pays for nothing.
    run_id = scalar(asker, "select max(run_id) from pgclarify.consolidate(%s)", again)
    reused = "select completions, reused_completions from pgclarify.run where run_id = %s"
    assert asker.execute(reused.encode(), [run_id]).fetchall() == [(0, 1)]


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
