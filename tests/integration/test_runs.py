"""Runs from end to end: many at once, failing, partial, cancelled, watched."""

from __future__ import annotations

import json
import re
import sys
import threading
from pathlib import Path

import psycopg
import pytest

from tests.openai_server import HANG, PROSE, Chat, Reply, Server, by_rules
from tests.sessions import Connection, scalar
from tests.workers import API_KEY, DOCUMENTS, Service, until, wait, wait_until_searchable

ABSTENTION = Reply('{"interpretation": null, "answer": null, "quote": null}')


def is_about(word: str, chat: Chat) -> bool:
    """Tell whether a call's passage has a word in it."""
    return chat.passage is not None and word in chat.passage


def submit(connection: Connection, question: str, top_k: int = 4, options: str = "{}") -> int:
    return int(
        scalar(
            connection,
            "select pgclarify.submit('clarify', %s, options => jsonb_build_object('top_k', %s::integer) || %s::jsonb)",
            question,
            top_k,
            options,
        )
    )


def test_many_questions_at_once(asker: Connection, model: Server) -> None:
    def behavior(chat: Chat) -> Reply:
        if "Question: forbidden" in chat.outside:
            return Reply.error(403)
        if "Question: unheard of" in chat.outside and chat.passage:
            return ABSTENTION
        return by_rules(chat)

    model.behavior = behavior
    questions = ["many hail", "forbidden", "many fuel", "unheard of", "  many hail "]
    rows = asker.execute(
        """
        select question_ordinal, question_key, question, run_id, status, ordinal, interpretation
        from pgclarify.clarify_many(%s, keys => %s, top_k => 4)
        """,
        [questions, ["a", "b", "c", "d", "e"]],
    ).fetchall()

    assert [row[:2] for row in rows] == sorted(row[:2] for row in rows)
    by_key = {key: [row for row in rows if row[1] == key] for key in "abcde"}
    assert {key: {row[2] for row in found} for key, found in by_key.items()} == {
        "a": {"many hail"},
        "b": {"forbidden"},
        "c": {"many fuel"},
        "d": set(),  # the corpus does not answer it
        "e": {"many hail"},
    }
    assert [row[5] for row in by_key["a"]] == list(range(1, len(by_key["a"]) + 1))
    assert [row[3:] for row in by_key["a"]] == [row[3:] for row in by_key["e"]]
    ((_, _, _, run_id, status, ordinal, interpretation),) = by_key["b"]
    assert (status, ordinal, interpretation) == ("failed", None, None)
    assert scalar(asker, "select error from pgclarify.run where run_id = %s", run_id)
    asked = scalar(asker, "select count(*) from pgclarify.run where question = 'many hail'")
    assert asked == 1


def test_keys_belong_to_questions_by_their_order(asker: Connection, model: Server) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        asker.execute("select * from pgclarify.clarify_many(array['one', 'two'], keys => array['a'])")
    rows = asker.execute(
        """
        select distinct question_key, question
        from pgclarify.clarify_many(array['many hail', 'many fuel'], keys => '[0:1]={h,f}', top_k => 4)
        """
    ).fetchall()
    assert set(rows) == {("h", "many hail"), ("f", "many fuel")}


def test_a_partial_run_warns_each_time_it_is_read(asker: Connection, model: Server) -> None:
    model.behavior = lambda chat: PROSE if is_about("Canada", chat) else by_rules(chat)
    notices: list[str | None] = []
    asker.add_notice_handler(lambda notice: notices.append(notice.severity_nonlocalized))

    rows = asker.execute(
        "select run_id, status from pgclarify.clarify('a slip', top_k => %s)", [len(DOCUMENTS)]
    ).fetchall()

    assert {status for _, status in rows} == {"partial"}
    assert notices == ["WARNING"]
    asker.execute("select * from pgclarify.result(%s)", [rows[0][0]])
    assert notices == ["WARNING"] * 2


def test_a_run_can_be_watched_and_cancelled(asker: Connection, model: Server) -> None:
    model.behavior = lambda chat: HANG if is_about("Canada", chat) else by_rules(chat)
    run_id = submit(asker, "watched", len(DOCUMENTS))
    seen = "select status, candidates, verdicts from pgclarify.run where run_id = %s"

    until(lambda: asker.execute(seen, [run_id]).fetchone() == ("running", len(DOCUMENTS), len(DOCUMENTS) - 1))
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
        asker.execute("select * from pgclarify.result(%s)", [run_id])
    until(lambda: model.in_flight == 1)

    assert scalar(asker, "select pgclarify.cancel(array[%s]::bigint[])", run_id) == 1
    assert scalar(asker, "select pgclarify.cancel(array[%s]::bigint[])", run_id) == 0
    assert wait(asker, [run_id]) == ["cancelled"]
    with pytest.raises(psycopg.Error) as caught:
        asker.execute("select * from pgclarify.result(%s)", [run_id])
    assert caught.value.sqlstate == "PC003"

    # The replies of the cancelled run are kept, also the one that comes after its end: the same question costs nothing.
    before = model.calls
    model.behavior = by_rules
    model.releases += 1
    assert wait(asker, [submit(asker, "watched", len(DOCUMENTS))]) == ["succeeded"]
    assert model.calls == before


def test_the_key_is_kept_to_the_worker(
    service: Service, asker: Connection, superuser: Connection, model: Server
) -> None:
    model.behavior = lambda _: Reply.error(422, f"who is {API_KEY}?")
    with pytest.raises(psycopg.Error) as caught:
        asker.execute("select * from pgclarify.clarify('what is your key')")
    assert caught.value.sqlstate == "PC003"

    assert model.keys == {API_KEY}
    assert API_KEY not in str(caught.value)
    assert API_KEY not in service.worker.log.read_text()
    for table in ("pgclarify.run", "pgclarify_private.completion", "pgclarify.verdict", "pgclarify_private.worker"):
        statement = f"select count(*) from {table} as kept where kept::text like %s"  # noqa: S608
        assert scalar(superuser, statement, f"%{API_KEY}%") == 0


@pytest.mark.parametrize("relax", [False, True])
def test_a_corpus_that_is_dropped_in_the_middle(asker: Connection, model: Server, *, relax: bool) -> None:
    asker.execute("select pgclarify.create_corpus('short-lived')")
    asker.execute("select pgclarify.add_document('short-lived', '101', %s)", [DOCUMENTS[101][1]])
    wait_until_searchable(asker, "short-lived")
    until(lambda: model.in_flight == 0)
    begun = model.calls
    is_dropped = threading.Event()

    def behavior(chat: Chat) -> Reply:
        if model.calls == begun + 1:
            is_dropped.wait(120)
        return by_rules(chat)

    model.behavior = behavior
    options = json.dumps({"relax": relax})
    run_id = scalar(asker, "select pgclarify.submit('clarify', 'dropped after call 2', 'short-lived', %s)", options)
    until(lambda: model.calls == begun + 1)

    asker.execute("select pgclarify.drop_corpus('short-lived')")
    is_dropped.set()

    # Passages that were retrieved in time can still be judged.
    assert wait(asker, [run_id]) == ["failed" if relax else "succeeded"]
    assert wait(asker, [submit(asker, f"others go on {relax}")]) == ["succeeded"]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_worker_takes_no_more_memory_than_the_pages_say(service: Service, asker: Connection) -> None:
    run_ids = [submit(asker, f"memory {number}", len(DOCUMENTS)) for number in range(20)]
    assert wait(asker, run_ids) == ["succeeded"] * 20
    status = Path(f"/proc/{service.worker.process.pid}/status").read_text()
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    # docs/operations.md says 300 MB; a library that is loaded without need, such as scikit-learn, takes 80.
    assert int(kilobytes) < 350_000
