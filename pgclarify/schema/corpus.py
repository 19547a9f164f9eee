"""Corpora and their documents."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, BYTEA, JSONB, OID

from pgclarify.data.vocabulary import PlaceKind, SpaceState
from pgclarify.declared.documents import FIELDS, Field, since
from pgclarify.declared.releases import FIRST
from pgclarify.declared.words import listed
from pgclarify.schema.base import NO_STATISTICS, Name, Timestamp, column, count, metadata, prose, word_is_known

corpus = sa.Table(
    "corpus",
    metadata,
    column(
        "corpus_id",
        sa.BigInteger,
        "Key; also names the partition pgclarify_private.passage_<corpus_id>.",
        sa.Identity(always=True),
    ),
    column("name", sa.Text, "The name that callers use."),
    column(
        "search_config",
        sa.Text,
        "Text search configuration of its language, such as english; schema-qualified unless in pg_catalog.",
    ),
    column("graph_degree", sa.Integer, "Neighbors that the neighborhood graph keeps for a passage.", default="16"),
    column("owner", Name, "Role whose members may change and drop it."),
    column("readers", ARRAY(Name), "Roles whose members may search it, besides its owner.", default="'{}'"),
    column("analysts", ARRAY(Name), "Roles whose members see everyone's runs on it.", default="'{}'"),
    # Not a foreign key: embedding_space refers to corpus, and an extension cannot restore a cycle.
    column(
        "embedding_space_id",
        sa.BigInteger,
        "The space that searches use; null until a worker has opened the first one.",
        null=True,
    ),
    column("created_at", Timestamp, "When it was created.", default="now()"),
    column("owner_oid", OID, "Oid of the owner, so that another role of that name is not the owner."),
    column(
        "dropped_at",
        Timestamp,
        "When it was dropped; null if it was not. Then it counts as missing, and workers remove it.",
        null=True,
    ),
    prose(
        "date_key",
        "Key of metadata with the date of a document that is given none, or a path with dots; id for the first date in "
        "its id; null for none.",
        null=True,
    ),
    prose(
        "folders",
        "Metadata of documents in folders: an object with the metadata of each folder; null for none.",
        type_=JSONB,
        null=True,
    ),
    column(
        "passages_per_call",
        sa.Integer,
        "Most passages that a model reads in one call, whatever a run asks for; null for no limit.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("corpus_id"),
    sa.CheckConstraint("passages_per_call >= 1", name="corpus_passages_per_call_counts_from_one"),
    sa.CheckConstraint("length(name) between 1 and 200", name="corpus_name_is_short"),
    sa.CheckConstraint("graph_degree between 1 and 1000", name="corpus_graph_degree_is_small"),
    # A dropped corpus leaves its name to others at once.
    sa.Index("corpus_name_key", "name", unique=True, postgresql_where=sa.text("dropped_at is null")),
    comment="Documents that are searched together.",
)

embedding_space = sa.Table(
    "embedding_space",
    metadata,
    column(
        "embedding_space_id",
        sa.BigInteger,
        "Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.",
        sa.Identity(always=True),
    ),
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column("model", sa.Text, "Name of the embedding model."),
    column("dimensions", sa.Integer, "Length of its vectors; null until a worker has loaded the model.", null=True),
    column("state", sa.Text, f"{listed(SpaceState)}.", default="'building'"),
    prose(
        "error",
        "Why no worker could open or fill it, or why documents wait for its model; null if nothing failed.",
        null=True,
    ),
    prose(
        "linking_document_id",
        "While a worker links all passages by key: the document of the last linked passage; null if none does.",
        null=True,
    ),
    column(
        "linking_passage_id", sa.BigInteger, "The last linked passage; null if no worker links all passages.", null=True
    ),
    column(
        "linking_passages",
        sa.BigInteger,
        "About how many passages it still has to link; null if no worker links all passages.",
        null=True,
    ),
    prose(
        "queued_document_id",
        "Progress of filling: passages up to this one, by document_id and id, were put into pending_passage. "
        "Empty if none was yet; null until filling begins, and for the first space of a corpus.",
        null=True,
    ),
    column("queued_passage_id", sa.BigInteger, "The passage, together with queued_document_id.", null=True),
    count("queued_passages", "How many passages were put there."),
    column(
        "queued_at",
        Timestamp,
        "When all passages had been queued; null before, and for the first space of a corpus.",
        null=True,
    ),
    column(
        "paused_until",
        Timestamp,
        "Until then, workers start nothing else on the corpus, so that filling can begin or end, or searches can "
        "switch to the space; null if they do.",
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
        sa.BigInteger,
        "Worker that builds all lists in memory. While it is alive no other worker links the space; null if none does.",
        null=True,
    ),
    column(
        "changed_at",
        Timestamp,
        "When a worker found that its model gives other vectors to stored texts than before; null if it does not. "
        "Until it does not any more, nothing is embedded for the space, and no question is compared with it.",
        null=True,
    ),
    sa.PrimaryKeyConstraint("embedding_space_id"),
    sa.CheckConstraint(
        "(queued_document_id is null) = (queued_passage_id is null)", name="embedding_space_cursor_is_whole"
    ),
    sa.CheckConstraint("(state = 'retired') = (retired_at is not null)", name="embedding_space_retired_has_a_time"),
    sa.CheckConstraint("dimensions between 1 and 4000", name="embedding_space_dimensions_fit_an_index"),
    word_is_known("embedding_space.state"),
    sa.CheckConstraint("state <> 'active' or dimensions is not null", name="embedding_space_active_has_dimensions"),
    sa.CheckConstraint(
        "(linking_document_id is null) = (linking_passage_id is null)"
        " and (linking_document_id is null) = (linking_passages is null)",
        name="embedding_space_linking_is_whole",
    ),
    sa.CheckConstraint(
        "linking_worker_id is null or linking_document_id is not null", name="embedding_space_linking_worker_walks"
    ),
    sa.Index("embedding_space_corpus_id_idx", "corpus_id"),
    sa.Index("embedding_space_building_idx", "embedding_space_id", postgresql_where=sa.text("state = 'building'")),
    sa.Index(
        "embedding_space_corpus_id_state_key",
        "corpus_id",
        "state",
        unique=True,
        postgresql_where=sa.text("state <> 'retired'"),
    ),
    sa.Index("embedding_space_retired_idx", "embedding_space_id", postgresql_where=sa.text("state = 'retired'")),
    comment="A corpus with one embedding model.",
)

corpus_tally = sa.Table(
    "corpus_tally",
    metadata,
    column("corpus_tally_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id", ondelete="CASCADE")),
    column(
        "reader",
        Name,
        "Empty for the counts of the corpus. Otherwise a role in readers of changed documents; the row then has only "
        "revisions: of what that role can find because of it.",
        default="''",
    ),
    count("documents", "Documents added, minus those removed."),
    count("passages", "Passages added, minus those removed."),
    count("restricted_documents", "The same as documents, for those that have their own readers."),
    count("restricted_passages", "The same as passages, for documents that have their own readers."),
    count(
        "lexemes",
        "Lexemes added, with repetitions, minus those removed. Divided by passages, this is the average length "
        "for BM25.",
    ),
    count("revision", "Changes of the searchable content, without documents that have their own readers."),
    count("linked", "Neighborhoods added to the active space, minus those removed."),
    count("restricted_lexemes", "The same as lexemes, for passages that have their own readers."),
    count("graph_revision", "How often passages without readers of their own got neighbors."),
    column(
        "is_merged",
        sa.Boolean,
        "Whether a worker has merged earlier rows into it. Rows that writers insert wait for that.",
        default="false",
    ),
    sa.PrimaryKeyConstraint("corpus_tally_id"),
    sa.Index("corpus_tally_corpus_id_reader_idx", "corpus_id", "reader"),
    sa.Index("corpus_tally_added_idx", "corpus_id", "reader", postgresql_where=sa.text("not is_merged")),
    comment=(
        "Counts of a corpus, and revisions for each role in readers of its documents, as increments; their sum is the "
        "count. Writers only insert rows, so that they do not wait for each other; workers merge the rows of a corpus, "
        "and those of a reader, into one."
    ),
)


def _field(one: Field) -> sa.Column[Any]:
    """Return the column of a field of a document."""
    types = {"text": sa.Text, "object": JSONB, "roles": ARRAY(Name), "date": Timestamp}
    default = None if one.default == "null" else one.default
    made = column(one.name, types[one.kind], one.meaning, null=default is None, default=default)
    if one.kind in ("text", "object"):
        made.info.update(NO_STATISTICS)
    return made


document = sa.Table(
    "document",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id")),
    column(
        "id",
        sa.Text,
        "The user's own id, as text: citations can be joined directly; cast bigint ids with document_ids::bigint[].",
    ),
    prose("content", "Plain text or Markdown. Offsets of passages and citations refer to it."),
    *(_field(one) for one in FIELDS if one.since == FIRST),
    column("content_hash", BYTEA, "SHA-256 of title and content, which searches use."),
    prose("error", "Why it cannot be indexed; null if nothing is wrong.", null=True),
    column("created_at", Timestamp, "When it was first added.", default="now()"),
    column("updated_at", Timestamp, "When it last changed.", default="now()"),
    column("indexed_at", Timestamp, "When its content last became searchable; null if it never was.", null=True),
    column(
        "source_id",
        sa.BigInteger,
        "The attached table of which it is a row; null if it was added in another way.",
        sa.ForeignKey("source.source_id"),
        null=True,
    ),
    column(
        "origin",
        sa.Text(collation="C"),
        "The file that it was loaded from: machine:/path/file, or name/path/file if its source has a name; "
        "followed by #id if the file has several documents. Empty if a statement or a client added it. Null if "
        "it is a row of an attached table.",
        null=True,
    ),
    column(
        "has_failed",
        sa.Boolean,
        "Whether error has a text. That column has no statistics, and text in views uses no index.",
        sa.Computed("error is not null", persisted=True),
        null=True,
    ),
    *(_field(one) for one in FIELDS if one.since == "0.3.0"),
    prose(
        "places",
        f"Where parts of its file begin: an array of objects with start_char, kind ({listed(PlaceKind)}) and name, in "
        "this order; null if its file has none.",
        type_=JSONB,
        null=True,
    ),
    prose(
        "unread",
        "What its file has and its content does not, such as pictures: an object with the number of each kind; null if "
        "there is nothing.",
        type_=JSONB,
        null=True,
    ),
    *(_field(one) for one in since("0.4.0")),
    sa.PrimaryKeyConstraint("corpus_id", "id"),
    sa.CheckConstraint("length(id) between 1 and 1000 and octet_length(id) <= 2600", name="document_id_is_short"),
    sa.CheckConstraint("jsonb_typeof(metadata) = 'object'", name="document_metadata_is_an_object"),
    sa.CheckConstraint("octet_length(origin) <= 2600", name="document_origin_is_short"),
    # As pgclarify_private.is_writable_date: these can be written in four digits, in every time zone.
    sa.CheckConstraint(
        "dated between '0002-01-01 00:00:00+00' and '9999-01-01 00:00:00+00'", name="document_dated_is_writable"
    ),
    sa.CheckConstraint("jsonb_typeof(places) = 'array'", name="document_places_is_an_array"),
    sa.CheckConstraint("jsonb_typeof(unread) = 'object'", name="document_unread_is_an_object"),
    sa.Index("document_source_id_id_idx", "source_id", "id", postgresql_where=sa.text("source_id is not null")),
    sa.Index("document_corpus_id_origin_idx", "corpus_id", "origin", postgresql_where=sa.text("origin <> ''")),
    sa.Index(
        "document_metadata_idx",
        "metadata",
        postgresql_using="gin",
        postgresql_ops={"metadata": "jsonb_path_ops"},
    ),
    sa.Index("document_failed_idx", "corpus_id", "id", postgresql_where=sa.text("has_failed")),
    sa.Index("document_unread_idx", "corpus_id", postgresql_where=sa.text("unread is not null")),
    comment="A document that can be cited.",
)

document_set = sa.Table(
    "document_set",
    metadata,
    column("hash", BYTEA, "SHA-256 of the ids, as JSON; run.settings has it in hexadecimal digits, as document_set."),
    prose("document_ids", "The ids, each once, in order.", type_=ARRAY(sa.Text)),
    column("used_at", Timestamp, "When a question was last limited to it.", default="now()"),
    sa.PrimaryKeyConstraint("hash"),
    comment="Lists of documents that questions were limited to, each stored once.",
)

fence = sa.Table(
    "fence",
    metadata,
    column("corpus_id", sa.BigInteger, "The corpus."),
    column("role", Name, "One of its readers."),
    prose("filter", "The filter of grant_access: the role reads documents that fit it, and no others.", type_=JSONB),
    prose("condition", "The filter as a condition over metadata, in jsonpath."),
    prose("keys", "The keys of metadata that the filter asks for, and their first parts.", type_=ARRAY(sa.Text)),
    sa.PrimaryKeyConstraint("corpus_id", "role"),
    sa.ForeignKeyConstraint(["corpus_id"], ["pgclarify_private.corpus.corpus_id"]),
    comment="What readers of a corpus are limited to. A reader without a row reads all that is open to it.",
)
