"""Attached tables, and what changed in them.

Revision ID: 0005
Revises: 0004
"""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("""
        create table pgclarify.source (
            source_id bigint generated always as identity constraint source_pk primary key,
            corpus_id bigint not null constraint source_corpus_id_fk references pgclarify.corpus,
            relation regclass not null,
            relation_name text not null,
            attached_by name not null,
            id_column name not null,
            content_column name not null,
            title_column name,
            uri_column name,
            metadata_columns name[] not null default '{}',
            readers_column name,
            id_prefix text not null default '',
            state text not null default 'loading' constraint source_state_is_known check (
                state in ('loading', 'following', 'failed', 'detached', 'removing')
            ),
            error text,
            layout text,
            load_phase text not null default 'rows'
                constraint source_load_phase_is_known check (load_phase in ('rows', 'documents')),
            load_cursor text,
            load_started_at timestamptz not null default now(),
            loaded_at timestamptz,
            rows_added bigint not null default 0,
            rows_changed bigint not null default 0,
            rows_removed bigint not null default 0,
            created_at timestamptz not null default now(),
            constraint source_corpus_id_relation_key unique (corpus_id, relation),
            constraint source_failed_has_an_error check (state <> 'failed' or error is not null)
        );
        comment on table pgclarify.source is 'A user''s table attached to a corpus: its rows are documents.';
        comment on column pgclarify.source.source_id is 'Key; also names the function pgclarify._capture_<source_id>.';
        comment on column pgclarify.source.corpus_id is 'The corpus.';
        comment on column pgclarify.source.relation is 'The table; a bare number once it was dropped.';
        comment on column pgclarify.source.relation_name is 'Its qualified name when it was attached.';
        comment on column pgclarify.source.attached_by is
            'Role that attached it; the table is read only as long as that role may read it.';
        comment on column pgclarify.source.id_column is 'Column with the id of the document.';
        comment on column pgclarify.source.content_column is 'Column with its content.';
        comment on column pgclarify.source.title_column is 'Column with its title; null for none.';
        comment on column pgclarify.source.uri_column is 'Column with its address; null for none.';
        comment on column pgclarify.source.metadata_columns is 'Columns that become its metadata.';
        comment on column pgclarify.source.readers_column is 'Column with its readers; null for none.';
        comment on column pgclarify.source.id_prefix is 'What stands before the id in document.id; mostly empty.';
        comment on column pgclarify.source.state is
            'loading (compared row by row), following, failed (see error), detached (its documents stay) or removing '
            '(its documents go).';
        comment on column pgclarify.source.error is
            'Why it failed, or which rows cannot be documents; null if nothing is wrong.';
        comment on column pgclarify.source.layout is
            'What the table was made of when it was last looked at: partitions and files that changed without a '
            'trigger seeing it are compared again. Null before the first look.';
        comment on column pgclarify.source.load_phase is
            'While loading: rows (rows become documents), then documents (those without a row go).';
        comment on column pgclarify.source.load_cursor is
            'The last id that was compared; null at the start of a phase.';
        comment on column pgclarify.source.load_started_at is 'When the last load began.';
        comment on column pgclarify.source.loaded_at is 'When the last load ended; null before.';
        comment on column pgclarify.source.rows_added is 'Documents that the last load added.';
        comment on column pgclarify.source.rows_changed is 'Documents that the last load changed.';
        comment on column pgclarify.source.rows_removed is 'Documents that the last load removed.';
        comment on column pgclarify.source.created_at is 'When it was attached.';

        alter table pgclarify.document
            add column source_id bigint constraint document_source_id_fk references pgclarify.source;
        create index document_source_id_id_idx on pgclarify.document (source_id, id) where source_id is not null;
        comment on column pgclarify.document.source_id is
            'The attached table that it is a row of; null if it was added by hand.';

        create table pgclarify.change (
            change_id bigint generated always as identity,
            source_id bigint not null,
            relation oid not null,
            key text,
            changed_at timestamptz not null default clock_timestamp(),
            constraint change_pk primary key (source_id, change_id)
        ) with (
            -- It is filled and emptied all the time.
            autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_cost_delay = 0
        );
        comment on table pgclarify.change is
            'A pending change of an attached table. Triggers append rows and do nothing else; workers take them.';
        comment on column pgclarify.change.change_id is 'Order of the changes of a source.';
        comment on column pgclarify.change.source_id is
            'The source. Without a foreign key, which would lock its row in every user''s transaction.';
        comment on column pgclarify.change.relation is 'The table or the partition that changed, by its oid.';
        comment on column pgclarify.change.key is
            'Value of the id column, as text; null if any row may have changed: TRUNCATE, or a column that is gone.';
        comment on column pgclarify.change.changed_at is 'When.';
    """)


def downgrade() -> None:
    op.execute("""
        drop table pgclarify.change;
        alter table pgclarify.document drop column source_id;
        drop table pgclarify.source;
    """)
