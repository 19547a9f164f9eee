"""SQLAlchemy 2: functions as tables, named parameters, reflection, errors."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from pgclarify import tables
from tests.clients.serving import CORPUS, ClientService
from tests.openai_server import Server
from tests.workers import DOCUMENTS

ARTICLE = sa.table("article", sa.column("id", sa.BigInteger), sa.column("title", sa.Text))


@pytest.fixture(scope="module")
def url(service: ClientService) -> sa.URL:
    """An engine on psycopg 3 and the Unix socket, as a role that may ask."""
    return sa.make_url(service.dsn).set(drivername="postgresql+psycopg", username=service.asker)


@pytest.fixture(scope="module")
def engine(url: sa.URL) -> Iterator[sa.Engine]:
    engine = sa.create_engine(url)
    yield engine
    engine.dispose()


def clarify(question: str, **parameters: Any) -> sa.TableValuedAlias:
    """The call as a table, with parameters by name."""
    named = (sa.literal_column(name).op("=>")(value) for name, value in parameters.items())
    return sa.func.pgclarify.clarify(question, *named).table_valued(
        sa.column("run_id", sa.BigInteger),
        sa.column("ordinal", sa.Integer),
        sa.column("answer", sa.Text),
        sa.column("document_ids", postgresql.ARRAY(sa.Text)),
        sa.column("citations", postgresql.JSONB),
        name="reading",
    )


def test_readings_join_a_table_of_ones_own(engine: sa.Engine, model: Server) -> None:
    reading = clarify("alchemy", corpus=CORPUS, top_k=6, timeout=timedelta(minutes=1))
    document_ids = sa.cast(reading.c.document_ids, postgresql.ARRAY(sa.BigInteger))
    query = (
        sa.select(reading.c.ordinal, reading.c.document_ids, reading.c.citations, ARTICLE.c.id, ARTICLE.c.title)
        .join_from(reading, ARTICLE, ARTICLE.c.id == sa.any_(document_ids))
        .order_by(reading.c.ordinal)
    )
    with engine.connect() as connection:
        rows = connection.execute(query).all()

    assert rows
    for row in rows:
        assert str(row.id) in row.document_ids
        assert row.title == DOCUMENTS[row.id][0]
        assert row.citations[0]["document_id"] == row.document_ids[0]


def test_parameters_in_order_and_in_text(engine: sa.Engine, model: Server) -> None:
    in_order = sa.func.pgclarify.clarify("ways", CORPUS, 4).table_valued("ordinal", "answer", "citations")
    by_name = clarify("ways", top_k=4, options=sa.cast({"method": "hybrid"}, postgresql.JSONB))
    in_text = sa.text(
        "select ordinal, answer, citations from pgclarify.clarify(:question, top_k => :top_k, options => :options)"
    ).bindparams(sa.bindparam("options", type_=postgresql.JSONB))

    with engine.connect() as connection:
        asked = connection.execute(sa.select(in_order)).all()
        assert asked
        named = connection.execute(sa.select(by_name.c.ordinal, by_name.c.answer, by_name.c.citations))
        assert named.all() == asked
        bound = connection.execute(in_text, {"question": "ways", "top_k": 4, "options": {"method": "hybrid"}})
        assert bound.all() == asked


def test_views_are_reflected_with_comments_and_types(engine: sa.Engine) -> None:
    """SQLAlchemy warns of a type that it does not know, and a warning is an error here."""
    with engine.connect() as connection:
        views = [name for name in sa.inspect(connection).get_view_names("pgclarify") if not name.startswith("_")]
        metadata = sa.MetaData()
        metadata.reflect(connection, schema="pgclarify", views=True, only=views)
        reflected = [metadata.tables[f"pgclarify.{name}"] for name in views]
        for view in reflected:
            assert view.comment, view
            assert [column.name for column in view.c if not column.comment] == []
            connection.execute(sa.select(view).limit(1)).all()
    assert {"run", "citation", "corpus"} <= set(views)


def test_views_join_without_a_condition(engine: sa.Engine, model: Server) -> None:
    reading = clarify("joined", top_k=4)
    query = (
        sa.select(tables.run.c.question, tables.interpretation.c.answer, tables.citation.c.quote)
        .join_from(tables.run, tables.interpretation)
        .join(tables.citation)
        .order_by(tables.interpretation.c.ordinal, tables.citation.c.rank)
    )
    with engine.connect() as connection:
        (asked,) = connection.execute(sa.select(reading.c.run_id).distinct()).scalars()
        connection.commit()
        found = connection.execute(query.where(tables.run.c.run_id == asked)).all()
        expected = connection.execute(
            sa.text(
                "select question, answer, quote from pgclarify.citation where run_id = :run_id order by ordinal, rank"
            ),
            {"run_id": asked},
        ).all()

    assert found
    assert found == expected
