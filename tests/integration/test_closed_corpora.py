"""A new corpus is closed, until its owner opens it to a role or to all."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connect, Connection, MakeRole, scalar, state_of
from tests.integration.granting import (
    CLOSE,
    GRANT,
    INSUFFICIENT_PRIVILEGE,
    OPEN,
    REVOKE,
    UNDEFINED_OBJECT,
    asks,
    corpus,
    documents,
    named,
    statements,
)

__all__ = ["corpus"]

pytestmark = pytest.mark.rolled_back


class TestANewCorpus:
    """It is closed: its owner alone may search it."""

    def test_is_only_for_its_owner(self, connect: Connect, corpus: str, make_role: MakeRole) -> None:
        owner = make_role("pgclarify_user", name="owner")
        own = f"{corpus} too"
        connect(owner).execute("select pgclarify.create_corpus(%s)", [own])
        connect(owner).execute("select pgclarify.add_document(%s, '1', 'Boats.')", [own])
        others = [connect(make_role(role)) for role in ("pgclarify_user", "pgclarify_reader")]
        member, administrator = (connect(make_role(role, "pgclarify_user")) for role in (owner, "pgclarify_owner"))

        assert [documents(session) for session in (connect(owner), member, *others)] == [1, 1, 0, 0]
        assert documents(administrator) == 2
        for query in (
            "select count(*) from pgclarify.corpus",
            "select count(*) from pgclarify.passage",
        ):
            assert [scalar(session, query) for session in others] == [0, 0], query
        assert [asks(session, own) for session in (member, administrator, others[0])] == [None, None, UNDEFINED_OBJECT]
        for call in (
            "search('cars', %s)",
            "neighbors(%s, '1', 1)",
            "get_document(%s, '1')",
            "estimate(array['cars'], %s)",
            "alter_corpus(%s, '{}')",
            "grant_access(%s, 'pgclarify_user')",
        ):
            assert state_of(others[0], f"select pgclarify.{call}", [own]) == UNDEFINED_OBJECT, call

    def test_stays_closed_to_roles_that_were_granted_another(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        ann, boss = make_role(name="ann"), make_role(name="boss")
        connection.execute("select pgclarify.create_corpus(%s)", [f"{corpus} hr"])
        connection.execute("select pgclarify.add_document(%s, '1', 'Salaries.')", [f"{corpus} hr"])
        connection.execute(GRANT.encode(), [corpus, ann, "user"])
        connection.execute(GRANT.encode(), [corpus, boss, "analyst"])

        assert connect(ann).execute("select corpus from pgclarify.corpus").fetchall() == [(corpus,)]
        assert documents(connect(ann)) == 1
        assert asks(connect(ann), f"{corpus} hr") == UNDEFINED_OBJECT
        # An analyst sees the corpus and its runs, but no documents that it was not granted.
        assert connect(boss).execute("select corpus from pgclarify.corpus").fetchall() == [(corpus,)]
        assert documents(connect(boss)) == 0


class TestACorpusForEveryone:
    """It is open to all who may ask, or read, because its owner has said so."""

    def test_is_opened_and_closed_by_an_owner_who_may_grant_no_role(
        self, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        owner, user, reader = (
            connect(make_role(role)) for role in ("pgclarify_user", "pgclarify_user", "pgclarify_reader")
        )
        own = f"{corpus} too"
        owner.execute("select pgclarify.create_corpus(%s)", [own])
        owner.execute("select pgclarify.add_document(%s, '1', 'Boats.')", [own])

        def seen() -> list[int]:
            return [documents(session) for session in (owner, user, reader)]

        opened = f"""select pgclarify.alter_corpus('{own}', '{{"reader": "pgclarify_%s"}}')"""
        assert statements(owner, OPEN, own, "pgclarify_user") == [opened % "user"]
        assert statements(owner, OPEN, own, "pgclarify_user") == []
        assert seen() == [1, 1, 0]
        assert asks(user, own) is None
        assert statements(owner, CLOSE, own, "pgclarify_reader") == []
        assert statements(owner, OPEN, own, "pgclarify_reader") == [opened % "reader"]
        assert statements(owner, OPEN, own, "pgclarify_user") == []
        assert seen() == [1, 1, 1]
        assert statements(owner, CLOSE, own, "pgclarify_user") == []
        assert seen() == [1, 1, 1]
        owner.execute(CLOSE.encode(), [own, "pgclarify_reader"])
        assert seen() == [1, 0, 0]
        assert asks(user, own) == UNDEFINED_OBJECT

    def test_stays_open_to_roles_that_were_granted_it_by_name(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        dashboard, user = make_role(name="dashboard"), make_role("pgclarify_user")

        def seen() -> list[int]:
            return [documents(connect(role)) for role in (dashboard, user)]

        connection.execute(GRANT.encode(), [corpus, dashboard, "reader"])
        assert seen() == [1, 0]
        connection.execute(OPEN.encode(), [corpus, "pgclarify_user"])
        assert seen() == [1, 1]
        connection.execute(CLOSE.encode(), [corpus, "pgclarify_user"])
        assert seen() == [1, 0]

    def test_needs_no_group_for_those_whom_it_is_open_to(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        ann, dashboard = make_role(name="ann"), make_role(name="dashboard")
        connection.execute(OPEN.encode(), [corpus, "pgclarify_user"])
        assert statements(connection, GRANT, corpus, ann, "user") == [f"grant pgclarify_user to {ann}"]
        assert statements(connection, GRANT, corpus, ann, "user") == []
        assert statements(connection, REVOKE, corpus, ann, "user") == []
        assert named(connection, corpus) == ("pgclarify_user", None)
        assert asks(connect(ann), corpus) is None

        # A role that may not ask needs the group, and the others keep their access.
        connection.execute(GRANT.encode(), [corpus, dashboard, "reader"])
        assert [documents(connect(role)) for role in (ann, dashboard)] == [1, 1]
        assert asks(connect(dashboard), corpus) == INSUFFICIENT_PRIVILEGE
