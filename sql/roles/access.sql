-- Which roles may search a corpus, or see all runs on it: its reader role, its analyst, and the groups that have these
-- places.

create or replace function pgclarify_private.group_mark(kind text, corpus_id bigint)
returns text
language sql stable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select format(
        'pgclarify: %ss of corpus %s in database %s', group_mark.kind, group_mark.corpus_id, current_database()
    );
end;

comment on function pgclarify_private.group_mark(text, bigint) is
'The comment of a group of readers or analysts: it identifies the group. The name of a role proves nothing, because an owner '
'may set any role; but only roles that may grant a role can write its comment. It names the database, because other '
'databases have the same ids, and roles exist in all of them.';

create or replace function pgclarify_private.check_groups(roles text[], corpus_id bigint)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    v_group record;
begin
    select pg_roles.rolname as name, shobj_description(pg_roles.oid, 'pg_authid') as mark into v_group
    from pg_roles
    where
        pg_roles.rolname = any(check_groups.roles)
        and shobj_description(pg_roles.oid, 'pg_authid') ~ '^pgclarify: (reader|analyst)s of corpus '
        and not coalesce(
            shobj_description(pg_roles.oid, 'pg_authid') in (
                pgclarify_private.group_mark('reader', check_groups.corpus_id),
                pgclarify_private.group_mark('analyst', check_groups.corpus_id)
            ),
            false
        )
    limit 1;
    if found then
        raise exception 'role "%" is the group of another corpus', v_group.name
            using errcode = 'invalid_parameter_value',
                detail = format('Its comment is: %s.', v_group.mark),
                hint = 'Roles that are granted that corpus would get this one, too. Name another role.';
    end if;
end
$$;

comment on function pgclarify_private.check_groups(text[], bigint) is
'Error 22023 for the first of these roles that grant_access has created for another corpus; null is no role.';

create or replace function pgclarify_private.alter_corpus(caller pgclarify_private.caller, name text, options jsonb)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(alter_corpus.caller, coalesce(alter_corpus.name, ''));
    -- Options that are null here are missing from the result if omitted. An explicit null removes a role.
    v_settings jsonb := pgclarify_private.check_options(alter_corpus.options, pgclarify_private.options_of('alter_corpus'));
    v_is_changed boolean;
    v_was_building boolean;
begin
    perform pgclarify_private.check_roles_exist(array[v_settings ->> 'reader', v_settings ->> 'analyst']);
    perform pgclarify_private.check_groups(array[v_settings ->> 'reader', v_settings ->> 'analyst'], v_corpus.corpus_id);
    perform pgclarify_private.note_roles(array[v_settings ->> 'reader', v_settings ->> 'analyst']::name[]);
    update pgclarify_private.corpus
    set
        reader = case when alter_corpus.options ? 'reader' then (v_settings ->> 'reader')::name else corpus.reader end,
        analyst = case when alter_corpus.options ? 'analyst' then (v_settings ->> 'analyst')::name else corpus.analyst end,
        graph_similarity = coalesce(v_settings ->> 'graph', corpus.graph_similarity)
    where
        corpus.corpus_id = v_corpus.corpus_id
        and (
            alter_corpus.options ? 'reader' and corpus.reader is distinct from (v_settings ->> 'reader')::name
            or alter_corpus.options ? 'analyst' and corpus.analyst is distinct from (v_settings ->> 'analyst')::name
            or corpus.graph_similarity <> v_settings ->> 'graph'
        );
    v_is_changed := found;
    if alter_corpus.options ? 'ambiguity_classifier' then
        v_is_changed := pgclarify_private.use_ambiguity_classifier(
            alter_corpus.caller, v_corpus.name, (v_settings ->> 'ambiguity_classifier')::integer
        ) or v_is_changed;
    end if;
    if v_settings ? 'embedding_model' then
        v_was_building := exists (
            select from pgclarify_private.embedding_space as space
            where space.corpus_id = v_corpus.corpus_id and space.state = 'building'
        );
        v_is_changed := pgclarify_private.set_embedding_model(
            alter_corpus.caller, v_corpus.name, v_settings ->> 'embedding_model'
        ) is not null or v_was_building or v_is_changed;
    elsif alter_corpus.options ? 'embedding_model' then
        v_is_changed := pgclarify_private.cancel_embedding_model(alter_corpus.caller, v_corpus.name) or v_is_changed;
    end if;
    if v_settings ? 'graph' then
        v_is_changed := pgclarify_private.build_graph(alter_corpus.caller, v_corpus.name) > 0 or v_is_changed;
    end if;
    return v_is_changed;
end
$$;

comment on function pgclarify_private.alter_corpus(pgclarify_private.caller, text, jsonb) is 'See alter_corpus.';
grant execute on function pgclarify_private.alter_corpus(pgclarify_private.caller, text, jsonb) to pgclarify_user;

create or replace function pgclarify.alter_corpus(name text, options jsonb)
returns boolean
language sql volatile
set search_path = pg_catalog, pg_temp
begin atomic
    select pgclarify_private.alter_corpus(caller, alter_corpus.name, alter_corpus.options) from pgclarify_private.caller;
end;

comment on function pgclarify.alter_corpus(text, jsonb) is
'Change a corpus; true if anything changed. Omitted options are not changed. name: a corpus that you own. options: reader '
'(role that may search it; null: only its owner; not a group that grant_access has created for another corpus), analyst (role '
'that sees all runs on it; null: no role), embedding_model (its name; the corpus is searched with the present model until '
'workers have embedded all passages with the new one; the present name or null ends such a change), graph (dense or '
'lexical: what makes passages neighbors; workers find the neighbors of every passage again), ambiguity_classifier (a version '
'that eval train-ambiguity has made; null: the shipped classifier).';
grant execute on function pgclarify.alter_corpus(text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.is_group(role name, kind text, corpus_id bigint)
returns boolean
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select exists (
        select from pg_catalog.pg_roles
        where
            pg_roles.rolname = is_group.role
            and not pg_roles.rolcanlogin
            and shobj_description(pg_roles.oid, 'pg_authid')
            = pgclarify_private.group_mark(is_group.kind, is_group.corpus_id)
    )
    and cardinality(pgclarify_private.roles_of(is_group.role)) = 1;
end;

comment on function pgclarify_private.is_group(name, text, bigint) is
'Whether a role is a group that grant_access has created for this corpus: its members get only this access. kind: reader or '
'analyst.';

create or replace function pgclarify_private.new_group(kind text, corpus pgclarify_private.corpus)
returns name
language sql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
begin atomic
    select named.role
    from (
        select
            numbered.number,
            (
                new_group.kind || 's_of_'
                || coalesce(
                    nullif(
                        btrim(
                            left(regexp_replace(lower((new_group.corpus).name), '[^a-z0-9_]+', '_', 'g'), 40), '_'
                        ),
                        ''
                    ),
                    'corpus_' || (new_group.corpus).corpus_id
                )
                || coalesce('_' || nullif(numbered.number, 1), '')
            )::name as role
        from generate_series(1, 1000) as numbered (number)
    ) as named
    where not exists (select from pg_catalog.pg_roles where pg_roles.rolname = named.role)
    order by named.number
    limit 1;
end;

comment on function pgclarify_private.new_group(text, pgclarify_private.corpus) is
'A new name for a group of readers or analysts of a corpus. No role of the server has it.';
