"""Readings that contest each other, by the dates of their documents: with a worker and a model server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.integration.judged_by_amounts import by_amounts, make_corpus
from tests.openai_server import Server
from tests.sessions import Connection, scalar, sqlstate_of

DOCUMENTS: list[dict[str, Any]] = [
    {"id": "2019", "content": "The deductible is $500 for each claim.", "dated": "2019-01-01Z"},
    {"id": "2020", "content": "The deductible is $500 a claim, as ever.", "dated": "2020-01-01Z"},
    {"id": "2026", "content": "The deductible is $700 for any claim.", "dated": "2026-01-01Z"},
    {"id": "undated", "content": "The deductible is $900 for every claim.", "dated": None},
    {"id": "towing", "content": "The towing fee is $90 for a car.", "dated": "2010-01-01Z"},
]


@pytest.fixture
def corpus(superuser: Connection, model: Server) -> Iterator[str]:
    model.behavior = by_amounts
    name = f"deductibles {uuid4()}"
    make_corpus(superuser, name, DOCUMENTS)
    yield name
    superuser.execute("select pgclarify.drop_corpus(%s)", [name])


def ask(asker: Connection, corpus: str, **options: object) -> list[tuple[Any, ...]]:
    return asker.execute(
        "select answer, is_contested, older_hidden, extract(year from dated at time zone 'UTC')::integer, run_id"
        " from pgclarify.clarify('deductible', %s, options => %s)",
        [corpus, json.dumps(options)],
    ).fetchall()


def test_the_newest_comes_first_and_those_without_a_date_last(asker: Connection, corpus: str) -> None:
    # The one with most support would be first.
    assert [row[:4] for row in ask(asker, corpus)] == [
        ("$700", True, None, 2026),
        ("$500", True, None, 2020),
        ("$900", True, None, None),
        ("$90", False, None, 2010),
    ]


def test_older_ones_can_be_hidden_and_are_counted(asker: Connection, corpus: str) -> None:
    found = ask(asker, corpus, prefer="newest")
    assert [row[:4] for row in found] == [
        ("$700", True, 1, 2026),
        ("$900", True, 1, None),
        ("$90", False, 0, 2010),
    ]
    assert any("1 older hidden" in line for (line,) in asker.execute("select pgclarify.explain(%s)", [found[0][4]]))
    again = asker.execute(
        'select answer, older_hidden from pgclarify.consolidate(%s, options => \'{"prefer": "newest"}\')',
        [ask(asker, corpus)[0][4]],
    ).fetchall()
    assert again == [("$700", 1), ("$900", 1), ("$90", 0)]


def test_a_changed_date_counts_for_the_next_question(asker: Connection, superuser: Connection, corpus: str) -> None:
    before = ask(asker, corpus, prefer="newest")
    superuser.execute(
        "select pgclarify.add_document(%s, 'undated', %s, dated => '2027-01-01Z')",
        [corpus, DOCUMENTS[3]["content"]],
    )
    after = ask(asker, corpus, prefer="newest")
    assert after[0][:4] == ("$900", True, 2, 2027)
    assert scalar(asker, "select completions from pgclarify.run where run_id = %s", after[0][4]) == 0
    assert after[0][4] != before[0][4]


def test_another_value_is_refused_and_another_operation_does_not_have_it(asker: Connection, corpus: str) -> None:
    for function, value in (("clarify", "oldest"), ("list_answers", "newest")):
        statement = f"select * from pgclarify.{function}('deductible', %s, options => %s)"  # noqa: S608
        assert sqlstate_of(asker, statement, [corpus, json.dumps({"prefer": value})]) == "22023"
