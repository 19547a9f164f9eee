"""Who may look at, ask and analyze a corpus: grant_access, revoke_access and alter_corpus."""

from __future__ import annotations

from uuid import uuid4

import psycopg
import pytest
from psycopg import sql

from pgclarify.install.roles import ROLES
from tests.integration.by_hand import Connect, Connection, MakeRole, at_once, scalar, state_of
from tests.integration.granting import (
    GRANT,
    INSUFFICIENT_PRIVILEGE,
    INVALID_PARAMETER,
    OPEN,
    REVOKE,
    UNDEFINED_OBJECT,
    asks,
    corpus,
    documents,
    marked,
    named,
    slug,
    statements,
)

__all__ = ["corpus"]

pytestmark = pytest.mark.rolled_back


class TestAltering:
    def test_changes_what_is_named(self, connection: Connection, corpus: str, make_role: MakeRole) -> None:
        team = make_role(name="team")
        alter = "select pgclarify.alter_corpus(%s, jsonb_build_object(%s::text, %s::text))"

        assert scalar(connection, alter, corpus, "reader", team) is True
        assert scalar(connection, alter, corpus, "reader", team) is False
        assert scalar(connection, alter, corpus, "analyst", "pgclarify_user") is True
        assert named(connection, corpus) == (team, "pgclarify_user")
        assert scalar(connection, alter, corpus, "reader", None) is True
        assert scalar(connection, "select pgclarify.alter_corpus(%s, '{}')", corpus) is False
        assert named(connection, corpus) == (None, "pgclarify_user")

    def test_refuses(self, connection: Connection, corpus: str) -> None:
        refused = {
            '%s, \'{"reader": "no such role"}\'': UNDEFINED_OBJECT,
            '%s, \'{"analyst": ""}\'': UNDEFINED_OBJECT,
            "%s, '{\"reader\": 1}'": INVALID_PARAMETER,
            '%s, \'{"owner": "postgres"}\'': INVALID_PARAMETER,
            "%s, '[]'": INVALID_PARAMETER,
            "'no such ' || %s, '{}'": UNDEFINED_OBJECT,
            "null || %s, '{}'": UNDEFINED_OBJECT,
        }
        states = {
            arguments: state_of(connection, f"select pgclarify.alter_corpus({arguments})", [corpus])
            for arguments in refused
        }
        assert states == refused
        assert named(connection, corpus) == (None, None)

    def test_is_the_owners(self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole) -> None:
        connection.execute(OPEN.encode(), [corpus, "pgclarify_user"])
        user = connect(make_role("pgclarify_user"))
        for call in (
            "alter_corpus(%s, '{}')",
            "grant_access(%s, 'postgres', 'user')",
            "revoke_access(%s, 'x', 'user')",
        ):
            assert state_of(user, f"select pgclarify.{call}", [corpus]) == INSUFFICIENT_PRIVILEGE


class TestAnalysts:
    def test_see_the_runs_of_everyone_and_start_nothing(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        ann, bob, user = make_role(name="ann"), make_role(name="bob"), make_role("pgclarify_user")
        group = f"analysts_of_{slug(corpus)}"
        connection.execute(OPEN.encode(), [corpus, "pgclarify_user"])
        assert asks(connect(user), corpus) is None

        assert statements(connection, GRANT, corpus, ann, "analyst") == [
            f"grant pgclarify_reader to {ann}",
            f"create role {group} nologin",
            marked(connection, corpus, "analyst"),
            f"""select pgclarify.alter_corpus('{corpus}', '{{"analyst": "{group}"}}')""",
            f"grant {group} to {ann}",
        ]
        assert statements(connection, GRANT, corpus, bob, "analyst") == [
            f"grant pgclarify_reader to {bob}",
            f"grant {group} to {bob}",
        ]
        assert statements(connection, GRANT, corpus, ann, "analyst") == []

        runs = "select count(*) from pgclarify.run"
        assert [scalar(connect(role), runs) for role in (ann, bob)] == [1, 1]
        assert asks(connect(ann), corpus) == INSUFFICIENT_PRIVILEGE
        assert statements(connection, REVOKE, corpus, ann, "analyst") == [f"revoke {group} from {ann}"]
        assert statements(connection, REVOKE, corpus, ann, "analyst") == []
        assert [scalar(connect(role), runs) for role in (ann, bob)] == [0, 1]

    def test_an_earlier_analyst_stays_and_gives_no_other_rights(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        """A login that was the only reader shares with others, and gives them none of its other rights."""
        boss, ann = make_role("pgclarify_user", name="boss"), make_role(name="ann")
        connection.execute("select pgclarify.alter_corpus(%s, jsonb_build_object('analyst', %s::text))", [corpus, boss])
        connection.execute(OPEN.encode(), [corpus, "pgclarify_user"])
        assert asks(connect(boss), corpus) is None

        group = f"analysts_of_{slug(corpus)}"
        assert f"grant {group} to {boss}" in statements(connection, GRANT, corpus, ann, "analyst")
        assert scalar(connection, "select pg_has_role(%s, %s, 'member')", ann, boss) is False
        assert [scalar(connect(role), "select count(*) from pgclarify.run") for role in (boss, ann)] == [1, 1]

    def test_two_who_grant_at_once_make_one_group(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        people = [make_role(name="person") for _ in range(4)]
        sessions = [connect() for _ in people]
        outcomes = at_once(
            *(
                lambda session=session, person=person: session.execute(GRANT.encode(), [corpus, person, "analyst"])
                for session, person in zip(sessions, people, strict=True)
            )
        )

        assert outcomes == [None] * 4
        group = named(connection, corpus)[1]
        members = "select pg_has_role(%s, %s, 'usage')"
        assert [scalar(connection, members, person, group) for person in people] == [True] * 4

    def test_a_group_of_the_name_that_is_not_ours_gets_nobody(
        self, connection: Connection, admin: Connection, corpus: str, make_role: MakeRole
    ) -> None:
        admin.execute(sql.SQL("create role {}").format(sql.Identifier(f"analysts_of_{slug(corpus)}")))
        connection.execute(GRANT.encode(), [corpus, make_role(), "analyst"])
        assert named(connection, corpus) == (None, f"analysts_of_{slug(corpus)}_2")

    @pytest.mark.committed
    def test_a_corpus_of_any_name_has_a_group(
        self, connection: Connection, admin: Connection, make_role: MakeRole
    ) -> None:
        person = make_role(name='Ann O\'Neil "x"')
        for prefix in ("ÄÖ", 'the "best"', "x" * 150, "pg_"):
            corpus = f"{prefix} {uuid4().hex[:12]}"
            connection.execute("select pgclarify.create_corpus(%s)", [corpus])
            connection.execute(GRANT.encode(), [corpus, person, "analyst"])
            group = named(connection, corpus)[1]
            assert scalar(connection, "select pg_has_role(%s, %s, 'usage')", person, group) is True
            admin.execute(sql.SQL("drop role {}").format(sql.Identifier(str(group))))


class TestACorpusForSome:
    @pytest.fixture
    def team(self, connection: Connection, corpus: str, make_role: MakeRole) -> str:
        """A team that may ask, and search the corpus."""
        team = make_role("pgclarify_user", name="team")
        connection.execute("select pgclarify.alter_corpus(%s, jsonb_build_object('reader', %s::text))", [corpus, team])
        return team

    def test_readers_get_no_more_than_that(
        self, connection: Connection, connect: Connect, corpus: str, team: str, make_role: MakeRole
    ) -> None:
        ann, user = make_role(name="ann"), make_role("pgclarify_user")
        group = f"readers_of_{slug(corpus)}"
        assert statements(connection, GRANT, corpus, ann, "reader") == [
            f"grant pgclarify_reader to {ann}",
            f"create role {group} nologin",
            marked(connection, corpus, "reader"),
            f"grant {group} to {team}",
            f"""select pgclarify.alter_corpus('{corpus}', '{{"reader": "{group}"}}')""",
            f"grant {group} to {ann}",
        ]

        assert [documents(connect(role)) for role in (ann, team, user)] == [1, 1, 0]
        assert asks(connect(ann), corpus) == INSUFFICIENT_PRIVILEGE
        assert asks(connect(make_role(team)), corpus) is None

    def test_users_ask(
        self, connection: Connection, connect: Connect, corpus: str, team: str, make_role: MakeRole
    ) -> None:
        ann = make_role(name="ann")
        assert team
        connection.execute(GRANT.encode(), [corpus, ann, "user"])
        assert asks(connect(ann), corpus) is None

        connection.execute(REVOKE.encode(), [corpus, ann, "user"])
        assert asks(connect(ann), corpus) == UNDEFINED_OBJECT

    def test_a_team_that_is_named_keeps_its_members(
        self, connection: Connection, corpus: str, team: str, make_role: MakeRole
    ) -> None:
        """Rights that do not come from a grant are not revoked."""
        member = make_role(team, name="member")
        assert statements(connection, GRANT, corpus, member, "user") == []
        assert statements(connection, REVOKE, corpus, member, "user") == []
        assert named(connection, corpus) == (team, None)

    def test_a_group_that_has_got_other_rights_gets_nobody_more(
        self, connection: Connection, connect: Connect, corpus: str, team: str, make_role: MakeRole
    ) -> None:
        boss, eve = make_role(name="boss"), make_role(name="eve")
        connection.execute(GRANT.encode(), [corpus, make_role(name="ann"), "user"])
        group = str(named(connection, corpus)[0])
        connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(boss), sql.Identifier(group)))

        connection.execute(GRANT.encode(), [corpus, eve, "user"])
        assert asks(connect(eve), corpus) is None
        assert not scalar(connection, "select pg_has_role(%s, %s, 'usage')", eve, boss)

    def test_a_reader_that_is_gone_is_replaced(
        self, connection: Connection, connect: Connect, admin: Connection, corpus: str, make_role: MakeRole
    ) -> None:
        gone, ann = make_role(name="gone"), make_role(name="ann")
        connection.execute("select pgclarify.alter_corpus(%s, jsonb_build_object('reader', %s::text))", [corpus, gone])
        admin.execute(sql.SQL("drop role {}").format(sql.Identifier(gone)))

        connection.execute(GRANT.encode(), [corpus, ann, "user"])
        assert asks(connect(ann), corpus) is None


class TestTheGroupOfAnotherCorpus:
    """The owner of one corpus cannot give access to another corpus by naming its group."""

    @pytest.fixture
    def another(self, connection: Connection, corpus: str, make_role: MakeRole) -> str:
        """A corpus that a superuser restricts to some roles, one of them newly hired."""
        name = f"{corpus} hr"
        connection.execute("select pgclarify.create_corpus(%s)", [name])
        connection.execute(
            "select pgclarify.alter_corpus(%s, jsonb_build_object('reader', %s::text))", [name, make_role(name="boss")]
        )
        return name

    def test_is_not_for_its_owner_to_name(
        self, connection: Connection, connect: Connect, another: str, make_role: MakeRole
    ) -> None:
        connection.execute(GRANT.encode(), [another, make_role(name="hired"), "reader"])
        group, owner = named(connection, another)[0], connect(make_role("pgclarify_user", name="owner"))
        cats, options = f"{another} cats", "%s, options => jsonb_build_object(%s::text, %s::text)"

        owner.execute("select pgclarify.create_corpus(%s)", [cats])
        for kind in ("reader", "analyst"):
            assert state_of(owner, f"select pgclarify.create_corpus('x' || {options})", [cats, kind, group]) == (
                INVALID_PARAMETER
            )
            alter = f"select pgclarify.alter_corpus({options})"
            assert state_of(owner, alter, [cats, kind, group]) == INVALID_PARAMETER
            assert state_of(connection, alter, [another, kind, group]) is None

    @pytest.mark.parametrize("is_marked", [True, False])
    def test_gets_nobody_and_loses_nobody(
        self, connection: Connection, another: str, corpus: str, make_role: MakeRole, is_marked: bool
    ) -> None:
        """The grant may come from a person, or from another database of this server."""
        hired, eve = make_role(name="hired"), make_role(name="eve")
        connection.execute(GRANT.encode(), [another, hired, "reader"])
        group = named(connection, another)[0]
        if not is_marked:
            connection.execute(sql.SQL("comment on role {} is null").format(sql.Identifier(str(group))))
        connection.execute("update pgclarify_private.corpus set reader = %s where name = %s", [group, corpus])

        connection.execute(GRANT.encode(), [corpus, eve, "user"])
        connection.execute(REVOKE.encode(), [corpus, hired, "user"])
        usage = "select pg_has_role(%s, %s, 'usage')"
        assert [scalar(connection, usage, role, group) for role in (eve, hired)] == [False, True]
        # A role that could search the corpus through that group still can.
        assert scalar(connection, usage, hired, named(connection, corpus)[0]) is True


class TestRefusals:
    def test_roles_and_accesses_that_there_are_not(self, connection: Connection, corpus: str) -> None:
        refused: dict[tuple[str | None, str | None], str] = {
            ("no such role", "user"): UNDEFINED_OBJECT,
            ("public", "user"): UNDEFINED_OBJECT,
            ("", "user"): UNDEFINED_OBJECT,
            (None, "user"): UNDEFINED_OBJECT,
            ("pg_monitor", "user"): INVALID_PARAMETER,
            **{(role, "user"): INVALID_PARAMETER for role in ROLES if role != "pgclarify_user"},
            ("pgclarify_user", "analyst"): INVALID_PARAMETER,
            ("pgclarify_reader", "analyst"): INVALID_PARAMETER,
            ("postgres", "owner"): INVALID_PARAMETER,
            ("postgres", None): INVALID_PARAMETER,
        }
        for query in (GRANT, REVOKE):
            assert {given: state_of(connection, query, [corpus, *given]) for given in refused} == refused

    def test_an_owner_of_a_corpus_may_not_grant_roles_by_it(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        owner, ann = connect(make_role("pgclarify_user", name="owner")), make_role(name="ann")
        own = f"{corpus} too"
        owner.execute("select pgclarify.create_corpus(%s)", [own])
        with pytest.raises(psycopg.errors.InsufficientPrivilege) as refused:
            owner.execute(GRANT.encode(), [own, ann, "user"])
        assert f"grant pgclarify_user to {ann}" in (refused.value.diag.message_detail or "")

        # It creates no groups either, if the role has the other rights already.
        connection.execute(sql.SQL("grant pgclarify_reader to {}").format(sql.Identifier(ann)))
        assert state_of(owner, GRANT, [own, ann, "analyst"]) == INSUFFICIENT_PRIVILEGE
        assert named(connection, own) == (None, None)

    def test_a_role_that_may_make_roles_grants_access_to_its_own_corpora(
        self, connection: Connection, connect: Connect, corpus: str, make_role: MakeRole
    ) -> None:
        granter, ann = make_role("pgclarify_user", name="granter"), make_role("pgclarify_reader", name="ann")
        connection.execute(sql.SQL("alter role {} createrole").format(sql.Identifier(granter)))
        session = connect(granter)
        own = f"{corpus} too"
        session.execute("select pgclarify.create_corpus(%s)", [own])
        session.execute(GRANT.encode(), [own, ann, "analyst"])
        group = named(connection, own)[1]
        assert scalar(connection, "select pg_has_role(%s, %s, 'usage')", ann, group) is True

        # A superuser revokes the grants of another one.
        assert statements(connection, REVOKE, own, ann, "analyst") == [
            f"revoke {group} from {ann} granted by {granter}"
        ]
        assert scalar(connection, "select pg_has_role(%s, %s, 'usage')", ann, group) is False
        connection.execute(sql.SQL("drop role {}").format(sql.Identifier(str(group))))

    def test_superusers_are_granted_nothing_and_can_be_taken_out(
        self, connection: Connection, corpus: str, make_role: MakeRole
    ) -> None:
        root = make_role(name="root")
        connection.execute(GRANT.encode(), [corpus, root, "analyst"])
        connection.execute(sql.SQL("alter role {} superuser").format(sql.Identifier(root)))
        for access in ("reader", "user", "analyst"):
            assert state_of(connection, GRANT, [corpus, root, access]) == INVALID_PARAMETER
        group = named(connection, corpus)[1]
        assert statements(connection, REVOKE, corpus, root, "analyst") == [f"revoke {group} from {root}"]


class TestWithoutInheritance:
    """A member without inheritance: it does not have the group's rights."""

    @pytest.fixture
    def ann(self, connection: Connection, make_role: MakeRole) -> str:
        ann = make_role(name="ann")
        connection.execute(sql.SQL("alter role {} noinherit").format(sql.Identifier(ann)))
        return ann

    def test_is_given_the_rights(self, connection: Connection, connect: Connect, corpus: str, ann: str) -> None:
        connection.execute(GRANT.encode(), [corpus, ann, "analyst"])
        for role in ("pgclarify_reader", named(connection, corpus)[1]):
            assert scalar(connection, "select pg_has_role(%s, %s, 'usage')", ann, role) is True
        assert statements(connection, GRANT, corpus, ann, "analyst") == []
        assert scalar(connect(ann), "select count(*) from pgclarify.corpus") == 1

    def test_a_member_that_inherits_again_is_granted_access(
        self, connection: Connection, corpus: str, ann: str
    ) -> None:
        connection.execute(sql.SQL("grant pgclarify_user to {}").format(sql.Identifier(ann)))
        connection.execute(sql.SQL("alter role {} inherit").format(sql.Identifier(ann)))
        connection.execute(GRANT.encode(), [corpus, ann, "user"])
        assert scalar(connection, "select pg_has_role(%s, 'pgclarify_user', 'usage')", ann) is True
