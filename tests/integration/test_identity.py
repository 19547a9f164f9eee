"""A role is its name and its oid. A new role with an old name has no rights of the old one, and can work."""

from __future__ import annotations

import json
import subprocess
from contextlib import closing

import psycopg
import pytest
from psycopg import sql

from pgclarify import embedded
from pgclarify.install import installer
from tests.integration import evaluating as evaluations
from tests.integration.attaching import ATTACH, RESYNC, STATE
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.integration.test_doctor import Doctor, doctor
from tests.integration.test_nothing_leaks import OF_RUN, add, answered, seen
from tests.integration.test_nothing_leaks_of_dialogues import ANIMAL, PRESENT, House, house, present
from tests.servers import in_database
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of
from tests.workers import as_role

__all__ = ["doctor", "house"]

UNDEFINED, REFUSED, NOT_READY = "42704", "42501", "55000"


def recreate(admin: Connection, role: str, *memberships: str) -> None:
    """Replace the role by another one with the same name."""
    admin.execute(sql.SQL("drop role {0}; create role {0} login").format(sql.Identifier(role)))
    for membership in memberships or ("pgclarify_user",):
        admin.execute(sql.SQL("grant {} to {}").format(sql.Identifier(membership), sql.Identifier(role)))


def runs_of(connection: Connection) -> list[int]:
    return [row[0] for row in connection.execute("select run_id from pgclarify.run order by 1").fetchall()]


def rows_of(connection: Connection, oid: int) -> dict[str, list[str]]:
    """All rows that a role sees. oid: the role's oid, which is left out."""
    return {name: sorted(str(row).replace(str(oid), "…") for row in rows) for name, rows in seen(connection).items()}


class TestRecreated:
    """A role was dropped, and another one was created under its name."""

    @pytest.fixture
    def filled(self, house: House) -> House:
        """All kinds of rows of a role, in a corpus that it may search and in one that it owns."""
        house.converse(house.corpus_id)
        answered(house.worker, house.asker, "cars", "hidden")
        house.asker.execute(MAKE_OPEN_CORPUS, ["own"])
        add(house.asker, "own", ANIMAL, f"{ANIMAL} cars.")
        add(house.owner, "hidden", f"{ANIMAL} 2", f"{ANIMAL} cars.", [house.team])
        house.worker.index_everything()
        house.owner.execute("select pgclarify_private.group_questions(100)")
        evaluations.evaluate(house.asker, house.corpus_id)
        return house

    def test_sees_no_row_of_any_table_or_view(self, filled: House, admin: Connection) -> None:
        assert present(filled.asker) >= PRESENT | {"corpus", "document", "passage", "run"}
        recreate(admin, filled.team)

        new = filled.connect(filled.team)

        # my_changed_name shows that the name belongs to another role; and all users may see the new role's own corpus.
        assert set(present(new)) - {"my_changed_name"} == {
            "corpus", "document", "passage"
        }  # fmt: skip
        assert new.execute("select citations from pgclarify.document").fetchall() == [(0,)]
        assert {row[0] for row in new.execute("select corpus from pgclarify.corpus").fetchall()} == {"own"}
        assert evaluations.seen(new) == [set(), set(), set()]
        # The analyst sees what both have asked.
        analyst = filled.connect(filled.make_role(filled.analysts))
        assert present(analyst) >= PRESENT

    def test_reaches_neither_its_runs_nor_its_corpus(self, filled: House, admin: Connection) -> None:
        asked_back = scalar(filled.owner, "select max(run_id) from pgclarify.clarifying_question")
        waiting = filled.enter("clarify", filled.corpus_id)
        replied = scalar(filled.owner, "select max(run_id) from pgclarify.run where operation = 'reply'")
        recreate(admin, filled.team)

        new = filled.connect(filled.team)

        for run_id in (asked_back, waiting):
            for statement in OF_RUN:
                assert sqlstate_of(new, statement.format(run_id)) == UNDEFINED
        go_on = json.dumps({"check": "none", "reply": replied})
        assert sqlstate_of(new, "select pgclarify.clarifying_questions(options => %s)", [go_on]) == UNDEFINED
        for statement in (
            "select pgclarify.revoke_access('own', 'x')",
            "select pgclarify.add_document('own', '2', 'Vans.')",
            "select pgclarify.drop_corpus('own')",
        ):
            assert sqlstate_of(new, statement) == REFUSED
        # A worker reads with the rights of the requester, and that role no longer exists.
        status = "select status from pgclarify.run where run_id = %s"
        assert scalar(filled.owner, status, waiting) == "queued"
        assert filled.worker.start(waiting) is None
        assert scalar(filled.owner, status, waiting) == "failed"

    def test_does_not_own_the_corpus_of_one_that_nothing_names(self, house: House, admin: Connection) -> None:
        role = house.make_role("pgclarify_user", name="owner")
        house.connect(role).execute(MAKE_OPEN_CORPUS, ["own"])
        recreate(admin, role)

        assert sqlstate_of(house.connect(role), "select pgclarify.drop_corpus('own')") == REFUSED

    def test_is_named_by_no_reader(self, filled: House, admin: Connection) -> None:
        """The name means the new role everywhere, until an administrator changes it."""
        filled.owner.execute("select pgclarify.grant_access('hidden', 'pgclarify_reader')")
        recreate(admin, filled.team)
        new = filled.connect(filled.team)

        found = new.execute("select id from pgclarify.document where corpus_id = %s", [filled.corpus_id]).fetchall()
        assert found == [(f"{ANIMAL} 1",)]
        grant = "select pgclarify.grant_access('hidden', %s)"
        options = json.dumps({"reader": filled.team})
        assert sqlstate_of(filled.owner, grant, [filled.team]) == NOT_READY
        assert sqlstate_of(filled.owner, "select pgclarify.create_corpus('x', options => %s)", [options]) == NOT_READY

        filled.owner.execute("select pgclarify_private.adopt_roles()")

        assert scalar(new, "select count(*) from pgclarify.document where corpus_id = %s", filled.corpus_id) == 2
        assert sqlstate_of(filled.owner, grant, [filled.team]) is None

    def test_is_listed_by_the_doctor(self, filled: House, admin: Connection, doctor: Doctor, database: str) -> None:
        _, before = doctor(database)
        recreate(admin, filled.team)
        _, after = doctor(database)
        _, of_others = doctor(as_role(database, filled.make_role("pgclarify_user")))
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(filled.team)))
        _, gone = doctor(database)

        assert "identities" not in before
        assert after["identities"]["level"] == "warning"
        assert filled.team in after["identities"]["finding"]
        assert "identities" not in of_others
        assert gone["identities"]["level"] == "ok"

    def test_counts_citations_beside_those_of_the_other(self, filled: House, admin: Connection) -> None:
        """Adopting adds the two counts up."""
        recreate(admin, filled.team, "pgclarify_user", filled.analysts)
        filled.owner.execute("select pgclarify.grant_access('hidden', 'pgclarify_reader')")
        new = filled.connect(filled.team)
        answered(filled.worker, new, "cars", "hidden")
        count = "select count(*), sum(runs) from pgclarify_private.citation_tally where requested_by = %s"
        filled.owner.execute(
            """
            insert into pgclarify_private.citation_tally
                (corpus_id, document_id, requested_by, requested_by_oid, citations, runs, last_cited_at)
            select %(corpus)s, 'x', rolname, oid, 1, 1, now() from pg_roles where rolname = %(role)s
            union all
            select %(corpus)s, 'x', %(role)s, 1, 2, 2, now()
            """,
            {"corpus": filled.corpus_id, "role": filled.team},
        )
        assert filled.owner.execute(count + " and document_id = 'x'", [filled.team]).fetchone() == (2, 3)

        filled.owner.execute("select pgclarify_private.adopt_roles()")

        assert filled.owner.execute(count + " and document_id = 'x'", [filled.team]).fetchone() == (1, 3)
        assert filled.owner.execute("select * from pgclarify_private.orphaned_roles()").fetchall() == []


def test_is_not_served_what_the_other_was_told(
    connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole, admin: Connection
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["open"])
    add(connection, "open", "1", "Cars.")
    worker = make_worker()
    worker.index_everything()
    role = make_role("pgclarify_user")
    run_id = answered(worker, connect(role), "cars", "open")
    ask = "select pgclarify.submit('clarify', 'cars', 'open')"
    assert scalar(connect(role), ask) == run_id

    recreate(admin, role)

    new = connect(role)
    assert scalar(new, ask) != run_id
    assert run_id not in runs_of(new)


def test_a_renamed_role_has_its_things_under_its_name(
    connection: Connection, connect: Connect, make_role: MakeRole, admin: Connection
) -> None:
    connection.execute(MAKE_OPEN_CORPUS, ["open"])
    role, other = make_role("pgclarify_user"), make_role("pgclarify_user")
    run_id = scalar(connect(role), "select pgclarify.submit('clarify', 'cars', 'open')")
    rename = sql.SQL("alter role {} rename to {}")

    admin.execute(rename.format(sql.Identifier(role), sql.Identifier(f"{role}_away")))
    admin.execute(rename.format(sql.Identifier(other), sql.Identifier(role)))
    seen_by_both = [runs_of(connect(name)) for name in (f"{role}_away", role)]
    admin.execute(rename.format(sql.Identifier(role), sql.Identifier(other)))
    admin.execute(rename.format(sql.Identifier(f"{role}_away"), sql.Identifier(role)))

    assert seen_by_both == [[], []]
    assert runs_of(connect(role)) == [run_id]


def test_a_table_is_not_read_for_another_role(
    connection: Connection, connect: Connect, alice: Connection, make_role: MakeRole, admin: Connection
) -> None:
    role = make_role("pgclarify_user", alice.info.user)
    connect(role).execute(ATTACH)
    recreate(admin, role, "pgclarify_user", alice.info.user)

    connection.execute("select pgclarify_private.inspect_sources()")

    assert scalar(connection, STATE) == "failed"
    connect(role).execute(RESYNC)
    connection.execute("select pgclarify_private.inspect_sources()")
    assert scalar(connection, STATE) == "loading"


class TestRestored:
    """A dump has names of roles, but oids of the server that it comes from."""

    @pytest.fixture
    def asked(self, house: House) -> House:
        house.converse(house.corpus_id)
        answered(house.worker, house.asker, "cars", "hidden")
        add(house.owner, "hidden", f"{ANIMAL} 2", f"{ANIMAL} cars.", [house.team])
        evaluations.evaluate(house.asker, house.corpus_id)
        return house

    @staticmethod
    def restore(source: str, target: str) -> None:
        dump = subprocess.run([embedded.binary("pg_dump"), source], stdout=subprocess.PIPE, check=True, timeout=120)
        subprocess.run(
            [embedded.binary("psql"), "-qX", "-v", "ON_ERROR_STOP=1", target],
            input=dump.stdout, stdout=subprocess.DEVNULL, check=True, timeout=120,
        )  # fmt: skip

    def test_on_annew_server_nobody_has_anything_until_roles_are_adopted(
        self, asked: House, database: str, new_server: str
    ) -> None:
        here = scalar(asked.owner, "select oid from pg_roles where rolname = %s", asked.team)
        expected = rows_of(asked.asker, here)
        evaluated = evaluations.seen(asked.asker)
        target = in_database(new_server, "restored")
        with closing(psycopg.connect(new_server, autocommit=True)) as root:
            root.execute("create database installed")
            installer.install(in_database(new_server, "installed"))
            for role in (asked.team, asked.analysts):
                root.execute(sql.SQL("create role {} login in role pgclarify_user").format(sql.Identifier(role)))
            root.execute("create role stranger login in role pgclarify_user")
            root.execute("create database restored")
            there = scalar(root, "select oid from pg_roles where rolname = %s", asked.team)
        assert here != there
        self.restore(database, target)

        installer.install(target)

        with closing(psycopg.connect(target, user=asked.team, autocommit=True)) as carol:
            assert {name for name, rows in seen(carol).items() if rows} == {"my_changed_name"}
            assert evaluations.seen(carol) == [set(), set(), set()]
            assert sqlstate_of(carol, "select pgclarify_private.adopt_roles()") == REFUSED
            assert sqlstate_of(carol, "select pgclarify_private.orphaned_roles()") == REFUSED
            assert runs_of(carol) == []

            adopt = "select name, kind from pgclarify_private.adopt_roles()"
            with closing(psycopg.connect(target, autocommit=True)) as root:
                adopted = root.execute(adopt).fetchall()
                assert root.execute(adopt).fetchall() == []

            assert {name for name, _ in adopted} == {asked.team, asked.analysts}
            assert {"run", "evaluation"} <= {kind for _, kind in adopted}
            assert rows_of(carol, there) == expected
            assert evaluations.seen(carol) == evaluated

    def test_on_the_same_server_everything_is_as_it_was(
        self, asked: House, database: str, make_database: MakeRole
    ) -> None:
        oid = scalar(asked.owner, "select oid from pg_roles where rolname = %s", asked.team)
        expected = rows_of(asked.asker, oid)
        target = make_database()
        self.restore(database, target)

        installer.install(target)

        with closing(psycopg.connect(target, user=asked.team, autocommit=True)) as carol:
            assert rows_of(carol, oid) == expected
