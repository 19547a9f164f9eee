"""The keys that prove who asks, and the way back into the database.

Revision ID: 0001
Revises:
"""

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        -- PostgreSQL lets PUBLIC execute every new function; ours are granted one by one.
        alter default privileges for role pgclarify_owner revoke execute on functions from public;

        create table pgclarify.caller_key (
            is_only boolean not null default true
                constraint caller_key_pk primary key
                constraint caller_key_has_one_row check (is_only),
            inner_pad bytea not null constraint caller_key_inner_pad_is_one_block check (length(inner_pad) = 64),
            outer_pad bytea not null constraint caller_key_outer_pad_is_one_block check (length(outer_pad) = 64)
        );
        comment on table pgclarify.caller_key is
            'The key under which a caller''s name is signed (HMAC-SHA-256, RFC 2104), as its two padded blocks. One '
            'row.';
        comment on column pgclarify.caller_key.is_only is 'Always true: the table has one row.';
        comment on column pgclarify.caller_key.inner_pad is 'Key xor 0x36, 64 bytes.';
        comment on column pgclarify.caller_key.outer_pad is 'Key xor 0x5c, 64 bytes.';

        create table pgclarify.loopback (
            is_only boolean not null default true
                constraint loopback_pk primary key
                constraint loopback_has_one_row check (is_only),
            host text,
            port integer constraint loopback_port_is_a_port check (port between 1 and 65535),
            password text
        );
        comment on table pgclarify.loopback is
            'How a waiting call reaches this database a second time. One row, written by pgclarify init.';
        comment on column pgclarify.loopback.is_only is 'Always true: the table has one row.';
        comment on column pgclarify.loopback.host is
            'Socket directory or host name of the primary; null means localhost.';
        comment on column pgclarify.loopback.port is 'Port of the primary; null means this server''s own.';
        comment on column pgclarify.loopback.password is
            'Password of pgclarify_loopback; null where the server does not ask for one.';
    """)


def downgrade() -> None:
    op.execute("""
        drop table pgclarify.loopback;
        drop table pgclarify.caller_key;
        alter default privileges for role pgclarify_owner grant execute on functions to public;
    """)
