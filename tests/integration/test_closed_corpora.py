"""A new corpus is closed, until its owner opens it to a role or to all."""

from __future__ import annotations

import pytest

from tests.integration.granting import (
    CLOSE,
    GRANT,
    OPEN,
    UNDEFINED_OBJECT,
    asks,
    corpus,
    documents,
)
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

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
            assert sqlstate_of(others[0], f"select pgclarify.{call}", [own]) == UNDEFINED_OBJECT, call

    def test_stays_closed_to_roles_that_were_granted_another(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        ann, boss = make_role("pgclarify_user", name="ann"), make_role("pgclarify_reader", name="boss")
        connection.execute("select pgclarify.create_corpus(%s)", [f"{corpus} hr"])
        connection.execute("select pgclarify.add_document(%s, '1', 'Salaries.')", [f"{corpus} hr"])
        connection.execute(GRANT.encode(), [corpus, ann, "reader"])
        connection.execute(GRANT.encode(), [corpus, boss, "analyst"])

        assert connect(ann).execute("select corpus from pgclarify.corpus").fetchall() == [(corpus,)]
        assert documents(connect(ann)) == 1
        assert asks(connect(ann), f"{corpus} hr") == UNDEFINED_OBJECT
        # An analyst sees the corpus and its runs, but no documents that it was not granted.
        assert connect(boss).execute("select corpus from pgclarify.corpus").fetchall() == [(corpus,)]
        assert documents(connect(boss)) == 0


class TestACorpusForEveryone:
    """It is open to all who may ask, or read, because its owner has said so."""

    def test_is_opened_and_closed_by_its_owner(self, connect: Connect, corpus: str, make_role: MakeRole) -> None:
        owner, user, reader = (
            connect(make_role(role)) for role in ("pgclarify_user", "pgclarify_user", "pgclarify_reader")
        )
        own = f"{corpus} too"
        owner.execute("select pgclarify.create_corpus(%s)", [own])
        owner.execute("select pgclarify.add_document(%s, '1', 'Boats.')", [own])

        def seen() -> list[int]:
            return [documents(session) for session in (owner, user, reader)]

        assert [scalar(owner, OPEN, own, "pgclarify_user") for _ in range(2)] == [True, False]
        assert seen() == [1, 1, 0]
        assert asks(user, own) is None
        assert scalar(owner, CLOSE, own, "pgclarify_reader") is False
        assert scalar(owner, OPEN, own, "pgclarify_reader") is True
        assert seen() == [1, 1, 1]
        assert scalar(owner, CLOSE, own, "pgclarify_user") is True
        assert seen() == [1, 1, 1]
        owner.execute(CLOSE.encode(), [own, "pgclarify_reader"])
        assert seen() == [1, 0, 0]
        assert asks(user, own) == UNDEFINED_OBJECT
