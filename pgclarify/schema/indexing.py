"""What waits to become searchable, and what is on its way there."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import BYTEA, UUID

from pgclarify.schema.base import NO_STATISTICS, QUEUE, Timestamp, metadata

pending_document = Table(
    "pending_document",
    metadata,
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="pending_document_corpus_id_fk"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("document_id", Text, nullable=False, comment="The document."),
    Column("added_at", Timestamp, nullable=False, server_default=text("now()"), comment="Since when it is waiting."),
    Column("leased_by", BigInteger, comment="Worker that is indexing it; null if none is."),
    Column("leased_until", Timestamp, comment="When another worker may take it over."),
    Column(
        "passages",
        Integer,
        nullable=False,
        server_default=text("1"),
        comment="About how many of its passages wait to be embedded; at least 1.",
    ),
    Column(
        "is_long",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether a worker found that it takes several steps, each for its next part.",
    ),
    Column(
        "batch_id",
        UUID,
        comment="Its batch in staged_passage, with the passages that are embedded already; null if there are none.",
    ),
    Column("staged_passages", Integer, nullable=False, server_default=text("0"), comment="How many there are."),
    Column(
        "staged_chars",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment="Where its next part starts; its length once all are staged.",
    ),
    PrimaryKeyConstraint("corpus_id", "document_id", name="pending_document_pk"),
    CheckConstraint("(leased_by is null) = (leased_until is null)", name="pending_document_lease_has_a_holder"),
    CheckConstraint("passages >= 1", name="pending_document_has_passages"),
    CheckConstraint("is_long or batch_id is null", name="pending_document_staged_is_long"),
    Index("pending_document_corpus_id_is_long_added_at_idx", "corpus_id", "is_long", "added_at"),
    Index("pending_document_added_at_idx", "added_at", postgresql_where=text("is_long")),
    Index("pending_document_leased_by_idx", "leased_by", postgresql_where=text("leased_by is not null")),
    postgresql_with=QUEUE,
    comment="A document whose current content is not searchable yet. Workers lease rows with SKIP LOCKED.",
)

staged_passage = Table(
    "staged_passage",
    metadata,
    Column("batch_id", UUID, nullable=False, comment="The worker's batch."),
    Column("document_id", Text, nullable=False, comment="As in passage."),
    Column("ordinal", Integer, nullable=False, comment="As in passage."),
    Column("heading", Text, info=NO_STATISTICS, comment="As in passage."),
    Column("content", Text, info=NO_STATISTICS, nullable=False, comment="As in passage."),
    Column("start_char", Integer, nullable=False, comment="As in passage."),
    Column("end_char", Integer, nullable=False, comment="As in passage."),
    Column("content_hash", BYTEA, nullable=False, comment="As in passage."),
    Column(
        "vector",
        HALFVEC,
        info=NO_STATISTICS,
        comment=(
            "As in passage_embedding; null if the document has a passage of this content_hash, whose vector is kept."
        ),
    ),
    Index("staged_passage_batch_id_idx", "batch_id"),
    prefixes=["unlogged"],
    comment=(
        "Staging table: a worker copies passages here, and one statement then moves them into place; those of a long "
        "document arrive in parts. Unlogged, because a crash only loses work."
    ),
)

term_change = Table(
    "term_change",
    metadata,
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("lexeme", Text, info=NO_STATISTICS, nullable=False, comment="The lexeme."),
    Column(
        "passages", BigInteger, nullable=False, comment="Number to add to term.passages; negative for removed passages."
    ),
    Column(
        "restricted_passages",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Number to add to term.restricted_passages.",
    ),
    Index("term_change_corpus_id_idx", "corpus_id"),
    comment=(
        "Changes of term by users' transactions; workers apply them. So a user who removes a document locks no row "
        "of term until the commit."
    ),
)
