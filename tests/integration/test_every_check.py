"""What no row of our tables may be: each line breaks one CHECK of a table, in a row that is else whole."""

from __future__ import annotations

import psycopg
import pytest

from tests.integration.by_hand import Connection
from tests.integration.made_rows import insert

pytestmark = pytest.mark.rolled_back

CHECKS = """
    select c.conname
    from pg_constraint as c
    join pg_class as r on r.oid = c.conrelid
    where c.contype = 'c' and r.relnamespace = 'pgclarify_private'::regnamespace and not r.relispartition
"""
# Values of columns, separated by semicolons, by table.
BROKEN = {
    "ambiguity_rule": ("corpus_id = null", "kind = 'unkind'", "note = ''", "pattern = ''", "pattern = 'it|'"),
    "applied_sql": ("is_only = false",),
    "batch": ("leased_by = 1", "leased_until = now()"),
    "batch_request": ("reserved_usd = 1", "is_over = true; request = '{}'"),
    "budget": (
        *("max_calls = null", "max_calls = -1", "max_cost_usd = -1", "max_cost_usd = 'Infinity'", "name = ''"),
        "period = 'week'",
    ),
    "budget_counter": ("calls = -1", "cost_usd = -1", "cost_usd = 'NaN'"),
    "caller_key": ("is_only = false", "inner_pad = 'short'", "outer_pad = 'short'"),
    "candidate": ("batch = 0", "origin = 'hearsay'", "rank = 0", "step_ordinal = 0"),
    "citation": ("ordinal = 0", "rank = 0"),
    "citation_tally": ("citations = 0", "runs = 0"),
    "clarifying_question": ("ambiguity_type = 'other'", "clarifying_question = null", "ordinal = 0"),
    "completion": (
        *("cost_usd = 1", "reply = 'Yes.'", "finished_at = now()", "erased_at = now(); reply = 'Yes.'"),
        *("input_hash = 'short'", "leased_by = 1", "leased_until = now()", "sample = -1", "reserved_usd = 1"),
        *("budget_ids = '{1}'; reserved_usd = 1; reserved_at = now()", "sent_at = now()", "reserved_at = now()"),
    ),
    "corpus": ("graph_degree = 0", "name = ''", "name = repeat('x', 201)"),
    "detection": ("kind = null", "kind = 'unkind'", "ordinal = 0", "probability = 1.1", "reasons = '{}'"),
    "document": (
        *("id = ''", "id = repeat('x', 1001)", "id = repeat('あ', 900)", "metadata = '[]'"),
        "origin = repeat('x', 2601)",
    ),
    "embedding_space": (
        *("state = 'active'; dimensions = null", "queued_passage_id = 1", "dimensions = 4001", "state = 'old'"),
        *("linking_document_id = '1'", "linking_worker_id = 1", "retired_at = now()", "state = 'retired'"),
    ),
    "embedding_usage": ("cost_usd = -1", "texts = -1", "tokens = -1", "operation = 'clarify'", "unpriced_tokens = 3"),
    "estimate": (
        *("answered = -1", "calls = -1", "calls = 1", "completion_tokens = -1", "cost_usd = -1"),
        *("distinct_questions = 2", "prompt_tokens = -1", "questions = 0", "reused_calls = -1", "sampled = 2"),
    ),
    "eval_case": (
        *("error = 'No.'", "status = 'failed'", "figures = '[]'", "gold = '[]'", "ordinal = 0", "output = '[]'"),
        "status = 'running'",
    ),
    "eval_run": (
        *("conditions = '[]'", "data_set_hash = 'short'", "figures = '[]'; finished_at = now()", "figures = '{}'"),
        *("finished_at = now()", "name = ''", "planned_cases = 0", "settings = '[]'"),
    ),
    "interpretation": ("support = 0", "ordinal = 0"),
    "listed_answer": ("answer = ' '; variants = array[' ']", "ordinal = 0", "variants = '{another}'"),
    "loopback": ("is_only = false", "port = 0"),
    "model_price": (
        *("cached_input_usd = 1", "input_usd = -1", "model = ''", "output_usd = -1", "output_usd = 'Infinity'"),
    ),
    "neighborhood": ("neighbor_ids = '{1}'", "similarities = '{1}'"),
    "passage": ("start_char = -1", "end_char = 0", "ordinal = 0"),
    "pending_document": ("passages = 0", "leased_by = 1", "leased_until = now()"),
    "pending_passage": ("leased_by = 1", "leased_until = now()"),
    "question_group": ("embedding_model = 'm'",),
    "question_wording": ("wording_hash = 'short'",),
    "unanswered_call": ("cost_usd = -1", "budget_ids = '{1}'", "counted_at = now()"),
    "run": (
        *("candidates = -1", "crashes = -1", "interpretations = -1", "verdicts = -1"),
        *("status = 'partial'; finished_at = now(); error_code = 'pc001'", "error_code = 'PC001'", "error = 'No.'"),
        "status = 'failed'; finished_at = now(); error = 'No.'",
        *("status = 'failed'; finished_at = now()", "finished_at = now()", "status = 'cancelled'"),
        *("corpus_name = null", "corpus_name = null; corpus_id = null", "settings = '[]'"),
        *("operation = 'guess'", "route = 'lost'", "status = 'running'", "served = 1", "last_served_at = now()"),
        *("served = -1", "status = 'lost'", "status = 'partial'; finished_at = now(); stop_code = 'lost'"),
        "stop_code = 'threshold'",
    ),
    "source": ("state = 'failed'", "load_phase = 'none'", "state = 'lost'"),
    "stage": (
        *("batch = 0", "calls = -1", "completion_tokens = -1", "duration_ms = -1", "model_ms = -1", "name = 'pause'"),
        *("ordinal = 0", "prompt_tokens = -1", "reused_calls = -1", "reused_completion_tokens = -1"),
        *("reused_prompt_tokens = -1", "rows = -1", "step_ordinal = 0"),
    ),
    "step": (
        *(
            "abstention_code = 'threshold'; outcome = 'not_in_corpus'",
            "abstention_code = 'unproven'",
            "kind = 'unkind'",
        ),
        *("answer = 'Yes'; outcome = 'answered'", "outcome = 'answered'", "answer = 'Yes'; confidence = 1"),
        *("answer = ' '; confidence = 1; outcome = 'answered'", "confidence = 1", "ordinal = 0", "semantic_sets = 0"),
        *("answer = 'Yes'; confidence = 0; outcome = 'answered'", "outcome = 'lost'"),
    ),
    "trained_classifier": (
        *("examples = 0", "figures = '[]'", "judges_questions = false; judges_conversations = false"),
        *("shipped_version = ''", "threshold = 1.1", "version = 0", "weights = '{NaN}'", "weights = '{}'"),
    ),
    "verdict": (
        *("abstention_code = 'threshold'", "outcome = 'abstained'", "outcome = 'lost'", "error_code = 'XX000'"),
        *("outcome = 'abstained'; abstention_code = 'lost'", "error = 'No.'", "outcome = 'grounded'"),
        *("outcome = 'failed'; error = 'No.'", "outcome = 'failed'; error_code = 'XX000'"),
        "outcome = 'failed'; error = 'No.'; error_code = '23514'",
    ),
    "worker": ("lease = '0'",),
}


@pytest.fixture
def partitioned(connection: Connection) -> Connection:
    """A connection to a database with a partition for every row."""
    for table in ("passage", "neighborhood"):
        connection.execute(f"create table {table}_of_all partition of pgclarify_private.{table} default".encode())
    return connection


def test_a_row_that_breaks_an_invariant_is_refused(partitioned: Connection) -> None:
    refused, accepted = set(), []
    for table, broken in BROKEN.items():
        for values in broken:
            given = dict(value.split(" = ", 1) for value in values.split("; "))
            try:
                insert(partitioned, table, 2, given)
                accepted.append((table, values))
            except psycopg.errors.CheckViolation as error:
                refused.add(error.diag.constraint_name)

    assert accepted == []
    assert refused == {name for (name,) in partitioned.execute(CHECKS)}


def test_the_other_values_of_those_rows_are_accepted(partitioned: Connection) -> None:
    for table in BROKEN.keys() - {"applied_sql", "caller_key", "loopback"}:
        insert(partitioned, table, 1)
