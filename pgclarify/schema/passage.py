"""Passages, their vectors, and in how many of them each word occurs."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, TSVECTOR

from pgclarify.schema.base import NO_STATISTICS, Name, metadata

passage = Table(
    "passage",
    metadata,
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("document_id", Text, info=NO_STATISTICS, nullable=False, comment="The document."),
    Column(
        "id",
        BigInteger,
        nullable=False,
        server_default=text("nextval('pgclarify_private.passage_id_seq')"),
        comment="Unique over all corpora, but never used alone to look up a passage.",
    ),
    Column("ordinal", Integer, nullable=False, comment="Position in the document, from 1."),
    Column(
        "heading",
        Text,
        info=NO_STATISTICS,
        comment='Headings above it, outermost first, joined by " > "; null if none.',
    ),
    Column(
        "content",
        Text,
        info=NO_STATISTICS,
        nullable=False,
        comment="The text, exactly as in the document between the two offsets.",
    ),
    Column("start_char", Integer, nullable=False, comment="Offset of its first character in the document, from 0."),
    Column("end_char", Integer, nullable=False, comment="Offset after its last character."),
    Column("content_hash", BYTEA, nullable=False, comment="SHA-256 of title, heading and content, which are embedded."),
    Column(
        "readers",
        ARRAY(Name),
        comment=(
            "Readers of the document. While its current content is not indexed, only those that could also read the "
            "earlier content."
        ),
    ),
    Column(
        "lexemes",
        TSVECTOR,
        info=NO_STATISTICS,
        nullable=False,
        comment="Title, heading and content in the corpus's language, with positions.",
    ),
    Column(
        "lexeme_count",
        Integer,
        nullable=False,
        comment="Number of its lexemes, with repetitions: the passage's length in BM25.",
    ),
    PrimaryKeyConstraint("corpus_id", "document_id", "id", name="passage_pk"),
    CheckConstraint("ordinal >= 1", name="passage_ordinal_counts_from_one"),
    CheckConstraint("0 <= start_char and start_char < end_char", name="passage_offsets_are_ordered"),
    # What a worker stores goes into a list of so many kB, and from there into the index together, with much less WAL.
    # Each search reads the list, so it is short.
    Index("passage_lexemes_idx", "lexemes", postgresql_using="gin", postgresql_with={"gin_pending_list_limit": "256"}),
    Index(
        "passage_readers_idx",
        text("coalesce(readers, '{\"\"}'::name[])"),
        postgresql_using="gin",
        postgresql_with={"fastupdate": "off"},
    ),
    postgresql_partition_by="list (corpus_id)",
    comment="A chunk of a document. One partition for each corpus that is not distributed.",
)

passage_embedding = Table(
    "passage_embedding",
    metadata,
    Column("embedding_space_id", BigInteger, nullable=False, comment="The space."),
    Column("document_id", Text, info=NO_STATISTICS, nullable=False, comment="The document."),
    Column("passage_id", BigInteger, nullable=False, comment="The passage."),
    Column("vector", HALFVEC, info=NO_STATISTICS, nullable=False, comment="Unit length, with the space's dimensions."),
    PrimaryKeyConstraint("embedding_space_id", "document_id", "passage_id", name="passage_embedding_pk"),
    postgresql_partition_by="list (embedding_space_id)",
    comment=(
        "A passage's vector in a space. One partition for each space, with an HNSW index over "
        "vector::halfvec(dimensions)."
    ),
)

term = Table(
    "term",
    metadata,
    Column("corpus_id", BigInteger, nullable=False, comment="The corpus."),
    Column("lexeme", Text, info=NO_STATISTICS, nullable=False, comment="The lexeme, as in passage.lexemes."),
    Column(
        "passages",
        BigInteger,
        nullable=False,
        comment="How many passages have it, without the changes that are still in term_change.",
    ),
    Column(
        "restricted_passages",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="The same as passages, for documents that have their own readers.",
    ),
    PrimaryKeyConstraint("corpus_id", "lexeme", name="term_pk"),
    postgresql_with={"fillfactor": 80},
    comment=(
        "In how many passages of a corpus a lexeme occurs. BM25 needs it, and PostgreSQL's own ranking does not have "
        "it."
    ),
)
