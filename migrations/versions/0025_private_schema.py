"""What only pgclarify itself uses moves to schema pgclarify_private, without an underscore.

Revision ID: 0025
Revises: 0024
"""

from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

_TABLES = (
    "applied_sql",
    "budget_counter",
    "caller_key",
    "change",
    "citation_tally",
    "completion_document",
    "corpus_tally",
    "loopback",
    "named_role",
    "neighborhood",
    "passage_embedding",
    "pending_cut",
    "pending_document",
    "pending_link",
    "pending_passage",
    "pending_unlink",
    "question_group",
    "question_wording",
    "reader_revision",
    "served_answer",
    "staged_passage",
    "term",
    "term_change",
    "source",
    "worker",
)


def upgrade() -> None:
    # Functions of another owner than ours are made anew by the install.
    op.execute(r"""
        do $$
        declare
            v_object record;
        begin
            for v_object in
                select pg_proc.oid::regprocedure as signature
                from pg_proc
                where
                    pg_proc.pronamespace = 'pgclarify'::regnamespace
                    and pg_proc.proname ~ '^_(read_[0-9]+_[0-9a-f]{8}|make_reader_role|drop_reader_role)$'
            loop
                execute format('drop function %s', v_object.signature);
            end loop;
            for v_object in
                select pg_proc.oid, pg_proc.oid::regprocedure as signature, substr(pg_proc.proname, 2) as name
                from pg_proc
                where pg_proc.pronamespace = 'pgclarify'::regnamespace and starts_with(pg_proc.proname, '_')
            loop
                execute format('alter routine %s set schema pgclarify_private', v_object.signature);
                execute format('alter routine %s rename to %I', v_object.oid::regprocedure, v_object.name);
            end loop;
            for v_object in
                select pg_class.relname as name
                from pg_class
                where
                    pg_class.relnamespace = 'pgclarify'::regnamespace
                    and pg_class.relkind = 'v'
                    and starts_with(pg_class.relname, '_')
            loop
                execute format('alter view pgclarify.%I set schema pgclarify_private', v_object.name);
                execute format('alter view pgclarify_private.%I rename to %I', v_object.name, substr(v_object.name, 2));
            end loop;
        end
        $$;
    """)
    _move("pgclarify", "pgclarify_private")
    op.execute("""
        comment on column pgclarify.corpus.corpus_id is
            'Key; also names the partition pgclarify_private.passage_<corpus_id>.';
        comment on column pgclarify.embedding_space.embedding_space_id is
            'Key; also names the partition pgclarify_private.passage_embedding_<embedding_space_id>.';
        comment on column pgclarify_private.source.source_id is
            'Key; also names the function pgclarify_private.capture_<source_id>.';
    """)


def downgrade() -> None:
    _move("pgclarify_private", "pgclarify")
    # The other functions and views are not there by now.
    op.execute("""
        alter function pgclarify_private.is_fit_pattern(text) set schema pgclarify;
        alter function pgclarify.is_fit_pattern(text) rename to _is_fit_pattern;
        comment on column pgclarify.corpus.corpus_id is 'Key; also names the partition pgclarify.passage_<corpus_id>.';
        comment on column pgclarify.embedding_space.embedding_space_id is
            'Key; also names the partition pgclarify.passage_embedding_<embedding_space_id>.';
        comment on column pgclarify.source.source_id is 'Key; also names the function pgclarify._capture_<source_id>.';
    """)


def _move(origin: str, target: str) -> None:
    """Move the tables, all partitions, and the sequence of passages, from a schema to another."""
    for table in _TABLES:
        op.execute(f"alter table {origin}.{table} set schema {target}")
    op.execute(f"alter sequence {origin}.passage_id_seq set schema {target}")
    statement = f"""
        do $$
        declare
            v_partition regclass;
        begin
            for v_partition in
                select pg_class.oid
                from pg_class
                where
                    pg_class.relnamespace = '{origin}'::regnamespace
                    and pg_class.relkind = 'r'
                    and pg_class.relispartition
            loop
                execute format('alter table %s set schema {target}', v_partition);
            end loop;
        end
        $$;
    """  # noqa: S608 - our own names
    op.execute(statement)
