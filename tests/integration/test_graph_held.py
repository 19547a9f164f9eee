"""The neighborhood graph while transactions of users are open: locked passages are skipped, and linked later."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.integration.counts import assert_counts_agree
from tests.integration.linking import MANY, add, corpus, faults, link, lists, load, neighbors, small
from tests.integration.manual_worker import MakeWorker
from tests.sessions import Connect, Connection, scalar, sqlstate_of

__all__ = ["corpus", "small"]


def test_a_list_that_names_what_is_being_deleted(small: Connection, connect: Connect, make_worker: MakeWorker) -> None:
    load(small, worker := make_worker(), 0, 10, 25, 90, 100)
    link(worker)
    other = connect()
    with other.transaction():
        other.execute("select pgclarify.remove_document('insurance', '10')")
        load(small, worker, 5)
        link(worker)
        # The deletion is not committed, so other sessions do not see it yet.
        assert lists(small)["5"] == ["0", "10"]

    assert neighbors(small, "5") == ["0"]
    link(worker)
    assert "10" not in {near for of_one in lists(small).values() for near in of_one}
    assert faults(small) == {}
    assert_counts_agree(small)


def test_a_removal_that_waits_for_a_worker_leaves_no_list(
    small: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    load(small, worker := make_worker(), 0, 10, 25)
    # From here on the worker walks, and takes no rows from the queue, for which the removal would wait first.
    worker.send("link_passages", max_passages=1)
    other = connect()
    with ThreadPoolExecutor(1) as thread:
        with worker.connection.transaction():
            link(worker)
            removal = thread.submit(scalar, other, "select pgclarify.remove_document('insurance', '10')")
            while not scalar(small, "select pg_blocking_pids(%s) <> '{}'", other.info.backend_pid):
                assert not removal.done()
        assert removal.result()

    assert set(lists(small)) == {"0", "25"}
    assert_counts_agree(small)


def test_a_deletion_that_is_thought_better_of(small: Connection, connect: Connect, make_worker: MakeWorker) -> None:
    load(small, worker := make_worker(), 0, 10, 25, 90, 100)
    link(worker)
    other = connect()
    other.execute("begin")
    other.execute("select pgclarify.remove_document('insurance', '10')")
    small.execute("select pgclarify.remove_document('insurance', '0')")
    load(small, worker, 12)
    link(worker)
    # The list of 10 is locked, and still names the deleted passage.
    assert lists(small)["10"] == ["0", "25"]

    other.execute("rollback")
    link(worker)

    assert lists(small)["10"] == ["12", "25"]
    assert faults(small) == {}
    assert_counts_agree(small)


def test_locked_passages_do_not_delay_the_linking_of_others(
    corpus: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    add(corpus, MANY)
    worker.index_everything()
    other = connect()
    with other.transaction():
        for number in range(20):
            other.execute("select pgclarify.remove_document('insurance', %s)", [str(number)])

        # Linking ends, and a later round finds the passages that are free.
        for _ in range(20):
            link(worker, 8)

        assert set(lists(corpus)) == {str(number) for number in range(20, 40)}
    link(worker)
    assert faults(corpus) == {}
    assert_counts_agree(corpus)


def test_passages_that_are_being_removed_are_visited_once(
    corpus: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    add(corpus, MANY)
    worker.index_everything()
    other = connect()
    with other.transaction():
        for number in range(38):
            other.execute("select pgclarify.remove_document('insurance', %s)", [str(number)])

        done = [worker.value("link_passages", max_passages=8) for _ in range(10)]

        assert done == [8] * 5 + [0] * 5
        assert set(lists(corpus)) == {"38", "39"}


def test_removals_during_a_walk_start_no_other_walk(
    corpus: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    add(corpus, MANY)
    worker.index_everything()
    assert worker.value("link_passages", max_passages=2) == 2
    other = connect()
    with other.transaction():
        # The removed passages have no list, and no longer wait to be linked.
        for number in set(MANY) - set(lists(corpus)):
            other.execute("select pgclarify.remove_document('insurance', %s)", [number])

        done = [worker.value("link_passages", max_passages=20) for _ in range(10)]

        assert done == [20, 18] + [0] * 8
    link(worker)
    assert len(lists(corpus)) == 2
    assert faults(corpus) == {}
    assert_counts_agree(corpus)


def test_passages_that_are_being_removed_do_not_block_new_ones(
    corpus: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    add(corpus, MANY)
    worker.index_everything()
    link(worker)
    add(corpus, {f"old {number}": f"Old {number}." for number in range(20)})
    worker.index_everything()
    add(corpus, {"new": "New."})
    worker.index_everything()
    other = connect()
    with other.transaction():
        for number in range(20):
            other.execute("select pgclarify.remove_document('insurance', %s)", [f"old {number}"])

        # A call takes at most half of max_passages from the queue: here five, and only one is not being removed.
        assert worker.value("link_passages", max_passages=10) == 1

        assert "new" in lists(corpus)
        assert link(worker) == 0
    link(worker)
    assert faults(corpus) == {}
    assert_counts_agree(corpus)


def test_a_walk_that_does_not_begin_leaves_the_queue_as_it_was(
    corpus: Connection, connect: Connect, make_worker: MakeWorker
) -> None:
    add(corpus, MANY)
    make_worker().index_everything()
    begin = """
        select (pgclarify_private.begin_walk(space, 1, 40)).linking_document_id
        from pgclarify_private.embedding_space as space
    """
    corpus.execute("update pgclarify_private.corpus_tally set linked = 40 where passages > 0")
    other, worker = connect(), connect()
    with other.transaction(force_rollback=True):
        other.execute("select pgclarify.remove_document('insurance', '0')")
        with worker.transaction():
            # 40 passages wait, but one of them is being removed.
            assert scalar(worker, begin) is None

            free = "select count(*) from (select from pgclarify_private.pending_link for update skip locked) as free"
            assert scalar(corpus, free) == 39
    assert scalar(corpus, "select count(*) from pgclarify_private.pending_link") == 40
    assert scalar(corpus, begin) == ""
    assert scalar(corpus, "select count(*) from pgclarify_private.pending_link") == 0


def test_looking_for_what_is_free_holds_nothing(corpus: Connection, connect: Connect, make_worker: MakeWorker) -> None:
    add(corpus, MANY)
    make_worker().index_everything()
    worker = connect()
    with worker.transaction():
        found = scalar(
            worker,
            "select cardinality(passage_ids) from pgclarify_private.embedding_space as space,"
            " pgclarify_private.next_waiting(space, 7)",
        )

        assert found == 7
        for table in ("pending_link", "passage_embedding"):
            assert sqlstate_of(corpus, f"select from pgclarify_private.{table} for update nowait") is None


def test_a_passage_that_very_many_lists_name(corpus: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    add(corpus, MANY)
    worker.index_everything()
    link(worker)
    corpus.execute(
        "update pgclarify_private.neighborhood as kept set neighbor_document_ids = array[hub.document_id],"
        " neighbor_ids = array[hub.id], similarities = '{1}'"
        " from pgclarify.passage as hub where hub.document_id = '0' and kept.document_id <> '0'"
    )
    corpus.execute("select pgclarify.remove_document('insurance', '0')")
    naming = "select count(*) from pgclarify_private.neighborhood where neighbor_document_ids @> '{0}'"
    queued = "select count(*) from pgclarify_private.pending_link"
    waiting = "select count(*) from pgclarify_private.pending_unlink"

    # One passage a call, and sixteen lists for each.
    for lists_queued in (16, 32):
        assert worker.value("link_passages", max_passages=4) == 16
        assert (scalar(corpus, queued), scalar(corpus, waiting)) == (lists_queued, 1)
    assert worker.value("link_passages", max_passages=4) == 1
    assert (scalar(corpus, queued), scalar(corpus, waiting)) == (39, 0)

    link(worker)
    assert scalar(corpus, naming) == 0
    assert faults(corpus) == {}
    assert_counts_agree(corpus)


def test_two_workers_do_not_link_the_same_space(corpus: Connection, connect: Connect, make_worker: MakeWorker) -> None:
    one, other = make_worker(), make_worker()
    add(corpus, MANY)
    one.index_everything()
    with one.connection.transaction():
        assert one.value("link_passages", max_passages=10) == 10

        assert link(other) == 0
    assert link(other) == 30
