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

from pgclarify.schema.base import PRIVATE_SCHEMA, Timestamp, metadata

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
    Column("model", Text, nullable=False, comment="Model that was asked."),
    Column("parameters", JSONB, nullable=False, comment="Decoding parameters."),
    Column("prompt_version", Text, nullable=False, comment="Version of the prompt."),
    Column("input_hash", BYTEA, nullable=False, comment="SHA-256 of the rendered input."),
    Column(
        "sample",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment="Which reply to this input, from 0; a thousand more for each refresh of the runs that asked.",
    ),
    Column("run_id", BigInteger, comment="The run that paid for it; null if that run is gone."),
    Column("reply", Text, comment="What the model said; null while nobody knows, or once erased."),
    Column("prompt_tokens", Integer, comment="Tokens of the input; null if the endpoint did not say."),
    Column("completion_tokens", Integer, comment="Tokens of the reply; null if the endpoint did not say."),
    Column("latency_ms", REAL, comment="Milliseconds that the call took."),
    Column("leased_by", BigInteger, comment="Worker that is making the call; null if none is."),
    Column("leased_until", Timestamp, comment="When another worker may take the call over."),
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
        comment=("Budgets that the call is reserved of while it is made; null if it is of none, or not being made."),
    ),
    Column("reserved_usd", Numeric, comment="The most it is taken to cost; null unless it is reserved."),
    Column("reserved_at", Timestamp, comment="When it was reserved, and so of which period; null unless it is."),
    Column(
        "erased_at",
        Timestamp,
        comment=(
            "When its text was erased with a document; null if it was not. Its input_hash is random since then, so "
            "that an equal input is asked anew."
        ),
    ),
    Column(
        "cached_tokens",
        Integer,
        comment="Those of prompt_tokens that the endpoint had read before; null if it did not say.",
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
        "The ledger: what one model said to one rendered input. Every paid call goes through it, so nothing "
        "is paid for twice."
    ),
)

completion_document = Table(
    "completion_document",
    metadata,
    Column(
        "completion_id",
        BigInteger,
        ForeignKey(
            "pgclarify.completion.completion_id", name="completion_document_completion_id_fk", ondelete="CASCADE"
        ),
        nullable=False,
        comment="The row of the ledger.",
    ),
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus, which may have been dropped since."),
    Column("document_id", Text, nullable=False, comment="The document, which may have gone since."),
    PrimaryKeyConstraint("completion_id", "corpus_id", "document_id", name="completion_document_pk"),
    Index("completion_document_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment="Which documents stood in the input of a reply: erase_document finds replies by it.",
    schema=PRIVATE_SCHEMA,
)
