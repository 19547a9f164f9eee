"""The baseline: the task queue, and all tables and row types of version 0.2.0.

`make baseline` writes v0_2_0.sql from the tables in pgclarify/schema.

Revision ID: v0_2_0
Revises:
"""

from pathlib import Path

from alembic import context, op
from procrastinate import __version__ as procrastinate_version
from procrastinate.schema import SchemaManager

revision = "v0_2_0"
down_revision = None
branch_labels = None
depends_on = None

# The queue's tables come from the installed package. A revision that raises the pin applies procrastinate's own
# migrations from this version to that one, and moves this check.
QUEUE_VERSION = "3.10.0"


def upgrade() -> None:
    _execute(_read("v0_2_0_before_tables.sql"))
    _execute(_read("v0_2_0.sql"))
    _create_queue()


def downgrade() -> None:
    """Drop everything but the schemas, which are made before migrations by a role that may create schemas."""
    _execute("""
        do $$
        declare
            v_ours constant oid[] := array(
                select oid from pg_namespace where nspname in ('pgclarify', 'pgclarify_private', 'pgclarify_queue')
            );
            v_statement text;
        begin
            -- All names first: what one statement drops, the next could not name any more.
            foreach v_statement in array array(
                select format('drop table if exists %s cascade', c.oid::regclass)
                from pg_class as c
                where c.relnamespace = any(v_ours) and c.relkind in ('r', 'p') and c.relname <> 'schema_version'
                union all
                select format('drop sequence if exists %s cascade', c.oid::regclass)
                from pg_class as c
                where c.relnamespace = any(v_ours) and c.relkind = 'S'
                union all
                select format('drop routine if exists %s cascade', p.oid::regprocedure)
                from pg_proc as p
                where p.pronamespace = any(v_ours)
                union all
                select format('drop type if exists %s cascade', t.oid::regtype)
                from pg_type as t
                left join pg_class as c on c.oid = t.typrelid
                where t.typnamespace = any(v_ours) and (t.typtype = 'e' or c.relkind = 'c')
            )
            loop
                execute v_statement;
            end loop;
        end
        $$;
        revoke usage on schema pgclarify_queue from pgclarify_worker;
        alter default privileges for role pgclarify_owner grant execute on functions to public;
    """)


def _create_queue() -> None:
    if procrastinate_version != QUEUE_VERSION:
        raise RuntimeError(
            f"revision v0_2_0 installs the schema of procrastinate {QUEUE_VERSION}, not {procrastinate_version}"
        )
    _execute("set local search_path = pgclarify_queue, pg_catalog, pg_temp")
    _execute(SchemaManager.get_schema())
    _execute("set local search_path = pg_catalog, pg_temp")
    _execute("""
        -- procrastinate notifies of every job. Any role may fill the queue of notifications, by a transaction that
        -- stays open after LISTEN: then NOTIFY fails, at COMMIT, where no function can catch the error. So a statement
        -- notifies once, and not at all while that queue is half full. Then workers find jobs by polling (due_work).
        drop function pgclarify_queue.procrastinate_notify_queue_job_inserted_v1() cascade;
        drop function pgclarify_queue.procrastinate_notify_queue_abort_job_v1() cascade;
        create function pgclarify_queue.notify_workers()
        returns trigger
        language plpgsql
        as $$
        begin
            if pg_notification_queue_usage() < 0.5 then
                perform pg_notify('procrastinate_queue_v1#runs', '');
            end if;
            return null;
        end
        $$;
        comment on function pgclarify_queue.notify_workers() is
            'Wake the workers, unless the queue of notifications is half full.';
        create trigger procrastinate_jobs_notify_workers
            after insert on pgclarify_queue.procrastinate_jobs
            for each statement execute function pgclarify_queue.notify_workers();
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
