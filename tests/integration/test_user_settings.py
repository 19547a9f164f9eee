"""Settings that a user may change, in a session or for a role: calls behave as without them."""

from __future__ import annotations

import pytest

from tests.integration.by_hand import Connect, Connection, Hire, MakeRole, state_of
from tests.integration.in_turn import in_turn

TIMED_OUT = "PC002"
LEXICAL = "select document_id from pgclarify.search('cars', 'hers', options => '{\"method\": \"lexical\"}')"
# They change how PostgreSQL reads texts, compares, converts, plans, or checks.
SETTINGS = (
    ("array_nulls", "off"),
    ("bytea_output", "escape"),
    ("DateStyle", "German"),
    ("default_text_search_config", "simple"),
    ("default_transaction_isolation", "serializable"),
    ("default_transaction_read_only", "on"),
    ("enable_indexscan", "off"),
    ("extra_float_digits", "-15"),
    ("from_collapse_limit", "1"),
    ("hnsw.ef_search", "1"),
    ("IntervalStyle", "sql_standard"),
    ("jit_above_cost", "0"),
    ("plan_cache_mode", "force_generic_plan"),
    ("plpgsql.extra_errors", "all"),
    ("quote_all_identifiers", "on"),
    ("row_security", "off"),
    ("search_path", ""),
    ("standard_conforming_strings", "off"),
    ("TimeZone", "Asia/Kolkata"),
    ("transform_null_equals", "on"),
)


@pytest.fixture
def user(connection: Connection, connect: Connect, make_role: MakeRole, hire: Hire) -> str:
    """A role whose corpus is searchable, while a worker is alive that answers nothing."""
    role = make_role("pgclarify_user")
    session = connect(role)
    session.execute("select pgclarify.create_corpus('hers')")
    session.execute("select pgclarify.add_document('hers', '1', 'Cars are insured.')")
    hire().index_everything()
    return role


@in_turn("name, value", SETTINGS)
def test_calls_do_not_depend_on_settings_of_the_session(connect: Connect, user: str, name: str, value: str) -> None:
    session = connect(user)
    session.execute("select set_config(%s, %s, false)", [name, value])

    assert session.execute(LEXICAL).fetchall() == [("1",)]
    # Its request reached the queue through the loopback.
    assert state_of(session, "select * from pgclarify.clarify('cars', 'hers', timeout => '0.1s')") == TIMED_OUT
