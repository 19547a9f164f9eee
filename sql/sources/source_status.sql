-- The progress of attached tables.

create or replace function pgclarify_private.source_statuses(caller pgclarify_private.caller)
returns table (
    corpus text,
    source_id bigint,
    relation text,
    relation_oid oid,
    state text,
    error text,
    pending_changes bigint,
    rows_added bigint,
    rows_changed bigint,
    rows_removed bigint,
    rows_skipped bigint,
    load_started_at timestamptz,
    loaded_at timestamptz,
    attached_by name
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- Materialized: otherwise its functions are called for each corpus.
    with role as materialized (
        select pgclarify_private.roles_of(pgclarify_private.verify_caller(source_statuses.caller)) as names
    )
    select
        corpus.name,
        source.source_id,
        case
            when exists (select from pgclarify_private.lost_table(source)) then source.relation_name
            else source.relation::text
        end,
        source.relation::oid,
        source.state,
        source.error,
        noted.changes,
        source.rows_added,
        source.rows_changed,
        source.rows_removed,
        source.rows_skipped,
        source.load_started_at,
        source.loaded_at,
        source.attached_by
    from role
    inner join pgclarify_private.living_corpus as corpus
        on pgclarify_private.may_change(corpus.owner, corpus.owner_oid, role.names)
    inner join pgclarify_private.source on corpus.corpus_id = source.corpus_id
    cross join lateral (
        select least(coalesce(sum(coalesce(cardinality(change.keys), 1)), 0), 10000)::bigint as changes
        -- The count stops here to keep the status cheap.
        from (
            select change.keys from pgclarify_private.change where change.source_id = source.source_id limit 10000
        ) as change
    ) as noted
    -- Depends on no row, so the caller is verified even where there is no source.
    where (select role.names from role) is not null;
end;

comment on function pgclarify_private.source_statuses(pgclarify_private.caller) is 'Rows of view source_status for a caller.';
grant execute on function pgclarify_private.source_statuses(pgclarify_private.caller) to pgclarify_reader;

create or replace view pgclarify.source_status as
select status.*
from pgclarify_private.caller
cross join lateral pgclarify_private.source_statuses(caller) as status;

comment on view pgclarify.source_status is 'Tables that are attached to your corpora, and their progress.';
comment on column pgclarify.source_status.corpus is 'Name of the corpus.';
comment on column pgclarify.source_status.source_id is 'Key.';
comment on column pgclarify.source_status.relation is 'The table; if it was dropped or replaced, its former name.';
comment on column pgclarify.source_status.relation_oid is
'The table''s number, by which a table that was dropped or replaced is detached.';
comment on column pgclarify.source_status.error is
'Why it failed, or which rows cannot be documents; this stays after such a row is changed, until you call resync. Null if '
'there is no problem.';
comment on column pgclarify.source_status.pending_changes is 'Recorded changes that no worker has taken; counted up to 10,000.';
comment on column pgclarify.source_status.rows_added is 'Rows without a document that the last load or resync found.';
comment on column pgclarify.source_status.rows_changed is
'Rows different from their document that the last load or resync found.';
comment on column pgclarify.source_status.rows_removed is 'Documents without a row that the last load or resync found.';
comment on column pgclarify.source_status.rows_skipped is
'Rows that the last load or resync left without a document: their content is blank, or error says why.';
comment on column pgclarify.source_status.load_started_at is 'When the last load or resync began.';
comment on column pgclarify.source_status.loaded_at is 'When a load or resync last ended; null before.';
comment on column pgclarify.source_status.attached_by is
'Role that attached it; the table is read only as long as that role may read it.';
grant select on pgclarify.source_status to pgclarify_reader;
