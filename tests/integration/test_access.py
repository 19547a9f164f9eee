"""Who may search a corpus, and who sees all runs on it: grant_access and revoke_access."""

from __future__ import annotations

import json

import psycopg
import pytest
from psycopg import sql

from tests.integration.evaluating import evaluate, seen
from tests.integration.granting import (
    CLOSE,
    GRANT,
    INSUFFICIENT_PRIVILEGE,
    INVALID_PARAMETER,
    OPEN,
    REVOKE,
    UNDEFINED_OBJECT,
    asks,
    corpus,
    documents,
    named,
)
from tests.integration.manual_worker import MakeWorker, vector_of
from tests.integration.stored_answers import reading, store_grounded_verdict
from tests.integration.test_identity import NOT_READY, recreate
from tests.integration.test_nothing_leaks import answered
from tests.sessions import Connect, Connection, MakeRole, run_at_once, scalar, sqlstate_of

__all__ = ["corpus"]

pytestmark = pytest.mark.rolled_back

VIEWS = "select relname from pg_class where relnamespace = 'pgclarify'::regnamespace and relkind = 'v'"
RUNS = "select count(*) from pgclarify.run"


def test_analysts_see_the_runs_of_everyone_and_start_nothing(
    connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
) -> None:
    ann, bob = (make_role("pgclarify_user", name=name) for name in ("ann", "bob"))
    user = make_role("pgclarify_user")
    connection.execute(OPEN.encode(), [corpus, user])
    assert asks(connect(user), corpus) is None

    assert scalar(connection, GRANT, corpus, ann, "analyst") is True
    assert scalar(connection, GRANT, corpus, bob, "analyst") is True
    assert scalar(connection, GRANT, corpus, ann, "analyst") is False
    assert named(connection, corpus) == ([user], [ann, bob])
    assert [scalar(connect(role), RUNS) for role in (ann, bob)] == [1, 1]
    assert asks(connect(ann), corpus) == UNDEFINED_OBJECT

    assert scalar(connection, REVOKE, corpus, ann, "analyst") is True
    assert scalar(connection, REVOKE, corpus, ann, "analyst") is False
    assert [scalar(connect(role), RUNS) for role in (ann, bob)] == [0, 1]


def test_readers_read_and_those_who_may_ask_also_ask(
    connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
) -> None:
    dashboard, ann = make_role("pgclarify_reader", name="dashboard"), make_role("pgclarify_user", name="ann")
    other = make_role("pgclarify_user")
    for role in (dashboard, ann):
        connection.execute(OPEN.encode(), [corpus, role])

    assert [documents(connect(role)) for role in (dashboard, ann, other)] == [1, 1, 0]
    assert asks(connect(dashboard), corpus) == INSUFFICIENT_PRIVILEGE
    assert asks(connect(ann), corpus) is None
    connection.execute(REVOKE.encode(), [corpus, ann, "reader"])
    assert asks(connect(ann), corpus) == UNDEFINED_OBJECT
    assert documents(connect(dashboard)) == 1


def test_members_of_a_role_have_its_access(
    connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
) -> None:
    team = make_role("pgclarify_user", name="team")
    member = make_role(team, name="member")
    connection.execute(OPEN.encode(), [corpus, team])
    assert asks(connect(member), corpus) is None
    notices: list[str] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))

    assert scalar(connection, REVOKE, corpus, member, "reader") is False

    assert [team in notice for notice in notices] == [True]
    assert asks(connect(member), corpus) is None


@pytest.mark.parametrize("inherits", ["inherit", "noinherit"])
def test_a_role_that_may_not_use_pgclarify_is_named_the_missing_grant(
    connection: Connection, connect: Connect, corpus: str, make_role: MakeRole, inherits: str
) -> None:
    ann = make_role(name="ann")
    connection.execute(f"alter role {ann} {inherits}".encode())
    hints: list[str] = []
    connection.add_notice_handler(lambda notice: hints.append(notice.message_hint or ""))

    connection.execute(OPEN.encode(), [corpus, ann])

    (hint,) = hints
    connection.execute(hint.removeprefix("To let it ask: ").split(".")[0].encode())
    assert asks(connect(ann), corpus) is None


def test_two_grants_at_once_both_count(
    connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
) -> None:
    people = [make_role("pgclarify_reader", name="person") for _ in range(4)]
    sessions = [connect() for _ in people]

    outcomes = run_at_once(
        *(
            lambda session=session, person=person: session.execute(GRANT.encode(), [corpus, person, "analyst"])
            for session, person in zip(sessions, people, strict=True)
        )
    )

    assert outcomes == [None] * 4
    assert sorted(named(connection, corpus)[1]) == sorted(people)


def test_a_role_that_was_dropped_can_be_revoked(
    connection: Connection, admin: Connection, corpus: str, make_role: MakeRole
) -> None:
    gone = make_role(name="gone")
    connection.execute(OPEN.encode(), [corpus, gone])
    admin.execute(sql.SQL("drop role {}").format(sql.Identifier(gone)))
    assert scalar(connection, REVOKE, corpus, gone, "reader") is True
    assert named(connection, corpus) == ([], [])


def test_roles_and_accesses_that_there_are_not_are_refused(connection: Connection, corpus: str) -> None:
    refused: dict[tuple[str | None, str | None], str] = {
        ("no such role", "reader"): UNDEFINED_OBJECT,
        ("public", "reader"): UNDEFINED_OBJECT,
        ("", "reader"): UNDEFINED_OBJECT,
        (None, "reader"): UNDEFINED_OBJECT,
        ("pgclarify_views", "reader"): INVALID_PARAMETER,
        ("postgres", "owner"): INVALID_PARAMETER,
        ("postgres", None): INVALID_PARAMETER,
    }
    assert {given: sqlstate_of(connection, GRANT, [corpus, *given]) for given in refused} == refused
    assert named(connection, corpus) == ([], [])


def test_an_evaluation_takes_nothing_more_from_a_role_whose_access_was_revoked(
    connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
) -> None:
    """Otherwise it would go on writing texts that the analysts of the corpus read."""
    ann, user = make_role("pgclarify_reader", name="ann"), make_role("pgclarify_user")
    connection.execute(OPEN.encode(), [corpus, user])
    connection.execute(GRANT.encode(), [corpus, ann, "analyst"])
    corpus_id = scalar(connection, "select corpus_id from pgclarify.corpus where corpus = %s", corpus)
    evaluation = evaluate(connect(user), corpus_id, planned_cases=1)
    case = {
        "ordinal": 2, "case_id": "late", "question": "Said to ann.", "gold": {}, "output": {}, "status": "succeeded",
        "figures": {},
    }  # fmt: skip
    record = "select pgclarify_private.record_eval_case(caller, %s, %s) from pgclarify_private.caller"
    finish = "select pgclarify_private.finish_evaluation(caller, %s, '{}') from pgclarify_private.caller"

    connection.execute(CLOSE.encode(), [corpus, user])

    assert sqlstate_of(connect(user), record, [evaluation, json.dumps(case)]) == INSUFFICIENT_PRIVILEGE
    assert sqlstate_of(connect(user), finish, [evaluation]) == INSUFFICIENT_PRIVILEGE
    # What it has done before stays, for both.
    assert [seen(connect(role)) for role in (ann, user)] == [[{evaluation}] * 3] * 2
    connection.execute(OPEN.encode(), [corpus, user])
    assert scalar(connect(user), finish, evaluation) is True


def test_an_analyst_reads_quotes_but_neither_titles_nor_texts_and_nothing_of_other_corpora(
    connection: Connection, connect: Connect, corpus: str, make_worker: MakeWorker, make_role: MakeRole
) -> None:
    ann, user = make_role("pgclarify_user", name="ann"), make_role("pgclarify_user")
    connection.execute("select pgclarify.create_corpus('other')")
    for name in (corpus, "other"):
        connection.execute(OPEN.encode(), [name, user])
        connection.execute(
            "select pgclarify.add_document(%s, 'closed', 'Cars of the board.', 'Minutes', 'x.html', readers => %s)",
            [name, [user]],
        )
        connection.execute("select pgclarify.remove_document(%s, '1')", [name])
    worker = make_worker()
    worker.index_everything()
    runs = {name: answered(worker, connect(user), "cars", name) for name in (corpus, "other")}

    connection.execute(GRANT.encode(), [corpus, ann, "analyst"])

    cited = "select run_id, quote, title, uri from pgclarify.citation"
    assert connect(ann).execute(cited.encode()).fetchall() == [(runs[corpus], "Cars", None, None)]
    shown = " ".join(
        str(connect(ann).execute(f"select * from pgclarify.{view}".encode()).fetchall())  # noqa: S608 - of the catalog
        for (view,) in connection.execute(VIEWS).fetchall()
    )
    assert [text for text in ("board", "Minutes", "x.html", "other") if text in shown] == []


@pytest.mark.committed
def test_a_new_role_with_the_name_of_an_analyst_sees_no_run(
    connection: Connection, connect: Connect, admin: Connection, corpus: str, make_role: MakeRole
) -> None:
    ann, user = make_role("pgclarify_user", name="ann"), make_role("pgclarify_user")
    connection.execute(OPEN.encode(), [corpus, user])
    connection.execute(GRANT.encode(), [corpus, ann, "analyst"])
    assert asks(connect(user), corpus) is None
    assert scalar(connect(ann), RUNS) == 1

    recreate(admin, ann)

    assert scalar(connect(ann), RUNS) == 0
    assert sqlstate_of(connection, GRANT, [corpus, ann, "analyst"]) == NOT_READY


@pytest.mark.parametrize("has_found", [False, True])
def test_access_that_is_revoked_during_a_run_counts_until_it_has_found_its_passages(
    connection: Connection, connect: Connect, corpus: str, make_worker: MakeWorker, make_role: MakeRole, has_found: bool
) -> None:
    user = make_role("pgclarify_user")
    connection.execute(OPEN.encode(), [corpus, user])
    worker = make_worker()
    worker.index_everything()
    run_id = scalar(connect(user), "select pgclarify.submit('clarify', 'cars', %s)", corpus)
    assert worker.start(run_id) is not None
    if has_found:
        worker.retrieve(run_id, question="cars", vector=vector_of("cars"))

    connection.execute(CLOSE.encode(), [corpus, user])

    if has_found:
        store_grounded_verdict(worker, run_id)
        worker.finish(run_id, interpretations=[reading()])
        assert scalar(connect(user), "select answer from pgclarify.result(%s)", run_id) == "Cars"
        # It still may not ask again, nor read the document.
        assert asks(connect(user), corpus) == UNDEFINED_OBJECT
        assert documents(connect(user)) == 0
    else:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            worker.retrieve(run_id, question="cars", vector=vector_of("cars"))
