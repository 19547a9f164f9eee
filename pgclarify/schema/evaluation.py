"""Evaluations."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import BYTEA, JSONB, OID

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, column, metadata

eval_run = Table(
    "eval_run",
    metadata,
    column("eval_run_id", BigInteger, "Key.", Identity(always=True)),
    column("name", Text, "Its name. Several may have the same name; then the latest is meant."),
    column("data_set", Text, "Name of the data set's file."),
    column("data_set_hash", BYTEA, "SHA-256 of the cases, in order. Evaluations of the same cases can be compared."),
    column(
        "corpus_id",
        BigInteger,
        "The corpus; null once it was dropped.",
        ForeignKey("corpus.corpus_id", ondelete="SET NULL"),
        null=True,
    ),
    column("corpus_name", Text, "The corpus's name when the evaluation began."),
    column("method", Text, "An operation, such as clarify, or a baseline, such as rac."),
    column("settings", JSONB, "All options of the method, as given."),
    column(
        "conditions",
        JSONB,
        "What else the figures depend on: corpus_revision, embedding_model, provider, model, prompt_version, "
        "judge, judge_version, version.",
    ),
    column("planned_cases", Integer, "How many cases it has when it is finished."),
    column(
        "figures",
        JSONB,
        "Its figures by name, each with value, low, high (the 95 % interval, null without one) and cases; null "
        "until it is finished.",
        null=True,
    ),
    column("requested_by", Name, "Role that evaluated.", default="current_user"),
    column(
        "requested_by_oid",
        OID,
        "Oid of that role, so that another role of that name does not count.",
        default="quote_ident(current_user)::regrole",
    ),
    column("created_at", Timestamp, "When it began.", default="now()"),
    column(
        "finished_at",
        Timestamp,
        "When its last case was judged; null while it is running, or if it was interrupted: the same command "
        "resumes it.",
        null=True,
    ),
    PrimaryKeyConstraint("eval_run_id"),
    CheckConstraint("length(name) between 1 and 200", name="eval_run_name_is_short"),
    CheckConstraint("length(data_set_hash) = 32", name="eval_run_data_set_hash_is_sha256"),
    CheckConstraint("jsonb_typeof(settings) = 'object'", name="eval_run_settings_is_an_object"),
    CheckConstraint("jsonb_typeof(conditions) = 'object'", name="eval_run_conditions_is_an_object"),
    CheckConstraint("planned_cases >= 1", name="eval_run_planned_cases_are_positive"),
    CheckConstraint("jsonb_typeof(figures) = 'object'", name="eval_run_figures_is_an_object"),
    CheckConstraint("(finished_at is null) = (figures is null)", name="eval_run_finished_has_figures"),
    Index("eval_run_corpus_id_idx", "corpus_id"),
    Index("eval_run_unfinished_idx", "data_set_hash", postgresql_where=text("finished_at is null")),
    comment=(
        "An evaluation: one method with its options over one data set. pgclarify eval run writes it, pgclarify eval "
        "remove removes it with its cases."
    ),
)

eval_case = Table(
    "eval_case",
    metadata,
    column("eval_run_id", BigInteger, "The evaluation.", ForeignKey("eval_run.eval_run_id", ondelete="CASCADE")),
    column("ordinal", Integer, "Place among the evaluated cases, from 1."),
    column("case_id", Text, "Its id in the data set."),
    column("question", Text, "The question.", has_statistics=False),
    column(
        "gold",
        JSONB,
        "What is known about it: interpretations (interpretation, answers, document_ids), answer_sets, "
        "wrong_answers, document_ids, is_ambiguous.",
        has_statistics=False,
    ),
    column(
        "output",
        JSONB,
        "The method's output: interpretations (interpretation, answer, is_grounded, citations with document_id, "
        "passage_id, title and quote), retrieved (document_id, passage_id), questions (rewritten or asked back), "
        "notes.",
        has_statistics=False,
    ),
    column(
        "run_id",
        BigInteger,
        "The run that answered; null for baselines, or once it was deleted.",
        ForeignKey("run.run_id", ondelete="SET NULL"),
        null=True,
    ),
    column(
        "status",
        Text,
        "succeeded, partial (some passages could not be judged) or failed, which counts as an empty output.",
    ),
    column("error", Text, "Why it failed; null unless it did.", null=True, has_statistics=False),
    column("figures", JSONB, "Its figures: numbers by name."),
    column("created_at", Timestamp, "When it was judged.", default="now()"),
    PrimaryKeyConstraint("eval_run_id", "ordinal"),
    CheckConstraint("ordinal >= 1", name="eval_case_ordinal_counts_from_one"),
    CheckConstraint("jsonb_typeof(gold) = 'object'", name="eval_case_gold_is_an_object"),
    CheckConstraint("jsonb_typeof(output) = 'object'", name="eval_case_output_is_an_object"),
    CheckConstraint("status in ('succeeded', 'partial', 'failed')", name="eval_case_status_is_known"),
    CheckConstraint("(status = 'failed') = (error is not null)", name="eval_case_failed_has_an_error"),
    CheckConstraint("jsonb_typeof(figures) = 'object'", name="eval_case_figures_is_an_object"),
    Index(
        "eval_case_document_ids_idx",
        text("jsonb_path_query_array(output, '$.**.document_id')"),
        postgresql_using="gin",
        info=NO_STATISTICS,
    ),
    Index("eval_case_run_id_idx", "run_id", postgresql_where=text("run_id is not null")),
    comment="One question of an evaluation, with the method's output and its figures.",
)
