"""The keys that prove who asks, and the way back into the database."""

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import BYTEA

from pgclarify.schema.base import column, metadata, prose

caller_key = sa.Table(
    "caller_key",
    metadata,
    column("is_only", sa.Boolean, "Always true: the table has one row.", default="true"),
    column("inner_pad", BYTEA, "Key xor 0x36, 64 bytes."),
    column("outer_pad", BYTEA, "Key xor 0x5c, 64 bytes."),
    sa.PrimaryKeyConstraint("is_only"),
    sa.CheckConstraint("is_only", name="caller_key_has_one_row"),
    sa.CheckConstraint("length(inner_pad) = 64", name="caller_key_inner_pad_is_one_block"),
    sa.CheckConstraint("length(outer_pad) = 64", name="caller_key_outer_pad_is_one_block"),
    comment="The key that signs callers' names (HMAC-SHA-256, RFC 2104), as its two padded blocks. One row.",
)

loopback = sa.Table(
    "loopback",
    metadata,
    column("is_only", sa.Boolean, "Always true: the table has one row.", default="true"),
    column(
        "host",
        sa.Text,
        "Socket directory or host name of the primary, which an administrator sets; null means this server.",
        null=True,
    ),
    column("port", sa.Integer, "Port of the primary; null means this server's own.", null=True),
    column(
        "socket_dir", sa.Text, "This server's socket directory, used if host is null; null means localhost.", null=True
    ),
    prose("password", "Password of pgclarify_loopback; null if the server does not ask for one.", null=True),
    sa.PrimaryKeyConstraint("is_only"),
    sa.CheckConstraint("is_only", name="loopback_has_one_row"),
    sa.CheckConstraint("port between 1 and 65535", name="loopback_port_is_a_port"),
    comment=(
        "How a waiting call opens a second connection to this database. One row, written by pgclarify init or by "
        "CREATE EXTENSION."
    ),
)

applied_sql = sa.Table(
    "applied_sql",
    metadata,
    column("is_only", sa.Boolean, "Always true: the table has one row.", default="true"),
    column("shipped_hash", sa.Text, "SHA-256 of the installed files. A worker of another version refuses to start."),
    column(
        "state_hash",
        sa.Text,
        "SHA-256 of the files as applied and of the catalogs afterwards; empty where CREATE EXTENSION applied them.",
    ),
    sa.PrimaryKeyConstraint("is_only"),
    sa.CheckConstraint("is_only", name="applied_sql_has_one_row"),
    comment=(
        "Which functions, views and policies are installed. If they are complete, an install does not change them. "
        "One row."
    ),
)
