"""The neighborhood graph, and what waits for its place in a space."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, REAL

from pgclarify.schema.base import Timestamp, column, metadata, prose


def _space(table: str) -> sa.ForeignKey:
    return sa.ForeignKey(
        "pgclarify_private.embedding_space.embedding_space_id",
        name=f"{table}_embedding_space_id_fk",
        ondelete="CASCADE",
    )


neighborhood = sa.Table(
    "neighborhood",
    metadata,
    column("embedding_space_id", sa.BigInteger, "The space."),
    prose("document_id", "The passage's document."),
    column("passage_id", sa.BigInteger, "The passage; never among its own neighbors."),
    prose("neighbor_document_ids", "Documents of the neighbors, in their order.", type_=ARRAY(sa.Text)),
    column(
        "neighbor_ids",
        ARRAY(sa.BigInteger),
        "The nearest passages, at most corpus.graph_degree. When a passage is removed, an index finds the lists that "
        "contain it.",
    ),
    column(
        "similarities",
        ARRAY(REAL),
        "How near each neighbor is, falling: cosine similarity.",
    ),
    # Without keys and indexes: each partition has its own, see sql/corpora/partition.sql.
    sa.CheckConstraint(
        "cardinality(neighbor_document_ids) = cardinality(neighbor_ids)"
        " and cardinality(similarities) = cardinality(neighbor_ids)",
        name="neighborhood_arrays_are_parallel",
    ),
    postgresql_partition_by="list (embedding_space_id)",
    comment="A passage's nearest passages in a space, nearest first. One partition for each space.",
)

pending_link = sa.Table(
    "pending_link",
    metadata,
    column("embedding_space_id", sa.BigInteger, "The space.", _space("pending_link")),
    column("document_id", sa.Text, "The passage's document."),
    column("passage_id", sa.BigInteger, "The passage."),
    column("added_at", Timestamp, "Since when it is waiting.", default="now()"),
    sa.PrimaryKeyConstraint("embedding_space_id", "document_id", "passage_id"),
    sa.Index("pending_link_embedding_space_id_added_at_idx", "embedding_space_id", "added_at"),
    comment="A passage whose neighbors must be found, or found again. Workers take rows with SKIP LOCKED.",
)

pending_unlink = sa.Table(
    "pending_unlink",
    metadata,
    column("embedding_space_id", sa.BigInteger, "The space.", _space("pending_unlink")),
    column("passage_id", sa.BigInteger, "The passage."),
    column("added_at", Timestamp, "Since when it is waiting.", default="now()"),
    sa.PrimaryKeyConstraint("embedding_space_id", "passage_id"),
    sa.Index("pending_unlink_embedding_space_id_added_at_idx", "embedding_space_id", "added_at"),
    comment="A passage that was removed, while neighborhoods may still contain it.",
)

pending_passage = sa.Table(
    "pending_passage",
    metadata,
    column("embedding_space_id", sa.BigInteger, "The space that is being built.", _space("pending_passage")),
    column("document_id", sa.Text, "The passage's document."),
    column("passage_id", sa.BigInteger, "The passage."),
    column(
        "attempts",
        sa.Integer,
        "How often it could not be embedded. After three times it is skipped, and searches do not switch to the space.",
        default="0",
    ),
    column(
        "retry_at", Timestamp, "When embedding it is tried again after a failure; null if it did not fail.", null=True
    ),
    column("leased_by", sa.BigInteger, "Worker that is embedding it; null if none is.", null=True),
    column("leased_until", Timestamp, "When another worker may take it over.", null=True),
    sa.PrimaryKeyConstraint("embedding_space_id", "document_id", "passage_id"),
    sa.CheckConstraint("(leased_by is null) = (leased_until is null)", name="pending_passage_lease_has_a_holder"),
    sa.Index("pending_passage_leased_by_idx", "leased_by", postgresql_where=sa.text("leased_by is not null")),
    sa.Index("pending_passage_failed_idx", "embedding_space_id", postgresql_where=sa.text("attempts >= 3")),
    comment=(
        "A passage without a vector in a space that is being built beside the active one. Workers lease rows with "
        "SKIP LOCKED. Passages of a large corpus are put here a thousand at a time."
    ),
)

pending_cut = sa.Table(
    "pending_cut",
    metadata,
    column("embedding_space_id", sa.BigInteger, "The space.", _space("pending_cut")),
    column("document_id", sa.Text, "The document."),
    sa.PrimaryKeyConstraint("embedding_space_id", "document_id"),
    comment=(
        "A document with a passage that is too long for the space's model. When the space becomes active, the document "
        "is queued to be indexed again, and cut into shorter passages."
    ),
)
