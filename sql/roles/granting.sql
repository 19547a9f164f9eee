-- Which roles may search a corpus, and which see all runs on it, besides its owner.

create or replace function pgclarify_private.set_access(
    caller pgclarify_private.caller, corpus text, role name, access text, is_granted boolean, filter jsonb
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(set_access.caller, set_access.corpus);
    v_roles constant name[] := pgclarify_private.roles_of(set_access.role);
    v_filter constant jsonb := pgclarify_private.check_filter(set_access.filter) -> 'filter';
    v_is_changed boolean;
    v_others text;
begin
    if set_access.access is null or set_access.access not in ('reader', 'analyst') then
        raise exception 'there is no access "%"', pgclarify_private.shown(set_access.access)
            using errcode = 'invalid_parameter_value',
                hint = 'Pass reader (may search the corpus) or analyst (sees all runs on it).';
    end if;
    if v_filter is not null and (set_access.access = 'analyst' or not pgclarify_private.is_about_metadata(v_filter)) then
        raise exception 'this grant cannot have this filter'
            using errcode = 'invalid_parameter_value',
                column = 'filter',
                detail = case
                    when set_access.access = 'analyst' then 'An analyst sees all runs on a corpus, with their quotes.'
                    else 'It asks for title, uri, origin, created_at or updated_at.'
                end,
                hint = case
                    when set_access.access = 'analyst' then 'Leave filter out, or grant reader.'
                    else 'Pass keys of metadata only. For a key of that name, write metadata before it, such as metadata.title.'
                end;
    end if;
    if set_access.is_granted then
        if set_access.role ~ '^pgclarify_(owner|views|capture|role_maker|worker|loopback|reads_[0-9]+_[0-9a-f]{8})$' then
            raise exception 'role "%" is one that pgclarify itself uses', set_access.role
                using errcode = 'invalid_parameter_value',
                    detail = 'People do not ask as this role.',
                    hint = 'Pass a role of yours; or pgclarify_user or pgclarify_reader, for all their members.';
        end if;
        perform pgclarify_private.check_roles_exist(array[coalesce(set_access.role, '')]);
        perform pgclarify_private.note_roles(array[set_access.role]);
    end if;
    update pgclarify_private.corpus
    set
        readers = case
            when set_access.access = 'analyst' then corpus.readers
            when set_access.is_granted then corpus.readers || set_access.role
            else array_remove(corpus.readers, set_access.role)
        end,
        analysts = case
            when set_access.access = 'reader' then corpus.analysts
            when set_access.is_granted then corpus.analysts || set_access.role
            else array_remove(corpus.analysts, set_access.role)
        end
    where
        corpus.corpus_id = v_corpus.corpus_id
        and (set_access.role = any(case set_access.access when 'reader' then corpus.readers else corpus.analysts end))
        <> set_access.is_granted;
    v_is_changed := found;
    if set_access.access = 'reader' then
        v_is_changed := pgclarify_private.set_fence(v_corpus.corpus_id, set_access.role, v_filter) or v_is_changed;
        if v_filter is not null and pgclarify_private.fence_of(v_corpus.corpus_id, v_roles) is null then
            raise notice 'role "%" reads all of corpus "%" still', set_access.role, v_corpus.name
                using detail = 'It has the rights of its owner, or of a reader without a filter.';
        end if;
    end if;
    if set_access.is_granted and not 'pgclarify_reader'::name = any(v_roles) then
        raise notice 'role "%" may not use pgclarify yet', set_access.role
            using hint = format(
                -- It may be a member already, without having the rights.
                'To let it ask: grant pgclarify_user to %1$I with inherit true. To let it only read: grant '
                'pgclarify_reader to %1$I with inherit true.',
                set_access.role
            );
    end if;
    if not set_access.is_granted then
        select string_agg(quote_ident(other.name), ', ' order by other.name) into v_others
        from pgclarify_private.living_corpus as corpus
        cross join unnest(v_roles) as other (name)
        where
            corpus.corpus_id = v_corpus.corpus_id
            and case set_access.access
                when 'reader' then other.name = any(corpus.readers || corpus.owner || 'pgclarify_owner'::name)
                else other.name = any(corpus.analysts || 'pgclarify_owner'::name)
            end;
        if v_others is not null then
            raise notice 'role "%" has that access still, by the rights of %', set_access.role, v_others;
        end if;
    end if;
    return v_is_changed;
end
$$;

comment on function pgclarify_private.set_access(pgclarify_private.caller, text, name, text, boolean, jsonb) is
'See grant_access and revoke_access.';
grant execute on function
    pgclarify_private.set_access(pgclarify_private.caller, text, name, text, boolean, jsonb) to pgclarify_user;
