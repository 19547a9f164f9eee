-- Statistics of the planner that still have the id of an erased document, or the file that it comes from. Columns of text
-- have none: see the first migration.

create or replace function pgclarify_private.note_stale_statistics(corpus_id bigint, document_id text, origin text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into pgclarify_private.stale_statistics (relation_name)
    select distinct pg_stats.tablename
    from pg_stats
    where pg_stats.schemaname = 'pgclarify_private'
        -- Those that lose rows of the document. Others keep its id.
        and pg_stats.tablename = any(
            '{
                document, pending_document, pending_passage, pending_link, pending_cut, staged_passage, citation
            }'::name[]
            || format('passage_%s', note_stale_statistics.corpus_id)::name
            || array(
                select format('%s_%s', kind.name, space.embedding_space_id)::name
                from pgclarify_private.embedding_space as space
                cross join unnest('{passage_embedding, neighborhood}'::text[]) as kind (name)
                where space.corpus_id = note_stale_statistics.corpus_id
            )
        )
        and pg_stats.attname in ('id', 'document_id', 'origin')
        and pg_stats.most_common_vals::text::text[] || pg_stats.histogram_bounds::text::text[]
        && array[note_stale_statistics.document_id, nullif(note_stale_statistics.origin, '')];
end
$$;

comment on function pgclarify_private.note_stale_statistics(bigint, text, text) is
'Note the tables whose statistics have the id of a document that is being erased, or the file that it comes from. A worker '
'analyzes them: a large table takes seconds, and would stay locked against VACUUM until the end of this transaction.';

create or replace function pgclarify_private.renew_statistics()
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- VACUUM of a large table has the same lock for long.
set lock_timeout = '500ms'
as $$
declare
    v_relation_name name;
begin
    with taken as materialized (
        select stale.ctid as place, stale.relation_name
        from pgclarify_private.stale_statistics as stale
        -- A table that is locked for long must not block the others.
        order by random()
        limit 1
    ),
    locked as materialized (
        select stale.ctid as place, stale.relation_name
        from pgclarify_private.stale_statistics as stale
        where stale.relation_name = (select taken.relation_name from taken)
        for update skip locked
    ),
    gone as (
        delete from pgclarify_private.stale_statistics as stale
        where stale.ctid = any(array(select locked.place from locked))
        returning stale.relation_name
    )
    select min(gone.relation_name) into v_relation_name from gone;
    -- Its corpus may have been dropped.
    if to_regclass('pgclarify_private.' || quote_ident(v_relation_name)) is not null then
        execute format(
            'analyze pgclarify_private.%I (%s)',
            v_relation_name, case v_relation_name when 'document' then 'id, origin' else 'document_id' end
        );
    end if;
    return v_relation_name;
end
$$;

comment on function pgclarify_private.renew_statistics() is
'Analyze the ids of documents, and their files, in one table that note_stale_statistics noted, and return its name; null if '
'there is none. Error 55P03 if another session locks the table for longer than half a second.';
grant execute on function pgclarify_private.renew_statistics() to pgclarify_worker;
