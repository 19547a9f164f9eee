"""Requester and login cannot be forged. Each attack expects the role that its run is recorded under, or its SQLSTATE.

Mallory is a pgclarify_user with a schema of her own. She attacks the superuser's maintenance and Alice's privileges:
only Alice may read corpus "secret".
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, ManualWorker
from tests.sessions import Connect, Connection, MakeRole, sqlstate_of

INSUFFICIENT_PRIVILEGE = "42501"
UNDEFINED_OBJECT = "42704"
TIMED_OUT = "PC002"

SUBMIT = "select pgclarify.submit('clarify', 'cars', 'insurance')"


@dataclass(frozen=True)
class House:
    """Corpora "insurance", for all roles, and "secret", for Alice."""

    alice: str
    mallory: str
    superuser: Connection
    connect: Connect

    def requesters(self) -> list[str]:
        """The requester of each run."""
        rows = self.superuser.execute("select requested_by from pgclarify.run order by run_id")
        return [row[0] for row in rows]

    def as_mallory(self, *statements: str) -> Connection:
        """A connection of Mallory after some statements of hers. {} stands for her schema."""
        connection = self.connect(self.mallory)
        for statement in statements:
            connection.execute(statement.replace("{}", f"{self.mallory}_home").encode())
        return connection

    def as_superuser(self, statement: str) -> None:
        self.superuser.execute(statement.replace("{}", f"{self.mallory}_home").encode())


@pytest.fixture
def house(connection: Connection, connect: Connect, make_role: MakeRole) -> House:
    alice = make_role("pgclarify_user", name="alice")
    mallory = make_role("pgclarify_user", name="mallory")
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    connect(alice).execute(
        "select pgclarify.create_corpus('secret', options => jsonb_build_object('reader', current_user))"
    )
    connection.execute(
        sql.SQL("create schema {} authorization {}").format(sql.Identifier(f"{mallory}_home"), sql.Identifier(mallory))
    )
    return House(alice, mallory, connection, connect)


# A function of the attacker that another role's query will execute: it asks in the open corpus and in Alice's, and
# stores the results.
TRAP = """
    create table {}.outcome (asked_as name, state text);
    create function {}.spring() returns void language plpgsql as $$
    begin
        perform pgclarify.submit('clarify', 'cars', 'insurance');
        perform pgclarify.submit('clarify', 'cars', 'secret');
        insert into {}.outcome values (current_user, 'done');
    exception
        when undefined_object then
            insert into {}.outcome values (current_user, sqlstate);
            perform pgclarify.submit('clarify', 'cars', 'insurance');
    end
    $$;
    create function {}.trap(integer) returns integer language plpgsql immutable as
    $$ begin perform {}.spring(); return $1; end $$;
"""


class TestWhoAsks:
    def test_is_the_role_that_was_set(self, house: House, make_role: MakeRole) -> None:
        team = make_role("pgclarify_user", name="team")
        member = house.connect(make_role(team))
        member.execute(sql.SQL("set role {}").format(sql.Identifier(team)))
        member.execute(SUBMIT)
        member.execute("reset role")
        member.execute(SUBMIT)
        house.superuser.execute(sql.SQL("set role {}").format(sql.Identifier(house.alice)))
        house.superuser.execute(SUBMIT)
        house.superuser.execute("reset role")
        house.superuser.execute(sql.SQL("set session authorization {}").format(sql.Identifier(house.mallory)))
        house.superuser.execute(SUBMIT)
        house.superuser.execute("reset session authorization")

        assert house.requesters() == [team, member.info.user, house.alice, house.mallory]

    @pytest.mark.parametrize("name", ["o'brien", 'the "boss"', "a b", "back\\slash", "ä" * 15])
    def test_may_have_any_name(self, house: House, make_role: MakeRole, name: str) -> None:
        role = make_role("pgclarify_user", name=name)
        house.connect(role).execute(SUBMIT)

        assert house.requesters() == [role]

    def test_is_not_a_role_that_one_may_not_become(self, house: House) -> None:
        mallory = house.connect(house.mallory)

        for attempt in (
            f"set role {house.alice}",
            f"set session authorization {house.alice}",
            f"select set_config('role', '{house.alice}', true), pgclarify.submit('clarify', 'cars', 'insurance')",
            "create function pg_temp.as_her() returns bigint language sql"
            f" set role = '{house.alice}' as $$ {SUBMIT} $$; select pg_temp.as_her()",
        ):
            assert sqlstate_of(mallory, attempt) == INSUFFICIENT_PRIVILEGE
        assert house.requesters() == []


class TestSomebodyElsesQuery:
    """A superuser's maintenance executes Mallory's code: as Mallory."""

    @pytest.mark.parametrize(
        "maintenance",
        [
            "analyze {}.bait",
            "create index on {}.bait ({}.trap(id) desc)",
        ],
    )
    def test_an_expression_index_asks_as_its_owner(self, house: House, maintenance: str) -> None:
        house.as_mallory(
            TRAP,
            """
            create table {}.bait (id integer);
            create index bait_idx on {}.bait ({}.trap(id));
            insert into {}.bait values (1);
            """,
        )
        house.as_superuser("truncate pgclarify_private.run cascade; truncate {}.outcome")

        house.as_superuser(maintenance)

        assert set(house.requesters()) == {house.mallory}
        outcomes = house.superuser.execute(
            sql.SQL("select distinct asked_as, state from {}.outcome").format(sql.Identifier(f"{house.mallory}_home"))
        ).fetchall()
        assert outcomes == [(house.mallory, UNDEFINED_OBJECT)]

    def test_a_materialized_view_that_waits_asks_as_its_owner(self, house: House, make_role: MakeRole) -> None:
        ManualWorker(house.connect(make_role("pgclarify_worker")))
        house.as_mallory(
            """
            create materialized view {}.bait as
            select * from pgclarify.clarify('cars', 'insurance', timeout => '0.1s') with no data;
            create materialized view {}.greed as
            select * from pgclarify.clarify('cars', 'secret', timeout => '0.1s') with no data;
            """
        )
        home = f"{house.mallory}_home"

        assert sqlstate_of(house.superuser, f"refresh materialized view {home}.bait") == TIMED_OUT
        assert sqlstate_of(house.superuser, f"refresh materialized view {home}.greed") == UNDEFINED_OBJECT
        assert house.requesters() == [house.mallory]

    def test_a_definer_wrapper_asks_as_its_owner(self, house: House) -> None:
        """Objects of Mallory ask as Mallory, and functions that Alice shares ask as Alice, never as the login."""
        house.as_mallory(
            "create function {}.ask() returns bigint language sql security definer as"
            " $$ select pgclarify.submit('clarify', 'cars', 'insurance') $$"
        )
        house.as_superuser("select {}.ask()")
        house.as_superuser(f"grant create, usage on schema {{}} to {house.alice}")
        house.as_superuser(f"grant usage on schema {{}} to {house.alice}")
        alice = house.connect(house.alice)
        alice.execute(
            f"create function {house.mallory}_home.lend() returns bigint language sql security definer as"
            " $$ select pgclarify.submit('clarify', 'cars', 'secret') $$".encode()
        )

        house.as_mallory("select {}.lend()")

        assert house.requesters() == [house.mallory, house.alice]

    def test_a_trigger_in_a_definers_table_asks_as_the_definer(self, house: House) -> None:
        """While a function runs as another role, all triggers that it fires run as that role, too."""
        house.as_mallory(
            TRAP,
            """
            create table {}.bait (id integer);
            create function {}.on_insert() returns trigger language plpgsql as
            $$ begin perform {}.trap(new.id); return new; end $$;
            create trigger on_insert after insert on {}.bait for each row execute function {}.on_insert();
            create function {}.write() returns void language sql security definer as 'insert into {}.bait values (1)';
            """,
        )

        house.as_superuser("select {}.write()")

        assert house.requesters() == [house.mallory]


# The columns of the caller are given.
FORGE = (
    "select pgclarify_private.submit_many("
    "row(%s, %s, %s)::pgclarify_private.caller, 'clarify', '{cars}', 'insurance', '{}')"
)


class TestProofs:
    def test_are_good_for_their_own_transaction(self, house: House) -> None:
        mallory = house.connect(house.mallory)
        with mallory.transaction():
            row = mallory.execute("select name, proof, login from pgclarify_private.caller").fetchone()
            assert row is not None
            name, proof, login = row
            assert sqlstate_of(mallory, FORGE, [name, proof, login]) is None

            # A proof of one's own proves neither another's name nor another's login.
            for stated in ((house.alice, login), (name, house.alice), (name, None), (None, login)):
                forged = [stated[0], proof, stated[1]]
                assert sqlstate_of(mallory, FORGE, forged) == INSUFFICIENT_PRIVILEGE

        # It is valid neither later nor in another session, in any transaction.
        assert sqlstate_of(mallory, FORGE, row) == INSUFFICIENT_PRIVILEGE
        assert house.requesters() == [house.mallory]

    def test_are_worthless_in_another_session(self, house: House) -> None:
        alice = house.connect(house.alice)
        with alice.transaction():
            proven = alice.execute("select name, proof, login from pgclarify_private.caller").fetchone()
            assert proven is not None

            state = sqlstate_of(house.connect(house.mallory), FORGE, proven)

        assert state == INSUFFICIENT_PRIVILEGE


class TestNames:
    """Names in our functions mean our objects, with any objects and search_path of the caller."""

    def test_earlier_in_the_search_path(self, house: House) -> None:
        mallory = house.as_mallory(
            """
            create function {}.current_user() returns name language sql as $$ select 'postgres'::name $$;
            create function {}.sha256(bytea) returns bytea language sql immutable as $$ select '\\x00'::bytea $$;
            create function {}.convert_to(text, name) returns bytea language sql as $$ select '\\x00'::bytea $$;
            create function {}.pg_has_role(oid, oid, text) returns boolean language sql as 'select true';
            create function {}.pg_has_role(oid, text) returns boolean language sql as 'select true';
            create function {}.concat(bytea, bytea) returns bytea language sql as $$ select '\\x00'::bytea $$;
            create function {}.same(bytea, bytea) returns boolean language sql as 'select true';
            create function {}.same(name, name) returns boolean language sql as 'select true';
            create function {}._verify_caller(pgclarify_private.caller) returns name language sql as
            $$ select 'postgres'::name $$;
            create operator {}.|| (leftarg = bytea, rightarg = bytea, function = {}.concat);
            create operator {}.= (leftarg = bytea, rightarg = bytea, function = {}.same);
            create operator {}.= (leftarg = name, rightarg = name, function = {}.same);
            create view {}._caller as select 'postgres'::name as name, '\\x00'::bytea as proof;
            create view {}.pg_roles as select * from pg_catalog.pg_roles;
            set search_path = {}, pgclarify, pg_catalog;
            """
        )

        assert sqlstate_of(mallory, "select pgclarify.submit('clarify', 'cars', 'insurance')") is None
        assert sqlstate_of(mallory, "select pgclarify.submit('clarify', 'cars', 'secret')") == UNDEFINED_OBJECT
        assert (
            sqlstate_of(
                mallory,
                r"select pgclarify_private.submit_many(row('postgres', '\x00', 'postgres')::pgclarify_private.caller,"
                r" 'clarify', '{a}', 'secret', '{}')",
            )
            == INSUFFICIENT_PRIVILEGE
        )
        assert house.requesters() == [house.mallory]

    def test_temporary_tables_do_not_forge_the_caller(self, house: House, make_role: MakeRole) -> None:
        mallory = house.connect(house.mallory)
        for table in ("corpus", "run", "document", "passage", "corpus_tally", "term", "worker", "pending_document"):
            mallory.execute(sql.SQL("create temporary table {} ()").format(sql.Identifier(table)))
        mallory.execute(
            r"create temporary table caller_key as"
            r" select true as is_only, '\x00'::bytea as inner_pad, '\x00'::bytea as outer_pad"
        )
        mallory.execute("create temporary view pg_roles as select * from pg_catalog.pg_roles")
        mallory.execute("create temporary table pg_locks as select * from pg_catalog.pg_locks")
        mallory.execute(
            r"create temporary view caller as"
            r" select 'postgres'::name as name, '\x00'::bytea as proof, 'postgres'::name as login"
        )

        mallory.execute("select pgclarify.create_corpus('hers')")
        mallory.execute("select pgclarify.add_document('hers', '1', 'Cars are insured.')")
        mallory.execute(SUBMIT)

        assert house.requesters() == [house.mallory]
        assert house.superuser.execute("select count(*) from pgclarify.document").fetchone() == (1,)
        assert mallory.execute("select corpus, documents from pgclarify.corpus order by 1").fetchall() == [
            ("hers", 1),
            ("insurance", 0),
        ]
        ManualWorker(house.connect(make_role("pgclarify_worker"))).index_everything()
        assert mallory.execute(
            "select document_id from pgclarify.search('cars', 'hers', options => '{\"method\": \"lexical\"}')"
        ).fetchall() == [("1",)]
