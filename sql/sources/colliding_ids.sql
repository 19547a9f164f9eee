-- Ids of an attached table that are also ids of other documents of the corpus.

create or replace function pgclarify_private.check_ids(caller pgclarify_private.caller, source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source pgclarify_private.source;
    v_page pgclarify_private.source;
    v_other pgclarify_private.source;
    -- Tables that are still being loaded: their rows are not documents yet.
    v_others pgclarify_private.source[];
    v_are_documents boolean;
    v_keys text[];
    v_ids text[];
    v_other_keys text[];
    v_id text;
    v_whose text;
    v_hint text;
begin
    select source.* into v_source from pgclarify_private.source where source.source_id = check_ids.source_id;
    perform pgclarify_private.owned_source(check_ids.caller, v_source.corpus_id, v_source.relation);
    v_are_documents := exists (
        select from pgclarify_private.document
        where document.corpus_id = v_source.corpus_id
            and document.source_id is distinct from v_source.source_id
            and not pgclarify_private.is_left(document.source_id)
    );
    v_others := array(
        select source
        from pgclarify_private.source
        where source.corpus_id = v_source.corpus_id
            and source.source_id <> v_source.source_id
            and source.state = 'loading'
            -- Ids with other prefixes cannot collide.
            and (starts_with(source.id_prefix, v_source.id_prefix) or starts_with(v_source.id_prefix, source.id_prefix))
            -- Reading another role's table would run code of that role in the caller's session.
            and exists (
                select from pg_class
                where
                    pg_class.oid = source.relation
                    and pg_has_role((check_ids.caller).name, pg_class.relowner, 'usage')
            )
            and pgclarify_private.source_fault(source) is null
        order by source.source_id
    );
    v_page := v_source;
    v_page.load_cursor := null;
    -- In pages and by keys: the plan of a join would depend on statistics that a new table does not have.
    while v_id is null and (v_are_documents or cardinality(v_others) > 0) loop
        v_keys := pgclarify_private.next_keys(v_page, 10000, 1000000000);
        exit when cardinality(v_keys) = 0;
        v_page.load_cursor := v_keys[cardinality(v_keys)];
        v_ids := array(select v_source.id_prefix || page.key from unnest(v_keys) as page (key));
        if v_are_documents then
            select
                document.id,
                coalesce('comes from ' || coalesce(pg_class.oid::regclass::text, other.relation_name), 'was added by hand'),
                case when other.source_id is not null and pg_class.oid is null then
                    format(
                        'That table was dropped. Detach it by its number: select pgclarify.detach_table(%L, %s).',
                        corpus.name, other.relation::oid
                    )
                end
            into v_id, v_whose, v_hint
            from pgclarify_private.document
            inner join pgclarify_private.corpus on document.corpus_id = corpus.corpus_id
            left join pgclarify_private.source as other on document.source_id = other.source_id
            left join pg_class on other.relation = pg_class.oid
            where document.corpus_id = v_source.corpus_id
                and document.id = any(v_ids)
                and document.source_id is distinct from v_source.source_id
                and coalesce(other.state, '') not in ('detached', 'removing')
            limit 1;
        end if;
        foreach v_other in array v_others loop
            exit when v_id is not null;
            v_other_keys := array(
                select substr(page.id, length(v_other.id_prefix) + 1)
                from unnest(v_ids) as page (id)
                where starts_with(page.id, v_other.id_prefix)
            );
            select v_other.id_prefix || found.key, 'comes from ' || v_other.relation into v_id, v_whose
            from (
                select unnest(v_other_keys) except select unnest(pgclarify_private.missing_keys(v_other, v_other_keys))
            ) as found (key)
            limit 1;
        end loop;
    end loop;
    if v_id is not null then
        raise exception 'ids of table "%" collide with those of other documents', v_source.relation
            using errcode = 'unique_violation',
                detail = format('A row of it would be document "%s", and that one %s.', v_id, v_whose),
                hint = coalesce(
                    v_hint,
                    format(
                        'For example, give its documents another prefix: options => %L.',
                        (
                            select jsonb_build_object('id_prefix', pg_class.relname || '/')
                            from pg_class
                            where pg_class.oid = v_source.relation
                        )
                    )
                );
    end if;
end
$$;

comment on function pgclarify_private.check_ids(pgclarify_private.caller, bigint) is
'Error 23505 if rows of an attached table would be documents that were added by hand, or that come from another table of the '
'caller.';
grant execute on function pgclarify_private.check_ids(pgclarify_private.caller, bigint) to pgclarify_user;
