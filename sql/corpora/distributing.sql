-- Distributing: the passages and vectors of a corpus spread over the nodes of a Citus cluster. Experimental.
--
-- A distributed corpus has the same tables, passage_<corpus_id> and passage_embedding_<space_id>, with the same names. They are
-- distributed by document_id, and the vectors of a document are on the node of its passages. They are not partitions: Citus
-- accepts a partition only with its parent, and it refuses the parent's policies and views. The row of the corpus, its
-- documents and words, and all runs stay on the coordinator. Such a corpus has no neighborhood graph: workers update a graph
-- with row locks, and Citus cannot lock rows on several shards at once.

create or replace function pgclarify_private.is_distributed(corpus_id bigint)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_passage regclass := to_regclass(pgclarify_private.partition_name('passage', is_distributed.corpus_id));
    v_is_distributed boolean := false;
begin
    -- Each search asks. Its corpus is almost always a partition, and then nothing more is read.
    if exists (select from pg_class where pg_class.oid = v_passage and not pg_class.relispartition)
        and to_regclass('pg_catalog.pg_dist_partition') is not null then
        execute 'select exists (select from pg_catalog.pg_dist_partition where logicalrelid = $1)'
        into v_is_distributed using v_passage;
    end if;
    return v_is_distributed;
end
$$;

comment on function pgclarify_private.is_distributed(bigint) is
'Whether the passages and vectors of a corpus are spread over the nodes of a cluster.';

create or replace function pgclarify_private.refuse_distributed(corpus pgclarify_private.corpus, feature text)
returns void
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- An older snapshot would show the tables that the corpus had before.
    perform pgclarify_private.passages_of((refuse_distributed.corpus).corpus_id);
    if pgclarify_private.is_distributed((refuse_distributed.corpus).corpus_id) then
        raise exception '% is not there for a distributed corpus', refuse_distributed.feature
            using errcode = 'feature_not_supported',
                detail = format(
                    'The passages of corpus "%s" are spread over the nodes of a cluster.', (refuse_distributed.corpus).name
                ),
                hint = format(
                    'Bring them back: select pgclarify.distribute(%L, ''{"shards": 0}'').', (refuse_distributed.corpus).name
                );
    end if;
end
$$;

comment on function pgclarify_private.refuse_distributed(pgclarify_private.corpus, text) is
'Error 0A000 if a corpus is distributed, 40001 if it was moved after the snapshot of this statement. feature: what a '
'distributed corpus does not support.';

create or replace function pgclarify_private.spread_table(
    relation regclass, colocated_with regclass, shards integer, ef_search integer
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Citus raises a notice for each table that it creates.
set client_min_messages = 'warning'
as $$
begin
    execute format(
        'select create_distributed_table(%L, ''document_id'', colocate_with => %L, shard_count => %s)',
        spread_table.relation, coalesce(spread_table.colocated_with::text, 'none'), coalesce(spread_table.shards::text, 'null')
    );
    -- A node may have other settings than the coordinator. Citus has copied the role to the nodes by now.
    perform pgclarify_private.check_nodes(spread_table.ef_search);
end
$$;

comment on function pgclarify_private.spread_table(regclass, regclass, integer, integer) is
'Distribute an empty table by document_id. colocated_with: the table whose shards it follows; null for separate shards, whose '
'number is shards. ef_search: the least hnsw.ef_search of the nodes.';

create or replace function pgclarify_private.copy_table(
    relation regclass, parent regclass, colocated_with regclass, shards integer, ef_search integer
)
returns regclass
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
declare
    v_copy regclass;
    v_definition text;
begin
    execute format(
        'create table pgclarify_private.%I (like %s including constraints including comments%s)',
        format('%s_copy', (select pg_class.relname from pg_class where pg_class.oid = copy_table.relation)),
        copy_table.parent,
        -- The functions that store passages take ids from the sequence themselves. The sequence stays on this server.
        case when copy_table.shards is null and copy_table.colocated_with is null then ' including defaults' else '' end
    );
    v_copy := format('%s_copy', copy_table.relation);
    -- A direct read would bypass the policies of the parent.
    execute format('alter table %s enable row level security', v_copy);
    execute format('comment on table %s is %L', v_copy, obj_description(copy_table.relation, 'pg_class'));
    select pg_get_constraintdef(pg_constraint.oid) into strict v_definition
    from pg_constraint where pg_constraint.conrelid = copy_table.relation and pg_constraint.contype = 'p';
    execute format('alter table %s add %s', v_copy, v_definition);
    perform pgclarify_private.leave_out_statistics(v_copy, copy_table.parent);
    if copy_table.shards is not null or copy_table.colocated_with is not null then
        perform pgclarify_private.spread_table(
            v_copy, copy_table.colocated_with, copy_table.shards, copy_table.ef_search
        );
    end if;
    execute format('insert into %s select * from %s', v_copy, copy_table.relation);
    -- Created after the rows are there: this is faster, and all shards do it at the same time.
    for v_definition in
        select regexp_replace(
            pg_get_indexdef(pg_index.indexrelid), '^CREATE INDEX \S+ ON \S+', format('create index on %s', v_copy)
        )
        from pg_index
        where pg_index.indrelid = copy_table.relation and not pg_index.indisprimary
    loop
        execute v_definition;
    end loop;
    perform pgclarify_private.leave_out_statistics(v_copy, copy_table.parent);
    return v_copy;
end
$$;

comment on function pgclarify_private.copy_table(regclass, regclass, regclass, integer, integer) is
'Copy the table of a corpus, with indexes. shards: distribute the copy to so many shards. colocated_with: distribute it to the '
'shards of this table. Both null: the copy stays here. ef_search: the least hnsw.ef_search of the nodes. Returns the copy.';

create or replace function pgclarify_private.rename_copy(copy regclass)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_index record;
begin
    execute format(
        'alter table %s rename to %I',
        rename_copy.copy, (select replace(relname, '_copy', '') from pg_class where oid = rename_copy.copy)
    );
    for v_index in
        select pg_class.oid::regclass as relation, replace(pg_class.relname, '_copy', '') as name
        from pg_index
        inner join pg_class on pg_class.oid = pg_index.indexrelid
        where pg_index.indrelid = rename_copy.copy
    loop
        execute format('alter index %s rename to %I', v_index.relation, v_index.name);
    end loop;
end
$$;

comment on function pgclarify_private.rename_copy(regclass) is
'Give a copy, and its indexes, the names of the table of which it is a copy. That table was dropped.';

create or replace function pgclarify_private.check_cluster()
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_nodes integer;
begin
    if not exists (select from pg_extension where pg_extension.extname = 'citus') then
        raise exception 'this database is not on a Citus cluster'
            using errcode = 'feature_not_supported',
                detail = 'The extension citus is not installed in it.',
                hint = 'docs/citus.md says how to create a cluster.';
    end if;
    execute 'select count(*) from pg_catalog.pg_dist_node where isactive and shouldhaveshards and groupid <> 0' into v_nodes;
    if v_nodes = 0 then
        raise exception 'the cluster has no node for shards'
            using errcode = 'object_not_in_prerequisite_state',
                detail = 'The table pg_dist_node lists no other active node that takes shards.',
                hint = 'Have a superuser run on the coordinator: select citus_add_node(''host'', 5432).';
    end if;
    return v_nodes;
end
$$;

comment on function pgclarify_private.check_cluster() is
'The number of nodes that take shards; error 0A000 or 55000 if there are none.';

create or replace function pgclarify_private.lock_tables(tables regclass[])
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- While this waits for a lock, every new session that needs the table waits, too.
set lock_timeout = '2s'
as $$
begin
    for v_attempt in 1 .. 30 loop
        begin
            execute format(
                'lock table %s in access exclusive mode',
                (
                    -- Not the partitions of a table.
                    select string_agg(
                        format('%s%s', case pg_class.relkind when 'p' then 'only ' end, pg_class.oid::regclass), ', '
                        order by pg_class.relkind desc, pg_class.oid
                    )
                    from pg_class
                    where pg_class.oid = any(lock_tables.tables)
                )
            );
            return;
        exception
            when lock_not_available or deadlock_detected then
                if v_attempt = 30 then
                    raise;
                end if;
                perform pg_sleep(1);
        end;
    end loop;
end
$$;

comment on function pgclarify_private.lock_tables(regclass[]) is
'Lock tables, without their partitions, against all other sessions until the transaction ends; error 55P03 if they are in use '
'for a minute and a half. Waiting sessions go on between two attempts.';

create or replace function pgclarify_private.move_corpus(corpus pgclarify_private.corpus, shards integer)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_parents constant regclass[] := '{pgclarify_private.passage, pgclarify_private.passage_embedding}';
    v_columns constant text[] := '{corpus_id, embedding_space_id}';
    v_keys constant bigint[] := array[(move_corpus.corpus).corpus_id, (move_corpus.corpus).embedding_space_id];
    -- Without an active space, there is one table.
    v_tables constant regclass[] := array_remove(
        array[
            to_regclass(pgclarify_private.partition_name('passage', v_keys[1])),
            to_regclass(pgclarify_private.partition_name('passage_embedding', v_keys[2]))
        ],
        null
    );
    v_copies regclass[] := '{}';
    v_ef_search integer := pgclarify_private.shard_ef_search((move_corpus.corpus).corpus_id, move_corpus.shards);
    -- Otherwise Citus renames and drops the tables here, and leaves their shards as they were.
    v_propagation constant text := pgclarify_private.set_ddl_propagation('on');
begin
    -- Searches read the old tables until both copies are complete.
    for v_i in 1 .. cardinality(v_tables) loop
        -- Vectors follow the shards of the passages.
        v_copies := v_copies || pgclarify_private.copy_table(
            v_tables[v_i], v_parents[v_i], case when move_corpus.shards is not null then v_copies[1] end,
            case when v_i = 1 then move_corpus.shards end, v_ef_search
        );
        if move_corpus.shards is null then
            -- With this CHECK, ATTACH needs no scan while the tables are locked.
            execute format(
                'alter table %s add constraint is_in_partition check (%I = %s)', v_copies[v_i], v_columns[v_i], v_keys[v_i]
            );
        end if;
    end loop;
    -- Searches lock only the partitions.
    perform pgclarify_private.lock_tables(v_tables || case when move_corpus.shards is not null then v_parents end);
    execute format('drop table %s', array_to_string(v_tables, ', '));
    for v_i in 1 .. cardinality(v_copies) loop
        perform pgclarify_private.rename_copy(v_copies[v_i]);
        if move_corpus.shards is null then
            execute format(
                'alter table %s attach partition %s for values in (%s)', v_parents[v_i], v_copies[v_i], v_keys[v_i]
            );
            execute format('alter table %s drop constraint is_in_partition', v_copies[v_i]);
        end if;
    end loop;
    perform pgclarify_private.set_ddl_propagation(v_propagation);
end
$$;

comment on function pgclarify_private.move_corpus(pgclarify_private.corpus, integer) is
'Copy the passages and vectors of a corpus to so many shards, or to partitions of this server if shards is null, and put the '
'copies in the place of its tables. Called with the corpus locked.';

create or replace function pgclarify_private.distribute(caller pgclarify_private.caller, corpus text, options jsonb)
returns jsonb
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '10s'
as $$
declare
    v_corpus pgclarify_private.corpus := pgclarify_private.owned_corpus(distribute.caller, distribute.corpus);
    v_settings jsonb := pgclarify_private.check_options(
        distribute.options,
        pgclarify_private.options_of('distribute')
    );
    v_nodes integer;
    v_passage regclass;
    v_embedding regclass;
    v_is_distributed boolean;
    v_is_moved boolean;
    v_shards integer := (v_settings -> 'shards')::integer;
    v_is_undone boolean := v_shards = 0;
    v_ef_search integer;
    v_passages bigint;
    v_bytes bigint;
begin
    -- The way back needs no node for shards, and after a restore it needs no Citus.
    if not v_is_undone then
        v_nodes := pgclarify_private.check_cluster();
    end if;
    if not (v_settings -> 'dry_run')::boolean then
        if pgclarify_private.has_frozen_snapshot() then
            raise exception 'a corpus cannot be distributed in this transaction'
                using errcode = 'feature_not_supported',
                    detail = 'It does not see passages that workers store after its first statement, so they would be lost.',
                    hint = 'Call distribute in a transaction with isolation level read committed.';
        end if;
        -- A transaction that writes to the corpus holds a key share lock on this row. This waits for such transactions, and new
        -- ones wait for this.
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus.corpus_id for update;
        perform pgclarify_private.lock_corpus(v_corpus.corpus_id);
        select again.* into v_corpus from pgclarify_private.living_corpus as again where again.corpus_id = v_corpus.corpus_id;
    end if;
    v_is_distributed := pgclarify_private.is_distributed(v_corpus.corpus_id);
    v_passage := pgclarify_private.partition_name('passage', v_corpus.corpus_id);
    v_embedding := to_regclass(pgclarify_private.partition_name('passage_embedding', v_corpus.embedding_space_id));
    if not v_is_distributed and not v_is_undone and exists (
        select from pgclarify_private.embedding_space as space
        where space.corpus_id = v_corpus.corpus_id
            and space.state = 'building'
            and v_corpus.embedding_space_id is not null
    ) then
        raise exception 'the corpus is changing its embedding model'
            using errcode = 'object_not_in_prerequisite_state',
                detail = format('Corpus "%s" has a second set of vectors that is not complete yet.', v_corpus.name),
                hint = 'Wait until corpus.next_embedding_model is null, or end the change with alter_corpus, option embedding_model null.';
    end if;
    -- Tables that pg_dump read from the nodes are neither distributed nor partitions after a restore.
    select case when v_is_undone then not pg_class.relispartition else not v_is_distributed end into v_is_moved
    from pg_class
    where pg_class.oid = v_passage;
    if v_is_distributed then
        execute 'select count(*) from pg_catalog.pg_dist_shard where logicalrelid = $1' into v_shards using v_passage;
    end if;
    v_ef_search := pgclarify_private.shard_ef_search(v_corpus.corpus_id, nullif(v_shards, 0));
    if v_is_distributed or not v_is_undone then
        perform pgclarify_private.check_owner(case when not v_is_undone then v_ef_search end);
    end if;
    select counted.passages into v_passages
    from pgclarify_private.corpus_count as counted where counted.corpus_id = v_corpus.corpus_id;
    if v_is_distributed then
        execute 'select sum(citus_total_relation_size(relation)) from unnest($1) as relation'
        into v_bytes using array_remove(array[v_passage, v_embedding], null);
    else
        v_bytes := pg_total_relation_size(v_passage) + coalesce(pg_total_relation_size(v_embedding), 0);
    end if;
    if v_is_moved and not (v_settings -> 'dry_run')::boolean then
        -- Before the move, whose locks on the tables of all corpora stay until the transaction ends.
        if v_embedding is null then
            -- There is no graph.
        elsif v_is_undone then
            perform pgclarify_private.queue_all_links(v_corpus.embedding_space_id);
        else
            perform pgclarify_private.drop_graph(v_corpus);
        end if;
        perform pgclarify_private.move_corpus(v_corpus, case when not v_is_undone then v_shards end);
        v_is_distributed := not v_is_undone;
    end if;
    return jsonb_build_object(
        'is_distributed', v_is_distributed, 'is_moved', v_is_moved, 'passages', coalesce(v_passages, 0), 'bytes', v_bytes, 'nodes', v_nodes,
        'shards', v_shards, 'ef_search', v_ef_search
    );
end
$$;

comment on function pgclarify_private.distribute(pgclarify_private.caller, text, jsonb) is 'See distribute.';
grant execute on function pgclarify_private.distribute(pgclarify_private.caller, text, jsonb) to pgclarify_user;

create or replace function pgclarify_private.drop_graph(corpus pgclarify_private.corpus)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space_id bigint := (drop_graph.corpus).embedding_space_id;
    v_lists bigint;
begin
    delete from pgclarify_private.pending_link where embedding_space_id = v_space_id;
    delete from pgclarify_private.pending_unlink where embedding_space_id = v_space_id;
    update pgclarify_private.embedding_space
    set linking_document_id = null, linking_passage_id = null, linking_passages = null, linking_worker_id = null
    where embedding_space.embedding_space_id = v_space_id;
    execute format(
        'with deleted as (delete from %s returning 1) select count(*) from deleted',
        pgclarify_private.partition_name('neighborhood', v_space_id)
    ) into v_lists;
    insert into pgclarify_private.corpus_tally (corpus_id, linked, graph_revision)
    values ((drop_graph.corpus).corpus_id, -v_lists, 1);
end
$$;

comment on function pgclarify_private.drop_graph(pgclarify_private.corpus) is
'Delete the neighborhood graph of a corpus, and the queue of passages for it. Called with the corpus locked.';
