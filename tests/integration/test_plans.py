"""The plans of retrieval at a few thousand passages: indexes are used, with and without statistics."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from pgclarify.cli.client import CommandClient
from tests.integration.manual_worker import MakeWorker
from tests.integration.retrieving import add_all
from tests.integration.spending import budget, claim
from tests.sessions import Connection, scalar

DIMENSIONS = 64
PASSAGES = 2000
VECTOR = json.dumps([1.0] * DIMENSIONS)


@contextmanager
def plans(connection: Connection) -> Iterator[list[str]]:
    """The plans of all statements inside functions during the block, from auto_explain."""
    seen: list[str] = []

    def keep(diagnostic: psycopg.errors.Diagnostic) -> None:
        if diagnostic.message_primary and "Query Text:" in diagnostic.message_primary:
            seen.append(diagnostic.message_primary)

    connection.execute("""
        load 'auto_explain';
        set auto_explain.log_min_duration = 0;
        set auto_explain.log_nested_statements = on;
        set auto_explain.log_level = 'notice'
    """)
    connection.add_notice_handler(keep)
    yield seen
    connection.remove_notice_handler(keep)
    connection.execute("set auto_explain.log_min_duration = -1")


@pytest.fixture
def large(connection: Connection, make_worker: MakeWorker) -> Connection:
    """A corpus of a few thousand passages that were just loaded."""
    chance = random.Random(3)  # noqa: S311 - not for secrets
    connection.execute("select pgclarify.create_corpus('insurance')")
    words = [f"word{number}" for number in range(2000)]
    documents = {str(number): " ".join(chance.choices(words, k=30)) for number in range(PASSAGES)}
    add_all(connection, documents)
    worker = make_worker()
    worker.open_spaces(DIMENSIONS)
    vectors = {text: [chance.gauss(0, 1) for _ in range(DIMENSIONS)] for text in documents.values()}
    while claimed := worker.claim():
        worker.store(claimed, vectors)
    return connection


def assert_indexes_are_used(large: Connection) -> None:
    with plans(large) as seen:
        large.execute("select pgclarify_private.dense(1, '{postgres}', %s::halfvec, 20)", [VECTOR])
        large.execute("select pgclarify_private.lexical(1, '{postgres}', 'word17 word1234', 20)")
        large.execute(
            "select pgclarify_private.search(1, '{postgres}', 'hybrid', 'word17 word1234', %s::halfvec, 20)", [VECTOR]
        )
        CommandClient(large).rows("client_list_documents", corpus="insurance", has_failed=True, most=100)

    for plan in (
        "Index Scan using passage_embedding_1_vector_idx",
        "Bitmap Index Scan on passage_1_lexemes_idx",
        "document_failed_idx",
    ):
        assert any(plan in each for each in seen), plan
    for each in seen:
        assert "Seq Scan on passage_1 " not in each
        assert "Seq Scan on document" not in each


def assert_more_are_looked_at_in_a_larger_corpus(large: Connection) -> None:
    def looked_at() -> int:
        with plans(large) as seen:
            large.execute("select pgclarify_private.dense(1, '{}', %s::halfvec, 10)", [VECTOR])
        (searched,) = (each for each in seen if "vector_idx" in each)
        # The limit of the scan; above it is that of the result.
        return int(re.findall(r"Limit  .* rows=(\d+)", searched)[-1])

    assert looked_at() == 40
    with large.transaction(force_rollback=True):
        large.execute(
            "insert into pgclarify_private.corpus_tally (corpus_id, passages) values (1, 400000 - %s)", [PASSAGES]
        )
        large.execute("set local enable_seqscan = off")
        assert looked_at() == 400


def test_indexes_are_used(large: Connection) -> None:
    """One test, because loading the passages takes longer than all queries."""
    assert_indexes_are_used(large)
    large.execute("analyze")
    assert_indexes_are_used(large)
    assert_more_are_looked_at_in_a_larger_corpus(large)

    # Row-level security computes the reader's roles once for each query, not for each row.
    with large.transaction():
        large.execute("set local role pgclarify_reader")
        rows = large.execute("explain (costs off) select * from pgclarify.passage where corpus_id = 1").fetchall()
    plan = "\n".join(row[0] for row in rows)
    assert "InitPlan" in plan
    assert "my_roles" not in plan

    assert_readable_passages_are_found_by_their_readers_or_by_their_vectors(large)


def assert_readable_passages_are_found_by_their_readers_or_by_their_vectors(large: Connection) -> None:
    # The role may read few passages, including some that all may read: all of these are compared.
    large.execute("update pgclarify_private.passage set readers = '{bob}' where document_id <> '3'")
    large.execute("update pgclarify_private.passage set readers = '{alice}' where document_id in ('1', '2')")
    large.execute(
        "insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages) values (1, %s)", [PASSAGES - 1]
    )
    large.execute("analyze")

    with plans(large) as seen:
        found = large.execute(
            "select document_ids from pgclarify_private.dense(1, '{alice}', %s::halfvec, 20)", [VECTOR]
        )
        large.execute("select pgclarify_private.lexical(1, '{alice}', 'word17 word1234', 20)")

    assert [sorted(row[0]) for row in found] == [["1", "2", "3"]]
    # Both searches count the passages by index, and then search them. No plan scans all passages or vectors.
    assert sum("Bitmap Index Scan on passage_1_coalesce_idx" in each for each in seen) >= 3
    assert not any("vector_idx" in each or "Seq Scan on passage" in each for each in seen)

    # The role may read most passages: the index finds the nearest first, and looks up the readers of each. The counter
    # pretends that there are more passages than a test can make.
    large.execute("update pgclarify_private.passage set readers = null where document_id <> '1'")
    large.execute(
        "insert into pgclarify_private.corpus_tally (corpus_id, restricted_passages, passages) values (1, %s, 20000)",
        [2 - PASSAGES],
    )
    large.execute("analyze")

    # So few are read faster without the index.
    large.execute("set enable_seqscan = off")
    with plans(large) as seen:
        large.execute("select pgclarify_private.dense(1, '{alice}', %s::halfvec, 20)", [VECTOR])
    large.execute("reset enable_seqscan")

    searched = [each for each in seen if "vector_idx" in each]
    assert len(searched) == 1
    assert "passage_1_pkey" in searched[0]
    # Only what was found is sorted, not all passages.
    assert searched[0].index("Sort") < searched[0].index("Limit", searched[0].index("Sort"))
    assert not any("passage_1_coalesce_idx" in each or "Seq Scan on passage" in each for each in seen)
    assert_the_nearest_are_found_though_all_are_far(large)


def assert_the_nearest_are_found_though_all_are_far(large: Connection) -> None:
    large.execute("update pgclarify_private.passage set readers = '{bob}'")
    farthest = large.execute(
        """
        with farthest as (
            select document_id, vector <=> %s::halfvec as distance
            from pgclarify_private.passage_embedding_1
            order by distance desc
            limit %s
        ),
        granted as (
            update pgclarify_private.passage set readers = '{carol}'
            from farthest
            where passage.document_id = farthest.document_id
        )
        select document_id from farthest order by distance
        """,
        [VECTOR, PASSAGES // 10],
    ).fetchall()
    (found,) = large.execute(
        "select document_ids from pgclarify_private.dense(1, '{carol}', %s::halfvec, 20)", [VECTOR]
    ).fetchall()
    nearest = [document_id for (document_id,) in farthest[:20]]
    assert len(set(nearest).intersection(found[0])) >= 18
    assert found[0] == sorted(found[0], key=[document_id for (document_id,) in farthest].index)


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_looking_for_documents_does_not_read_the_queue(connection: Connection, *, is_analyzed: bool) -> None:
    connection.execute("select pgclarify.create_corpus('insurance')")
    connection.execute("""
        insert into pgclarify_private.pending_document (corpus_id, document_id)
        select corpus_id, number::text from pgclarify.corpus, generate_series(1, 20000) as number
    """)
    if is_analyzed:
        connection.execute("analyze pgclarify_private.pending_document")

    with plans(connection) as seen:
        (due,) = scalar(connection, "select array_agg(due) from pgclarify_private.due_work() as due")
        connection.execute("select pgclarify_private.claim_documents(1, 1, 1, '1 minute', '{}', 0, true)")

    assert "documents" in due
    assert "long_documents" not in due
    assert any("using pending_document_added_at_idx on pending_document" in plan for plan in seen)
    assert not any("Seq Scan on pending_document" in plan for plan in seen)


def test_looking_for_spaces_to_link_does_not_read_the_queues(connection: Connection, make_worker: MakeWorker) -> None:
    for name in ("insurance", "other"):
        connection.execute("select pgclarify.create_corpus(%s)", [name])
    make_worker().open_spaces()
    connection.execute("""
        insert into pgclarify_private.pending_link (embedding_space_id, document_id, passage_id)
        select 2, 'd', number from generate_series(1, 20000) as number
    """)
    connection.execute("""
        insert into pgclarify_private.pending_unlink (embedding_space_id, passage_id)
        select 2, number from generate_series(1, 20000) as number
    """)
    connection.execute("analyze pgclarify_private.pending_link, pgclarify_private.pending_unlink")

    with plans(connection) as seen:
        assert scalar(connection, "select embedding_space_id from pgclarify_private.linkable_spaces()") == 2

    assert any(" on pending_link" in plan for plan in seen)
    assert not any(f"Seq Scan on {queue}" in plan for plan in seen for queue in ("pending_link", "pending_unlink"))


def test_looking_for_passages_to_embed_does_not_read_the_queue_of_another_space(
    connection: Connection, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    for name in ("insurance", "rental", "shop"):
        connection.execute("select pgclarify.create_corpus(%s)", [name])
    worker.open_spaces()
    connection.execute("""
        update pgclarify_private.embedding_space set state = 'building', queued_document_id = '', queued_passage_id = 0,
            queued_at = now()
    """)
    connection.execute("""
        insert into pgclarify_private.pending_passage (embedding_space_id, document_id, passage_id)
        select 2, number, number from generate_series(1, 20000) as number
    """)
    connection.execute("analyze pgclarify_private.pending_passage, pgclarify_private.embedding_space")

    with connection.transaction():
        connection.execute("select pgclarify_private.claim_passages(%s, 10, '1 minute', '{}', 0)", [worker.worker_id])
        read = "select seq_tup_read from pg_stat_xact_all_tables where relname = 'pending_passage'"
        assert scalar(connection, read) <= 1000, "those of one claim"


def test_storing_replies_reads_no_other_rows_of_the_ledger_and_no_other_runs(
    connection: Connection, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    budget(connection, max_calls=100)
    calls = list(claim(worker, None, ["x", "y", "z"]).ours.values())
    connection.execute("""
        insert into pgclarify_private.completion (
            purpose, model, parameters, prompt_version, input_hash, sample, reply, finished_at
        )
        select 'verdict', 'a-model', '{}', '1', sha256(number::text::bytea), 0, '{}', now()
        from generate_series(1, 5000) as number;
        insert into pgclarify_private.run (operation, question, settings, requested_by, requested_by_oid, reuse_key)
        select 'rewrite', 'a question', '{}', 'postgres', 10, '' from generate_series(1, 3000);
        analyze pgclarify_private.completion, pgclarify_private.run
    """)

    replies = [{"completion_id": completion_id, "reply": "{}"} for completion_id in calls]

    with plans(connection) as seen, connection.transaction():
        connection.execute(
            "select pgclarify_private.store_completions(%s, %s)", [worker.worker_id, json.dumps(replies)]
        )
        read = "select seq_tup_read + idx_tup_fetch from pg_stat_xact_all_tables where relname = 'run'"
        assert scalar(connection, read) <= 10

    assert scalar(connection, "select count(*) from pgclarify_private.completion where reply = '{}'") == 5003
    assert any("using completion_pk on completion" in plan for plan in seen)
    assert not any("Seq Scan on completion" in plan for plan in seen)
