"""The baseline: all tables and row types of version 0.2.0.

`make baseline` writes v0_2_0.sql from the tables in pgclarify/schema.

Revision ID: v0_2_0
Revises:
"""

from pathlib import Path

from alembic import context, op

revision = "v0_2_0"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _execute(_read("v0_2_0_before_tables.sql"))
    _execute(_read("v0_2_0.sql"))


def _read(name: str) -> str:
    """A file beside this one; the extension's types are found wherever it lives."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    if context.is_offline_mode():
        # PostgreSQL replaces the name of the schema in the script of an extension.
        return text
    schema = (
        op.get_bind()
        .exec_driver_sql(
            "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        .scalar_one()
    )
    return text.replace("@extschema:vector@", schema)


def _execute(statements: str) -> None:
    if context.is_offline_mode():
        op.get_context().impl.static_output(statements.rstrip().removesuffix(";") + ";")
        return
    # psycopg takes several statements at once only without parameters, which is also what keeps % in them literal.
    op.get_bind().connection.cursor().execute(statements)
