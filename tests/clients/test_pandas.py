"""pandas: the types and values that functions and views return, column by column."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
import sqlalchemy as sa

from tests.clients.serving import ClientService
from tests.openai_server import Server


@pytest.fixture(scope="module")
def engine(service: ClientService) -> Iterator[sa.Engine]:
    engine = sa.create_engine(sa.make_url(service.url()).set(drivername="postgresql+psycopg"))
    yield engine
    engine.dispose()


def test_readings(engine: sa.Engine, model: Server) -> None:
    query = sa.text("select * from pgclarify.clarify(:question, top_k => 6) order by ordinal")
    readings = pd.read_sql(query, engine, params={"question": "pandas"})

    assert len(readings) > 0
    assert readings.dtypes[["run_id", "ordinal", "support"]].map(pd.api.types.is_integer_dtype).all()
    assert pd.api.types.is_float_dtype(readings.dtypes["cohesion"])
    assert readings["document_ids"].map(type).eq(list).all()
    assert readings["citations"].map(lambda citations: citations[0]["quote"]).str.len().gt(0).all()
    exploded = readings.explode("document_ids")
    assert exploded["document_ids"].astype("int64").isin(range(101, 113)).all()


def test_runs(engine: sa.Engine, model: Server) -> None:
    with engine.connect() as connection:
        connection.execute(sa.text("select * from pgclarify.clarify('when', top_k => 4)"))
        runs = pd.read_sql(
            sa.text("select * from pgclarify.run where question = 'when'"), connection, index_col="run_id"
        )
        corpora = pd.read_sql_table("corpus", connection, schema="pgclarify")

    for name in ("created_at", "started_at", "finished_at"):
        assert str(runs.dtypes[name].tz) == "UTC"
    assert (runs["finished_at"] - runs["created_at"]).dt.total_seconds().gt(0).all()
    assert pd.api.types.is_integer_dtype(runs.dtypes["completions"])
    assert list(corpora["pending"]) == [0]
