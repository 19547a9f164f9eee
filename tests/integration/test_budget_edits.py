"""Budgets: who may edit them, and who sees them."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.integration.spending import budget, claim, enter
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

INSUFFICIENT_PRIVILEGE = "42501"


class TestWhoEdits:
    def test_owners_of_corpora_edit_theirs_and_whom_it_concerns_sees_it(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        owner, asker = make_role("pgclarify_user"), make_role("pgclarify_user")
        stranger, admin = make_role("pgclarify_reader"), make_role("pgclarify_owner")
        secret = make_role("pgclarify_reader")
        connect(owner).execute("select pgclarify.create_corpus('mine', options => '{}')")
        connection.execute("update pgclarify_private.corpus set readers = %s where name = 'mine'", [[asker]])
        connection.execute(MAKE_OPEN_CORPUS, ["other"])
        make = """select pgclarify.set_budget(%s, %s, '{"period": "day", "max_calls": 1}')"""

        assert sqlstate_of(connect(owner), make, ["of mine", "mine"]) is None
        assert sqlstate_of(connect(owner), make, ["of other", "other"]) == INSUFFICIENT_PRIVILEGE
        assert sqlstate_of(connect(owner), make, ["of all", None]) == INSUFFICIENT_PRIVILEGE
        assert sqlstate_of(connect(asker), make, ["of mine, too", "mine"]) == INSUFFICIENT_PRIVILEGE
        assert sqlstate_of(connect(stranger), make, ["of all", None]) == INSUFFICIENT_PRIVILEGE
        assert sqlstate_of(connect(admin), make, ["of all", None]) is None
        budget(connection, "of one role", role_name=secret, max_calls=1)
        assert scalar(connect(owner), """select pgclarify.set_budget('of mine', 'mine', '{"max_calls": 2}')""")
        assert (
            sqlstate_of(connect(asker), "select pgclarify.remove_budget('of mine', 'mine')") == INSUFFICIENT_PRIVILEGE
        )

        def seen(role: str) -> set[str]:
            return {row[0] for row in connect(role).execute("select name from pgclarify.budget")}

        assert seen(owner) == seen(asker) == {"of mine", "of all"}
        assert seen(stranger) == {"of all"}
        assert seen(secret) == {"of all", "of one role"}
        assert seen(admin) == {"of mine", "of all", "of one role"}

        # A role does not see reservations of budgets that it may not see.
        claim(make_worker(), enter(connection, secret), "abc")

        def reserved(role: str) -> int:
            query = "select count(*) from pgclarify_private.caller, pgclarify_private.reserved_now(caller)"
            return int(scalar(connect(role), query))

        assert (reserved(stranger), reserved(secret), reserved(admin)) == (1, 2, 2)


INVALID_PARAMETER = "22023"
UNDEFINED_OBJECT = "42704"

SET = "select pgclarify.set_budget(%s, %s, %s::text::jsonb)"
REMOVE = "select pgclarify.remove_budget(%s, %s)"
DAILY = '{"period": "day", "max_calls": 5}'
BUDGETS = "select name, period, role_name, max_cost_usd, max_calls from pgclarify.budget order by name"
BINDING = "select name from pgclarify_private.budget where binds_owner"


@pytest.fixture
def keeper(connect: Connect, make_role: MakeRole) -> Connection:
    return connect(make_role("pgclarify_owner"))


@pytest.fixture
def owner(connect: Connect, make_role: MakeRole, keeper: Connection) -> Connection:
    """The owner of a corpus that only the owner sees. It has an administrator's budget and one of the owner."""
    session = connect(make_role("pgclarify_user"))
    session.execute("select pgclarify.create_corpus('mine', options => jsonb_build_object('reader', current_user))")
    assert scalar(keeper, SET, "imposed", "mine", DAILY)
    assert scalar(session, SET, "own", "mine", DAILY)
    return session


def test_an_owner_edits_its_own_budgets_and_not_those_that_bind_it(
    connection: Connection, owner: Connection, keeper: Connection
) -> None:
    assert scalar(owner, SET, "own", "mine", '{"max_calls": 1000, "period": "month"}')
    assert not scalar(owner, SET, "own", "mine", '{"max_calls": 1000}')
    for attempt, given in ((SET, ["imposed", "mine", DAILY]), (REMOVE, ["imposed", "mine"])):
        assert sqlstate_of(owner, attempt, given) == INSUFFICIENT_PRIVILEGE
    assert owner.execute(BUDGETS).fetchall() == [
        ("imposed", "day", None, None, 5),
        ("own", "month", None, None, 1000),
    ]
    assert connection.execute(BINDING).fetchall() == [("imposed",)]

    assert scalar(owner, REMOVE, "own", "mine")
    assert not scalar(owner, REMOVE, "own", "mine")
    # An administrator may leave the other one to the owner.
    assert sqlstate_of(owner, SET, ["imposed", "mine", '{"binds_owner": false}']) == INSUFFICIENT_PRIVILEGE
    assert scalar(keeper, SET, "imposed", "mine", '{"binds_owner": false}')
    assert scalar(owner, REMOVE, "imposed", "mine")


DROP = "select pgclarify.drop_corpus('mine')"
NOTES = "select name from pgclarify.finding where kind = 'budgets' and level = 'note'"


def test_an_owner_does_not_get_rid_of_a_budget_that_binds_it_by_dropping_the_corpus(
    connection: Connection, owner: Connection, keeper: Connection, connect: Connect, make_role: MakeRole
) -> None:
    assert sqlstate_of(owner, DROP) == INSUFFICIENT_PRIVILEGE
    assert connection.execute(BINDING).fetchall() == [("imposed",)]
    # The owner and administrators learn it before.
    for role in (owner, keeper):
        assert role.execute(NOTES).fetchall() == [("imposed",)]
    assert connect(make_role("pgclarify_user")).execute(NOTES).fetchall() == []

    assert scalar(keeper, SET, "imposed", "mine", '{"binds_owner": false}')
    assert owner.execute(NOTES).fetchall() == []
    assert sqlstate_of(owner, DROP) is None


def test_an_administrator_drops_a_corpus_with_a_budget_that_binds_its_owner(
    owner: Connection, keeper: Connection
) -> None:
    assert sqlstate_of(keeper, DROP) is None
    assert owner.execute(NOTES).fetchall() == keeper.execute(NOTES).fetchall() == []


def test_a_budget_does_not_bind_an_owner_who_is_an_administrator(keeper: Connection) -> None:
    assert scalar(keeper, "select pgclarify.create_corpus('ours')")
    assert scalar(keeper, SET, "imposed", "ours", DAILY)
    assert keeper.execute(NOTES).fetchall() == []
    assert sqlstate_of(keeper, "select pgclarify.drop_corpus('ours')") is None


def test_an_omitted_field_stays_and_null_removes_it(
    connection: Connection, owner: Connection, make_role: MakeRole
) -> None:
    role = make_role()
    assert scalar(owner, SET, "own", "mine", f'{{"max_cost_usd": 0.5, "role": "{role}"}}')
    assert scalar(owner, SET, "own", "mine", '{"max_calls": null}')
    assert owner.execute(BUDGETS).fetchall()[1] == ("own", "day", role, 0.5, None)
    assert scalar(owner, SET, "own", "mine", '{"role": null}')
    assert owner.execute(BUDGETS).fetchall()[1] == ("own", "day", None, 0.5, None)
    assert connection.execute(BINDING).fetchall() == [("imposed",)]


@parametrize_in_one_test(
    "given, sqlstate",
    [
        (["", "mine", DAILY], INVALID_PARAMETER),
        ([None, "mine", DAILY], INVALID_PARAMETER),
        (["x" * 101, "mine", DAILY], INVALID_PARAMETER),
        (["new", "mine", '{"max_calls": 5}'], INVALID_PARAMETER),
        (["new", "mine", '{"period": "day"}'], INVALID_PARAMETER),
        (["own", "mine", '{"max_calls": null}'], INVALID_PARAMETER),
        (["new", "mine", '{"period": "day", "max_calls": 1, "role": "no such role"}'], UNDEFINED_OBJECT),
        (["new", "none", DAILY], UNDEFINED_OBJECT),
        (["new", None, DAILY], INSUFFICIENT_PRIVILEGE),
    ],
)
def test_a_wrong_budget_is_refused_with_a_hint(owner: Connection, given: list[str], sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as refused:
        owner.execute(SET.encode(), given)

    assert refused.value.sqlstate == sqlstate
    assert refused.value.diag.message_hint


def test_a_name_tells_nothing_of_budgets_that_are_hidden(
    connection: Connection, connect: Connect, make_role: MakeRole, owner: Connection
) -> None:
    """The names of budgets of other corpora, or of all corpora, may be used again for one's own corpus."""
    assert scalar(connection, SET, "secret", None, f'{{"period": "day", "max_calls": 5, "role": "{make_role()}"}}')
    stranger = connect(make_role("pgclarify_user"))
    stranger.execute("select pgclarify.create_corpus('theirs')")

    for name in ("imposed", "own", "secret", "new"):
        assert scalar(stranger, SET, name, "theirs", DAILY)
    for name in ("imposed", "own", "new"):
        assert not scalar(stranger, REMOVE, f"{name} no more", "theirs")
    assert {row[0] for row in stranger.execute("select name from pgclarify.budget")} == {
        "imposed", "own", "secret", "new",
    }  # fmt: skip
    assert scalar(connection, "select count(*) from pgclarify.budget") == 7


UNPRICED = "select name from pgclarify.finding where kind = 'budgets' and level = 'problem' order by name"


def test_a_budget_in_dollars_is_a_problem_while_the_model_of_a_worker_has_no_price(
    connection: Connection, connect: Connect, make_role: MakeRole
) -> None:
    login = make_role("pgclarify_worker")
    connection.execute('select pgclarify.set_budget(\'dollars\', options => \'{"period": "day", "max_cost_usd": 9}\')')
    connection.execute('select pgclarify.set_budget(\'calls\', options => \'{"period": "day", "max_calls": 9}\')')
    ManualWorker(connect(login), provider="extractive", model="extractive-1")
    assert connection.execute(UNPRICED).fetchall() == []
    for _ in range(2):
        ManualWorker(connect(login), provider="openai", model="a-model")
    assert connection.execute(UNPRICED).fetchall() == [("dollars",)]
    connection.execute("insert into pgclarify.model_price (model, input_usd, output_usd) values ('a-model', 1, 2)")
    assert connection.execute(UNPRICED).fetchall() == []


def test_removing_a_budget_that_is_not_there_is_told(connection: Connection) -> None:
    connection.execute("select pgclarify.create_corpus('handbook')")
    assert scalar(connection, SET, "few", "handbook", DAILY)
    hints: list[str | None] = []
    connection.add_notice_handler(lambda notice: hints.append(notice.message_hint))
    # A budget of a corpus is named with it.
    assert not scalar(connection, REMOVE, "few", None)
    assert len(hints) == 1
    assert hints[0]
    assert scalar(connection, REMOVE, "few", "handbook")
    assert len(hints) == 1
