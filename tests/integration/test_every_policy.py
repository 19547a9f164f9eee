"""Which rows of each table a role sees: rows of Alice, of Bob, and of Alice about a document that is closed to her.

The tables are those of the catalog, so a new table is tested as soon as it has a policy.
"""

from __future__ import annotations

import json
from collections.abc import Set

import pytest
from psycopg import sql

from tests.integration.valid_rows import insert_valid_row
from tests.sessions import Connect, Connection, MakeRole

pytestmark = pytest.mark.rolled_back

ALICES, BOBS, CLOSED = 1, 2, 3
# The columns of a table that the owner of our views may read; the first one tells rows apart.
TABLES = """
    select c.relname, array_agg(a.attname order by a.attname = 'corpus_id', a.attname = 'document_id' desc, a.attnum)
    from pg_class as c
    join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'pgclarify_private'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and has_column_privilege('pgclarify_views', c.oid, a.attnum, 'select')
        and a.atttypid in ('bigint'::regtype, 'integer'::regtype, 'text'::regtype)
    group by c.oid
    order by c.relname
"""
# What a closed document shows in them, is hidden from roles that asked before it was closed.
OF_DOCUMENTS = {
    "document", "passage", "candidate", "verdict", "interpretation", "citation", "step",
    "clarifying_question", "feedback", "listed_answer",
}  # fmt: skip
MADE_WITH_A_CORPUS = {"corpus"}
# Everybody may read prices.
PUBLIC = {"model_price"}


class World:
    """Corpus 1 is Alice's, corpus 2 Bob's, whose analyst is Ann; each table has a row of each of three kinds."""

    def __init__(self, superuser: Connection, connect: Connect, make_role: MakeRole) -> None:
        self._superuser = superuser
        self._connect = connect
        self._make_role = make_role
        self.alice, self.bob, self.ann = (make_role("pgclarify_user", name=name) for name in ("alice", "bob", "ann"))
        create = "select pgclarify.create_corpus(%s, options => %s::text::jsonb)"
        connect(self.alice).execute(create, ["text 1", "{}"])
        connect(self.bob).execute(create, ["text 2", json.dumps({"analyst": self.ann})])
        self.tables = dict(superuser.execute(TABLES).fetchall())
        for table in self.tables:
            self._fill(table)

    def _fill(self, table: str) -> None:
        columns = self._superuser.execute(
            "select attname, atttypid::regtype::text from pg_attribute where attrelid = %s::regclass and attnum > 0",
            [f"pgclarify_private.{table}"],
        ).fetchall()
        for row, role in ((ALICES, self.alice), (BOBS, self.bob), (CLOSED, self.alice)):
            if table in MADE_WITH_A_CORPUS and row != CLOSED:
                continue
            given = {
                name: f"'{role}'" for name, kind in columns if kind == "name" and name not in {"reader", "analyst"}
            }
            given |= {name: f"'{role}'::regrole" for name, kind in columns if kind == "oid"}
            if row == CLOSED and table not in MADE_WITH_A_CORPUS:
                # Of corpus 1, too.
                given |= {name: "1" for name, _ in columns if name == "corpus_id"}
                given |= {name: "'text 1'" for name, _ in columns if name == "corpus"}
                given |= {name: "array['nobody']::name[]" for name, _ in columns if name == "readers"}
            if table == "fence":
                # Other readers, who have no rows of their own.
                given["role"] = f"'reader {row}'"
            insert_valid_row(self._superuser, table, row, given)

    def seen(self, table: str, role: str) -> Set[int]:
        """The rows that a role sees through a view like ours."""
        self._superuser.execute(
            sql.SQL("""
                create view public.probe as select {} as key from pgclarify_private.{};
                alter view public.probe owner to pgclarify_views;
                grant select on public.probe to public
            """).format(sql.Identifier(self.tables[table][0]), sql.Identifier(table))
        )
        found = self._connect(role).execute(r"select substring(key::text from '\d$')::integer from public.probe")
        numbers = {number for (number,) in found}
        self._superuser.execute("drop view public.probe")
        return numbers

    def seen_by(self, role: str) -> dict[str, Set[int]]:
        """The same of all tables with a policy for all but everybody."""
        return {table: self.seen(table, role) for table in self.tables.keys() - PUBLIC}


@pytest.fixture
def world(connection: Connection, connect: Connect, make_role: MakeRole) -> World:
    return World(connection, connect, make_role)


def test_a_stranger_sees_no_row_of_any_table(world: World, make_role: MakeRole) -> None:
    for stranger in (make_role("pgclarify_user"), make_role("pgclarify_reader")):
        assert {table: rows for table, rows in world.seen_by(stranger).items() if rows} == {}


def test_a_user_and_its_members_see_its_rows_but_what_comes_from_closed_documents(
    world: World, make_role: MakeRole
) -> None:
    for role in (world.alice, make_role(world.alice)):
        seen = world.seen_by(role)

        assert {table for table, rows in seen.items() if rows == {ALICES}} == OF_DOCUMENTS
        assert {table: rows for table, rows in seen.items() if rows not in ({ALICES}, {ALICES, CLOSED})} == {}


def test_an_analyst_sees_everything_of_the_corpus_but_documents(world: World) -> None:
    seen = world.seen_by(world.ann)

    assert {table for table, rows in seen.items() if not rows} == {"document", "passage"}
    assert {table: rows for table, rows in seen.items() if rows not in (set(), {BOBS})} == {}


def test_a_member_of_the_owner_sees_every_row(world: World, make_role: MakeRole) -> None:
    seen = world.seen_by(make_role("pgclarify_owner", "pgclarify_reader"))

    assert {table: rows for table, rows in seen.items() if rows != {ALICES, BOBS, CLOSED}} == {}
