"""Runs."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import BYTEA, JSONB

from pgclarify.data.vocabulary import Route, RunStatus
from pgclarify.declared.operations import OPERATIONS, names_of
from pgclarify.declared.words import listed
from pgclarify.schema.base import (
    Name,
    Timestamp,
    column,
    is_one_of,
    metadata,
    prose,
    requester_oid,
    word_is_known,
)

run = sa.Table(
    "run",
    metadata,
    column("run_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column(
        "operation",
        sa.Text,
        f"{', '.join([*OPERATIONS][:-1])} or {[*OPERATIONS][-1]}.",
    ),
    column(
        "corpus_id",
        sa.BigInteger,
        "The corpus; null once it was dropped, or if there was none.",
        sa.ForeignKey("corpus.corpus_id", ondelete="SET NULL"),
        null=True,
    ),
    column("corpus_name", sa.Text, "The corpus's name at the time of the question; null without a corpus.", null=True),
    prose("question", "The original question; for many questions of detect_ambiguity, and for estimate, a JSON array."),
    prose(
        "relaxed_question",
        "The question used for retrieval, if it is another than was asked: relaxed, or made to stand alone because it "
        "has a history. Null before that.",
        null=True,
    ),
    prose(
        "question_vector",
        "Embedding of the question used for retrieval; null before it is computed.",
        type_=HALFVEC,
        null=True,
    ),
    prose(
        "settings",
        "All parameters, with defaults filled in; among them history, the turns before the question, if there are any.",
        type_=JSONB,
    ),
    column(
        "parent_run_id",
        sa.BigInteger,
        "The run whose verdicts this one consolidates again, whose questions it replies to, or whose reply it goes on "
        "from; else null.",
        sa.ForeignKey("run.run_id", ondelete="SET NULL"),
        null=True,
    ),
    column(
        "call_id",
        sa.Uuid,
        "The waiting call that started it. If the call ends early, the run is cancelled. Null if it was submitted.",
        null=True,
    ),
    column("requested_by", Name, "Role that asked."),
    column(
        "reuse_key",
        BYTEA,
        "SHA-256 of operation, corpus, question, settings, the requesting role, and the roles whose rights it "
        "had when the run was last started. Runs with equal keys may be reused for each other.",
    ),
    column(
        "status",
        sa.Text,
        f"{listed(RunStatus)}.",
        default="'queued'",
    ),
    prose("error", "Why it failed; null unless it did.", null=True),
    column(
        "attempt", sa.Integer, "How often a worker has started it. Writes of earlier attempts are refused.", default="0"
    ),
    column("worker_id", sa.BigInteger, "Worker that last started it.", null=True),
    column(
        "corpus_revision",
        sa.BigInteger,
        "Revision of the corpus, as the requesting role sees it, when the run was last started.",
        null=True,
    ),
    column("model", sa.Text, "Model that judged.", null=True),
    column("prompt_version", sa.Text, "Version of the prompts.", null=True),
    column("completions", sa.Integer, "Calls it paid for; null until it has ended.", null=True),
    column("reused_completions", sa.Integer, "Replies it took from the ledger; null until it has ended.", null=True),
    column("prompt_tokens", sa.BigInteger, "Input tokens it paid for.", null=True),
    column("completion_tokens", sa.BigInteger, "Output tokens it paid for.", null=True),
    column(
        "cost_usd",
        sa.Numeric,
        "What it cost, in US dollars: 0 if it paid for no call; null if the cost of a call is unknown, or before "
        "its end.",
        null=True,
    ),
    column("created_at", Timestamp, "When it was asked.", default="now()"),
    column("started_at", Timestamp, "When a worker last started it.", null=True),
    column("finished_at", Timestamp, "When it ended; null before.", null=True),
    prose("stop_reason", "Why it stopped early; null if it did not.", null=True),
    column(
        "graph_revision",
        sa.BigInteger,
        "Graph revision that the requesting role saw when the run was last started. A run that explores is only "
        "reused while this has not changed.",
        null=True,
    ),
    column(
        "route",
        sa.Text,
        f"For ask_back when_vague: {listed(Route)}. Null for others, and before the decision.",
        null=True,
    ),
    column(
        "embedding_model",
        sa.Text,
        "The model of question_vector; null without a vector.",
        null=True,
    ),
    column(
        "interpretations",
        sa.Integer,
        "Number of readings found; null unless it is a run of clarify or consolidate that succeeded or is partial.",
        null=True,
    ),
    column("candidates", sa.Integer, "Number of passages retrieved; null before its end.", null=True),
    column("verdicts", sa.Integer, "Number of passages judged; null before its end.", null=True),
    column(
        "served",
        sa.Integer,
        "How often it was reused to answer an equal question; counted within seconds.",
        default="0",
    ),
    column("last_served_at", Timestamp, "When it was last reused; null if it never was.", null=True),
    column(
        "question_group_id",
        sa.BigInteger,
        "Runs on questions of the same meaning, on the same corpus, have the same group; null until a worker has "
        "assigned it, after the run's end.",
        null=True,
    ),
    column(
        "is_counted",
        sa.Boolean,
        "False if it does not count as a question: it belongs to an evaluation, or to a session with "
        "pgclarify.count_questions off.",
        default="true",
    ),
    requester_oid(),
    column(
        "crashes",
        sa.Integer,
        "How many workers in a row were lost while executing it, since it last stored a reply. From 2 on it is "
        "executed alone, and at 10 it fails.",
        default="0",
    ),
    column(
        "stop_code",
        sa.Text,
        "Why it has no result, or only a part of it, as a code; null if the result is complete, or if it has "
        "failed or is not over.",
        null=True,
    ),
    column(
        "error_code",
        sa.Text,
        "Why it failed, as a SQLSTATE that docs/errors.md lists; for a partial run, why calls failed; else null.",
        null=True,
    ),
    column(
        "budget_id",
        sa.BigInteger,
        "The first budget that refused a call, which may have been removed; null if none did.",
        null=True,
    ),
    column("cached_tokens", sa.BigInteger, "How many of prompt_tokens the endpoint had in its cache.", null=True),
    column(
        "priority",
        sa.Integer,
        "Queued runs with a higher priority go first: 10 if a session waits for the run, 5 if it was submitted alone, "
        "0 in a batch.",
        default="0",
    ),
    column(
        "due_at",
        Timestamp,
        "No worker takes a queued run before this time; null: at once; infinity: when its calls in batches are over.",
        null=True,
    ),
    column("batched_completions", sa.BigInteger, "How many of completions came from batches.", null=True),
    column("reuse_saved_usd", sa.Numeric, "What its reused replies would have cost; null if unknown.", null=True),
    column("batch_saved_usd", sa.Numeric, "What batches have saved, against single calls; null if unknown.", null=True),
    column("cache_saved_usd", sa.Numeric, "What cached input has saved; null if unknown.", null=True),
    column(
        "unanswered_calls",
        sa.BigInteger,
        "Calls that were sent and have no reply, though the endpoint may charge for them; not among completions.",
        null=True,
    ),
    column(
        "unanswered_usd",
        sa.Numeric,
        "Most that these calls may have cost, in US dollars; not in cost_usd. Null if their model had no price.",
        null=True,
    ),
    prose(
        "mends",
        "How many replies had their form mended, by kind: an object; null if none had.",
        type_=JSONB,
        null=True,
    ),
    column(
        "login",
        Name,
        "Login role of the session that asked, for budgets alone; null if the run was entered before 0.3.0.",
        null=True,
    ),
    column(
        "traceparent",
        sa.Text,
        "The span that asked, in the form of W3C Trace Context; null if none was named.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("run_id"),
    word_is_known("run.operation", OPERATIONS),
    sa.CheckConstraint(
        "corpus_name is not null or corpus_id is null and "
        + is_one_of("operation", (name for name in OPERATIONS if name not in names_of("needs_corpus"))),
        name="run_has_a_corpus",
    ),
    word_is_known("run.route"),
    word_is_known("run.stop_code"),
    sa.CheckConstraint("stop_code is null or status in ('succeeded', 'partial')", name="run_stop_code_is_of_an_end"),
    sa.CheckConstraint("interpretations >= 0", name="run_interpretations_are_not_negative"),
    sa.CheckConstraint("candidates >= 0", name="run_candidates_are_not_negative"),
    sa.CheckConstraint("verdicts >= 0", name="run_verdicts_are_not_negative"),
    sa.CheckConstraint("served >= 0", name="run_served_is_not_negative"),
    sa.CheckConstraint("crashes >= 0", name="run_crashes_is_not_negative"),
    sa.CheckConstraint("(served > 0) = (last_served_at is not null)", name="run_served_has_a_time"),
    sa.CheckConstraint("jsonb_typeof(settings) = 'object'", name="run_settings_is_an_object"),
    word_is_known("run.status"),
    sa.CheckConstraint(
        "(finished_at is not null) = (status in ('succeeded', 'partial', 'failed', 'cancelled'))",
        name="run_finished_has_an_end",
    ),
    sa.CheckConstraint("(status = 'failed') = (error is not null)", name="run_failed_has_an_error"),
    sa.CheckConstraint("error is null or error_code is not null", name="run_error_has_a_code"),
    sa.CheckConstraint("error_code is null or status in ('partial', 'failed')", name="run_error_code_is_of_a_failure"),
    sa.CheckConstraint("error_code ~ '^[0-9A-Z]{5}$'", name="run_error_code_is_a_sqlstate"),
    sa.CheckConstraint("status <> 'running' or worker_id is not null", name="run_running_has_a_worker"),
    sa.Index("run_corpus_id_idx", "corpus_id"),
    sa.Index(
        "run_queued_idx",
        sa.text("priority desc"),
        "run_id",
        postgresql_include=["due_at"],
        postgresql_where=sa.text("status = 'queued'"),
    ),
    sa.Index("run_created_at_idx", "created_at"),
    sa.Index(
        "run_question_group_id_idx",
        "question_group_id",
        "run_id",
        postgresql_include=[
            "operation",
            "corpus_id",
            "corpus_name",
            "requested_by",
            "status",
            "interpretations",
            "served",
            "is_counted",
            "created_at",
            "last_served_at",
            "corpus_revision",
            "requested_by_oid",
            "stop_code",
        ],
        postgresql_where=sa.text("question_group_id is not null"),
    ),
    sa.Index(
        "run_ungrouped_idx",
        "run_id",
        postgresql_where=sa.text(
            "question_group_id is null and corpus_id is not null and finished_at is not null and "
            + is_one_of("operation", names_of("answers_questions"))
        ),
    ),
    sa.Index("run_call_id_idx", "call_id", postgresql_where=sa.text("status in ('queued', 'running')")),
    sa.Index("run_parent_run_id_idx", "parent_run_id", postgresql_where=sa.text("parent_run_id is not null")),
    sa.Index("run_requested_by_oid_run_id_idx", "requested_by_oid", "run_id"),
    sa.Index("run_reuse_key_idx", "reuse_key", "run_id", postgresql_where=sa.text("status = 'succeeded'")),
    sa.Index(
        "run_unpriced_idx",
        "model",
        "finished_at",
        postgresql_include=["run_id", "completions", "prompt_tokens"],
        postgresql_where=sa.text("cost_usd is null and finished_at is not null"),
    ),
    sa.Index(
        "run_usage_idx",
        sa.text("((created_at at time zone 'UTC')::date)"),
        postgresql_include=[
            "created_at",
            "corpus_id",
            "corpus_name",
            "requested_by",
            "operation",
            "model",
            "finished_at",
            "completions",
            "reused_completions",
            "prompt_tokens",
            "completion_tokens",
            "cost_usd",
            "requested_by_oid",
            "cached_tokens",
            "batched_completions",
            "reuse_saved_usd",
            "batch_saved_usd",
            "cache_saved_usd",
            "unanswered_calls",
            "unanswered_usd",
            "mends",
        ],
    ),
    sa.Index("run_unfinished_idx", "status", "created_at", postgresql_where=sa.text("status in ('queued', 'running')")),
    comment="A run of an operation.",
)
