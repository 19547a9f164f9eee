"""The neighborhood graph, and what waits for its place in a space."""

from sqlalchemy import (
    BigInteger,
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
from sqlalchemy.dialects.postgresql import ARRAY, REAL

from pgclarify.schema.base import NO_STATISTICS, Timestamp, metadata


def _space(table: str) -> ForeignKey:
    return ForeignKey(
        "pgclarify_private.embedding_space.embedding_space_id",
        name=f"{table}_embedding_space_id_fk",
        ondelete="CASCADE",
    )


neighborhood = Table(
    "neighborhood",
    metadata,
    Column("embedding_space_id", BigInteger, nullable=False, comment="The space."),
    Column("document_id", Text, info=NO_STATISTICS, nullable=False, comment="The passage's document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage; never among its own neighbors."),
    Column(
        "neighbor_document_ids",
        ARRAY(Text),
        info=NO_STATISTICS,
        nullable=False,
        comment="Documents of the neighbors, in their order.",
    ),
    Column(
        "neighbor_ids",
        ARRAY(BigInteger),
        nullable=False,
        comment=(
            "The nearest passages, at most corpus.graph_degree. Indexed together with passage_id: when a passage is "
            "removed, the index finds its own list and those that contain it."
        ),
    ),
    Column(
        "similarities",
        ARRAY(REAL),
        nullable=False,
        comment="How near each neighbor is, falling: cosine similarity, or lexical similarity from 0 to 1.",
    ),
    PrimaryKeyConstraint("embedding_space_id", "document_id", "passage_id", name="neighborhood_pk"),
    CheckConstraint(
        "cardinality(neighbor_document_ids) = cardinality(neighbor_ids)"
        " and cardinality(similarities) = cardinality(neighbor_ids)",
        name="neighborhood_arrays_are_parallel",
    ),
    Index("neighborhood_passage_ids_idx", text("array_append(neighbor_ids, passage_id)"), postgresql_using="gin"),
    postgresql_partition_by="list (embedding_space_id)",
    comment=(
        "A passage's nearest passages in a space, nearest first. One partition for each space; view edge has one row "
        "for each edge."
    ),
)

pending_link = Table(
    "pending_link",
    metadata,
    Column("embedding_space_id", BigInteger, _space("pending_link"), nullable=False, comment="The space."),
    Column("document_id", Text, nullable=False, comment="The passage's document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column("added_at", Timestamp, nullable=False, server_default=text("now()"), comment="Since when it is waiting."),
    PrimaryKeyConstraint("embedding_space_id", "document_id", "passage_id", name="pending_link_pk"),
    Index("pending_link_embedding_space_id_added_at_idx", "embedding_space_id", "added_at"),
    comment="A passage whose neighbors must be found, or found again. Workers take rows with SKIP LOCKED.",
)

pending_unlink = Table(
    "pending_unlink",
    metadata,
    Column("embedding_space_id", BigInteger, _space("pending_unlink"), nullable=False, comment="The space."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column("added_at", Timestamp, nullable=False, server_default=text("now()"), comment="Since when it is waiting."),
    PrimaryKeyConstraint("embedding_space_id", "passage_id", name="pending_unlink_pk"),
    Index("pending_unlink_embedding_space_id_added_at_idx", "embedding_space_id", "added_at"),
    comment="A passage that was removed, or has a new vector, while neighborhoods may still contain it.",
)

pending_passage = Table(
    "pending_passage",
    metadata,
    Column(
        "embedding_space_id",
        BigInteger,
        _space("pending_passage"),
        nullable=False,
        comment="The space that is being built.",
    ),
    Column("document_id", Text, nullable=False, comment="The passage's document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column(
        "attempts",
        Integer,
        nullable=False,
        server_default=text("0"),
        comment=(
            "How often it could not be embedded. After three times it is skipped, and searches do not switch to the "
            "space."
        ),
    ),
    Column(
        "retry_at",
        Timestamp,
        comment="When embedding it is tried again after a failure; null if it did not fail.",
    ),
    Column("leased_by", BigInteger, comment="Worker that is embedding it; null if none is."),
    Column("leased_until", Timestamp, comment="When another worker may take it over."),
    PrimaryKeyConstraint("embedding_space_id", "document_id", "passage_id", name="pending_passage_pk"),
    CheckConstraint("(leased_by is null) = (leased_until is null)", name="pending_passage_lease_has_a_holder"),
    Index("pending_passage_leased_by_idx", "leased_by", postgresql_where=text("leased_by is not null")),
    Index("pending_passage_failed_idx", "embedding_space_id", postgresql_where=text("attempts >= 3")),
    comment=(
        "A passage without a vector in a space that is being built beside the active one. Workers lease rows with "
        "SKIP LOCKED. Passages of a large corpus are put here a thousand at a time."
    ),
)

pending_cut = Table(
    "pending_cut",
    metadata,
    Column("embedding_space_id", BigInteger, _space("pending_cut"), nullable=False, comment="The space."),
    Column("document_id", Text, nullable=False, comment="The document."),
    PrimaryKeyConstraint("embedding_space_id", "document_id", name="pending_cut_pk"),
    comment=(
        "A document with a passage that is too long for the space's model. Once the space is active, the document is "
        "indexed again, and cut into shorter passages."
    ),
)
