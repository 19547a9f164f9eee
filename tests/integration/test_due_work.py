"""The list of due work that a worker gets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pgclarify.worker import serving
from tests.integration.by_hand import Connection, HandWorker, Hire, scalar

pytestmark = pytest.mark.rolled_back


def due(worker: HandWorker) -> set[str]:
    return set(worker.value("due_work"))


def test_nothing_where_there_is_nothing(hire: Hire) -> None:
    assert due(hire()) == set()


def test_documents_until_they_are_indexed_and_counted(connection: Connection, hire: Hire) -> None:
    worker = hire()
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


def test_only_readers_with_new_rows_are_merged(connection: Connection, hire: Hire) -> None:
    worker = hire()
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


def test_terms_of_corpora_are_counted_in_the_order_of_their_numbers(connection: Connection, hire: Hire) -> None:
    """Otherwise two workers would deadlock."""
    worker = hire()
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


def test_attached_tables(connection: Connection, hire: Hire) -> None:
    worker = hire()
    connection.execute("create table public.article (id bigint primary key, body text)")
    connection.execute("select pgclarify.create_corpus('shop')")
    connection.execute("select pgclarify.attach_table('shop', 'public.article', 'id', 'body')")
    assert due(worker) == {"spaces", "source_changes", "source_inspection"}

    worker.follow_everything()
    assert due(worker) == {"spaces", "source_inspection"}

    connection.execute("insert into public.article values (1, 'A lock costs 20 euros.')")
    assert due(worker) == {"spaces", "source_changes", "source_inspection"}


def test_another_embedding_model(connection: Connection, hire: Hire) -> None:
    worker = hire()
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


def test_work_is_due_for_each_state_of_a_run(connection: Connection, hire: Hire) -> None:
    worker = hire()
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
