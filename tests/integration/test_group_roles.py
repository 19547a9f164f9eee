"""pgclarify_user and pgclarify_reader stand for all their members. The members ask and own; these two roles do not."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.manual_worker import MakeWorker
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

INSUFFICIENT_PRIVILEGE = "42501"

# Each call would succeed, or end by the timeout, if the role were another one.
REFUSED = {
    "add_ambiguity_rule": "select pgclarify.add_ambiguity_rule('cars', 'ambiguous', 'open')",
    "add_document": "select pgclarify.add_document('open', 'b', 'Cars.')",
    "alter_corpus": """select pgclarify.alter_corpus('open', '{"graph": "rebuild"}')""",
    "attach_table": "select pgclarify.attach_table('open', 'public.note', 'id', 'body')",
    "clarify": "select pgclarify.clarify('cars', 'open', timeout => '0s')",
    "clarify_many": "select pgclarify.clarify_many('{cars}', corpus => 'open', timeout => '0s')",
    "clarifying_questions": "select pgclarify.clarifying_questions('cars', options => '{\"timeout\": \"0s\"}')",
    "consolidate": "select pgclarify.consolidate(1)",
    "create_corpus": "select pgclarify.create_corpus('another')",
    "detach_table": "select pgclarify.detach_table('open', 'public.note')",
    "detect_ambiguity": "select pgclarify.detect_ambiguity('cars', options => '{\"timeout\": \"0s\"}')",
    "distribute": "select pgclarify.distribute('open')",
    "drop_corpus": "select pgclarify.drop_corpus('open')",
    "erase_document": "select pgclarify.erase_document('open', 'a')",
    "estimate": "select pgclarify.estimate('{cars}', 'open', options => '{\"timeout\": \"0s\"}')",
    "give_feedback": "select pgclarify.give_feedback(1, 1, 'right')",
    "grant_access": "select pgclarify.grant_access('open', 'pgclarify_reader')",
    "investigate": "select pgclarify.investigate('cars', 'open', options => '{\"timeout\": \"0s\"}')",
    "list_answers": "select pgclarify.list_answers('cars', 'open', options => '{\"timeout\": \"0s\"}')",
    "remove_ambiguity_rule": "select pgclarify.remove_ambiguity_rule('cars', 'open')",
    "remove_budget": "select pgclarify.remove_budget('a budget', 'open')",
    "remove_document": "select pgclarify.remove_document('open', 'a')",
    "reply": "select pgclarify.reply(1, 'cars')",
    "resync": "select pgclarify.resync('open', 'public.note')",
    "revoke_access": "select pgclarify.revoke_access('open', 'pgclarify_user')",
    "rewrite": "select pgclarify.rewrite('cars', options => '{\"timeout\": \"0s\"}')",
    "search": "select pgclarify.search('cars', 'open', options => '{\"method\": \"lexical\"}')",
    "set_budget": """select pgclarify.set_budget('a budget', 'open', '{"period": "day", "max_calls": 1}')""",
    "submit": "select pgclarify.submit('clarify', 'cars', 'open')",
    "submit_many": "select pgclarify.submit_many('clarify', '{cars}', 'open')",
}
# `pgclarify eval` calls it. The evaluation would belong to the role.
EVALUATE = "select begun.* from pgclarify_private.caller, pgclarify_private.begin_evaluation(caller, '{}') as begun"
# They start and own nothing.
ALLOWED = {"cancel", "wait"}


@pytest.fixture
def bob(connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker) -> Connection:
    """A member of pgclarify_user. Corpus "open" belongs to pgclarify_user, as an earlier version allowed."""
    connection.execute("select pgclarify.create_corpus('open', options => '{\"reader\": \"pgclarify_user\"}')")
    connection.execute("select pgclarify.add_document('open', 'a', 'Cars are insured.')")
    connection.execute("create table public.note (id text primary key, body text)")
    make_worker().index_everything()
    connection.execute(
        "update pgclarify_private.corpus set owner = 'pgclarify_user', owner_oid = 'pgclarify_user'::regrole"
    )
    return connect(make_role("pgclarify_user", name="bob"))


def test_every_function_that_asks_or_owns_is_refused(connection: Connection, bob: Connection) -> None:
    starting = connection.execute(
        """
        select distinct proname from pg_proc
        where
            pronamespace = 'pgclarify'::regnamespace
            and has_function_privilege('pgclarify_user', oid, 'execute')
            and not has_function_privilege('pgclarify_reader', oid, 'execute')
        """
    ).fetchall()
    assert {name for (name,) in starting} == REFUSED.keys() | ALLOWED

    for role in ("pgclarify_user", "pgclarify_reader"):
        bob.execute(f"set role {role}".encode())
        states = {name: sqlstate_of(bob, call) for name, call in REFUSED.items()}
        assert states == dict.fromkeys(REFUSED, INSUFFICIENT_PRIVILEGE)
        assert sqlstate_of(bob, EVALUATE) == INSUFFICIENT_PRIVILEGE
    assert scalar(connection, "select count(*) from pgclarify.run") == 0


def test_the_hint_says_to_ask_as_ones_own_role(bob: Connection) -> None:
    bob.execute("set role pgclarify_user")
    with pytest.raises(psycopg.errors.InsufficientPrivilege) as raised:
        bob.execute(REFUSED["submit"].encode())
    assert "reset role" in str(raised.value.diag.message_hint)

    bob.execute("reset role")

    assert sqlstate_of(bob, REFUSED["submit"]) is None


@pytest.mark.parametrize("role", ["pgclarify_user", "pgclarify_reader"])
def test_they_read_what_was_granted_to_them(connection: Connection, bob: Connection, role: str) -> None:
    connection.execute("select pgclarify.grant_access('open', 'pgclarify_reader')")
    connection.execute("select pgclarify.grant_access('open', 'pgclarify_reader', 'analyst')")
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'cars', 'open')")
    bob.execute(f"set role {role}".encode())

    assert scalar(bob, "select documents from pgclarify.corpus") == 1
    assert scalar(bob, "select content from pgclarify.get_document('open', 'a')") == "Cars are insured."
    assert scalar(bob, "select run_id from pgclarify.run") == run_id
    assert scalar(bob, "select count(*) from pgclarify.explain(%s)", run_id) > 0
    for (view,) in connection.execute("select viewname from pg_views where schemaname = 'pgclarify'").fetchall():
        assert sqlstate_of(bob, f"select * from pgclarify.{view}") is None  # noqa: S608 - ours


def test_a_corpus_that_one_of_them_owns_can_be_dropped_by_a_member(bob: Connection) -> None:
    """An earlier version let them own one."""
    assert sqlstate_of(bob, REFUSED["drop_corpus"]) is None
