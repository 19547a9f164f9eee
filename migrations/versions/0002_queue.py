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
        raise RuntimeError(
            f"revision 0002 installs the schema of procrastinate {SCHEMA_OF}, not {procrastinate_version}"
        )
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
        -- Failed jobs are looked for every other second, among a million that wait.
        create index procrastinate_jobs_failed_idx on pgclarify_queue.procrastinate_jobs (id) where status = 'failed';
        grant usage on schema pgclarify_queue to pgclarify_worker;
        grant select, insert, update, delete on all tables in schema pgclarify_queue to pgclarify_worker;
        grant usage on all sequences in schema pgclarify_queue to pgclarify_worker;
        grant execute on all functions in schema pgclarify_queue to pgclarify_worker;
    """)


def downgrade() -> None:
    op.execute("""
        -- The schema itself stays: it is made before migrations, by a role that may create schemas.
        do $$
        declare
            v_statement text;
        begin
            -- All names first: what one statement drops, the next could not name any more.
            foreach v_statement in array array(
                select format('drop table if exists %s cascade', c.oid::regclass)
                from pg_class as c
                where c.relnamespace = 'pgclarify_queue'::regnamespace and c.relkind = 'r'
                union all
                select format('drop routine if exists %s cascade', p.oid::regprocedure)
                from pg_proc as p
                where p.pronamespace = 'pgclarify_queue'::regnamespace
                union all
                select format('drop type if exists %s cascade', t.oid::regtype)
                from pg_type as t
                left join pg_class as c on c.oid = t.typrelid
                where t.typnamespace = 'pgclarify_queue'::regnamespace
                    and (t.typtype = 'e' or c.relkind = 'c')
            )
            loop
                execute v_statement;
            end loop;
        end
        $$;
        revoke usage on schema pgclarify_queue from pgclarify_worker;
    """)
