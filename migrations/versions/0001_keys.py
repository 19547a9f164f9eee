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
            socket_dir text,
            password text
        );
        comment on table pgclarify.loopback is
            'How a waiting call reaches this database a second time. One row, written by pgclarify init.';
        comment on column pgclarify.loopback.is_only is 'Always true: the table has one row.';
        comment on column pgclarify.loopback.host is
            'Socket directory or host name of the primary, as init was given it; null means this server.';
        comment on column pgclarify.loopback.port is 'Port of the primary; null means this server''s own.';
        comment on column pgclarify.loopback.socket_dir is
            'This server''s socket directory, used if host is null; null means localhost.';
        comment on column pgclarify.loopback.password is
            'Password of pgclarify_loopback; null where the server does not ask for one.';

        create table pgclarify.applied_sql (
            is_only boolean not null default true
                constraint applied_sql_pk primary key
                constraint applied_sql_has_one_row check (is_only),
            shipped_hash text not null,
            state_hash text not null
        );
        comment on table pgclarify.applied_sql is
            'Which functions, views and policies are here: an install that finds them whole leaves them alone. One '
            'row.';
        comment on column pgclarify.applied_sql.is_only is 'Always true: the table has one row.';
        comment on column pgclarify.applied_sql.shipped_hash is
            'SHA-256 of the files that made them. A worker of another version refuses to start.';
        comment on column pgclarify.applied_sql.state_hash is
            'SHA-256 of the files as applied and of what the catalogs had afterwards.';
    """)


def downgrade() -> None:
    op.execute("""
        drop table pgclarify.applied_sql;
        drop table pgclarify.loopback;
        drop table pgclarify.caller_key;
        alter default privileges for role pgclarify_owner grant execute on functions to public;
    """)
