"""Corpora and their documents."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
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

from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, metadata

corpus = Table(
    "corpus",
    metadata,
    Column(
        "corpus_id",
        BigInteger,
        Identity(always=True),
        nullable=False,
        comment="Key; also names the partition pgclarify_private.passage_<corpus_id>.",
    ),
    Column("name", Text, nullable=False, comment="The name that callers use."),
    Column(
        "search_config",
        Text,
        nullable=False,
        comment="Text search configuration of its language, such as english; schema-qualified unless in pg_catalog.",
    ),
    Column(
        "graph_degree",
        Integer,
        nullable=False,
        server_default=text("16"),
        comment="Neighbors that the neighborhood graph keeps for a passage.",
    ),
    Column(
        "revision",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment=(
            "How often its searchable content changed, without documents that have their own readers, and without "
            "changes that are still in corpus_tally."
        ),
    ),
    Column("owner", Name, nullable=False, comment="Role whose members may change and drop it."),
    Column("reader", Name, comment="Role whose members may search it; null means only its owner."),
    Column("analyst", Name, comment="Role whose members see everyone's runs on it; null means no role."),
    # Not a foreign key: embedding_space refers to corpus, and an extension cannot restore a cycle.
    Column(
        "embedding_space_id",
        BigInteger,
        comment="The space that searches use; null until a worker has opened the first one.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was created."),
    Column(
        "graph_similarity",
        Text,
        nullable=False,
        server_default=text("'dense'"),
        comment=(
            "What makes passages neighbors: dense (cosine similarity of their vectors) or lexical (words they share)."
        ),
    ),
    Column(
        "owner_oid",
        OID,
        nullable=False,
        comment="Oid of the owner, so that another role of that name is not the owner.",
    ),
    PrimaryKeyConstraint("corpus_id", name="corpus_pk"),
    CheckConstraint("graph_similarity in ('dense', 'lexical')", name="corpus_graph_similarity_is_known"),
    CheckConstraint("length(name) between 1 and 200", name="corpus_name_is_short"),
    CheckConstraint("graph_degree between 1 and 1000", name="corpus_graph_degree_is_small"),
    UniqueConstraint("name", name="corpus_name_key"),
    comment="Documents that are searched together.",
)

embedding_space = Table(
    "embedding_space",
    metadata,
    Column(
        "embedding_space_id",
        BigInteger,
        Identity(always=True),
        nullable=False,
        comment="Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.",
    ),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="embedding_space_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("model", Text, nullable=False, comment="Name of the embedding model."),
    Column("dimensions", Integer, comment="Length of its vectors; null until a worker has loaded the model."),
    Column(
        "state",
        Text,
        nullable=False,
        server_default=text("'building'"),
        comment="building (being filled), active (searched) or retired (replaced).",
    ),
    Column(
        "error",
        Text,
        info=NO_STATISTICS,
        comment="Why no worker could open or fill it, or why documents wait for its model; null if nothing failed.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was created."),
    Column(
        "linking_document_id",
        Text,
        info=NO_STATISTICS,
        comment=(
            "While a worker links all passages by key: the document of the last linked passage; null if none does."
        ),
    ),
    Column("linking_passage_id", BigInteger, comment="The last linked passage; null if no worker links all passages."),
    Column(
        "linking_passages",
        BigInteger,
        comment="About how many passages it still has to link; null if no worker links all passages.",
    ),
    Column(
        "queued_document_id",
        Text,
        info=NO_STATISTICS,
        comment=(
            "Progress of filling: passages up to this one, by document_id and id, were put into pending_passage. "
            "Empty if none was yet; null until filling begins, and for the first space of a corpus."
        ),
    ),
    Column("queued_passage_id", BigInteger, comment="The passage, together with queued_document_id."),
    Column(
        "queued_passages",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="How many passages were put there.",
    ),
    Column(
        "queued_at",
        Timestamp,
        comment=("When all passages had been queued; null before, and once nothing is left to do after the switch."),
    ),
    Column(
        "ingestion_held_until",
        Timestamp,
        comment=(
            "Until then, documents of the corpus are not claimed, so that the space can be completed; null if they are."
        ),
    ),
    Column(
        "paused_until",
        Timestamp,
        comment=(
            "Until then, workers start nothing new on the corpus, so that filling can begin or searches can switch "
            "to the space; null if they do."
        ),
    ),
    Column(
        "retired_at",
        Timestamp,
        comment="When it was replaced or given up; null if it was not. A worker drops it a minute later.",
    ),
    Column(
        "linking_worker_id",
        BigInteger,
        comment=(
            "Worker that builds all lists in memory. While it is alive no other worker links the space; null if none "
            "does."
        ),
    ),
    PrimaryKeyConstraint("embedding_space_id", name="embedding_space_pk"),
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
        "linking_worker_id is null or linking_document_id is not null",
        name="embedding_space_linking_worker_walks",
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
    Column("corpus_tally_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="corpus_tally_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus.",
    ),
    Column(
        "documents",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Documents added, minus those removed.",
    ),
    Column(
        "pending",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Documents that became pending, minus those indexed.",
    ),
    Column(
        "failed",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Documents that cannot be indexed, minus those repaired.",
    ),
    Column(
        "passages", BigInteger, nullable=False, server_default=text("0"), comment="Passages added, minus those removed."
    ),
    Column(
        "restricted_documents",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="The same as documents, for those that have their own readers.",
    ),
    Column(
        "restricted_passages",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="The same as passages, for documents that have their own readers.",
    ),
    Column(
        "embedded",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Vectors added to the active space, minus those removed.",
    ),
    Column(
        "lexemes",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment=(
            "Lexemes added, with repetitions, minus those removed. Divided by passages, this is the average length "
            "for BM25."
        ),
    ),
    Column(
        "revision",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Changes of the searchable content, without documents that have their own readers.",
    ),
    Column(
        "linked",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Neighborhoods added to the active space, minus those removed.",
    ),
    Column(
        "restricted_lexemes",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="The same as lexemes, for passages that have their own readers.",
    ),
    Column(
        "graph_revision",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="How often passages without readers of their own got neighbors.",
    ),
    Column(
        "pending_passages",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="About how many passages pending documents have, minus those embedded.",
    ),
    PrimaryKeyConstraint("corpus_tally_id", name="corpus_tally_pk"),
    Index("corpus_tally_corpus_id_idx", "corpus_id"),
    comment=(
        "Counts of a corpus as increments; their sum is the count. Writers only insert rows, so that they do not "
        "wait for each other; workers merge the rows of a corpus into one."
    ),
)

reader_revision = Table(
    "reader_revision",
    metadata,
    Column("reader_revision_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="reader_revision_corpus_id_fk", ondelete="CASCADE"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("reader", Name, nullable=False, comment="A role in readers of the changed documents."),
    Column(
        "revision",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Changes of the content that it can find.",
    ),
    Column(
        "graph_revision",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="How often passages that it can read got neighbors.",
    ),
    Column(
        "is_merged",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="Whether a worker has merged earlier rows into it. Rows that writers insert wait for that.",
    ),
    PrimaryKeyConstraint("reader_revision_id", name="reader_revision_pk"),
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
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="document_corpus_id_fk"),
        nullable=False,
        comment="The corpus.",
    ),
    Column(
        "id",
        Text,
        nullable=False,
        comment=(
            "The user's own id, as text: citations can be joined directly; cast bigint ids with document_ids::bigint[]."
        ),
    ),
    Column(
        "content",
        Text,
        info=NO_STATISTICS,
        nullable=False,
        comment="Plain text or Markdown. Offsets of passages and citations refer to it.",
    ),
    Column("title", Text, info=NO_STATISTICS, comment="Null if it has none."),
    Column("uri", Text, info=NO_STATISTICS, comment="Address of the original, for people; null if there is none."),
    Column(
        "metadata", JSONB, info=NO_STATISTICS, nullable=False, server_default=text("'{}'"), comment="Any JSON object."
    ),
    Column(
        "readers",
        ARRAY(Name),
        comment=(
            "Roles that may read it; null means every reader of the corpus. A name without a role grants access to "
            "no one."
        ),
    ),
    Column("content_hash", BYTEA, nullable=False, comment="SHA-256 of title and content, which searches use."),
    Column("error", Text, info=NO_STATISTICS, comment="Why it cannot be indexed; null if nothing is wrong."),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was first added."),
    Column("updated_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it last changed."),
    Column("indexed_at", Timestamp, comment="When its content last became searchable; null if it never was."),
    Column(
        "source_id",
        BigInteger,
        ForeignKey("pgclarify_private.source.source_id", name="document_source_id_fk"),
        comment="The attached table of which it is a row; null if it was added in another way.",
    ),
    Column(
        "origin",
        Text(collation="C"),
        comment=(
            "The file that it was loaded from: machine:/path/file, or name/path/file if its source has a name; "
            "followed by #id if the file has several documents. Empty if a statement or a client added it. Null if "
            "it is a row of an attached table, or was added before this column existed."
        ),
    ),
    Column(
        "has_failed",
        Boolean,
        Computed("error is not null", persisted=True),
        comment="Whether error has a text. That column has no statistics, and text in views uses no index.",
    ),
    PrimaryKeyConstraint("corpus_id", "id", name="document_pk"),
    CheckConstraint("length(id) between 1 and 1000 and octet_length(id) <= 2600", name="document_id_is_short"),
    CheckConstraint("jsonb_typeof(metadata) = 'object'", name="document_metadata_is_an_object"),
    CheckConstraint("octet_length(origin) <= 2600", name="document_origin_is_short"),
    Index("document_source_id_id_idx", "source_id", "id", postgresql_where=text("source_id is not null")),
    Index("document_corpus_id_origin_idx", "corpus_id", "origin", postgresql_where=text("origin <> ''")),
    Index("document_failed_idx", "corpus_id", "id", postgresql_where=text("has_failed")),
    comment="A document that can be cited.",
)
