"""The readings that a run came to, and what they cite."""

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
)
from sqlalchemy.dialects.postgresql import REAL

from pgclarify.schema.base import NO_STATISTICS, metadata

interpretation = Table(
    "interpretation",
    metadata,
    Column(
        "run_id",
        BigInteger,
        ForeignKey("pgclarify_private.run.run_id", name="interpretation_run_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The run.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Place by falling support, from 1."),
    Column(
        "interpretation", Text, info=NO_STATISTICS, nullable=False, comment="The reading: a question that stands alone."
    ),
    Column("answer", Text, info=NO_STATISTICS, nullable=False, comment="Its answer."),
    Column("support", Integer, nullable=False, comment="How many documents support it."),
    Column(
        "cohesion",
        REAL,
        nullable=False,
        comment=("Mean cosine similarity of the readings in its cluster to their medoid; 1 for a single one."),
    ),
    PrimaryKeyConstraint("run_id", "ordinal", name="interpretation_pk"),
    CheckConstraint("ordinal >= 1", name="interpretation_ordinal_counts_from_one"),
    CheckConstraint("support >= 1", name="interpretation_is_supported"),
    comment="A reading after consolidation.",
)
citation = Table(
    "citation",
    metadata,
    Column("run_id", BigInteger, nullable=False, comment="The run."),
    Column("ordinal", Integer, nullable=False, comment="The interpretation's ordinal."),
    Column("rank", Integer, nullable=False, comment="Place among its citations, from 1; the first one is the medoid."),
    Column("candidate_rank", Integer, nullable=False, comment="The candidate's rank in the run."),
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("document_id", Text, nullable=False, comment="The document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column("heading", Text, info=NO_STATISTICS, comment="Headings above the passage when it was cited; null if none."),
    Column("is_medoid", Boolean, nullable=False, comment="True for the medoid of the cluster."),
    Column("quote", Text, info=NO_STATISTICS, nullable=False, comment="The words that prove the answer, verbatim."),
    Column("start_char", Integer, nullable=False, comment="Offset of the quote in the document, from 0."),
    Column("end_char", Integer, nullable=False, comment="Offset of the end of the quote."),
    PrimaryKeyConstraint("run_id", "ordinal", "rank", name="citation_pk"),
    CheckConstraint("rank >= 1", name="citation_rank_counts_from_one"),
    ForeignKeyConstraint(
        ["run_id", "ordinal"],
        ["pgclarify_private.interpretation.run_id", "pgclarify_private.interpretation.ordinal"],
        name="citation_interpretation_fk",
        ondelete="CASCADE",
    ),
    Index("citation_corpus_id_document_id_idx", "corpus_id", "document_id"),
    comment="A passage that supports an interpretation. Quote and ids stay when the document is removed.",
)
