-- Indexing by workers: leasing documents, and marking those that cannot be indexed. Storing is in indexing/storing.sql.

create or replace function pgclarify_private.claim_documents(
    worker_id bigint,
    max_documents integer,
    max_chars bigint,
    lease interval,
    skipped_models text[],
    after_corpus_id bigint,
    are_long boolean
)
returns table (
    corpus_id bigint,
    document_id text,
    title text,
    content text,
    content_hash bytea,
    embedding_space_id bigint,
    embedding_model text,
    dimensions integer
)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
-- These settings apply when a statement is planned. The plan then hardly depends on statistics, which change fast here:
-- it reads the queue in order, stops when it has enough documents, and looks each document up in an index.
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
    v_corpus_id bigint;
    v_living bigint[];
    v_delayed_space_ids bigint[];
begin
    if not exists (select from pgclarify_private.pending_document) then
        return;
    end if;
    v_delayed_space_ids := pgclarify_private.delay_unpaid_spaces();
    v_living := array(select living.worker_id from pgclarify_private.living_workers() as living);
    -- One corpus at a time, in turns. If all its documents are locked by other transactions, the next corpus has its
    -- turn.
    for v_corpus_id in
        select waiting.corpus_id
        from pgclarify_private.waiting_corpora(
            claim_documents.are_long, claim_documents.skipped_models, claim_documents.after_corpus_id, v_living,
            v_delayed_space_ids
        ) as waiting
    loop
        perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = v_corpus_id for key share skip locked;
        -- It was dropped, or is locked.
        continue when not found;
        -- If the planner knew the id, it would expect one row of a corpus that is not in the statistics yet, and read the whole
        -- corpus for each document. So the id is in a subquery.
        return query
        with locked as materialized (
            select pending.document_id, pending.added_at
            from pgclarify_private.pending_document as pending
            inner join pgclarify_private.document
                on document.corpus_id = (select v_corpus_id) and document.id = pending.document_id
            where pending.corpus_id = (select v_corpus_id)
                and pending.is_long = claim_documents.are_long
                and (pending.leased_until is null or pending.leased_until < now() or pending.leased_by <> all(v_living))
            order by pending.added_at
            limit claim_documents.max_documents
            -- A document that is being changed could not be stored. It does not count, so that others need not wait
            -- behind it.
            for share of document skip locked
            for update of pending skip locked
        ),
        readable as (
            -- The length in bytes is known without reading the text. The length in characters would be computed from the
            -- whole text, of many documents that are then not leased.
            select locked.document_id, locked.added_at, octet_length(document.content) as bytes
            from locked
            inner join pgclarify_private.document
                on document.corpus_id = (select v_corpus_id) and document.id = locked.document_id
        ),
        measured as materialized (
            select
                readable.document_id,
                sum(readable.bytes) over (order by readable.added_at, readable.document_id) - readable.bytes
                as bytes_before
            from readable
        ),
        leased as (
            update pgclarify_private.pending_document as pending
            set leased_by = claim_documents.worker_id, leased_until = now() + claim_documents.lease
            from measured
            where pending.corpus_id = (select v_corpus_id)
                and pending.document_id = measured.document_id
                and measured.bytes_before < claim_documents.max_chars
            returning pending.document_id
        ),
        -- Sorted separately, because otherwise all documents would be read in order.
        taken as materialized (
            select
                document.id, document.title, document.content, document.content_hash, space.embedding_space_id,
                space.model, space.dimensions
            from leased
            inner join pgclarify_private.document on document.corpus_id = (select v_corpus_id) and document.id = leased.document_id
            inner join pgclarify_private.living_corpus as corpus on corpus.corpus_id = v_corpus_id
            inner join pgclarify_private.embedding_space as space on space.embedding_space_id = corpus.embedding_space_id
        )
        select
            v_corpus_id, taken.id, taken.title, taken.content, taken.content_hash, taken.embedding_space_id,
            taken.model, taken.dimensions
        from taken
        order by taken.id;
        if found then
            return;
        end if;
    end loop;
end
$$;

comment on function pgclarify_private.claim_documents(bigint, integer, bigint, interval, text[], bigint, boolean) is
'Lease up to max_documents pending documents of one corpus, of about max_chars characters together, at least one. are_long: '
'long documents, or the others. A character counts as many times as it has bytes. Leases of dead workers, and expired leases, '
'are taken over. skipped_models: embedding models that the worker does not have; their corpora are left to others. '
'after_corpus_id: the corpus of the last turn, 0 at first. Corpora are skipped if no budget allows their embeddings now.';
grant execute on function
    pgclarify_private.claim_documents(bigint, integer, bigint, interval, text[], bigint, boolean) to pgclarify_worker;

create or replace function pgclarify_private.leased_documents(
    worker_id bigint, corpus_id bigint, document_ids text[], content_hashes bytea[], lease interval
)
returns setof text
language sql volatile security definer
set search_path = pg_catalog, pg_temp
begin atomic
    -- A worker asks between two calls of the embedding model. A lease that expired during a long claim would let another worker
    -- embed its documents again. Leases are extended rarely, because the worker asks every few seconds.
    update pgclarify_private.pending_document
    set leased_until = now() + leased_documents.lease
    where (pending_document.corpus_id, pending_document.document_id) in (
        select pending.corpus_id, pending.document_id
        from pgclarify_private.pending_document as pending
        where pending.corpus_id = leased_documents.corpus_id
            and pending.document_id = any(leased_documents.document_ids)
            and pending.leased_by = leased_documents.worker_id
            and pending.leased_until < now() + leased_documents.lease * 2 / 3
        for update skip locked
    );
    select document.id
    from unnest(leased_documents.document_ids, leased_documents.content_hashes) as given (id, content_hash)
    inner join pgclarify_private.living_corpus as corpus on corpus.corpus_id = leased_documents.corpus_id
    inner join pgclarify_private.document
        on document.corpus_id = leased_documents.corpus_id
        and document.id = given.id
        and document.content_hash = given.content_hash
    inner join pgclarify_private.pending_document as pending
        on pending.corpus_id = leased_documents.corpus_id
        and pending.document_id = given.id
        and pending.leased_by = leased_documents.worker_id;
end;

comment on function pgclarify_private.leased_documents(bigint, bigint, text[], bytea[], interval) is
'Those of these documents that the worker still has leased, and that are unchanged. The others need not be embedded. Leases '
'of which a third is over begin again.';
grant execute on function pgclarify_private.leased_documents(bigint, bigint, text[], bytea[], interval) to pgclarify_worker;

create or replace function pgclarify_private.release_documents(
    worker_id bigint, are_long boolean, corpus_id bigint, document_ids text[], content_hashes bytea[]
)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    update pgclarify_private.pending_document
    set leased_by = null, leased_until = null
    where (pending_document.corpus_id, pending_document.document_id) in (
        select pending.corpus_id, pending.document_id
        from pgclarify_private.pending_document as pending
        where pending.leased_by = release_documents.worker_id
            and pending.is_long = coalesce(release_documents.are_long, pending.is_long)
            and (
                release_documents.document_ids is null
                -- A document that changed meanwhile may be leased again, by another claim of this worker.
                or pending.corpus_id = release_documents.corpus_id
                and pending.document_id in (
                    select document.id
                    from unnest(release_documents.document_ids, release_documents.content_hashes)
                        as given (id, content_hash)
                    inner join pgclarify_private.document
                        on document.corpus_id = release_documents.corpus_id
                        and document.id = given.id
                        and document.content_hash = given.content_hash
                )
            )
        for update skip locked
    );
    return (
        select count(*) from pgclarify_private.pending_document as pending
        where pending.leased_by = release_documents.worker_id
            and pending.is_long = coalesce(release_documents.are_long, pending.is_long)
    );
end
$$;

comment on function pgclarify_private.release_documents(bigint, boolean, bigint, text[], bytea[]) is
'Release the leases of a worker, and return how many it keeps: because the rows are locked, or because it is still working on '
'the documents. are_long: long documents, or the others, because a worker works on both; null for both. '
'corpus_id, document_ids, content_hashes: these documents, if they are unchanged; null for all.';
grant execute on function pgclarify_private.release_documents(bigint, boolean, bigint, text[], bytea[]) to pgclarify_worker;

create or replace function pgclarify_private.fail_document(
    worker_id bigint, corpus_id bigint, document_id text, content_hash bytea, error text
)
returns void
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    -- First the corpus, as everywhere. If it was dropped, so is the document.
    perform from pgclarify_private.living_corpus as corpus where corpus.corpus_id = fail_document.corpus_id for key share skip locked;
    if not found then
        return;
    end if;
    perform from pgclarify_private.document
    where document.corpus_id = fail_document.corpus_id
        and document.id = fail_document.document_id
        and document.content_hash = fail_document.content_hash
    for no key update skip locked;
    if not found then
        return;
    end if;
    perform from pgclarify_private.pending_document as pending
    where pending.corpus_id = fail_document.corpus_id
        and pending.document_id = fail_document.document_id
        and pending.leased_by = fail_document.worker_id
    for update;
    if not found then
        return;
    end if;
    delete from pgclarify_private.pending_document as pending
    where pending.corpus_id = fail_document.corpus_id and pending.document_id = fail_document.document_id;
    update pgclarify_private.document
    set error = fail_document.error
    where document.corpus_id = fail_document.corpus_id and document.id = fail_document.document_id;
end
$$;

comment on function pgclarify_private.fail_document(bigint, bigint, text, bytea, text) is
'Mark a leased document as one that cannot be indexed. Passages of its earlier content stay, for roles that may '
'read both contents.';
grant execute on function pgclarify_private.fail_document(bigint, bigint, text, bytea, text) to pgclarify_worker;
