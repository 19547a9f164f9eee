"""Features of psycopg that other tests do not use: prepared statements, binary results, parameters without types."""

from __future__ import annotations

from typing import Any

import psycopg

from tests.openai_server import Server
from tests.workers import scalar

Connection = psycopg.Connection[Any]

CLARIFY = "select * from pgclarify.clarify(%s, top_k => 4) order by ordinal"


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
