"""Evaluations."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import BYTEA, JSONB

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, column, metadata, prose, requester_oid, word_is_known

eval_run = sa.Table(
    "eval_run",
    metadata,
    column("eval_run_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column("name", sa.Text, "Its name. Several may have the same name; then the latest is meant."),
    column("data_set", sa.Text, "Name of the data set's file."),
    column("data_set_hash", BYTEA, "SHA-256 of the cases, in order. Evaluations of the same cases can be compared."),
    column(
        "corpus_id",
        sa.BigInteger,
        "The corpus; null once it was dropped.",
        sa.ForeignKey("corpus.corpus_id", ondelete="SET NULL"),
        null=True,
    ),
    column("corpus_name", sa.Text, "The corpus's name when the evaluation began."),
    column("method", sa.Text, "An operation, such as clarify, or a baseline, such as rac."),
    column("settings", JSONB, "All options of the method, as given."),
    column(
        "conditions",
        JSONB,
        "What else the figures depend on: corpus_revision, embedding_model, provider, model, prompt_version, "
        "judge, judge_version, version.",
    ),
    column("planned_cases", sa.Integer, "How many cases it has when it is finished."),
    column(
        "figures",
        JSONB,
        "Its figures by name, each with value, low, high (the 95 % interval, null without one) and cases; null "
        "until it is finished.",
        null=True,
    ),
    column("requested_by", Name, "Role that evaluated.", default="current_user"),
    requester_oid(),
    column("created_at", Timestamp, "When it began.", default="now()"),
    column(
        "finished_at",
        Timestamp,
        "When its last case was judged; null while it is running, or if it was interrupted: the same command "
        "resumes it.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("eval_run_id"),
    sa.CheckConstraint("length(name) between 1 and 200", name="eval_run_name_is_short"),
    sa.CheckConstraint("length(data_set_hash) = 32", name="eval_run_data_set_hash_is_sha256"),
    sa.CheckConstraint("jsonb_typeof(settings) = 'object'", name="eval_run_settings_is_an_object"),
    sa.CheckConstraint("jsonb_typeof(conditions) = 'object'", name="eval_run_conditions_is_an_object"),
    sa.CheckConstraint("planned_cases >= 1", name="eval_run_planned_cases_are_positive"),
    sa.CheckConstraint("jsonb_typeof(figures) = 'object'", name="eval_run_figures_is_an_object"),
    sa.CheckConstraint("(finished_at is null) = (figures is null)", name="eval_run_finished_has_figures"),
    sa.Index("eval_run_corpus_id_idx", "corpus_id"),
    sa.Index("eval_run_unfinished_idx", "data_set_hash", postgresql_where=sa.text("finished_at is null")),
    comment=(
        "An evaluation: one method with its options over one data set. pgclarify eval run writes it, pgclarify eval "
        "remove removes it with its cases."
    ),
)

eval_case = sa.Table(
    "eval_case",
    metadata,
    column("eval_run_id", sa.BigInteger, "The evaluation.", sa.ForeignKey("eval_run.eval_run_id", ondelete="CASCADE")),
    column("ordinal", sa.Integer, "Place among the evaluated cases, from 1."),
    column("case_id", sa.Text, "Its id in the data set."),
    prose("question", "The question."),
    prose(
        "gold",
        "What is known about it: interpretations (interpretation, answers, document_ids), answer_sets, "
        "wrong_answers, document_ids, is_ambiguous.",
        type_=JSONB,
    ),
    prose(
        "output",
        "The method's output: interpretations (interpretation, answer, is_grounded, citations with document_id, "
        "passage_id, title and quote), retrieved (document_id, passage_id), questions (rewritten or asked back), "
        "notes.",
        type_=JSONB,
    ),
    column(
        "run_id",
        sa.BigInteger,
        "The run that answered; null for baselines, or once it was deleted.",
        sa.ForeignKey("run.run_id", ondelete="SET NULL"),
        null=True,
    ),
    column(
        "status",
        sa.Text,
        "succeeded, partial (some passages could not be judged) or failed, which counts as an empty output.",
    ),
    prose("error", "Why it failed; null unless it did.", null=True),
    column("figures", JSONB, "Its figures: numbers by name."),
    column("created_at", Timestamp, "When it was judged.", default="now()"),
    sa.PrimaryKeyConstraint("eval_run_id", "ordinal"),
    sa.CheckConstraint("ordinal >= 1", name="eval_case_ordinal_counts_from_one"),
    sa.CheckConstraint("jsonb_typeof(gold) = 'object'", name="eval_case_gold_is_an_object"),
    sa.CheckConstraint("jsonb_typeof(output) = 'object'", name="eval_case_output_is_an_object"),
    word_is_known("eval_case.status"),
    sa.CheckConstraint("(status = 'failed') = (error is not null)", name="eval_case_failed_has_an_error"),
    sa.CheckConstraint("jsonb_typeof(figures) = 'object'", name="eval_case_figures_is_an_object"),
    sa.Index(
        "eval_case_document_ids_idx",
        sa.text("jsonb_path_query_array(output, '$.**.document_id')"),
        postgresql_using="gin",
        info=NO_STATISTICS,
    ),
    sa.Index("eval_case_run_id_idx", "run_id", postgresql_where=sa.text("run_id is not null")),
    comment="One question of an evaluation, with the method's output and its figures.",
)
