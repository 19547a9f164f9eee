"""The passages that a run retrieved, and what was decided about each."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from pgclarify.schema.base import NO_STATISTICS, Timestamp, metadata

candidate = Table(
    "candidate",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="candidate_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column(
        "rank",
        Integer,
        nullable=False,
        comment=(
            "From 1: its place in the ranking or, in guided exploration, in the order in which passages were chosen."
        ),
    ),
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("document_id", Text, nullable=False, comment="The document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage, which may have changed or been removed."),
    Column(
        "heading", Text, info=NO_STATISTICS, comment="Headings above the passage when it was retrieved; null if none."
    ),
    Column(
        "score",
        DOUBLE_PRECISION,
        nullable=False,
        comment=(
            "dense: cosine similarity; lexical: BM25; hybrid: reciprocal rank fusion; a neighbor: its similarity to "
            "the passage that led to it; with a reranker: its score. Higher is better."
        ),
    ),
    Column("origin", Text, nullable=False, comment="How it was found: dense, lexical or neighbor."),
    Column("via_passage_id", BigInteger, comment="The passage that led to it; null unless a neighbor."),
    Column(
        "batch",
        Integer,
        nullable=False,
        server_default=text("1"),
        comment="The batch in which it was chosen, from 1; 1 without exploration.",
    ),
    Column(
        "step_ordinal",
        Integer,
        comment="The step of the investigation that retrieved it; null for other operations.",
    ),
    PrimaryKeyConstraint("run_id", "rank", name="candidate_pk"),
    CheckConstraint("rank >= 1", name="candidate_rank_counts_from_one"),
    CheckConstraint("batch >= 1", name="candidate_batch_counts_from_one"),
    CheckConstraint("step_ordinal >= 1", name="candidate_step_ordinal_counts_from_one"),
    CheckConstraint("origin in ('dense', 'lexical', 'neighbor')", name="candidate_origin_is_known"),
    Index("candidate_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment="A passage retrieved for a run.",
)
verdict = Table(
    "verdict",
    metadata,
    Column("run_id", BigInteger, nullable=False, comment="The run."),
    Column("rank", Integer, nullable=False, comment="The candidate's rank."),
    Column(
        "outcome",
        Text,
        nullable=False,
        comment=(
            "grounded (the passage answers a reading), abstained (it does not), failed (it could not be judged) or "
            "erased (the verdict was erased with its document)."
        ),
    ),
    Column("interpretation", Text, info=NO_STATISTICS, comment="The reading; null unless grounded."),
    Column("answer", Text, info=NO_STATISTICS, comment="Its answer; null unless grounded."),
    Column(
        "quote",
        Text,
        info=NO_STATISTICS,
        comment="The words of the passage that prove it, verbatim; null unless grounded.",
    ),
    Column("start_char", Integer, comment="Offset of the quote in the document, from 0."),
    Column("end_char", Integer, comment="Offset of the end of the quote."),
    Column(
        "vector", HALFVEC, info=NO_STATISTICS, comment="f(interpretation; answer), unit length; null unless grounded."
    ),
    Column("completion_id", BigInteger, comment="Ledger row that it was read from; null if there was no reply."),
    Column("is_reused", Boolean, nullable=False, comment="True if that row had been paid for before."),
    Column("reason", Text, info=NO_STATISTICS, comment="Why it abstained; null unless it did."),
    Column("error", Text, info=NO_STATISTICS, comment="What went wrong; null unless failed."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was decided."),
    Column("abstention_code", Text, comment="Why it abstained, as a code; null unless it did."),
    Column("error_code", Text, comment="What went wrong, as a SQLSTATE; null unless failed."),
    PrimaryKeyConstraint("run_id", "rank", name="verdict_pk"),
    CheckConstraint("outcome in ('grounded', 'abstained', 'failed', 'erased')", name="verdict_outcome_is_known"),
    CheckConstraint(
        "(outcome = 'grounded') = (num_nonnulls(interpretation, answer, quote, start_char, end_char, vector) = 6)",
        name="verdict_grounded_has_a_reading",
    ),
    CheckConstraint("(outcome = 'failed') = (error is not null)", name="verdict_failed_has_an_error"),
    CheckConstraint("(outcome = 'abstained') = (abstention_code is not null)", name="verdict_abstained_has_a_code"),
    CheckConstraint(
        "abstention_code in ('not_answered', 'no_language_model', 'threshold', 'unproven', 'fragment', "
        "'answer_not_quoted', 'beside_the_point', 'about_another', 'not_confirmed')",
        name="verdict_abstention_code_is_known",
    ),
    CheckConstraint("(outcome = 'failed') = (error_code is not null)", name="verdict_failed_has_a_code"),
    CheckConstraint(
        "error_code in ('PC007', 'PC008', 'PC010', 'PC011', 'PC012', 'PC013', 'PC014', 'PC015', 'PC017', 'XX000')",
        name="verdict_error_code_is_known",
    ),
    ForeignKeyConstraint(
        ["run_id", "rank"],
        ["pgclarify_private.candidate.run_id", "pgclarify_private.candidate.rank"],
        name="verdict_candidate_fk",
        ondelete="CASCADE",
    ),
    comment="The verdict on a candidate.",
)
