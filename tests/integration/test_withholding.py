"""A run shows nothing from a document any more to a role that may not read this document now."""

from __future__ import annotations

import json

import pytest

from tests.integration.by_hand import MAKE_OPEN_CORPUS, Connect, Connection, HandWorker, Hire, MakeRole, scalar
from tests.integration.erasing import CANARY, CORPUS, OPEN, SECRET, TEXTS, carry_out

pytestmark = pytest.mark.rolled_back

TABLES = ("candidate", "verdict", "interpretation", "citation")


@pytest.fixture
def alice(connection: Connection, connect: Connect, make_role: MakeRole) -> Connection:
    """Who asks; the corpus is of an administrator."""
    connection.execute(MAKE_OPEN_CORPUS, [CORPUS])
    for document_id, content in TEXTS.items():
        add(connection, document_id, content)
    return connect(make_role("pgclarify_user"))


@pytest.fixture
def worker(alice: Connection, hire: Hire) -> HandWorker:
    worker = hire()
    worker.open_spaces()
    worker.index_everything()
    return worker


def add(owner: Connection, document_id: str, content: str, readers: list[str] | None = None) -> None:
    owner.execute(
        "select pgclarify.add_document(%s, %s, %s, %s, readers => %s)",
        [CORPUS, document_id, content, f"On {document_id}", readers],
    )


def seen(session: Connection, run_id: int) -> str:
    """All that a role can get at of a run."""
    parts = [
        str(
            session.execute(
                f"select to_jsonb(t) from pgclarify.{table} as t where run_id = %s".encode(),  # noqa: S608 - see above
                [run_id],
            ).fetchall()
        )
        for table in TABLES
    ]
    parts.append(str(session.execute("select * from pgclarify.result(%s)", [run_id]).fetchall()))
    parts.append(str(session.execute("select * from pgclarify.explain(%s)", [run_id]).fetchall()))
    return json.dumps(parts)


def test_a_role_that_lost_the_right_sees_no_quote(
    connection: Connection, alice: Connection, worker: HandWorker, connect: Connect, make_role: MakeRole
) -> None:
    board = make_role("pgclarify_user", name="board")
    name = str(scalar(alice, "select current_user"))
    run_id = carry_out(alice, worker)
    assert CANARY in seen(alice, run_id)

    add(connection, SECRET, TEXTS[SECRET], [board])

    shown = seen(alice, run_id)
    assert SECRET not in shown
    # The test itself wrote this remark of the stage.
    assert CANARY not in shown.replace(f"of {CANARY}", "")
    assert OPEN in shown

    # Who has it, or gets it, sees them.
    connection.execute(f'grant "{name}" to "{board}"'.encode())
    assert CANARY in seen(connect(board), run_id)
    add(connection, SECRET, TEXTS[SECRET], [board, name])
    assert CANARY in seen(alice, run_id)


def test_an_analyst_sees_all(
    connection: Connection, alice: Connection, worker: HandWorker, connect: Connect, make_role: MakeRole
) -> None:
    analyst = make_role("pgclarify_user", name="analyst")
    run_id = carry_out(alice, worker)
    connection.execute("select pgclarify.grant_access(%s, %s, 'analyst')", [CORPUS, analyst])
    session = connect(analyst)
    title = (
        "select citation ->> 'title' from pgclarify.result(%s), jsonb_array_elements(citations) as citation"
        " where citation ->> 'document_id' = %s"
    )
    assert scalar(session, title, run_id, SECRET) == f"On {SECRET}"

    add(connection, SECRET, TEXTS[SECRET], [make_role("pgclarify_user", name="board")])

    # The title of a document that was not cited is not shown.
    assert scalar(session, title, run_id, SECRET) is None
    shown = seen(session, run_id)
    assert f"What does {CANARY} cost?" in shown
    assert f"Cars of {CANARY} cost 12 dollars." in shown


def test_nothing_is_said_of_runs_of_others(
    connection: Connection, alice: Connection, worker: HandWorker, connect: Connect, make_role: MakeRole
) -> None:
    carry_out(alice, worker)
    add(connection, SECRET, TEXTS[SECRET], [make_role("pgclarify_user", name="board")])
    stranger = connect(make_role("pgclarify_user"))
    # Policies read these views; people may not.
    connection.execute("grant select on all tables in schema pgclarify_private to pgclarify_reader")

    for view in ("withheld_candidate", "withheld_interpretation"):
        assert scalar(alice, f"select count(*) from pgclarify_private.{view}") > 0  # noqa: S608 - of the two above
        assert scalar(stranger, f"select count(*) from pgclarify_private.{view}") == 0  # noqa: S608 - of the two above
