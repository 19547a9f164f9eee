"""What the owner of a corpus may do with its budgets, and what is left to administrators."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connect, Connection, MakeRole, scalar, state_of
from tests.integration.spending import budget

INSUFFICIENT_PRIVILEGE = "42501"


@pytest.fixture
def owner(connect: Connect, make_role: MakeRole) -> Connection:
    """The owner of a corpus that has a budget of an administrator's, and one of its own."""
    session = connect(make_role("pgclarify_user"))
    session.execute("select pgclarify.create_corpus('mine')")
    admin = connect(make_role("pgclarify_owner"))
    (corpus_id,) = session.execute("select corpus_id from pgclarify.corpus").fetchall()[0]
    budget(admin, "imposed", corpus_id=corpus_id, max_calls=10)
    budget(session, "own", corpus_id=corpus_id, max_calls=5)
    return session


@pytest.mark.parametrize(
    "change",
    [
        "update pgclarify.budget set budget_id = default",
        "update pgclarify.budget set created_at = now()",
        "update pgclarify.budget set binds_owner = false",
        "insert into pgclarify.budget (budget_id, name, period, corpus_id, max_calls)"
        " overriding system value select 1000, 'next', 'day', corpus_id, 1 from pgclarify.corpus",
        "insert into pgclarify.budget (name, period, corpus_id, max_calls, created_at)"
        " select 'older', 'total', corpus_id, 1, '2020-01-01' from pgclarify.corpus",
        "insert into pgclarify.budget (name, period, corpus_id, max_calls, binds_owner)"
        " select 'for ever', 'total', corpus_id, 1, true from pgclarify.corpus",
        "update pgclarify.model_price set input_usd = 0",
        "delete from pgclarify.model_price",
    ],
)
def test_keys_times_and_prices_are_not_for_it_to_choose(owner: Connection, change: str) -> None:
    assert state_of(owner, change) == INSUFFICIENT_PRIVILEGE


def test_it_edits_what_it_has_made_and_not_what_binds_it(connection: Connection, owner: Connection) -> None:
    edit = "update pgclarify.budget set max_calls = 1000, period = 'month', role_name = null"
    assert owner.execute(edit).rowcount == 1
    assert scalar(connection, "select max_calls from pgclarify.budget where name = 'imposed'") == 10
    seen = owner.execute("select name, binds_owner from pgclarify.budget").fetchall()
    assert dict(seen) == {"imposed": True, "own": False}

    assert owner.execute("delete from pgclarify.budget").rowcount == 1

    assert connection.execute("select name from pgclarify.budget").fetchall() == [("imposed",)]
    # An administrator may leave it to the owner.
    connection.execute("update pgclarify.budget set binds_owner = false")
    assert owner.execute("delete from pgclarify.budget").rowcount == 1
