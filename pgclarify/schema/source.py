"""Attached tables, and what changed in them."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Identity,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, OID, REGCLASS

from pgclarify.schema.base import NO_STATISTICS, QUEUE, Name, Timestamp, metadata

source = Table(
    "source",
    metadata,
    Column(
        "source_id",
        BigInteger,
        Identity(always=True),
        nullable=False,
        comment="Key; also names the function pgclarify_private.capture_<source_id>.",
    ),
    Column(
        "corpus_id",
        BigInteger,
        ForeignKey("pgclarify_private.corpus.corpus_id", name="source_corpus_id_fk"),
        nullable=False,
        comment="The corpus.",
    ),
    Column("relation", REGCLASS, nullable=False, comment="The table; only a number once it was dropped."),
    Column("relation_name", Text, nullable=False, comment="Its qualified name when it was attached."),
    Column(
        "attached_by",
        Name,
        nullable=False,
        comment="Role that attached it. The table is read only while that role may read it.",
    ),
    Column("id_column", Name, nullable=False, comment="Column with the id of the document."),
    Column("content_column", Name, nullable=False, comment="Column with its content."),
    Column("title_column", Name, comment="Column with its title; null for none."),
    Column("uri_column", Name, comment="Column with its address; null for none."),
    Column(
        "metadata_columns",
        ARRAY(Name),
        nullable=False,
        server_default=text("'{}'"),
        comment="Columns that become its metadata.",
    ),
    Column("readers_column", Name, comment="Column with its readers; null for none."),
    Column(
        "id_prefix",
        Text,
        nullable=False,
        server_default=text("''"),
        comment="Prefix of the id in document.id; usually empty.",
    ),
    Column(
        "state",
        Text,
        nullable=False,
        server_default=text("'loading'"),
        comment=(
            "loading (compared row by row), following, failed (see error), detached (its documents stay) or removing "
            "(its documents are removed)."
        ),
    ),
    Column(
        "error",
        Text,
        info=NO_STATISTICS,
        comment="Why it failed, or which rows cannot be documents; it stays until resync. Null if nothing is wrong.",
    ),
    Column(
        "layout",
        Text,
        comment=(
            "Structure of the table at the last check. Partitions and files that changed without firing a trigger "
            "are compared again. Null before the first check."
        ),
    ),
    Column(
        "load_phase",
        Text,
        nullable=False,
        server_default=text("'rows'"),
        comment="While loading: rows (rows become documents), then documents (those without a row are removed).",
    ),
    Column(
        "load_cursor", Text, info=NO_STATISTICS, comment="The last id that was compared; null at the start of a phase."
    ),
    Column(
        "load_started_at",
        Timestamp,
        nullable=False,
        server_default=text("now()"),
        comment="When the last load began.",
    ),
    Column("loaded_at", Timestamp, comment="When the last load ended; null before."),
    Column(
        "rows_added",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Documents that the last load added.",
    ),
    Column(
        "rows_changed",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Documents that the last load changed.",
    ),
    Column(
        "rows_removed",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Documents that the last load removed.",
    ),
    Column(
        "rows_skipped",
        BigInteger,
        nullable=False,
        server_default=text("0"),
        comment="Rows that the last load left without a document.",
    ),
    Column("created_at", Timestamp, nullable=False, server_default=text("now()"), comment="When it was attached."),
    Column(
        "attached_by_oid",
        OID,
        nullable=False,
        comment="Oid of that role, so that another role of that name does not count.",
    ),
    PrimaryKeyConstraint("source_id", name="source_pk"),
    CheckConstraint(
        "state in ('loading', 'following', 'failed', 'detached', 'removing')", name="source_state_is_known"
    ),
    CheckConstraint("load_phase in ('rows', 'documents')", name="source_load_phase_is_known"),
    CheckConstraint("state <> 'failed' or error is not null", name="source_failed_has_an_error"),
    UniqueConstraint("corpus_id", "relation", name="source_corpus_id_relation_key"),
    comment="A user's table that is attached to a corpus; its rows are documents.",
)

change = Table(
    "change",
    metadata,
    Column("change_id", BigInteger, Identity(always=True), nullable=False, comment="Order of the changes of a source."),
    Column(
        "source_id",
        BigInteger,
        nullable=False,
        comment=(
            "The source. There is no foreign key, because it would lock the source's row in every user's transaction."
        ),
    ),
    Column("relation", OID, nullable=False, comment="The table or the partition that changed, by its oid."),
    Column(
        "keys",
        ARRAY(Text),
        info=NO_STATISTICS,
        comment=(
            "Values of the id column, as text: of one row, or some of those of a statement. Null if any row may have "
            "changed: TRUNCATE, or a missing column."
        ),
    ),
    Column(
        "changed_at", Timestamp, nullable=False, server_default=text("clock_timestamp()"), comment="When it changed."
    ),
    PrimaryKeyConstraint("source_id", "change_id", name="change_pk"),
    postgresql_with=QUEUE,
    comment="Pending changes of an attached table. Triggers only insert rows; workers process them.",
)
