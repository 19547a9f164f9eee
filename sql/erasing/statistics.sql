-- Statistics of the planner that still have the id of an erased document, or the file that it comes from. Columns of text
-- have none: see the first migration.

create or replace function pgclarify_private.renew_statistics(corpus_id bigint, document_id text, origin text)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_statement text;
begin
    for v_statement in
        select format('analyze pgclarify_private.%I (%s)', pg_stats.tablename, string_agg(pg_stats.attname, ', '))
        from pg_stats
        where pg_stats.schemaname = 'pgclarify_private'
            -- Those that lose rows of the document. Others keep its id.
            and pg_stats.tablename = any(
                '{
                    document, pending_document, pending_passage, pending_link, pending_cut, staged_passage, citation
                }'::name[]
                || format('passage_%s', renew_statistics.corpus_id)::name
                || array(
                    select format('%s_%s', kind.name, space.embedding_space_id)::name
                    from pgclarify_private.embedding_space as space
                    cross join unnest('{passage_embedding, neighborhood}'::text[]) as kind (name)
                    where space.corpus_id = renew_statistics.corpus_id
                )
            )
            and pg_stats.attname in ('id', 'document_id', 'origin')
            and pg_stats.most_common_vals::text::text[] || pg_stats.histogram_bounds::text::text[]
            && array[renew_statistics.document_id, nullif(renew_statistics.origin, '')]
        group by pg_stats.tablename
    loop
        execute v_statement;
    end loop;
end
$$;

comment on function pgclarify_private.renew_statistics(bigint, text, text) is
'Analyze the columns whose statistics have the id of a document that was erased, or the file that it came from. They seldom '
'have it: they keep a hundred values of a column.';
