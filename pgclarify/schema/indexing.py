"""What waits to become searchable, and what is on its way there."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import BYTEA, UUID

from pgclarify.schema.base import QUEUE, Timestamp, column, count, metadata, prose

pending_document = sa.Table(
    "pending_document",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id")),
    column("document_id", sa.Text, "The document."),
    column("added_at", Timestamp, "Since when it is waiting.", default="now()"),
    column("leased_by", sa.BigInteger, "Worker that is indexing it; null if none is.", null=True),
    column("leased_until", Timestamp, "When another worker may take it over.", null=True),
    column("passages", sa.Integer, "About how many of its passages wait to be embedded; at least 1.", default="1"),
    column(
        "is_long",
        sa.Boolean,
        "Whether it has more passages than a claim of other documents. Workers index such documents beside the others.",
        sa.Computed("passages > 256", persisted=True),
    ),
    sa.PrimaryKeyConstraint("corpus_id", "document_id"),
    sa.CheckConstraint("(leased_by is null) = (leased_until is null)", name="pending_document_lease_has_a_holder"),
    sa.CheckConstraint("passages >= 1", name="pending_document_has_passages"),
    sa.Index("pending_document_corpus_id_is_long_added_at_idx", "corpus_id", "is_long", "added_at"),
    sa.Index("pending_document_added_at_idx", "added_at", postgresql_where=sa.text("is_long")),
    sa.Index("pending_document_leased_by_idx", "leased_by", postgresql_where=sa.text("leased_by is not null")),
    postgresql_with=QUEUE,
    comment="A document whose current content is not searchable yet. Workers lease rows with SKIP LOCKED.",
)

staged_passage = sa.Table(
    "staged_passage",
    metadata,
    column("batch_id", UUID, "The worker's batch."),
    column("document_id", sa.Text, "As in passage."),
    column("ordinal", sa.Integer, "As in passage."),
    prose("heading", "As in passage.", null=True),
    prose("content", "As in passage."),
    column("start_char", sa.Integer, "As in passage."),
    column("end_char", sa.Integer, "As in passage."),
    column("content_hash", BYTEA, "As in passage."),
    prose(
        "vector",
        "As in passage_embedding; null if the document has a passage of this content_hash, whose vector is kept.",
        type_=HALFVEC,
        null=True,
    ),
    sa.Index("staged_passage_batch_id_idx", "batch_id"),
    prefixes=["unlogged"],
    comment=(
        "Staging table: a worker copies passages here, and moves them into place in the same transaction. Unlogged, "
        "because a crash only loses work."
    ),
)

term_change = sa.Table(
    "term_change",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus."),
    prose("lexeme", "The lexeme."),
    column("passages", sa.BigInteger, "Number to add to term.passages; negative for removed passages."),
    count("restricted_passages", "Number to add to term.restricted_passages."),
    sa.Index("term_change_corpus_id_idx", "corpus_id"),
    comment=(
        "Changes of term by users' transactions; workers apply them. So a user who removes a document locks no row "
        "of term until the commit."
    ),
)
