"""The task queue: procrastinate's tables, in schema pgclarify_queue.

Revision ID: 0002
Revises: 0001
"""

from alembic import op
from procrastinate import __version__ as procrastinate_version
from procrastinate.schema import SchemaManager

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

# The schema comes from the installed package. A revision that raises the pin applies procrastinate's own migrations
# from this version to that one, and moves this check.
SCHEMA_OF = "3.10.0"


def upgrade() -> None:
    if procrastinate_version != SCHEMA_OF:
        raise RuntimeError(f"revision 0002 installs the schema of procrastinate {SCHEMA_OF}, not {procrastinate_version}")
    connection = op.get_bind()
    connection.exec_driver_sql("set local search_path = pgclarify_queue, pg_catalog, pg_temp")
    # psycopg takes several statements at once only without parameters, which is also what keeps % in them literal.
    connection.connection.cursor().execute(SchemaManager.get_schema())
    connection.exec_driver_sql("set local search_path = pg_catalog, pg_temp")
    op.execute("""
        -- procrastinate names its tables without a schema: pin each function to this one.
        do $$
        declare
            v_function regprocedure;
        begin
            for v_function in
                select p.oid::regprocedure
                from pg_proc as p
                where p.pronamespace = 'pgclarify_queue'::regnamespace and p.prokind = 'f'
            loop
                execute format(
                    'alter function %s set search_path = pgclarify_queue, pg_catalog, pg_temp', v_function
                );
            end loop;
        end
        $$;
        grant usage on schema pgclarify_queue to pgclarify_worker;
        grant select, insert, update, delete on all tables in schema pgclarify_queue to pgclarify_worker;
        grant usage on all sequences in schema pgclarify_queue to pgclarify_worker;
        grant execute on all functions in schema pgclarify_queue to pgclarify_worker;
    """)


def downgrade() -> None:
    op.execute("""
        drop schema pgclarify_queue cascade;
        create schema pgclarify_queue authorization pgclarify_owner;
    """)
