"""Attached tables, and what changed in them."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, OID, REGCLASS

from pgclarify.data.vocabulary import LoadPhase, SourceState
from pgclarify.declared.words import listed
from pgclarify.schema.base import QUEUE, Name, Timestamp, column, count, metadata, prose, word_is_known

source = sa.Table(
    "source",
    metadata,
    column(
        "source_id",
        sa.BigInteger,
        "Key; also names the function pgclarify_private.capture_<source_id>.",
        sa.Identity(always=True),
    ),
    column("corpus_id", sa.BigInteger, "The corpus.", sa.ForeignKey("corpus.corpus_id")),
    column("relation", REGCLASS, "The table; only a number once it was dropped."),
    column(
        "relation_name",
        sa.Text,
        "Its qualified name when it was attached or compared again. Another table of this name replaces it.",
    ),
    column("attached_by", Name, "Role that attached it. The table is read only while that role may read it."),
    column("id_column", Name, "Column with the id of the document."),
    column("content_column", Name, "Column with its content."),
    column("metadata_columns", ARRAY(Name), "Columns that become its metadata.", default="'{}'"),
    column("id_prefix", sa.Text, "Prefix of the id in document.id; usually empty.", default="''"),
    column(
        "state",
        sa.Text,
        f"{listed(SourceState)}.",
        default="'loading'",
    ),
    prose(
        "error",
        "Why it failed, or which rows cannot be documents; it stays until resync. Null if nothing is wrong.",
        null=True,
    ),
    column(
        "layout",
        sa.Text,
        "Structure of the table at the last check. Partitions and files that changed without firing a trigger "
        "are compared again. Null before the first check.",
        null=True,
    ),
    column(
        "load_phase",
        sa.Text,
        f"While loading: {listed(LoadPhase)}.",
        default="'rows'",
    ),
    prose("load_cursor", "The last id that was compared; null at the start of a phase.", null=True),
    column("load_started_at", Timestamp, "When the last load began.", default="now()"),
    column("loaded_at", Timestamp, "When the last load ended; null before.", null=True),
    count("rows_added", "Documents that the last load added."),
    count("rows_changed", "Documents that the last load changed."),
    count("rows_removed", "Documents that the last load removed."),
    count("rows_skipped", "Rows that the last load left without a document."),
    column("attached_by_oid", OID, "Oid of that role, so that another role of that name does not count."),
    column(
        "field_columns",
        JSONB,
        "Columns with its other fields: an object with the name of the column of each field, such as title.",
        default="'{}'",
    ),
    sa.PrimaryKeyConstraint("source_id"),
    word_is_known("source.state"),
    word_is_known("source.load_phase"),
    sa.CheckConstraint("state <> 'failed' or error is not null", name="source_failed_has_an_error"),
    sa.UniqueConstraint("corpus_id", "relation", name="source_corpus_id_relation_key"),
    comment="A user's table that is attached to a corpus; its rows are documents.",
)

table_owner = sa.Table(
    "table_owner",
    metadata,
    column("owner_oid", OID, "Oid of the role."),
    sa.PrimaryKeyConstraint("owner_oid"),
    comment="Owners of tables that are or were attached. A transaction that attaches or detaches one locks its owner.",
)

change = sa.Table(
    "change",
    metadata,
    column("change_id", sa.BigInteger, "Order of the changes of a source.", sa.Identity(always=True)),
    column(
        "source_id",
        sa.BigInteger,
        "The source. There is no foreign key, because it would lock the source's row in every user's transaction.",
    ),
    column("relation", OID, "The table or the partition that changed, by its oid."),
    prose(
        "keys",
        "Values of the id column, as text: of one row, or some of those of a statement. Null if any row may have "
        "changed: TRUNCATE, or a missing column.",
        type_=ARRAY(sa.Text),
        null=True,
    ),
    column("changed_at", Timestamp, "When it changed.", default="clock_timestamp()"),
    sa.PrimaryKeyConstraint("source_id", "change_id"),
    postgresql_with=QUEUE,
    comment="Pending changes of an attached table. Triggers only insert rows; workers process them.",
)
