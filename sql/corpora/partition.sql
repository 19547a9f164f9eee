-- Partitions: each corpus has one of passages, and each of its embedding spaces one of vectors and one of neighbors.

create or replace function pgclarify_private.partition_name(parent text, key bigint)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select format('pgclarify_private.%I', partition_name.parent || '_' || partition_name.key);
end;

comment on function pgclarify_private.partition_name(text, bigint) is
'Quoted name of the partition of parent that holds key.';

create or replace function pgclarify_private.leave_out_statistics(relation regclass, parent regclass)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_statement text;
begin
    -- Plans for one corpus need the statistics of its documents' ids. The parent has none: they would be of all corpora, and
    -- could not be renewed quickly after a document was erased.
    for v_statement in
        select format('alter table %s alter column %I set statistics 0', leave_out_statistics.relation, of_parent.attname)
        from pg_attribute as of_parent
        inner join pg_attribute as own on own.attname = of_parent.attname
        where of_parent.attrelid = leave_out_statistics.parent
            and own.attrelid = leave_out_statistics.relation
            and of_parent.attstattarget = 0
            -- Citus refuses to do it again for a distributed table.
            and own.attstattarget is distinct from 0
            and of_parent.attnum > 0
            and of_parent.attname <> 'document_id'
    loop
        execute v_statement;
    end loop;
    -- Indexes over expressions of these columns have statistics of their own.
    for v_statement in
        select format('alter index %s alter column %s set statistics 0', indexed.indexrelid::regclass, key.ordinal)
        from pg_index as indexed
        cross join unnest(indexed.indkey::smallint[]) with ordinality as key (attnum, ordinal)
        where indexed.indrelid = leave_out_statistics.relation
            and key.attnum = 0
            and exists (
                select
                from pg_depend
                inner join pg_attribute as used on used.attrelid = pg_depend.refobjid and used.attnum = pg_depend.refobjsubid
                where pg_depend.classid = 'pg_class'::regclass
                    and pg_depend.objid = indexed.indexrelid
                    and pg_depend.refclassid = 'pg_class'::regclass
                    and pg_depend.refobjid = indexed.indrelid
                    and used.attstattarget = 0
            )
    loop
        execute v_statement;
    end loop;
end
$$;

comment on function pgclarify_private.leave_out_statistics(regclass, regclass) is
'Let ANALYZE leave out those columns of a new partition that it leaves out of the parent, except the document''s id, and '
'indexes over expressions of them. CREATE TABLE … LIKE does not copy that. Called before there are rows: an old row of '
'pg_statistic would stay.';

create or replace function pgclarify_private.bare_text_sql(content text)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    -- The index has this expression, and a function of ours would have to exist before it in a restored dump.
    select replace(
        $sql$coalesce(nullif(btrim(regexp_replace(
            :content, '^(?:[ \t\r\n]*(?:#{1,6} [^\n]*|[^\n]+\n(?:={3,}|-{3,})[ \t\r]*)(?:\n|$))+', ''
        ), E' \t\r\n'), ''), :content)$sql$,
        ':content',
        bare_text_sql.content
    );
end;

comment on function pgclarify_private.bare_text_sql(text) is
'SQL for the text of a passage without the headings at its beginning, by which copies are found: "## Fees", or underlined. '
'content: the passage, in SQL. A text that is nothing else is whole.';

create or replace function pgclarify_private.text_hash_sql(content text)
returns text
language sql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
begin atomic
    select format('hashtextextended(%s, 0)', pgclarify_private.bare_text_sql(text_hash_sql.content));
end;

comment on function pgclarify_private.text_hash_sql(text) is
'The hash of bare_text_sql, in the form of the index over it.';

create or replace function pgclarify_private.add_partition(
    parent regclass, key_column text, key bigint, distributed_with regclass default null
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_partition text;
    v_statement text;
begin
    select pgclarify_private.partition_name(pg_class.relname::text, add_partition.key) into strict v_partition
    from pg_class
    where pg_class.oid = add_partition.parent;
    -- Created as a plain table and attached, because CREATE TABLE … PARTITION OF would lock the parent against every
    -- search until the end of the transaction. With the CHECK, ATTACH needs no scan.
    execute format(
        'create table %s (like %s including defaults including constraints including comments)',
        v_partition, add_partition.parent
    );
    -- The parent has no key and no index: a restored dump could not attach partitions to those of an extension.
    foreach v_statement in array case add_partition.parent
        when 'pgclarify_private.passage'::regclass then array[
            'alter table %s add primary key (corpus_id, document_id, id)',
            -- What a worker stores goes into a list of so many kB, and from there into the index together, with much less
            -- WAL. Each search reads the list, so it is short.
            'create index on %s using gin (lexemes) with (gin_pending_list_limit = 256)',
            'create index on %s using gin (coalesce(readers, ''{""}''::name[])) with (fastupdate = off)',
            -- Finds the copies of a text.
            'create index on %s (' || pgclarify_private.text_hash_sql('content') || ')'
        ]
        when 'pgclarify_private.passage_embedding'::regclass then array[
            'alter table %s add primary key (embedding_space_id, document_id, passage_id)'
        ]
        when 'pgclarify_private.neighborhood'::regclass then array[
            'alter table %s add primary key (embedding_space_id, document_id, passage_id)',
            'create index on %s using gin (neighbor_ids)'
        ]
    end
    loop
        execute format(v_statement, v_partition);
    end loop;
    perform pgclarify_private.leave_out_statistics(v_partition::regclass, add_partition.parent);
    execute format(
        'alter table %s add constraint is_in_partition check (%I = %s)',
        v_partition, add_partition.key_column, add_partition.key
    );
    if add_partition.distributed_with is null then
        execute format(
            'alter table %s attach partition %s for values in (%s)',
            add_partition.parent, v_partition, add_partition.key
        );
        execute format('alter table %s drop constraint is_in_partition', v_partition);
    end if;
    execute format(
        'comment on table %s is %L',
        v_partition, format('Partition of %s for %s %s.', add_partition.parent, key_column, key)
    );
    -- A partition is reached through its parent. A direct read would bypass the parent's policies.
    execute format('alter table %s enable row level security', v_partition);
    if add_partition.distributed_with is not null then
        -- The table is empty, and 100 is the least that a shard needs.
        perform pgclarify_private.spread_table(v_partition, add_partition.distributed_with, null, 100);
    end if;
end
$$;

comment on function pgclarify_private.add_partition(regclass, text, bigint, regclass) is
'Create and attach the partition of parent for this key, without blocking searches of the other partitions. '
'distributed_with: a distributed table whose shards it follows; then it is not attached. Usually null.';

create or replace function pgclarify_private.lock_passages(corpus_id bigint)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_passage constant text := pgclarify_private.partition_name('passage', lock_passages.corpus_id);
begin
    -- LOCK TABLE is not allowed in a stable function. This reads no row, and asks no node.
    execute format('select from %s where false', v_passage);
    return v_passage;
exception
    when undefined_table then
        raise exception 'the corpus has been dropped by now'
            using errcode = 'serialization_failure',
                detail = 'A worker has dropped the passages that this transaction sees.',
                hint = 'Begin a new transaction.';
end
$$;

comment on function pgclarify_private.lock_passages(bigint) is
'Wait until no other transaction moves the passages and vectors of a corpus, and keep them where they are until this one ends. '
'Returns the name of the table of passages. Statements after this one see the passages, if the transaction is read committed. '
'Error 40001 if the corpus was dropped.';

create or replace function pgclarify_private.passages_of(corpus_id bigint)
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_passage constant text := pgclarify_private.lock_passages(passages_of.corpus_id);
begin
    -- The name is of the current table. If distribute made it after this snapshot, the snapshot shows no row of it, or
    -- is_distributed was wrong.
    if not exists (select from pg_class where pg_class.oid = v_passage::regclass) then
        raise exception 'the corpus was moved meanwhile'
            using errcode = 'serialization_failure',
                detail = 'A call of pgclarify.distribute ended after this statement began, so it does not see the passages.',
                hint = 'Repeat the statement. In a transaction above read committed, begin a new one.';
    end if;
    return v_passage;
end
$$;

comment on function pgclarify_private.passages_of(bigint) is
'Name of the table of passages of a corpus, for a stable function that reads it: it waits as lock_passages does. Error 40001 '
'if its snapshot is older than the table, because then it would find nothing.';

create or replace function pgclarify_private.drop_orphan_partition()
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- While it waits for the lock on the parent, other transactions wait behind it.
set lock_timeout = '500ms'
as $$
declare
    v_partition text;
    v_propagation text;
begin
    -- Each name is read once and looked up in a hash table: a thousand corpora have three thousand partitions. Tables of
    -- distributed corpora have these names, too.
    with named as materialized (
        select
            kept.oid as partition,
            kept.relname ~ '^passage_[0-9]' as is_of_corpus,
            substring(kept.relname from '[0-9]+$')::bigint as key
        from pg_class as kept
        where kept.relnamespace = 'pgclarify_private'::regnamespace
            -- By the index over names.
            and (
                kept.relname between 'neighborhood_' and 'neighborhood_z' or kept.relname between 'passage_' and 'passage_z'
            )
            and kept.relkind = 'r'
            and kept.relname ~ '^(passage|passage_embedding|neighborhood)_[0-9]+$'
    )
    select named.partition::regclass::text into v_partition
    from named
    where case
        when named.is_of_corpus then named.key not in (select corpus.corpus_id from pgclarify_private.corpus)
        else named.key not in (select space.embedding_space_id from pgclarify_private.embedding_space as space)
    end
    -- One that cannot be dropped now, for example because its shards are on a node that is down, must not block the others.
    order by random()
    limit 1;
    if v_partition is not null then
        -- Another worker may have dropped it already.
        v_propagation := pgclarify_private.set_ddl_propagation('on');
        execute format('drop table if exists %s', v_partition);
        perform pgclarify_private.set_ddl_propagation(v_propagation);
    end if;
    return v_partition;
end
$$;

comment on function pgclarify_private.drop_orphan_partition() is
'Drop any one partition of a dropped corpus, and return its name; null if there is none. Error 55P03 if another session locks '
'the table for longer than half a second, 08006 if it is on a node that is down.';
grant execute on function pgclarify_private.drop_orphan_partition() to pgclarify_worker;
