"""The neighborhood graph: built, kept, read and checked."""

from __future__ import annotations

import math
from typing import Any

import psycopg
import pytest

from tests.integration.by_hand import Connect, Connection, HandWorker, Hire, MakeRole, scalar, state_of
from tests.integration.counts import assert_counts_agree
from tests.integration.linking import add, check, faults, link, lists, neighbors
from tests.integration.test_plans import plans

MANY = {str(number): f"Passage number {number}." for number in range(40)}


def circle(*degrees: float) -> dict[str, list[float]]:
    """Contents with vectors at these angles, so that who is near whom is plain."""
    return {
        f"At {angle}.": [math.cos(math.radians(angle)), math.sin(math.radians(angle)), 0.0, 0.0] for angle in degrees
    }


def load(connection: Connection, worker: HandWorker, *degrees: float) -> None:
    """Add documents named by their angles, with a passage each."""
    add(connection, {f"{angle:g}": f"At {angle}." for angle in degrees})
    worker.index_everything(circle(*degrees))


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute("select pgclarify.create_corpus('insurance')")
    return connection


@pytest.fixture
def small(connection: Connection) -> Connection:
    """A corpus that keeps two neighbors of a passage."""
    connection.execute("""select pgclarify.create_corpus('insurance', options => '{"graph_degree": 2}')""")
    return connection


class TestLinking:
    def test_every_passage_gets_its_nearest(self, corpus: Connection, hire: Hire) -> None:
        worker = hire()
        add(corpus, MANY)
        worker.index_everything()

        link(worker)

        assert check(corpus) == {
            "passages": 40,
            "linked": 40,
            "unlinked": 0,
            "pending": 0,
            "self_edges": 0,
            "dangling": 0,
            "gaps": 0,
            "unordered": 0,
            "sampled": 40,
            "recall": 1.0,
        }
        assert scalar(corpus, "select linked from pgclarify.corpus_status") == 40
        assert scalar(corpus, "select bool_and(cardinality(neighbor_ids) = 16) from pgclarify.neighborhood")
        assert_counts_agree(corpus)

    def test_nearest_first(self, small: Connection, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25, 90)

        link(worker)

        assert lists(small) == {"0": ["10", "25"], "10": ["0", "25"], "25": ["10", "0"], "90": ["25", "10"]}

    def test_a_passage_alone_has_no_neighbors(self, corpus: Connection, hire: Hire) -> None:
        load(corpus, worker := hire(), 0)

        link(worker)

        assert lists(corpus) == {"0": []}
        assert check(corpus) | {"recall": None} == check(corpus)
        assert check(corpus)["linked"] == 1

    def test_a_new_passage_enters_the_lists_of_those_near_it(self, small: Connection, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25, 90, 180)
        link(worker)
        load(small, worker, 80)

        link(worker)

        assert lists(small) == {
            "0": ["10", "25"],
            "10": ["0", "25"],
            "25": ["10", "0"],
            "80": ["90", "25"],
            "90": ["80", "25"],
            "180": ["90", "80"],
        }
        assert faults(small) == {}

    def test_a_short_list_is_filled(self, corpus: Connection, hire: Hire) -> None:
        load(corpus, worker := hire(), 0, 10, 25, 90)
        link(worker)
        load(corpus, worker, 180)

        link(worker)

        assert lists(corpus)["0"] == ["10", "25", "90", "180"]
        assert faults(corpus) == {}

    def test_a_removed_passage_leaves_the_lists(self, small: Connection, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25, 90)
        link(worker)

        small.execute("select pgclarify.remove_document('insurance', '10')")

        assert neighbors(small, "0") == ["25"]
        link(worker)
        assert lists(small) == {"0": ["25", "90"], "25": ["0", "90"], "90": ["25", "0"]}
        assert faults(small) == {}
        assert_counts_agree(small)

    def test_a_changed_passage_moves(self, small: Connection, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25, 90, 100)
        link(worker)

        add(small, {"10": "At 94."})
        worker.index_everything(circle(94))
        link(worker)

        assert lists(small) == {
            "0": ["25", "90"],
            "10": ["90", "100"],
            "25": ["0", "90"],
            "90": ["10", "100"],
            "100": ["10", "90"],
        }
        assert faults(small) == {}
        assert_counts_agree(small)

    def test_passages_come_and_go_while_a_space_is_linked(self, corpus: Connection, hire: Hire) -> None:
        worker = hire()
        add(corpus, MANY)
        worker.index_everything()
        for step in range(4):
            assert worker.send("link_passages", max_passages=10)[0]["passages"] == 10, step
        assert scalar(corpus, "select linking_document_id is not null from pgclarify.embedding_space")

        add(corpus, {f"new {number}": f"New {number}." for number in range(5)})
        for number in range(5):
            corpus.execute("select pgclarify.remove_document('insurance', %s)", [str(number)])
        worker.index_everything()
        link(worker, 10)

        assert faults(corpus) == {}
        assert check(corpus)["linked"] == 40
        assert_counts_agree(corpus)

    def test_no_work_is_no_work(self, corpus: Connection, hire: Hire) -> None:
        worker = hire()
        worker.open_spaces()

        assert link(worker) == 0
        add(corpus, MANY)
        worker.index_everything()
        assert link(worker) == 40
        assert link(worker) == 0

    def test_what_is_loaded_is_left_for_a_minute(self, corpus: Connection, hire: Hire) -> None:
        worker = hire()
        add(corpus, MANY)
        worker.open_spaces()
        worker.store(worker.claim(max_documents=20))

        assert link(worker) == 0
        corpus.execute("update pgclarify.pending_link set added_at = now() - interval '2 minutes'")
        assert link(worker) == 20

    def test_a_dropped_corpus_is_not_linked(self, corpus: Connection, hire: Hire) -> None:
        worker = hire()
        add(corpus, MANY)
        worker.index_everything()

        corpus.execute("select pgclarify.drop_corpus('insurance')")

        assert link(worker) == 0
        worker.sweep()
        assert scalar(corpus, "select count(*) from pgclarify.neighborhood") == 0

    def test_a_vector_of_zeros_is_near_nothing(self, corpus: Connection, hire: Hire) -> None:
        add(corpus, {"0": "At 0.", "10": "At 10.", "nowhere": "Nowhere."})
        (worker := hire()).index_everything(circle(0, 10) | {"Nowhere.": [0.0] * 4})

        link(worker)

        assert lists(corpus) == {"0": ["10"], "10": ["0"], "nowhere": []}


class TestPlans:
    def test_the_search_is_shared_out_to_parallel_workers(self, corpus: Connection, hire: Hire) -> None:
        add(corpus, {str(number): f"Passage {number}." for number in range(300)})
        hire().index_everything()

        with plans(corpus) as seen:
            corpus.execute("select pgclarify._link_passages(1000)")

        assert [plan for plan in seen if "Parallel Append" in plan]

    def test_lists_that_name_a_passage_are_found_by_their_index(self, corpus: Connection, hire: Hire) -> None:
        add(corpus, MANY)
        (worker := hire()).index_everything()
        link(worker)
        corpus.execute("select pgclarify.remove_document('insurance', '1')")

        with plans(corpus) as seen:
            corpus.execute("select pgclarify._link_passages(1000)")

        assert [plan for plan in seen if "Bitmap Index Scan on neighborhood_1_" in plan and "&&" in plan]


class TestOpenTransactions:
    def test_a_list_that_names_what_is_being_deleted(self, small: Connection, connect: Connect, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25, 90, 100)
        link(worker)
        other = connect()
        with other.transaction():
            other.execute("select pgclarify.remove_document('insurance', '10')")
            load(small, worker, 5)
            link(worker)
            # Nobody else knows yet that it is going.
            assert lists(small)["5"] == ["0", "10"]

        assert neighbors(small, "5") == ["0"]
        link(worker)
        assert "10" not in {near for of_one in lists(small).values() for near in of_one}
        assert faults(small) == {}
        assert_counts_agree(small)

    def test_a_deletion_that_is_thought_better_of(self, small: Connection, connect: Connect, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25, 90, 100)
        link(worker)
        other = connect()
        other.execute("begin")
        other.execute("select pgclarify.remove_document('insurance', '10')")
        small.execute("select pgclarify.remove_document('insurance', '0')")
        load(small, worker, 12)
        link(worker)
        # The list of 10 is held, and still names what is gone.
        assert lists(small)["10"] == ["0", "25"]

        other.execute("rollback")
        link(worker)

        assert lists(small)["10"] == ["12", "25"]
        assert faults(small) == {}
        assert_counts_agree(small)

    def test_what_somebody_holds_keeps_nobody_up(self, corpus: Connection, connect: Connect, hire: Hire) -> None:
        worker = hire()
        add(corpus, MANY)
        worker.index_everything()
        other = connect()
        with other.transaction():
            for number in range(20):
                other.execute("select pgclarify.remove_document('insurance', %s)", [str(number)])

            # It comes to an end, and a worker that comes again finds those that are free.
            for _ in range(20):
                link(worker, 8)

            assert set(lists(corpus)) == {str(number) for number in range(20, 40)}
        link(worker)
        assert faults(corpus) == {}
        assert_counts_agree(corpus)

    def test_a_frozen_snapshot_leaves_no_list_behind(self, corpus: Connection, connect: Connect, hire: Hire) -> None:
        worker = hire()
        add(corpus, MANY)
        worker.index_everything()
        worker.send("link_passages", max_passages=10)
        other = connect()
        other.execute("begin isolation level repeatable read")
        other.execute("select from pgclarify.corpus")
        link(worker)
        assert "7" in lists(corpus)

        # It does not see the list that it would have to delete.
        other.execute("select pgclarify.remove_document('insurance', '7')")
        other.execute("commit")
        link(worker)

        assert "7" not in lists(corpus)
        assert faults(corpus) == {}
        assert_counts_agree(corpus)

    def test_two_workers_do_not_link_the_same_space(self, corpus: Connection, connect: Connect, hire: Hire) -> None:
        one, other = hire(), hire()
        add(corpus, MANY)
        one.index_everything()
        with one.connection.transaction():
            assert one.send("link_passages", max_passages=10)[0]["passages"] == 10

            assert link(other) == 0
        assert link(other) == 30


class TestLexicalSimilarity:
    @pytest.fixture
    def worded(self, connection: Connection, hire: Hire) -> Connection:
        connection.execute(
            """select pgclarify.create_corpus('insurance', options => '{"graph_similarity": "lexical"}')"""
        )
        add(
            connection,
            {
                "hail": "Hail dented the bonnet of the car.",
                "storm": "Hail and storm broke the window of the house.",
                "bonnet": "The bonnet that hail dented was replaced.",
                "dog": "Dogs bite postmen.",
            },
        )
        (worker := hire()).index_everything()
        link(worker)
        return connection

    def test_neighbors_share_words(self, worded: Connection) -> None:
        assert neighbors(worded, "hail") == ["bonnet", "storm"]
        assert neighbors(worded, "dog") == []
        assert scalar(
            worded, "select bool_and(0 < s and s <= 1) from pgclarify.neighborhood, unnest(similarities) as s"
        )
        found = check(worded)
        assert (found["gaps"], found["recall"], found["unordered"], found["unlinked"]) == (None, 1.0, 0, 0)

    def test_a_new_passage_enters_the_lists_of_those_near_it(self, worded: Connection, hire: Hire) -> None:
        add(worded, {"postman": "Postmen fear dogs that bite."})
        (worker := hire()).index_everything()
        link(worker)

        assert neighbors(worded, "dog") == ["postman"]
        assert check(worded)["recall"] == 1.0
        assert_counts_agree(worded)


class TestNeighbors:
    @pytest.fixture
    def linked(self, small: Connection, hire: Hire) -> Connection:
        load(small, worker := hire(), 0, 10, 25, 90)
        link(worker)
        return small

    def passage(self, connection: Connection, document_id: str) -> int:
        return int(scalar(connection, "select id from pgclarify.passage where document_id = %s", document_id))

    def test_rows(self, linked: Connection) -> None:
        rows = linked.execute(
            "select rank, document_id, passage_id, round(similarity::numeric, 3)::text"
            " from pgclarify.neighbors('insurance', '0', %s)",
            [self.passage(linked, "0")],
        ).fetchall()

        assert rows == [
            (1, "10", self.passage(linked, "10"), "0.985"),
            (2, "25", self.passage(linked, "25"), "0.906"),
        ]

    @pytest.mark.parametrize(("k", "found"), [(1, ["10"]), (2, ["10", "25"]), (1000, ["10", "25"])])
    def test_k(self, linked: Connection, k: int, found: list[str]) -> None:
        assert neighbors(linked, "0", k) == found

    @pytest.mark.parametrize("k", [0, -1, 1001, None])
    def test_a_wrong_k(self, linked: Connection, k: int | None) -> None:
        call = "select pgclarify.neighbors('insurance', '0', %s, %s::integer)"
        assert state_of(linked, call, [self.passage(linked, "0"), k]) == "22023"

    def test_what_does_not_exist(self, linked: Connection) -> None:
        call = "select pgclarify.neighbors(%s, %s, %s)"
        there = self.passage(linked, "0")
        assert state_of(linked, call, ["nothing", "0", there]) == "42704"
        assert state_of(linked, call, ["insurance", "nothing", there]) == "42704"
        assert state_of(linked, call, ["insurance", "10", there]) == "42704"
        assert state_of(linked, call, ["insurance", "0", None]) == "42704"

    def test_before_it_is_linked(self, corpus: Connection, hire: Hire) -> None:
        load(corpus, hire(), 0, 10)

        assert neighbors(corpus, "0") == []

    def test_what_may_not_be_read_is_not_there(
        self, linked: Connection, connect: Connect, make_role: MakeRole, hire: Hire
    ) -> None:
        boss, staff = make_role("pgclarify_user"), make_role("pgclarify_user")
        ids = {document_id: self.passage(linked, document_id) for document_id in ("0", "10")}
        add(linked, {"10": "At 10."}, readers=f"{{{boss}}}")
        call = "select document_id, rank from pgclarify.neighbors('insurance', %s, %s)"

        seen_by_boss = connect(boss).execute(call, ["0", ids["0"]]).fetchall()
        seen_by_staff = connect(staff).execute(call, ["0", ids["0"]]).fetchall()

        assert seen_by_boss == [("10", 1), ("25", 2)]
        assert seen_by_staff == [("25", 1)]
        # As if it did not exist: the same error, in the same words.
        messages = set()
        for passage_id in (ids["10"], 10**9):
            with pytest.raises(psycopg.errors.UndefinedObject) as refused:
                connect(staff).execute(call, ["10", passage_id])
            messages.add(str(refused.value).replace(str(passage_id), "…"))
        assert len(messages) == 1

    def test_a_corpus_of_other_readers(
        self, connection: Connection, connect: Connect, make_role: MakeRole, hire: Hire
    ) -> None:
        reader, stranger = make_role(), make_role("pgclarify_user")
        connection.execute(
            "select pgclarify.create_corpus('insurance', options => jsonb_build_object('reader', %s::text))", [reader]
        )
        load(connection, worker := hire(), 0, 10)
        link(worker)

        call = "select pgclarify.neighbors('insurance', '0', %s)"
        assert state_of(connect(stranger), call, [self.passage(connection, "0")]) == "42704"
        assert scalar(connect(stranger), "select count(*) from pgclarify.edge") == 0


class TestEdge:
    def test_rows(self, small: Connection, hire: Hire) -> None:
        load(small, worker := hire(), 0, 10, 25)
        link(worker)

        rows = small.execute(
            "select corpus, document_id, neighbor_document_id, rank, round(similarity::numeric, 3)::text"
            " from pgclarify.edge where corpus = 'insurance' order by document_id, rank"
        ).fetchall()

        assert rows == [
            ("insurance", "0", "10", 1, "0.985"),
            ("insurance", "0", "25", 2, "0.906"),
            ("insurance", "10", "0", 1, "0.985"),
            ("insurance", "10", "25", 2, "0.966"),
            ("insurance", "25", "10", 1, "0.966"),
            ("insurance", "25", "0", 2, "0.906"),
        ]

    def test_only_edges_whose_ends_may_be_read(
        self, small: Connection, connect: Connect, make_role: MakeRole, hire: Hire
    ) -> None:
        boss, staff = make_role("pgclarify_user"), make_role("pgclarify_user")
        load(small, worker := hire(), 0, 10, 25)
        link(worker)
        add(small, {"10": "At 10."}, readers=f"{{{boss}}}")
        edges = "select document_id, neighbor_document_id, rank from pgclarify.edge order by 1, 3"

        assert connect(staff).execute(edges).fetchall() == [("0", "25", 1), ("25", "0", 1)]
        assert len(connect(boss).execute(edges).fetchall()) == 6

    def test_other_corpora_are_left_alone(self, small: Connection, connect: Connect, hire: Hire) -> None:
        small.execute("select pgclarify.create_corpus('rental')")
        load(small, worker := hire(), 0, 10)
        link(worker)
        other = connect()
        with other.transaction():
            other.execute("select * from pgclarify.edge where corpus = 'insurance'").fetchall()

            locked = other.execute(
                "select relation::regclass::text from pg_locks where pid = pg_backend_pid() and locktype = 'relation'"
            ).fetchall()

        tables = {name for (name,) in locked}
        assert "pgclarify.neighborhood_1" in tables
        assert not {table for table in tables if table.endswith("_2")}


class TestBuildAndCheck:
    @pytest.fixture
    def linked(self, corpus: Connection, hire: Hire) -> Connection:
        worker = hire()
        add(corpus, MANY)
        worker.index_everything()
        link(worker)
        return corpus

    @pytest.mark.parametrize(
        ("harm", "found"),
        [
            ("delete from pgclarify.neighborhood where document_id in ('1', '2')", {"unlinked": 2}),
            (
                "update pgclarify.neighborhood set neighbor_ids[1] = passage_id where document_id = '1'",
                # Under the document of another it is a passage that is not there.
                {"self_edges": 1, "dangling": 1, "recall": 1 - 1 / 640},
            ),
            (
                "update pgclarify.neighborhood set neighbor_ids[1] = 10000 where document_id = '1'",
                {"dangling": 1, "recall": 1 - 1 / 640},
            ),
            (
                "update pgclarify.neighborhood set neighbor_document_ids = '{}', neighbor_ids = '{}',"
                " similarities = '{}' where document_id in ('1', '2')",
                {"gaps": 2, "recall": 0.95},
            ),
            (
                "update pgclarify.neighborhood set similarities[16] = 1 where document_id = '1'",
                {"unordered": 1},
            ),
            (
                "update pgclarify.neighborhood set neighbor_ids[2] = neighbor_ids[1],"
                " neighbor_document_ids[2] = neighbor_document_ids[1] where document_id = '1'",
                {"unordered": 1, "recall": 1 - 1 / 640},
            ),
            (
                "delete from pgclarify.passage_embedding where document_id = '1'",
                None,
            ),
        ],
    )
    def test_harm_is_found_and_mended(
        self, linked: Connection, hire: Hire, harm: str, found: dict[str, Any] | None
    ) -> None:
        linked.execute(harm.encode())

        if found is None:
            # Edges to it, and its own.
            assert faults(linked)["dangling"] > 16
            return
        assert faults(linked) == found
        assert scalar(linked, "select pgclarify.build_graph('insurance')") == 40
        assert check(linked)["pending"] == 40
        link(hire())
        assert faults(linked) == {}

    def test_no_sample(self, linked: Connection) -> None:
        found = check(linked, sample=0)

        assert (found["sampled"], found["recall"], found["linked"]) == (0, None, 40)

    @pytest.mark.parametrize("sample", [-1, 10_001, None])
    def test_a_wrong_sample(self, linked: Connection, sample: int | None) -> None:
        assert state_of(linked, "select pgclarify.check_graph('insurance', %s::integer)", [sample]) == "22023"

    def test_a_corpus_that_nobody_has_opened(self, corpus: Connection) -> None:
        assert scalar(corpus, "select pgclarify.build_graph('insurance')") == 0
        assert check(corpus)["passages"] == 0

    def test_only_its_owner_may(self, linked: Connection, connect: Connect, make_role: MakeRole) -> None:
        user = connect(make_role("pgclarify_user"))

        for call in ("build_graph('insurance')", "check_graph('insurance')"):
            assert state_of(user, f"select pgclarify.{call}") == "42501"
            assert state_of(user, f"select pgclarify.{call.replace('insurance', 'nothing')}") == "42704"
