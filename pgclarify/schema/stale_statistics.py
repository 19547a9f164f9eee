"""Tables whose statistics are out of date because a document was erased."""

from sqlalchemy import Column, Table

from pgclarify.schema.base import Name, metadata

stale_statistics = Table(
    "stale_statistics",
    metadata,
    Column("relation_name", Name, nullable=False, comment="The table, in this schema. It may be listed repeatedly."),
    comment="Tables whose statistics have the id of an erased document. A worker analyzes them.",
)
