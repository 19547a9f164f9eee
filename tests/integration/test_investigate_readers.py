"""Who may start investigations, and who may read them."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, MakeRole, rows_of, scalar, state_of
from tests.integration.investigating import (
    UNDEFINED_OBJECT,
    alice,
    carry_out,
    investigation,
    rows,
    stranger,
    submit,
    worker,
)

READ = rows_of("investigation")

pytestmark = pytest.mark.rolled_back

__all__ = ["alice", "stranger", "worker"]


class TestWhoMaySee:
    def test_an_analyst_of_the_corpus(
        self, connection: Connection, connect: Connect, worker: HandWorker, make_role: MakeRole, alice: Connection
    ) -> None:
        role = make_role("pgclarify_user", name="analysts")
        connection.execute("update pgclarify_private.corpus set analyst = %s, reader = %s", [role, alice.info.user])
        run_id = submit(alice)
        carry_out(worker, run_id)
        analyst = connect(make_role(role))

        found = investigation(analyst, run_id)
        assert found["answer"] == "Nora Blum"
        # To see the runs on a corpus, with their quotes, is not to read the corpus.
        assert [citation["title"] for citation in found["citations"]] == [None, None]
        assert scalar(analyst, "select count(*) from pgclarify.investigation_step") == 2
        assert state_of(analyst, "select pgclarify.cancel(array[%s]::bigint[])", [run_id]) == "42501"

    def test_nobody_else(self, worker: HandWorker, alice: Connection, stranger: Connection) -> None:
        run_id = submit(alice)
        carry_out(worker, run_id)

        for call in ("result(%s)", "cancel(array[%s]::bigint[])", "consolidate(%s)"):
            assert state_of(stranger, f"select pgclarify.{call}", [run_id]) == UNDEFINED_OBJECT

    def test_a_role_that_may_not_search_a_corpus_may_not_investigate_it(
        self, connection: Connection, worker: HandWorker, alice: Connection, stranger: Connection
    ) -> None:
        connection.execute("update pgclarify_private.corpus set reader = %s", [alice.info.user])

        for call in ("submit('investigate', ", "investigate("):
            assert state_of(stranger, f"select pgclarify.{call}'x', 'atlas')") == UNDEFINED_OBJECT

    def test_a_dashboards_role_reads_and_starts_nothing(
        self, connection: Connection, worker: HandWorker, alice: Connection, connect: Connect, make_role: MakeRole
    ) -> None:
        reader = connect(make_role("pgclarify_reader"))
        run_id = submit(alice)
        carry_out(worker, run_id)

        for call in ("submit('investigate', 'x')", "investigate('x')"):
            assert state_of(reader, f"select pgclarify.{call}") == "42501"
        assert state_of(reader, READ, [run_id]) == UNDEFINED_OBJECT
        assert rows(reader, "select from pgclarify.investigation_step") == []
        connection.execute("update pgclarify_private.corpus set analyst = %s", [reader.info.user])
        assert investigation(reader, run_id)["answer"] == "Nora Blum"
