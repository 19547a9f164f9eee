-- Fences: the filters of grant_access, which limit what a role finds and sees of a corpus, whatever it asks.

create or replace function pgclarify_private.set_fence(corpus_id bigint, role name, filter jsonb)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_condition text;
    v_waiting text[];
begin
    if set_fence.filter is null then
        delete from pgclarify_private.fence where fence.corpus_id = set_fence.corpus_id and fence.role = set_fence.role;
        return found;
    end if;
    insert into pgclarify_private.fence (corpus_id, role, filter, condition, keys)
    select
        set_fence.corpus_id, set_fence.role, set_fence.filter,
        pgclarify_private.filter_condition(set_fence.filter, true),
        array(
            select distinct part.key
            from pgclarify_private.filter_keys(set_fence.filter) as asked (key)
            cross join lateral (select regexp_replace(asked.key, '^metadata\.', '')) as named (key)
            cross join lateral (values (asked.key), (named.key), (split_part(named.key, '.', 1))) as part (key)
        )
    on conflict on constraint fence_pk do update
    set filter = excluded.filter, condition = excluded.condition, keys = excluded.keys
    where fence.filter <> excluded.filter
    returning fence.condition into v_condition;
    if v_condition is null then
        return false;
    end if;
    -- The metadata of these may have changed together with their text, so the role may read only the new one.
    v_waiting := array(
        select document.id
        from pgclarify_private.document
        where
            document.corpus_id = set_fence.corpus_id
            and document.metadata @@ v_condition::jsonpath
            and (
                document.error is not null
                or exists (
                    select from pgclarify_private.pending_document as pending
                    where pending.corpus_id = document.corpus_id and pending.document_id = document.id
                )
            )
        order by document.id
        for no key update of document
    );
    if cardinality(v_waiting) > 0 then
        perform pgclarify_private.copy_readers(set_fence.corpus_id, v_waiting, false, v_waiting);
    end if;
    return true;
end
$$;

comment on function pgclarify_private.set_fence(bigint, name, jsonb) is
'Set what a reader of a corpus is limited to; true if this is new. filter: checked; null for all documents. Passages '
'of documents of this part that wait to be indexed lose all readers until then.';

create or replace function pgclarify_private.fence_of(corpus_id bigint, roles name[])
returns jsonpath
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_fenced name[];
    v_condition text;
begin
    select array_agg(fence.role), string_agg(fence.condition, ' || ' order by fence.role)
    into v_fenced, v_condition
    from pgclarify_private.fence
    where fence.corpus_id = fence_of.corpus_id and fence.role = any(fence_of.roles);
    -- It may also be its owner, or a reader without a filter.
    if v_condition is null or exists (
        select from pgclarify_private.living_corpus as corpus
        where
            corpus.corpus_id = fence_of.corpus_id
            and pgclarify_private.may_search(
                array(select reader.name from unnest(corpus.readers) as reader (name) where reader.name <> all(v_fenced)),
                corpus.owner, corpus.owner_oid, fence_of.roles
            )
    ) then
        return null;
    end if;
    return ('(' || v_condition || ')')::jsonpath;
end
$$;

comment on function pgclarify_private.fence_of(bigint, name[]) is
'The condition over metadata of what these roles may read of a corpus; null without a fence. With the fences of several roles, '
'one must fit, as with the permissive policies of PostgreSQL. It does not decide whether they may search the corpus.';

create or replace function pgclarify_private.may_read(document pgclarify_private.document, roles name[], fence jsonpath)
returns boolean
language sql immutable parallel safe
begin atomic
    select
        ((may_read.document).readers is null or (may_read.document).readers && may_read.roles)
        and (may_read.fence is null or (may_read.document).metadata @@ may_read.fence) is true;
end;

comment on function pgclarify_private.may_read(pgclarify_private.document, name[], jsonpath) is
'Whether these roles may read a document of a corpus that they may search. fence: as from fence_of. It sets no search_path, so '
'that the planner can inline it.';
grant execute on function
    pgclarify_private.may_read(pgclarify_private.document, name[], jsonpath) to pgclarify_reader;

create or replace function pgclarify_private.enters_fence(corpus_id bigint, before jsonb, after jsonb)
returns boolean
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select count(*) > 0
    from pgclarify_private.fence
    where
        fence.corpus_id = enters_fence.corpus_id
        and enters_fence.after @@ fence.condition::jsonpath
        and coalesce(not enters_fence.before @@ fence.condition::jsonpath, true);
end;

comment on function pgclarify_private.enters_fence(bigint, jsonb, jsonb) is
'Whether metadata before did not fit a fence of a corpus, and that after does: a role may read a document that it could not.';

create or replace view pgclarify_private.my_fence with (security_barrier) as
select
    fence.corpus_id,
    '(' || string_agg(fence.condition, ' || ' order by fence.role) || ')' as condition
from pgclarify_private.fence
inner join pgclarify_private.living_corpus as corpus on fence.corpus_id = corpus.corpus_id
where fence.role = any((select pgclarify_private.my_roles())::name[])
group by fence.corpus_id, corpus.readers, corpus.owner, corpus.owner_oid
having not pgclarify_private.may_search(
    array(select reader.name from unnest(corpus.readers) as reader (name) where reader.name <> all(array_agg(fence.role))),
    corpus.owner, corpus.owner_oid, (select pgclarify_private.my_roles())::name[]
);

comment on view pgclarify_private.my_fence is
'The same for current_user, one row for each corpus that it reads in part. As a view, it shows no fence of another role.';
comment on column pgclarify_private.my_fence.corpus_id is 'The corpus.';
comment on column pgclarify_private.my_fence.condition is 'As fence_of returns it, as text.';
grant select on pgclarify_private.my_fence to pgclarify_views;
