"""PostgreSQL's statistics keep no text: not of questions, documents or replies, and so not of what was erased."""

from __future__ import annotations

import pytest

from tests.integration.erasing import CANARY, alice, carry_out, worker
from tests.integration.manual_worker import ManualWorker
from tests.sessions import Connection, scalar

__all__ = ["alice", "worker"]

pytestmark = pytest.mark.rolled_back

# Names of people's own things, of models and of software.
NAMES = {
    "ambiguity_rule.corpus", "budget.name", "completion.model", "corpus.name",
    "corpus.search_config", "embedding_space.model", "embedding_usage.corpus_name", "embedding_usage.model",
    "feedback.corpus_name", "feedback.model", "feedback.prompt_version", "eval_case.case_id", "eval_run.corpus_name",
    "eval_run.data_set", "eval_run.name", "loopback.host",
    "loopback.socket_dir", "model_price.model", "question_group.embedding_model", "run.corpus_name",
    "batch.model", "batch_request.model", "model_trial.model", "model_trial.prompt_version",
    "run.embedding_model", "run.model", "run.prompt_version", "source.field_columns",
    "source.id_prefix", "source.relation_name", "worker.host",
    "worker.embedding_models", "worker.model", "worker.prompt_version", "worker.provider", "worker.version",
}  # fmt: skip
# Values from lists of ours, settings of ours, hashes, and ids of traces.
CLOSED = {
    "ambiguity_rule.kind", "applied_sql.shipped_hash", "applied_sql.state_hash", "budget.period", "candidate.origin",
    "clarifying_question.ambiguity_type", "completion.parameters", "completion.prompt_version", "completion.purpose",
    "detection.classifier_version", "detection.kind", "embedding_space.state",
    "embedding_usage.operation", "eval_case.figures", "eval_case.status", "eval_run.conditions", "eval_run.figures",
    "eval_run.method", "eval_run.settings", "feedback.rating", "interpretation.doubt",
    "interpretation.level", "run.error_code",
    "model_trial.measured", "run.operation", "run.route", "run.status", "run.stop_code", "run.traceparent",
    "schema_version.version_num", "source.layout", "source.load_phase",
    "source.state", "stage.name", "step.abstention_code", "step.kind", "step.outcome",
    "trained_classifier.figures", "trained_classifier.shipped_version", "verdict.abstention_code",
    "verdict.doubt_code", "verdict.error_code", "verdict.outcome", "worker.schema_hash",
}  # fmt: skip
# Ids of documents, and files that they come from. Joins need them. Those of an erased document stay until ANALYZE.
IDS = {
    "candidate.document_id", "citation.document_id", "citation_tally.document_id", "completion_document.document_id",
    "document.id", "document.origin", "neighborhood_1.document_id",
    "passage_1.document_id", "passage_embedding_1.document_id", "pending_cut.document_id",
    "pending_document.document_id", "pending_link.document_id", "pending_passage.document_id",
    "staged_passage.document_id", "verdict.leans_on",
}  # fmt: skip

# Columns and expressions of indexes that ANALYZE does not leave out.
WITH_STATISTICS = """
    select c.relkind::text, c.relname || '.' || a.attname
    from pg_class as c
    inner join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    inner join pg_type as t on t.oid = a.atttypid
    where c.relnamespace in ('pgclarify'::regnamespace, 'pgclarify_private'::regnamespace)
        and c.relkind in ('r', 'p', 'm', 'i')
        and (c.relkind <> 'i' or pg_get_indexdef(c.oid, a.attnum, true) like '%(%')
        and a.attstattarget is distinct from 0
        and t.typname in ('text', '_text', 'varchar', '_varchar', 'json', 'jsonb', 'tsvector', 'vector', 'halfvec')
"""
FOUND = """
    select tablename || '.' || attname
    from pg_stats
    where schemaname like 'pgclarify%%' and lower(
        concat_ws(' ', most_common_vals::text, histogram_bounds::text, most_common_elems::text)
    ) ~ %s
"""


def found(connection: Connection, word: str) -> set[str]:
    """The columns whose statistics have a word."""
    return {column for (column,) in connection.execute(FOUND.encode(), [rf"\m{word.lower()}"]).fetchall()}


def test_only_names_ids_and_values_of_lists_have_statistics(connection: Connection, worker: ManualWorker) -> None:
    columns = connection.execute(WITH_STATISTICS.encode()).fetchall()

    assert {name for _, name in columns} == NAMES | CLOSED | IDS
    assert (
        scalar(connection, "select count(*) from pg_statistic_ext where stxnamespace::regnamespace::text ~ 'clar'") == 0
    )


# Until PostgreSQL 16, the session that made an index does not notice its new target.
@pytest.mark.committed
def test_columns_of_text_never_get_statistics(connection: Connection, alice: Connection, worker: ManualWorker) -> None:
    carry_out(alice, worker)
    connection.execute("analyze")

    assert scalar(connection, "select count(*) from pg_stats where schemaname = 'pgclarify_private'") > 100
    assert found(connection, CANARY) == set()
    left_out = """
        select s.starelid::regclass::text, a.attname
        from pg_statistic as s
        inner join pg_attribute as a on a.attrelid = s.starelid and a.attnum = s.staattnum and a.attstattarget = 0
    """
    assert connection.execute(left_out).fetchall() == []
