"""A question of a corpus that is still being indexed says so, to those who may know it."""

from __future__ import annotations

import json

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.sessions import Connect, Connection, MakeRole

pytestmark = pytest.mark.rolled_back

ASK = {
    "search": "select * from pgclarify.search('cars', 'insurance', options => '{\"method\": \"lexical\"}')",
    "submit": "select pgclarify.submit('clarify', 'cars', 'insurance')",
    "submit_many": "select pgclarify.submit_many('list_answers', array['cars', 'vans'], 'insurance')",
}


def told(session: Connection, statement: str) -> list[tuple[str | None, str | None]]:
    notices: list[tuple[str | None, str | None]] = []
    session.add_notice_handler(lambda notice: notices.append((notice.message_primary, notice.message_detail)))
    session.execute(statement.encode())
    return notices


def add(connection: Connection, document_id: str, readers: list[str] | None = None) -> None:
    connection.execute(
        "select pgclarify.add_document('insurance', %s, 'Cars are insured.', readers => %s)", [document_id, readers]
    )


@pytest.mark.parametrize("statement", ASK.values(), ids=ASK.keys())
def test_is_told_by_every_operation_that_searches(
    connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker, statement: str
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    add(connection, "one")
    make_worker().index_everything()
    alice = make_role("pgclarify_user", name="alice")
    assert told(connect(alice), statement) == []

    add(connection, "two")
    assert told(connect(alice), statement) == [('corpus "insurance" is still being indexed', "One document waits.")]
    add(connection, "three")
    assert told(connect(alice), statement) == [('corpus "insurance" is still being indexed', "2 documents wait.")]


def test_is_not_told_of_documents_that_may_be_hidden(
    connection: Connection, connect: Connect, make_role: MakeRole
) -> None:
    alice, bob = (make_role("pgclarify_user", name=name) for name in ("alice", "bob"))
    connection.execute("select pgclarify.create_corpus('insurance')")
    for role, filter_ in ((alice, None), (bob, {"tenant": "bob"})):
        connection.execute(
            "select pgclarify.grant_access('insurance', %s, filter => %s)",
            [role, None if filter_ is None else json.dumps(filter_)],
        )
    add(connection, "one")
    assert told(connect(bob), ASK["submit"]) == []
    assert told(connect(alice), ASK["submit"]) != []

    add(connection, "two", ["nobody"])
    assert told(connect(alice), ASK["submit"]) == []
    assert told(connection, ASK["submit"]) != []
