-- Attached tables that were dropped, or replaced by another table of their name: dbt, migrations and loaders build a table anew
-- and rename it. Triggers, and the source, are still those of the former table.

create or replace function pgclarify_private.replacement(source pgclarify_private.source)
returns oid
language sql stable security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select pg_class.oid
    from pg_catalog.pg_namespace
    inner join pg_catalog.pg_class on pg_namespace.oid = pg_class.relnamespace
    cross join lateral parse_ident(replacement.source.relation_name, false) as named (parts)
    where
        pg_namespace.nspname = named.parts[1]::name
        and pg_class.relname = named.parts[2]::name
        and pg_class.oid <> replacement.source.relation
        -- A view may have the former name so that statements go on to work.
        and pg_class.relkind in ('r', 'p', 'm', 'f')
        -- Two attached tables may exchange their names.
        and not exists (
            select from pgclarify_private.source as other
            where
                other.corpus_id = replacement.source.corpus_id
                and other.relation = pg_class.oid::regclass
                and other.state not in ('detached', 'removing')
        );
end;

comment on function pgclarify_private.replacement(pgclarify_private.source) is
'The table that has the name of an attached table now; null if none has, or that one itself.';

create or replace function pgclarify_private.lost_table(source pgclarify_private.source)
returns table (code text, message text, detail text, hint text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
-- Names of tables are compared.
set quote_all_identifiers = off
as $$
declare
    v_source constant pgclarify_private.source := lost_table.source;
    -- Without a look into an index: a table of that number, if there is one, has this name.
    v_name constant text := v_source.relation::text;
    v_is_dropped boolean;
    v_is_replaced boolean;
    v_corpus text;
    v_resync text;
    v_detach text;
begin
    if v_name = v_source.relation_name then
        return;
    end if;
    v_is_dropped := not exists (select from pg_class where pg_class.oid = v_source.relation);
    v_is_replaced := pgclarify_private.replacement(v_source) is not null;
    if not (v_is_dropped or v_is_replaced) then
        return;
    end if;
    select quote_literal(corpus.name) into v_corpus
    from pgclarify_private.corpus
    where corpus.corpus_id = v_source.corpus_id;
    v_resync := format('select pgclarify.resync(%s, %L)', v_corpus, v_source.relation_name);
    v_detach := format('select pgclarify.detach_table(%s, %s)', v_corpus, v_source.relation::oid);
    code := 'undefined_table';
    message := format(
        'table "%s" was %s', v_source.relation_name, case when v_is_replaced then 'replaced' else 'dropped' end
    );
    if not v_is_replaced then
        detail := 'No table has its name now.';
        hint := format('Let go of it: %s. Or make it again, and follow the new one: %s.', v_detach, v_resync);
    elsif v_is_dropped then
        detail := 'It was dropped, and another table has its name now.';
        hint := format('Follow the new one: %s. Or let go of it: %s.', v_resync, v_detach);
    else
        detail := format('It is "%s" now, and another table has its name.', v_name);
        hint := format(
            'Follow the new one: %s. Or the former one, by its new name: select pgclarify.resync(%s, %L). Or let go of it: %s.',
            v_resync, v_corpus, v_name, v_detach
        );
    end if;
    return next;
end
$$;

comment on function pgclarify_private.lost_table(pgclarify_private.source) is
'A row of table_problems if an attached table was dropped, or if another table has its name, and what to do; else none. A '
'table that was only renamed is not lost.';

create or replace function pgclarify_private.tell_unfollowed(corpus_id bigint, requester name)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
declare
    v_source pgclarify_private.source;
    v_lost record;
    v_corpus pgclarify_private.corpus;
    v_roles name[];
begin
    select source.* into v_source
    from pgclarify_private.source
    where
        source.corpus_id = tell_unfollowed.corpus_id
        and (
            source.state = 'failed'
            or source.state in ('loading', 'following')
            -- Of a thousand tables, only those with another name than when they were attached are looked at.
            and source.relation::text <> source.relation_name
            and exists (select from pgclarify_private.lost_table(source))
        )
    order by source.relation::text = source.relation_name, source.source_id
    limit 1;
    if not found then
        return;
    end if;
    select corpus.* into v_corpus from pgclarify_private.corpus where corpus.corpus_id = tell_unfollowed.corpus_id;
    v_roles := pgclarify_private.roles_of(tell_unfollowed.requester);
    if not pgclarify_private.may_change(v_corpus.owner, v_corpus.owner_oid, v_roles) then
        raise warning 'a table of corpus "%" is not followed, so answers may be out of date', v_corpus.name
            using errcode = 'PC021',
                hint = 'Its owner sees what to do in pgclarify.source_status.';
        return;
    end if;
    select lost.* into v_lost from pgclarify_private.lost_table(v_source) as lost;
    raise warning 'table "%" of corpus "%" is not followed, so answers may be out of date',
        v_source.relation_name, v_corpus.name
        using errcode = 'PC021',
            detail = coalesce(v_lost.message || ': ' || v_lost.detail, v_source.error),
            hint = coalesce(
                v_lost.hint,
                format(
                    'See why in pgclarify.source_status. Remove the cause, and run: select pgclarify.resync(%L, %L).',
                    v_corpus.name, v_source.relation::text
                )
            );
end
$$;

comment on function pgclarify_private.tell_unfollowed(bigint, name) is
'A warning if a table of a corpus is not followed, even if no worker has noticed it yet. What to do is only said to the owner '
'of the corpus.';

create or replace function pgclarify_private.replaced_source(
    caller pgclarify_private.caller, corpus text, relation regclass
)
returns pgclarify_private.source
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(replaced_source.caller, replaced_source.corpus);
    v_source pgclarify_private.source;
begin
    perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
    for v_attempt in 1 .. 2 loop
        select source.* into v_source
        from pgclarify_private.source
        where
            source.corpus_id = v_corpus.corpus_id
            and source.relation_name = replaced_source.relation::text
            and (
                source.state in ('loading', 'following', 'failed')
                -- Of a table that is still there, its owner has let go.
                or source.state = 'detached' and not exists (select from pg_class where pg_class.oid = source.relation)
            )
            and not exists (
                select from pgclarify_private.source as other
                where other.corpus_id = v_corpus.corpus_id and other.relation = replaced_source.relation
            )
        order by source.state = 'detached', source.source_id desc
        limit 1;
        exit when v_source.source_id is null;
        -- Look again when they are locked: another session may have been faster.
        perform pgclarify_private.lock_sources(array[v_source.relation, replaced_source.relation]::oid[]);
    end loop;
    return v_source;
end
$$;

comment on function pgclarify_private.replaced_source(pgclarify_private.caller, text, regclass) is
'The source of a corpus that the caller may change whose table had the name of this one, which has no source; nulls if there '
'is none. It is followed, has failed, or was detached before its table was dropped. Both tables are locked as by lock_sources.';

create or replace function pgclarify_private.move_source(source pgclarify_private.source, relation regclass)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- With the triggers of the former table, and what they have recorded.
    perform pgclarify_private.drop_capture((move_source.source).source_id);
    update pgclarify_private.source as moved
    set relation = move_source.relation, layout = null
    where moved.source_id = (move_source.source).source_id;
end
$$;

comment on function pgclarify_private.move_source(pgclarify_private.source, regclass) is
'Let a source be of another table. Its documents stay; load_anew has to compare them.';

create or replace function pgclarify_private.former_grants(
    caller pgclarify_private.caller, corpus text, relation regclass, out former oid, out statements text[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_source constant pgclarify_private.source := pgclarify_private.replaced_source(
        former_grants.caller, former_grants.corpus, former_grants.relation
    );
begin
    former := v_source.relation;
    statements := array(select pgclarify_private.spare_grants(v_source));
end
$$;

comment on function pgclarify_private.former_grants(pgclarify_private.caller, text, regclass) is
'Before resync or attach_table of a table that has replaced an attached one: that one, and statements for the caller to '
'execute afterwards, which revoke what its table reader may read.';
grant execute on function pgclarify_private.former_grants(pgclarify_private.caller, text, regclass) to pgclarify_user;
