"""The tables of a new database, which are those that `pgclarify.schema` declares in this version.

So no later revision is carried out in a new database. It is stamped with the newest one: see `install/revisions.py`.

Revision ID: v0_2_0
Revises:
"""

from alembic import context, op

from pgclarify.install.tables import statements

revision = "v0_2_0"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    if context.is_offline_mode():
        # PostgreSQL replaces the name of pgvector's schema in the script of an extension.
        op.get_context().impl.static_output(statements())
        return
    schema = (
        op.get_bind()
        .exec_driver_sql(
            "select quote_ident(n.nspname) from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
            " where e.extname = 'vector'"
        )
        .scalar_one()
    )
    # psycopg takes several statements at once only without parameters, which is also what keeps % in them literal.
    op.get_bind().connection.cursor().execute(statements().replace("@extschema:vector@", schema))
