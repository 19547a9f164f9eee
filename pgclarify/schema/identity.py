"""Which roles stored names mean."""

from sqlalchemy import BigInteger, Column, Identity, Index, PrimaryKeyConstraint, Table, text
from sqlalchemy.dialects.postgresql import OID

from pgclarify.schema.base import Name, Timestamp, metadata

named_role = Table(
    "named_role",
    metadata,
    Column("named_role_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column("name", Name, nullable=False, comment="The name."),
    Column("role_oid", OID, nullable=False, comment="Oid of the role."),
    Column("noted_at", Timestamp, nullable=False, server_default=text("now()"), comment="When the row was written."),
    PrimaryKeyConstraint("named_role_id", name="named_role_pk"),
    Index("named_role_name_idx", "name"),
    comment=(
        "Which role a stored name means, where the name grants access: reader or analyst of a corpus, reader of a "
        "document, role of a budget. It is the role that had the name when it was first written. A later role of "
        "that name has no access until pgclarify init --adopt-roles. A name may have two rows, from two concurrent "
        "transactions: with a unique key, one would wait for the other."
    ),
)
