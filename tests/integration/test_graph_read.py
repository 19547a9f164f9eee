"""The neighborhood graph as its readers see it."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.linking import add, link, load, neighbors, small
from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker
from tests.integration.parametrize_in_one_test import parametrize_in_one_test
from tests.sessions import Connect, Connection, MakeRole, scalar, sqlstate_of

__all__ = ["small"]

pytestmark = pytest.mark.rolled_back


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    return connection


class TestNeighbors:
    @pytest.fixture
    def linked(self, small: Connection, make_worker: MakeWorker) -> Connection:
        load(small, worker := make_worker(), 0, 10, 25, 90)
        link(worker)
        return small

    def passage(self, connection: Connection, document_id: str) -> int:
        return int(scalar(connection, "select id from pgclarify.passage where document_id = %s", document_id))

    def test_rows_are_ranked_by_similarity(self, linked: Connection) -> None:
        rows = linked.execute(
            "select rank, document_id, passage_id, round(similarity::numeric, 3)::text"
            " from pgclarify.neighbors('insurance', '0', %s)",
            [self.passage(linked, "0")],
        ).fetchall()

        assert rows == [
            (1, "10", self.passage(linked, "10"), "0.985"),
            (2, "25", self.passage(linked, "25"), "0.906"),
        ]

    @parametrize_in_one_test("k, found", [(1, ["10"]), (2, ["10", "25"]), (1000, ["10", "25"])])
    def test_k_limits_the_neighbors(self, linked: Connection, k: int, found: list[str]) -> None:
        assert neighbors(linked, "0", k) == found

    @parametrize_in_one_test("k", [0, -1, 1001, None])
    def test_a_wrong_k_is_refused(self, linked: Connection, k: int | None) -> None:
        call = "select pgclarify.neighbors('insurance', '0', %s, %s::integer)"
        assert sqlstate_of(linked, call, [self.passage(linked, "0"), k]) == "22023"

    def test_neighbors_of_a_missing_passage_is_an_error(self, linked: Connection) -> None:
        call = "select pgclarify.neighbors(%s, %s, %s)"
        there = self.passage(linked, "0")
        assert sqlstate_of(linked, call, ["nothing", "0", there]) == "42704"
        assert sqlstate_of(linked, call, ["insurance", "nothing", there]) == "42704"
        assert sqlstate_of(linked, call, ["insurance", "10", there]) == "42704"
        assert sqlstate_of(linked, call, ["insurance", "0", None]) == "42704"

    def test_hidden_neighbors_look_like_missing_ones(
        self, linked: Connection, connect: Connect, make_role: MakeRole, make_worker: MakeWorker
    ) -> None:
        boss, staff = make_role("pgclarify_user"), make_role("pgclarify_user")
        ids = {document_id: self.passage(linked, document_id) for document_id in ("0", "10")}
        add(linked, {"10": "At 10."}, readers=f"{{{boss}}}")
        call = "select document_id, rank from pgclarify.neighbors('insurance', %s, %s)"

        seen_by_boss = connect(boss).execute(call, ["0", ids["0"]]).fetchall()
        seen_by_staff = connect(staff).execute(call, ["0", ids["0"]]).fetchall()

        assert seen_by_boss == [("10", 1), ("25", 2)]
        # The next neighbor takes its place in the list.
        assert seen_by_staff == [("25", 1), ("90", 2)]
        assert connect(staff).execute(call.replace(", %s)", ", %s, 1)"), ["0", ids["0"]]).fetchall() == [("25", 1)]
        # As if it did not exist: the same error, in the same words.
        messages = set()
        for passage_id in (ids["10"], 10**9):
            with pytest.raises(psycopg.errors.UndefinedObject) as refused:
                connect(staff).execute(call, ["10", passage_id])
            told = refused.value.diag
            messages.add(
                (str(told.message_primary).replace(str(passage_id), "…"), told.message_detail, told.message_hint)
            )
        assert len(messages) == 1

    @pytest.mark.committed
    def test_after_another_model(self, linked: Connection, connect: Connect, make_worker: MakeWorker) -> None:
        reader, worker = connect(), make_worker()
        reader.execute("begin isolation level repeatable read")
        reader.execute("select from pgclarify.corpus")
        linked.execute(
            "select pgclarify_private.set_embedding_model(caller, 'insurance', 'another-model') from pgclarify_private.caller"  # noqa: E501
        )
        worker.open_spaces(6)
        worker.advance_spaces()
        while passages := worker.claim_passages():
            worker.store_vectors(passages)
        linked.execute("update pgclarify_private.embedding_space set paused_until = null")
        worker.advance_spaces()
        linked.execute("update pgclarify_private.embedding_space set retired_at = '-infinity' where state = 'retired'")
        while any(worker.advance_spaces()):
            pass
        worker.sweep()

        call = "select pgclarify.neighbors('insurance', '0', %s)"
        assert sqlstate_of(reader, call, [self.passage(linked, "0")]) == "40001"

        reader.execute("commit")
        assert sqlstate_of(reader, call, [self.passage(linked, "0")]) is None

    @pytest.mark.committed
    def test_after_a_corpus_was_dropped(self, linked: Connection, connect: Connect, make_worker: MakeWorker) -> None:
        reader = connect()
        there = self.passage(linked, "0")
        reader.execute("begin isolation level repeatable read")
        reader.execute("select from pgclarify.corpus")
        linked.execute("select pgclarify.drop_corpus('insurance')")
        make_worker().sweep()

        assert sqlstate_of(reader, "select pgclarify.neighbors('insurance', '0', %s)", [there]) == "40001"
        search = "select pgclarify.search('cars', 'insurance', options => '{\"method\": \"lexical\"}')"
        assert sqlstate_of(reader, search) == "40001"
