"""The neighborhood graph: built, kept and checked."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.counts import assert_counts_agree
from tests.integration.graph_check import check
from tests.integration.linking import MANY, add, circle, corpus, faults, link, lists, load, neighbors, small
from tests.integration.manual_worker import MakeWorker
from tests.integration.test_plans import plans
from tests.sessions import Connection, scalar

__all__ = ["corpus", "small"]

pytestmark = pytest.mark.rolled_back


class TestLinking:
    def test_every_passage_gets_its_nearest(self, corpus: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
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
            "orphans": 0,
            "gaps": 0,
            "unordered": 0,
            "sampled": 40,
            "recall": 1.0,
        }
        assert scalar(corpus, "select linked from pgclarify.corpus") == 40
        assert scalar(corpus, "select bool_and(cardinality(neighbor_ids) = 16) from pgclarify_private.neighborhood")
        assert_counts_agree(corpus)

    def test_a_new_passage_enters_the_lists_of_those_near_it(self, small: Connection, make_worker: MakeWorker) -> None:
        load(small, worker := make_worker(), 0, 10, 25, 90, 180)
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

    def test_a_short_list_is_filled(self, corpus: Connection, make_worker: MakeWorker) -> None:
        load(corpus, worker := make_worker(), 0, 10, 25, 90)
        link(worker)
        load(corpus, worker, 180)

        link(worker)

        assert lists(corpus)["0"] == ["10", "25", "90", "180"]
        assert faults(corpus) == {}

    def test_a_removed_passage_leaves_the_lists(self, small: Connection, make_worker: MakeWorker) -> None:
        load(small, worker := make_worker(), 0, 10, 25, 90)
        link(worker)

        small.execute("select pgclarify.remove_document('insurance', '10')")

        assert neighbors(small, "0") == ["25"]
        link(worker)
        assert lists(small) == {"0": ["25", "90"], "25": ["0", "90"], "90": ["25", "0"]}
        assert faults(small) == {}
        assert_counts_agree(small)

    def test_a_changed_passage_moves(self, small: Connection, make_worker: MakeWorker) -> None:
        load(small, worker := make_worker(), 0, 10, 25, 90, 100)
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

    def test_passages_come_and_go_while_a_space_is_linked(self, corpus: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        add(corpus, MANY)
        worker.index_everything()
        for step in range(4):
            assert worker.value("link_passages", max_passages=10) == 10, step
        assert scalar(corpus, "select linking_document_id is not null from pgclarify_private.embedding_space")

        add(corpus, {f"new {number}": f"New {number}." for number in range(5)})
        for number in range(5):
            corpus.execute("select pgclarify.remove_document('insurance', %s)", [str(number)])
        worker.index_everything()
        link(worker, 10)

        assert faults(corpus) == {}
        assert check(corpus)["linked"] == 40
        assert_counts_agree(corpus)

    def test_a_walk_begins_when_a_share_of_what_is_linked_waits(
        self, corpus: Connection, make_worker: MakeWorker
    ) -> None:
        """This holds for corpora of any size. A walk starts again if many passages are added meanwhile."""
        worker = make_worker()
        add(corpus, MANY)
        worker.index_everything()
        link(worker)
        begin = """
            select (pgclarify_private.begin_walk(space, %s, %s)).linking_document_id
            from pgclarify_private.embedding_space as space
        """
        add(corpus, {f"new {number}": f"New {number}." for number in range(10)})
        worker.index_everything()

        # 40 are linked, and 10 wait.
        assert scalar(corpus, begin, 0.26, 1) is None
        assert scalar(corpus, begin, 0.25, 11) is None
        corpus.execute("insert into pgclarify_private.corpus_tally (corpus_id, linked) values (1, 999960)")
        assert scalar(corpus, begin, 0.1, 1) is None
        assert scalar(corpus, begin, 0.000009, 1) == ""

        # The walk continues at its place, until enough passages wait again.
        corpus.execute("update pgclarify_private.embedding_space set linking_document_id = '7'")
        assert scalar(corpus, begin, 0.000009, 1) == "7"
        add(corpus, {f"newer {number}": f"Newer {number}." for number in range(10)})
        worker.index_everything()
        assert scalar(corpus, begin, 0.000009, 1) == ""
        assert scalar(corpus, "select count(*) from pgclarify_private.pending_link") == 0

    def test_fresh_passages_are_linked_after_a_minute(self, corpus: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        add(corpus, MANY)
        worker.open_spaces()
        worker.store(worker.claim(max_documents=20))

        assert link(worker) == 0
        corpus.execute("update pgclarify_private.pending_link set added_at = now() - interval '2 minutes'")
        assert link(worker) == 20

    def test_a_dropped_corpus_is_not_linked(self, corpus: Connection, make_worker: MakeWorker) -> None:
        worker = make_worker()
        add(corpus, MANY)
        worker.index_everything()

        corpus.execute("select pgclarify.drop_corpus('insurance')")

        assert link(worker) == 0
        worker.sweep()
        assert scalar(corpus, "select count(*) from pgclarify_private.neighborhood") == 0

    def test_a_vector_of_zeros_is_near_nothing(self, corpus: Connection, make_worker: MakeWorker) -> None:
        add(corpus, {"0": "At 0.", "10": "At 10.", "nowhere": "Nowhere."})
        (worker := make_worker()).index_everything(circle(0, 10) | {"Nowhere.": [0.0] * 4})

        link(worker)

        assert lists(corpus) == {"0": ["10"], "10": ["0"], "nowhere": []}


class TestPlans:
    def test_the_search_is_shared_out_to_parallel_workers(self, corpus: Connection, make_worker: MakeWorker) -> None:
        add(corpus, {str(number): f"Passage {number}." for number in range(300)})
        make_worker().index_everything()

        with plans(corpus) as seen:
            corpus.execute("select pgclarify_private.link_passages(1000)")

        assert [plan for plan in seen if "Parallel Append" in plan]

    def test_lists_that_name_a_passage_are_found_by_their_index(
        self, corpus: Connection, make_worker: MakeWorker
    ) -> None:
        add(corpus, MANY)
        (worker := make_worker()).index_everything()
        link(worker)
        corpus.execute("select pgclarify.remove_document('insurance', '1')")

        with plans(corpus) as seen:
            corpus.execute("select pgclarify_private.link_passages(1000)")

        assert [plan for plan in seen if "Bitmap Index Scan on neighborhood_1_" in plan and "&&" in plan]


class TestBuildAndCheck:
    @pytest.fixture
    def linked(self, corpus: Connection, make_worker: MakeWorker) -> Connection:
        worker = make_worker()
        add(corpus, MANY)
        worker.index_everything()
        link(worker)
        return corpus

    @pytest.mark.parametrize(
        ("harm", "found"),
        [
            ("delete from pgclarify_private.neighborhood where document_id in ('1', '2')", {"unlinked": 2}),
            (
                "update pgclarify_private.neighborhood set neighbor_ids[1] = passage_id where document_id = '1'",
                # A passage id with the document of another passage does not exist.
                {"self_edges": 1, "dangling": 1, "recall": 1 - 1 / 640},
            ),
            (
                "update pgclarify_private.neighborhood set neighbor_document_ids = '{}', neighbor_ids = '{}',"
                " similarities = '{}' where document_id in ('1', '2')",
                {"gaps": 2, "recall": 0.95},
            ),
            (
                "update pgclarify_private.neighborhood set similarities[16] = 1 where document_id = '1'",
                {"unordered": 1},
            ),
            (
                "update pgclarify_private.neighborhood set neighbor_ids[2] = neighbor_ids[1],"
                " neighbor_document_ids[2] = neighbor_document_ids[1] where document_id = '1'",
                {"unordered": 1, "recall": 1 - 1 / 640},
            ),
        ],
    )
    def test_harm_is_found_and_mended(
        self, linked: Connection, make_worker: MakeWorker, harm: str, found: dict[str, Any]
    ) -> None:
        linked.execute(harm.encode())

        assert faults(linked) == found
        assert scalar(linked, "select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))")
        assert check(linked)["pending"] == 40
        link(make_worker())
        assert faults(linked) == {}

    def test_a_corpus_that_nobody_has_opened(self, corpus: Connection) -> None:
        assert not scalar(corpus, "select pgclarify.alter_corpus('insurance', jsonb_build_object('graph', 'rebuild'))")
