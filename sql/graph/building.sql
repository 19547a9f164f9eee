-- Building: a worker builds all lists of a space in its own memory, in a fraction of the time of a walk with the index
-- over vectors. It claims the space (claim_graph), reads all vectors (read_vectors), compares them, and writes the
-- lists (store_graph), each in its own transaction.
--
-- From the claim until the last list is written, no other worker links or unlinks in the space (link_passages). Changes
-- meanwhile stay in the queues and are processed afterwards: pending_link has new passages, pending_unlink those that
-- were removed. The claim (linking_worker_id) ends with its worker. linking_document_id then shows the last list that was
-- written, and a walk continues there.

create or replace function pgclarify_private.claim_graph(
    worker_id bigint,
    min_passages bigint,
    max_passages bigint,
    max_bytes bigint,
    skipped_space_ids bigint[],
    out embedding_space_id bigint,
    out passages bigint,
    out dimensions integer,
    out degree integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    -- Linking one passage from the queue takes longer than building eight lists in memory. So if at least this share of
    -- the linked passages is waiting, all lists are built again.
    v_share constant double precision := 0.125;
    -- A row and a similarity: where they are found, where they are sorted, and where they are sent.
    v_bytes_a_neighbor constant integer := 24;
    v_space_id bigint;
    v_corpus pgclarify_private.corpus;
    v_space pgclarify_private.embedding_space;
    v_counted record;
begin
    -- The worker asks again, so it is done with its previous claim.
    update pgclarify_private.embedding_space as space
    set linking_worker_id = null
    where space.embedding_space_id in (
        select held.embedding_space_id
        from pgclarify_private.embedding_space as held
        where held.linking_worker_id = claim_graph.worker_id
        for no key update skip locked
    );
    for v_space_id, v_corpus.corpus_id in
        select linkable.embedding_space_id, linkable.corpus_id
        from pgclarify_private.linkable_spaces() as linkable
        where linkable.embedding_space_id <> all(claim_graph.skipped_space_ids)
    loop
        select corpus.* into v_corpus
        from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus.corpus_id for key share skip locked;
        continue when not found;
        select counted.passages, counted.linked into v_counted
        from pgclarify_private.corpus_count as counted where counted.corpus_id = v_corpus.corpus_id;
        continue when v_counted.passages not between claim_graph.min_passages and claim_graph.max_passages;
        select space.* into v_space
        from pgclarify_private.embedding_space as space
        where space.embedding_space_id = v_space_id
            and space.state = 'active'
            and v_counted.passages * (4 * space.dimensions + v_bytes_a_neighbor * v_corpus.graph_degree)
            <= claim_graph.max_bytes
            and (
                space.linking_worker_id is null
                or space.linking_worker_id = claim_graph.worker_id
                or space.linking_worker_id not in (select living.worker_id from pgclarify_private.living_workers() as living)
            )
        for no key update skip locked;
        continue when not found;
        -- Lists that only lack removed passages are quickly filled, and do not count.
        if v_counted.passages - v_counted.linked >= v_counted.linked * v_share then
            v_space := pgclarify_private.begin_walk(v_space, v_share, 1);
        end if;
        -- A walk that is nearly done is finished instead.
        continue when coalesce(v_space.linking_passages, 0) < claim_graph.min_passages;
        update pgclarify_private.embedding_space as space
        set linking_worker_id = claim_graph.worker_id
        where space.embedding_space_id = v_space_id;
        embedding_space_id := v_space_id;
        passages := v_counted.passages;
        dimensions := v_space.dimensions;
        degree := v_corpus.graph_degree;
        return;
    end loop;
end
$$;

comment on function pgclarify_private.claim_graph(bigint, bigint, bigint, bigint, bigint[]) is
'Claim a space of min_passages to max_passages whose lists must all be built, for a worker that can hold max_bytes of vectors '
'and lists; nulls if there is none. This also begins if an eighth as many passages wait as are linked. Claims of dead workers '
'are taken over, and the worker''s own earlier claim is given up. skipped_space_ids: spaces for which the worker has failed.';
grant execute on function pgclarify_private.claim_graph(bigint, bigint, bigint, bigint, bigint[]) to pgclarify_worker;

create or replace function pgclarify_private.read_vectors(
    embedding_space_id bigint,
    after_document_id text,
    after_passage_id bigint,
    max_passages integer,
    out document_ids text[],
    out passage_ids bigint[],
    out vectors bytea
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    v_partition constant text := pgclarify_private.partition_name('passage_embedding', read_vectors.embedding_space_id);
begin
    if to_regclass(v_partition) is null then
        document_ids := '{}';
        passage_ids := '{}';
        return;
    end if;
    execute format(
        $sql$
        select
            coalesce(array_agg(next.document_id order by next.document_id, next.passage_id), '{}'),
            coalesce(array_agg(next.passage_id order by next.document_id, next.passage_id), '{}'),
            string_agg(
                @extschema:vector@.halfvec_send(next.vector), ''::bytea order by next.document_id, next.passage_id
            )
        from (
            select embedding.document_id, embedding.passage_id, embedding.vector
            from %s as embedding
            where embedding.embedding_space_id = $1 and (embedding.document_id, embedding.passage_id) > ($2, $3)
            order by embedding.document_id, embedding.passage_id
            limit $4
        ) as next
        $sql$,
        v_partition
    ) into document_ids, passage_ids, vectors
    using
        read_vectors.embedding_space_id, read_vectors.after_document_id, read_vectors.after_passage_id,
        read_vectors.max_passages;
end
$$;

comment on function pgclarify_private.read_vectors(bigint, text, bigint, integer) is
'The next passages of a space by key, with their vectors in the binary form of halfvec, concatenated; none if the space is '
'gone.';
grant execute on function pgclarify_private.read_vectors(bigint, text, bigint, integer) to pgclarify_worker;

create or replace function pgclarify_private.store_graph(
    worker_id bigint,
    embedding_space_id bigint,
    document_ids text[],
    passage_ids bigint[],
    neighbor_document_ids text[],
    neighbor_ids bigint[],
    similarities real[],
    is_last boolean
)
returns boolean
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    v_given constant integer := cardinality(store_graph.passage_ids);
    v_width constant integer := cardinality(store_graph.neighbor_ids) / greatest(v_given, 1);
    v_space pgclarify_private.embedding_space;
    v_corpus pgclarify_private.corpus;
    v_lists pgclarify_private.neighborhood[];
begin
    select space.* into v_space
    from pgclarify_private.embedding_space as space
    inner join pgclarify_private.living_corpus as corpus on space.corpus_id = corpus.corpus_id
    where space.embedding_space_id = store_graph.embedding_space_id
        and space.state = 'active'
        and space.linking_worker_id = store_graph.worker_id;
    if not found then
        return false;
    end if;
    if pgclarify_private.is_paused(v_space.corpus_id) then
        return null;
    end if;
    -- First the corpus, as everywhere.
    select corpus.* into v_corpus
    from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_space.corpus_id for key share skip locked;
    if not found then
        return null;
    end if;
    select space.* into v_space
    from pgclarify_private.embedding_space as space
    where space.embedding_space_id = store_graph.embedding_space_id
        and space.state = 'active'
        and space.linking_worker_id = store_graph.worker_id
    for no key update skip locked;
    if not found then
        return null;
    end if;
    select coalesce(
        array_agg(
            (
                store_graph.embedding_space_id, list.document_id, list.passage_id, coalesce(near.document_ids, '{}'),
                coalesce(near.passage_ids, '{}'), coalesce(near.similarities, '{}')
            )::pgclarify_private.neighborhood
        ),
        '{}'
    )
    into v_lists
    from unnest(store_graph.document_ids, store_graph.passage_ids)
    with ordinality as list (document_id, passage_id, place)
    left join (
        select
            (entry.place - 1) / v_width + 1 as place,
            array_agg(entry.document_id order by entry.place) as document_ids,
            array_agg(entry.passage_id order by entry.place) as passage_ids,
            array_agg(entry.similarity order by entry.place) as similarities
        from unnest(store_graph.neighbor_document_ids, store_graph.neighbor_ids, store_graph.similarities)
        with ordinality as entry (document_id, passage_id, similarity, place)
        where entry.passage_id is not null
        group by 1
    ) as near on near.place = list.place
    -- It was added or changed after the walk began: lists that were built without it must get it.
    where (list.document_id, list.passage_id) not in (
        select pending.document_id, pending.passage_id
        from pgclarify_private.pending_link as pending
        where pending.embedding_space_id = store_graph.embedding_space_id
    );
    perform pgclarify_private.write_links(v_space, v_corpus.graph_degree, v_lists, true);
    update pgclarify_private.embedding_space as space
    set
        linking_document_id = case when not store_graph.is_last then store_graph.document_ids[v_given] end,
        linking_passage_id = case when not store_graph.is_last then store_graph.passage_ids[v_given] end,
        linking_passages = case when not store_graph.is_last then greatest(space.linking_passages - v_given, 0) end,
        linking_worker_id = case when not store_graph.is_last then space.linking_worker_id end
    where space.embedding_space_id = store_graph.embedding_space_id;
    return true;
end
$$;

comment on function pgclarify_private.store_graph(bigint, bigint, text[], bigint[], text[], bigint[], real[], boolean) is
'Write lists of a space that a worker has claimed, in the order of read_vectors; after the last ones the claim ends. '
'Neighbors: the same number for each passage, nearest first, null if it has fewer. False if the claim is lost; null if the '
'space or its corpus is locked, or the corpus paused: try again.';
grant execute on function
    pgclarify_private.store_graph(bigint, bigint, text[], bigint[], text[], bigint[], real[], boolean) to pgclarify_worker;
