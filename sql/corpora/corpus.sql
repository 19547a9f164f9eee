-- Corpora: finding and creating them.

create or replace function pgclarify_private.visible_corpora(roles name[])
returns setof pgclarify_private.corpus
language sql stable parallel safe
begin atomic
    select corpus.*
    from pgclarify_private.living_corpus as corpus
    where pgclarify_private.may_search(corpus.readers, corpus.owner, corpus.owner_oid, visible_corpora.roles);
end;

comment on function pgclarify_private.visible_corpora(name[]) is
'Corpora that a holder of these roles may search, by may_search. Only functions of the owner call it, so that the planner can '
'inline it and look up one corpus among thousands.';

create or replace function pgclarify_private.search_configs()
returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
set quote_all_identifiers = off
begin atomic
    select pg_ts_config.oid::regconfig::text from pg_catalog.pg_ts_config;
end;

comment on function pgclarify_private.search_configs() is
'Names of the text search configurations that exist, as create_corpus writes them: that of a corpus may have been dropped or '
'renamed.';

create or replace function pgclarify_private.bigrams(word text)
returns text[]
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select coalesce(array_agg(distinct substr(' ' || lower(bigrams.word) || ' ', place, 2)), '{}')
    from generate_series(1, length(bigrams.word) + 1) as place;
end;

comment on function pgclarify_private.bigrams(text) is
'The distinct pairs of neighboring letters of a word in lower case, with a blank before and after it.';

create or replace function pgclarify_private.nearest_name(given text, names text[])
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select likest.name
    from (
        select
            known.name,
            -- The Dice coefficient, 0 to 1.
            2.0 * cardinality(array(select unnest(meant.pairs) intersect select unnest(own.pairs)))
            / nullif(cardinality(meant.pairs) + cardinality(own.pairs), 0) as likeness
        from unnest(nearest_name.names) as known (name)
        cross join lateral (select pgclarify_private.bigrams(known.name) as pairs) as own
        cross join (select pgclarify_private.bigrams(left(nearest_name.given, 200)) as pairs) as meant
    ) as likest
    where likest.likeness >= 0.4
    order by likest.likeness desc, likest.name
    limit 1;
end;

comment on function pgclarify_private.nearest_name(text, text[]) is
'Which of these names may be meant, by the pairs of letters that they have in common; null if none is similar. Case does not '
'count.';

create or replace function pgclarify_private.find_corpus(roles name[], corpus text)
returns pgclarify_private.corpus
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_name text := coalesce(find_corpus.corpus, nullif(current_setting('pgclarify.corpus', true), ''));
    v_corpus pgclarify_private.corpus;
    v_names text[];
    v_near text;
    v_detail text;
begin
    if v_name is not null then
        select visible.* into v_corpus
        from pgclarify_private.visible_corpora(find_corpus.roles) as visible
        where visible.name = v_name;
        if found then
            return v_corpus;
        end if;
    end if;
    select array_agg(visible.name order by visible.name) into v_names
    from pgclarify_private.visible_corpora(find_corpus.roles) as visible;
    v_near := pgclarify_private.nearest_name(v_name, v_names);
    -- A typing error is found among a thousand names; not all are listed.
    v_detail := coalesce('You can search: ' || array_to_string(v_names[:10], ', ') || '.', 'You can search no corpus.');
    if v_name is not null then
        raise exception 'corpus "%" does not exist', pgclarify_private.shown(v_name, 200)
            using errcode = 'undefined_object',
                detail = v_detail,
                hint = case
                    when left(v_name, 200) ~ '^\s*{' then 'This looks like options: pass options => ''{…}''.'
                    -- The same whether the corpus is closed to the caller or is none.
                    when v_near is null then format(
                        'Name one that exists, or make one with pgclarify.create_corpus(''name''). If it is of another role, that '
                        'role opens it with: select pgclarify.grant_access(%L, ''ROLE'').',
                        pgclarify_private.shown(v_name, 200)
                    )
                    else format('Did you mean "%s"?', v_near)
                end;
    end if;
    if coalesce(cardinality(v_names), 0) <> 1 then
        raise exception 'no corpus is named'
            using errcode = 'invalid_parameter_value',
                column = 'corpus',
                constraint = case when v_names is null then 'corpus_exists' else 'corpus_is_named' end,
                detail = v_detail,
                hint = case
                    when v_names is null then 'Make one with pgclarify.create_corpus(''name''), or ask the owner of a corpus for: '
                        'select pgclarify.grant_access(''name'', ''ROLE'').'
                    else 'Pass corpus => ''name'', or SET pgclarify.corpus = ''name''.'
                end;
    end if;
    select visible.* into strict v_corpus from pgclarify_private.visible_corpora(find_corpus.roles) as visible;
    return v_corpus;
end
$$;

comment on function pgclarify_private.find_corpus(name[], text) is
'The corpus of that name that these roles may search; without a name that of pgclarify.corpus, or the only one. A corpus that '
'may not be searched is treated as missing.';

create or replace function pgclarify_private.owned_corpus(caller pgclarify_private.caller, corpus text)
returns pgclarify_private.corpus
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_roles name[] := pgclarify_private.roles_of(pgclarify_private.verify_asker(owned_corpus.caller));
    v_corpus pgclarify_private.corpus;
begin
    if owned_corpus.corpus is null then
        -- find_corpus would choose one, and the caller might then remove something from it.
        raise exception 'no corpus is named'
            using errcode = 'invalid_parameter_value',
                column = 'corpus',
                detail = 'A function that changes or checks a corpus has no default.',
                hint = 'Pass the name of a corpus that you own.';
    end if;
    v_corpus := pgclarify_private.find_corpus(v_roles, owned_corpus.corpus);
    if not pgclarify_private.may_change(v_corpus.owner, v_corpus.owner_oid, v_roles) then
        raise exception 'permission denied for corpus "%"', v_corpus.name
            using errcode = 'insufficient_privilege',
                detail = format('It belongs to role %s.', v_corpus.owner),
                hint = 'Only members of that role may change it.';
    end if;
    return v_corpus;
end
$$;

comment on function pgclarify_private.owned_corpus(pgclarify_private.caller, text) is
'The corpus of that name, if the caller may change it; error 42501 otherwise, and 22023 for null.';

create or replace function pgclarify_private.lock_corpus(corpus_id bigint)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = lock_corpus.corpus_id for key share;
    if not found then
        raise exception 'the corpus no longer exists'
            using errcode = 'undefined_object',
                detail = 'It was dropped after this call had found it.',
                hint = 'List those that you can search with: select corpus from pgclarify.corpus.';
    end if;
end
$$;

comment on function pgclarify_private.lock_corpus(bigint) is
'Error 42704 if a corpus was dropped. Until the transaction ends, no worker removes the corpus, and its tables are neither '
'moved nor switched. drop_corpus does not wait for this lock. A function that writes rows of a corpus calls this before it '
'locks any of them; otherwise it could deadlock with those that lock the corpus for update.';

create or replace function pgclarify_private.check_roles_exist(roles text[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_role text;
begin
    foreach v_role in array array_remove(check_roles_exist.roles, null) loop
        if not exists (select from pg_roles where rolname = v_role) then
            raise exception 'role "%" does not exist', pgclarify_private.shown(v_role)
                using errcode = 'undefined_object', hint = 'Create the role first, or name another one.';
        end if;
        if (
            select bool_and(named.role_oid <> pgclarify_private.role_oid(v_role::name))
            from pgclarify_private.named_role as named
            where named.name = v_role
        ) then
            raise exception 'role "%" is not the role that this database means by that name', pgclarify_private.shown(v_role)
                using errcode = 'object_not_in_prerequisite_state',
                    detail = 'A corpus, a document or a budget named an earlier role of that name, which was dropped, or is of '
                        'another server.',
                    hint = 'Name a group that this role is a member of; or let an administrator call '
                        'pgclarify_private.adopt_roles(), which gives this role all that the earlier one had.';
        end if;
    end loop;
end
$$;

comment on function pgclarify_private.check_roles_exist(text[]) is
'Error 42704 for the first name that is not a role, 55000 for one that means another role here; null is skipped.';

create or replace function pgclarify_private.create_corpus(
    caller pgclarify_private.caller, name text, embedding_model text, options jsonb
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The name of the configuration is stored as search_configs writes it.
set quote_all_identifiers = off
-- It may wait for a transaction that creates another corpus, but not forever.
set lock_timeout = '5s'
as $$
declare
    v_owner name := pgclarify_private.verify_asker(create_corpus.caller);
    v_settings jsonb := pgclarify_private.check_options(create_corpus.options, pgclarify_private.options_of('create_corpus'));
    v_search_config text;
    v_corpus_id bigint;
begin
    if create_corpus.name is null or length(create_corpus.name) not between 1 and 200 then
        raise exception 'a corpus needs a name of 1 to 200 characters'
            using errcode = 'invalid_parameter_value',
                detail = format('It has %s.', coalesce(length(create_corpus.name), 0)),
                hint = 'Pass, for example, name => ''insurance''.';
    end if;
    if create_corpus.name <> pgclarify_private.shown(create_corpus.name, 200) then
        -- Errors list the names of corpora to roles that may search them, and psql shows errors as they are.
        raise exception 'the name of a corpus must be visible'
            using errcode = 'invalid_parameter_value',
                detail = format('It is "%s".', pgclarify_private.shown(create_corpus.name, 200)),
                hint = 'Leave out control and invisible characters, and write single blanks.';
    end if;
    perform pgclarify_private.check_embedding_model(create_corpus.embedding_model);
    begin
        -- A number is accepted as an oid, even if no configuration has it.
        select pg_ts_config.oid::regconfig::text into strict v_search_config
        from pg_ts_config
        where pg_ts_config.oid = (v_settings ->> 'search_config')::regconfig;
    exception
        -- The last two are for a name of three parts, and for a number that is no oid.
        when
            no_data_found or undefined_object or invalid_schema_name or syntax_error or invalid_name
            or feature_not_supported or numeric_value_out_of_range
        then
            raise exception 'text search configuration "%" does not exist', v_settings ->> 'search_config'
                using errcode = 'undefined_object',
                    detail = 'Configurations outside pg_catalog are named with their schema.',
                    hint = 'List them with: select cfgnamespace::regnamespace, cfgname from pg_ts_config. For a language that '
                        || 'has none, such as Polish or Japanese, pass simple.';
    end;
    if v_search_config = 'simple' then
        raise notice 'searches by words only find exact forms of words'
            using detail = 'Text search configuration "simple" knows no language: "book" does not find "books".',
                hint = 'If PostgreSQL has a configuration for the language of the documents, make the corpus with that one. '
                    || 'A multilingual embedding model finds other forms of a word as well.';
    end if;
    perform pgclarify_private.check_roles_exist(array[v_settings ->> 'reader', v_settings ->> 'analyst']);
    begin
        insert into pgclarify_private.corpus (
            name, search_config, owner, owner_oid, readers, analysts, date_key, folders, passages_per_call
        )
        values (
            create_corpus.name, v_search_config, v_owner, pgclarify_private.role_oid(v_owner),
            array_remove(array[v_settings ->> 'reader'], null), array_remove(array[v_settings ->> 'analyst'], null),
            v_settings ->> 'date_key', pgclarify_private.folder_rules(v_settings -> 'folders'),
            (v_settings -> 'passages_per_call')::integer
        )
        on conflict do nothing
        returning corpus_id into v_corpus_id;
        if v_corpus_id is null then
            raise exception 'corpus "%" already exists', create_corpus.name
                using errcode = 'duplicate_object',
                    hint = 'Choose another name, or drop that one with pgclarify.drop_corpus.';
        end if;
        perform pgclarify_private.note_roles(array[v_settings ->> 'reader', v_settings ->> 'analyst']::name[]);
        insert into pgclarify_private.embedding_space (corpus_id, model) values (v_corpus_id, create_corpus.embedding_model);
        perform pgclarify_private.add_partition('pgclarify_private.passage', 'corpus_id', v_corpus_id);
    exception
        when lock_not_available then
            raise exception 'another transaction is creating a corpus'
                using errcode = 'lock_not_available',
                    detail = 'Only one transaction at a time can create a corpus, or be the first to name a role.',
                    hint = 'Call it again when that transaction has ended.';
    end;
    return v_corpus_id;
end
$$;

comment on function pgclarify_private.create_corpus(pgclarify_private.caller, text, text, jsonb) is 'See create_corpus.';
grant execute on function pgclarify_private.create_corpus(pgclarify_private.caller, text, text, jsonb) to pgclarify_user;
