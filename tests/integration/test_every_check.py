"""Each CHECK of our tables refuses a row that breaks it, and only because of that."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from pgclarify.declared.words import COLUMNS
from pgclarify.errors import VERDICT_CODES
from tests.integration.valid_rows import insert_valid_row
from tests.sessions import Connection

pytestmark = pytest.mark.rolled_back

ALL_CHECKS = """
    select c.conname
    from pg_constraint as c
    join pg_class as r on r.oid = c.conrelid
    where c.contype = 'c' and r.relnamespace = 'pgclarify_private'::regnamespace and not r.relispartition
"""
# A line for each broken row: its table, and the columns that make it break a CHECK. Its other columns are valid.
BROKEN_ROWS = """
ambiguity_rule: corpus_id = null
ambiguity_rule: kind = 'unkind'
ambiguity_rule: note = ''
ambiguity_rule: pattern = ''
ambiguity_rule: pattern = 'it|'
applied_sql: is_only = false
batch: leased_by = 1
batch: leased_until = now()
batch_request: reserved_usd = 1
batch_request: is_over = true; request = '{}'
budget: max_calls = null
budget: max_calls = -1
budget: max_cost_usd = -1
budget: max_cost_usd = 'Infinity'
budget: name = ''
budget: period = 'week'
budget_counter: calls = -1
budget_counter: cost_usd = -1
budget_counter: cost_usd = 'NaN'
caller_key: is_only = false
caller_key: inner_pad = 'short'
caller_key: outer_pad = 'short'
candidate: batch = 0
candidate: copy_of = 1
candidate: origin = 'hearsay'
candidate: rank = 0
candidate: step_ordinal = 0
citation: ordinal = 0
citation: rank = 0
citation_tally: citations = 0
citation_tally: runs = 0
clarifying_question: ambiguity_type = 'other'
clarifying_question: clarifying_question = null
clarifying_question: ordinal = 0
completion: cost_usd = 1
completion: reply = 'Yes.'
completion: finished_at = now()
completion: erased_at = now(); reply = 'Yes.'
completion: input_hash = 'short'
completion: leased_by = 1
completion: leased_until = now()
completion: sample = -1
completion: reserved_usd = 1
completion: budget_ids = '{1}'; reserved_usd = 1; reserved_at = now()
completion: sent_at = now()
completion: reserved_at = now()
corpus: graph_degree = 0
corpus: passages_per_call = 0
corpus: name = ''
corpus: name = repeat('x', 201)
detection: kind = null
detection: kind = 'unkind'
detection: ordinal = 0
detection: probability = 1.1
detection: reasons = '{}'
document: dated = 'infinity'
document: id = ''
document: id = repeat('x', 1001)
document: id = repeat('あ', 900)
document: metadata = '[]'
document: origin = repeat('x', 2601)
document: places = '{}'
document: unread = '[]'
embedding_space: state = 'active'; dimensions = null
embedding_space: queued_passage_id = 1
embedding_space: dimensions = 4001
embedding_space: state = 'old'
embedding_space: linking_document_id = '1'
embedding_space: linking_worker_id = 1
embedding_space: retired_at = now()
embedding_space: state = 'retired'
embedding_usage: cost_usd = -1
embedding_usage: texts = -1
embedding_usage: tokens = -1
embedding_usage: operation = 'clarify'
embedding_usage: unpriced_tokens = 3
estimate: answered = -1
estimate: calls = -1
estimate: calls = 1
estimate: completion_tokens = -1
estimate: cost_usd = -1
estimate: distinct_questions = 2
estimate: prompt_tokens = -1
estimate: questions = 0
estimate: reused_calls = -1
estimate: sampled = 2
eval_case: error = 'No.'
eval_case: status = 'failed'
eval_case: figures = '[]'
eval_case: gold = '[]'
eval_case: ordinal = 0
eval_case: output = '[]'
eval_case: status = 'running'
eval_run: conditions = '[]'
eval_run: data_set_hash = 'short'
eval_run: figures = '[]'; finished_at = now()
eval_run: figures = '{}'
eval_run: finished_at = now()
eval_run: name = ''
eval_run: planned_cases = 0
eval_run: settings = '[]'
feedback: missing = null
feedback: ordinal = -1; rating = 'right'; interpretation = 'a'; answer = 'b'; missing = null
feedback: ordinal = 1; missing = null
feedback: ordinal = 1; rating = 'good'; interpretation = 'a'; answer = 'b'; missing = null
interpretation: support = 0
interpretation: level = 'sure'
interpretation: probability = 1.5
interpretation: doubt = 'unproven'
interpretation: ordinal = 0
listed_answer: answer = ' '; variants = array[' ']
listed_answer: ordinal = 0
listed_answer: variants = '{another}'
loopback: is_only = false
loopback: port = 0
model_price: cached_input_usd = 1
model_price: input_usd = -1
model_price: model = ''
model_price: output_usd = -1
model_price: output_usd = 'Infinity'
model_trial: cost_usd = -1
model_trial: error = 'No.'
model_trial: finished_at = now()
model_trial: measured = '{}'
model_trial: passages_per_call = 0; finished_at = now()
neighborhood: neighbor_ids = '{1}'
neighborhood: similarities = '{1}'
passage: start_char = -1
passage: end_char = 0
passage: ordinal = 0
pending_document: passages = 0
pending_document: leased_by = 1
pending_document: leased_until = now()
pending_passage: leased_by = 1
pending_passage: leased_until = now()
question_group: embedding_model = 'm'
question_wording: wording_hash = 'short'
run: candidates = -1
run: crashes = -1
run: interpretations = -1
run: verdicts = -1
run: status = 'partial'; finished_at = now(); error_code = 'pc001'
run: error_code = 'PC001'
run: error = 'No.'
run: status = 'failed'; finished_at = now(); error = 'No.'
run: status = 'failed'; finished_at = now()
run: finished_at = now()
run: status = 'cancelled'
run: corpus_name = null
run: corpus_name = null; corpus_id = null
run: settings = '[]'
run: operation = 'guess'
run: route = 'lost'
run: status = 'running'
run: served = 1
run: last_served_at = now()
run: served = -1
run: status = 'lost'
run: status = 'partial'; finished_at = now(); stop_code = 'lost'
run: stop_code = 'threshold'
source: state = 'failed'
source: load_phase = 'none'
source: state = 'lost'
stage: batch = 0
stage: calls = -1
stage: completion_tokens = -1
stage: duration_ms = -1
stage: model_ms = -1
stage: name = 'pause'
stage: ordinal = 0
stage: prompt_tokens = -1
stage: reused_calls = -1
stage: reused_completion_tokens = -1
stage: reused_prompt_tokens = -1
stage: rows = -1
stage: step_ordinal = 0
step: abstention_code = 'threshold'; outcome = 'not_in_corpus'
step: abstention_code = 'unproven'
step: kind = 'unkind'
step: answer = 'Yes'; outcome = 'answered'
step: outcome = 'answered'
step: answer = 'Yes'; confidence = 1
step: answer = ' '; confidence = 1; outcome = 'answered'
step: confidence = 1
step: ordinal = 0
step: semantic_sets = 0
step: answer = 'Yes'; confidence = 0; outcome = 'answered'
step: outcome = 'lost'
trained_classifier: examples = 0
trained_classifier: figures = '[]'
trained_classifier: judges_questions = false; judges_conversations = false
trained_classifier: shipped_version = ''
trained_classifier: threshold = 1.1
trained_classifier: version = 0
trained_classifier: weights = '{NaN}'
trained_classifier: weights = '{}'
unanswered_call: cost_usd = -1
unanswered_call: budget_ids = '{1}'
unanswered_call: counted_at = now()
verdict: abstention_code = 'threshold'
verdict: outcome = 'abstained'
verdict: outcome = 'lost'
verdict: reading_ordinal = 0
verdict: doubt_code = 'fragment'
verdict: doubt_code = 'unproven'
verdict: error_code = 'XX000'
verdict: outcome = 'abstained'; abstention_code = 'lost'
verdict: error = 'No.'
verdict: outcome = 'grounded'
verdict: outcome = 'failed'; error = 'No.'
verdict: outcome = 'failed'; error_code = 'XX000'
verdict: outcome = 'failed'; error = 'No.'; error_code = '23514'
worker: lease = '0'
"""


def broken_rows() -> Iterator[tuple[str, dict[str, str]]]:
    """The table of each broken row, and the SQL expressions of its columns."""
    for line in BROKEN_ROWS.strip().splitlines():
        table, assignments = line.split(": ", 1)
        columns = {}
        for assignment in assignments.split("; "):
            column, expression = assignment.split(" = ", 1)
            columns[column] = expression
        yield table, columns


@pytest.fixture
def connection_with_partitions(connection: Connection) -> Connection:
    """A connection to a database in which each partitioned table accepts every row."""
    for table in ("passage", "neighborhood"):
        connection.execute(f"create table {table}_of_all partition of pgclarify_private.{table} default".encode())
    return connection


def test_each_check_refuses_a_row_that_breaks_it(connection_with_partitions: Connection) -> None:
    broken_checks, accepted_rows = set(), []
    for table, columns in broken_rows():
        try:
            insert_valid_row(connection_with_partitions, table, 2, columns)
            accepted_rows.append((table, columns))
        except psycopg.errors.CheckViolation as error:
            broken_checks.add(error.diag.constraint_name)

    assert accepted_rows == []
    assert broken_checks == {name for (name,) in connection_with_partitions.execute(ALL_CHECKS)}


@pytest.mark.parametrize("column", [*COLUMNS, "verdict.error_code"])
def test_a_column_accepts_each_word_that_is_declared(connection_with_partitions: Connection, column: str) -> None:
    table, _, name = column.partition(".")
    for number, word in enumerate(COLUMNS.get(column, VERDICT_CODES), start=1):
        try:
            insert_valid_row(connection_with_partitions, table, number, {name: f"'{word}'"})
        except psycopg.errors.CheckViolation as error:
            # The other columns need not fit the word.
            assert error.diag.constraint_name != f"{table}_{name}_is_known", word


def test_the_rows_are_accepted_without_what_breaks_them(connection_with_partitions: Connection) -> None:
    tables = {table for table, _ in broken_rows()}
    # A new database has the only row of these.
    for table in tables - {"applied_sql", "caller_key", "loopback"}:
        insert_valid_row(connection_with_partitions, table, 1)
