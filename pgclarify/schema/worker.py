"""Workers."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from pgclarify.declared.words import UNCHECKED, listed
from pgclarify.schema.base import Timestamp, column, count, metadata, prose

worker = sa.Table(
    "worker",
    metadata,
    column("worker_id", sa.BigInteger, "Key, and second key of the advisory lock.", sa.Identity(always=True)),
    column("host", sa.Text, "Machine it runs on."),
    column("process_id", sa.Integer, "Its process there."),
    column("version", sa.Text, "Version of pgclarify."),
    column("provider", sa.Text, f"{listed(UNCHECKED['worker.provider'])}."),
    column("model", sa.Text, "Model that judges passages."),
    column("prompt_version", sa.Text, "Version of its prompts."),
    column("embedding_models", ARRAY(sa.Text), "Embedding models that it has loaded.", default="'{}'"),
    column("started_at", Timestamp, "When it started.", default="now()"),
    column("seen_at", Timestamp, "When it last sent a heartbeat.", default="now()"),
    column(
        "is_serving",
        sa.Boolean,
        "True if it takes runs and documents; false for a process that only leases replies of the ledger, as an "
        "evaluation does.",
        default="true",
    ),
    column("lease", sa.Interval, "How long after seen_at it counts as alive.", default="'00:00:20'::interval"),
    column(
        "schema_hash",
        sa.Text,
        "Hash of the schema that it works with. It takes runs while that schema is installed. Null: it takes none.",
        null=True,
    ),
    column(
        "model_trial_id",
        sa.BigInteger,
        "The trial of its language model; null if it has none, or does not ask for a trial.",
        sa.ForeignKey("model_trial.model_trial_id"),
        null=True,
    ),
    sa.CheckConstraint("lease > '00:00:00'::interval", name="worker_lease_is_positive"),
    sa.PrimaryKeyConstraint("worker_id"),
    comment=(
        "A worker process. It is alive while its session holds the advisory lock (1885823084, worker_id), and its "
        "last heartbeat, seen_at, is not older than its lease."
    ),
)

endpoint_rate = sa.Table(
    "endpoint_rate",
    metadata,
    prose("endpoint", "The address, and the model or what the endpoint serves."),
    column("requests_free_at", Timestamp, "Until when its limit of requests is booked."),
    column("tokens_free_at", Timestamp, "Until when its limit of tokens is booked."),
    sa.PrimaryKeyConstraint("endpoint"),
    comment=(
        "The rates at which workers together call endpoints that have limits. A worker books time of a limit; see "
        "book_endpoint."
    ),
)

model_trial = sa.Table(
    "model_trial",
    metadata,
    column("model_trial_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    prose("endpoint", "The address of the endpoint, or the path of the model's file."),
    column("model", sa.Text, "The model."),
    column("prompt_version", sa.Text, "Version of the prompt joint_verdicts, and the reasoning effort if one is set."),
    column(
        "passages_per_call",
        sa.Integer,
        "How many passages a call may have: the largest size that passed together with all smaller ones; null until "
        "the trial is over.",
        null=True,
    ),
    column(
        "measured",
        JSONB,
        "For each size of a call that was tried, an object with what was counted; docs/endpoints.md has its keys.",
        default="'[]'",
    ),
    count("calls", "Calls that were made."),
    count("prompt_tokens", "Their input tokens."),
    count("completion_tokens", "Their output tokens."),
    column("cost_usd", sa.Numeric, "What they cost, in US dollars; null if the model has no price.", null=True),
    column("worker_id", sa.BigInteger, "Worker that makes the trial, or tried last; null before that.", null=True),
    column("started_at", Timestamp, "When that worker began; null before that.", null=True),
    column("finished_at", Timestamp, "When the trial was over; null until then.", null=True),
    column("due_at", Timestamp, "After a failure: when it may be tried again; else null.", null=True),
    prose("error", "Why it failed the last time; null if it did not.", null=True),
    count("failures", "How often it has failed."),
    sa.PrimaryKeyConstraint("model_trial_id"),
    sa.UniqueConstraint("endpoint", "model", "prompt_version", name="model_trial_key"),
    sa.CheckConstraint("passages_per_call >= 1", name="model_trial_passages_per_call_is_positive"),
    sa.CheckConstraint("(finished_at is null) = (passages_per_call is null)", name="model_trial_finished_has_a_result"),
    sa.CheckConstraint("jsonb_typeof(measured) = 'array'", name="model_trial_measured_is_an_array"),
    sa.CheckConstraint("(due_at is null) = (error is null)", name="model_trial_failed_is_due_later"),
    sa.CheckConstraint("cost_usd >= 0 and cost_usd < 'infinity'", name="model_trial_cost_usd_is_an_amount"),
    comment=(
        "How many passages a model reads in one call. A worker measures it once for each endpoint, model and version "
        "of the prompt: it does so now if the trial is not over and the worker is alive."
    ),
)
