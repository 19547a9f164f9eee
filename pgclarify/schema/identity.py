"""Which roles stored names mean."""

from sqlalchemy import BigInteger, Column, Identity, Index, PrimaryKeyConstraint, Table, text
from sqlalchemy.dialects.postgresql import OID

from pgclarify.schema.base import PRIVATE_SCHEMA, Name, Timestamp, metadata

named_role = Table(
    "named_role",
    metadata,
    Column("named_role_id", BigInteger, Identity(always=True), nullable=False, comment="Key."),
    Column("name", Name, nullable=False, comment="The name."),
    Column("role_oid", OID, nullable=False, comment="Oid of the role that it means."),
    Column("noted_at", Timestamp, nullable=False, server_default=text("now()"), comment="When that was noted."),
    PrimaryKeyConstraint("named_role_id", name="named_role_pk"),
    Index("named_role_name_idx", "name"),
    comment=(
        "Which role a name means that admits: reader or analyst of a corpus, reader of a document, role of a budget. "
        "It is the role that had the name when it was first written. Another role of that name is not admitted until "
        "pgclarify init --adopt-roles. A name may stand twice, from two transactions at once: with a unique key, one "
        "would wait for the other."
    ),
    schema=PRIVATE_SCHEMA,
)
