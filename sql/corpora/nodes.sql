-- Nodes of a Citus cluster: the settings with which they search the shards of a distributed corpus.

create or replace function pgclarify_private.shard_ef_search(corpus_id bigint, shards integer)
returns integer
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_passages bigint := (
        select counted.passages
        from pgclarify_private.corpus_count as counted where counted.corpus_id = shard_ef_search.corpus_id
    );
begin
    -- A hybrid search is for the 100 nearest, or more.
    return pgclarify_private.ef_search(coalesce(v_passages, 0) / shard_ef_search.shards, 100);
end
$$;

comment on function pgclarify_private.shard_ef_search(bigint, integer) is
'The value of hnsw.ef_search that the nodes need to search a corpus in so many shards of equal size.';

create or replace function pgclarify_private.node_settings()
returns table (node text, ef_search integer, error text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    return query execute
        $sql$
        select
            format('%s:%s', nodename, nodeport),
            case when success then result::integer end,
            case when not success then result end
        from run_command_on_workers(
            'select case
                when current_setting(''hnsw.iterative_scan'', true) = ''strict_order''
                    then coalesce(nullif(current_setting(''hnsw.ef_search'', true), ''''), ''40'')
                else ''0''
            end'
        )
        $sql$;
end
$$;

comment on function pgclarify_private.node_settings() is
'The hnsw.ef_search with which sessions of pgclarify_owner search on each node; 0 if they lack hnsw.iterative_scan = '
'strict_order. error: why a node does not answer.';

create or replace function pgclarify_private.check_nodes(ef_search integer)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_unfit text;
    v_errors text;
begin
    select
        string_agg(settings.node, ', ' order by settings.node) filter (where settings.ef_search < check_nodes.ef_search),
        string_agg(format('%s: %s', settings.node, settings.error), '; ' order by settings.node)
            filter (where settings.error is not null)
    into v_unfit, v_errors
    from pgclarify_private.node_settings() as settings;
    if v_errors is not null then
        raise exception 'a node of the cluster does not answer'
            using errcode = 'connection_failure',
                detail = format('Sessions of pgclarify_owner failed on %s.', v_errors),
                hint = 'Start the node, and let its pg_hba.conf admit pgclarify_owner from the coordinator.';
    end if;
    if v_unfit is not null then
        raise exception 'searches on a node would find too few passages'
            using errcode = 'object_not_in_prerequisite_state',
                detail = format(
                    'Sessions of pgclarify_owner lack hnsw.iterative_scan = strict_order or hnsw.ef_search = %s on: %s.',
                    check_nodes.ef_search, v_unfit
                ),
                hint = format(
                    'Have a superuser run on these nodes: alter role pgclarify_owner set hnsw.iterative_scan = '
                        || '''strict_order''; alter role pgclarify_owner set hnsw.ef_search = %s.',
                    check_nodes.ef_search
                );
    end if;
end
$$;

comment on function pgclarify_private.check_nodes(integer) is
'Error 55000 if a search on a node would find too few passages, 08006 if a node does not answer. ef_search: the least '
'hnsw.ef_search.';

create or replace function pgclarify_private.check_owner(ef_search integer)
returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_can_log_in boolean;
    v_iterative_scan text;
    v_ef_search integer;
begin
    -- Our functions run as this role, and Citus connects to the nodes as the role that runs the statement.
    select
        pg_roles.rolcanlogin,
        -- A setting of this database goes before one of all databases, whose id here is 0.
        (
            array_agg(split_part(option, '=', 2) order by setting.setdatabase desc)
            filter (where option like 'hnsw.iterative\_scan=%')
        )[1],
        (
            array_agg(split_part(option, '=', 2) order by setting.setdatabase desc)
            filter (where option like 'hnsw.ef\_search=%')
        )[1]
    into v_can_log_in, v_iterative_scan, v_ef_search
    from pg_roles
    left join pg_db_role_setting as setting
        on setting.setrole = pg_roles.oid
        and setting.setdatabase in (
            0, (select pg_database.oid from pg_database where pg_database.datname = current_database())
        )
    left join unnest(setting.setconfig) as option on true
    where pg_roles.rolname = 'pgclarify_owner'
    group by pg_roles.rolcanlogin;
    if not v_can_log_in and check_owner.ef_search is null then
        raise exception 'role "pgclarify_owner" may not log in on the nodes'
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'Citus connects to the nodes as this role.',
                hint = 'Have a superuser run: alter role pgclarify_owner login. Let pg_hba.conf of the nodes admit it from the '
                    'coordinator alone.';
    elsif check_owner.ef_search is null
        or v_can_log_in and v_iterative_scan = 'strict_order' and coalesce(v_ef_search, 40) >= check_owner.ef_search then
        return;
    end if;
    raise exception 'role "pgclarify_owner" cannot search on the nodes'
        using errcode = 'object_not_in_prerequisite_state',
            detail = format(
                'Citus connects to the nodes as this role, and what a function sets does not reach them. Without '
                    || 'hnsw.iterative_scan, or with hnsw.ef_search below %s, a search of this corpus would find too little, '
                    || 'and would not say so.',
                check_owner.ef_search
            ),
            hint = format(
                'Have a superuser run: alter role pgclarify_owner login; alter role pgclarify_owner set '
                    || 'hnsw.iterative_scan = ''strict_order''; alter role pgclarify_owner set hnsw.ef_search = %s. '
                    || 'Let pg_hba.conf of the nodes admit it from the coordinator alone.',
                check_owner.ef_search
            );
end
$$;

comment on function pgclarify_private.check_owner(integer) is
'Error 55000 if pgclarify_owner may not log in, or lacks the settings with which it searches on nodes. ef_search: the least '
'hnsw.ef_search; null if it will not search, and needs only the login.';

create or replace function pgclarify_private.unfit_corpora()
returns table (corpus text, ef_search integer, node text, error text)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    if to_regclass('pg_catalog.pg_dist_shard') is null then
        return;
    end if;
    return query execute
        $sql$
        with needed as materialized (
            select
                corpus.name, logicalrelid as relation,
                pgclarify_private.shard_ef_search(corpus.corpus_id, count(*)::integer) as ef_search
            from pgclarify_private.living_corpus as corpus
            inner join pg_catalog.pg_dist_shard
                on logicalrelid = to_regclass(pgclarify_private.partition_name('passage', corpus.corpus_id))
            group by corpus.corpus_id, corpus.name, logicalrelid
        ),
        -- A node that does not answer takes time, so each one is asked once, for all corpora.
        node as materialized (
            select settings.*
            from pgclarify_private.node_settings() as settings
            where exists (select from needed)
        )
        select needed.name, needed.ef_search, node.node, node.error
        from needed
        inner join node on node.error is not null or node.ef_search < needed.ef_search
        where exists (
            select
            from pg_catalog.pg_dist_shard as shard
            inner join pg_catalog.pg_dist_placement as placement using (shardid)
            inner join pg_catalog.pg_dist_node as holder using (groupid)
            where shard.logicalrelid = needed.relation
                and format('%s:%s', holder.nodename, holder.nodeport) = node.node
        )
        order by needed.name, node.node
        $sql$;
end
$$;

comment on function pgclarify_private.unfit_corpora() is
'Distributed corpora with each node that has shards of them and searches these badly or not at all. ef_search: the '
'hnsw.ef_search that the corpus needs. error: null if the settings of the node are too small, else why the node does not '
'answer. For members of pgclarify_owner.';
