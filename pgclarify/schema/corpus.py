"""Corpora and their documents."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Computed,
    ForeignKey,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, OID

from pgclarify.schema.base import Name, Timestamp, column, metadata

corpus = Table(
    "corpus",
    metadata,
    column(
        "corpus_id",
        BigInteger,
        "Key; also names the partition pgclarify_private.passage_<corpus_id>.",
        Identity(always=True),
    ),
    column("name", Text, "The name that callers use."),
    column(
        "search_config",
        Text,
        "Text search configuration of its language, such as english; schema-qualified unless in pg_catalog.",
    ),
    column("graph_degree", Integer, "Neighbors that the neighborhood graph keeps for a passage.", default="16"),
    column(
        "revision",
        BigInteger,
        "How often its searchable content changed, without documents that have their own readers, and without "
        "changes that are still in corpus_tally.",
        default="0",
    ),
    column("owner", Name, "Role whose members may change and drop it."),
    column("reader", Name, "Role whose members may search it; null means only its owner.", null=True),
    column("analyst", Name, "Role whose members see everyone's runs on it; null means no role.", null=True),
    # Not a foreign key: embedding_space refers to corpus, and an extension cannot restore a cycle.
    column(
        "embedding_space_id",
        BigInteger,
        "The space that searches use; null until a worker has opened the first one.",
        null=True,
    ),
    column("created_at", Timestamp, "When it was created.", default="now()"),
    column(
        "graph_similarity",
        Text,
        "What makes passages neighbors: dense (cosine similarity of their vectors) or lexical (words they share).",
        default="'dense'",
    ),
    column("owner_oid", OID, "Oid of the owner, so that another role of that name is not the owner."),
    PrimaryKeyConstraint("corpus_id"),
    CheckConstraint("graph_similarity in ('dense', 'lexical')", name="corpus_graph_similarity_is_known"),
    CheckConstraint("length(name) between 1 and 200", name="corpus_name_is_short"),
    CheckConstraint("graph_degree between 1 and 1000", name="corpus_graph_degree_is_small"),
    UniqueConstraint("name", name="corpus_name_key"),
    comment="Documents that are searched together.",
)

embedding_space = Table(
    "embedding_space",
    metadata,
    column(
        "embedding_space_id",
        BigInteger,
        "Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.",
        Identity(always=True),
    ),
    column("corpus_id", BigInteger, "The corpus.", ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column("model", Text, "Name of the embedding model."),
    column("dimensions", Integer, "Length of its vectors; null until a worker has loaded the model.", null=True),
    column("state", Text, "building (being filled), active (searched) or retired (replaced).", default="'building'"),
    column(
        "error",
        Text,
        "Why no worker could open or fill it, or why documents wait for its model; null if nothing failed.",
        null=True,
        has_statistics=False,
    ),
    column("created_at", Timestamp, "When it was created.", default="now()"),
    column(
        "linking_document_id",
        Text,
        "While a worker links all passages by key: the document of the last linked passage; null if none does.",
        null=True,
        has_statistics=False,
    ),
    column(
        "linking_passage_id", BigInteger, "The last linked passage; null if no worker links all passages.", null=True
    ),
    column(
        "linking_passages",
        BigInteger,
        "About how many passages it still has to link; null if no worker links all passages.",
        null=True,
    ),
    column(
        "queued_document_id",
        Text,
        "Progress of filling: passages up to this one, by document_id and id, were put into pending_passage. "
        "Empty if none was yet; null until filling begins, and for the first space of a corpus.",
        null=True,
        has_statistics=False,
    ),
    column("queued_passage_id", BigInteger, "The passage, together with queued_document_id.", null=True),
    column("queued_passages", BigInteger, "How many passages were put there.", default="0"),
    column(
        "queued_at",
        Timestamp,
        "When all passages had been queued; null before, and once nothing is left to do after the switch.",
        null=True,
    ),
    column(
        "ingestion_held_until",
        Timestamp,
        "Until then, documents of the corpus are not claimed, so that the space can be completed; null if they are.",
        null=True,
    ),
    column(
        "paused_until",
        Timestamp,
        "Until then, workers start nothing new on the corpus, so that filling can begin or searches can switch "
        "to the space; null if they do.",
        null=True,
    ),
    column(
        "retired_at",
        Timestamp,
        "When it was replaced or given up; null if it was not. A worker drops it a minute later.",
        null=True,
    ),
    column(
        "linking_worker_id",
        BigInteger,
        "Worker that builds all lists in memory. While it is alive no other worker links the space; null if none does.",
        null=True,
    ),
    PrimaryKeyConstraint("embedding_space_id"),
    CheckConstraint(
        "(queued_document_id is null) = (queued_passage_id is null)", name="embedding_space_cursor_is_whole"
    ),
    CheckConstraint("(state = 'retired') = (retired_at is not null)", name="embedding_space_retired_has_a_time"),
    CheckConstraint("dimensions between 1 and 4000", name="embedding_space_dimensions_fit_an_index"),
    CheckConstraint("state in ('building', 'active', 'retired')", name="embedding_space_state_is_known"),
    CheckConstraint("state <> 'active' or dimensions is not null", name="embedding_space_active_has_dimensions"),
    CheckConstraint(
        "(linking_document_id is null) = (linking_passage_id is null)"
        " and (linking_document_id is null) = (linking_passages is null)",
        name="embedding_space_linking_is_whole",
    ),
    CheckConstraint(
        "linking_worker_id is null or linking_document_id is not null", name="embedding_space_linking_worker_walks"
    ),
    Index("embedding_space_corpus_id_idx", "corpus_id"),
    Index("embedding_space_building_idx", "embedding_space_id", postgresql_where=text("state = 'building'")),
    Index(
        "embedding_space_corpus_id_state_key",
        "corpus_id",
        "state",
        unique=True,
        postgresql_where=text("state <> 'retired'"),
    ),
    Index("embedding_space_retired_idx", "embedding_space_id", postgresql_where=text("state = 'retired'")),
    Index("embedding_space_queued_idx", "embedding_space_id", postgresql_where=text("queued_at is not null")),
    comment="A corpus with one embedding model.",
)

corpus_tally = Table(
    "corpus_tally",
    metadata,
    column("corpus_tally_id", BigInteger, "Key.", Identity(always=True)),
    column("corpus_id", BigInteger, "The corpus.", ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column("documents", BigInteger, "Documents added, minus those removed.", default="0"),
    column("pending", BigInteger, "Documents that became pending, minus those indexed.", default="0"),
    column("failed", BigInteger, "Documents that cannot be indexed, minus those repaired.", default="0"),
    column("passages", BigInteger, "Passages added, minus those removed.", default="0"),
    column(
        "restricted_documents", BigInteger, "The same as documents, for those that have their own readers.", default="0"
    ),
    column(
        "restricted_passages",
        BigInteger,
        "The same as passages, for documents that have their own readers.",
        default="0",
    ),
    column("embedded", BigInteger, "Vectors added to the active space, minus those removed.", default="0"),
    column(
        "lexemes",
        BigInteger,
        "Lexemes added, with repetitions, minus those removed. Divided by passages, this is the average length "
        "for BM25.",
        default="0",
    ),
    column(
        "revision",
        BigInteger,
        "Changes of the searchable content, without documents that have their own readers.",
        default="0",
    ),
    column("linked", BigInteger, "Neighborhoods added to the active space, minus those removed.", default="0"),
    column(
        "restricted_lexemes", BigInteger, "The same as lexemes, for passages that have their own readers.", default="0"
    ),
    column("graph_revision", BigInteger, "How often passages without readers of their own got neighbors.", default="0"),
    column(
        "pending_passages",
        BigInteger,
        "About how many passages pending documents have, minus those embedded.",
        default="0",
    ),
    PrimaryKeyConstraint("corpus_tally_id"),
    Index("corpus_tally_corpus_id_idx", "corpus_id"),
    comment=(
        "Counts of a corpus as increments; their sum is the count. Writers only insert rows, so that they do not "
        "wait for each other; workers merge the rows of a corpus into one."
    ),
)

reader_revision = Table(
    "reader_revision",
    metadata,
    column("reader_revision_id", BigInteger, "Key.", Identity(always=True)),
    column("corpus_id", BigInteger, "The corpus.", ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column("reader", Name, "A role in readers of the changed documents."),
    column("revision", BigInteger, "Changes of the content that it can find.", default="0"),
    column("graph_revision", BigInteger, "How often passages that it can read got neighbors.", default="0"),
    column(
        "is_merged",
        Boolean,
        "Whether a worker has merged earlier rows into it. Rows that writers insert wait for that.",
        default="false",
    ),
    PrimaryKeyConstraint("reader_revision_id"),
    Index("reader_revision_corpus_id_reader_idx", "corpus_id", "reader"),
    Index("reader_revision_added_idx", "corpus_id", "reader", postgresql_where=text("not is_merged")),
    comment=(
        "Changes of restricted documents, for each role in their readers, as increments; their sum is the count. "
        "Writers only insert rows; workers merge the rows of a reader into one. Changes of documents without readers "
        "are in corpus_tally."
    ),
)

document = Table(
    "document",
    metadata,
    column("corpus_id", BigInteger, "The corpus.", ForeignKey("corpus.corpus_id")),
    column(
        "id",
        Text,
        "The user's own id, as text: citations can be joined directly; cast bigint ids with document_ids::bigint[].",
    ),
    column(
        "content", Text, "Plain text or Markdown. Offsets of passages and citations refer to it.", has_statistics=False
    ),
    column("title", Text, "Null if it has none.", null=True, has_statistics=False),
    column("uri", Text, "Address of the original, for people; null if there is none.", null=True, has_statistics=False),
    column("metadata", JSONB, "Any JSON object.", default="'{}'", has_statistics=False),
    column(
        "readers",
        ARRAY(Name),
        "Roles that may read it; null means every reader of the corpus. A name without a role grants access to no one.",
        null=True,
    ),
    column("content_hash", BYTEA, "SHA-256 of title and content, which searches use."),
    column("error", Text, "Why it cannot be indexed; null if nothing is wrong.", null=True, has_statistics=False),
    column("created_at", Timestamp, "When it was first added.", default="now()"),
    column("updated_at", Timestamp, "When it last changed.", default="now()"),
    column("indexed_at", Timestamp, "When its content last became searchable; null if it never was.", null=True),
    column(
        "source_id",
        BigInteger,
        "The attached table of which it is a row; null if it was added in another way.",
        ForeignKey("source.source_id"),
        null=True,
    ),
    column(
        "origin",
        Text(collation="C"),
        "The file that it was loaded from: machine:/path/file, or name/path/file if its source has a name; "
        "followed by #id if the file has several documents. Empty if a statement or a client added it. Null if "
        "it is a row of an attached table.",
        null=True,
    ),
    column(
        "has_failed",
        Boolean,
        "Whether error has a text. That column has no statistics, and text in views uses no index.",
        Computed("error is not null", persisted=True),
        null=True,
    ),
    PrimaryKeyConstraint("corpus_id", "id"),
    CheckConstraint("length(id) between 1 and 1000 and octet_length(id) <= 2600", name="document_id_is_short"),
    CheckConstraint("jsonb_typeof(metadata) = 'object'", name="document_metadata_is_an_object"),
    CheckConstraint("octet_length(origin) <= 2600", name="document_origin_is_short"),
    Index("document_source_id_id_idx", "source_id", "id", postgresql_where=text("source_id is not null")),
    Index("document_corpus_id_origin_idx", "corpus_id", "origin", postgresql_where=text("origin <> ''")),
    Index("document_failed_idx", "corpus_id", "id", postgresql_where=text("has_failed")),
    comment="A document that can be cited.",
)
