"""The ledger; calls without a reply; which documents its inputs had; what joint replies say of each passage."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, REAL

from pgclarify.data.vocabulary import Purpose
from pgclarify.declared.words import listed
from pgclarify.schema.base import Timestamp, column, metadata, prose

completion = sa.Table(
    "completion",
    metadata,
    column("completion_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column(
        "purpose",
        sa.Text,
        f"What the reply is for: {listed(Purpose, with_meanings=False)}; or a purpose of an earlier release.",
    ),
    column("model", sa.Text, "Model of the call."),
    column("parameters", JSONB, "Decoding parameters."),
    column("prompt_version", sa.Text, "Version of the prompt."),
    column("input_hash", BYTEA, "SHA-256 of the rendered input and of who may see it: see read_calls."),
    column(
        "sample",
        sa.Integer,
        "Which reply to this input, from 0; plus a thousand times the option refresh of the run.",
        default="0",
    ),
    column("run_id", sa.BigInteger, "The run that paid for it; null if that run is gone.", null=True),
    prose("reply", "The model's reply; null while there is none, or once erased.", null=True),
    column("prompt_tokens", sa.Integer, "Tokens of the input; null if the endpoint did not say.", null=True),
    column("completion_tokens", sa.Integer, "Tokens of the reply; null if the endpoint did not say.", null=True),
    column("latency_ms", REAL, "Milliseconds that the call took.", null=True),
    column("leased_by", sa.BigInteger, "Worker that is making the call; null if none is.", null=True),
    column("leased_until", Timestamp, "When another worker may take over the call.", null=True),
    column("created_at", Timestamp, "When it was first claimed.", default="now()"),
    column("finished_at", Timestamp, "When the reply came; null while there is none.", null=True),
    column(
        "cost_usd",
        sa.Numeric,
        "What it cost, in US dollars; null while there is no reply, or if price or tokens are not known.",
        null=True,
    ),
    column(
        "budget_ids",
        ARRAY(sa.BigInteger),
        "Budgets in which the call is reserved while it is made; null if there are none, or it is not being made.",
        null=True,
    ),
    column(
        "reserved_usd",
        sa.Numeric,
        "Most that it is expected to cost; null if its model has no price, or it is not being made.",
        null=True,
    ),
    column(
        "reserved_at",
        Timestamp,
        "When it was reserved, which determines the period; null unless it is reserved.",
        null=True,
    ),
    column(
        "erased_at",
        Timestamp,
        "When its text was erased with a document; null if it was not. Its input_hash is random since then, so "
        "that an equal input is asked again.",
        null=True,
    ),
    column(
        "cached_tokens",
        sa.Integer,
        "How many of prompt_tokens the endpoint had in its cache; null if it did not say.",
        null=True,
    ),
    column("is_batched", sa.Boolean, "Whether it came from a batch, at half the price.", default="false"),
    column(
        "sent_at",
        Timestamp,
        "When the call was sent, or was about to be, the last time; null if it was not, or its reply is stored. The "
        "endpoint may charge for it, so it counts in budgets even if its lease has ended.",
        null=True,
    ),
    prose(
        "finish_reason",
        "Why the model stopped, as the endpoint says: stop, length (cut off at its limit of tokens), content_filter (a "
        "filter of the endpoint removed the reply, or refused the request), ...; null if it did not say.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("completion_id"),
    sa.CheckConstraint("length(input_hash) = 32", name="completion_input_hash_is_sha256"),
    sa.CheckConstraint("sample >= 0", name="completion_sample_counts_from_zero"),
    sa.CheckConstraint(
        "case when erased_at is null then (finished_at is null) = (reply is null) else reply is null end",
        name="completion_finished_has_a_reply",
    ),
    sa.CheckConstraint("(leased_by is null) = (leased_until is null)", name="completion_lease_has_a_holder"),
    sa.CheckConstraint("cost_usd is null or finished_at is not null", name="completion_cost_is_of_a_reply"),
    sa.CheckConstraint(
        "num_nonnulls(budget_ids, reserved_usd, sent_at) = 0 or leased_by is not null",
        name="completion_reservation_has_a_lease",
    ),
    sa.CheckConstraint(
        "num_nonnulls(budget_ids, reserved_at) in (0, 2) and (budget_ids is null or reserved_usd is not null)",
        name="completion_reservation_is_whole",
    ),
    sa.UniqueConstraint(
        "purpose",
        "model",
        "parameters",
        "prompt_version",
        "input_hash",
        "sample",
        name="completion_purpose_model_parameters_prompt_version_input_ha_key",
    ),
    sa.Index("completion_run_id_idx", "run_id"),
    sa.Index("completion_reserved_idx", "reserved_at", postgresql_where=sa.text("budget_ids is not null")),
    comment=(
        "The ledger: what one model replied to one rendered input. Every paid call goes through it, so nothing is "
        "paid for twice."
    ),
)

unanswered_call = sa.Table(
    "unanswered_call",
    metadata,
    column("unanswered_call_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column("completion_id", sa.BigInteger, "The row of the ledger, which may have a reply to another call."),
    column("run_id", sa.BigInteger, "The run that made the call; null without one.", null=True),
    column("worker_id", sa.BigInteger, "The worker that made it; null for a call in a batch.", null=True),
    column(
        "leased_until",
        Timestamp,
        "End of its lease, which identifies the call if its reply comes late; null for a call in a batch.",
        null=True,
    ),
    column("sent_at", Timestamp, "When it was sent."),
    column(
        "cost_usd", sa.Numeric, "Most that it may have cost, in US dollars; null if the model has no price.", null=True
    ),
    column("budget_ids", ARRAY(sa.BigInteger), "Budgets in which it counts; null if there are none.", null=True),
    column("counted_at", Timestamp, "The moment that determines their periods; null if there are none.", null=True),
    sa.PrimaryKeyConstraint("unanswered_call_id"),
    sa.CheckConstraint("cost_usd >= 0 and cost_usd < 'infinity'", name="unanswered_call_cost_usd_is_an_amount"),
    sa.CheckConstraint(
        "num_nonnulls(budget_ids, counted_at) in (0, 2) and (budget_ids is null or cost_usd is not null)",
        name="unanswered_call_is_counted_whole",
    ),
    sa.Index("unanswered_call_completion_id_idx", "completion_id"),
    sa.Index("unanswered_call_run_id_idx", "run_id"),
    comment=(
        "Calls that were sent, that the endpoint may charge for, and whose reply never came: a worker was killed, the "
        "endpoint was silent or failed, another try followed, or a batch was never read. A late reply removes its row."
    ),
)

completion_document = sa.Table(
    "completion_document",
    metadata,
    column(
        "completion_id",
        sa.BigInteger,
        "The row of the ledger.",
        sa.ForeignKey("completion.completion_id", ondelete="CASCADE"),
    ),
    column("corpus_id", sa.BigInteger, "The corpus, which may have been dropped."),
    column("document_id", sa.Text, "The document, which may have been removed."),
    sa.PrimaryKeyConstraint("completion_id", "corpus_id", "document_id"),
    sa.Index("completion_document_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment="The documents in the input of a reply; erase_document uses it to find replies.",
)

joint_verdict = sa.Table(
    "joint_verdict",
    metadata,
    column(
        "completion_id",
        sa.BigInteger,
        "The row of the ledger: a reply about several passages.",
        sa.ForeignKey("completion.completion_id", ondelete="CASCADE"),
    ),
    column("passage_hash", BYTEA, "SHA-256 of the question, and of the title, heading and text of the passage."),
    prose(
        "said",
        "The readings of the passage, most likely first: array of objects with interpretation, answer, quote, "
        "ordinal and leans_on; empty if it answers none. The JSON null if it is to be asked about alone.",
        type_=JSONB,
    ),
    sa.PrimaryKeyConstraint("completion_id", "passage_hash"),
    sa.Index("joint_verdict_passage_hash_idx", "passage_hash"),
    comment=("What a reply about several passages says of each, so that a later run asks only about the others."),
)
