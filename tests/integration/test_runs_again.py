"""Repeated questions from end to end, with the calls that are counted; and an endpoint with useless replies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import closing

import psycopg
import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connection
from tests.integration.test_runs import submit
from tests.openai_server import PROSE, Chat, Reply, Server, by_rules
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

    # The relaxation, and one verdict for both passages. The second one is no reuse, because this run paid for it.
    assert counted(asker, asked(asker, "deductible")) == (2, 0)
    # The first reply about the other passage cannot be read, so there is a second one. Both are reused.
    superuser.execute("select pgclarify.remove_document(%s, 'b')", [CORPUS])
    model.behavior = unreadable_at_first
    assert counted(asker, asked(asker, "rental car")) == (3, 0)
    asker.execute("set pgclarify.reuse_runs = off")
    again = asked(asker, "rental car")
    assert counted(asker, again) == (0, 3)
    # A consolidation copies the verdicts, and pays for nothing.
    run_id = scalar(asker, "select max(run_id) from pgclarify.consolidate(%s)", again)
    reused = "select completions, reused_completions from pgclarify.run where run_id = %s"
    assert asker.execute(reused.encode(), [run_id]).fetchall() == [(0, 1)]


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
