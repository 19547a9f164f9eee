-- Linking: workers maintain the neighborhoods of a space, one worker at a time. They lock its rows after the search for
-- neighbors, so that transactions that delete passages wait only for the writing.

create or replace function pgclarify_private.begin_walk(
    space pgclarify_private.embedding_space, share double precision, least_waiting bigint
)
returns pgclarify_private.embedding_space
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space_id bigint := (begin_walk.space).embedding_space_id;
    -- Passages that have a list, or get one by the current walk.
    v_listed bigint;
    v_needed bigint;
    v_free bigint;
    v_space pgclarify_private.embedding_space := begin_walk.space;
begin
    select counted.linked + coalesce(v_space.linking_passages, 0) into v_listed
    from pgclarify_private.corpus_count as counted where counted.corpus_id = v_space.corpus_id;
    v_needed := greatest(ceil(v_listed * begin_walk.share), least(v_listed, begin_walk.least_waiting), 1);
    if (
        select count(*) < v_needed
        from (
            select from pgclarify_private.pending_link as pending
            where pending.embedding_space_id = v_space_id
            limit v_needed
        ) as waiting
    ) then
        return v_space;
    end if;
    -- Passages that are being removed do not count: a walk would leave them in the queue, and so another walk would
    -- follow.
    begin
        execute format(
            $sql$
            select count(*)
            from (
                select
                from pgclarify_private.pending_link as pending
                inner join %1$s as embedding
                    on embedding.embedding_space_id = pending.embedding_space_id
                    and embedding.document_id = pending.document_id
                    and embedding.passage_id = pending.passage_id
                where pending.embedding_space_id = $1
                limit $2
                for update of pending skip locked
                for key share of embedding skip locked
            ) as free
            $sql$,
            pgclarify_private.partition_name('passage_embedding', v_space_id)
        ) into v_free
        using v_space_id, v_needed;
        -- The exception releases the locks, which would make users wait.
        raise exception 'counted' using errcode = 'PC099';
    exception
        when sqlstate 'PC099' then null;
    end;
    if v_free < v_needed then
        return v_space;
    end if;
    -- All lists are built, or rebuilt, from here on. So each passage that leaves the queue here will be in them.
    delete from pgclarify_private.pending_link as pending
    where (pending.embedding_space_id, pending.document_id, pending.passage_id) in (
        select waiting.embedding_space_id, waiting.document_id, waiting.passage_id
        from pgclarify_private.pending_link as waiting
        where waiting.embedding_space_id = v_space_id
        for update skip locked
    );
    perform pgclarify_private.queue_all_links(v_space_id);
    select again.* into v_space from pgclarify_private.embedding_space as again where again.embedding_space_id = v_space_id;
    return v_space;
end
$$;

comment on function pgclarify_private.begin_walk(pgclarify_private.embedding_space, double precision, bigint) is
'Have all passages of a space linked by a walk, instead of entering new ones into the lists of others one by one, if so many '
'of them wait: this share of the passages that are linked, or will be by the current walk, which then starts again. Returns '
'the space. Called with the space locked. Passages that are being removed do not count. least_waiting: at least so many must '
'wait, or as many as are linked.';

create or replace function pgclarify_private.next_waiting(
    space pgclarify_private.embedding_space,
    max_passages integer,
    out document_ids text[],
    out passage_ids bigint[],
    out are_new boolean[],
    out settled integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- The queue is read in its order, and each passage is looked up. Its statistics are never right.
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    v_space_id bigint := (next_waiting.space).embedding_space_id;
    v_embedding text := pgclarify_private.partition_name('passage_embedding', v_space_id);
    v_documents text[];
    v_ids bigint[];
    v_gone record;
begin
    begin
        -- A transaction that removes a passage locks its row in the queue; or only the vector, if the passage was queued after
        -- that transaction had read the queue.
        execute format(
            $sql$
            select array_agg(free.document_id), array_agg(free.passage_id)
            from (
                select pending.document_id, pending.passage_id
                from pgclarify_private.pending_link as pending
                inner join %s as embedding
                    on embedding.embedding_space_id = $1
                    and embedding.document_id = pending.document_id
                    and embedding.passage_id = pending.passage_id
                where pending.embedding_space_id = $1
                order by pending.added_at
                limit $2
                for update of pending skip locked
                for key share of embedding skip locked
            ) as free
            $sql$,
            v_embedding
        ) into v_documents, v_ids using v_space_id, next_waiting.max_passages;
        -- The exception releases the locks, which would make users wait during the search; the variables keep their values.
        raise exception 'looked at' using errcode = 'PC099';
    exception
        when sqlstate 'PC099' then null;
    end;
    if v_ids is null then
        execute format(
            $sql$
            select array_agg(removed.document_id) as document_ids, array_agg(removed.passage_id) as passage_ids
            from (
                select pending.document_id, pending.passage_id
                from pgclarify_private.pending_link as pending
                where pending.embedding_space_id = $1
                    and not exists (
                        select from %s as embedding
                        where embedding.embedding_space_id = $1
                            and embedding.document_id = pending.document_id
                            and embedding.passage_id = pending.passage_id
                    )
                limit $2
            ) as removed
            $sql$,
            v_embedding
        ) into v_gone using v_space_id, next_waiting.max_passages;
        settled := pgclarify_private.forget_waiting(v_space_id, v_gone.document_ids, v_gone.passage_ids);
    end if;
    execute format(
        $sql$
        select
            coalesce(array_agg(document_id order by is_new, document_id, passage_id), '{}'),
            coalesce(array_agg(passage_id order by is_new, document_id, passage_id), '{}'),
            coalesce(array_agg(is_new order by is_new, document_id, passage_id), '{}')
        from (
            select
                free.document_id, free.passage_id,
                not exists (
                    select from %s as kept
                    where kept.embedding_space_id = $1
                        and kept.document_id = free.document_id
                        and kept.passage_id = free.passage_id
                ) as is_new
            from unnest($2, $3) as free (document_id, passage_id)
        ) as described
        $sql$,
        pgclarify_private.partition_name('neighborhood', v_space_id)
    ) into document_ids, passage_ids, are_new
    using v_space_id, v_documents, v_ids;
    settled := coalesce(settled, 0);
end
$$;

comment on function pgclarify_private.next_waiting(pgclarify_private.embedding_space, integer) is
'The passages of a space that have waited longest to be linked and that no transaction is removing; those that already have a '
'list come first. If there are none, passages that no longer exist leave the queue. settled: how many. Called with the space '
'locked. No lock on passages is held afterwards.';

create or replace function pgclarify_private.next_walked(
    space pgclarify_private.embedding_space,
    max_passages integer,
    out document_ids text[],
    out passage_ids bigint[],
    out are_new boolean[],
    out settled integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_space_id bigint := (next_walked.space).embedding_space_id;
    v_seen integer;
    v_last_document_id text;
    v_last_passage_id bigint;
begin
    execute format(
        $sql$
        with next as materialized (
            select embedding.document_id, embedding.passage_id
            from %s as embedding
            where embedding.embedding_space_id = $1 and (embedding.document_id, embedding.passage_id) > ($2, $3)
            order by embedding.document_id, embedding.passage_id
            limit $4
        )
        select
            coalesce(array_agg(document_id order by document_id, passage_id) filter (where not is_waiting), '{}'),
            coalesce(array_agg(passage_id order by document_id, passage_id) filter (where not is_waiting), '{}'),
            coalesce(array_agg(false) filter (where not is_waiting), '{}'),
            count(*),
            (array_agg(document_id order by document_id desc, passage_id desc))[1],
            (array_agg(passage_id order by document_id desc, passage_id desc))[1]
        from next
        cross join lateral (
            -- It was added after the walk began: lists that were built without it must get it.
            select exists (
                select from pgclarify_private.pending_link as pending
                where pending.embedding_space_id = $1
                    and pending.document_id = next.document_id
                    and pending.passage_id = next.passage_id
            ) as is_waiting
        ) as described
        $sql$,
        pgclarify_private.partition_name('passage_embedding', v_space_id)
    ) into document_ids, passage_ids, are_new, v_seen, v_last_document_id, v_last_passage_id
    using
        v_space_id, (next_walked.space).linking_document_id, (next_walked.space).linking_passage_id,
        next_walked.max_passages;
    update pgclarify_private.embedding_space as walked
    set
        linking_document_id = case when v_seen = next_walked.max_passages then v_last_document_id end,
        linking_passage_id = case when v_seen = next_walked.max_passages then v_last_passage_id end,
        linking_passages = case
            when v_seen = next_walked.max_passages then greatest(walked.linking_passages - v_seen, 0)
        end
    where walked.embedding_space_id = v_space_id;
    settled := v_seen - cardinality(passage_ids);
end
$$;

comment on function pgclarify_private.next_walked(pgclarify_private.embedding_space, integer) is
'The next passages of a space in its walk. settled: how many of them are left to the queue. Called with the space locked.';

create or replace function pgclarify_private.link_batch(
    space pgclarify_private.embedding_space, corpus pgclarify_private.corpus, is_walk boolean, max_passages integer
)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Passages in one call of nearest: enough calls to keep all cores busy to the end, each large enough to be worth
    -- its start.
    v_chunk constant integer := 128;
    -- How many times deeper the search is for a new passage than its own list is long, to find lists that must get it.
    v_reach constant integer := 8;
    v_degree integer := (link_batch.corpus).graph_degree;
    -- New passages need a deeper search.
    v_most integer := greatest(link_batch.max_passages / case when link_batch.is_walk then 1 else 2 end, 1);
    v_links record;
    v_old integer;
    v_query text;
    v_found pgclarify_private.neighborhood[];
    v_written record;
    v_new_documents text[];
    v_new_ids bigint[];
begin
    if link_batch.is_walk then
        v_links := pgclarify_private.next_walked(link_batch.space, v_most);
    else
        v_links := pgclarify_private.next_waiting(link_batch.space, v_most);
    end if;
    if cardinality(v_links.passage_ids) = 0 then
        return v_links.settled;
    end if;
    v_old := (select count(*) from unnest(v_links.are_new) as is_new where not is_new);
    -- How many entries of the index are visited, which decides the recall (docs/methods/neighborhood-graph.md): more
    -- for a long list, for new passages, and in large spaces. Parallel workers inherit the setting.
    perform set_config(
        'hnsw.ef_search',
        least(
            1000,
            case
                when v_old < cardinality(v_links.passage_ids) then (v_reach + 1) * v_degree
                else greatest(40, 5 * v_degree / 2)
            end * greatest(1, log(greatest(counted.passages, 1)::numeric / 4000))
        )::integer::text,
        true
    )
    from pgclarify_private.corpus_count as counted
    where counted.corpus_id = (link_batch.corpus).corpus_id;
    -- Passages with a list first; the queue has this order.
    select
        string_agg(
            format(
                'select * from pgclarify_private.nearest($1, $2[%1$s:%2$s], $3[%1$s:%2$s], %3$s)',
                chunk.first, chunk.last, chunk.depth
            ),
            ' union all '
        )
    into v_query
    from (
        select first, least(first + v_chunk - 1, v_old) as last, v_degree as depth
        from generate_series(1, v_old, v_chunk) as first
        union all
        select first, least(first + v_chunk - 1, cardinality(v_links.passage_ids)), v_reach * v_degree
        from generate_series(v_old + 1, cardinality(v_links.passage_ids), v_chunk) as first
    ) as chunk;
    -- A plan of its own, only for INTO arrays: a statement that writes cannot be parallel.
    execute format('select array_agg(linked::pgclarify_private.neighborhood) from (%s) as linked', v_query) into v_found
    using (link_batch.space).embedding_space_id, v_links.document_ids, v_links.passage_ids;
    v_found := coalesce(v_found, '{}');
    v_written := pgclarify_private.write_links(link_batch.space, v_degree, v_found, link_batch.is_walk);
    select array_agg(written.document_id), array_agg(written.passage_id) into v_new_documents, v_new_ids
    from unnest(v_written.document_ids, v_written.passage_ids) as written (document_id, passage_id)
    where written.passage_id = any(v_links.passage_ids[v_old + 1:]);
    if v_new_ids is not null then
        perform pgclarify_private.enter_lists(
            (link_batch.space).embedding_space_id, v_degree, v_found, v_new_documents, v_new_ids
        );
    end if;
    -- Passages whose lists a walk could not write are in the queue from now on, so they count as done.
    return v_links.settled
    + cardinality(case when link_batch.is_walk then v_links.passage_ids else v_written.passage_ids end);
end
$$;

comment on function pgclarify_private.link_batch(
    pgclarify_private.embedding_space, pgclarify_private.corpus, boolean, integer
) is
'Find and write the neighbors of up to max_passages of a space; returns how many passages are done.';

create or replace function pgclarify_private.link_passages(max_passages integer)
returns integer
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- Deleted passages may still be in the index; the scan continues until enough are found.
set hnsw.iterative_scan = 'strict_order'
set hnsw.ef_search = 40
set jit = off
-- Parallel workers share the search for neighbors, even if its estimated cost is low.
set parallel_setup_cost = 0
set parallel_tuple_cost = 0
as $$
declare
    v_space_id bigint;
    v_corpus pgclarify_private.corpus;
    v_space pgclarify_private.embedding_space;
    v_done integer;
begin
    for v_space_id, v_corpus.corpus_id in
        select linkable.embedding_space_id, linkable.corpus_id from pgclarify_private.linkable_spaces() as linkable
    loop
        -- First the corpus, as everywhere. If it was dropped, or is locked, it is skipped.
        select corpus.* into v_corpus
        from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus.corpus_id for key share skip locked;
        continue when not found;
        -- One worker for each space: what one unlinks, another must not link at the same time.
        select space.* into v_space
        from pgclarify_private.embedding_space as space
        where space.embedding_space_id = v_space_id
            and space.state = 'active'
            -- Not a space whose lists a worker builds in memory (graph/building.sql).
            and (
                space.linking_worker_id is null
                or space.linking_worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living)
            )
        for no key update skip locked;
        continue when not found;
        if v_space.linking_worker_id is not null then
            -- It counts as dead. If it is still alive, it must not write lists that ignore these changes.
            update pgclarify_private.embedding_space as space set linking_worker_id = null where space.embedding_space_id = v_space_id;
        end if;
        -- About sixteen lists contain a passage, and each is written: the transaction is as long as one that links.
        v_done := pgclarify_private.unlink_batch(v_space_id, greatest(link_passages.max_passages / 4, 1));
        if v_done = 0 then
            -- Entering one passage into a graph takes at least as long as eight lists of a walk.
            v_space := pgclarify_private.begin_walk(v_space, 0.25, 1000);
            v_done := pgclarify_private.link_batch(v_space, v_corpus, false, link_passages.max_passages);
        end if;
        if v_done = 0 and v_space.linking_document_id is not null then
            v_done := pgclarify_private.link_batch(v_space, v_corpus, true, link_passages.max_passages);
        end if;
        if v_done > 0 then
            return v_done;
        end if;
    end loop;
    return 0;
end
$$;

comment on function pgclarify_private.link_passages(integer) is
'Maintain the neighborhood graph of one space: unlink removed passages, or else find the neighbors of up to max_passages. '
'Returns how many passages are done; 0 if nothing is to be done, or all of it is locked.';
grant execute on function pgclarify_private.link_passages(integer) to pgclarify_worker;
