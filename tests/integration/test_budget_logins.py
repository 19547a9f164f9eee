"""A budget binds the role that asks, and the login behind it. What a role sees depends on the role that asks alone."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from psycopg import sql

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.integration.spending import budget, claim, store
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

INSUFFICIENT_PRIVILEGE = "42501"
TIMED_OUT = "PC002"

# How a run is entered. The calls that wait enter it through the loopback.
SUBMIT = "select pgclarify.submit('clarify', 'cars', 'handbook')"
WAYS = {
    "submit": SUBMIT,
    "submit_many": "select pgclarify.submit_many('clarify', '{cars}', 'handbook')",
    "many detections": "select pgclarify.submit_many('detect_ambiguity', '{cars}', 'handbook')",
    "clarify": "select * from pgclarify.clarify('cars', 'handbook', timeout => '0.05s')",
    "clarify_many": "select * from pgclarify.clarify_many('{cars}', corpus => 'handbook', timeout => '0.05s')",
    "search": """select * from pgclarify.search('cars', 'handbook', options => '{"timeout": "0.05s"}')""",
}


def name_of(role: str) -> sql.Identifier:
    return sql.Identifier(role)


@dataclass
class Office:
    """A corpus for all roles, and a worker."""

    superuser: Connection
    connect: Connect
    make_role: MakeRole
    worker: ManualWorker

    def new_role(self, *memberships: str, name: str, max_calls: int = 1000) -> str:
        """A role with a budget of its name."""
        role = self.make_role(*memberships, name=name)
        budget(self.superuser, role, role_name=role, max_calls=max_calls)
        return role

    def grant(self, role: str, member: str, options: str) -> None:
        self.superuser.execute(sql.SQL("grant {} to {} with " + options).format(name_of(role), name_of(member)))

    def ask(self, session: Connection, role: str | None = None, statement: str = SUBMIT) -> int:
        """Enter a run as a login that has set a role."""
        if role is not None:
            session.execute(sql.SQL("set role {}").format(name_of(role)))
        assert sqlstate_of(session, statement) in (None, TIMED_OUT)
        session.execute("reset role")
        return int(scalar(self.superuser, "select max(run_id) from pgclarify.run"))

    def charged(self, run_id: int, *, late: bool = False) -> set[str]:
        """The budgets that count a call of a run. late: its lease is lost before the reply arrives."""
        held = list(claim(self.worker, run_id, [f"input {run_id}"]).ours.values())
        leases = dict(self.worker.leases)
        if late:
            self.worker.give_back(held)
        before = self.calls()
        store(self.worker, held, run_id=run_id, leases=leases)
        return {name for name, calls in self.calls().items() if calls > before[name]}

    def calls(self) -> dict[str, int]:
        return dict(self.superuser.execute("select name, calls from pgclarify.budget").fetchall())


@pytest.fixture
def office(connection: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker) -> Office:
    connection.execute(MAKE_OPEN_CORPUS, ["handbook"])
    return Office(connection, connect, make_role, make_worker())


class TestBudgets:
    def test_a_spent_budget_is_not_left_behind_by_setting_a_role(self, office: Office) -> None:
        """Through roles whose rights are inherited, and through those that a login may only become."""
        inherited, settable = (office.make_role("pgclarify_user", name="team") for _ in range(2))
        bob = office.new_role("pgclarify_user", inherited, name="bob", max_calls=0)
        office.grant(settable, bob, "inherit false, set true")
        session = office.connect(bob)

        for role in (None, inherited, settable):
            for statement in WAYS.values():
                run_id = office.ask(session, role, statement)
                assert set(claim(office.worker, run_id, "a").refused) == {"a"}

    def test_a_spent_budget_is_not_left_behind_by_becoming_pgclarify_user(self, office: Office) -> None:
        bob = office.connect(office.new_role("pgclarify_user", name="bob", max_calls=0))
        bob.execute("set role pgclarify_user")

        assert sqlstate_of(bob, "select pgclarify.create_corpus('of bob')") == INSUFFICIENT_PRIVILEGE
        for statement in WAYS.values():
            assert sqlstate_of(bob, statement) == INSUFFICIENT_PRIVILEGE
        assert scalar(office.superuser, "select count(*) from pgclarify.run") == 0

    @pytest.mark.parametrize("is_late", [False, True])
    def test_a_call_counts_for_the_role_and_for_the_login(self, office: Office, is_late: bool) -> None:
        company = office.new_role("pgclarify_user", name="company")
        team, other = office.new_role("pgclarify_user", name="team"), office.new_role("pgclarify_user", name="other")
        bob = office.new_role(company, name="bob")
        office.grant(team, bob, "inherit false, set true")
        office.grant(other, bob, "inherit false, set true")
        session = office.connect(bob)

        assert office.charged(office.ask(session), late=is_late) == {bob, company}
        for statement in WAYS.values():
            assert office.charged(office.ask(session, team, statement), late=is_late) == {bob, company, team}

    def test_a_pooler_is_bound_by_the_tenant_that_it_has_become(self, office: Office) -> None:
        first, second = (office.new_role("pgclarify_user", name="tenant") for _ in range(2))
        pooler = office.make_role(name="pooler")
        for tenant in (first, second):
            office.grant(tenant, pooler, "inherit false, set true")

        assert office.charged(office.ask(office.connect(pooler), first)) == {first}
        assert office.charged(office.ask(office.connect(pooler), second, WAYS["clarify"])) == {second}

    def test_a_pooler_that_inherits_its_tenants_is_bound_by_all(self, office: Office) -> None:
        first, second = (office.new_role("pgclarify_user", name="tenant") for _ in range(2))
        pooler = office.make_role(first, second, name="pooler")

        assert office.charged(office.ask(office.connect(pooler), first)) == {first, second}

    def test_a_definers_function_is_bound_by_definer_and_caller(self, office: Office) -> None:
        alice, bob = (office.new_role("pgclarify_user", name=name) for name in ("alice", "bob"))
        office.superuser.execute(sql.SQL("create schema lent authorization {}").format(name_of(alice)))
        office.connect(alice).execute(
            "create function lent.ask() returns bigint language sql security definer as"
            " $$ select pgclarify.submit('clarify', 'cars', 'handbook') $$;"
            " create function lent.wait() returns setof pgclarify.clarification language sql security definer as"
            " $$ select * from pgclarify.clarify('cars', 'handbook', timeout => '0.05s') $$;"
            " grant usage on schema lent to public"
        )
        session = office.connect(bob)

        for statement in ("select lent.ask()", "select * from lent.wait()"):
            run_id = office.ask(session, statement=statement)
            assert scalar(office.superuser, "select requested_by from pgclarify.run where run_id = %s", run_id) == alice
            assert office.charged(run_id) == {alice, bob}

    def test_a_run_that_was_entered_before_logins_were_stored(self, office: Office) -> None:
        team = office.new_role("pgclarify_user", name="team")
        run_id = office.ask(office.connect(office.new_role(team, name="bob")), team)
        office.superuser.execute("update pgclarify_private.run set login = null")

        assert office.charged(run_id) == {team}

    def test_a_batch_counts_for_the_role_and_for_the_login(self, office: Office) -> None:
        team = office.new_role("pgclarify_user", name="team")
        first, second = (office.new_role(team, name=name) for name in ("first", "second"))
        run_ids = [office.ask(office.connect(login), team) for login in (first, second)]
        held = [next(iter(claim(office.worker, run_id, [f"input {run_id}"]).ours.values())) for run_id in run_ids]
        office.worker.give_back(held)
        office.superuser.execute(
            """
            insert into pgclarify_private.batch_request
                (run_id, completion_id, model, request, input_bytes, max_output_tokens, ready_at)
            select run_id, completion_id, 'a-model', '{}', 100, 100, now()
            from unnest(%s::bigint[], %s::bigint[]) as waiting (run_id, completion_id)
            """,
            [run_ids, held],
        )
        gather = "select pgclarify_private.gather_batch(%s, 'a-model', 'an endpoint', 100, 1000000, '0s')"

        assert scalar(office.superuser, gather, office.worker.worker_id) == 2

        reserved = office.superuser.execute("select name, reserved_calls from pgclarify.budget").fetchall()
        assert dict(reserved) == {team: 2, first: 1, second: 1}

    def test_an_embedded_question_counts_for_the_role_and_for_the_login(self, office: Office) -> None:
        office.superuser.execute(
            "insert into pgclarify.model_price (model, input_usd, output_usd) values ('embedder', 1, 0)"
        )
        team = office.new_role("pgclarify_user", name="team")
        first, second = (office.new_role(team, name=name) for name in ("first", "second"))
        run_ids = [office.ask(office.connect(login), team) for login in (first, second)]

        office.superuser.execute(
            "select pgclarify_private.count_embeddings("
            "%s, '{null, null}', '{endpoint:embedder, endpoint:embedder}', '{1, 1}', '{1000000, 2000000}')",
            [run_ids],
        )

        spent = office.superuser.execute("select name, spent_usd from pgclarify.budget").fetchall()
        assert dict(spent) == {team: 3, first: 1, second: 2}
        # View usage shows the role that asked.
        used = "select requested_by, embedded_texts, cost_usd from pgclarify.usage where embedded_texts > 0"
        assert office.superuser.execute(used).fetchall() == [(team, 2, 3)]


class TestFindings:
    def test_name_logins_that_inherit_several_budgeted_roles(self, office: Office) -> None:
        company = office.new_role("pgclarify_user", name="company")
        first, second = (office.new_role(company, name="tenant") for _ in range(2))
        office.new_role(company, second, name="of_one_team")
        office.superuser.execute(
            sql.SQL("alter role {} superuser").format(name_of(office.make_role(first, second, name="root")))
        )
        careless = office.make_role(first, second, name="careless_pooler")
        careful = office.make_role(name="careful_pooler")
        for tenant in (first, second):
            office.grant(tenant, careful, "inherit false, set true")
        found = "select name, remedy from pgclarify.finding where kind = 'budgets'"

        ((name, remedy),) = office.superuser.execute(found).fetchall()

        assert name == careless
        assert "with inherit false, set true" in remedy
        assert office.connect(careless).execute(found).fetchall() == []


class TestSuperusers:
    """PostgreSQL says of a superuser that it has the rights of every role. Only what was granted to it binds it."""

    @pytest.fixture
    def root(self, office: Office) -> str:
        root = office.new_role(name="root")
        office.superuser.execute(sql.SQL("alter role {} superuser").format(name_of(root)))
        return root

    def test_are_bound_by_what_was_granted_to_them(self, office: Office, root: str) -> None:
        company = office.new_role(name="company")
        team = office.new_role(company, name="team")
        office.grant(team, root, "inherit true")
        office.grant(office.new_role(name="not_inherited"), root, "inherit false, set true")
        office.new_role(name="of_others")

        assert office.charged(office.ask(office.connect(root))) == {root, team, company}

    def test_are_bound_by_the_role_that_they_have_set(self, office: Office, root: str) -> None:
        bob = office.new_role("pgclarify_user", name="bob")
        office.new_role(name="of_others")

        for way in ("submit", "clarify"):
            assert office.charged(office.ask(office.connect(root), bob, WAYS[way])) == {root, bob}

    def test_do_not_pass_their_rights_on(self, office: Office, root: str) -> None:
        office.new_role(name="of_others")
        bob = office.new_role("pgclarify_user", root, name="bob")

        assert office.charged(office.ask(office.connect(bob))) == {root, bob}


class TestWhatIsSeen:
    def test_depends_on_the_role_that_asks_alone(self, office: Office) -> None:
        team = office.new_role("pgclarify_user", name="team")
        bob = office.new_role("pgclarify_user", name="bob")
        office.grant(team, bob, "inherit false, set true")
        session = office.connect(bob)
        own, of_team = office.ask(session), office.ask(session, team)
        other = office.connect(office.make_role(team, name="member"))

        def seen(session: Connection) -> tuple[set[int], set[str]]:
            runs = session.execute("select run_id from pgclarify.run").fetchall()
            budgets = session.execute("select name from pgclarify.budget").fetchall()
            return {run_id for (run_id,) in runs}, {name for (name,) in budgets}

        assert seen(session) == ({own}, {bob})
        assert seen(other) == ({of_team}, {team})
        session.execute(sql.SQL("set role {}").format(name_of(team)))
        assert seen(session) == ({of_team}, {team})

        # Both have asked as the team, so that both may read, wait for and cancel its run.
        for reader in (session, other):
            told = reader.execute("select * from pgclarify.run").fetchall()
            assert bob not in str(told)
        assert scalar(other, "select pgclarify.cancel(array[%s::bigint])", of_team) == 1

    def test_an_answer_is_reused_whatever_the_login(self, office: Office) -> None:
        team = office.new_role("pgclarify_user", name="team")
        first, second = (office.connect(office.make_role(team, name=name)) for name in ("first", "second"))
        for session in (first, second):
            session.execute(sql.SQL("set role {}").format(name_of(team)))
        run_id = scalar(first, SUBMIT)
        office.worker.answer(run_id)

        assert scalar(second, SUBMIT) == run_id
