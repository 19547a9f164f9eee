-- Ids of an attached table that other documents of the corpus have already.

create or replace function pgclarify._check_ids(caller pgclarify._caller, source_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set row_security = off
as $$
declare
    v_source pgclarify.source;
    v_other pgclarify.source;
    v_id text;
    v_whose text;
begin
    select source.* into v_source from pgclarify.source where source.source_id = _check_ids.source_id;
    perform pgclarify._owned_source(_check_ids.caller, v_source.corpus_id, v_source.relation);
    if exists (
        select from pgclarify.document
        where document.corpus_id = v_source.corpus_id
            and document.source_id is distinct from v_source.source_id
            and not pgclarify._is_left(document.source_id)
    ) then
        execute format(
            $sql$
            select document.id, coalesce('comes from ' || other.relation::text, 'was added by hand')
            from pgclarify.document
            inner join %1$s as own on document.id = $1 || own.%2$I::text
            left join pgclarify.source as other on document.source_id = other.source_id
            where
                document.corpus_id = $2
                and document.source_id is distinct from $3
                and coalesce(other.state, '') not in ('detached', 'removing')
            limit 1
            $sql$,
            v_source.relation, v_source.id_column
        ) into v_id, v_whose using v_source.id_prefix, v_source.corpus_id, v_source.source_id;
    end if;
    -- Tables that are still being loaded: their rows are no documents yet.
    for v_other in
        select source.* from pgclarify.source
        where source.corpus_id = v_source.corpus_id
            and source.source_id <> v_source.source_id
            and source.state = 'loading'
            and pgclarify._source_fault(source) is null
        order by source.source_id
    loop
        exit when v_id is not null;
        execute format(
            $sql$
            select $1 || own.%2$I::text, 'comes from ' || $3
            from %1$s as own
            inner join %3$s as other on $1 || own.%2$I::text = $2 || other.%4$I::text
            limit 1
            $sql$,
            v_source.relation, v_source.id_column, v_other.relation, v_other.id_column
        ) into v_id, v_whose using v_source.id_prefix, v_other.id_prefix, v_other.relation::text;
    end loop;
    if v_id is not null then
        raise exception 'ids of table "%" collide with those of other documents', v_source.relation
            using errcode = 'unique_violation',
                detail = format('A row of it would be document "%s", and that one %s.', v_id, v_whose),
                hint = 'Set its documents apart: options => ''{"id_prefix": "articles/"}'', say.';
    end if;
end
$$;

comment on function pgclarify._check_ids(pgclarify._caller, bigint) is
'Error 23505 if rows of an attached table would be documents that were added by hand or come from another table.';
grant execute on function pgclarify._check_ids(pgclarify._caller, bigint) to pgclarify_user;
