"""The ledger; which documents its inputs had."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, REAL

from pgclarify.schema.base import NO_STATISTICS, Timestamp, metadata

completion = Table(
    "completion",
    metadata,
    Column("completion_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "purpose",
        Text,
        nullable=False,
        comment=(
            "What the reply is for: relaxation, verdict, relevance, entailment, follow_up, sample, answer, "
            "conclusion, rewriting, questions, reformulation or listing; in evaluations also baseline_proposal, "
            "baseline_verification, baseline_answers, baseline_disambiguation, judge_support, judge_match, "
            "judge_distinct or judge_relevance."
        ),
    ),
    Column("model", Text, nullable=False, comment="Model of the call."),
    Column("parameters", JSONB, nullable=False, comment="Decoding parameters."),
    Column("prompt_version", Text, nullable=False, comment="Version of the prompt."),
    Column("input_hash", BYTEA, nullable=False, comment="SHA-256 of the rendered input."),
    Column(
        "sample",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment="Which reply to this input, from 0; plus a thousand times the option refresh of the run.",
    ),
    Column("run_id", BigInteger, comment="The run that paid for it; null if that run is gone."),
    Column("reply", Text, info=NO_STATISTICS, comment="The model's reply; null while there is none, or once erased."),
    Column("prompt_tokens", Integer, comment="Tokens of the input; null if the endpoint did not say."),
    Column("completion_tokens", Integer, comment="Tokens of the reply; null if the endpoint did not say."),
    Column("latency_ms", REAL, comment="Milliseconds that the call took."),
    Column("leased_by", BigInteger, comment="Worker that is making the call; null if none is."),
    Column("leased_until", Timestamp, comment="When another worker may take over the call."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was first claimed."),
    Column("finished_at", Timestamp, comment="When the reply came; null while there is none."),
    Column(
        "cost_usd",
        Numeric,
        comment="What it cost, in US dollars; null while there is no reply, or if price or tokens are not known.",
    ),
    Column(
        "budget_ids",
        ARRAY(BigInteger),
        comment=(
            "Budgets in which the call is reserved while it is made; null if there are none, or it is not being made."
        ),
    ),
    Column("reserved_usd", Numeric, comment="Most that it is expected to cost; null unless it is reserved."),
    Column(
        "reserved_at",
        Timestamp,
        comment="When it was reserved, which determines the period; null unless it is reserved.",
    ),
    Column(
        "erased_at",
        Timestamp,
        comment=(
            "When its text was erased with a document; null if it was not. Its input_hash is random since then, so "
            "that an equal input is asked again."
        ),
    ),
    Column(
        "cached_tokens",
        Integer,
        comment="How many of prompt_tokens the endpoint had in its cache; null if it did not say.",
    ),
    PrimaryKeyConstraint("completion_id", name="completion_pk"),
    CheckConstraint("length(input_hash) = 32", name="completion_input_hash_is_sha256"),
    CheckConstraint("sample >= 0", name="completion_sample_counts_from_zero"),
    CheckConstraint(
        "case when erased_at is null then (finished_at is null) = (reply is null) else reply is null end",
        name="completion_finished_has_a_reply",
    ),
    CheckConstraint("(leased_by is null) = (leased_until is null)", name="completion_lease_has_a_holder"),
    CheckConstraint("cost_usd is null or finished_at is not null", name="completion_cost_is_of_a_reply"),
    CheckConstraint("budget_ids is null or leased_by is not null", name="completion_reservation_has_a_lease"),
    CheckConstraint(
        "num_nonnulls(budget_ids, reserved_usd, reserved_at) in (0, 3)", name="completion_reservation_is_whole"
    ),
    UniqueConstraint(
        "purpose",
        "model",
        "parameters",
        "prompt_version",
        "input_hash",
        "sample",
        name="completion_purpose_model_parameters_prompt_version_input_ha_key",
    ),
    Index("completion_run_id_idx", "run_id"),
    Index("completion_reserved_idx", "reserved_at", postgresql_where=text("budget_ids is not null")),
    comment=(
        "The ledger: what one model replied to one rendered input. Every paid call goes through it, so nothing is "
        "paid for twice."
    ),
)

completion_document = Table(
    "completion_document",
    metadata,
    Column(
        "completion_id",
        BigInteger,
        ForeignKey(
            "pgclarify_private.completion.completion_id",
            name="completion_document_completion_id_fk",
            ondelete="CASCADE",
        ),
        nullable=False,
        comment="The row of the ledger.",
    ),
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus, which may have been dropped."),
    Column("document_id", Text, nullable=False, comment="The document, which may have been removed."),
    PrimaryKeyConstraint("completion_id", "corpus_id", "document_id", name="completion_document_pk"),
    Index("completion_document_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment="The documents in the input of a reply; erase_document uses it to find replies.",
)
