"""Shared by tests of edited documents: some paragraphs, and their rows in a database."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.manual_worker import MAKE_OPEN_CORPUS, MakeWorker, ManualWorker
from tests.sessions import Connection, scalar

ADD = "select pgclarify.add_document('insurance', %s, %s, title => %s, readers => %s::name[])"
CARS, TRUCKS, VANS, BOATS = (
    "Cars are insured for a year.",
    "Trucks are insured for a month.",
    "Vans are insured for a week.",
    "Boats are not insured at all.",
)
Row = tuple[Any, ...]


@pytest.fixture
def worker(connection: Connection, make_worker: MakeWorker) -> ManualWorker:
    """A worker, and corpus "insurance", open for documents."""
    connection.execute(MAKE_OPEN_CORPUS, ["insurance"])
    worker = make_worker()
    worker.open_spaces()
    return worker


def add(
    connection: Connection,
    *contents: str,
    document_id: str = "1",
    title: str | None = None,
    readers: list[str] | None = None,
) -> None:
    scalar(connection, ADD, document_id, "\n\n".join(contents), title, readers)


def rows(connection: Connection, query: str, *parameters: Any) -> list[Row]:
    return connection.execute(query.encode(), parameters).fetchall()


def passages(connection: Connection) -> dict[str, Row]:
    """By content, in order: id, version of the row, version of the vector."""
    return {
        content: tuple(row)
        for content, *row in rows(
            connection,
            "select p.content, p.id, p.xmin::text, e.xmin::text from pgclarify_private.passage as p"
            " join pgclarify_private.passage_embedding as e on (e.document_id, e.passage_id) = (p.document_id, p.id)"
            " order by p.document_id, p.ordinal",
        )
    }


def revision(connection: Connection) -> int:
    return int(scalar(connection, "select revision from pgclarify.corpus where corpus = 'insurance'"))


def link_everything(connection: Connection) -> None:
    """Give each pending passage a neighborhood of all others of its space, as a worker does."""
    connection.execute(
        """
        with taken as (
            delete from pgclarify_private.pending_link returning embedding_space_id, document_id, passage_id
        ),
        linked as (
            insert into pgclarify_private.neighborhood
            select taken.embedding_space_id, taken.document_id, taken.passage_id, array_agg(e.document_id),
                array_agg(e.passage_id), array_agg(0.5::real)
            from taken
            join pgclarify_private.passage_embedding as e
                on e.embedding_space_id = taken.embedding_space_id and e.passage_id <> taken.passage_id
            group by 1, 2, 3
            returning embedding_space_id
        )
        insert into pgclarify_private.corpus_tally (corpus_id, linked)
        select space.corpus_id, count(*) from linked
        join pgclarify_private.embedding_space as space using (embedding_space_id)
        group by 1
        """
    )
    connection.execute("delete from pgclarify_private.pending_unlink")


def waiting(connection: Connection, table: str) -> list[int]:
    """Passages in pending_link, pending_unlink or pending_passage."""
    return [row[0] for row in rows(connection, f"select passage_id from pgclarify_private.{table} order by 1")]  # noqa: S608
