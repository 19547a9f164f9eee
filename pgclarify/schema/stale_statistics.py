"""Tables whose statistics are out of date because a document was erased."""

import sqlalchemy as sa

from pgclarify.schema.base import Name, column, metadata

stale_statistics = sa.Table(
    "stale_statistics",
    metadata,
    column("relation_name", Name, "The table, in this schema. It may be listed repeatedly."),
    comment="Tables whose statistics have the id of an erased document. A worker analyzes them.",
)
