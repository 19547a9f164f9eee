"""Which roles see which rows, with real logins: corpora and their documents, runs and their dependent rows."""

from __future__ import annotations

import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from tests.integration.counts import assert_counts_agree
from tests.integration.manual_worker import MakeWorker
from tests.integration.stored_answers import reading, store_grounded_verdict
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

pytestmark = pytest.mark.rolled_back

INSUFFICIENT_PRIVILEGE = "42501"
LEXICAL = '{"method": "lexical"}'


def create(connection: Connection, name: str, **options: str) -> None:
    connection.execute("select pgclarify.create_corpus(%s, 'm', %s)", [name, Jsonb(options)])


def corpora(connection: Connection) -> set[str]:
    """The corpora that a role sees."""
    return {row[0] for row in connection.execute("select corpus from pgclarify.corpus")}


class TestCorpora:
    def test_membership_without_its_privileges_is_no_usage(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        team, name = make_role(name="team"), make_role("pgclarify_user")
        connection.execute(
            sql.SQL("grant {} to {} with inherit false").format(sql.Identifier(team), sql.Identifier(name))
        )
        create(connection, "closed", reader=team)
        user = connect(name)

        assert corpora(user) == set()
        connection.execute(sql.SQL("grant pgclarify_user to {}").format(sql.Identifier(team)))
        user.execute(sql.SQL("set role {}").format(sql.Identifier(team)))
        assert corpora(user) == {"closed"}

    @pytest.mark.parametrize("name", ["NULL", 'o\'brien, "the {boss}\\"'])
    def test_names_of_roles_are_any_text(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole, name: str
    ) -> None:
        role = make_role("pgclarify_user", name=name)
        create(connection, "closed", reader=role)
        connection.execute("select pgclarify.add_document('closed', '1', 'Cars.', readers => %s)", [[role]])
        make_worker().index_everything()
        user = connect(role)

        assert corpora(user) == {"closed"}
        assert scalar(user, "select count(*) from pgclarify.passage") == 1
        assert (
            scalar(user, "select count(*) from pgclarify.search('cars', options => '{\"method\": \"lexical\"}')") == 1
        )


class TestDocuments:
    def test_counts_tell_readers_of_what_is_everyones_only(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        team, lead = make_role(name="team"), make_role(name="lead")
        member = connect(make_role("pgclarify_user", team))
        owner, analyst = connect(make_role("pgclarify_user")), connect(make_role("pgclarify_reader", lead))
        create(owner, "closed", reader=team, analyst=lead)
        counts = "select (documents, passages, embedded, linked, failed) from pgclarify.corpus"
        add = "select pgclarify.add_document('closed', %s, 'Cars.', readers => %s)"
        for document_id, readers in (("1", None), ("2", ["nobody"]), ("3", ["nobody"]), ("4", None), ("5", ["nobody"])):
            owner.execute(add, [document_id, readers])
        make_worker().index_everything()
        owner.execute(add, ["3", None])
        owner.execute(add, ["4", ["nobody"]])
        owner.execute("select pgclarify.remove_document('closed', '5')")

        assert scalar(member, counts) == ("2", "2", "2", None, None)
        assert scalar(member, "select (pending, lag, next_embedded) from pgclarify.corpus") == (None, None, None)
        assert scalar(owner, counts) == scalar(analyst, counts) == ("4", "4", "4", "0", "0")
        assert scalar(analyst, "select count(*) from pgclarify.document") == 0
        assert_counts_agree(connection)


class TestRuns:
    def answered(self, connection: Connection, make_worker: MakeWorker, user: Connection) -> int:
        """A run of the user's with a row in every table."""
        run_id = scalar(
            user,
            "select pgclarify.submit('clarify', 'cars', 'insurance', jsonb_build_object('top_k', 5) || %s::jsonb)",
            LEXICAL,
        )
        worker = make_worker()
        worker.index_everything()
        worker.start(run_id)
        worker.retrieve(run_id, question="cars")
        store_grounded_verdict(worker, run_id)
        worker.finish(run_id, interpretations=[reading()])
        return int(run_id)

    def test_an_analyst_sees_and_does_not_cancel(
        self, connection: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        analysts = make_role("pgclarify_user", name="analysts")
        create(connection, "insurance", reader="pgclarify_reader", analyst=analysts)
        alice = connect(make_role("pgclarify_user"))
        run_id = scalar(alice, "select pgclarify.submit('clarify', 'cars')")
        analyst = connect(make_role(analysts))

        assert scalar(analyst, "select question from pgclarify.run") == "cars"
        assert sqlstate_of(analyst, f"select pgclarify.cancel(array[{run_id}])") == INSUFFICIENT_PRIVILEGE
        assert scalar(alice, f"select pgclarify.cancel(array[{run_id}])")
        assert not scalar(alice, f"select pgclarify.cancel(array[{run_id}])")

    def test_an_analyst_who_may_not_search_does_not_consolidate(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        analysts, team = make_role("pgclarify_user", name="analysts"), make_role("pgclarify_user", name="team")
        create(connection, "insurance", analyst=analysts, reader=team)
        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.', 'Policy')")
        run_id = self.answered(connection, make_worker, connect(team))
        start = f"select pgclarify.submit('consolidate', options => '{{\"run_id\": {run_id}}}')"

        assert sqlstate_of(connect(analysts), start) == INSUFFICIENT_PRIVILEGE
        assert sqlstate_of(connect(make_role(analysts, team)), start) is None

    def test_an_analyst_of_a_dropped_corpus_sees_its_runs_no_more(
        self, connection: Connection, connect: Connect, make_worker: MakeWorker, make_role: MakeRole
    ) -> None:
        analysts = make_role("pgclarify_reader", name="analysts")
        create(connection, "insurance", reader="pgclarify_reader", analyst=analysts)
        connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
        alice = connect(make_role("pgclarify_user"))
        run_id = self.answered(connection, make_worker, alice)
        connection.execute("select pgclarify.drop_corpus('insurance')")

        assert scalar(connect(make_role(analysts)), "select count(*) from pgclarify.run") == 0
        assert scalar(alice, "select run_id from pgclarify.citation") == run_id
