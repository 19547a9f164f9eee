"""Passages, their vectors, and in how many of them each word occurs."""

import sqlalchemy as sa
from pgvector.sqlalchemy import HALFVEC
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, TSVECTOR

from pgclarify.schema.base import Name, column, count, metadata, prose

passage = sa.Table(
    "passage",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus."),
    prose("document_id", "The document."),
    column(
        "id",
        sa.BigInteger,
        "Unique over all corpora, but never used alone to look up a passage.",
        default="nextval('pgclarify_private.passage_id_seq')",
    ),
    column("ordinal", sa.Integer, "Position in the document, from 1."),
    prose("heading", 'Headings above it, outermost first, joined by " > "; null if none.', null=True),
    prose("content", "The text, exactly as in the document between the two offsets."),
    column("start_char", sa.Integer, "Offset of its first character in the document, from 0."),
    column("end_char", sa.Integer, "Offset after its last character."),
    column("content_hash", BYTEA, "SHA-256 of title, heading and content, which are embedded."),
    column(
        "readers",
        ARRAY(Name),
        "Readers of the document. While its current content is not indexed, only those that could also read the "
        "earlier content.",
        null=True,
    ),
    prose("lexemes", "Title, heading and content in the corpus's language, with positions.", type_=TSVECTOR),
    column("lexeme_count", sa.Integer, "Number of its lexemes, with repetitions: the passage's length in BM25."),
    # Without keys and indexes: each partition has its own, see sql/corpora/partition.sql.
    sa.CheckConstraint("ordinal >= 1", name="passage_ordinal_counts_from_one"),
    sa.CheckConstraint("0 <= start_char and start_char < end_char", name="passage_offsets_are_ordered"),
    postgresql_partition_by="list (corpus_id)",
    comment="A chunk of a document. One partition for each corpus that is not distributed.",
)

passage_embedding = sa.Table(
    "passage_embedding",
    metadata,
    column("embedding_space_id", sa.BigInteger, "The space."),
    prose("document_id", "The document."),
    column("passage_id", sa.BigInteger, "The passage."),
    prose("vector", "Unit length, with the space's dimensions.", type_=HALFVEC),
    # Without keys and indexes, too.
    postgresql_partition_by="list (embedding_space_id)",
    comment=(
        "A passage's vector in a space. One partition for each space, with an HNSW index over "
        "vector::halfvec(dimensions)."
    ),
)

term = sa.Table(
    "term",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus."),
    prose("lexeme", "The lexeme, as in passage.lexemes."),
    column("passages", sa.BigInteger, "How many passages have it, without the changes that are still in term_change."),
    count("restricted_passages", "The same as passages, for documents that have their own readers."),
    sa.PrimaryKeyConstraint("corpus_id", "lexeme"),
    postgresql_with={"fillfactor": 80},
    comment=(
        "In how many passages of a corpus a lexeme occurs. BM25 needs it, and PostgreSQL's own ranking does not have "
        "it."
    ),
)
