"""The passages that a run retrieved, and what was decided about each."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
)
from sqlalchemy.dialects.postgresql import DOUBLE_PRECISION

from pgclarify.schema.base import Timestamp, column, metadata

candidate = Table(
    "candidate",
    metadata,
    column("run_id", BigInteger, "The run.", ForeignKey("run.run_id", ondelete="CASCADE")),
    column(
        "rank",
        Integer,
        "From 1: its place in the ranking or, in guided exploration, in the order in which passages were chosen.",
    ),
    column("corpus_id", BigInteger, "The corpus."),
    column("document_id", Text, "The document."),
    column("passage_id", BigInteger, "The passage, which may have changed or been removed."),
    column(
        "heading",
        Text,
        "Headings above the passage when it was retrieved; null if none.",
        null=True,
        has_statistics=False,
    ),
    column(
        "score",
        DOUBLE_PRECISION,
        "dense: cosine similarity; lexical: BM25; hybrid: mean of both, each brought to 0 to 1; a neighbor: its "
        "similarity to the passage that led to it; with a reranker: its score. Higher is better.",
    ),
    column("origin", Text, "How it was found: dense, lexical or neighbor."),
    column("via_passage_id", BigInteger, "The passage that led to it; null unless a neighbor.", null=True),
    column("batch", Integer, "The batch in which it was chosen, from 1; 1 without exploration.", default="1"),
    column(
        "step_ordinal",
        Integer,
        "The step of the investigation that retrieved it; null for other operations.",
        null=True,
    ),
    PrimaryKeyConstraint("run_id", "rank"),
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
    column("run_id", BigInteger, "The run."),
    column("rank", Integer, "The candidate's rank."),
    column(
        "outcome",
        Text,
        "grounded (the passage answers a reading), abstained (it does not), failed (it could not be judged) or "
        "erased (the verdict was erased with its document).",
    ),
    column("interpretation", Text, "The reading; null unless grounded.", null=True, has_statistics=False),
    column("answer", Text, "Its answer; null unless grounded.", null=True, has_statistics=False),
    column(
        "quote",
        Text,
        "The words of the passage that prove it, verbatim; null unless grounded.",
        null=True,
        has_statistics=False,
    ),
    column("start_char", Integer, "Offset of the quote in the document, from 0.", null=True),
    column("end_char", Integer, "Offset of the end of the quote.", null=True),
    column(
        "vector",
        HALFVEC,
        "f(interpretation; answer), unit length; null unless grounded.",
        null=True,
        has_statistics=False,
    ),
    column("completion_id", BigInteger, "Ledger row that it was read from; null if there was no reply.", null=True),
    column("is_reused", Boolean, "True if that row had been paid for before."),
    column("reason", Text, "Why it abstained; null unless it did.", null=True, has_statistics=False),
    column("error", Text, "What went wrong; null unless failed.", null=True, has_statistics=False),
    column("created_at", Timestamp, "When it was decided.", default="now()"),
    column("abstention_code", Text, "Why it abstained, as a code; null unless it did.", null=True),
    column("error_code", Text, "What went wrong, as a SQLSTATE; null unless failed.", null=True),
    PrimaryKeyConstraint("run_id", "rank"),
    CheckConstraint("outcome in ('grounded', 'abstained', 'failed', 'erased')", name="verdict_outcome_is_known"),
    CheckConstraint(
        "(outcome = 'grounded') = (num_nonnulls(interpretation, answer, quote, start_char, end_char, vector) = 6)",
        name="verdict_grounded_has_a_reading",
    ),
    CheckConstraint("(outcome = 'failed') = (error is not null)", name="verdict_failed_has_an_error"),
    CheckConstraint("(outcome = 'abstained') = (abstention_code is not null)", name="verdict_abstained_has_a_code"),
    CheckConstraint(
        "abstention_code in ('not_answered', 'no_language_model', 'language', 'threshold', 'unproven', 'fragment', "
        "'answer_not_quoted', 'beside_the_point', 'about_another', 'not_confirmed')",
        name="verdict_abstention_code_is_known",
    ),
    CheckConstraint("(outcome = 'failed') = (error_code is not null)", name="verdict_failed_has_a_code"),
    CheckConstraint(
        "error_code in ('PC007', 'PC008', 'PC010', 'PC011', 'PC012', 'PC013', 'PC014', 'PC015', 'PC017', 'XX000')",
        name="verdict_error_code_is_known",
    ),
    ForeignKeyConstraint(
        ["run_id", "rank"], ["candidate.run_id", "candidate.rank"], name="verdict_candidate_fk", ondelete="CASCADE"
    ),
    comment="The verdict on a candidate.",
)
