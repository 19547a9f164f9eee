"""Unknown options: the errors for a parameter among the options, and for a misspelt name."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.integration.in_turn import in_turn

pytestmark = pytest.mark.rolled_back

INVALID_PARAMETER = "22023"


@pytest.fixture(autouse=True)
def corpus(connection: Connection) -> None:
    """A call without a corpus name then means this one."""
    connection.execute("select pgclarify.create_corpus('a')")


def refused(connection: Connection, statement: str) -> psycopg.errors.Diagnostic:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        connection.execute(statement.encode())
    return caught.value.diag


@in_turn(
    "call, parameter",
    [
        ("clarify('q', options => %s)", "top_k"),
        ("clarify('q', options => %s)", "timeout"),
        ("clarify_many(array['q'], options => %s)", "top_k"),
        ("estimate(array['q'], options => %s)", "top_k"),
        ("search('q', options => %s)", "top_k"),
        ("investigate('q', options => %s)", "corpus"),
        ("list_answers('q', options => %s)", "corpus"),
        ("detect_ambiguity('q', options => %s)", "history"),
        ("rewrite('q', options => %s)", "history"),
        ("clarifying_questions('q', options => %s)", "history"),
        ("create_corpus('b', options => %s)", "embedding_model"),
        ("alter_corpus('a', options => %s)", "name"),
        ("set_budget('b', 'a', options => %s)", "corpus"),
        ("explain(1, options => %s)", "run_id"),
    ],
)
def test_a_parameter_among_options_is_named(connection: Connection, call: str, parameter: str) -> None:
    options = f"""'{{"{parameter}": 5}}'"""
    told = refused(connection, f"select pgclarify.{call.replace('%s', options)}")
    assert told.sqlstate == INVALID_PARAMETER
    assert f"pass {parameter} =>" in str(told.message_hint)


def test_the_likest_option_is_named(connection: Connection) -> None:
    misspelt = refused(connection, """select pgclarify.clarify('q', options => '{"retreival": "adaptive"}')""")
    assert '"retrieval"' in str(misspelt.message_hint)
    other = refused(connection, """select pgclarify.clarify('q', options => '{"zzz": 1}')""")
    assert '"' not in str(other.message_hint)


def test_options_in_the_place_of_another_parameter_are_recognized(connection: Connection) -> None:
    for call in ("create_corpus('b', %s)", "submit('clarify', 'q', %s)", "set_budget('b', %s)"):
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(f"select pgclarify.{call}".encode(), ['{"x": 1}'])
        assert "options =>" in str(caught.value.diag.message_hint)


@in_turn(
    "call, option",
    [
        ("clarify('q', options => %s)", "reranker"),
        ("search('q', options => %s)", "reranker"),
        ("list_answers('q', options => %s)", "reranker"),
        ("investigate('q', options => %s)", "reranker"),
        ("investigate('q', options => %s)", "entailment"),
    ],
)
def test_no_model_is_called_as_the_extractive_provider(connection: Connection, call: str, option: str) -> None:
    # Calls under this name would be free, and no budget would stop them.
    for name in ("extractive", "extractive-1", " extractive-12 "):
        options = f"""'{{"{option}": "endpoint:{name}"}}'"""
        assert refused(connection, f"select pgclarify.{call.replace('%s', options)}").column_name == option


def test_a_timeout_is_positive(connection: Connection) -> None:
    for timeout in ("0s", "-1s"):
        assert refused(connection, f"select pgclarify.wait('{{}}', '{timeout}')").column_name == "timeout"
