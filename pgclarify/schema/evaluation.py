"""Evaluations."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
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

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, metadata

eval_run = Table(
    "eval_run",
    metadata,
    Column("eval_run_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column("name", Text, nullable=False, comment="Its name. Several may have the same name; then the latest is meant."),
    Column("data_set", Text, nullable=False, comment="Name of the data set's file."),
    Column(
        "data_set_hash",
        BYTEA,
        nullable=False,
        comment="SHA-256 of the cases, in order. Evaluations of the same cases can be compared.",
    ),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="eval_run_corpus_id_fk", ondelete="SET NULL"),
        comment="The corpus; null once it was dropped.",
    ),
    Column("corpus_name", Text, nullable=False, comment="The corpus's name when the evaluation began."),
    Column("method", Text, nullable=False, comment="An operation, such as clarify, or a baseline, such as rac."),
    Column("settings", JSONB, nullable=False, comment="All options of the method, as given."),
    Column(
        "conditions",
        JSONB,
        nullable=False,
        comment=(
            "What else the figures depend on: corpus_revision, embedding_model, provider, model, prompt_version, "
            "judge, judge_version, version."
        ),
    ),
    Column("planned_cases", Integer, nullable=False, comment="How many cases it has when it is finished."),
    Column(
        "figures",
        JSONB,
        comment=(
            "Its figures by name, each with value, low, high (the 95 % interval, null without one) and cases; null "
            "until it is finished."
        ),
    ),
    Column("requested_by", Name, nullable=False, server_default=text("current_user"), comment="Role that evaluated."),
    Column(
        "requested_by_oid",
        OID,
        nullable=False,
        server_default=text("quote_ident(current_user)::regrole"),
        comment="Oid of that role, so that another role of that name does not count.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it began."),
    Column(
        "finished_at",
        Timestamp,
        comment=(
            "When its last case was judged; null while it is running, or if it was interrupted: the same command "
            "resumes it."
        ),
    ),
    PrimaryKeyConstraint("eval_run_id", name="eval_run_pk"),
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
    Column(
        "eval_run_id",
        BigInteger,
        ForeignKey("pgclarify_private.eval_run.eval_run_id", name="eval_case_eval_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The evaluation.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place among the evaluated cases, from 1."),
    Column("case_id", Text, nullable=False, comment="Its id in the data set."),
    Column("question", Text, info=NO_STATISTICS, nullable=False, comment="The question."),
    Column(
        "gold",
        JSONB,
        info=NO_STATISTICS,
        nullable=False,
        comment=(
            "What is known about it: interpretations (interpretation, answers, document_ids), answer_sets, "
            "wrong_answers, document_ids, is_ambiguous."
        ),
    ),
    Column(
        "output",
        JSONB,
        info=NO_STATISTICS,
        nullable=False,
        comment=(
            "The method's output: interpretations (interpretation, answer, is_grounded, citations with document_id, "
            "passage_id, title and quote), retrieved (document_id, passage_id), questions (rewritten or asked back), "
            "notes."
        ),
    ),
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="eval_case_run_id_fk", ondelete="SET NULL"),
        comment="The run that answered; null for baselines, or once it was deleted.",
    ),
    Column(
        "status",
        Text,
        nullable=False,
        comment=("succeeded, partial (some passages could not be judged) or failed, which counts as an empty output."),
    ),
    Column("error", Text, info=NO_STATISTICS, comment="Why it failed; null unless it did."),
    Column("figures", JSONB, nullable=False, comment="Its figures: numbers by name."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was judged."),
    PrimaryKeyConstraint("eval_run_id", "ordinal", name="eval_case_pk"),
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
