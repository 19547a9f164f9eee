"""Features of psycopg that other tests do not use: prepared statements, binary results, parameters without types."""

from __future__ import annotations

import math
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.clients.serving import ClientService
from tests.openai_server import Server
from tests.workers import scalar

Connection = psycopg.Connection[Any]

CLARIFY = "select * from pgclarify.clarify(%s, top_k => 4) order by ordinal"


def test_prepared_and_binary_is_the_same(service: ClientService, model: Server) -> None:
    with psycopg.connect(service.url(), autocommit=True, prepare_threshold=0, row_factory=dict_row) as connection:
        in_text = connection.execute(CLARIFY, ["prepared"]).fetchall()
        in_binary = [connection.execute(CLARIFY, ["prepared"], binary=True).fetchall() for _ in range(6)]
        (prepared,) = connection.execute("select count(*) as statements from pg_prepared_statements").fetchall()

    assert in_text
    assert all(rows == in_text for rows in in_binary)
    assert prepared["statements"] > 0
    first = in_text[0]
    assert isinstance(first["document_ids"], list)
    assert math.isfinite(first["cohesion"])
    assert {citation["document_id"] for citation in first["citations"]} == set(first["document_ids"])


def test_parameters_find_their_function(asker: Connection, model: Server) -> None:
    """psycopg sends strings and null without a type, and a number with the smallest type that holds it."""
    asked = asker.execute(
        "select * from pgclarify.clarify(%(question)s, %(corpus)s, %(top_k)s, %(timeout)s, %(options)s)",
        {"question": "typed", "corpus": None, "top_k": 4, "timeout": "1min", "options": '{"method": "dense"}'},
    )
    assert asked.fetchall()
    run_ids = scalar(
        asker,
        "select pgclarify.submit_many('clarify', %s, options => jsonb_build_object('top_k', 4))",
        ["typed", "numbers"],
    )
    assert len(asker.execute("select * from pgclarify.wait(%s)", [run_ids]).fetchall()) == 2
    assert len(asker.execute("select * from pgclarify.wait(%s)", [[1]]).fetchall()) == 1
