"""Due work: the list that a worker gets, the counts that its metrics show, and which run it takes first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from pgclarify.worker import serving
from tests.integration.manual_worker import MakeWorker, ManualWorker
from tests.sessions import Connection, scalar

pytestmark = pytest.mark.rolled_back


def due(worker: ManualWorker) -> set[str]:
    return set(worker.value("due_work"))


def test_nothing_where_there_is_nothing(make_worker: MakeWorker) -> None:
    assert due(make_worker()) == set()


def test_documents_until_they_are_indexed_and_counted(connection: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    connection.execute("select pgclarify.create_corpus('insurance')")
    assert due(worker) == {"spaces"}

    connection.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
    assert due(worker) >= {"spaces", "documents"}

    worker.index_everything()
    assert due(worker) >= {"graph", "tallies"}
    while worker.value("link_passages", max_passages=10):
        pass
    worker.send("fold_tallies")
    assert due(worker) == set()

    connection.execute("select pgclarify.remove_document('insurance', '1')")
    assert due(worker) == {"terms", "tallies", "graph"}


def test_only_readers_with_new_rows_are_merged(connection: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    connection.execute("select pgclarify.create_corpus('insurance')")
    change = """
        select pgclarify_private.count_reader_changes(corpus_id, array(select 'r' || unnest(%s::text[])::name), 1, 2)
        from pgclarify.corpus
    """
    rows = """
        select reader, (array_agg(corpus_tally_id), sum(revision), sum(graph_revision))::text
        from pgclarify_private.corpus_tally where reader <> '' group by reader
    """
    connection.execute(change, [[str(number) for number in range(100)]])
    assert "tallies" in due(worker)
    worker.send("fold_tallies")
    assert "tallies" not in due(worker)
    before = dict(connection.execute(rows).fetchall())
    assert len(before) == 100

    connection.execute(change, [["7", "new"]])
    assert "tallies" in due(worker)
    worker.send("fold_tallies")

    assert "tallies" not in due(worker)
    after = dict(connection.execute(rows).fetchall())
    assert {reader for reader, row in after.items() if row != before.get(reader)} == {"r7", "rnew"}
    merged = (
        "select count(*), sum(revision), sum(graph_revision) from pgclarify_private.corpus_tally where reader <> ''"
    )
    assert connection.execute(merged + " and reader = 'r7'").fetchone() == (1, 2, 4)
    assert connection.execute(merged).fetchone() == (101, 102, 204)


def test_terms_of_corpora_are_counted_in_the_order_of_their_numbers(
    connection: Connection, make_worker: MakeWorker
) -> None:
    """Otherwise two workers would deadlock."""
    worker = make_worker()
    for name in ("insurance", "other"):
        connection.execute("select pgclarify.create_corpus(%s)", [name])
    # Its row is now behind that of the other corpus.
    connection.execute("update pgclarify_private.corpus set graph_degree = graph_degree + 1 where name = 'insurance'")
    # As many as one call applies, and one more.
    connection.execute("""
        insert into pgclarify_private.term_change (corpus_id, lexeme, passages, restricted_passages)
        select corpus_id, 'car', 1, 0
        from pgclarify_private.corpus
        inner join generate_series(1, 10000) as number on name = 'insurance' or number = 1
    """)

    worker.send("apply_term_changes")

    left = "select name from pgclarify_private.term_change inner join pgclarify_private.corpus using (corpus_id)"
    assert [name for (name,) in connection.execute(left)] == ["other"]


def test_attached_tables(connection: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    connection.execute("create table public.article (id bigint primary key, body text)")
    connection.execute("select pgclarify.create_corpus('shop')")
    connection.execute("select pgclarify.attach_table('shop', 'public.article', 'id', 'body')")
    assert due(worker) == {"spaces", "source_changes", "source_inspection"}

    worker.follow_everything()
    assert due(worker) == {"spaces", "source_inspection"}

    connection.execute("insert into public.article values (1, 'A lock costs 20 euros.')")
    assert due(worker) == {"spaces", "source_changes", "source_inspection"}


def test_another_embedding_model(connection: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    connection.execute("select pgclarify.create_corpus('insurance')")
    worker.open_spaces()
    assert due(worker) == set()

    connection.execute(
        "select pgclarify_private.set_embedding_model(caller, 'insurance', 'another-model') from pgclarify_private.caller"  # noqa: E501
    )
    assert due(worker) == {"spaces"}
    worker.open_spaces()
    assert due(worker) == {"space_steps"}
    worker.advance_spaces()
    assert "passages" in due(worker)


def test_work_is_due_for_each_state_of_a_run(connection: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    connection.execute("select pgclarify.create_corpus('insurance')")
    worker.open_spaces()
    run_id = scalar(connection, "select pgclarify.submit('clarify', 'cars', 'insurance')")
    assert due(worker) == {"runs"}
    connection.execute("update pgclarify_private.run set due_at = now() + interval '1 minute'")
    assert due(worker) == set(), "it was put back, and is not due yet"
    worker.start(run_id)
    assert due(worker) == {"lost_runs"}, "its worker may be dead"

    worker.finish(run_id)
    assert due(worker) == {"question_groups"}

    connection.execute("select pgclarify.submit('clarify', 'cars', 'insurance')")
    assert due(worker) == {"question_groups", "served_answers"}, "no run is due"


def test_serving_knows_every_name() -> None:
    function = Path(__file__).parents[2] / "sql" / "workers" / "due_work.sql"
    named = set(re.findall(r"then '(\w+)' end", function.read_text()))

    assert named == set(re.findall(r'^            "(\w+)": \(', Path(serving.__file__).read_text(), re.MULTILINE))


def counts(worker: ManualWorker) -> dict[str, Any]:
    (row,) = worker.send("work_counts")
    return row


def take(worker: ManualWorker, *, only_waited_for: bool = False) -> int | None:
    """Take a run as the queue does; its id."""
    taken = worker.send("take_run", worker_id=worker.worker_id, only_waited_for=only_waited_for)
    return taken[0]["run_id"] if taken else None


def enter(connection: Connection, *questions: str, waits: bool = False) -> list[int]:
    """Enter runs as a call that waits does, or one that submits."""
    entered: list[int] = scalar(
        connection,
        """
        select pgclarify_private.enter_runs(
            current_user, null, array[current_user], 'clarify', corpus_id, %s, '{"top_k": 20}', null,
            case when %s then gen_random_uuid() end
        )
        from pgclarify.corpus
        """,
        list(questions),
        waits,
    )
    return entered


@pytest.fixture
def corpus(connection: Connection) -> Connection:
    connection.execute("select pgclarify.create_corpus('insurance')")
    return connection


def test_nothing_waits_in_a_new_database(connection: Connection, make_worker: MakeWorker) -> None:
    assert {name: count for name, count in counts(make_worker()).items() if count} == {"living_workers": 1}


def test_runs_that_wait_by_who_waits_for_them(corpus: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    enter(corpus, "one", "two", "three")
    (asked,) = enter(corpus, "a person's", waits=True)
    corpus.execute(
        "update pgclarify_private.run set created_at = created_at - interval '1 hour' where run_id < %s", [asked]
    )

    waiting = counts(worker)
    assert (waiting["jobs_waited_for"], waiting["jobs_in_background"], waiting["jobs_delayed"]) == (1, 3, 0)
    assert waiting["oldest_in_background_seconds"] >= 3600
    assert 0 < waiting["oldest_waited_for_seconds"] < 3600

    assert take(worker) == asked
    waiting = counts(worker)
    assert (waiting["jobs_waited_for"], waiting["oldest_waited_for_seconds"]) == (0, 0)


def test_runs_that_were_put_back_for_a_while(corpus: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    enter(corpus, "one")
    corpus.execute("update pgclarify_private.run set due_at = now() + interval '1 minute'")
    waiting = counts(worker)
    assert (waiting["jobs_in_background"], waiting["jobs_delayed"]) == (0, 1)
    # A run that is put back again and again must not look young.
    assert waiting["oldest_in_background_seconds"] > 0
    assert take(worker) is None


def test_documents_until_they_are_searchable_and_linked(corpus: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    corpus.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
    corpus.execute("update pgclarify_private.pending_document set added_at = added_at - interval '1 hour'")
    pending = counts(worker)
    assert (pending["documents_pending"], pending["passages_pending"], pending["passages_unlinked"]) == (1, 1, 0)
    assert pending["ingest_lag_seconds"] >= 3600

    worker.index_everything()
    indexed = counts(worker)
    assert (indexed["documents_pending"], indexed["ingest_lag_seconds"], indexed["passages_unlinked"]) == (0, 0, 1)
    while worker.value("link_passages", max_passages=10):
        pass
    assert counts(worker)["passages_unlinked"] == 0


def test_a_change_of_an_attached_table_waits_before_it_is_a_document(
    corpus: Connection, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    corpus.execute("create table article (id integer primary key, body text)")
    corpus.execute("select pgclarify.attach_table('insurance', 'article', 'id', 'body')")
    worker.follow_everything()
    assert counts(worker)["ingest_lag_seconds"] == 0
    corpus.execute("insert into article values (1, 'Cars are insured.')")
    corpus.execute("update pgclarify_private.change set changed_at = changed_at - interval '1 hour'")
    assert counts(worker)["ingest_lag_seconds"] >= 3600


def test_passages_of_a_distributed_corpus_are_not_unlinked(corpus: Connection, make_worker: MakeWorker) -> None:
    worker = make_worker()
    corpus.execute("select pgclarify.add_document('insurance', '1', 'Cars are insured.')")
    worker.index_everything()
    assert counts(worker)["passages_unlinked"] == 1
    # A distributed corpus needs a cluster of servers.
    corpus.execute("""
        create or replace function pgclarify_private.is_distributed(corpus_id bigint) returns boolean
        language sql stable security definer set search_path = pg_catalog, pg_temp
        return true
    """)
    assert counts(worker)["passages_unlinked"] == 0


def test_counts_have_no_name_and_no_text_of_a_user(corpus: Connection, make_worker: MakeWorker) -> None:
    enter(corpus, "a secret question", waits=True)
    assert all(isinstance(count, int | float) for count in counts(make_worker()).values())


def test_waiting_callers_go_before_submitted_runs_and_both_before_a_batch(
    corpus: Connection, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    batch = enter(corpus, "one", "two")
    (submitted,) = enter(corpus, "submitted")
    (waited_for,) = enter(corpus, "waited for", waits=True)
    assert [take(worker) for _ in range(5)] == [waited_for, submitted, *batch, None]


def test_a_run_of_many_questions_is_a_batch_also_while_a_caller_waits(
    corpus: Connection, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    runs = {
        questions: scalar(
            corpus,
            """
            select pgclarify_private.enter_runs(
                current_user, null, array[current_user], 'detect_ambiguity', null, array[%s], '{"questions": 0}', null,
                gen_random_uuid()
            )
            """,
            questions,
        )[0]
        for questions in ('["What is a hot dog?", "Who is Bill?"]', '["Who is Bill?"]')
    }
    (submitted,) = enter(corpus, "submitted")
    many, one = runs.values()
    assert [take(worker) for _ in range(3)] == [one, submitted, many]


def test_a_worker_whose_hands_are_full_of_a_batch_takes_only_what_is_waited_for(
    corpus: Connection, make_worker: MakeWorker
) -> None:
    worker = make_worker()
    enter(corpus, "one", "two")
    enter(corpus, "submitted")
    (waited_for,) = enter(corpus, "waited for", waits=True)
    assert [take(worker, only_waited_for=True) for _ in range(2)] == [waited_for, None]


@pytest.mark.parametrize("only_waited_for", [False, True])
def test_taking_a_run_reads_no_other_however_many_there_are(
    corpus: Connection, make_worker: MakeWorker, only_waited_for: bool
) -> None:
    worker = make_worker()
    # The first plan is made for an empty table, and is kept.
    for _ in range(7):
        assert take(worker, only_waited_for=only_waited_for) is None
    questions = "array(select 'q ' || number from generate_series(1, 2000) as number)"
    corpus.execute(f"select pgclarify.submit_many('clarify', {questions})".encode())
    corpus.execute("update pgclarify_private.run set status = 'cancelled', finished_at = now() where run_id % 2 = 0")
    (submitted,) = enter(corpus, "submitted", waits=True)
    for with_statistics in (False, True):
        if with_statistics:
            corpus.execute("analyze pgclarify_private.run")
        before = rows_read(corpus)
        taken = take(worker, only_waited_for=only_waited_for)
        assert rows_read(corpus) - before <= 10, "the run, and its changed rows"
        assert (taken == submitted) is not with_statistics


def rows_read(connection: Connection) -> int:
    """How many rows of runs this transaction has read."""
    return int(
        scalar(
            connection,
            "select seq_tup_read + idx_tup_fetch from pg_stat_xact_user_tables"
            " where relid = 'pgclarify_private.run'::regclass",
        )
    )
