"""Which roles stored names mean."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import OID

from pgclarify.schema.base import Name, column, metadata

named_role = sa.Table(
    "named_role",
    metadata,
    column("named_role_id", sa.BigInteger, "Key.", sa.Identity(always=True)),
    column("name", Name, "The name."),
    column("role_oid", OID, "Oid of the role."),
    sa.PrimaryKeyConstraint("named_role_id"),
    sa.Index("named_role_name_idx", "name"),
    comment=(
        "Which role a stored name means, where the name grants access: readers and analysts of a corpus, readers of a "
        "document, role of a budget. It is the role that had the name when it was first written. A later role of "
        "that name has no access until adopt_roles is called. A name may have two rows, from two concurrent "
        "transactions: with a unique key, one would wait for the other."
    ),
)
