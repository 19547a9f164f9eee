"""Evaluations."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import BYTEA, DOUBLE_PRECISION, JSONB, OID

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
    Column("corpus_revision", BigInteger, nullable=False, comment="Revision of the corpus when the evaluation began."),
    Column(
        "method",
        Text,
        nullable=False,
        comment=(
            "clarify, list_answers, investigate, search, detect_ambiguity, rewrite, clarifying_questions, "
            "simulated_user, a baseline (dtv, dtv_unverified, rac, one_pass, self_ask, list_at_once, "
            "rewrite_ambiguous, always_rewrite, few_shot, logistic_regression), or human (the readings of the data set "
            "itself)."
        ),
    ),
    Column("settings", JSONB, nullable=False, comment="All its parameters, as given."),
    Column(
        "provider", Text, nullable=False, comment="Provider that judged passages or answered: openai or extractive."
    ),
    Column("model", Text, nullable=False, comment="Model of the call."),
    Column("prompt_version", Text, nullable=False, comment="Version of its prompts."),
    Column("embedding_model", Text, nullable=False, comment="Embedding model of the corpus when it began."),
    Column(
        "judge",
        Text,
        nullable=False,
        comment="Judge of the method's output: lexical (no model), the name of a model, or lexical+ and this name.",
    ),
    Column("judge_version", Text, nullable=False, comment="Version of the judge's rules or prompts."),
    Column("version", Text, nullable=False, comment="Version of pgclarify."),
    Column("requested_by", Name, nullable=False, server_default=text("current_user"), comment="Role that evaluated."),
    Column("planned_cases", Integer, nullable=False, comment="How many cases it has when it is finished."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it began."),
    Column(
        "finished_at",
        Timestamp,
        comment=(
            "When its last case was judged; null while it is running, or if it was interrupted: the same command "
            "resumes it."
        ),
    ),
    Column(
        "requested_by_oid",
        OID,
        nullable=False,
        server_default=text("quote_ident(current_user)::regrole"),
        comment="Oid of that role, so that another role of that name does not count.",
    ),
    PrimaryKeyConstraint("eval_run_id", name="eval_run_pk"),
    CheckConstraint("length(name) between 1 and 200", name="eval_run_name_is_short"),
    CheckConstraint("length(data_set_hash) = 32", name="eval_run_data_set_hash_is_sha256"),
    CheckConstraint(
        "method in ('clarify', 'list_answers', 'investigate', 'search', 'detect_ambiguity', 'rewrite', "
        "'clarifying_questions', 'simulated_user', 'dtv', 'dtv_unverified', 'rac', 'one_pass', 'self_ask', "
        "'list_at_once', 'rewrite_ambiguous', 'always_rewrite', 'few_shot', 'logistic_regression', 'human')",
        name="eval_run_method_is_known",
    ),
    CheckConstraint("jsonb_typeof(settings) = 'object'", name="eval_run_settings_is_an_object"),
    CheckConstraint("planned_cases >= 1", name="eval_run_planned_cases_are_positive"),
    Index("eval_run_corpus_id_idx", "corpus_id"),
    Index("eval_run_name_idx", "name", "eval_run_id"),
    Index("eval_run_unfinished_idx", "data_set_hash", postgresql_where=text("finished_at is null")),
    comment=(
        "An evaluation: one method with one configuration over one data set. Written by pgclarify eval run; "
        "remove_evaluation removes one, with its cases and metrics."
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
            "document_ids, is_ambiguous, rewrites, clarifying_questions, intent, strata (each NAME=VALUE)."
        ),
    ),
    Column(
        "output",
        JSONB,
        info=NO_STATISTICS,
        nullable=False,
        comment=(
            "The method's output: interpretations (interpretation, answer, support, is_grounded, citations with "
            "document_id, passage_id, title and quote), retrieved (document_id, passage_id), probability, questions "
            "(rewritten, asked back, or after each turn), notes."
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
    Column(
        "calls",
        Integer,
        nullable=False,
        comment=("Replies of the model that it used, paid for now or before, without those of the judge."),
    ),
    Column("reused_calls", Integer, nullable=False, comment="How many of them came from the ledger."),
    Column("prompt_tokens", BigInteger, nullable=False, comment="Input tokens of all these replies."),
    Column("completion_tokens", BigInteger, nullable=False, comment="Output tokens of all these replies."),
    Column(
        "model_seconds",
        DOUBLE_PRECISION,
        nullable=False,
        comment="Seconds that all these calls took when they were made, added up.",
    ),
    Column(
        "seconds",
        DOUBLE_PRECISION,
        nullable=False,
        comment=(
            "Seconds from the question to the last answer, this time: almost 0 if everything was paid for before."
        ),
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was judged."),
    PrimaryKeyConstraint("eval_run_id", "ordinal", name="eval_case_pk"),
    CheckConstraint("ordinal >= 1", name="eval_case_ordinal_counts_from_one"),
    CheckConstraint("jsonb_typeof(gold) = 'object'", name="eval_case_gold_is_an_object"),
    CheckConstraint("jsonb_typeof(output) = 'object'", name="eval_case_output_is_an_object"),
    CheckConstraint("status in ('succeeded', 'partial', 'failed')", name="eval_case_status_is_known"),
    CheckConstraint("calls >= 0", name="eval_case_calls_are_not_negative"),
    CheckConstraint("reused_calls between 0 and calls", name="eval_case_reused_calls_are_calls"),
    CheckConstraint("prompt_tokens >= 0", name="eval_case_prompt_tokens_are_not_negative"),
    CheckConstraint("completion_tokens >= 0", name="eval_case_completion_tokens_are_not_negative"),
    CheckConstraint("model_seconds >= 0", name="eval_case_model_seconds_are_not_negative"),
    CheckConstraint("seconds >= 0", name="eval_case_seconds_are_not_negative"),
    CheckConstraint("(status = 'failed') = (error is not null)", name="eval_case_failed_has_an_error"),
    Index(
        "eval_case_document_ids_idx",
        text("jsonb_path_query_array(output, '$.**.document_id')"),
        postgresql_using="gin",
        info=NO_STATISTICS,
    ),
    Index("eval_case_run_id_idx", "run_id", postgresql_where=text("run_id is not null")),
    comment="One question of an evaluation, with the method's output.",
)

eval_metric = Table(
    "eval_metric",
    metadata,
    Column(
        "eval_run_id",
        BigInteger,
        ForeignKey("pgclarify_private.eval_run.eval_run_id", name="eval_metric_eval_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The evaluation.",
    ),
    Column("metric", Text, nullable=False, comment="Its name, such as grounded_precision or recall@10."),
    Column("ordinal", Integer, comment="The case; null for several cases together."),
    Column("value", DOUBLE_PRECISION, nullable=False, comment="Its value."),
    Column(
        "low",
        DOUBLE_PRECISION,
        comment=(
            "Lower end of the bootstrap 95 % interval; null for a case, or without an interval, as for a stratum of "
            "fewer than five cases."
        ),
    ),
    Column("high", DOUBLE_PRECISION, comment="Upper end of that interval; null if there is none."),
    Column("cases", Integer, comment="The number of cases; null for a single case."),
    Column(
        "stratum",
        Text,
        comment=(
            "The stratum whose cases are taken together, NAME=VALUE, such as answers=several, kind=polysemy or hops=3; "
            "null for a case, and for all cases together."
        ),
    ),
    CheckConstraint("cases >= 1", name="eval_metric_cases_are_positive"),
    CheckConstraint("(ordinal is null) = (cases is not null)", name="eval_metric_of_all_counts_cases"),
    CheckConstraint("(low is null) = (high is null)", name="eval_metric_interval_has_two_ends"),
    CheckConstraint("low is null or ordinal is null", name="eval_metric_interval_is_of_all"),
    CheckConstraint("stratum is null or ordinal is null", name="eval_metric_stratum_is_of_several"),
    UniqueConstraint(
        "eval_run_id", "metric", "ordinal", "stratum", name="eval_metric_key", postgresql_nulls_not_distinct=True
    ),
    ForeignKeyConstraint(
        ["eval_run_id", "ordinal"],
        ["pgclarify_private.eval_case.eval_run_id", "pgclarify_private.eval_case.ordinal"],
        name="eval_metric_case_fk",
        ondelete="CASCADE",
    ),
    Index("eval_metric_case_idx", "eval_run_id", "ordinal"),
    comment=(
        "The metrics of a case, of all cases together, or of those of a stratum. docs/methods/evaluation.md explains "
        "each metric."
    ),
)
