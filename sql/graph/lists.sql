-- The lists of the neighborhood graph: writing them, adding new passages, and removing deleted ones. All functions are
-- called with the space locked, and skip rows that other transactions have locked, so that none waits for a transaction
-- that deletes passages.

create or replace function pgclarify_private.queue_links_again(
    embedding_space_id bigint, document_ids text[], passage_ids bigint[]
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    execute format(
        $sql$
        insert into pgclarify_private.pending_link (embedding_space_id, document_id, passage_id)
        select distinct $1, again.document_id, again.passage_id
        from unnest($2, $3) as again (document_id, passage_id)
        inner join %s as embedding
            on embedding.embedding_space_id = $1
            and embedding.document_id = again.document_id
            and embedding.passage_id = again.passage_id
        -- Do not wait for a row that a user is deleting: that transaction may wait for a list that is locked here. It
        -- either completes the deletion, or leaves the row.
        where not exists (
            select from pgclarify_private.pending_link as pending
            where pending.embedding_space_id = $1
                and pending.document_id = again.document_id
                and pending.passage_id = again.passage_id
        )
        order by 2, 3
        on conflict on constraint pending_link_pk do nothing
        $sql$,
        pgclarify_private.partition_name('passage_embedding', queue_links_again.embedding_space_id)
    ) using queue_links_again.embedding_space_id, queue_links_again.document_ids, queue_links_again.passage_ids;
end
$$;

comment on function pgclarify_private.queue_links_again(bigint, text[], bigint[]) is
'Queue passages of a space to be linked again, if they exist. Unlike store_documents, it does not wait for transactions that '
'delete them.';

create or replace function pgclarify_private.write_links(
    space pgclarify_private.embedding_space,
    degree integer,
    lists pgclarify_private.neighborhood[],
    is_walk boolean,
    out document_ids text[],
    out passage_ids bigint[]
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space_id bigint := (write_links.space).embedding_space_id;
    v_tally pgclarify_private.corpus_tally;
    v_readers name[];
begin
    execute format(
        $sql$
        -- A transaction that removes a passage deletes its vector before its list.
        with writable as materialized (
            select embedding.document_id, embedding.passage_id
            from unnest($2) as list
            inner join %2$s as embedding
                on embedding.embedding_space_id = $1
                and embedding.document_id = list.document_id
                and embedding.passage_id = list.passage_id
            for key share of embedding skip locked
        ),
        added as (
            select passage.readers
            from writable
            left join %3$s as passage
                on passage.corpus_id = $3
                and passage.document_id = writable.document_id
                and passage.id = writable.passage_id
            where not exists (
                select from %1$s as kept
                where kept.embedding_space_id = $1
                    and kept.document_id = writable.document_id
                    and kept.passage_id = writable.passage_id
            )
        )
        select
            coalesce(array_agg(writable.document_id), '{}'), coalesce(array_agg(writable.passage_id), '{}'),
            (select count(*) from added), (select (count(*) > count(added.readers))::integer from added),
            array(select distinct unnest(added.readers) from added)
        from writable
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_space_id),
        pgclarify_private.partition_name('passage_embedding', v_space_id),
        pgclarify_private.partition_name('passage', (write_links.space).corpus_id)
    ) into document_ids, passage_ids, v_tally.linked, v_tally.graph_revision, v_readers
    using v_space_id, write_links.lists, (write_links.space).corpus_id;
    execute format(
        $sql$
        insert into %s as kept (
            embedding_space_id, document_id, passage_id, neighbor_document_ids, neighbor_ids, similarities
        )
        select
            $1, list.document_id, list.passage_id, list.neighbor_document_ids[:$3], list.neighbor_ids[:$3],
            list.similarities[:$3]
        from unnest($2) as list
        where (list.document_id, list.passage_id) in (
            select written.document_id, written.passage_id from unnest($4, $5) as written (document_id, passage_id)
        )
        on conflict (embedding_space_id, document_id, passage_id) do update
        set
            neighbor_document_ids = excluded.neighbor_document_ids,
            neighbor_ids = excluded.neighbor_ids,
            similarities = excluded.similarities
        where (kept.neighbor_ids, kept.similarities) is distinct from (excluded.neighbor_ids, excluded.similarities)
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_space_id)
    ) using v_space_id, write_links.lists, write_links.degree, document_ids, passage_ids;
    if v_tally.linked > 0 then
        insert into pgclarify_private.corpus_tally (corpus_id, linked, graph_revision)
        values ((write_links.space).corpus_id, v_tally.linked, v_tally.graph_revision);
        perform pgclarify_private.count_reader_changes((write_links.space).corpus_id, v_readers, 0, 1);
    end if;
    if write_links.is_walk then
        perform pgclarify_private.queue_links_again(
            v_space_id,
            array_agg(list.document_id),
            array_agg(list.passage_id)
        )
        from unnest(write_links.lists) as list
        where (list.document_id, list.passage_id) not in (
            select written.document_id, written.passage_id
            from unnest(document_ids, passage_ids) as written (document_id, passage_id)
        )
        having count(*) > 0;
    else
        perform pgclarify_private.forget_waiting(v_space_id, document_ids, passage_ids);
    end if;
end
$$;

comment on function pgclarify_private.write_links(pgclarify_private.embedding_space, integer,
pgclarify_private.neighborhood[], boolean) is
'Write the first degree of the neighbors that were found, and return the passages whose lists were written. Passages that are '
'being deleted stay in the queue, or are added to it. Called with the space locked.';

create or replace function pgclarify_private.enter_lists(
    embedding_space_id bigint, degree integer, lists pgclarify_private.neighborhood[], document_ids text[], passage_ids bigint[]
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_waiting_documents text[];
    v_waiting_ids bigint[];
begin
    execute format(
        $sql$
        with offered as materialized (
            select
                near.document_id, near.passage_id,
                array_agg(list.document_id) as new_document_ids,
                array_agg(list.passage_id) as new_passage_ids,
                array_agg(near.similarity) as new_similarities,
                max(near.similarity) as best
            from unnest($2) as list
            inner join unnest($4, $5) as written (document_id, passage_id)
                on written.document_id = list.document_id and written.passage_id = list.passage_id
            cross join lateral unnest(
                list.neighbor_document_ids, list.neighbor_ids, list.similarities
            ) as near (document_id, passage_id, similarity)
            group by near.document_id, near.passage_id
        ),
        wanted as materialized (
            select offered.*
            from offered
            inner join %1$s as kept
                on kept.embedding_space_id = $1
                and kept.document_id = offered.document_id
                and kept.passage_id = offered.passage_id
            where not kept.neighbor_ids @> offered.new_passage_ids
                and (
                    cardinality(kept.neighbor_ids) < $3
                    or kept.similarities[cardinality(kept.similarities)] < offered.best
                )
        ),
        locked as materialized (
            select
                wanted.*,
                kept.neighbor_document_ids, kept.neighbor_ids, kept.similarities
            from wanted
            inner join %1$s as kept
                on kept.embedding_space_id = $1
                and kept.document_id = wanted.document_id
                and kept.passage_id = wanted.passage_id
            for update of kept skip locked
        ),
        entered as (
            update %1$s as kept
            set
                neighbor_document_ids = merged.document_ids,
                neighbor_ids = merged.passage_ids,
                similarities = merged.similarities
            from locked
            cross join lateral (
                select
                    array_agg(best.document_id order by best.similarity desc, best.passage_id) as document_ids,
                    array_agg(best.passage_id order by best.similarity desc, best.passage_id) as passage_ids,
                    array_agg(best.similarity order by best.similarity desc, best.passage_id) as similarities
                from (
                    select near.*
                    from unnest(locked.neighbor_document_ids, locked.neighbor_ids, locked.similarities)
                    as near (document_id, passage_id, similarity)
                    union all
                    select near.*
                    from unnest(locked.new_document_ids, locked.new_passage_ids, locked.new_similarities)
                    as near (document_id, passage_id, similarity)
                    where near.passage_id <> all(locked.neighbor_ids)
                    order by similarity desc, passage_id
                    limit $3
                ) as best
            ) as merged
            where kept.embedding_space_id = $1
                and kept.document_id = locked.document_id
                and kept.passage_id = locked.passage_id
        )
        select coalesce(array_agg(wanted.document_id), '{}'), coalesce(array_agg(wanted.passage_id), '{}')
        from wanted
        where (wanted.document_id, wanted.passage_id) not in (select locked.document_id, locked.passage_id from locked)
        $sql$,
        pgclarify_private.partition_name('neighborhood', enter_lists.embedding_space_id)
    ) into v_waiting_documents, v_waiting_ids
    using
        enter_lists.embedding_space_id, enter_lists.lists, enter_lists.degree, enter_lists.document_ids,
        enter_lists.passage_ids;
    -- Lists that are being deleted: if that is rolled back, they are built again.
    perform pgclarify_private.queue_links_again(enter_lists.embedding_space_id, v_waiting_documents, v_waiting_ids);
end
$$;

comment on function pgclarify_private.enter_lists(bigint, integer, pgclarify_private.neighborhood[], text[], bigint[]) is
'Add new passages to the lists of their neighbors, if a list is short or its last neighbor is less near.';

create or replace function pgclarify_private.unlink_batch(embedding_space_id bigint, max_passages integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Without statistics, the planner would read all lists.
set enable_seqscan = off
set jit = off
as $$
declare
    -- Thousands of equal passages may contain each other; the rest is for the next call.
    v_most_lists bigint := 16 * unlink_batch.max_passages;
    v_gone bigint[];
    v_document_ids text[];
    v_passage_ids bigint[];
begin
    v_gone := array(
        select pending.passage_id
        from pgclarify_private.pending_unlink as pending
        where pending.embedding_space_id = unlink_batch.embedding_space_id
        order by pending.added_at, pending.passage_id
        limit unlink_batch.max_passages
        for update skip locked
    );
    if cardinality(v_gone) = 0 then
        return 0;
    end if;
    execute format(
        $sql$
        select coalesce(array_agg(outdated.document_id), '{}'), coalesce(array_agg(outdated.passage_id), '{}')
        from (
            select kept.document_id, kept.passage_id
            from %s as kept
            where kept.neighbor_ids && $1
                and not exists (
                    select from pgclarify_private.pending_link as pending
                    where pending.embedding_space_id = $2
                        and pending.document_id = kept.document_id
                        and pending.passage_id = kept.passage_id
                )
            limit $3
        ) as outdated
        $sql$,
        pgclarify_private.partition_name('neighborhood', unlink_batch.embedding_space_id)
    ) into v_document_ids, v_passage_ids using v_gone, unlink_batch.embedding_space_id, v_most_lists;
    perform pgclarify_private.queue_links_again(unlink_batch.embedding_space_id, v_document_ids, v_passage_ids);
    if cardinality(v_passage_ids) = v_most_lists then
        return v_most_lists;
    end if;
    delete from pgclarify_private.pending_unlink as pending
    where pending.embedding_space_id = unlink_batch.embedding_space_id and pending.passage_id = any(v_gone);
    return cardinality(v_gone);
end
$$;

comment on function pgclarify_private.unlink_batch(bigint, integer) is
'Queue the lists that contain up to max_passages removed passages to be built again: up to sixteen times as many. Until then, '
'readers find no passage for a removed neighbor. Returns how many passages are done; or, while more lists contain them, how '
'many lists were queued.';
